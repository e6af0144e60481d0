"""The script of the paper's experiment runs, and finds on iris what is known of it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[1] / "reproduce" / "spdbc.py"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_iris_comes_out_as_known(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("spdbc", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    parts = ["--parts", "paper", "forest", "--sets", "iris"]
    assert script.main(["--quick", *parts, "--out", str(tmp_path)]) == 0
    text = (tmp_path / "tables.md").read_text()
    printed = capsys.readouterr().out
    assert all(line in printed for line in text.splitlines())
    rows = [line for line in text.splitlines() if line.startswith("| **mean**")]
    figures = np.array(re.findall(r"(0\.\d+)", rows[0]), float).reshape(3, 4)
    np.testing.assert_allclose(figures[:, :2], figures[:, 2:], atol=0.04)
    pictures = sorted(path.name for path in tmp_path.glob("*.png"))
    assert pictures == ["figure_4.png"]
    assert len((tmp_path / "paper.csv").read_text().splitlines()) == 1 + 2 * 6 * 10 * 2
