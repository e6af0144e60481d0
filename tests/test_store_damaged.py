"""Damaged and hostile model files: an answer as before, or one clear error, and nothing else."""

from __future__ import annotations

import copy
import functools
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuzzing
import numpy as np
import pytest
from breaking import Content, members_of, npy, zipped

from bayesrule.classifier import BayesClassifier
from bayesrule.columns import Columns
from bayesrule.discrete import Bernoulli, Categorical
from bayesrule.gains import with_action
from bayesrule.gaussian import Gaussian
from bayesrule.minimax import Minimax
from bayesrule.neighbors import Neighbors
from bayesrule.store import ModelFileError, load, save
from bayesrule.words import Words

RNG = np.random.default_rng(11)
X = np.concatenate([RNG.normal(centre, 1.0, (12, 2)) for centre in (0.0, 3.0)])
Y = np.repeat(["no", "yes"], 12)
GAPS = X.copy()
GAPS[::7, 0] = np.nan

TEXTS = ["a b", "b c c", "c", "a"] * 6


@functools.cache
def models() -> dict[str, BayesClassifier]:
    """One model for each kind of part that a file may have."""
    gain = with_action({"no": {"no": 1.0, "yes": -2.0}, "yes": {"no": -9, "yes": 3}}, "ask", 0.5)
    frame_like = np.array([["red", "one"], ["blue", "two"]] * 12, dtype=object)
    mixed = np.array([["red", 1.5], ["blue", 0.25]] * 12, dtype=object)
    mixed[:, 1] += RNG.random(24)
    return {
        "full": BayesClassifier(gain=gain).fit(GAPS, Y),
        "diag": BayesClassifier(Gaussian("diag"), priors=Minimax(randomised=True)).fit(X, Y),
        "ones": BayesClassifier(Bernoulli()).fit(X, Y.astype(object)),
        "text": BayesClassifier(Categorical(), gain=with_action(None, "ask", 0.6)).fit(
            frame_like, np.repeat([True, False], 12)
        ),
        "mixed": BayesClassifier(Columns(numbers=Gaussian("full"))).fit(mixed, Y),
        "words": BayesClassifier(Words(0.5)).fit(TEXTS, Y),
        "near": BayesClassifier(Neighbors()).fit(X, Y),
    }


@functools.cache
def members(name: str = "full") -> Content:
    """Names and bytes of the members of a good file."""
    return members_of(file_of(name))


@functools.cache
def file_of(name: str = "full") -> bytes:
    """A good file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.bayes"
        save(models()[name], path)
        return path.read_bytes()


def with_header(text: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """A .npy file with a header of one's own."""
    header = text.encode()
    size = struct.pack("<H" if version == b"\x01\x00" else "<I", len(header))
    return b"\x93NUMPY" + version + size + header + data


def header_of(shape: str, descr: str = "<f8", fortran: str = "False") -> str:
    return f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n"


def tried(data: bytes, tmp_path: Path) -> BayesClassifier | str:
    """The model in a file, or what was said of it; nothing else may happen, and soon."""
    path = tmp_path / "tried.bayes"
    path.write_bytes(data)
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return load(path)
    except ModelFileError as error:
        return str(error)
    finally:
        assert time.process_time() - start < 2.0


def assert_refused(data: bytes, tmp_path: Path, message: str = "") -> None:
    """The file is refused with a message that names it, and takes little memory."""
    tracemalloc.start()
    try:
        found = tried(data, tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(found, str), "the file was taken"
    assert "tried.bayes" in found
    assert message in found
    assert len(found) < 1000
    assert peak < 20 * len(data) + 10_000_000


# ---------------------------------------------------------------------- accidents


@pytest.mark.parametrize("name", ["full", "diag"])
def test_a_file_cut_short_anywhere_is_refused(name: str, tmp_path: Path) -> None:
    data = file_of(name)
    for length in {*range(0, len(data), 97), *range(len(data) - 30, len(data)), *range(8)}:
        found = tried(data[:length], tmp_path)
        assert isinstance(found, str), length


def test_one_damaged_byte_anywhere_is_refused_or_harmless(tmp_path: Path) -> None:
    data = file_of("diag")
    expected = models()["diag"].predict_proba(X)
    harmless = 0
    for place in range(0, len(data), len(data) // 400):
        damaged = bytearray(data)
        damaged[place] ^= 1 << (place % 8)
        found = tried(bytes(damaged), tmp_path)
        if not isinstance(found, str):
            harmless += 1
            assert found.predict_proba(X).tobytes() == expected.tobytes()
    assert harmless < 80  # times and permissions in the directory


def test_anything_before_after_or_between_the_members_is_refused(tmp_path: Path) -> None:
    data = file_of()
    for other in (b"#!/bin/sh\n" + data, data + b"\0", data + data, b"", b"PK\5\6" + b"\0" * 18):
        assert_refused(other, tmp_path)
    with_comment = io.BytesIO(data)
    with zipfile.ZipFile(with_comment, "a") as archive:
        archive.comment = b"hello"
    assert_refused(with_comment.getvalue(), tmp_path)


def test_a_file_that_another_zip_program_wrote_is_taken(tmp_path: Path) -> None:
    content = members()
    shuffled = {name: content[name] for name in sorted(content, reverse=True)}
    found = tried(zipped(shuffled), tmp_path)
    assert isinstance(found, BayesClassifier)
    assert found.predict_proba(X).tobytes() == models()["full"].predict_proba(X).tobytes()


# ---------------------------------------------------------------------- malice


def edited(change: Callable[[Any], None], name: str = "full") -> bytes:
    """A file whose JSON was changed."""
    document = json.loads(members(name)["model.json"])
    change(document)
    return zipped({**members(name), "model.json": json.dumps(document).encode()})


def with_json(text: bytes) -> bytes:
    return zipped({**members(), "model.json": text})


def with_array(data: bytes, place: int = 0) -> bytes:
    return zipped({**members(), f"arrays/{place}.npy": data})


def duplicated() -> bytes:
    """Two members of one name, in place of the last array."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in list(members().items())[:-1]:
            archive.writestr(name, data)
        archive.writestr("model.json", members()["model.json"])
    return out.getvalue()


def overlapping() -> bytes:
    """A file whose directory names one member twice, under two names."""
    data = bytearray(zipped({"model.json": b"{}", "arrays/0.npy": b"1234"}))
    second = data.rfind(b"PK\1\2")
    struct.pack_into("<L", data, second + 42, 0)
    return bytes(data)


def forged_end(count: int, length: int, start: int) -> bytes:
    data = bytearray(file_of())
    struct.pack_into("<2H2L", data, len(data) - 14, count, count, length, start)
    return bytes(data)


def patched(mark: bytes, offset: int, form: str, value: int) -> bytes:
    """A file with one number in the first record of a kind changed."""
    data = bytearray(file_of())
    struct.pack_into(form, data, data.find(mark) + offset, value)
    return bytes(data)


def very_many(count: int) -> bytes:
    """A file whose directory has a great many entries, all of them there."""
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, *(0,) * 4, 0, 0)
    directory = (entry + b"x") * count
    large = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(directory), 0)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, len(directory), 1)
    return (
        directory
        + large
        + locator
        + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, *(0xFFFF,) * 2, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    )


def renamed_in_front() -> bytes:
    """A member that another program would know by another name."""
    return file_of().replace(b"arrays/0.npy", b"../../.login", 1)


def commented() -> bytes:
    """A good file in the comment of another one."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("model.json", b"{}")
        archive.comment = file_of()
    return out.getvalue()


def of_array(change: Callable[[np.ndarray], Any], name: str = "diag", kind: str = "f") -> bytes:
    """A file whose largest array of a kind was changed."""
    arrays = {n: np.load(io.BytesIO(d)) for n, d in members(name).items() if n.endswith(".npy")}
    largest = max((n for n in arrays if arrays[n].dtype.kind == kind), key=lambda n: arrays[n].size)
    return zipped({**members(name), largest: npy(change(arrays[largest]))})


def pickled_object() -> bytes:
    class Evil:
        def __reduce__(self) -> Any:
            return exec, ("import sys; sys.evil = True",)

    return npy(np.array([Evil()], object), allow_pickle=True)


def setting(*path: Any) -> Callable[[Any], None]:
    """A change that sets the last of ``path`` at the place of the others."""
    *keys, last, value = path

    def change(document: Any) -> None:
        for key in keys:
            document = document[key]
        document[last] = value

    return change


MODEL = ("model", "Model")
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "compressed bomb": (
        lambda: zipped(
            {**members(), "arrays/0.npy": b"\0" * 50_000_000}, compression=zipfile.ZIP_DEFLATED
        ),
        "compressed",
    ),
    "duplicate member": (duplicated, "two members of one name"),
    "extra member": (lambda: zipped({**members(), "readme.txt": b"hi"}), "'readme.txt'"),
    "path upwards": (lambda: zipped({**members(), "../x": b"hi"}), "'../x'"),
    "absolute path": (lambda: zipped({**members(), "/etc/x": b"hi"}), "'/etc/x'"),
    "missing array": (
        lambda: zipped({k: v for k, v in members().items() if k != "arrays/1.npy"}),
        "not known",
    ),
    "last array missing": (lambda: zipped(dict(list(members().items())[:-1])), "refers to array"),
    "unused array": (
        lambda: zipped({**members(), f"arrays/{len(members()) - 1}.npy": npy([1.0])}),
        "nothing refers",
    ),
    "padded name": (lambda: zipped({**members(), "arrays/00.npy": npy([1.0])}), "not known"),
    "no document": (
        lambda: zipped({k: v for k, v in members().items() if k != "model.json"}),
        "not known",
    ),
    "overlapping members": (overlapping, "overlaps"),
    "a million entries": (lambda: forged_end(0xFFFE, 50, 0), "damaged"),
    "no entries": (lambda: forged_end(0, 0, len(file_of()) - 22), "directory"),
    "start beyond": (lambda: forged_end(1, 0xFFFFFFFE, 0xFFFFFFFE), "damaged"),
    "encrypted": (lambda: patched(b"PK\1\2", 8, "<H", 1), "encrypted"),
    "unknown compression": (lambda: patched(b"PK\1\2", 10, "<H", 99), "compressed"),
    "streamed": (lambda: patched(b"PK\3\4", 6, "<H", 8), "flags"),
    "huge member": (lambda: patched(b"PK\1\2", 24, "<L", 0xFFFFFFF0), "two sizes"),
    "64-bit member": (lambda: patched(b"PK\1\2", 24, "<L", 0xFFFFFFFF), "damaged"),
    "not a zip": (lambda: b"\x80\x04\x95" + b"x" * 1000, "zip"),
    "a pickle": (lambda: with_array(pickled_object()), "no array"),
    "object dtype": (lambda: with_array(with_header(header_of("(1,)", "|O"))), "no array"),
    "record dtype": (
        lambda: with_array(with_header(header_of("(1,)").replace("'<f8'", "[('a', '<f8')]"))),
        "no array",
    ),
    "complex dtype": (lambda: with_array(with_header(header_of("(1,)", "<c16"), b"0" * 16)), ""),
    "strange size": (lambda: with_array(with_header(header_of("(1,)", "<f3"), b"000")), "dtype"),
    "long double": (lambda: with_array(with_header(header_of("(1,)", "<f16"), b"0" * 16)), "dtype"),
    "endless text": (
        lambda: with_array(with_header(header_of("(0,)", "<U9999999"))),
        "dtype",
    ),
    "no such character": (
        lambda: with_array(with_header(header_of("(1,)", "<U1"), b"\xff" * 4)),
        "characters",
    ),
    "no such boolean": (
        lambda: with_array(with_header(header_of("(2,)", "|b1"), b"\0\2")),
        "0 and 1",
    ),
    "overflowing shape": (
        lambda: with_array(with_header(header_of("(4294967296, 4294967296, 4)"))),
        "shape",
    ),
    "empty but huge": (
        lambda: with_array(with_header(header_of(f"(0, {2**59}, {2**59})"))),
        "",
    ),
    "wide but empty": (lambda: with_array(with_header(header_of(f"({2**40}, 0)"))), ""),
    "negative shape": (lambda: with_array(with_header(header_of("(-1,)"), b"0" * 8)), "no array"),
    "many dimensions": (
        lambda: with_array(with_header(header_of("(" + "1, " * 40 + "1)"), b"0" * 8)),
        "shape",
    ),
    "fortran order": (
        lambda: with_array(with_header(header_of("(1, 1)", fortran="True"), b"0" * 8)),
        "Fortran",
    ),
    "huge header": (
        lambda: with_array(with_header(header_of("(1,)") + " " * 60_000, b"0" * 8)),
        "",
    ),
    "newer array format": (
        lambda: with_array(with_header(header_of("(1,)"), b"0" * 8, b"\x02\x00")),
        "no .npy",
    ),
    "code in the header": (
        lambda: with_array(with_header("__import__('os').system('true')\n")),
        "no array",
    ),
    "deep lists": (lambda: with_json(b"[" * 10_000 + b"]" * 10_000), "deep"),
    "deep objects": (lambda: with_json(b'{"a":' * 10_000 + b"1" + b"}" * 10_000), "deep"),
    "a million lists": (lambda: with_json(b"[" + b"[]," * 1_100_000 + b"[]]"), "items"),
    "many quotes": (lambda: with_json(b'"' + b'\\"' * 500_000), ""),
    "long number": (lambda: with_json(b"9" * 100_000), "digits"),
    "long fraction": (lambda: with_json(b"0." + b"9" * 100_000), "digits"),
    "infinite number": (lambda: with_json(b'{"format": 1e999}'), "number"),
    "not a number": (lambda: with_json(b'{"format": NaN}'), "number NaN"),
    "duplicate key": (lambda: with_json(b'{"format": 1, "format": 2}'), "a key twice"),
    "no text": (lambda: with_json(b"\xff\xfe\x00"), ""),
    "no JSON": (lambda: with_json(b"import os"), ""),
    "other JSON": (lambda: with_json(b'{"model": {}}'), "does not say"),
    "further key": (lambda: edited(setting("signature", "me")), "keys"),
    "newer version": (lambda: edited(setting("version", 2)), "version 2"),
    "version by a flag": (lambda: edited(setting("version", True)), "version"),
    "version zero": (lambda: edited(setting("version", 0)), "version"),
    "unknown type": (lambda: edited(setting(*MODEL, "density", {"Magic": {}})), "'Magic'"),
    "unknown field": (
        lambda: edited(setting(*MODEL, "density", {"Gaussian": {"tricks": 1}})),
        "tricks",
    ),
    "two types": (
        lambda: edited(setting(*MODEL, "density", {"Gaussian": {}, "Minimax": {}})),
        "keys",
    ),
    "array index out of range": (lambda: edited(setting(*MODEL, "decisions", {"array": 99})), "99"),
    "array index negative": (lambda: edited(setting(*MODEL, "decisions", {"array": -1})), "-1"),
    "array index a flag": (lambda: edited(setting(*MODEL, "decisions", {"array": True})), "True"),
    "features by a flag": (lambda: edited(setting(*MODEL, "n_features", True)), "features"),
    "too many features": (lambda: edited(setting(*MODEL, "n_features", 2**40)), "features"),
    "more features": (lambda: edited(setting(*MODEL, "n_features", 3), "ones"), ""),
    "fewer features": (lambda: edited(setting(*MODEL, "n_features", 1), "diag"), "columns"),
    "no random rule": (lambda: edited(setting(*MODEL, "randomised", True)), "mixture"),
    "settings of nonsense": (
        lambda: edited(
            setting(*MODEL, "learned", "Learned", "density", "Gaussian", "covariance", "x")
        ),
        "covariance='x'",
    ),
    "words twice": (lambda: with_words(["a", "a"]), "sorted"),
    "words out of order": (lambda: with_words(["b", "a"]), "sorted"),
    "words that are numbers": (lambda: with_words([1, 2]), "texts"),
    "very many entries": (lambda: very_many(200_000), "too large"),
    "a document before it": (lambda: b"%PDF-1.7\n%%EOF\n" + file_of(), "damaged"),
    "a picture before it": (lambda: b"\x89PNG\r\n\x1a\n" + file_of(), "damaged"),
    "a page before it": (lambda: b"<html><script>1</script>" + file_of(), "damaged"),
    "a pickle before it": (lambda: b"\x80\x04N." + file_of(), "damaged"),
    "a pickle after it": (lambda: file_of() + b"\x80\x04N.", "end as a zip"),
    "two in one": (lambda: file_of("diag") + file_of("full"), "damaged"),
    "a file in a comment": (commented, ""),
    "a file in a file": (lambda: zipped({"model.bayes": file_of()}), "'model.bayes'"),
    "other names in front": (renamed_in_front, "another name in front"),
    "a folder": (lambda: zipped({**members(), "arrays/": b""}), "'arrays/'"),
    "a name of lookalikes": (
        lambda: zipped({**members(), "mоdel.json": b"{}"}),
        "not known",
    ),
    "a name with backslashes": (lambda: zipped({**members(), "..\\x": b""}), "not known"),
    "another encoding": (
        lambda: with_json(members()["model.json"].decode().encode("utf-16")),
        "",
    ),
    "marked text": (lambda: with_json(b"\xef\xbb\xbf" + members()["model.json"]), ""),
    "two texts": (lambda: with_json(members()["model.json"] * 2), "Extra data"),
    "a value alone": (lambda: with_json(b"1"), "does not say"),
    "a number as text": (lambda: edited(setting("version", "1")), "version"),
    "lone surrogates in keys": (lambda: with_json(b'{"\\ud800": 1}'), "does not say"),
    "not-a-number in an array": (lambda: of_array(lambda a: a * np.nan), "cannot be"),
    "infinity in an array": (lambda: of_array(lambda a: a + np.inf), "cannot be"),
    "a negative weight": (lambda: of_array(lambda a: -np.abs(a) - 1.0), ""),
    "numbers as text": (lambda: of_array(lambda a: a.astype(str)), ""),
    "other bytes first": (lambda: of_array(lambda a: a.astype(">f8")), ""),
    "half as many": (lambda: of_array(lambda a: a[..., ::2]), ""),
    "one dimension more": (lambda: of_array(lambda a: a[None]), ""),
    "text of other lengths": (
        lambda: of_array(lambda a: a + 1, "words", "i"),
        "other lengths",
    ),
    "text of overflowing lengths": (
        lambda: of_array(lambda a: np.full_like(a, 2**62), "words", "i"),
        "other lengths",
    ),
    "text of negative lengths": (
        lambda: of_array(lambda a: np.where(a == a[0], -a, a), "words", "i"),
        "other lengths",
    ),
    "keys that cannot be": (lambda: edited(setting(*MODEL, "gain", {"dict": [[[], 1]]})), ""),
    "a key twice in a dict": (
        lambda: edited(setting(*MODEL, "gain", {"dict": [["a", 1], ["a", 2]]})),
        "key twice",
    ),
    "a model in a model": (
        lambda: edited(lambda d: setting(*MODEL, "density", copy.deepcopy(d["model"]))(d)),
        "no density",
    ),
    "a density for priors": (lambda: edited(setting(*MODEL, "priors", {"Gaussian": {}})), ""),
    "classes twice": (lambda: of_array(lambda a: np.repeat(a[:1], len(a)), "diag", "U"), ""),
    "rows of a class that is not there": (
        lambda: of_array(lambda a: a + 7, "near", "i"),
        "other classes",
    ),
    "rows of a negative class": (lambda: of_array(lambda a: a - 1, "near", "i"), "negative class"),
    "priors of nonsense": (lambda: edited(setting(*MODEL, "priors", "hope")), "hope"),
}


def with_words(words: list[Any]) -> bytes:
    """A model of texts that knows other words."""
    items = {"objects": {"shape": [len(words)], "items": words}}
    return edited(
        setting(*MODEL, "learned", "Learned", "stats", "WordCounts", "words", items), "words"
    )


@pytest.mark.parametrize("which", HOSTILE)
def test_hostile_files_are_refused(which: str, tmp_path: Path) -> None:
    make, message = HOSTILE[which]
    assert_refused(make(), tmp_path, message)
    assert not hasattr(sys, "evil")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are told by /proc")
def test_hostile_files_do_nothing_in_little_memory_and_time(tmp_path: Path) -> None:
    for i, (make, _) in enumerate(HOSTILE.values()):
        (tmp_path / f"{i:03}.bayes").write_bytes(make())
    ran = fuzzing.worker("--files", tmp_path)
    assert ran.returncode == 0, ran.stderr[-3000:]
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    assert found == [[f"{i:03}", "refused"] for i in range(len(HOSTILE))]


@pytest.mark.parametrize("bad", [np.nan, -0.25, np.inf, 0.75])
def test_priors_that_are_none_are_refused(bad: float, tmp_path: Path) -> None:
    document = json.loads(members()["model.json"])
    place = document["model"]["Model"]["rule"]["Rule"]["priors"]["array"]
    assert_refused(with_array(npy([bad, 0.5]), place), tmp_path, "the priors")


def test_a_newer_file_says_who_wrote_it(tmp_path: Path) -> None:
    def change(document: Any) -> None:
        document.update(version=9, written_by="bayesrule 4.2", surprise={"new": 1})

    assert_refused(edited(change), tmp_path, "was written by 'bayesrule 4.2' in version 9")


def test_a_limit_on_the_size_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "model.bayes"
    path.write_bytes(file_of())
    load(path, max_bytes=len(file_of()))
    with pytest.raises(ModelFileError, match="max_bytes"):
        load(path, max_bytes=len(file_of()) - 1)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="pipe"):
        load(tmp_path / "pipe")


AUDIT = """
import sys
import numpy as np
from bayesrule.store import load

paths, rows = sys.argv[1:], np.zeros((3, 2))
for path in paths:
    load(path).predict(rows)
seen, watching = [], False

def watch(event, args):
    if not watching:
        return
    if event == "open" and not (args[1] or "r").startswith("r"):
        seen.append((event, args))
    starts = ("import", "exec", "compile", "socket", "subprocess", "os.", "pickle", "marshal",
              "ctypes", "shutil", "code.", "winreg", "tempfile")
    if event.startswith(starts):
        seen.append((event, str(args)[:80]))

sys.addaudithook(watch)
watching = True
for path in paths:
    load(path).predict(rows)
watching = False
print(seen)
"""


def test_loading_runs_nothing_and_writes_nothing(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("full", "diag", "ones")]
    for path in paths:
        path.write_bytes(file_of(path.name))
    result = subprocess.run(
        [sys.executable, "-c", AUDIT, *map(str, paths)], capture_output=True, text=True, check=False
    )
    assert result.stdout == "[]\n", result.stderr


def test_the_checksum_of_every_member_is_that_of_zip() -> None:
    with zipfile.ZipFile(io.BytesIO(file_of())) as archive:
        for info in archive.infolist():
            assert zlib.crc32(members()[info.filename]) == info.CRC
            assert info.compress_type == zipfile.ZIP_STORED
