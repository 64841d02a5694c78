"""The command line: `graphpriv`."""

from api.cli.commands import command_line, main, run

__all__ = ["command_line", "main", "run"]
