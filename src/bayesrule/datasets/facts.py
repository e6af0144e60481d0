"""The shape of a catalogue entry: what the loaders know of one set, and who else offers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Label = str | int


@dataclass(frozen=True)
class OpenML:
    """A data set of OpenML with our order of columns, and how its spelling becomes ours."""

    data_id: int
    labels: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, str] = field(default_factory=dict)

    def label(self, text: str) -> str:
        """Return our label; an unknown one as it is, for the count of classes to find."""
        return self.labels.get(text, text)

    def cell(self, text: str) -> str:
        """Return our spelling of a category."""
        return self.cells.get(text, text)


@dataclass(frozen=True)
class Shipped:
    """A loader of ``sklearn.datasets`` and our labels for its codes 0, 1, ..."""

    loader: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Derived:
    """Another set with the same features, and the function from its labels to these."""

    parent: str
    regroup: Callable[[Label | None], Label | None]


@dataclass(frozen=True)
class Facts:
    """Everything known of one set; `checksum` is defined in the verification module.

    Exactly one of `openml` and `no_openml` (the reason why there is none) speaks for a set that is
    neither shipped nor derived.
    """

    source: str
    licence: str
    columns: tuple[str, ...]
    counts: Mapping[Label, int]
    checksum: float
    text: tuple[str, ...] = ()
    missing: Mapping[str, int] = field(default_factory=dict)
    shipped: Shipped | None = None
    derived: Derived | None = None
    openml: OpenML | None = None
    no_openml: str = "no copy on OpenML is known to hold the same rows"

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(self.counts.values())

    @property
    def classes(self) -> tuple[Label, ...]:
        """The labels in sorted order."""
        return tuple(sorted(self.counts))

    @property
    def integer_labels(self) -> bool:
        """Whether the labels are numbers (ring counts)."""
        return all(isinstance(label, int) for label in self.counts)
