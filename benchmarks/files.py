"""How fast files are counted, and in how much memory: ``python -m benchmarks.files --help``.

The job: of each class, the joint histogram of five columns in 6^5 cells and all second moments of
eight columns of float32. Peers get one query that gives the same numbers. Each runs in a process
of its own, so that its memory is its own, in rounds in which all take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.figures import Figure
from benchmarks.timing import kilobytes

FEATURES = [f"x{j}" for j in range(8)]
CELLS = FEATURES[:5]
#: Sixths of a standard normal law, moved a little from column to column.
EDGES = [np.array([-0.97, -0.43, 0.0, 0.43, 0.97]) + 0.1 * j for j in range(5)]
N_CLASSES = 4
BLOCK = 1 << 20

#: Statistics: counts (K, 7776), weights (K,), sums (K, 8) and products (K, 8, 8) of the columns.
Answer = dict[str, np.ndarray]
#: Figures of each contender in each round.
Results = list[list[dict[str, float]]]

WHY_DECODING = (
    "Decoding is two fifths of all. Of the rest, a third goes into the second moments: 36 products "
    "a row, for which the rows of a class are first gathered from all columns. A sixth counts "
    "cells, another one copies the columns side by side and looks for infinities; what is left "
    "is spread over the labels, merging, and what Python takes for each chunk of 131,072 rows."
)
WHY_QUERY = (
    "Both sides decode the same file, on two threads, which is two fifths of our time; grouped by "
    "class alone, the sums of the query are good compiled loops too."
)
WHY_CSV = (
    "Parsing is four fifths of our time, by Arrow, which tells missing values and quotes as the "
    "documentation says; polars parses in two thirds of that time, by rules of its own."
)


def write_rows(path: str, n: int) -> None:
    """Rows of four classes with correlated columns, from a fixed seed, a block at a time."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(N_CLASSES, 8)).astype(np.float32)
    writer = None
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        y = rng.integers(0, N_CLASSES, size, dtype=np.int8)
        X = rng.standard_normal((8, size), dtype=np.float32)
        for j in range(1, 8):
            X[j] += np.float32(0.4) * X[j - 1]
        X += means.T[:, y]
        table = pa.table({**dict(zip(FEATURES, X, strict=True)), "class": y})
        if writer is None:
            make = pa.csv.CSVWriter if path.endswith(".csv") else pq.ParquetWriter
            writer = make(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


# ---------------------------------------------------------------------- who takes part


def _density() -> Any:
    from bayesrule import Gaussian, Histogram, Pooled

    return Pooled([(CELLS, Histogram(bins=EDGES, joint=True)), Gaussian()])


def _answer(clf: Any) -> Answer:
    """The statistics of a classifier, as sums about zero."""
    cells, moments = (part for part in clf.stats_.parts[1].parts)
    moments = moments.parts[0]
    mean = moments.mean + moments.shift
    weight = moments.weight
    products = moments.second + weight[:, None, None] * mean[:, :, None] * mean[:, None, :]
    return {
        "counts": cells.sums,
        "weight": weight,
        "sums": weight[:, None] * mean,
        "products": products,
    }


def ours(path: str, threads: int) -> Answer:
    """``fit_files``."""
    from bayesrule import BayesClassifier

    clf = BayesClassifier(_density()).fit_files(path, target="class", executor=threads)
    return _answer(clf)


def decode(path: str, threads: int) -> Answer:
    """Only reading the columns, on one thread."""
    file = pq.ParquetFile(pa.OSFile(path), pre_buffer=False)
    for _ in file.iter_batches(1 << 17, use_threads=False):
        pass
    return {}


PAIRS = [(i, j) for i in range(8) for j in range(i + 1)]


def _from_groups(columns: dict[str, np.ndarray]) -> Answer:
    """The answer from a row for each class and cell."""
    classes = columns["class"].astype(int)
    counts = np.zeros((N_CLASSES, 6**5))
    counts[classes, columns["cell"].astype(int)] = columns["n"]

    def total(name: str) -> np.ndarray:
        return np.bincount(classes, columns[name], N_CLASSES)

    products = np.empty((N_CLASSES, 8, 8))
    for i, j in PAIRS:
        products[:, i, j] = products[:, j, i] = total(f"p{i}{j}")
    sums = np.column_stack([total(f"s{j}") for j in range(8)])
    return {"counts": counts, "weight": total("n"), "sums": sums, "products": products}


def polars(path: str, threads: int) -> Answer:
    """One group_by over classes and cells."""
    import polars as pl

    cell = sum(
        (
            sum(((pl.col(name) >= edge).cast(pl.Int32) for edge in edges), pl.lit(0, pl.Int32))
            * 6 ** (4 - j)
            for j, (name, edges) in enumerate(zip(CELLS, EDGES, strict=True))
        ),
        pl.lit(0, pl.Int32),
    )
    wide = [pl.col(name).cast(pl.Float64) for name in FEATURES]
    sums = [wide[j].sum().alias(f"s{j}") for j in range(8)]
    products = [(wide[i] * wide[j]).sum().alias(f"p{i}{j}") for i, j in PAIRS]
    query = pl.scan_parquet(path).group_by("class", cell.alias("cell"))
    found = query.agg(pl.len().alias("n"), *sums, *products).collect(engine="streaming")
    return _from_groups({name: found[name].to_numpy() for name in found.columns})


def polars_twice(path: str, threads: int) -> Answer:
    """Cells and moments grouped apart, planned together."""
    import polars as pl

    rows = pl.scan_parquet(path)
    cell = sum(
        (
            sum(((pl.col(name) >= edge).cast(pl.Int32) for edge in edges), pl.lit(0, pl.Int32))
            * 6 ** (4 - j)
            for j, (name, edges) in enumerate(zip(CELLS, EDGES, strict=True))
        ),
        pl.lit(0, pl.Int32),
    )
    wide = [pl.col(name).cast(pl.Float64) for name in FEATURES]
    cells = rows.group_by("class", cell.alias("cell")).agg(pl.len().alias("n"))
    moments = rows.group_by("class").agg(
        pl.len().alias("n"),
        *(wide[j].sum().alias(f"s{j}") for j in range(8)),
        *((wide[i] * wide[j]).sum().alias(f"p{i}{j}") for i, j in PAIRS),
    )
    by_cell, by_class = pl.collect_all([cells, moments], engine="streaming")
    answer = _from_groups(
        {**{n: by_class[n].to_numpy() for n in by_class.columns}, "cell": np.zeros(N_CLASSES)}
    )
    answer["counts"][:] = 0
    place = by_cell["class"].to_numpy().astype(int), by_cell["cell"].to_numpy().astype(int)
    answer["counts"][place] = by_cell["n"].to_numpy()
    return answer


def duckdb(path: str, threads: int) -> Answer:
    """One GROUP BY over classes and cells."""
    import duckdb as db

    levels = [
        "(" + " + ".join(f"({name} >= {edge!r}::DOUBLE)::INT" for edge in edges.tolist()) + ")"
        for name, edges in zip(CELLS, EDGES, strict=True)
    ]
    cell = " + ".join(f"{level} * {6 ** (4 - j)}" for j, level in enumerate(levels))
    sums = [f"sum({name}::DOUBLE) AS s{j}" for j, name in enumerate(FEATURES)]
    products = [f"sum(x{i}::DOUBLE * x{j}::DOUBLE) AS p{i}{j}" for i, j in PAIRS]
    query = (
        f'SELECT "class", {cell} AS cell, count(*) AS n, {", ".join(sums + products)} '
        f"FROM read_parquet('{path}') GROUP BY ALL"
    )
    with db.connect(config={"threads": threads}) as connection:
        return _from_groups(connection.execute(query).fetchnumpy())


def csv_polars(path: str, threads: int) -> Answer:
    """Batches by polars, counted by the same loops as ours."""
    import polars as pl

    from bayesrule import BayesClassifier

    schema = {**dict.fromkeys(FEATURES, pl.Float64), "class": pl.Int64}
    clf = BayesClassifier(_density())
    rows = pl.scan_csv(path, schema=schema)
    for batch in rows.collect_batches(chunk_size=1 << 17, maintain_order=True):
        clf.partial_fit(batch.select(FEATURES), batch["class"], classes=range(N_CLASSES))
    return _answer(clf)


CONTENDERS: dict[str, Callable[[str, int], Answer]] = {
    function.__name__: function
    for function in (ours, decode, polars, polars_twice, duckdb, csv_polars)
}


def differ(one: Answer, other: Answer) -> str:
    """What is wrong with an answer, in words; counts are equal and sums agree to rounding."""
    for name, values in one.items():
        exact = name in ("counts", "weight")
        scale = np.abs(values).max()
        apart = float(np.abs(values - other[name]).max())
        if apart > (0 if exact else 1e-10 * scale):
            return f"{name} differ by {apart:.2g}"
    return ""


# ---------------------------------------------------------------------- running them


def measure(name: str, path: str, threads: int, warm: str, answer: str) -> dict[str, float]:
    """Seconds and peak memory of one run in this process, after one on few rows."""
    work = CONTENDERS[name]
    work(warm, threads)
    wall, cpu = time.perf_counter(), time.process_time()
    found = work(path, threads)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    np.savez(answer, **found)
    peak = kilobytes(Path("/proc/self/status").read_text(), "VmHWM") / 1024
    return {"wall": wall, "cpu": cpu, "peak": peak}


def in_a_process(name: str, path: Path, threads: int) -> tuple[dict[str, float], Answer]:
    """The same in a fresh process."""
    warm = path.with_name(f"warm{path.suffix}")
    answer = path.with_name(f"{name}.npz")
    environment = {
        **os.environ,
        "POLARS_MAX_THREADS": str(threads),
        "BAYESRULE_NUM_THREADS": str(threads),
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "ignore",
    }
    arguments = ["--measure", name, str(path), str(threads), str(warm), str(answer)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.files", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    with np.load(answer) as found:
        return json.loads(done.stdout), dict(found)


def compare(names: list[tuple[str, int]], path: Path, rounds: int) -> Results:
    """Runs of all, in turns; stops where answers differ."""
    results = []
    for _ in range(rounds):
        row, answers = [], []
        for name, threads in names:
            figures, answer = in_a_process(name, path, threads)
            row.append(figures)
            answers.append(answer)
        for (name, _), answer in zip(names, answers, strict=True):
            wrong = differ(answer, answers[0]) if answer else ""
            if wrong:
                raise SystemExit(f"{name}: {wrong}")
        results.append(row)
    return results


def ratios(results: Results, what: str, over: int, under: int) -> list[float]:
    """One figure of a contender over that of another, in each round."""
    return [row[over][what] / row[under][what] for row in results]


def in_parquet(folder: Path, n_rows: int, rounds: int) -> list[Figure]:
    """Ours, decoding alone, and one query of each peer."""
    path = folder / "rows.parquet"
    write_rows(str(path), n_rows)
    write_rows(str(path.with_name("warm.parquet")), 100_000)
    # Beside each other and often: decoding takes a third of a second, and queries that spread over
    # all memory in between would make it slower than it is.
    pairs = compare([("ours", 1), ("decode", 1)], path, 3 * rounds)
    names = [("ours", 2)]
    names += [(name, 2) for name in ("polars", "polars_twice", "duckdb") if available(name)]
    found = compare(names, path, rounds)
    path.unlink()
    million = f"{n_rows / 1e6:.3g} M rows of Parquet"
    figures = [
        Figure.of(
            f"{million}: processor time of ours, one thread, over decoding the file alone",
            ratios(pairs, "cpu", 0, 1),
            goal=2.3,
            most=True,
            why=WHY_DECODING,
        )
    ]
    for i, (name, _) in enumerate(names[1:], start=1):
        query = (CONTENDERS[name].__doc__ or "")[:-1]
        figures += [
            Figure.of(
                f"{million}, two threads: time of {name.partition('_')[0]} over ours ({query})",
                ratios(found, "wall", i, 0),
                goal=2.0,
                why=WHY_QUERY,
            )
        ]
    peak = [row[0]["peak"] for row in found]
    return [*figures, Figure.of(f"{million}: peak memory", peak, "MB", goal=600, most=True)]


def in_csv(folder: Path, n_rows: int, rounds: int) -> list[Figure]:
    """Ours beside polars' batches."""
    path = folder / "rows.csv"
    write_rows(str(path), n_rows)
    write_rows(str(path.with_name("warm.csv")), 100_000)
    found = compare([("ours", 1), ("csv_polars", 1)], path, rounds)
    path.unlink()
    words = "processor time of polars' batches into the same loops over ours"
    what = f"{n_rows / 1e6:.3g} M rows of CSV, one thread: {words}"
    return [Figure.of(what, ratios(found, "cpu", 1, 0), goal=1.0, why=WHY_CSV)]


def memory_alone(folder: Path, n_rows: int) -> Figure:
    """Peak memory of one run over many rows."""
    path = folder / "rows.parquet"
    write_rows(str(path), n_rows)
    write_rows(str(path.with_name("warm.parquet")), 100_000)
    measured, _ = in_a_process("ours", path, 2)
    path.unlink()
    return Figure.of(f"{n_rows / 1e6:.3g} M rows of Parquet: peak memory", [measured["peak"]], "MB")


def available(name: str) -> bool:
    """Whether a contender is installed."""
    return find_spec(name.partition("_")[0]) is not None


def figures(
    rows: int, csv_rows: int, rounds: int, many: int = 0, folder: str | None = None
) -> list[Figure]:
    """Write rows, let all count them, delete the rows."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        found = in_parquet(Path(made), rows, rounds) if rows else []
        found += [memory_alone(Path(made), many)] if many else []
        return found + (in_csv(Path(made), csv_rows, rounds) if csv_rows else [])


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.files", description=__doc__)
    parser.add_argument("--rows", type=float, default=20e6)
    parser.add_argument("--csv-rows", type=float, default=5e6)
    parser.add_argument(
        "--many", type=float, default=0, help="rows of one run for its memory alone"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="where rows are written (33 bytes each; CSV 90)")
    parser.add_argument("--measure", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        name, path, threads, warm, answer = options.measure
        print(json.dumps(measure(name, path, int(threads), warm, answer)))
        return
    sizes = (int(n) for n in (options.rows, options.csv_rows, options.rounds, options.many))
    for figure in figures(*sizes, folder=options.folder):
        spread = f"[{figure.low:.3g}, {figure.high:.3g}]"
        print(f"{figure.what}: {figure.median:.3g} {spread} {figure.unit}  {figure.goal_in_words}")


if __name__ == "__main__":
    main()
