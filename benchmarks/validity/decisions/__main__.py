"""False alarms, coverage and power of decisions: groups, unequal variances, strata, distances, MDE; before and after.

Each study draws data in one setting many times and tests them as Momus does. ``before`` is the engine in which groups,
bins and families of rows did not exist; run it with the folders of that version on PYTHONPATH and ``--engine before``.
Finished replications are kept in --out as lines of JSON: run the command again to resume, or with more replications.

Run:  python benchmarks/validity/decisions [groups means strata …] [--engine after] [--replications 1000] [--jobs 2]
      [--out runs/decisions] [--write benchmarks/validity/TABLES.md]
Data: ``novels`` reads ``litbank`` under MOMUS_DATA, else ../shared/data; the others need none.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # one thread per process, set before NumPy is imported
    os.environ.setdefault(name, "1")
sys.path.insert(1, str(Path(__file__).parents[1]))

import detectable  # noqa: E402
import distances  # noqa: E402
import floor  # noqa: E402
import groups  # noqa: E402
import intervals  # noqa: E402
import means  # noqa: E402
import novels  # noqa: E402
from harness import ENGINES, Study, check_engine, kept, run_study  # noqa: E402
from table import cost, table  # noqa: E402

STUDIES: tuple[Study, ...] = tuple(
    study for module in (groups, novels, means, intervals, distances, detectable, floor) for study in module.STUDIES
)
GROUPS = tuple(dict.fromkeys(s.group for s in STUDIES))


def run(studies: list[Study], a: argparse.Namespace) -> int:
    """Run the studies; one that fails is named and left out. Returns the number that failed."""
    failed = 0
    for number, study in enumerate(studies, 1):
        begun = time.perf_counter()
        try:
            ran = run_study(study, a.engine, a.replications, a.out, a.jobs)
        except Exception as error:  # a study must not stop those after it
            failed += 1
            print(f"{study.name} failed: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            if a.raises:
                raise
            continue
        total = len(kept(study, a.engine, a.out))
        seconds = time.perf_counter() - begun
        print(f"{number}/{len(studies)} {study.name}: {ran:,} run, {total:,} kept, {seconds:.0f} s", flush=True)
    return failed


def main() -> int:
    """Run the studies asked for, and print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", metavar="group", help=f"any of {', '.join(GROUPS)}; default: all")
    parser.add_argument("--studies", help="only studies whose name begins with one of these, comma-separated")
    parser.add_argument("--engine", choices=ENGINES, default="after", help="label of the engine that is imported")
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("runs/decisions"))
    parser.add_argument("--table", action="store_true", help="only print the results that exist")
    parser.add_argument(
        "--write", type=Path, help="insert the tables of all groups into this page: benchmarks/validity/TABLES.md"
    )
    parser.add_argument("--raises", action="store_true", help="stop at the first study that fails")
    a = parser.parse_args()
    if unknown := set(a.groups) - set(GROUPS):
        parser.error(f"no group {', '.join(sorted(unknown))}: choose from {', '.join(GROUPS)}")
    begins = tuple(a.studies.split(",")) if a.studies else ("",)
    studies = [s for s in STUDIES if (not a.groups or s.group in a.groups) and s.name.startswith(begins)]
    if not studies:
        parser.error(f"no study begins with {a.studies}: names are {', '.join(s.name for s in STUDIES)}")
    failed = 0
    if not a.table:
        check_engine(a.engine)
        failed = run(studies, a)
        print(f"\n{cost(studies, a.engine, a.out, 1000)}\n")
    print(table(studies, a.out))
    if a.write:
        from null_and_power import write_between

        write_between(a.write, "decisions", table(STUDIES, a.out))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
