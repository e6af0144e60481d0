"""Valid model files, broken in every way that knows how they are built, then read and used.

Every execution is told by a seed and its number alone, so that a failure can be made again:

    python tests/fuzzing.py --executions 200000     # goes on where the last run stopped
    python tests/fuzzing.py --only 4711             # one execution, in this process

Each file must give a model that decides, or :class:`bayesrule.store.ModelFileError`: within two
seconds of work, within an address space that is limited, and without an import, code, a socket or
a file that is written, which an audit hook watches. Workers are processes of their own: what kills
one is a failure of the file that it had before it.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import linecache
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from breaking import Breaker

from bayesrule.store import ModelFileError, load

FOLDER = Path(__file__).parent / "golden"

#: Seconds of work that a file may take, and of waiting after which a worker is taken to hang.
MOST_WORK, MOST_WAITING = 2.0, 120.0
#: Bytes of address space that a worker may take beyond what it has when all is loaded.
MORE_MEMORY = 512 << 20
#: Executions of one worker.
PER_WORKER = 2000


class Watch:
    """An audit hook that notes, while it is on, what reading a model has no reason to do."""

    STARTS = (
        "import", "exec", "compile", "socket", "subprocess", "os.", "pickle", "marshal", "ctypes",
        "shutil", "code.", "tempfile", "sqlite3", "urllib", "http", "glob", "mmap", "cpython.run",
    )  # fmt: skip

    def __init__(self) -> None:
        self.on = self.compiled = False
        self.seen: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        # Compiled loops that return arrays look that one type up so.
        if not self.on or (event == "pickle.find_class" and args == ("numpy", "ndarray")):
            return
        written = event == "open" and not str(args[1] or "r").startswith("r")
        if written or event.startswith(self.STARTS):
            # Numbers of another type take a loop of ours that was not needed before.
            if any("numba" in f.f_code.co_filename for f, _ in traceback.walk_stack(None)):
                self.compiled = True
            else:
                self.seen.append(f"{event} {str(args)[:200]}")


def raised_on_purpose(error: BaseException) -> bool:
    """Whether an error was raised by a statement of ours, or by a check of scikit-learn's."""
    frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
    path = frame.f_code.co_filename
    ours = f"{os.sep}bayesrule{os.sep}" in path or f"{os.sep}sklearn{os.sep}utils" in path
    return ours and linecache.getline(path, line).strip().startswith("raise")


def used(path: Path, rows: Any, watch: Watch, read: Callable[[Any], Any] = load) -> str:
    """What became of a file: "refused", "answered", or, for a failure, a text that says it."""
    watch.seen.clear()
    watch.compiled = False
    start = time.process_time()
    watch.on = True
    found = _outcome(path, rows, read)
    watch.on = False
    if isinstance(found, Exception):
        found = f"FAILURE: {''.join(traceback.format_exception(found, limit=-6))}"
    work = time.process_time() - start
    if watch.seen or (work > MOST_WORK and not watch.compiled):
        return f"FAILURE: {work:.1f} s of work; {watch.seen[:3]}; {found}"
    return found


def _outcome(path: Path, rows: Any, read: Callable[[Any], Any]) -> str | Exception:
    try:
        clf = read(path)
        if rows is None:
            return "answered"
        try:
            posterior, decided = clf.predict_proba(rows), clf.predict(rows)
        except (ValueError, TypeError) as error:
            if raised_on_purpose(error):
                return "answered"  # it asks for rows of another kind now
            raise
    except ModelFileError as error:
        text = str(error)
        starved = "too much memory" in text and "budget" not in text
        return f"FAILURE: {text[:300]}" if starved or len(text) > 2000 else "refused"
    except Exception as error:
        return error  # writing it down would compile its lines
    if np.isnan(posterior).any():
        return "FAILURE: a posterior is NaN"
    if not set(decided.tolist()) <= set(clf.decisions_.tolist()):
        return "FAILURE: decided what is no decision"
    return "answered"


def _ready(rows: dict[str, Any]) -> Watch:
    """Load what is loaded late, then limit the memory and begin to watch."""
    warnings.simplefilter("ignore")
    for name, X in rows.items():
        clf = load(FOLDER / f"{name}.bayes")
        clf.predict_proba(X), clf.predict(X), repr(clf)  # messages show settings
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + MORE_MEMORY, in_use + MORE_MEMORY))
    return Watch()


def _rows() -> dict[str, Any]:
    import golden

    return {
        path.stem: golden.rows_of_json(json.loads(path.with_suffix(".json").read_text())["rows"])
        for path in golden.kept()
    }


def _work(seed: int, start: int, stop: int, told: Path) -> None:
    """The executions of one worker, each noted before it begins and after it ended."""
    rows = _rows()
    names = list(rows)
    breaker = Breaker([(FOLDER / f"{name}.bayes").read_bytes() for name in names], seed)
    watch = _ready(rows)
    path = told.with_suffix(".bayes")
    with told.open("w", buffering=1) as out:
        for number in range(start, stop):
            which, data = breaker.broken(number)
            path.write_bytes(data)
            out.write(f"{number}\n")
            faulthandler.dump_traceback_later(MOST_WAITING, exit=True)
            found = used(path, rows[names[which]], watch)
            faulthandler.cancel_dump_traceback_later()
            out.write(json.dumps([number, names[which], found]) + "\n")


def _read_files(folder: Path) -> None:
    """What becomes of the files in a folder."""
    watch = _ready(_rows())
    for path in sorted(folder.glob("*.bayes")):
        faulthandler.dump_traceback_later(MOST_WAITING, exit=True)
        print(json.dumps([path.stem, used(path, None, watch)]), flush=True)
        faulthandler.cancel_dump_traceback_later()


# ---------------------------------------------------------------------- many executions


def worker(*arguments: object) -> subprocess.CompletedProcess[str]:
    """This file in a process of its own."""
    # A pool of threads reserves address space that it does not use.
    settings = {**os.environ, "BAYESRULE_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    settings["OPENBLAS_NUM_THREADS"] = "1"
    command = [sys.executable, __file__, *map(str, arguments)]
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=False)


def executed(seed: int, start: int, stop: int) -> Iterator[tuple[int, str, str]]:
    """(number, broken model, what became of it) of executions; the death of a worker is one."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told"
        while start < stop:
            end = min(stop, start + PER_WORKER)
            told.write_text("")
            ran = worker("--seed", seed, "--work", start, end, told)
            lines = [json.loads(line) for line in told.read_text().splitlines()]
            yield from (tuple(line) for line in lines if isinstance(line, list))
            if lines and not isinstance(lines[-1], list):
                died = f"FAILURE: the process died ({ran.returncode}): {ran.stderr[-3000:]}"
                yield lines[-1], "?", died
                end = lines[-1] + 1
            elif ran.returncode:
                raise RuntimeError(f"A worker failed by itself: {ran.stderr[-3000:]}")
            start = end


def _many(seed: int, executions: int, state: Path) -> int:
    """Go on with what a state file says was done; return the number of failures."""
    done: dict[str, Any] = {"seed": seed, "next": 0, "found": {}, "failures": []}
    if state.exists() and (before := json.loads(state.read_text()))["seed"] == seed:
        done = before
    counts = Counter(done["found"])
    for number, name, found in executed(seed, done["next"], executions):
        counts[found.partition(":")[0]] += 1
        if found.startswith("FAILURE"):
            done["failures"].append([number, name, found])
            print(f"{number} ({name}): {found}", flush=True)
        done.update(next=number + 1, found=dict(counts))
        if done["next"] % 500 == 0 or done["next"] == executions or found.startswith("FAILURE"):
            state.parent.mkdir(parents=True, exist_ok=True)
            aside = state.with_suffix(".new")
            aside.write_text(json.dumps(done))
            aside.replace(state)
    print(f"{done['next']} executions with seed {seed}: {dict(counts)}")
    return len(done["failures"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--executions", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--state", type=Path, default=Path("build/fuzzing.json"))
    parser.add_argument("--only", type=int, help="one execution, whose file is kept")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--files", type=Path, help="read the files of a folder instead")
    asked = parser.parse_args()
    if asked.files:
        _read_files(asked.files)
    elif asked.work:
        start, stop, told = asked.work
        _work(asked.seed, int(start), int(stop), Path(told))
    elif asked.only is not None:
        rows = _rows()
        names = list(rows)
        files = [(FOLDER / f"{name}.bayes").read_bytes() for name in names]
        which, data = Breaker(files, asked.seed).broken(asked.only)
        path = Path(f"broken-{asked.only}.bayes")
        path.write_bytes(data)
        print(f"{path}, from {names[which]}: {used(path, rows[names[which]], Watch())}")
    else:
        return min(_many(asked.seed, asked.executions, asked.state), 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
