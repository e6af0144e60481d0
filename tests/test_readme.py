"""The README's code runs, and its promises are the Makefile's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bayesrule.cli.main import run
from bayesrule.demo import gain_matrix

GAIN = gain_matrix()
README = Path(__file__).parents[1] / "README.md"


@pytest.mark.filterwarnings("ignore::bayesrule.notices.BayesRuleWarning")
def test_python_blocks_run(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    assert "xpected gain" in capsys.readouterr().out
    assert set(names["screening"].priors_) == {0.99, 0.01}


def test_commands_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = re.findall(r"^ {4}bayesrule (.*)$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(commands) >= 5
    rows = (("true", *GAIN["benign"]), *((true, *row.values()) for true, row in GAIN.items()))
    (tmp_path / "gain.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    monkeypatch.chdir(tmp_path)
    for command in commands:
        assert run(command.split()) == 0, (command, capsys.readouterr().err)
    assert "refer" in (tmp_path / "rule.html").read_text(encoding="utf-8")
    assert "gain_refer" in (tmp_path / "decided.csv").read_text(encoding="utf-8")


def test_promised_commands_and_files_exist() -> None:
    text = README.read_text(encoding="utf-8")
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    commands = set(re.findall(r"make ([a-z]+)", text))
    assert commands == {"demo", "test"}
    for command in commands:
        assert re.search(rf"^{command}:", makefile, re.MULTILINE)


def test_speeds_are_those_of_the_results() -> None:
    """The short table is made of rows of the long one, to the letter."""
    header = ("job", "n", "ours", "best other", "time", "ratio")
    results = README.parent / "benchmarks" / "RESULTS.md"
    quoted = tables(README.read_text(encoding="utf-8"), header)
    assert len(quoted) >= 6
    measured = tables(results.read_text(encoding="utf-8"), header)
    now = [f"| {' | '.join(row)} |" for row in measured if row[:2] in {q[:2] for q in quoted}]
    assert set(quoted) <= set(measured), "put these rows into README.md:\n" + "\n".join(now)


def tables(text: str, header: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The named columns of all tables that have them."""
    rows = []
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        first, _, *lines = (
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in table.splitlines()
        )
        if set(header) <= set(first):
            places = [first.index(name) for name in header]
            rows += [tuple(line[j] for j in places) for line in lines]
    return rows
