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
import copy
import faulthandler
import io
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
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesrule.archive import DOCUMENT, array_name
from bayesrule.store import ModelFileError, load

FOLDER = Path(__file__).parent / "golden"

#: Seconds of work that a file may take, and of waiting after which a worker is taken to hang.
MOST_WORK, MOST_WAITING = 2.0, 120.0
#: Bytes of address space that a worker may take beyond what it has when all is loaded.
MORE_MEMORY = 512 << 20
#: Executions of one worker.
PER_WORKER = 2000

Content = dict[str, bytes]

STRANGE: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 7, 2**31, 2**63, -(2**70), 0.5, -0.0, 1e308, "", "full",
    "diag", "nan", "tied", [], {}, [[]], [1, 2], {"array": 0}, {"array": 1}, {"array": -1},
    {"array": True}, {"array": 99}, {"array": 1.0}, {"array": "0"}, {"tuple": []}, {"tuple": 3},
    {"dict": [[1]]}, {"dict": [[[], 1]]}, {"dict": [[1, 2], [True, 3]]}, {"float": "nan"},
    {"float": "inf"}, {"float": 1}, {"int8": 300}, {"int8": 1.5}, {"float32": 1e300}, {"bool": 1},
    {"str": 5}, {"texts": {"bytes": 1, "lengths": 2}}, {"objects": {"shape": [2], "items": [1]}},
    {"objects": {"shape": [-1, -1], "items": [1]}}, {"objects": {"shape": [1], "items": [[]]}},
    {"Gaussian": {}}, {"Gaussian": {"covariance": "diag", "missing": "raise"}}, {"Minimax": {}},
    {"Sums": {"weight": {"array": 1}, "sums": {"array": 1}}}, {"Several": {"parts": []}},
    {"Several": {"parts": {"tuple": []}}}, {"NamedActions": {"base": None, "actions": [[1, 2]]}},
    {"Rule": {"priors": {"array": 1}, "gain": {"array": 1}}}, {"os.system": "true"},
    {"transposed": 3}, {"type": "Gaussian"}, {"Model": None}, {"Learned": {"classes": 3}},
    {"whole": 0}, {"whole": 1}, {"whole": {"low": 0, "at": 1, "values": 1}}, {"whole": {"low": 1}},
]  # fmt: skip

NUMBERS = [0.0, -0.0, -1.0, 1.0, 5e-324, 1e-300, 1e300, -1e300, np.nan, np.inf, -np.inf, 1e9, 0.5]
DTYPES = ["<i4", "<f4", ">f8", "|b1", "<U3", "<i8", "|u1", "<f2", "<u8", ">i2", "<f8", "<u4"]


# ---------------------------------------------------------------------- breaking


def members_of(data: bytes) -> Content:
    """Names and bytes of the members of a good file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(content: Content, compression: int = zipfile.ZIP_STORED) -> bytes:
    """A zip file of the members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in content.items():
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    return out.getvalue()


def npy(array: Any, **options: Any) -> bytes:
    """The bytes of a .npy file."""
    out = io.BytesIO()
    np.save(out, np.asarray(array), **options)
    return out.getvalue()


def places_in(content: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in JSON content."""
    found = []
    pairs = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in list(pairs):
        found.append((content, key))
        if isinstance(value, (dict, list)):
            found += places_in(value)
    return found


class Breaker:
    """Breaks one file after the other; what it does depends on the seed and the number alone."""

    def __init__(self, files: Sequence[bytes], seed: int):
        self.files = [members_of(data) for data in files]
        self.documents = [json.loads(content[DOCUMENT]) for content in self.files]
        self.seed = seed

    def broken(self, number: int) -> tuple[int, bytes]:
        """Which file was broken in an execution, and what became of it."""
        self.rng = np.random.default_rng([self.seed, number])
        which = int(self.rng.integers(len(self.files)))
        content = dict(self.files[which])
        level = self.rng.random()
        if level < 0.45:
            for _ in range(self.rng.integers(1, 4)):
                content[DOCUMENT] = self._other_json(content[DOCUMENT])
        elif level < 0.8:
            for _ in range(self.rng.integers(1, 3)):
                self._change_arrays(content)
        elif level < 0.87:
            content[DOCUMENT] = self._other_text(content[DOCUMENT])
        else:
            return which, self._other_zip(content)
        return which, zipped(content)

    def _one_of(self, values: Sequence[Any]) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def _elsewhere(self) -> Any:
        """Some part of some good document."""
        container, key = self._one_of(places_in(self._one_of(self.documents)))
        return copy.deepcopy(container[key])

    def _other_json(self, text: bytes) -> bytes:
        """A document with one value, name or item changed."""
        document = json.loads(text)
        places = places_in(document)
        if not places:
            return text
        container, key = self._one_of(places)
        value = container[key]
        match int(self.rng.integers(9)):
            case 0 if isinstance(container, dict):
                del container[key]
            case 1:
                container[key] = self._elsewhere()
            case 2 if isinstance(container, dict):  # another type of the same parts
                other = self._elsewhere()
                name = next(iter(other), key) if isinstance(other, dict) else key
                container[name] = container.pop(key)
            case 3 if isinstance(container, list):
                container.insert(key, copy.deepcopy(value))
            case 4 if isinstance(container, list):
                container.pop(key)
            case 5 if isinstance(value, (int, float)):
                container[key] = self._one_of([value + 1, value - 1, -value, 2 * value, value / 3])
            case 6:
                other, at = self._one_of(places)
                if not isinstance(other[at], (dict, list)) and not isinstance(value, (dict, list)):
                    container[key], other[at] = other[at], value
            case 7:
                numbered = [(c, k) for c, k in places if k in ("array", "transposed", "whole")]
                if numbered:
                    where, name = self._one_of(numbered)
                    where[name] = int(self.rng.integers(-1, len(numbered) + 2))
            case _:
                container[key] = copy.deepcopy(self._one_of(STRANGE))
        return json.dumps(document).encode()

    def _change_arrays(self, content: Content) -> None:
        """One array changed, exchanged, or cut."""
        arrays = [name for name in content if name != DOCUMENT]
        if not arrays:
            return
        name = self._one_of(arrays)
        try:
            array = np.load(io.BytesIO(content[name]))
        except Exception:
            return  # broken before
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            match int(self.rng.integers(10)):
                case 0 | 1 if array.dtype.kind in "fiu" and array.size:
                    value = self._one_of(NUMBERS)
                    array = array.copy()
                    if array.dtype.kind != "f":
                        value = int(self.rng.integers(-3, 2**31)) % 2 ** (8 * array.itemsize - 1)
                    array.flat[self.rng.integers(array.size)] = value
                case 2 if array.ndim:
                    array = array[..., : self.rng.integers(array.shape[-1] + 1)]
                case 3 if array.ndim:
                    array = array[self.rng.integers(0, 2) : self.rng.integers(len(array) + 1)]
                case 4:
                    array = np.concatenate(
                        [np.atleast_1d(array)] * 2, int(self.rng.integers(-1, 1))
                    )
                case 5:
                    array = array.reshape(
                        self._one_of([(-1,), (1, -1), (-1, 1), array.shape[::-1]])
                    )
                case 6 if array.dtype.kind != "U":
                    array = array.astype(self._one_of(DTYPES))
                case 7:
                    content[name] = self._one_of(
                        list(self._one_of(self.files).values())[1:] or [b""]
                    )
                    return
                case 8:
                    content[name] = self._flipped(content[name])
                    return
                case _:
                    array = array.ravel()[self.rng.permutation(array.size)].reshape(array.shape)
        content[name] = npy(array)

    def _flipped(self, data: bytes) -> bytes:
        """Some bytes changed."""
        changed = bytearray(data)
        for place in self.rng.integers(len(data), size=self.rng.integers(1, 4)) if data else []:
            changed[place] = self.rng.integers(256)
        return bytes(changed)

    def _other_text(self, text: bytes) -> bytes:
        """JSON that says the same differently, or is none."""
        at = int(self.rng.integers(len(text)))
        match int(self.rng.integers(6)):
            case 0:
                return self._flipped(text)
            case 1:
                return text[:at]
            case 2:  # a key twice
                return text.replace(b'"model": {', b'"model": 1, "model": {', 1)
            case 3:
                deep = int(self.rng.integers(1, 2000))
                return text.replace(b"null", b"[" * deep + b"]" * deep, 1)
            case 4:
                marks = [b"NaN", b"Infinity", b"1e999", b"-0", b"9" * 50, b'"\\ud800"', b"\xff"]
                return text.replace(b"null", self._one_of(marks), 1)
            case _:
                return text[:at] + self._one_of([b" ", b"\n", b"\0", b",", b"{", b'"']) + text[at:]

    def _other_zip(self, content: Content) -> bytes:
        """Members, records or bytes of the container changed."""
        names = list(content)
        name = self._one_of(names)
        match int(self.rng.integers(10)):
            case 0:
                content.pop(name)
            case 1:
                other = [array_name(len(names)), "../" + name, name.upper(), "/" + name, "a\0b"]
                content[self._one_of(other)] = content.pop(name)
            case 2:
                kinds = [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2]
                return zipped(content, self._one_of(kinds))
            case 3:
                order = self.rng.permutation(len(names))
                return zipped({names[i]: content[names[i]] for i in order})  # a good file
            case 4:
                out = io.BytesIO(zipped(content))
                with zipfile.ZipFile(out, "a") as archive, warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    archive.writestr(self._one_of([name, "more", "arrays/"]), content[name])
                return out.getvalue()
            case 5:
                data = zipped(content)
                return data[: int(self.rng.integers(len(data)))]
            case 6:
                data, more = zipped(content), self._one_of([b"\0", b"PK\5\6", b"%PDF-1.4\n"])
                at = int(self.rng.integers(len(data) + 1))
                return data[:at] + more + data[at:]
            case 7 | 8:  # a number in a record
                data = bytearray(zipped(content))
                mark = self._one_of([b"PK\1\2", b"PK\3\4", b"PK\5\6"])
                starts = [i for i in range(len(data)) if data[i : i + 4] == mark]
                at = self._one_of(starts) + int(self.rng.integers(4, 22))
                value = self._one_of([0, 1, 2, 0x7F, 0x80, 0xFF])
                data[at : at + 2] = bytes([value, self._one_of([value, 0])])
                return bytes(data)
            case _:
                return self._flipped(zipped(content))
        return zipped(content)


# ---------------------------------------------------------------------- watching


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
