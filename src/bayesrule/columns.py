"""Mixed tables: a density for each column or block of columns, independent given the class.

    log p(x | k)   =   sum over blocks b of   log p_b(x_b | k)

With one column per block this is naive Bayes. Columns nobody speaks for get a density by their
type: booleans Bernoulli; text, categories, and numbers that are all 0 or 1 Categorical; long texts
Words; other whole numbers from zero on Poisson or Gaussian (whichever the first rows find more
likely); all other numbers Gaussian.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _check_feature_names

from bayesrule.column_blocks import place_of, read_blocks
from bayesrule.composed import Composed
from bayesrule.density import Density, LogDensity, Prepared, Rule
from bayesrule.discrete import Bernoulli, Categorical
from bayesrule.frames import as_frame, check_held, held, kind_of
from bayesrule.gaussian import Gaussian
from bayesrule.lending import classes_seen, lent
from bayesrule.memberships import Memberships
from bayesrule.side_by_side import is_table_of_numbers
from bayesrule.stats import Several
from bayesrule.tables import Table, column_names
from bayesrule.whole import Whole

#: Types of columns, each with a density of its own.
KINDS = ("numbers", "counts", "flags", "categories", "texts")


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
    holds : tuple of str
        What each column held when it was fitted: "numbers", "text", or "nothing" but gaps.
    density : Density
    """

    kind: str
    columns: tuple[int, ...]
    names: tuple[str, ...]
    holds: tuple[str, ...]
    density: Density


class Columns(Composed):
    """Densities over blocks of columns.

    Parameters
    ----------
    columns : dict {column or tuple of columns: Density}, default=None
        Densities of the user's choice; columns are names or places, and "drop" leaves one out.
        A tuple of columns is one block: ``{("height", "weight"): Gaussian("full")}``. Searches
        reach them as ``columns__town``, ``columns__town__alpha`` and ``columns__height & weight``.
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
    listing: ClassVar[str] = "columns"

    def __getstate__(self) -> dict[str, Any]:
        # As pairs: not every format has dicts whose keys are tuples.
        columns = self.columns
        pairs = list(columns.items()) if isinstance(columns, Mapping) else columns
        return {**super().__getstate__(), "columns": pairs}

    def __setstate__(self, state: dict[str, Any]) -> None:
        pairs = state["columns"]
        columns = dict(pairs) if isinstance(pairs, list) else pairs
        super().__setstate__({**state, "columns": columns})

    @property
    def normalised(self) -> bool:  # type: ignore[override]
        """Whether every density that may be used is."""
        return all(density.normalised for density in self.possible())

    def listed(self) -> dict[str, Any]:
        """Densities of the user's choice, by their columns."""
        if not isinstance(self.columns, Mapping):
            return {}
        return {_called(key): density for key, density in self.columns.items()}

    def relisted(self, changed: dict[str, Any]) -> dict[Any, Any]:
        """The same columns with other densities for some."""
        assert self.columns is not None
        return {key: changed.get(_called(key), old) for key, old in self.columns.items()}

    def possible(self) -> list[Density]:
        """All densities of the settings."""
        stated = [getattr(self, kind) for kind in KINDS]
        return [density for density in stated if isinstance(density, Density)] + super().possible()

    def read(self, X: Any, estimator: Any) -> Table:
        """Tell the columns' types and read each block for its density."""
        frame, names = as_frame(X, estimator)
        blocks = self._blocks(frame, names)
        return read_blocks(frame, names, blocks, [b.density for b in blocks], estimator)

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
            copied: Density = clone(stated)
            return copied
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

    def _check_settings(self) -> None:
        """Refuse what is no density before any column is looked at."""
        if not isinstance(self.columns, (Mapping, type(None))):
            raise TypeError(
                f"columns={self.columns!r} is no dict; expected {{column or tuple of columns: "
                "density}."
            )
        for key, density in (self.columns or {}).items():
            left_out = isinstance(density, str) and density == "drop"
            if not (left_out or isinstance(density, Density)):
                raise TypeError(
                    f"columns[{key!r}] is {density!r}; expected a density such as Gaussian(), or "
                    "'drop'."
                )
            if type(key) is tuple and not key:
                raise ValueError("columns has a block of no columns, (): leave it out.")
        for kind in KINDS:
            density = getattr(self, kind)
            if not (density is None or isinstance(density, Density)):
                raise TypeError(f"{kind}={density!r} is no density such as Gaussian().")

    def _blocks(self, frame: Any, names: tuple[str, ...]) -> tuple[Block, ...]:
        """Blocks the user chose, then one for each type of the other columns."""
        self._check_settings()
        taken: set[int] = set()
        chosen: list[tuple[str, tuple[int, ...], Density]] = []
        for key, density in (self.columns or {}).items():
            listed = key if type(key) is tuple else (key,)
            places = tuple(place_of(name, names) for name in listed)
            for j in places:
                if j in taken:
                    raise ValueError(f"Column {names[j]!r} is given twice in columns.")
                taken.add(j)
            if isinstance(density, Density):
                chosen.append(("given", places, clone(density)))
        kinds: dict[str, list[int]] = {}
        columns = list(frame.iter_columns())  # one by one, each would look through all names
        for j, column in enumerate(columns):
            if j not in taken:
                kinds.setdefault(kind_of(column, names[j]), []).append(j)
        for kind, found in kinds.items():
            # Each text has a vocabulary of its own; other columns of a type are read together.
            groups: Iterable[list[int]] = [[j] for j in found] if kind == "texts" else [found]
            chosen += [(kind, tuple(group), self._default(kind)) for group in groups]
        if not chosen:
            raise ValueError("Columns has no column left to learn from: all were dropped.")
        return tuple(
            Block(
                kind,
                places,
                tuple(names[j] for j in places),
                tuple(held(columns[j]) for j in places),
                density,
            )
            for kind, places, density in chosen
        )


def _called(key: Any) -> str:
    """Name of a column, or of a block of columns, in the paths of parameters."""
    return " & ".join(map(str, key)) if type(key) is tuple else str(key)


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

    @property
    def holds(self) -> dict[str, str]:
        """What each column held when it was fitted."""
        return {n: h for b in self.blocks for n, h in zip(b.names, b.holds, strict=True)}

    def __repr__(self) -> str:
        rows = self.columns_
        widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
        return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}" for a, b, c in rows)

    def read(self, X: Any, estimator: Any) -> Table:
        """Read X as it was read when this was prepared."""
        outer = getattr(estimator, "density_", None)
        # Else X is a block of its X.
        outermost = outer is self or getattr(outer, "columns", None) is self
        if outermost and column_names(X) is not None and hasattr(estimator, "feature_names_in_"):
            _check_feature_names(estimator, X, reset=False)  # names what is missing or new
        # A table of numbers alone is what it is, and looking at it in general takes longer than
        # reading a part of a file.
        plain = is_table_of_numbers(X) and all(set(b.holds) == {"numbers"} for b in self.blocks)
        frame, names = (X, column_names(X) or ()) if plain else as_frame(X, estimator)
        if outermost and len(names) != estimator.n_features_in_:
            raise ValueError(
                f"X has {len(names)} features, but {type(estimator).__name__} is expecting "
                f"{estimator.n_features_in_} features as input."
            )
        if plain:
            return read_blocks(frame, names, self.blocks, self.prepared, estimator)
        schema = [(label, dtype.is_numeric()) for label, dtype in frame.schema.items()]
        for block in self.blocks:
            for j, name, before in zip(block.columns, block.names, block.holds, strict=True):
                label, numeric = schema[j]
                if not (numeric and before == "numbers"):  # cutting columns out takes time
                    check_held(frame.get_column(label), name, before)
        return read_blocks(frame, names, self.blocks, self.prepared, estimator)

    def tally(self, table: Table, memberships: Memberships) -> Several:
        """Statistics of every block, side by side."""
        pairs = zip(self.prepared, table.parts, strict=True)
        return Several(tuple(prepared.tally(part, memberships) for prepared, part in pairs))

    def settle(self, stats: Several) -> LogDensity:
        """Log-densities of every block."""
        laws = (p.settle(part) for p, part in zip(self.prepared, stats.parts, strict=True))
        return ColumnsLaw(lent(tuple(laws)), tuple(block.names for block in self.blocks))


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
    def seen(self) -> np.ndarray | None:
        """Classes that have a density; None where no block tells."""
        return classes_seen(self.laws)

    @property
    def factors(self) -> bool:
        return True

    @property
    def features(self) -> list[str]:
        """Names of the terms: columns, or the columns of a block that does not factor."""
        return [" & ".join(names) for names in self.sources]

    @property
    def sources(self) -> list[tuple[str, ...]]:
        """Columns of each term."""
        found: list[tuple[str, ...]] = []
        for law, names in zip(self.laws, self.names, strict=True):
            found += (law.sources or [(n,) for n in names]) if _by_column(law, names) else [names]
        return found

    def __call__(self, table: Table) -> np.ndarray:
        pairs = zip(self.laws, table.parts, strict=True)
        return reduce(np.add, (law(part) for law, part in pairs))

    def terms(self, table: Table) -> np.ndarray:
        parts = [
            law.terms(part) if _by_column(law, names) else law(part)[:, :, None]
            for law, names, part in zip(self.laws, self.names, table.parts, strict=True)
        ]
        return np.concatenate(parts, axis=2)


def _by_column(law: LogDensity, names: tuple[str, ...]) -> bool:
    """Whether a block has a term for each column; the words of one column of texts are one term."""
    return law.factors and len(names) > 1
