"""Graphs in and out of the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from api.cli.common import (
    dictionary_text,
    json_option,
    may_write,
    note,
    opened,
    out_path,
    overwrite_option,
    refuse_two_documents,
    seed_option,
    show_json,
    show_table,
    store_option,
)
from api.cli.progress import progress
from graphpriv.dictionary import release_dictionary
from graphpriv.formats import format_of, formats, read_graph, write_graph
from graphpriv.mapping import write_mapping
from graphpriv.store.contract import check_name
from graphpriv.stored import export as export_graph
from graphpriv.stored import keep_import
from graphpriv.structure import describe
from tabular.errors import InvalidParameter
from tabular.files.disk import STREAM, place_of, replacing, write_text
from tabular.release.dictionary import dictionary_path

format_option = click.option("--format", "file_format", type=click.Choice(list(formats)), help="Found by the suffix.")


@click.group()
def graph() -> None:
    """Import, export, list, show, delete graphs, and forget persons."""


@graph.command("import")
@click.argument("file")
@click.option("--graph", "name", required=True, metavar="NAME", help="What the graph is called in the store.")
@format_option
@click.option("--attributes", metavar="FILE", help="Users of an edge list: id, location, topic1 to topic3.")
@click.option("--places", metavar="FILE", help="Places of an edge list: key, name, type, parent.")
@click.option(
    "--directed/--undirected",
    default=None,
    help="Read the edges with or without directions, whatever the file says. Without either, an edge list is directed "
    "unless a comment at its top says '# Undirected graph'.",
)
@overwrite_option
@store_option
@json_option
def import_(
    file: str,
    name: str,
    file_format: str | None,
    attributes: str | None,
    places: str | None,
    directed: bool | None,
    overwrite: bool,
    store: str,
    as_json: bool,
) -> None:
    """Read FILE (- for standard input) into the store as an original; all of it or nothing."""
    check_name(name)
    with progress() as report:
        imported = read_graph(
            file, format=file_format, attributes=attributes, places=places, directed=directed, report=report
        )
        report("Storing", 0, 0)
        with opened(store, create=True) as target:
            kept = keep_import(target, name, imported, overwrite=overwrite)
    for each in kept.notes:
        note(f"warning: {each}")
    document = kept.document
    if as_json:
        show_json(document)
        return
    kind = "directed" if imported.graph.directed else "undirected"
    click.echo(f"{name}: {document['users']} users, {document['edges']} {kind} edges.")
    if imported.dropped.self_loops or imported.dropped.parallel:
        click.echo(f"Dropped: {imported.dropped.self_loops} self-loops, {imported.dropped.parallel} parallel edges.")
    for attribute, count in imported.ignored.items():
        click.echo(f"Not taken: {attribute} ({count} records).")


@graph.command()
@click.argument("name")
@click.option("--out", required=True, metavar="FILE", help="Where to; - is standard output.")
@click.option("--mapping", metavar="FILE", help="Also write the private CSV original,released of a release.")
@format_option
@overwrite_option
@store_option
@json_option
def export(
    name: str, out: str, mapping: str | None, file_format: str | None, overwrite: bool, store: str, as_json: bool
) -> None:
    """Write a graph to a file; a release gets its data dictionary beside it.

    Places get their keys anew, from the names of those that occur: the same place may have another key than in the file
    that was imported, or in another release. Their paths are the same.
    """
    refuse_two_documents(as_json, out=out, mapping=mapping)
    with opened(store) as source:
        info = source.graph(name)
        if mapping is not None and info.original is None:
            raise InvalidParameter(f"--mapping: {name!r} is not a release of a graph in this store.")
        parts = formats[format_of(out, file_format)].method.parts
        _check_outputs(out, mapping, store, overwrite=overwrite, parts=parts)
        exported = export_graph(source, name, with_origin=mapping is not None)
        found, origin = exported.graph, exported.origin
    written = write_graph(found, out_path(out), format=file_format, overwrite=overwrite, private=not info.is_release)
    if not info.is_release:
        note(f"warning: {name!r} is an original; what was written names persons.")
    elif out != STREAM:
        beside = dictionary_path(out)
        write_text(beside, dictionary_text(release_dictionary(found, info)), overwrite=overwrite)
        written.append(beside)
    if mapping is not None and origin is not None:
        with replacing(out_path(mapping), overwrite=overwrite, private=True) as leading_back:
            write_mapping(leading_back, origin.graph.ids, found.ids, origin.mapping)
        note("warning: the mapping leads from the release back to persons; keep it apart.")
        written.append(Path(mapping))
    if as_json and out != STREAM:
        show_json({"graph": name, "files": [str(path) for path in written]})
    elif out != STREAM:
        for path in written:
            click.echo(f"Wrote {path}")


def _check_outputs(out: str, mapping: str | None, store: str, *, overwrite: bool, parts: Sequence[str]) -> None:
    """Refuse before the first file what would fail, or mix the mapping with what is released, at a later one."""
    beside = [dictionary_path(out), *(Path(out).with_suffix(f".{part}.csv") for part in parts)]
    released = [Path(out)] if out == STREAM else [Path(out), *beside]
    for path in released:
        may_write(path, store, overwrite=overwrite)
    if mapping is None:
        return
    may_write(mapping, store, overwrite=overwrite)
    if (mapping == STREAM) == (out == STREAM) and (
        mapping == STREAM or place_of(mapping) in [place_of(path) for path in released]
    ):
        raise InvalidParameter("--mapping must not go where the release goes: it leads back to persons.")


@graph.command("list")
@store_option
@json_option
def list_(store: str, as_json: bool) -> None:
    """List the graphs of the store."""
    with opened(store) as source:
        infos = source.graphs()
    if as_json:
        show_json({"graphs": [asdict(info) for info in infos]})
        return
    rows = [(info.name, info.kind, info.original or "", info.k, info.users, info.edges, info.created) for info in infos]
    show_table("Graphs", ["name", "what", "made from", "k", "users", "edges", "created"], rows)


@graph.command()
@click.argument("name")
@store_option
@seed_option
@json_option
def show(name: str, store: str, seed: int, as_json: bool) -> None:
    """Tell a graph's size, degrees, clustering, path length, diameter, and the shares of places and topics."""
    with progress() as report:
        report("Loading", 0, 0)
        with opened(store) as source:
            found = source.load_graph(name)
            info = source.graph(name)
        report("Describing", 0, 0)
        facts = describe(found, rng=np.random.default_rng(seed))
    if as_json:
        show_json({"graph": name, "kind": info.kind, "original": info.original, **facts})
        return
    shares = facts.pop("places"), facts.pop("topics")
    show_table(name, ["what", "value"], list(flat(facts)))
    for title, part in zip(("Places", "Topics"), shares, strict=True):
        show_table(title, ["what", "share or count"], list(flat(part)))


@graph.command()
@click.argument("name")
@store_option
@json_option
def delete(name: str, store: str, as_json: bool) -> None:
    """Delete a graph; an original takes its posts and the mappings of its releases with it."""
    with opened(store) as target:
        target.delete_graph(name)
    if as_json:
        show_json({"deleted": name})
    else:
        click.echo(f"Deleted {name}.")


@graph.command()
@click.argument("name")
@click.argument("user")
@store_option
@json_option
def forget(name: str, user: str, store: str, as_json: bool) -> None:
    """Remove a person from an original, its posts and the mappings of its releases."""
    with opened(store) as target:
        gone = target.forget(name, user)
    if as_json:
        show_json({"graph": name, **asdict(gone)})
    else:
        click.echo(f"Forgotten, with {gone.follows} follows, {gone.posts} posts and {gone.mappings} mappings.")
        if gone.erased is False:
            note("warning: another process reads the store; what was deleted leaves the files when it has ended.")
        if gone.erased is None:
            note("The server may keep what was deleted in its transaction logs until it prunes them.")
        note("Backups and exported files still hold the person; releases keep a row that no mapping leads to.")


def flat(document: dict[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    """Nested numbers as lines of a table."""
    lines: list[tuple[str, object]] = []
    for key, value in document.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            lines += flat(value, f"{name} ")
        else:
            lines.append((name, value))
    return lines
