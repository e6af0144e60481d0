"""The grid of benchmarks: it compares like with like, in turns, and never what disagrees."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesrule
from bayesrule.density import Density
from benchmarks import files, guard, jobs, starting, threads
from benchmarks.__main__ import THREAD_VARIABLES, main
from benchmarks.agreement import decisions_differ, fits_differ, probabilities_differ
from benchmarks.apart import apart
from benchmarks.contest import Contest, Job, Result, compete
from benchmarks.figures import Figure
from benchmarks.jobs import JOBS
from benchmarks.jobs.minimax import optima_differ, solve
from benchmarks.limits import Limits
from benchmarks.page import HEADER, best_peers, contest_row, page, reason
from benchmarks.timing import Pace, Ratio, take_turns, with_peak

THREE_ROUNDS = Pace(seconds=0.0, least=3, most=3)


class Clock:
    """A clock that moves only when a call says how long it took."""

    def __init__(self) -> None:
        self.now = 0.0
        self.called: list[str] = []

    def __call__(self) -> float:
        return self.now

    def call(self, name: str, *seconds: float, answer: Any = 0) -> Callable[[], Any]:
        """A call that takes the given seconds one after the other, then the last for ever."""
        left = list(seconds)

        def run() -> Any:
            self.called.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]
            return answer

        return run


def fake_job(clock: Clock, *, ours: Any = 0, theirs: Any = 0, goal: float = 2.0) -> Job:
    """Ours takes 10 s at first and 1 s afterwards, the peer 20 s and then 3 s."""

    def make(n: int) -> Contest:
        return Contest(
            clock.call("ours", 10.0, 1.0, answer=ours),
            lambda a, b: "" if a == b else f"{a} is not {b}",
            {"peer": clock.call("peer", 20.0, 3.0, answer=theirs)},
        )

    return Job("fake", make, sizes=(7,), quick=(7,), goals={7: goal})


# ------------------------------------------------------------------ the grid


def test_names_are_unique() -> None:
    names = [job.name for job in JOBS]
    assert len(names) == len(set(names)) > 0


def test_every_file_of_the_folder_enters_jobs() -> None:
    homes = set()
    for job in JOBS:
        make = job.make
        homes.add(getattr(make, "func", make).__module__.rpartition(".")[2])
    files = {file.stem for file in Path(jobs.__path__[0]).glob("*.py")} - {"__init__"}
    assert homes == files


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_sizes_are_well_formed(job: Job) -> None:
    assert job.sizes == tuple(sorted(set(job.sizes)))
    assert job.sizes[0] >= 1
    assert job.quick
    assert set(job.quick) <= set(job.sizes)
    assert set(job.goals) <= set(job.sizes)
    assert all(goal > 0 for goal in job.goals.values())


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_answers_agree(job: Job) -> None:
    contest = job.make(job.tiny)
    ours = contest.ours()
    assert contest.peers
    for name, call in contest.peers.items():
        assert contest.differ(ours, call()) == "", name


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_data_are_the_same_every_time(job: Job) -> None:
    first, second = job.make(job.tiny), job.make(job.tiny)
    peer = next(iter(first.peers))
    assert first.differ(first.ours(), second.peers[peer]()) == ""


def test_whoever_counts_files_finds_the_same(tmp_path: Path) -> None:
    rows, text = str(tmp_path / "rows.parquet"), str(tmp_path / "rows.csv")
    for path in (rows, text):
        files.write_rows(path, 20_000)
    found = files.ours(rows, 2)
    assert found["counts"].sum() == found["weight"].sum() == 20_000
    for name in ("polars", "polars_twice", "duckdb"):
        pytest.importorskip(name.partition("_")[0])
        assert files.differ(found, files.CONTENDERS[name](rows, 2)) == "", name
    assert files.differ(files.ours(text, 1), files.csv_polars(text, 1)) == ""
    found["counts"][0, 0] += 1
    assert files.differ(found, files.ours(rows, 2)).startswith("counts differ by 1")


# ------------------------------------------------------------------ agreement


def test_no_ratio_where_answers_differ() -> None:
    clock = Clock()
    (result,) = compete(fake_job(clock, ours=1, theirs=2), 7, THREE_ROUNDS, clock)
    assert (result.verdict, result.difference, result.ratio) == ("differ", "1 is not 2", None)
    assert result.ours_seconds is None
    assert clock.called == ["ours", "peer"]  # asked once, and never timed


def test_a_peer_that_differs_does_not_stop_one_that_agrees() -> None:
    clock = Clock()
    job = fake_job(clock)
    contest = job.make(7)
    peers = {"wrong": clock.call("wrong", 5.0, answer=9), **contest.peers}
    job = replace(job, make=lambda n: replace(contest, peers=peers))
    wrong, right = compete(job, 7, THREE_ROUNDS, clock)
    assert (wrong.peer, wrong.ratio) == ("wrong", None)
    assert (right.peer, right.ratio) == ("peer", Ratio(3.0, 3.0, 3.0))
    assert clock.called.count("wrong") == 1


def test_probabilities_must_agree_closely() -> None:
    p = np.array([[0.25, 0.75]])
    assert probabilities_differ(p, p + np.array([1e-12, -1e-12])) == ""
    assert "1e-06" in probabilities_differ(p, p + np.array([1e-6, -1e-6]))
    assert probabilities_differ(p, np.array([[np.nan, 0.75]]))
    assert "shapes" in probabilities_differ(p, np.ones((1, 1)))


class Oracle:
    """A model whose rows are their own posteriors."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return X


def test_decisions_may_differ_in_ties_only() -> None:
    X = np.array([[0.5, 0.5], [0.4, 0.6]])
    differ = decisions_differ(X, Oracle())
    assert differ(np.array(["no", "yes"]), np.array(["yes", "yes"])) == ""
    assert differ(np.array(["no", "no"]), np.array(["no", "yes"])).startswith("1 of 2")
    assert "shapes" in differ(np.array(["no"]), np.array(["no", "yes"]))


def test_fits_are_compared_by_what_they_answer() -> None:
    class Other(Oracle):
        def predict_proba(self, X: np.ndarray) -> np.ndarray:
            return X[:, ::-1]

    differ = fits_differ(np.array([[0.4, 0.6]]))
    assert differ(Oracle(), Oracle()) == ""
    assert differ(Oracle(), Other())


def test_a_wrong_optimum_is_seen() -> None:
    contest = solve(3, 50)
    theirs = contest.peers["linprog, simplex"]()
    ours = contest.ours()
    assert optima_differ(ours, theirs) == ""
    assert "optima" in optima_differ(replace(ours, value=ours.value - 1e-5), theirs)
    assert "certain" in optima_differ(replace(ours, gap=1e-3), theirs)


# ------------------------------------------------------------------ timing


def test_calls_take_turns() -> None:
    clock = Clock()
    calls = {"a": clock.call("a", 1.0), "b": clock.call("b", 2.0, 4.0, 8.0)}
    seconds = take_turns(calls, THREE_ROUNDS, clock)
    assert clock.called == ["a", "b"] * 3
    assert seconds["a"].tolist() == [1.0, 1.0, 1.0]
    assert seconds["b"].tolist() == [2.0, 4.0, 8.0]


@pytest.mark.parametrize(
    ("pace", "rounds"),
    [(Pace(10.0, 1, 99), 4), (Pace(10.0, 6, 99), 6), (Pace(10.0, 1, 2), 2)],
    ids=["until the time is over", "at least", "at most"],
)
def test_pace(pace: Pace, rounds: int) -> None:
    clock = Clock()
    assert len(take_turns({"a": clock.call("a", 3.0)}, pace, clock)["a"]) == rounds


def test_ratio_is_of_medians_and_its_spread_of_rounds() -> None:
    # Rounds give 2, 2, 4, 8 and 10; the medians are 8 and 2.
    ratio = Ratio.of(np.array([2.0, 4.0, 8.0, 16.0, 20.0]), np.array([1.0, 2.0, 2.0, 2.0, 2.0]))
    assert ratio == Ratio(median=4.0, low=2.0, high=8.0)


def test_first_calls_stay_out_of_the_ratio() -> None:
    clock = Clock()
    (result,) = compete(fake_job(clock), 7, THREE_ROUNDS, clock)
    assert (result.ours_seconds, result.peer_seconds, result.rounds) == (1.0, 3.0, 3)
    assert result.ratio == Ratio(3.0, 3.0, 3.0)
    assert result.verdict == "ok"


def test_a_peer_s_part_counts_as_the_whole() -> None:
    clock = Clock()
    job = fake_job(clock)
    contest = replace(job.make(7), parts={"peer": 100})
    (result,) = compete(replace(job, make=lambda n: contest), 7, THREE_ROUNDS, clock)
    assert result.ratio == Ratio(300.0, 300.0, 300.0)
    assert (result.peer, result.peer_seconds) == ("peer, of 1 / 100", 300.0)


def test_the_goal_is_not_about_what_was_written_by_hand() -> None:
    clock = Clock()
    job = fake_job(clock, goal=3.5)
    contest = replace(job.make(7), by_hand=("peer",))
    (result,) = compete(replace(job, make=lambda n: contest), 7, THREE_ROUNDS, clock)
    assert (result.goal, result.verdict) == (None, "")


def test_a_missed_goal_is_short() -> None:
    clock = Clock()
    (result,) = compete(fake_job(clock, goal=3.5), 7, THREE_ROUNDS, clock)
    assert result.verdict == "short"


def test_peak_counts_what_a_call_holds_at_its_highest() -> None:
    def waste() -> None:
        np.ones(8 << 20)  # 64 MB, gone when the call ends

    _, peak = with_peak(waste)
    if peak is None:
        pytest.skip("only Linux tells the peak of a call")
    assert 60 < peak < 100
    answer, small = with_peak(lambda: 7)
    assert answer == 7
    assert small is not None
    assert small < 5


# ------------------------------------------------------------------ the page


def row_of(**values: Any) -> Result:
    """A row of the table."""
    ratio = Ratio(4.0, 3.0, 5.0)
    row = {"ratio": ratio, "ours_seconds": 0.5, "peer_seconds": 2.0, "rounds": 3, **values}
    return Result("job", 7, row.pop("peer", "peer"), **row)


def test_the_page_shows_the_fastest_peer_that_agrees() -> None:
    rows = [
        row_of(peer="slow", peer_seconds=9.0),
        row_of(peer="fast", peer_seconds=2.0),
        row_of(peer="wrong", peer_seconds=1.0, ratio=None, difference="another answer"),
    ]
    assert [row.peer for row in best_peers(rows)] == ["fast"]
    # Where the goal is not about the fastest, both are shown.
    rows[0] = replace(rows[0], goal=3.0)
    assert [row.peer for row in best_peers(rows)] == ["fast", "slow"]


def test_jobs_are_held_against_the_limits_of_the_machine() -> None:
    limits = Limits(bytes_per_second=1e9, flops_per_second=1e10)
    assert limits.share(row_of()) is None
    # 0.1 s of reading, 0.2 s of arithmetic: the longer one bounds.
    read, computed = row_of(n_bytes=10**8), row_of(n_bytes=10**8, flops=2 * 10**9)
    assert limits.share(read) == pytest.approx(0.2)
    assert limits.share(computed) == pytest.approx(0.4)
    assert "40%" in contest_row(computed, limits)
    short = replace(computed, goal=8.0)
    said = reason(short, fake_job(Clock()), limits)
    assert "4x of 8x" in said
    assert "its arithmetic alone takes 200 ms" in said
    measured = Limits.measured(rounds=1)
    assert 1e8 < measured.bytes_per_second < 1e13
    assert 1e8 < measured.flops_per_second < 1e15


def test_figures_may_have_a_goal_on_either_side() -> None:
    low = Figure.of("memory", [1.0, 2.0, 9.0], "MB", goal=2.0, most=True)
    assert (low.median, low.verdict, low.goal_in_words) == (2.0, "ok", "≤ 2 MB")
    assert replace(low, most=False, goal=2.5).verdict == "short"
    assert Figure.of("free", [1.0]).verdict == ""
    text = page([], [], {"Files": [low]}, {"threads": "1", "date": ""}, Limits(1, 1), "")
    assert text.splitlines()[2].startswith("**1 of 1 goals")


def test_every_starter_can_be_fitted() -> None:
    assert starting.first_call('Gaussian("diag")') > -1.0
    names = {name: getattr(bayesrule, name) for name in bayesrule.__all__}
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [40, 30, 20])
    for written, rows in starting.STARTERS.items():
        density = eval(written, names)
        assert isinstance(density, Density)
        assert len(rows(rng, y)) == len(y)


# ------------------------------------------------------------------ the guard


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """The guard over one fake job, whose calls take what is asked, by a clock of their own."""
    for variable in THREAD_VARIABLES:
        monkeypatch.setenv(variable, "1")

    def run(*ours: float, store: bool = False, **answers: Any) -> int:
        clock = Clock()
        job = fake_job(clock, **answers)

        def make(n: int) -> Contest:
            call = clock.call("ours", *ours, answer=answers.get("ours", 0))
            return replace(job.make(n), ours=call)

        monkeypatch.setattr(jobs, "JOBS", [replace(job, make=make)])
        monkeypatch.setattr(guard.time, "process_time", clock)
        arguments = ["--baseline", str(tmp_path / "baseline.json")]
        return guard.main([*arguments, "--store"] if store else arguments)

    return run


def test_the_guard_fails_on_what_is_slower_and_stays_so(
    guarded: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(1.0) == 2  # nothing stored yet
    assert guarded(1.0, store=True) == 0
    assert guarded(1.0) == 0
    assert guarded(1.25) == 0
    capsys.readouterr()
    assert guarded(1.35) == 1
    said = capsys.readouterr().out
    assert "FAILED fake" in said
    assert "measured 4 times" in said
    assert guarded(1.0, ours=1, theirs=2) == 1  # another answer


def test_the_guard_lets_noise_pass(
    guarded: Callable[..., int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert guarded(1.0, store=True) == 0
    honest = guard.ratio_of
    tried: list[int] = []

    def noisy(job: Job, n: int, peer: str, attempt: int, clock: Any) -> tuple[float, str]:
        tried.append(attempt)
        ratio, wrong = honest(job, n, peer, attempt, clock)
        return (ratio / 2 if attempt == 0 else ratio), wrong

    monkeypatch.setattr(guard, "ratio_of", noisy)
    assert guarded(1.0) == 0
    assert tried == [0, 1]
    assert "measured 2 times" in capsys.readouterr().out


# ------------------------------------------------------------------ processes


def test_work_apart_answers_or_raises_and_leaves_nothing_behind() -> None:
    left: list[int] = []

    def work(n: int) -> int:
        left.append(n)
        return 1 // n

    assert apart(lambda: work(1)) == 1
    with pytest.raises(ZeroDivisionError):
        apart(lambda: work(0))
    with pytest.raises(RuntimeError, match="code 3"):
        apart(lambda: os._exit(3))
    assert left == []


# ------------------------------------------------------------------ the command


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """The command line, run in this process on fake jobs."""
    for variable in THREAD_VARIABLES:
        monkeypatch.setenv(variable, "1")  # so that they are put back afterwards

    # What these tell takes minutes.
    made_up = Figure.of("a made-up figure", [1.0, 2.0, 3.0], goal=2.5, why="it was made up")
    monkeypatch.setattr(starting, "figures", lambda at_once: [])
    monkeypatch.setattr(files, "figures", lambda rows, csv_rows, rounds: [made_up])
    monkeypatch.setattr(threads, "figures", list)

    def run(*arguments: str, grid: list[Job]) -> int:
        monkeypatch.setattr(jobs, "JOBS", grid)
        return main(arguments)

    return run


def grid_of(**answers: Any) -> list[Job]:
    """A job that is over at once."""
    return [replace(fake_job(Clock(), **answers), name="fake [a] | b")]


def test_command_writes_what_it_prints(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written, figures = tmp_path / "page.md", tmp_path / "figures.json"
    outputs = ["--json", str(figures), "--page", str(written)]
    assert command("FAKE", "--quick", *outputs, grid=grid_of()) == 0
    assert "fake [a] | b" in capsys.readouterr().out
    whole = json.loads(figures.read_text())
    (row,) = whole["results"]
    assert (row["job"], row["n"], row["peer"]) == ("fake [a] | b", 7, "peer")
    assert whole["figures"]["Files"][0]["verdict"] == "short"
    lines = written.read_text(encoding="utf-8").splitlines()
    tables: list[list[str]] = [[]]
    for line in lines:
        if line[:1] == "|":
            tables[-1].append(line)
        elif tables[-1]:
            tables.append([])
    contests, others, everyone = [table for table in tables if table]
    for table in (contests, others, everyone):
        assert len({len(re.split(r"(?<!\\)\|", line)) for line in table}) == 1
        assert len(table) == 3
    assert len(re.split(r"(?<!\\)\|", contests[0])) == len(HEADER) + 2
    assert any("a made-up figure: it was made up" in line for line in lines)


def test_command_fails_where_answers_differ(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "page.md"
    assert command("--quick", "--page", str(written), grid=grid_of(ours=1, theirs=2)) == 1
    assert "1 is not 2" in capsys.readouterr().out
    rows = [line for line in written.read_text(encoding="utf-8").splitlines() if "fake" in line]
    assert rows == ["- fake [a] | b, n = 7, peer: 1 is not 2"]


def test_command_lists_the_jobs_where_none_matches(
    command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("nothing", grid=grid_of()) == 2
    assert "fake [a] | b" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["(", "--quick"], "no regular expression"),
        (["--threads", "0"], "--threads"),
        (["--json", "no/such/folder/x.json"], "no folder"),
    ],
    ids=["pattern", "threads", "folder"],
)
def test_command_refuses_what_it_cannot_do(
    command: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    says: str,
) -> None:
    with pytest.raises(SystemExit):
        command(*arguments, grid=grid_of())
    assert says in capsys.readouterr().err
