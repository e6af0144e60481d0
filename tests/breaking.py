"""Breaks model files in all ways that know how they are built: JSON, arrays, the container."""

from __future__ import annotations

import copy
import io
import json
import warnings
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesrule.archive import DOCUMENT, array_name

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
