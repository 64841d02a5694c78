"""Evolution of protected files: so far the genome of numbers."""

from tabular.evolution.genome import from_genome, from_gray_code, genome, gray_code

__all__ = ["from_genome", "from_gray_code", "genome", "gray_code"]
