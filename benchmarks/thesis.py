"""All that chapters 3 and 4 of Mares Soler (2013) print of evolution, each beside ours, in one command.

Each part is a script of its own, which has more options. Of the files of the thesis Housing (Figures 4.4 and 4.5,
Tables 4.3, 4.6, 4.7, 4.14) and EIA are not to be had; Tables 4.8 to 4.11 mask a column of German Credit instead.
Figures 4.6 and 4.8 print no numbers.
"""

from __future__ import annotations

import argparse

from benchmarks import evolved_formulas, evolved_matrices, evolved_records

#: What each part is compared with, and the script and the options that print it.
PARTS = {
    "records": ("Section 3.5: protected files of categories", evolved_records.main, ("--part", "categories")),
    "numbers": ("Table 3.2: protected files of numbers", evolved_records.main, ("--part", "numbers")),
    "matrices": ("Section 4.1: Figures 4.6 and 4.8, Tables 4.4, 4.5, 4.8 to 4.11", evolved_matrices.main, ("--alone",)),
    "formulas": ("Section 4.2: Tables 4.12, 4.13 and 4.15", evolved_formulas.main, ()),
}


def main() -> None:
    """Print the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--generations", type=int, help="as many in all parts; else those of the thesis")
    given = parser.parse_args()
    generations = () if given.generations is None else ("--generations", str(given.generations))
    for part in given.parts:
        title, run, options = PARTS[part]
        print(f"\n## {title}\n", flush=True)
        run([*options, "--seeds", str(given.seeds), *generations])


if __name__ == "__main__":
    main()
