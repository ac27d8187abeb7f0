"""``python -m tests.calibration``: prints the tables of docs/statistics.md, as Markdown."""

from __future__ import annotations

import argparse
import inspect

from tests.calibration.correlation import CORRELATION
from tests.calibration.months import MONTHS
from tests.calibration.tables import TABLES as STATISTICS

TABLES = STATISTICS | CORRELATION | MONTHS


def main() -> None:
    """Prints them all, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(TABLES)}")
    parser.add_argument("--size", type=int, default=2000, help="sequences a row")
    chosen = parser.parse_args()
    for name in chosen.tables or TABLES:
        print(f"**{inspect.getdoc(TABLES[name])}**\n")
        for place, row in enumerate(TABLES[name](chosen.size)):
            print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)
            if place == 0:
                print("|---" * len(row) + "|")
        print()


if __name__ == "__main__":
    main()
