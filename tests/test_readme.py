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
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (README.parent / target).is_file(), target
