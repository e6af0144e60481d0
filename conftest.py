"""Settings that stand before anything imports numba, for tests and docstring examples alike."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).parent

# Scripts that made stored values, with programs that the tests do not need.
collect_ignore = ["tests/references"]


def _fingerprint(folder: Path) -> str:
    """Hash of the names and contents of all Python files below a folder."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(folder).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


# numba recompiles a cached function when its own file changes, but not when a function it calls in
# another file does. One cache per state of all the kernels cannot be stale.
os.environ["NUMBA_CACHE_DIR"] = str(
    ROOT / ".cache" / "numba" / _fingerprint(ROOT / "src" / "bayesrule" / "kernels")
)

# Test processes share the cores among them already; thread pools of the linear algebra and of
# scikit-learn on top would only make them wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
