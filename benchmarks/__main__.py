"""`python -m benchmarks [module ...]`: one JSON line a figure on standard output, a summary on standard error."""

import importlib
import json
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict

import torch

import benchmarks
from benchmarks.measure import MOST_SETS, Figure


def main(wanted: list[str]) -> int:
    torch.set_num_threads(1)
    names = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name != "__main__"]
    if unknown := set(wanted) - set(names):
        print(f"no benchmark is called {min(unknown)!r}; there are {', '.join(names)}", file=sys.stderr)
        return 2
    return report(figures(name for name in names if not wanted or name in wanted))


def figures(names: Iterable[str]) -> Iterator[Figure]:
    for name in names:
        module = importlib.import_module(f"benchmarks.{name}")
        if hasattr(module, "figures"):
            yield from module.figures()


def report(figures: Iterable[Figure]) -> int:
    """Prints each figure as it comes, then which goals were missed. 1 if any was, for the shell."""
    missed = []
    for figure in figures:
        print(json.dumps(asdict(figure)), flush=True)
        if not figure.holds:
            missed.append(f"  {figure.figure}: {figure.ratio:g}, goal {figure.goal}")
    summary = [f"{len(missed)} goals missed, each in {MOST_SETS} sets of rounds:", *missed]
    print("\n".join(summary) if missed else "every goal holds", file=sys.stderr)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
