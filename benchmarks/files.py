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
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.timing import kilobytes

FEATURES = [f"x{j}" for j in range(8)]
CELLS = FEATURES[:5]
#: Sixths of a standard normal law, moved a little from column to column.
EDGES = [np.array([-0.97, -0.43, 0.0, 0.43, 0.97]) + 0.1 * j for j in range(5)]
N_CLASSES = 4
BLOCK = 1 << 20

#: Statistics: counts (K, 7776), weights (K,), sums (K, 8) and products (K, 8, 8) of the columns.
Answer = dict[str, np.ndarray]


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


def compare(names: list[tuple[str, int]], path: Path, rounds: int) -> list[list[dict[str, float]]]:
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


def ratio(results: Any, what: str, over: int, under: int) -> str:
    """A median ratio with its range over the rounds."""
    ratios = [row[over][what] / row[under][what] for row in results]
    return f"{np.median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}]"


def main() -> None:
    """Write rows, let all count them, print the ratios, delete the rows."""
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
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        peak = 0.0
        if options.rows:
            path = Path(folder, "rows.parquet")
            write_rows(str(path), int(options.rows))
            write_rows(str(path.with_name("warm.parquet")), 100_000)
            names = [("ours", 1), ("decode", 1), ("ours", 2)]
            names += [(name, 2) for name in ("polars", "polars_twice", "duckdb")]
            found = compare(names, path, options.rounds)
            peak = max(row[i]["peak"] for row in found for i in (0, 2))
            print(f"{options.rows:,.0f} rows of Parquet, {options.rounds} rounds")
            print("CPU, one thread, ours / decoding:", ratio(found, "cpu", 0, 1))
            for i, (name, _) in enumerate(names[3:], start=3):
                print(f"wall, two threads, {name} / ours:", ratio(found, "wall", i, 2))
                print(f"CPU, {name} / ours:", ratio(found, "cpu", i, 2))
            print(f"peak memory: {peak:.0f} MB")
            path.unlink()
        if options.many:
            path = Path(folder, "rows.parquet")
            write_rows(str(path), int(options.many))
            write_rows(str(path.with_name("warm.parquet")), 100_000)
            figures, _ = in_a_process("ours", path, 2)
            print(f"{options.many:,.0f} rows: peak memory {figures['peak']:.0f} MB", end="")
            print(f", {figures['peak'] / peak:.2f} of the above" if peak else "")
            path.unlink()
        if options.csv_rows:
            path = Path(folder, "rows.csv")
            write_rows(str(path), int(options.csv_rows))
            write_rows(str(path.with_name("warm.csv")), 100_000)
            found = compare([("ours", 1), ("csv_polars", 1)], path, options.rounds)
            print(f"{options.csv_rows:,.0f} rows of CSV")
            print("CPU, polars batches into the same loops / ours:", ratio(found, "cpu", 1, 0))


if __name__ == "__main__":
    main()
