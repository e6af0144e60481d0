"""The command ``bayesrule``: fit, judge and use decision rules without writing Python."""

from __future__ import annotations

from bayesrule.cli.main import main

__all__ = ["main"]
