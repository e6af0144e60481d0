"""The page of results: what a newcomer wants to know first, every peer and figure after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from benchmarks.contest import Job, Result
from benchmarks.figures import Figure
from benchmarks.limits import Limits
from benchmarks.report import differences, megabytes, ratio_in_words, size_in_words, time_in_words

HOW_TO_READ = """\
Every row is one job that both sides did on the same data, through their public calls, checks of
the input included. A ratio of 10x says that the fastest other program needed ten times as long.
There is a ratio only where both gave the same answer: decisions equal up to ties, probabilities
to nine digits, or what the job's own rule says. Both sides take turns, round by round, and the
ratio is that of their medians; behind it stand the quartiles over the rounds. Times are {clock}.

- **goal**: the ratio this project set itself, and whether it is reached (✓) or not (✗). Goals
  below one are jobs in which ours does more than the other side, such as a robust fit.
- **limit**: how much of this machine's own limit ours reaches, where a job is bound by reading
  its rows or by arithmetic: at 100 % no program could be faster on one thread.
- **peak MB**: memory that a call adds at its highest, its answer included, ours / theirs.
- *of 1 / p*: the other side was timed on one part of p of the work, and its time multiplied."""

#: What the other figures are, by the heading they stand under.
INTRODUCTIONS = {
    "Starting": """\
Compiled loops are compiled at their first call and kept on disk for the processes after. The first
rows tell what importing adds to scikit-learn and numba; then, for each density, what the first
`fit`, `predict` and `predict_proba` together take more than the second, with nothing kept on disk
and with everything. Processor time.""",
    "Files": """\
The joint histogram of five columns in 7,776 cells and all second moments of eight columns of
float32, for each of four classes, in one reading of a file. The others run one query that gives the
same numbers. Each runs in a process of its own, so that its memory is its own.""",
    "Threads": """\
The time on one thread over that on all, as they are used by default. More than one wherever there
is enough to do, and no loss anywhere, is what is asked for.""",
}

HEADER = ("job", "n", "ours", "best other", "time", "ratio", "goal", "limit", "peak MB")
LEFT = ("job", "best other")
MARKS = {"ok": " ✓", "short": " ✗", "": "", "differ": ""}


def page(
    results: Sequence[Result],
    jobs: Sequence[Job],
    figures: Mapping[str, Sequence[Figure]],
    facts: Mapping[str, str],
    limits: Limits,
    command: str,
) -> str:
    """The page as Markdown."""
    by_name = {job.name: job for job in jobs}
    shown = best_peers(results)
    clock = "processor seconds on one thread"
    if facts["threads"] != "1":
        clock = f"seconds by the clock on {facts['threads']} threads"
    lines = ["# How fast bayesrule is", "", summary(shown, figures), ""]
    lines += [f"Written by `{command}` on {facts['date']}.", ""]
    lines += ["## How to read this", "", HOW_TO_READ.format(clock=clock)]
    for section, group in groupby(shown, key=lambda result: by_name[result.job].section):
        rows = list(group)
        lines += [
            "",
            f"## {section}",
            "",
            *table(HEADER, [contest_row(r, limits) for r in rows], LEFT),
        ]
        reasons = [reason(r, by_name[r.job], limits) for r in rows if r.verdict == "short"]
        lines += ["", *reasons] if reasons else []
    for title, some in figures.items():
        if some:
            header = ("what", "measured", "quartiles", "goal")
            lines += ["", f"## {title}", "", INTRODUCTIONS[title], ""]
            lines += table(header, map(figure_row, some), ("what",))
            missed = [f for f in some if f.verdict == "short"]
            lines += (
                ["", *(f"- {f.what}: {f.why or 'not explained yet.'}" for f in missed)]
                if missed
                else []
            )
    if wrong := differences(results):
        lines += ["", "## Answers that differ", "", *(f"- {line}" for line in wrong)]
    lines += ["", "## Every other program", ""]
    header = ("job", "n", "other", "time", "ratio", "quartiles", "rounds")
    lines += table(header, [peer_row(r) for r in results if r.ratio], ("job", "other"))
    lines += ["", "## The machine", "", *(f"- {name}: {value}" for name, value in facts.items())]
    lines += [f"- limits: {limits}", ""]
    return "\n".join(lines)


def best_peers(results: Sequence[Result]) -> list[Result]:
    """Of each job and size the fastest peer that agrees, and the fastest that the goal is about."""
    shown = []
    for _, group in groupby(results, key=lambda result: (result.job, result.n)):
        rows = sorted((r for r in group if r.ratio), key=lambda r: r.peer_seconds or 0.0)
        asked = [r for r in rows if r.goal is not None]
        shown += [r for r in rows if r in rows[:1] or r in asked[:1]]
    return shown


def summary(shown: Sequence[Result], figures: Mapping[str, Sequence[Figure]]) -> str:
    """How many goals are reached, in a sentence."""
    verdicts = [r.verdict for r in shown] + [f.verdict for some in figures.values() for f in some]
    asked = [v for v in verdicts if v]
    return f"**{asked.count('ok')} of {len(asked)} goals are reached** in the run shown here."


def table(header: Sequence[str], rows: object, left: Sequence[str]) -> list[str]:
    """A table in Markdown."""
    lines = [f"| {' | '.join(header)} |"]
    lines += [f"|{'|'.join(':--' if name in left else '--:' for name in header)}|"]
    for row in rows:  # type: ignore[attr-defined]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |")
    return lines


def contest_row(result: Result, limits: Limits) -> tuple[str, ...]:
    """One row of a section."""
    assert result.ratio is not None
    share = limits.share(result)
    peaks = (megabytes(result.ours_megabytes), megabytes(result.peer_megabytes))
    goal = "" if result.goal is None else ratio_in_words(result.goal) + MARKS[result.verdict]
    return (
        result.job,
        f"{result.n:,}",
        time_in_words(result.ours_seconds),
        result.peer,
        time_in_words(result.peer_seconds),
        f"**{ratio_in_words(result.ratio.median)}**",
        goal,
        "" if share is None else f"{share:.0%}",
        " / ".join(peak for peak in peaks if peak),
    )


def peer_row(result: Result) -> tuple[str, ...]:
    """One row of the list of all peers."""
    ratio = result.ratio
    assert ratio is not None
    return (
        result.job,
        f"{result.n:,}",
        result.peer,
        time_in_words(result.peer_seconds),
        ratio_in_words(ratio.median),
        f"{ratio_in_words(ratio.low)}-{ratio_in_words(ratio.high)}",
        str(result.rounds),
    )


def figure_row(figure: Figure) -> tuple[str, ...]:
    """One row of other figures."""
    spread = "" if figure.low == figure.high else f"{figure.low:.3g}-{figure.high:.3g}"
    goal = figure.goal_in_words + MARKS[figure.verdict]
    return (figure.what, size_in_words(figure.median, figure.unit), spread, goal)


def reason(result: Result, job: Job, limits: Limits) -> str:
    """Why a goal is not reached, and how far the machine's limit is."""
    assert result.ratio is not None
    assert result.goal is not None
    got, wanted = ratio_in_words(result.ratio.median), ratio_in_words(result.goal)
    said = f"- {result.job}, n = {result.n:,}: {got} of {wanted}."
    if (least := limits.seconds(result)) > 0.0:
        reading = result.n_bytes / limits.bytes_per_second >= least
        bound = "reading its rows" if reading else "its arithmetic"
        took, least_took = time_in_words(result.ours_seconds), time_in_words(least)
        said += f" Ours takes {took}; {bound} alone takes {least_took} here."
    return f"{said} {job.why}".rstrip()
