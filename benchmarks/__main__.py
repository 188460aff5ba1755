"""`python -m benchmarks [module ...]`: one JSON line a figure on standard output, a summary on standard error."""

import importlib
import json
import pkgutil
import sys
from dataclasses import asdict

import torch

import benchmarks


def main(wanted: list[str]) -> int:
    torch.set_num_threads(1)
    names = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name != "__main__"]
    if unknown := set(wanted) - set(names):
        print(f"no benchmark is called {min(unknown)!r}; there are {', '.join(names)}", file=sys.stderr)
        return 2
    missed = 0
    for name in names:
        module = importlib.import_module(f"benchmarks.{name}")
        if not hasattr(module, "figures") or (wanted and name not in wanted):
            continue
        for figure in module.figures():
            print(json.dumps(asdict(figure)), flush=True)
            missed += not figure.holds
    print("every goal holds" if not missed else f"{missed} goals missed", file=sys.stderr)
    return int(missed > 0)


sys.exit(main(sys.argv[1:]))
