"""Where compiled loops are kept: a folder for each state of all the kernels."""

from __future__ import annotations

import hashlib
from pathlib import Path


def compiled_here(root: Path) -> Path:
    """The folder of compiled loops for the kernels of the sources below ``root``.

    numba recompiles a cached function when its own file changes, but not when a function it calls
    in another file does. One cache per state of all the kernels cannot be stale.
    """
    return root / ".cache" / "numba" / _fingerprint(root / "src" / "bayesrule" / "kernels")


def _fingerprint(folder: Path) -> str:
    """Hash of the names and contents of all Python files below a folder."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(folder).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]
