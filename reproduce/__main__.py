"""Make the documents' tables and figures again.

    python -m reproduce                  # all, in minutes, into build/reproduction
    python -m reproduce femda spdbc      # some
    python -m reproduce --full           # as the documentation keeps them, into docs/reproduction
    python -m reproduce --full --resume  # go on where a run was broken off

Every module of this folder that has a ``TITLE`` and a ``fill(page, full)`` is a page.
"""

from __future__ import annotations

import argparse
import pkgutil
import shutil
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.style

import reproduce
from bayesrule.notices import BayesRuleWarning
from reproduce.page import Page

ROOT = Path(__file__).parents[1]
STYLE = ROOT / "docs" / "bayesrule.mplstyle"


def pages() -> dict[str, Any]:
    """Names of the pages and the modules that fill them."""
    names = [module.name for module in pkgutil.iter_modules(reproduce.__path__)]
    modules = {name: import_module(f"reproduce.{name}") for name in names if name != "__main__"}
    return {name: module for name, module in modules.items() if hasattr(module, "fill")}


def main() -> int:
    """Fill the pages that were asked for."""
    known = pages()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join(known)}")
    parser.add_argument("--full", action="store_true", help="hours instead of minutes")
    parser.add_argument(
        "--resume", action="store_true", help="take what a run that was broken off has found"
    )
    parser.add_argument("--out", type=Path, help="the folder to write to")
    asked = parser.parse_args()
    unknown = set(asked.names) - set(known)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    folder = asked.out or ROOT / ("docs" if asked.full else "build") / "reproduction"
    matplotlib.use("Agg")
    matplotlib.style.use(STYLE)
    # Singular classes and slow convergence are part of what the papers show.
    warnings.simplefilter("ignore", BayesRuleWarning)
    for name in asked.names or known:
        module = known[name]
        print(f"\n=== {module.TITLE}", flush=True)
        store = ROOT / "build" / "found" / name
        if not asked.resume:
            shutil.rmtree(store, ignore_errors=True)
        page = Page(folder, name, module.TITLE, asked.full, store)
        try:
            module.fill(page, asked.full)
        except FileNotFoundError as missing:
            print(f"left out: {missing}")
            continue
        print(f"\nwritten: {page.write()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
