"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings
from sql_engines import ENGINES

# The first call of a kernel compiles it, which no deadline per example can allow for.
settings.register_profile("bayesrule", deadline=None)
settings.load_profile("bayesrule")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the real data sets; tests that need it are skipped where there is none."""
    named = os.environ.get("BAYESRULE_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if folder.is_dir():
        return folder
    if named:
        # A misspelt folder must not switch tests off unseen.
        pytest.fail(f"BAYESRULE_DATA names {named!r}, which is no folder: correct or unset it")
    pytest.skip(f"no data sets at {folder}: set BAYESRULE_DATA to the folder that holds them")


@pytest.fixture(params=ENGINES, ids=[made.__name__ for made in ENGINES], scope="session")
def engine(request):
    """A database program, each in turn; it is started once."""
    made = request.param()
    yield made
    made.close()
