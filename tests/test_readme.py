"""The README's code runs, and its promises are the Makefile's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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


def test_promised_commands_and_files_exist() -> None:
    text = README.read_text(encoding="utf-8")
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    commands = set(re.findall(r"make ([a-z]+)", text))
    assert commands == {"demo", "test"}
    for command in commands:
        assert re.search(rf"^{command}:", makefile, re.MULTILINE)
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (README.parent / target).is_file(), target
