"""Exported headers, compiled and run."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

#: Every warning is an error, and the letter of the standard counts.
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wshadow")
LIBRARY = """
#include "rule.h"
void decide_all(const double *x, long n, int *out);
void decide_all(const double *x, long n, int *out)
{
    long i;
    for (i = 0; i < n; i++)
        out[i] = bayesrule_decide(x + i * BAYESRULE_FEATURES);
}
void chances_all(const double *x, long n, double *out);
void chances_all(const double *x, long n, double *out)
{
    long i;
    for (i = 0; i < n; i++)
        if (bayesrule_chances(x + i * BAYESRULE_FEATURES, out + i * BAYESRULE_CLASSES))
            out[i * BAYESRULE_CLASSES] = -1.0;
}
"""


def compiler() -> str:
    """The C compiler, where there is one."""
    found = shutil.which("gcc")
    if found is None:
        pytest.skip("there is no gcc to compile the header with")
    return found


def compiled(folder: Path, header: str, *, source: str = LIBRARY, flags: Any = ()) -> Path:
    """A library, or a program where the source has a main."""
    (folder / "rule.h").write_text(header, encoding="ascii")
    (folder / "rule.c").write_text(source, encoding="ascii")
    out = folder / ("rule" if "int main" in source else "rule.so")
    shared = () if "int main" in source else ("-shared", "-fPIC")
    command = [compiler(), *STRICT, "-O1", "-ffp-contract=off", *flags, *shared]
    done = subprocess.run(
        [*command, "-o", str(out), str(folder / "rule.c"), "-lm"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:3000]
    return out


class Rule:
    """A compiled header."""

    def __init__(self, folder: Path, header: str):
        folder.mkdir(parents=True, exist_ok=True)
        self.library = ctypes.CDLL(str(compiled(folder, header)))

    def decide(self, rows: np.ndarray) -> np.ndarray:
        """Places of decisions."""
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        out = np.empty(len(rows), np.intc)
        self.library.decide_all(_pointer(rows), ctypes.c_long(len(rows)), _pointer(out))
        return out

    def chances(self, rows: np.ndarray, n_classes: int) -> np.ndarray:
        """Posteriors."""
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        out = np.empty((len(rows), n_classes))
        self.library.chances_all(_pointer(rows), ctypes.c_long(len(rows)), _pointer(out))
        return out


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)
