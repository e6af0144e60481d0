"""The package as a whole: what importing costs, what is public, and where it can be installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

import bayesrule

assert bayesrule.__file__ is not None
SOURCE = Path(bayesrule.__file__).parents[1]


def run(script: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    inherited = {k: v for k, v in os.environ.items() if k not in environment}
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**inherited, "PYTHONPATH": str(SOURCE), **{k: v for k, v in environment.items() if v}},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.mark.parametrize("name", ["", ".recipes as r", ".datasets as d"])
def test_importing_loads_nothing_heavy(name):
    heavy = ["sklearn", "scipy", "numba", "numpy", "pandas", "polars", "pyarrow", "matplotlib"]
    if name == ".recipes as r":
        pytest.skip("recipes build estimators, which are scikit-learn's")
    if name == ".datasets as d":
        heavy = ["sklearn", "scipy", "numba", "polars", "matplotlib"]
    loaded = run(
        f"""
        import sys
        import bayesrule{name}
        print(*[module for module in {heavy!r} if module in sys.modules])
        """
    )
    assert loaded == ""


def test_every_public_name_is_an_object_after_every_module_was_imported():
    # A module that is imported becomes an attribute of its package, and hides what it is named as.
    printed = run(
        """
        import importlib, pkgutil, types
        import bayesrule
        for module in pkgutil.walk_packages(bayesrule.__path__, "bayesrule."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
        for name in bayesrule.__all__:
            value = getattr(bayesrule, name)
            if isinstance(value, types.ModuleType) != (name in ("datasets", "recipes")):
                print(name, "is a module")
            elif not isinstance(value, types.ModuleType) and not callable(value):
                print(name, "cannot be called")
        """
    )
    assert printed == ""


def test_public_names_match_what_is_exported():
    names: dict[str, object] = {}
    exec("from bayesrule import *", names)
    names.pop("__builtins__")
    assert sorted(names) == sorted(bayesrule.__all__)
    assert sorted(bayesrule.__all__) == list(bayesrule.__all__)
    assert set(dir(bayesrule)) >= set(bayesrule.__all__)
    for name in bayesrule.__all__:
        value = getattr(bayesrule, name)
        assert value.__doc__, f"{name} has no docstring"
        assert getattr(bayesrule, name) is value
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = bayesrule.no_such_name


def test_types_are_shipped_and_the_version_is_told():
    assert (SOURCE / "bayesrule" / "py.typed").is_file()
    try:
        expected = version("bayesrule")
    except PackageNotFoundError:
        pytest.skip("run from the sources, without an installed package")
    assert bayesrule.__version__ == expected


FIT = """
import numpy as np
from bayesrule import BayesClassifier, Gaussian
rng = np.random.default_rng(0)
y = np.arange(60) % 2
X = rng.normal(size=(60, 2)) + 3 * y[:, None]
clf = BayesClassifier(Gaussian("diag")).fit(X, y)
print(clf.score(X, y) > 0.9, clf.predict_proba(X).shape)
"""


def test_a_read_only_install_without_any_cache_folder_works(tmp_path):
    # Root may write anywhere, so the folders that a cache would go to are made impossible: files
    # stand where they would be made.
    package = tmp_path / "installed" / "bayesrule"
    shutil.copytree(
        SOURCE / "bayesrule", package, ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
    )
    for folder in [package, *(f for f in package.rglob("*") if f.is_dir())]:
        (folder / "__pycache__").write_text("not a folder")
    nowhere = tmp_path / "no home"
    nowhere.write_text("not a folder either")
    for path in [*package.rglob("*"), package]:
        path.chmod(0o555)
    try:
        printed = run(
            FIT,
            PYTHONPATH=str(package.parent),
            NUMBA_CACHE_DIR="",
            XDG_CACHE_HOME=str(nowhere / "cache"),
            HOME=str(nowhere),
            PYTHONDONTWRITEBYTECODE="1",
        )
        assert printed == "True (60, 2)"
        assert not list(tmp_path.rglob("*.nb*"))
    finally:
        for path in [package, *package.rglob("*")]:
            path.chmod(0o755)


COUNT_HITS = """
from bayesrule.kernels.checks import zero_if_finite
import numpy as np
zero_if_finite(np.ones(3))
print(sum(zero_if_finite.stats.cache_hits.values()), zero_if_finite.stats.cache_path)
"""


@pytest.mark.parametrize("writable", [True, False], ids=["own install", "read-only install"])
def test_what_was_compiled_is_kept_for_the_next_process(tmp_path, writable):
    package = tmp_path / "installed" / "bayesrule"
    shutil.copytree(
        SOURCE / "bayesrule", package, ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
    )
    if not writable:  # for root too, who may write anywhere
        (package / "kernels" / "__pycache__").write_text("not a folder")
    settings = {
        "PYTHONPATH": str(package.parent),
        "NUMBA_CACHE_DIR": "",
        "HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(tmp_path / "home" / ".cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    (tmp_path / "home").mkdir()
    for hits in (0, 1):
        found, folder = run(COUNT_HITS, **settings).split(maxsplit=1)
        assert int(found) == hits
    assert Path(folder).is_relative_to(package if writable else tmp_path / "home")


def test_warnings_are_one_family():
    from bayesrule import notices

    kinds = [
        value
        for value in vars(notices).values()
        if isinstance(value, type) and issubclass(value, Warning)
    ]
    assert len(kinds) > 3
    for kind in kinds:
        assert issubclass(kind, notices.BayesRuleWarning)
        assert kind.__doc__
