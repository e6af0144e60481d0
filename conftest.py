"""Settings that stand before anything imports numba, for tests and docstring examples alike."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.cache import compiled_here

# Scripts that made stored values, with programs that the tests do not need.
collect_ignore = ["tests/references"]

os.environ["NUMBA_CACHE_DIR"] = str(compiled_here(Path(__file__).parent))

# Test processes share the cores among them already; thread pools of the linear algebra and of
# scikit-learn on top would only make them wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
