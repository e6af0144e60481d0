"""Mixed tables: a density for each column or block of columns, independent given the class.

    log p(x | k)   =   sum over blocks b of   log p_b(x_b | k)

With one column per block this is naive Bayes. Columns nobody speaks for get a density by their
type: booleans Bernoulli, text and categories Categorical, long texts Words, whole numbers from
zero on Poisson or Gaussian (whichever the first rows find more likely), other numbers Gaussian.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import pyarrow as pa
import scipy.sparse
from sklearn.base import clone
from sklearn.utils import check_array

from bayesrule.density import Density, LogDensity, Prepared, Rule
from bayesrule.discrete import Bernoulli, Categorical
from bayesrule.gaussian import Gaussian
from bayesrule.memberships import Memberships
from bayesrule.stats import Several
from bayesrule.tables import Table
from bayesrule.whole import Whole

#: A text column is prose, not categories, where more than this share of its values differ ...
DISTINCT = 0.5
#: ... and they are at least this long on average.
LONG = 20.0


@dataclass(frozen=True)
class Block:
    """Some columns and the density that is fitted to them.

    Attributes
    ----------
    kind : str
        "numbers", "counts", "flags", "categories", "texts", or "given" where the user chose.
    columns : tuple of int
        Places of the columns.
    names : tuple of str
    density : Density
    """

    kind: str
    columns: tuple[int, ...]
    names: tuple[str, ...]
    density: Density


class Columns(Density):
    """Densities over blocks of columns.

    Parameters
    ----------
    columns : dict {column or tuple of columns: Density}, default=None
        Densities of the user's choice; columns are names or places, and "drop" leaves one out.
        A tuple of columns is one block: ``{("height", "weight"): Gaussian("full")}``.
    numbers, counts, flags, categories, texts : Density, default=None
        What the other columns get by their type. None is ``Gaussian("diag")``, ``Poisson()`` or
        the Gaussian (whichever suits a column), ``Bernoulli()``, ``Categorical()``, ``Words()``.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesrule import BayesClassifier, Columns
    >>> X = pd.DataFrame({"age": [30.5, 41.0, 65.2, 70.1], "town": ["A", "B", "B", None]})
    >>> clf = BayesClassifier(Columns()).fit(X, ["no", "no", "yes", "yes"])
    >>> clf.density_
    age   numbers     Gaussian(covariance='diag')
    town  categories  Categorical()
    """

    def __init__(
        self,
        columns: Mapping[Any, Any] | None = None,
        *,
        numbers: Density | None = None,
        counts: Density | None = None,
        flags: Density | None = None,
        categories: Density | None = None,
        texts: Density | None = None,
    ):
        self.columns = columns
        self.numbers = numbers
        self.counts = counts
        self.flags = flags
        self.categories = categories
        self.texts = texts

    accept_missing: ClassVar[bool] = True

    @property
    def normalised(self) -> bool:  # type: ignore[override]
        """Whether every density that may be used is."""
        return all(density.normalised for density in self._possible())

    @property
    def memorises(self) -> bool:  # type: ignore[override]
        """Whether any density does."""
        return any(density.memorises for density in self._possible())

    def _possible(self) -> list[Density]:
        """All densities of the settings."""
        stated = (self.numbers, self.counts, self.flags, self.categories)
        given = (self.columns or {}).values()
        return [density for density in (*stated, *given) if isinstance(density, Density)]

    def read(self, X: Any, estimator: Any) -> Table:
        """Tell the columns' types and read each block for its density."""
        frame, names = _as_frame(X, estimator)
        blocks = self._blocks(frame, names)
        return _read_blocks(frame, names, blocks, [b.density for b in blocks], estimator)

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> FittedColumns:
        """Prepare every block."""
        pairs = zip(table.layout, table.parts, strict=True)
        return FittedColumns(
            table.layout,
            tuple(block.density.prepare(part, memberships, rule) for block, part in pairs),
        )

    def describe_input(self, tags: Any) -> Any:
        """Numbers, text and gaps."""
        tags.input_tags.allow_nan = True
        return tags

    def _default(self, kind: str) -> Density:
        """The density of a type of column."""
        stated = getattr(self, kind)
        if stated is not None:
            return clone(stated)
        if kind == "texts":
            from bayesrule.words import Words

            return Words()
        defaults: dict[str, Density] = {
            "numbers": Gaussian("diag"),
            "counts": Whole(),
            "flags": Bernoulli(threshold=None),
            "categories": Categorical(),
        }
        return defaults[kind]

    def _blocks(self, frame: Any, names: tuple[str, ...]) -> tuple[Block, ...]:
        """Blocks the user chose, then one for each type of the other columns."""
        taken: set[int] = set()
        blocks = []
        for key, density in (self.columns or {}).items():
            several = isinstance(key, tuple)
            places = tuple(_place(name, names) for name in (key if several else (key,)))
            again = taken.intersection(places)
            if again:
                raise ValueError(f"Column {names[again.pop()]!r} is given to two densities.")
            taken.update(places)
            if isinstance(density, str) and density == "drop":
                continue
            if not isinstance(density, Density):
                raise TypeError(
                    f"columns[{key!r}] is {density!r}; expected a density such as Gaussian(), or "
                    "'drop'."
                )
            blocks.append(Block("given", places, tuple(names[j] for j in places), clone(density)))
        kinds: dict[str, list[int]] = {}
        for j in range(len(names)):
            if j not in taken:
                kinds.setdefault(_kind(frame[:, j], names[j]), []).append(j)
        for kind, found in kinds.items():
            # Each text has a vocabulary of its own; other columns of a type are read together.
            groups: Iterable[list[int]] = [[j] for j in found] if kind == "texts" else [found]
            for group in groups:
                labels = tuple(names[j] for j in group)
                blocks.append(Block(kind, tuple(group), labels, self._default(kind)))
        if not blocks:
            raise ValueError("Columns has no column left to learn from: all were dropped.")
        return tuple(blocks)


def _as_frame(X: Any, estimator: Any) -> tuple[Any, tuple[str, ...]]:
    """Any X as a narwhals frame with text names; arrays get the names scikit-learn shows."""
    if scipy.sparse.issparse(X):
        raise TypeError("Sparse data was passed, but mixed columns need a frame: X.toarray().")
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        frame = nw.from_native(X, eager_only=True)
        if frame.shape[0] == 0 or frame.shape[1] == 0:
            check_array(np.empty(frame.shape), estimator=estimator, input_name="X")
        return frame, tuple(str(name) for name in frame.columns)
    values = X if hasattr(X, "dtype") else np.asarray(X)
    if values.dtype.kind in "US":
        values = np.asarray(X, dtype=object)
    values = check_array(
        values, dtype=None, ensure_all_finite=False, estimator=estimator, input_name="X"
    )
    names = tuple(f"x{j}" for j in range(values.shape[1]))
    if values.dtype.kind == "O":
        columns = [_settled_type(column) for column in values.T]
    else:
        columns = [np.ascontiguousarray(column) for column in values.T]
    return nw.from_native(pa.table(dict(zip(names, columns, strict=True)))), names


def _settled_type(column: np.ndarray) -> Any:
    """A column of objects as numbers where it holds numbers, else as text."""
    if not any(isinstance(value, str) for value in column.tolist()):
        try:
            return column.astype(np.float64)
        except (TypeError, ValueError):
            pass
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise TypeError(
            "X mixes kinds within a column: each argument must be all string or all number."
        ) from None


def _place(name: Any, names: tuple[str, ...]) -> int:
    """Place of a column called by its name or number."""
    if str(name) in names and not isinstance(name, bool):
        return names.index(str(name))
    if isinstance(name, int) and not isinstance(name, bool) and -len(names) <= name < len(names):
        return name % len(names)
    raise ValueError(f"columns names {name!r}, which X does not have; it has {list(names)}.")


def _kind(column: Any, name: str) -> str:
    """Which type of column this is."""
    dtype = column.dtype
    if dtype == nw.Boolean:
        return "flags"
    if dtype in (nw.Categorical, nw.Enum):
        return "categories"
    if dtype.is_numeric():
        values = column.drop_nulls().to_numpy()
        if dtype.is_float():
            values = values[~np.isnan(values)]
            whole = len(values) and np.isfinite(values).all() and (values == np.floor(values)).all()
        else:
            whole = len(values)
        return "counts" if whole and values.min() >= 0 else "numbers"
    if dtype in (nw.String, nw.Object):
        values = column.drop_nulls()
        if dtype == nw.String and len(values):
            many = values.n_unique() > DISTINCT * len(values)
            if many and values.str.len_chars().mean() >= LONG:
                return "texts"
        return "categories"
    raise ValueError(
        f"Column {name!r} of X holds {dtype}, for which there is no density by type. Convert it "
        "to a number or text, or leave it out: columns={" + repr(name) + ": 'drop'}."
    )


def _read_blocks(
    frame: Any, names: tuple[str, ...], blocks: tuple[Block, ...], readers: Any, estimator: Any
) -> Table:
    """Read each block of columns for its density."""
    parts = []
    for block, reader in zip(blocks, readers, strict=True):
        native = frame[:, list(block.columns)]
        if block.kind in ("numbers", "counts"):
            for j, name in zip(block.columns, block.names, strict=True):
                dtype = frame[:, j].dtype
                if not (dtype.is_numeric() or dtype == nw.Boolean or dtype == nw.Unknown):
                    raise ValueError(
                        f"Column {name!r} of X holds {dtype}, but held numbers when it was fitted."
                        " Convert it to numbers."
                    )
        parts.append(reader.read(nw.to_native(native), estimator))
    return Table(
        parts=tuple(parts), names=names, layout=blocks, missing=any(p.missing for p in parts)
    )


@dataclass(frozen=True, repr=False)
class FittedColumns:
    """Which density each column got; printing it shows the table.

    Attributes
    ----------
    blocks : tuple of Block
    prepared : tuple of Prepared
    """

    blocks: tuple[Block, ...]
    prepared: tuple[Prepared, ...]

    @property
    def columns_(self) -> list[tuple[str, str, str]]:
        """(column, type, density) of every column, in the order of the blocks."""
        rows = []
        for block, prepared in zip(self.blocks, self.prepared, strict=True):
            chosen = getattr(prepared, "laws", (repr(block.density),) * len(block.names))
            rows += [(name, block.kind, law) for name, law in zip(block.names, chosen, strict=True)]
        return rows

    def __repr__(self) -> str:
        rows = self.columns_
        widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
        return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}" for a, b, c in rows)

    def read(self, X: Any, estimator: Any) -> Table:
        """Read X as it was read when this was prepared."""
        frame, names = _as_frame(X, estimator)
        expected = getattr(estimator, "n_features_in_", len(names))
        if len(names) != expected:
            raise ValueError(
                f"X has {len(names)} features, but {type(estimator).__name__} is expecting "
                f"{expected} features as input."
            )
        return _read_blocks(frame, names, self.blocks, self.prepared, estimator)

    def tally(self, table: Table, memberships: Memberships) -> Several:
        """Statistics of every block, side by side."""
        pairs = zip(self.prepared, table.parts, strict=True)
        return Several(tuple(prepared.tally(part, memberships) for prepared, part in pairs))

    def settle(self, stats: Several) -> LogDensity:
        """Log-densities of every block."""
        laws = (p.settle(part) for p, part in zip(self.prepared, stats.parts, strict=True))
        return ColumnsLaw(tuple(laws), tuple(block.names for block in self.blocks))


@dataclass(frozen=True)
class ColumnsLaw(LogDensity):
    """The sum of the log-densities of independent blocks.

    Attributes
    ----------
    laws : tuple of LogDensity
    names : tuple of tuples of str
        Columns of each block.
    """

    laws: tuple[LogDensity, ...]
    names: tuple[tuple[str, ...], ...]

    @property
    def factors(self) -> bool:
        return True

    @property
    def features(self) -> list[str]:
        """Names of the terms: columns, or the columns of a block that does not factor."""
        return [
            label
            for law, names in zip(self.laws, self.names, strict=True)
            for label in (names if law.factors and len(names) > 1 else (" & ".join(names),))
        ]

    def __call__(self, table: Table) -> np.ndarray:
        pairs = zip(self.laws, table.parts, strict=True)
        return reduce(np.add, (law(part) for law, part in pairs))

    def terms(self, table: Table) -> np.ndarray:
        parts = []
        for law, names, part in zip(self.laws, self.names, table.parts, strict=True):
            factors = law.factors and len(names) > 1
            parts.append(law.terms(part) if factors else law(part)[:, :, None])
        return np.concatenate(parts, axis=2)
