"""Thousands of broken model files: a model that decides, or the one error, and nothing else.

``make fuzz`` runs far more of them; see :mod:`fuzzing`.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuzzing
import numpy as np
import pytest
from breaking import Breaker

from bayesrule.store import ModelFileError, load

EXECUTIONS = 2000


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are told by /proc")
def test_broken_files_give_a_model_or_the_error() -> None:
    found = list(fuzzing.executed(0, 0, EXECUTIONS))
    assert not [line for line in found if line[2].startswith("FAILURE")]
    assert [number for number, _, _ in found] == list(range(EXECUTIONS))
    # Neither all alike nor all hopeless: what is broken gets far.
    counts = Counter(what for _, _, what in found)
    assert 0.05 * EXECUTIONS < counts["answered"] < 0.5 * EXECUTIONS
    assert len({name for _, name, _ in found}) == len(list(fuzzing.FOLDER.glob("*.bayes")))


def test_executions_are_told_by_their_numbers() -> None:
    files = [path.read_bytes() for path in sorted(fuzzing.FOLDER.glob("*.bayes"))[:3]]
    one, other = Breaker(files, 5), Breaker(files, 5)
    several = [one.broken(number) for number in range(20)]
    assert [other.broken(number) for number in (3, 17, 3)] == [several[i] for i in (3, 17, 3)]
    assert len({data for _, data in several}) > 15
    assert several != [Breaker(files, 6).broken(number) for number in range(20)]


class Answering:
    """A stand-in for a model that was read."""

    decisions_ = np.array(["a"])

    def __init__(self, posterior: float = 1.0, decision: str = "a"):
        self.posterior, self.decision = posterior, decision

    def predict_proba(self, rows: Any) -> np.ndarray:
        return np.full((len(rows), 1), self.posterior)

    def predict(self, rows: Any) -> np.ndarray:
        return np.full(len(rows), self.decision)


def _raises(error: Exception) -> Callable[[Any], Any]:
    def read(path: Any) -> Any:
        raise error

    return read


def _works(path: Any) -> Any:
    start = time.process_time()
    while time.process_time() - start < 0.02:
        pass
    return Answering()


def _writes(path: Any) -> Any:
    Path(path).with_suffix(".log").write_text("read")
    return Answering()


def _runs(path: Any) -> Any:
    exec("1 + 1")
    return Answering()


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (lambda path: Answering(), "answered"),
        (_raises(ModelFileError("no")), "refused"),
        (_raises(ModelFileError("needs too much memory")), "FAILURE: needs"),
        (_raises(ModelFileError("needs more than the budget, too much memory")), "refused"),
        (_raises(ValueError("no")), "FAILURE: Traceback"),
        (_raises(KeyError("array")), "FAILURE: Traceback"),
        (lambda path: Answering(np.nan), "FAILURE: a posterior"),
        (lambda path: Answering(1.0, "b"), "FAILURE: decided"),
        (_writes, "FAILURE: .* s of work; .*open"),
        (_runs, "FAILURE: .* s of work; .*exec"),
        (_works, r"FAILURE: .* s of work; \[\]"),
    ],
)
def test_failures_are_seen(
    read: Any, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzzing, "MOST_WORK", 0.01 if read is _works else 10.0)
    found = fuzzing.used(tmp_path / "x.bayes", [1, 2], fuzzing.Watch(), read)
    assert re.match(expected, found)


def test_refusals_of_rows_are_told_from_accidents(tmp_path: Path) -> None:
    clf = load(fuzzing.FOLDER / "gaussian-diag.bayes")
    with pytest.raises(ValueError, match="features") as caught:
        clf.predict(np.ones((2, 7)))
    assert fuzzing.raised_on_purpose(caught.value)
    with pytest.raises(ValueError, match="broadcast") as caught:
        clf.log_density_.moments = np.ones(2) + np.ones(3)
    assert not fuzzing.raised_on_purpose(caught.value)
