"""``python -m bayesrule`` is the command ``bayesrule``."""

from __future__ import annotations

from bayesrule.cli import main

if __name__ == "__main__":
    main()
