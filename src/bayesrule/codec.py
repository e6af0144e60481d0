"""Values as JSON and arrays, and back: plain data and a closed list of types, nothing else.

JSON has no tuples, no keys but text, no infinity and no arrays. A JSON object with one entry says
what its content is::

    {"tuple": [1, 2]}   {"dict": [[true, 0.5]]}   {"float": "inf"}   {"int8": 3}
    {"array": 7}        the array in arrays/7.npy
    {"whole": 7}        that array as float64: whole numbers kept as integers, to save space; those
                        few that do not fit are in two more: {"low": 7, "at": 8, "values": 9}
    {"transposed": 7}   the transpose of that array: its memory is in the order of columns
    {"texts": ...}      an object array of text, as UTF-8 bytes and lengths in two arrays
    {"objects": ...}    an object array of other labels
    {"Gaussian": {...}} one of the known types, by the parameters of its constructor

All that is refused, in either direction, is a ValueError or TypeError that names it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from typing import Any, Protocol

import numpy as np

from bayesrule.archive import MAX_MEMBERS, storable
from bayesrule.strict_json import LARGEST_INTEGER, MAX_DEPTH, shown

NUMPY: dict[str, type[np.generic]] = {
    **{
        f"{kind}{bits}": np.dtype(f"{kind}{bits}").type
        for kind in ("int", "uint", "float")
        for bits in (8, 16, 32, 64)
        if (kind, bits) != ("float", 8)
    },
    "bool": np.bool_,
    "str": np.str_,
}


class Known(Protocol):
    """What the codec must know of a type."""

    @property
    def type(self) -> Callable[..., Any]:
        """The constructor, whose parameters are attributes too."""
        ...

    @property
    def check(self) -> Callable[[Any], None] | None:
        """Raises where a value of the type contradicts itself."""
        ...


#: The default of a parameter that must be given.
MUST = Parameter.empty


def fields_of(known: Callable[..., Any]) -> dict[str, Any]:
    """Parameters of a type's constructor and their defaults."""
    if getattr(known, "__init__", None) is object.__init__:
        return {}  # inspect would compile a text to find that out
    return {name: p.default for name, p in signature(known).parameters.items()}


#: Floats that are kept as integers where all are whole: fewer are not worth the trouble.
MANY = 64
#: Bytes that two more arrays take before they hold anything.
APART = 600


def narrow_type(array: np.ndarray) -> np.dtype[Any] | None:
    """The integers in which the whole numbers of a float64 array take least room; None if none.

    Counts are most of what models of counts keep, and most of a count is zeros. The few that do
    not fit are kept apart, with their places.
    """
    if array.dtype != np.float64 or array.size < MANY or array.size >= 2**32:
        return None
    if np.signbit(array).any() or not (array < 2.0**53).all() or (array != np.floor(array)).any():
        return None
    best, least = None, 8.0 * array.size
    for dtype in (np.uint8, np.uint16, np.uint32):
        over = int(np.sum(array > np.iinfo(dtype).max))
        room = np.dtype(dtype).itemsize * array.size + APART * bool(over) + 12.0 * over
        if room < least:
            best, least = np.dtype(dtype), room
    return best


class Encoder:
    """Turns values into JSON content and collects their arrays, each once."""

    def __init__(self, known: Mapping[str, Known]):
        self.arrays: list[np.ndarray] = []
        self._known = {entry.type: (name, entry) for name, entry in known.items()}
        self._places: dict[tuple[int, bool], int] = {}
        self._kept: list[np.ndarray] = []  # alive, so that no other array gets one's id

    def encode(self, value: Any, where: str, depth: int = 0) -> Any:
        """JSON content of a value; ``where`` names it in messages."""
        if depth > MAX_DEPTH // 3:
            raise ValueError(f"{where} is nested too deeply to be stored.")
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            if abs(value) > LARGEST_INTEGER:
                raise ValueError(f"{where} is {shown(value)}, which is too large to be stored.")
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            name = "str" if isinstance(value, np.str_) else value.dtype.name
            if name in NUMPY:
                return {name: self.encode(value.item(), where)}
        if isinstance(value, np.ndarray):
            return self._array(np.asarray(value), where)
        if type(value) in (list, tuple):
            items = self._items(value, where, depth)
            return items if type(value) is list else {"tuple": items}
        if isinstance(value, Mapping):
            # A key that is no text is a value like any other.
            pairs = ((self._items((k, v), f"{where}[{k!r}]", depth)) for k, v in value.items())
            return {"dict": list(pairs)}
        if type(value) in self._known:
            name, entry = self._known[type(value)]
            if entry.check is not None:
                entry.check(value)
            parts = {f: getattr(value, f) for f in fields_of(type(value))}
            return {name: {f: self.encode(v, f"{where}.{f}", depth + 1) for f, v in parts.items()}}
        if hasattr(value, "__array__"):
            return self._array(np.asarray(value), where)
        raise TypeError(
            f"{where} is of type {type(value).__name__}. A .bayes file holds numbers, text, arrays "
            "of them and this package's own types, so that loading it runs no code. Keep a model "
            "with other parts by skops (skops.io.dump) or joblib (joblib.dump)."
        )

    def _items(self, values: Iterable[Any], where: str, depth: int) -> list[Any]:
        return [self.encode(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(values)]

    def _array(self, array: np.ndarray, where: str) -> Any:
        if array.dtype.kind == "O":
            return self._objects(array, where)
        if not storable(array.dtype):
            raise TypeError(
                f"{where} is an array of {array.dtype}, which a .bayes file does not hold; it "
                "holds booleans, integers and floats of up to 64 bits, and text. Convert it, for "
                "example labels by astype(str)."
            )
        # Sums depend, in their last bits, on the order of memory: it is kept.
        flip = array.flags.f_contiguous and not array.flags.c_contiguous
        narrow = None if flip else narrow_type(array)
        if narrow is not None:
            return {"whole": self._whole(array, narrow)}
        return {"transposed" if flip else "array": self._place(array, flip, array)}

    def _place(self, array: np.ndarray, flip: bool, kept: np.ndarray) -> int:
        """Place of an array among those that are stored, each of ``kept`` once."""
        key = id(kept), flip
        if key not in self._places:
            if len(self.arrays) + 1 == MAX_MEMBERS:
                raise ValueError(f"The model has more than {MAX_MEMBERS - 1} arrays.")
            self._places[key] = len(self.arrays)
            self._kept.append(kept)
            stored = np.asarray(array.T if flip else array, order="C")
            self.arrays.append(stored)
        return self._places[key]

    def _whole(self, array: np.ndarray, narrow: np.dtype[Any]) -> Any:
        """Integers, and what does not fit into them."""
        over = np.flatnonzero(array > np.iinfo(narrow).max)
        low = array.copy()
        low.flat[over] = 0.0
        place = self._place(low.astype(narrow), False, array)
        if not len(over):
            return place
        at, values = over.astype(np.uint32), array.flat[over]
        parts = {"low": place, "at": self._place(at, False, at)}
        return parts | {"values": self._place(values, False, values)}

    def _objects(self, array: np.ndarray, where: str) -> Any:
        items = array.ravel().tolist()
        shape = list(array.shape)
        if all(type(item) is str for item in items):
            texts = [item.encode("utf-8", "surrogatepass") for item in items]
            lengths = np.array([len(text) for text in texts], np.int64).reshape(shape)
            joined = np.frombuffer(b"".join(texts), np.uint8)
            return {
                "texts": {
                    "bytes": self._array(joined, where),
                    "lengths": self._array(lengths, where),
                }
            }
        for item in items:
            if not (item is None or isinstance(item, (bool, int, float, str, np.generic))):
                raise TypeError(
                    f"{where} holds {shown(item)} of type {type(item).__name__}; a .bayes file "
                    "holds labels that are text, numbers or booleans. Convert them, for example "
                    "by astype(str)."
                )
        return {"objects": {"shape": shape, "items": self._items(items, where, 0)}}


class Decoder:
    """Turns JSON content back into values; arrays come from ``array_at``, by their place."""

    def __init__(
        self, known: Mapping[str, Known], array_at: Callable[[int], np.ndarray], n_arrays: int
    ):
        self._known = known
        self._array_at = array_at
        self._arrays: list[np.ndarray | None] = [None] * n_arrays
        self._read: dict[str, Callable[[Any], Any]] = {
            "tuple": lambda content: tuple(self._list(content)),
            "dict": self._dict,
            "float": self._special_float,
            "array": self._array,
            "transposed": lambda content: self._array(content).T,
            "whole": self._whole,
            "texts": self._texts,
            "objects": self._objects,
        }

    @property
    def unused(self) -> list[int]:
        """Places of the arrays that no value has used so far."""
        return [place for place, array in enumerate(self._arrays) if array is None]

    def decode(self, content: Any) -> Any:
        """The value of JSON content."""
        if isinstance(content, list):
            return self._list(content)
        if not isinstance(content, dict):
            return content
        if len(content) != 1:
            raise ValueError(f"its JSON has an object with the keys {shown(list(content))}")
        ((tag, inner),) = content.items()
        if tag in self._read:
            return self._read[tag](inner)
        if tag in NUMPY:
            return self._number(tag, inner)
        if tag in self._known:
            return self._object(tag, inner)
        raise ValueError(f"it holds the type {shown(tag)}, which this version does not know")

    def _list(self, content: Any) -> list[Any]:
        if not isinstance(content, list):
            raise ValueError(f"it has {shown(content)} where a list is needed")
        return [self.decode(item) for item in content]

    def _fields(self, content: Any, names: list[str], of: str) -> dict[str, Any]:
        """An object with just these keys."""
        if not isinstance(content, dict) or set(content) != set(names):
            found = shown(list(content) if isinstance(content, dict) else content)
            raise ValueError(f"its {of} should have {names}, but has {found}")
        return content

    def _object(self, tag: str, content: Any) -> Any:
        entry = self._known[tag]
        # Older files lack what was added to a type since; its default then means "as before".
        found = content if isinstance(content, dict) else {}
        names = [n for n, default in fields_of(entry.type).items() if n in found or default is MUST]
        parts = self._fields(content, names, tag)
        value = entry.type(**{name: self.decode(part) for name, part in parts.items()})
        if entry.check is not None:
            entry.check(value)
        return value

    def _dict(self, content: Any) -> dict[Any, Any]:
        pairs = self._list(content)
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise ValueError(f"it has {shown(content)} where pairs of key and value are needed")
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError(f"it has a dict with a key twice: {shown(pairs)}")
        return found

    def _special_float(self, content: Any) -> float:
        if content not in ("inf", "-inf", "nan"):
            raise ValueError(f"it has {shown(content)} where a float is needed")
        return float(content)

    def _number(self, tag: str, content: Any) -> np.generic:
        """A numpy scalar, which must hold just what was written."""
        plain = self.decode(content)
        kind = {"b": bool, "f": float, "U": str}.get(np.dtype(NUMPY[tag]).kind, int)
        if type(plain) is not kind:
            raise ValueError(f"it has {shown(content)} where a {tag} is needed")
        with np.errstate(over="ignore"):
            value: np.generic = NUMPY[tag](plain)
        if value.item() != plain and plain == plain:
            raise ValueError(f"it has {shown(content)}, which no {tag} can be")
        return value

    def _array(self, content: Any) -> np.ndarray:
        n_arrays = len(self._arrays)
        if type(content) is not int or not 0 <= content < n_arrays:
            raise ValueError(f"it refers to array {shown(content)} of {n_arrays}")
        array = self._arrays[content]
        if array is None:
            array = self._arrays[content] = self._array_at(content)
        return array

    def _whole(self, content: Any) -> np.ndarray:
        names = ["low", "at", "values"]
        parts = self._fields(content, names, "whole numbers") if type(content) is dict else None
        array = self._array(content if parts is None else parts["low"])
        if array.dtype.kind != "u" or array.dtype.itemsize > 4:
            raise ValueError(f"it has an array of {array.dtype} where whole numbers are needed")
        found = array.astype(np.float64)
        if parts is not None:
            at, values = self._array(parts["at"]), self._array(parts["values"])
            fine = at.dtype == np.uint32 and values.dtype == np.float64 and at.shape == values.shape
            if not fine or at.ndim != 1 or at.max(initial=0) >= found.size:
                raise ValueError("its large whole numbers are at places that there are not")
            found.flat[at] = values
        return found

    def _texts(self, content: Any) -> np.ndarray:
        parts = self._fields(content, ["bytes", "lengths"], "text")
        joined, lengths = (self.decode(parts[name]) for name in ("bytes", "lengths"))
        for array, dtype in ((joined, np.uint8), (lengths, np.int64)):
            if not isinstance(array, np.ndarray) or array.dtype != dtype:
                raise ValueError("its text is not stored as bytes and lengths")
        sizes = lengths.ravel().tolist()
        if min(sizes, default=0) < 0 or sum(sizes) != joined.size or joined.ndim != 1:
            raise ValueError("its text has other lengths than it says")
        texts, start, data = np.empty(len(sizes), object), 0, joined.tobytes()
        for i, size in enumerate(sizes):
            texts[i] = data[start : start + size].decode("utf-8", "surrogatepass")
            start += size
        return texts.reshape(lengths.shape)

    def _objects(self, content: Any) -> np.ndarray:
        parts = self._fields(content, ["shape", "items"], "object array")
        shape, items = self._list(parts["shape"]), self._list(parts["items"])
        labels = (bool, int, float, str, np.generic, type(None))
        fine = all(type(n) is int and 0 <= n <= len(items) for n in shape)
        if not fine or math.prod(shape) != len(items):
            raise ValueError(f"its object array of {len(items)} items has shape {shown(shape)}")
        if not all(isinstance(item, labels) for item in items):
            raise ValueError("its object array holds what is no label")
        array = np.empty(len(items), object)
        array[:] = items
        return array.reshape(shape)
