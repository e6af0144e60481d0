"""A against A: what the ratios of this machine are worth. Anything but 1 here is noise."""

from __future__ import annotations

from functools import partial

from sklearn.naive_bayes import GaussianNB

from benchmarks.agreement import fits_differ, probabilities_differ
from benchmarks.contest import Contest
from benchmarks.data import gaussian_classes
from benchmarks.jobs import job

ITSELF = "GaussianNB again"


@job("A/A, GaussianNB, m=20, K=2: fit", sizes=(10_000, 1_000_000))
def fit(n: int) -> Contest:
    """The peer's fit beside itself."""
    X, y = gaussian_classes(n, 20, 2)
    return Contest(
        partial(GaussianNB().fit, X, y),
        fits_differ(X[:1000]),
        {ITSELF: partial(GaussianNB().fit, X, y)},
    )


@job(
    "A/A, GaussianNB, m=20, K=2: predict_proba",
    sizes=(1, 10_000, 1_000_000),
    quick=(1, 10_000),
)
def answer(n: int) -> Contest:
    """The peer's posteriors beside themselves."""
    model = GaussianNB().fit(*gaussian_classes(1000, 20, 2))
    X, _ = gaussian_classes(n, 20, 2, seed=1)
    call = partial(model.predict_proba, X)
    return Contest(call, probabilities_differ, {ITSELF: call})
