"""Damaged and hostile model files: an answer as before, or one clear error, and nothing else."""

from __future__ import annotations

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

import numpy as np
import pytest

from bayesrule.classifier import BayesClassifier
from bayesrule.columns import Columns
from bayesrule.discrete import Bernoulli, Categorical
from bayesrule.gains import with_action
from bayesrule.gaussian import Gaussian
from bayesrule.minimax import Minimax
from bayesrule.store import ModelFileError, load, save
from bayesrule.words import Words

RNG = np.random.default_rng(11)
X = np.concatenate([RNG.normal(centre, 1.0, (12, 2)) for centre in (0.0, 3.0)])
Y = np.repeat(["no", "yes"], 12)
GAPS = X.copy()
GAPS[::7, 0] = np.nan

TEXTS = ["a b", "b c c", "c", "a"] * 6

Content = dict[str, bytes]


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
    }


def rows_for(name: str) -> Any:
    return {
        "text": np.array([["red", "two"], ["green", "one"]], object),
        "mixed": np.array([["red", 2.0], ["green", 1.0]], object),
        "words": np.array([["a b"], ["z"]], object),
    }.get(name, X)


@functools.cache
def members(name: str = "full") -> Content:
    """Names and bytes of the members of a good file."""
    with zipfile.ZipFile(io.BytesIO(file_of(name))) as archive:
        return {member: archive.read(member) for member in archive.namelist()}


@functools.cache
def file_of(name: str = "full") -> bytes:
    """A good file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.bayes"
        save(models()[name], path)
        return path.read_bytes()


def zipped(content: Content, **options: Any) -> bytes:
    """A zip file of the members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", **options) as archive:
        for name, data in content.items():
            archive.writestr(zipfile.ZipInfo(name), data, options.get("compression"))
    return out.getvalue()


def npy(array: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, np.asarray(array), **options)
    return out.getvalue()


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
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return load(path)
    except ModelFileError as error:
        return str(error)
    finally:
        assert time.perf_counter() - start < 2.0


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


# ---------------------------------------------------------------------- changed contents


def scalars_in(content: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in JSON content."""
    found = []
    pairs = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in list(pairs):
        found.append((content, key))
        if isinstance(value, (dict, list)):
            found += scalars_in(value)
    return found


STRANGE: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 7, 2**31, 2**63, -(2**70), 0.5, -0.0, 1e308, "", "full",
    "diag", "nan", "tied", [], {}, [[]], [1, 2], {"array": 0}, {"array": 1}, {"array": -1},
    {"array": True}, {"array": 99}, {"array": 1.0}, {"array": "0"}, {"tuple": []}, {"tuple": 3},
    {"dict": [[1]]},
    {"dict": [[[], 1]]}, {"dict": [[1, 2], [True, 3]]}, {"float": "nan"}, {"float": "inf"},
    {"float": 1}, {"int8": 300}, {"int8": 1.5}, {"float32": 1e300}, {"bool": 1}, {"str": 5},
    {"texts": {"bytes": 1, "lengths": 2}}, {"objects": {"shape": [2], "items": [1]}},
    {"objects": {"shape": [-1, -1], "items": [1]}}, {"objects": {"shape": [1], "items": [[]]}},
    {"Gaussian": {}}, {"Gaussian": {"covariance": "diag", "missing": "raise"}}, {"Minimax": {}},
    {"Sums": {"weight": {"array": 1}, "sums": {"array": 1}}}, {"Several": {"parts": []}},
    {"Several": {"parts": {"tuple": []}}}, {"NamedActions": {"base": None, "actions": [[1, 2]]}},
    {"Rule": {"priors": {"array": 1}, "gain": {"array": 1}}}, {"os.system": "true"},
    {"transposed": 3}, {"type": "Gaussian"}, {"Model": None}, {"Learned": {"classes": 3}},
    {"whole": 0}, {"whole": 1}, {"whole": {"low": 0, "at": 1, "values": 1}}, {"whole": {"low": 1}},
]  # fmt: skip


@pytest.mark.parametrize("name", ["full", "diag", "ones", "text", "mixed", "words"])
def test_changed_json_gives_a_model_or_the_error(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(len(name))
    n_places = len(scalars_in(json.loads(members(name)["model.json"])))
    for _ in range(120):
        document = json.loads(members(name)["model.json"])
        place = scalars_in(document)[rng.integers(n_places)]
        if rng.random() < 0.1 and isinstance(place[0], dict):
            del place[0][place[1]]
        else:
            place[0][place[1]] = STRANGE[rng.integers(len(STRANGE))]
        content = {**members(name), "model.json": json.dumps(document).encode()}
        assert_usable_or_refused(zipped(content), name, tmp_path)


NUMBERS = [0.0, -0.0, -1.0, 1.0, 1e-320, 1e300, -1e300, np.nan, np.inf, -np.inf, 1e9]


@pytest.mark.parametrize("name", ["full", "diag", "ones", "text", "mixed", "words"])
def test_changed_arrays_give_a_model_or_the_error(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(len(name) + 10)
    arrays = [member for member in members(name) if member.endswith(".npy")]
    for _ in range(120):
        member = arrays[rng.integers(len(arrays))]
        array = np.load(io.BytesIO(members(name)[member]))
        match rng.integers(5):
            case 0 if array.dtype.kind == "f" and array.size:
                array.flat[rng.integers(array.size)] = NUMBERS[rng.integers(len(NUMBERS))]
            case 1:
                array = array[..., : rng.integers(array.shape[-1] + 1)] if array.ndim else array
            case 2:
                array = np.stack([array, array][: rng.integers(1, 3)])
            case 3:
                kinds = ["<i4", "<f4", ">f8", "|b1", "<U3", "<i8", "|u1"]
                if array.dtype.kind != "U":
                    with np.errstate(invalid="ignore"):
                        array = array.astype(kinds[rng.integers(len(kinds))])
            case _:
                flat = bytearray(array.tobytes())
                for place in rng.integers(len(flat), size=3) if flat else []:
                    flat[place] = rng.integers(256)
                array = np.frombuffer(bytes(flat), array.dtype).reshape(array.shape)
        content = {**members(name), member: npy(array)}
        assert_usable_or_refused(zipped(content), name, tmp_path)


def assert_usable_or_refused(data: bytes, name: str, tmp_path: Path) -> None:
    """What is loaded must decide, without an error, among its decisions."""
    found = tried(data, tmp_path)
    if isinstance(found, str):
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        rows = rows_for(name)
        if getattr(found, "n_features_in_", 1) == rows.shape[1]:
            decided = found.predict(rows)
            assert set(decided.tolist()) <= set(found.decisions_.tolist())
    save(found, tmp_path / "again.bayes")


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
