"""The container of a model file: a zip archive of one JSON text and plain arrays, read strictly.

::

    model.json   arrays/0.npy   arrays/1.npy   ...

Members lie one after the other, uncompressed and without gaps, so the size of the file bounds the
memory that reading takes. Any zip program can write and read such a file. The reader is our own:
it accepts this layout alone, believes no size before it is checked against the file, and turns
bytes into arrays of numbers and text without evaluating anything. All it refuses is a ValueError.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO

import numpy as np

#: Members a file may have at most.
MAX_MEMBERS = 1 << 16

#: Bytes of the JSON text at most.
MAX_DOCUMENT = 1 << 24

#: Bytes of the directory per member at most: its name and what zip programs put beside it.
MAX_ENTRY = 512

#: Longest text, in characters, that an array of text may hold.
MAX_CHARACTERS = 1 << 20

MAX_DIMENSIONS = 16
LARGEST_CHARACTER = 0x10FFFF

#: Item sizes of the kinds of arrays that are stored: booleans, integers, floats and text.
ITEM_SIZES: dict[str, Any] = {
    "b": {1},
    "i": {1, 2, 4, 8},
    "u": {1, 2, 4, 8},
    "f": {2, 4, 8},
    "U": range(4, 4 * MAX_CHARACTERS + 1),
}

DOCUMENT = "model.json"
MAGIC = b"\x93NUMPY\x01\x00"
HEADER = re.compile(
    rb"\{'descr': '([<>|][biufU][0-9]{1,7})', 'fortran_order': (False|True), "
    rb"'shape': \(([0-9]{1,18},|[0-9]{1,18}(?:, [0-9]{1,18})+)?\), \} *\n"
)

# The records of the zip format, APPNOTE sections 4.3.7, 4.3.12 and 4.3.14 to 4.3.16.
LOCAL = struct.Struct("<4s5H3L2H")
ENTRY = struct.Struct("<4s6H3L5H2L")
END = struct.Struct("<4s4H2LH")
LARGE_END = struct.Struct("<4sQ2H2L4Q")
LOCATOR = struct.Struct("<4sLQL")
TOO_LARGE = 0xFFFFFFFF  # stands for a number that is kept in a 64-bit field elsewhere


def storable(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of a dtype are plain enough to be stored."""
    return dtype.itemsize in ITEM_SIZES.get(dtype.kind, ())


def array_name(place: int) -> str:
    """Name of the member that holds an array."""
    return f"arrays/{place}.npy"


def write_archive(file: BinaryIO, document: bytes, arrays: Sequence[np.ndarray]) -> None:
    """Write the document and the C-ordered arrays; the bytes depend on nothing else."""
    with zipfile.ZipFile(file, "w") as archive:
        members = [(DOCUMENT, [document])]
        members += [(array_name(i), [_npy_header(a), _bytes(a)]) for i, a in enumerate(arrays)]
        for name, parts in members:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16
            info.file_size = sum(map(len, parts))  # tells whether 64-bit sizes are needed
            with archive.open(info, "w") as member:
                for part in parts:
                    member.write(part)


def _npy_header(array: np.ndarray) -> bytes:
    """Header of numpy's array format, version 1.0, which ends at a multiple of 64 bytes."""
    text = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {array.shape}, }}"
    padding = -(len(MAGIC) + 2 + len(text) + 1) % 64
    header = (text + " " * padding + "\n").encode("ascii")
    return MAGIC + struct.pack("<H", len(header)) + header


def _bytes(array: np.ndarray) -> Any:
    """The memory of a C-ordered array."""
    return array.reshape(-1).view(np.uint8).data


@dataclass(frozen=True)
class Member:
    """Where the bytes of a member are, and their checksum."""

    start: int
    size: int
    checksum: int


class Archive:
    """A checked directory, and members that are read when they are asked for."""

    def __init__(self, file: BinaryIO, size: int):
        self._file = file
        self._members = _directory(file, size)
        self.n_arrays = len(self._members) - 1

    def document(self) -> bytes:
        """The JSON text."""
        size = self._members[DOCUMENT].size
        _refuse_unless(size <= MAX_DOCUMENT, f"{DOCUMENT} has {size} bytes, too many for a model")
        return self._read(DOCUMENT).tobytes()

    def array(self, place: int) -> np.ndarray:
        """One array, in memory of its own."""
        name = array_name(place)
        return _parse_npy(self._read(name), name)

    def _read(self, name: str) -> np.ndarray:
        member = self._members[name]
        data = np.empty(member.size, np.uint8)
        self._file.seek(member.start)
        if self._file.readinto(data) != member.size:  # type: ignore[attr-defined]
            raise ValueError(f"it ends within {name}")
        if zlib.crc32(data.data) != member.checksum:
            raise ValueError(f"{name} is damaged: its checksum is wrong")
        return data


def _refuse_unless(good: bool, problem: str) -> None:
    if not good:
        raise ValueError(problem)


def _read_at(file: BinaryIO, start: int, size: int) -> bytes:
    """Bytes that must be there."""
    _refuse_unless(start >= 0, "it is too short to be a zip archive")
    file.seek(start)
    data = file.read(size)
    _refuse_unless(len(data) == size, "it is cut short")
    return data


def _directory(file: BinaryIO, size: int) -> dict[str, Member]:
    """Read the directory at the end of a zip file and check that it describes all of the file."""
    end = size - END.size
    mark, disk, first, here, count, length, start, comment = END.unpack(
        _read_at(file, end, END.size)
    )
    _refuse_unless(mark == b"PK\5\6" and comment == 0, "it does not end as a zip archive does")
    if (before := end - LOCATOR.size) >= LARGE_END.size:
        mark, disk_too, place, disks = LOCATOR.unpack(_read_at(file, before, LOCATOR.size))
        if mark == b"PK\6\7":  # larger numbers than those above are there
            end = before - LARGE_END.size
            large = LARGE_END.unpack(_read_at(file, end, LARGE_END.size))
            fine = large[0] == b"PK\6\6" and (disk_too, place, disks) == (0, end, 1)
            _refuse_unless(fine, "its zip directory is damaged")
            disk, first, here, count, length, start = large[4:]
    _refuse_unless(
        disk == first == 0 and here == count and start + length == end,
        "its zip directory is damaged, or not all of the file belongs to it",
    )
    _refuse_unless(
        0 < count <= MAX_MEMBERS and length <= count * MAX_ENTRY, "its zip directory is too large"
    )
    found = list(_entries(_read_at(file, start, length), count))
    names = [name for name, _, _ in found]
    expected = {DOCUMENT, *(array_name(i) for i in range(count - 1))}
    for name in names:
        _refuse_unless(name in expected, f"it has the member {name[:80]!r}, which is not known")
    _refuse_unless(len(set(names)) == count, "it has two members of one name")
    members, expected_offset = {}, 0
    for name, offset, member in sorted(found, key=lambda entry: entry[1]):
        _refuse_unless(offset == expected_offset, f"{name} overlaps another member, or has a gap")
        after_header = _check_local(file, name, offset)
        members[name] = Member(after_header, member.size, member.checksum)
        expected_offset = after_header + member.size
    _refuse_unless(expected_offset == start, "its members do not end where the directory starts")
    return members


def _entries(directory: bytes, count: int) -> Iterator[tuple[str, int, Member]]:
    """Name, offset and size of every member."""
    at = 0
    for _ in range(count):
        _refuse_unless(at + ENTRY.size <= len(directory), "its zip directory is cut short")
        fields = ENTRY.unpack_from(directory, at)
        mark, _, _, flags, method, _, _, checksum, packed, size = fields[:10]
        lengths, disk, offset = fields[10:13], fields[13], fields[16]
        at += ENTRY.size
        name_bytes = directory[at : at + lengths[0]]
        extra = directory[at + lengths[0] : at + lengths[0] + lengths[1]]
        at += sum(lengths)
        _refuse_unless(mark == b"PK\1\2" and disk == 0, "its zip directory is damaged")
        name = name_bytes.decode("ascii", "backslashreplace")
        _check_flags(name, flags, method)
        size, packed, offset = _large((size, packed, offset), extra)
        _refuse_unless(packed == size, f"{name[:80]!r} is said to have two sizes")
        yield name, offset, Member(0, size, checksum)
    _refuse_unless(at == len(directory), "its zip directory is damaged")


def _check_flags(name: str, flags: int, method: int) -> None:
    """Refuse what is encrypted, streamed or compressed; names in UTF-8 are welcome."""
    _refuse_unless(not flags & 0x2041, f"{name[:80]!r} is encrypted")
    _refuse_unless(not flags & ~0x0806, f"{name[:80]!r} has zip flags that are not known")
    _refuse_unless(
        method == 0,
        f"{name[:80]!r} is compressed, but members are stored as they are so that the size of the "
        "file bounds the memory they take",
    )


def _large(numbers: tuple[int, ...], extra: bytes) -> list[int]:
    """Numbers of an entry, those too large for 32 bits taken from its extra field in order."""
    n_large = numbers.count(TOO_LARGE)
    if n_large == 0:
        return list(numbers)
    fine = len(extra) >= 4 + 8 * n_large and struct.unpack_from("<2H", extra) == (1, 8 * n_large)
    _refuse_unless(fine, "its zip directory is damaged")
    larger = iter(struct.unpack_from(f"<{n_large}Q", extra, 4))
    return [next(larger) if number == TOO_LARGE else number for number in numbers]


def _check_local(file: BinaryIO, name: str, offset: int) -> int:
    """Check the header in front of a member and return where it ends."""
    fields = LOCAL.unpack(_read_at(file, offset, LOCAL.size))
    mark, _, flags, method = fields[:4]
    name_length, extra_length = fields[9:]
    _refuse_unless(mark == b"PK\3\4", f"{name} does not start where the directory says")
    _check_flags(name, flags, method)
    known_as = _read_at(file, offset + LOCAL.size, name_length)
    _refuse_unless(known_as == name.encode(), f"{name} has another name in front of its bytes")
    return offset + LOCAL.size + name_length + extra_length


def _parse_npy(data: np.ndarray, name: str) -> np.ndarray:
    """The array in the bytes of a file of numpy's array format, version 1.0."""
    start = len(MAGIC) + 2
    front = data[:start].tobytes()
    _refuse_unless(len(front) == start and front.startswith(MAGIC), f"{name} is no .npy array")
    end = start + struct.unpack("<H", front[-2:])[0]
    header = HEADER.fullmatch(data[start:end].tobytes())
    _refuse_unless(
        header is not None, f"{name} is no array of booleans, integers, floats or text, or damaged"
    )
    assert header is not None
    descr, fortran, dimensions = (group or b"" for group in header.groups())
    _refuse_unless(fortran == b"False", f"{name} is in Fortran order, which is not used here")
    size = int(descr[2:])
    kind = chr(descr[1])
    fine = size * (4 if kind == "U" else 1) in ITEM_SIZES[kind] and (descr[:1] != b"|") == (
        kind == "U" or size > 1
    )
    _refuse_unless(fine, f"{name} has the dtype {descr.decode()!r}, which is not known")
    dtype = np.dtype(descr.decode())
    shape = tuple(int(n) for n in dimensions.replace(b",", b" ").split())
    _refuse_unless(
        len(shape) <= MAX_DIMENSIONS and prod(shape) * dtype.itemsize == len(data) - end,
        f"{name} has the shape {shape}, but {max(len(data) - end, 0)} bytes of {dtype}",
    )
    _check_items(data[end:], dtype, name)
    values = data[end:].view(dtype).reshape(shape)
    return values if values.flags.aligned else values.copy()


def _check_items(data: np.ndarray, dtype: np.dtype[Any], name: str) -> None:
    """Refuse bytes that are no boolean and numbers that are no character."""
    if dtype.kind == "b":
        _refuse_unless(data.max(initial=0) <= 1, f"{name} has booleans beside 0 and 1")
    if dtype.kind == "U":
        characters = data.view(np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        known = characters.max(initial=0) <= LARGEST_CHARACTER
        _refuse_unless(bool(known), f"{name} has characters that do not exist")
