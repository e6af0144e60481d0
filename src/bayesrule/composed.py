"""Densities made of others: searches reach the settings of each, by its name in the list.

Where a setting ``columns`` lists densities by name, ``columns__town`` is the one called "town", and
``columns__town__alpha`` its setting: as in scikit-learn's own compositions, under the name of the
list, so that no column's name can be taken for a setting.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

from bayesrule.density import Density


class Composed(Density):
    """A density one of whose settings lists others."""

    #: The setting that lists them.
    listing: ClassVar[str]

    @abstractmethod
    def listed(self) -> dict[str, Any]:
        """What is listed, by names that are text; empty where the setting is no such list."""

    @abstractmethod
    def relisted(self, changed: dict[str, Any]) -> Any:
        """The setting with other densities under some of the names."""

    @property
    def uses_rule(self) -> bool:  # type: ignore[override]
        """Whether any density that may be used does."""
        return any(density.uses_rule for density in self.possible())

    @property
    def memorises(self) -> bool:  # type: ignore[override]
        """Whether any density that may be used does."""
        return any(density.memorises for density in self.possible())

    def possible(self) -> list[Density]:
        """All densities of the settings."""
        return [density for density in self.listed().values() if isinstance(density, Density)]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Settings, and where ``deep``, those of the densities that are listed."""
        found: dict[str, Any] = super().get_params(deep)
        if deep:
            for name, density in self.listed().items():
                found[f"{self.listing}__{name}"] = density
                if isinstance(density, Density):
                    inner = density.get_params().items()
                    found |= {f"{self.listing}__{name}__{key}": value for key, value in inner}
        return found

    def set_params(self, **params: Any) -> Self:
        """Change settings, densities that are listed, or settings of these, in this order."""
        start = f"{self.listing}__"
        own = {key: value for key, value in params.items() if not key.startswith(start)}
        super().set_params(**own)
        inner: dict[str, dict[str, Any]] = {}
        whole = {}
        for key in params.keys() - own.keys():
            name, setting = self._place_of(key.removeprefix(start))
            if setting:
                inner.setdefault(name, {})[setting] = params[key]
            else:
                whole[name] = params[key]
        if whole:
            setattr(self, self.listing, self.relisted(whole))
        for name, settings in inner.items():
            density = self.listed()[name]
            if not isinstance(density, Density):
                raise ValueError(
                    f"Invalid parameter {min(settings)!r}: {self.listing}[{name!r}] is "
                    f"{density!r}, which has no settings."
                )
            density.set_params(**settings)
        return self

    def _place_of(self, path: str) -> tuple[str, str]:
        """Name and setting, if any, that a path leads to; names may have underscores of their own.

        The longest name that fits is meant.
        """
        names = [name for name in self.listed() if path == name or path.startswith(f"{name}__")]
        if not names:
            raise ValueError(
                f"Invalid parameter {self.listing + '__' + path!r} for estimator "
                f"{type(self).__name__}: {self.listing} lists {list(self.listed())}."
            )
        name = max(names, key=len)
        return name, path[len(name) + 2 :]
