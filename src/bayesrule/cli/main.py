"""One entry: parse, run, and tell what went wrong in one line.

Nothing here imports numpy, scipy or scikit-learn, so that help is quick; each command imports what
it needs when it runs.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from cyclopts import App, CycloptsError
from cyclopts.exceptions import UnusedCliTokensError

from bayesrule.cli import judging, learning, showing, using
from bayesrule.cli.asking import Complaint, one_line

HELP = """\
Decide by highest expected gain: learn what each class looks like, say what each decision is worth.

A first round, on data that are at hand:

    bayesrule datasets iris -o iris.csv
    bayesrule fit iris.csv --target target -o iris.bayes
    bayesrule evaluate iris.bayes iris.csv --target target

Each command explains itself: `bayesrule fit --help`."""

EPILOGUE = (
    "Exit codes: 0 done, 1 the data or a file will not do, 2 a wrong option, 130 interrupted."
)

#: Commands in the order of a first walk.
COMMANDS: tuple[Callable[..., None], ...] = (
    showing.demo,
    showing.datasets,
    showing.models,
    learning.fit,
    judging.evaluate,
    judging.compare,
    judging.report,
    learning.tune,
    using.predict,
    using.rule,
    showing.inspect,
    using.merge,
    using.export,
)


def app() -> App:
    """The commands."""
    found = App(
        name="bayesrule",
        help=HELP,
        help_epilogue=EPILOGUE,
        help_format="markdown",
        version=_version,
        version_flags=["--version"],
        exit_on_error=False,
        print_error=False,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for place, command in enumerate(COMMANDS):
        found.command(command, sort_key=place)
    return found


def _version() -> str:
    import bayesrule

    return str(bayesrule.__version__)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code."""
    sys.exit(run(sys.argv[1:] if argv is None else argv))


def run(argv: Sequence[str]) -> int:
    """Run the command; the exit code."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _say_note
            with piped_in(_meant(list(argv))) as words:
                app()(words)
        sys.stdout.flush()
    except UnusedCliTokensError as error:
        return _say(_unexpected(error), 2)
    except CycloptsError as error:
        return _say(one_line(error), 2)
    except Complaint as error:
        return _say(one_line(error), 2)
    except KeyboardInterrupt:
        return _say("interrupted", 130)
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except MemoryError as error:
        return _say(f"not enough memory: {one_line(error)}", 1)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 0
    except Exception as error:
        if os.environ.get("BAYESRULE_TRACEBACK"):
            raise
        expected = isinstance(error, (ValueError, TypeError, OSError, ImportError, AttributeError))
        kind = "" if expected else f"{type(error).__name__}: "
        notes = " ".join(getattr(error, "__notes__", []))
        return _say(one_line(f"{kind}{one_line(error)} {notes}"), 1)
    return 0


def _meant(argv: list[str]) -> list[str]:
    """What was typed; nothing asks for help, and ``--model list`` for the models, come what may."""
    if ("--model", "list") in pairwise(argv) or "--model=list" in argv:
        return ["models", *(word for word in argv if word == "--json")]
    return argv or ["--help"]


#: What a piped file begins with that is no text, and how it is then named.
PIPED = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x1f\x8b": ".csv.gz"}


@contextmanager
def piped_in(words: list[str]) -> Iterator[list[str]]:
    """A lone dash as the name of a file that holds what is piped in, for as long as it is needed.

    Files are read more than once, which a pipe does not allow.
    """
    if "-" not in words:
        yield words
        return
    with tempfile.TemporaryDirectory() as folder:
        content = sys.stdin.buffer
        first = content.read(8)
        ending = next((end for begin, end in PIPED.items() if first.startswith(begin)), ".csv")
        whole = os.path.join(folder, "stdin" + ending)
        with open(whole, "wb") as file:
            file.write(first)
            shutil.copyfileobj(content, file)
        yield [whole if word == "-" else word for word in words]


def _unexpected(error: UnusedCliTokensError) -> str:
    """Words too many are mostly values whose option was left out."""
    said = ", ".join(repr(word) for word in error.unused_tokens or [])
    command = " ".join(["bayesrule", *(error.command_chain or [])])
    return one_line(
        f"{said} is too much: a value needs its option before it. See {command} --help."
    )


def _say(message: str, code: int) -> int:
    print(f"bayesrule: error: {message}", file=sys.stderr)
    return code


def _say_note(message: Any, category: Any, *_: Any, **__: Any) -> None:
    """A warning as one line; those for programmers stay unsaid."""
    if not issubclass(category, (DeprecationWarning, PendingDeprecationWarning, FutureWarning)):
        print(f"bayesrule: note: {one_line(message)}", file=sys.stderr)
