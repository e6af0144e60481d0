"""Model files: what is loaded is what was saved, to the last bit; a failed save harms nothing."""

from __future__ import annotations

import functools
import os
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesrule.classifier import BayesClassifier
from bayesrule.codec import Decoder, Encoder
from bayesrule.columns import Columns
from bayesrule.conjugate import MeanPrior, NormalInverseWishart
from bayesrule.discrete import Bernoulli, Categorical
from bayesrule.foreign import FromClassifier
from bayesrule.gains import with_action
from bayesrule.gaussian import Gaussian
from bayesrule.known import KNOWN
from bayesrule.minimax import Minimax
from bayesrule.multinomial import Multinomial
from bayesrule.positive import Gamma, LogNormal
from bayesrule.priors import Shifted
from bayesrule.rates import Exponential, GammaPrior, Poisson
from bayesrule.store import load, save
from bayesrule.whole import Whole
from bayesrule.words import Words

RNG = np.random.default_rng(5)
X = np.concatenate([RNG.normal(centre, 1.0, (30, 3)) for centre in (0.0, 1.5, -2.0)])
Y = np.repeat(["a", "b", "c"], 30)
NEW = RNG.normal(0.0, 2.0, (40, 3))
GAPS = X.copy()
GAPS[::6, 0] = GAPS[1::20] = GAPS[3::11, 2] = np.nan


def same(one: Any, other: Any) -> bool:
    """Equal values, types, dtypes and bits."""
    if isinstance(one, np.ndarray):
        plain = one.dtype == other.dtype and one.shape == other.shape
        if one.dtype.kind == "O":
            pairs = zip(one.ravel(), other.ravel(), strict=True)
            return plain and all(type(a) is type(b) and a == b for a, b in pairs)
        return plain and one.tobytes() == other.tobytes()
    return type(one) is type(other) and repr(one) == repr(other)


def assert_same_model(one: BayesClassifier, other: BayesClassifier, rows: Any = NEW) -> None:
    """Two models with equal answers and equal fitted attributes."""
    for name in ("predict", "predict_proba", "log_density", "expected_gains"):
        assert same(getattr(one, name)(rows), getattr(other, name)(rows)), name
    for name in ("classes_", "class_count_", "priors_", "gain_", "decisions_", "n_features_in_"):
        assert same(getattr(one, name), getattr(other, name)), name
    assert same(getattr(one, "feature_names_in_", None), getattr(other, "feature_names_in_", None))


def stored(clf: BayesClassifier, folder: Path) -> BayesClassifier:
    """The model after a save and a load."""
    save(clf, folder / "model.bayes")
    return load(folder / "model.bayes")


GAUSSIANS = [
    *(
        Gaussian(covariance, shrinkage, estimate)
        for covariance in ("full", "tied", "diag", "spherical")
        for shrinkage in (None, 0.25, "auto")
        for estimate in ("ml", "unbiased")
    ),
    *(
        Gaussian(covariance, estimate=estimate, prior=prior)
        for covariance in ("full", "tied", "diag", "spherical")
        for estimate in ("map", "predictive")
        for prior in (None, NormalInverseWishart(mean_weight=2.0), MeanPrior(0.0, 1.0, 2.0))
    ),
    Gaussian("diag", estimate="map", prior=MeanPrior(np.array([0.0, -0.0, 2.0]), 1.0, 2.0)),
    Gaussian(missing="raise"),
    Gaussian(shrinkage=np.float32(0.5)),
]


@pytest.mark.parametrize("density", GAUSSIANS, ids=str)
def test_every_gaussian_keeps_its_bits(density: Gaussian, tmp_path: Path) -> None:
    clf = BayesClassifier(density, priors=[0.2, 0.3, 0.5]).fit(X, Y)
    loaded = stored(clf, tmp_path)
    assert_same_model(clf, loaded)
    assert repr(loaded) == repr(clf)


COUNTED = [
    Bernoulli(),
    Bernoulli(0.5, None),
    Categorical(2.0),
    Poisson(),
    Poisson(GammaPrior(2.0, 0.5), "predictive"),
    Exponential(),
    Gamma(),
    LogNormal(),
    LogNormal("map", NormalInverseWishart()),
    Multinomial(0.5),
    Multinomial(estimate="predictive"),
    Whole(),
]


@pytest.mark.filterwarnings("ignore::bayesrule.notices.BayesRuleWarning")
@pytest.mark.parametrize("density", COUNTED, ids=str)
def test_laws_of_zeros_and_ones_keep_their_bits(density: Any, tmp_path: Path) -> None:
    clf = BayesClassifier(density).fit((X > 0) * 1, Y)
    assert_same_model(clf, stored(clf, tmp_path), (NEW > 0) * 1)


def test_categories_of_text_and_numbers_keep_their_bits(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"colour": RNG.choice(["red", "grün", ""], 90), "size": RNG.choice([1.5, 2.0, -3.0], 90)}
    )
    frame["size"] = frame["size"].mask(RNG.random(90) < 0.2)
    clf = BayesClassifier(Categorical()).fit(frame, Y)
    assert_same_model(clf, stored(clf, tmp_path), frame)


@pytest.mark.parametrize("density", [Words(), Words(0.5, min_df=2, estimate="predictive")], ids=str)
def test_texts_keep_their_bits_and_go_on(density: Words, tmp_path: Path) -> None:
    texts = [" ".join(RNG.choice(list("abcüñ😀"), 6)) for _ in Y]
    texts[4] = None
    for rows in (texts, pd.DataFrame({"note": texts})):
        clf = BayesClassifier(density).fit(rows, Y)
        loaded = stored(clf, tmp_path)
        assert same(clf.log_density(rows), loaded.log_density(rows))
        assert getattr(loaded, "n_features_in_", None) == getattr(clf, "n_features_in_", None)
        clf.partial_fit(rows[:9], Y[:9])
        assert same(clf.log_density(rows), loaded.partial_fit(rows[:9], Y[:9]).log_density(rows))


def test_mixed_columns_keep_their_bits_and_go_on(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "town": RNG.choice(["Å", "B"], 90),
            "visits": RNG.poisson(3, 90),
            "left out": "x",
            "year": RNG.normal(1950, 5, 90).round(),
            "one": X[:, 0],
            "two": X[:, 1],
            "three": GAPS[:, 2],
            "member": RNG.random(90) < 0.5,
            "note": [f"a note of many words, about {i}" for i in range(90)],
        }
    )
    frame.loc[::9, "town"] = None
    chosen = {("two", "one"): Gaussian("full"), "left out": "drop"}

    def fitted() -> BayesClassifier:
        return BayesClassifier(Columns(chosen)).fit(frame[::2], Y[::2])

    clf, loaded = fitted(), stored(fitted(), tmp_path)
    assert_same_model(clf, loaded, frame)
    assert repr(loaded.density_) == repr(clf.density_)
    more = frame[1::2].assign(town="C"), Y[1::2]
    assert_same_model(clf.partial_fit(*more), loaded.partial_fit(*more), frame)
    assert_same_model(fitted().merge(clf), stored(fitted(), tmp_path).merge(loaded), frame)


@pytest.mark.parametrize("covariance", ["full", "tied", "diag", "spherical"])
def test_gaps_weights_and_soft_labels_keep_their_bits(covariance: str, tmp_path: Path) -> None:
    weights = RNG.random(90)
    degrees = RNG.dirichlet(np.ones(3), 90)
    soft = pd.DataFrame(degrees, columns=["u", "v", "w"])
    for target, sample_weight in ((Y, None), (Y, weights), (soft, None), (degrees, weights)):
        clf = BayesClassifier(Gaussian(covariance)).fit(GAPS, target, sample_weight)
        assert_same_model(clf, stored(clf, tmp_path), GAPS)


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_float32_and_column_ordered_rows_keep_their_bits(covariance: str, tmp_path: Path) -> None:
    for rows in (X.astype(np.float32), np.asfortranarray(X), pd.DataFrame(X, columns=list("rst"))):
        clf = BayesClassifier(Gaussian(covariance)).fit(rows, Y)
        assert_same_model(clf, stored(clf, tmp_path), rows)


LABELS = [
    np.array([3, 1, 2], dtype)
    for dtype in ("int8", "int16", "int32", "uint8", "uint16", "uint32", "float32", "float64")
]
LABELS += [
    np.array([-(2**63), 2**63 - 1, 0]),
    np.array([2**64 - 1, 0, 7], np.uint64),
    np.array([True, False, True]),
    np.array(["b", "", "a longer name ü \U0001f600"]),
    np.array(["x", "y\0", "z"], object),
    np.array(["\ud800", "None", "nan"], object),
    np.array([1, 2**40, -1], object),
    np.array([True, False, True], object),
]


@pytest.mark.parametrize("labels", LABELS, ids=lambda a: f"{a.dtype}-{a.tolist()!r}".encode())
def test_labels_keep_their_dtype(labels: np.ndarray, tmp_path: Path) -> None:
    clf = BayesClassifier(Gaussian("diag")).fit(X, np.repeat(labels, 30))
    loaded = stored(clf, tmp_path)
    assert_same_model(clf, loaded)
    assert loaded.predict(NEW).dtype == labels.dtype


def gains() -> list[Any]:
    """Gains for the classes 0, 1, 2, in every form."""
    rows = {k: {d: float(d == k) - 0.1 * d for d in (0, 1, 2, "wait")[:3]} for k in range(3)}
    table = np.array([[1.0, -0.0, 0.5], [0.0, 2.0, 0.0], [-3.0, 0.0, 1.0]])
    frame = pd.DataFrame(table, index=[0, 1, 2], columns=[0, 1, "other"])
    return [
        table,
        table.tolist(),
        np.column_stack([table, [0.4, 0.4, 0.4]]),
        rows,
        {
            np.int64(k): {np.str_(str(d)): np.float32(v) for d, v in row.items()}
            for k, row in rows.items()
        },
        {k: {"go": k, "stay": 1} for k in range(3)},
        frame,
        pl.DataFrame({"true": [0, 1, 2], "go": [1.0, 0.0, 2.0], "stay": [0.5, 1.5, 0.0]}),
        pl.DataFrame({"true": [0, 1, 2], "go": [1.0, 0.0, 2.0]}).to_arrow(),
        with_action(None, "refer", 0.7),
        with_action(with_action(table, "refer", {0: 0.5, 1: 0.2, 2: 0.1}), -1, [0.3, 0.2, 0.1]),
        with_action(frame, "refer", 0.3),
        with_action(None, "refer", pd.Series([0.5, 0.2, 0.1])),
    ]


@pytest.mark.parametrize("which", range(len(gains())))
def test_gains_of_every_form(which: int, tmp_path: Path) -> None:
    gain = gains()[which]
    clf = BayesClassifier(Gaussian("diag"), gain=gain).fit(X, np.repeat([0, 1, 2], 30))
    loaded = stored(clf, tmp_path)
    assert_same_model(clf, loaded)
    # The setting survives too: what is refitted is the same again.
    again = loaded.fit(X, np.repeat([0, 1, 2], 30))
    assert_same_model(clf, again)


@pytest.mark.parametrize("labels", [[False, True], [0, 1], ["no", "yes"]])
def test_gains_named_by_booleans_and_numbers(labels: list[Any], tmp_path: Path) -> None:
    no, yes = labels
    gain = {no: {no: 1.0, yes: -2.0, "ask": 0.1}, yes: {no: -5.0, yes: 2.0, "ask": 0.1}}
    clf = BayesClassifier(gain=gain).fit(X[:60], np.repeat(labels, 30))
    loaded = stored(clf, tmp_path)
    assert_same_model(clf, loaded)
    assert repr(loaded.gain) == repr(gain)


@pytest.mark.parametrize(
    "priors",
    [
        "empirical",
        "uniform",
        [0.2, 0.3, 0.5],
        (0.2, 0.3, 0.5),
        np.array([0.2, 0.3, 0.5]),
        {"b": 0.5, "c": 0.25, "a": 0.25},
        pd.Series([0.25, 0.5, 0.25], index=["c", "a", "b"]),
        pl.Series([0.25, 0.5, 0.25]),
        Minimax(),
        Minimax(randomised=True, on="gain", tol=1e-6),
        Minimax(box={"a": (0.1, 0.3)}),
        Minimax(box=np.array([[0.0, 0.5], [0.1, 1.0], [0.0, 0.4]])),
        Shifted(NEW),
    ],
    ids=lambda priors: type(priors).__name__ + str(priors)[:20].split("\n")[0],
)
def test_priors_of_every_form(priors: Any, tmp_path: Path) -> None:
    gain = [[1.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 1.0]]
    clf = BayesClassifier(Gaussian("diag"), priors, gain, random_state=3).fit(X, Y)
    loaded = stored(clf, tmp_path)
    assert_same_model(clf, loaded)
    assert repr(loaded.prior_solution_) == repr(clf.prior_solution_)
    if isinstance(priors, Shifted):
        assert same(loaded.priors, clf.priors_)  # the rows themselves are not kept
    else:
        assert_same_model(clf, loaded.fit(X, Y))


def test_random_state_and_settings_survive(tmp_path: Path) -> None:
    clf = BayesClassifier(Gaussian("diag"), random_state=np.int32(7)).fit(X, Y)
    assert stored(clf, tmp_path).random_state == 7
    assert stored(BayesClassifier().fit(X, Y), tmp_path).density is None


@pytest.mark.parametrize("covariance", ["full", "tied", "diag"])
def test_learning_goes_on_as_if_never_stored(covariance: str, tmp_path: Path) -> None:
    def begun() -> BayesClassifier:
        return BayesClassifier(Gaussian(covariance)).fit(GAPS[::2], Y[::2])

    more, unseen = (GAPS[1::2], Y[1::2]), (NEW[:5], np.array(["d"] * 5))
    clf, loaded = begun(), stored(begun(), tmp_path)
    for chunk in (more, unseen):
        clf.partial_fit(*chunk)
        loaded.partial_fit(*chunk)
        assert_same_model(clf, loaded)
    part = BayesClassifier(Gaussian(covariance)).fit(*more)
    expected = begun().merge(part)
    for one, other in ((stored(begun(), tmp_path), part), (begun(), stored(part, tmp_path))):
        assert_same_model(expected, one.merge(other))


def test_classes_that_were_stated_stay_closed(tmp_path: Path) -> None:
    clf = BayesClassifier().partial_fit(X, Y, classes=["a", "b", "c", "d"])
    loaded = stored(clf, tmp_path)
    assert_same_model(clf, loaded)
    with pytest.raises(ValueError, match="not in classes"):
        loaded.partial_fit(X[:2], ["e", "e"])


def test_statistics_that_were_added_are_settled_before_saving(tmp_path: Path) -> None:
    chunks = BayesClassifier().partial_fit(X[::2], Y[::2]).partial_fit(X[1::2], Y[1::2])
    loaded = stored(chunks, tmp_path)
    assert_same_model(chunks, loaded)
    halves = [BayesClassifier().fit(X[i::2], Y[i::2]) for i in range(2)]
    assert_same_model(halves[0].merge(halves[1]), stored(halves[0].merge(halves[1]), tmp_path))


def test_rules_change_after_loading(tmp_path: Path) -> None:
    clf = BayesClassifier(priors=Minimax()).fit(X, Y)
    loaded = stored(clf, tmp_path)
    gain = np.eye(3) * [1.0, 2.0, 3.0]
    assert_same_model(clf.with_rule(gain=gain), loaded.with_rule(gain=gain))
    anew = {"priors": Minimax(randomised=True), "X": X, "y": Y}
    assert_same_model(clf.with_rule(**anew), stored(loaded.with_rule(**anew), tmp_path))
    assert loaded.score(X, Y) == clf.score(X, Y)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_feature_names_are_kept_and_checked(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=["one", "two", "ü"])
    clf = BayesClassifier().fit(frame, Y)
    loaded = stored(clf, tmp_path)
    assert_same_model(clf, loaded, frame)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[["two", "one", "ü"]])
    with pytest.raises(ValueError, match="features"):
        loaded.predict(X[:, :2])


@pytest.mark.parametrize(
    ("values", "itemsize"),
    [
        (np.arange(70.0), 1),
        (np.arange(70.0) * 900, 2),
        (np.arange(70.0).reshape(2, 35) + 2**31, 4),
        (np.arange(70.0) + 2.0**32, 8),
        (np.append(np.arange(2000.0) % 200, [1e9, 0.0, 2.0**52]).reshape(-1, 2003), 1),
        (np.append(np.arange(2000.0), 2.0**40), 2),
        (np.arange(70.0) - 1, 8),
        (np.arange(70.0) / 2, 8),
        (np.append(np.arange(70.0), -0.0), 8),
        (np.append(np.arange(70.0), np.nan), 8),
        (np.arange(9.0), 8),
    ],
)
def test_whole_numbers_take_little_room_and_keep_their_bits(
    values: np.ndarray, itemsize: int
) -> None:
    encoder = Encoder(KNOWN)
    content = encoder.encode(values, "values")
    assert encoder.arrays[0].itemsize == itemsize
    n_arrays = len(encoder.arrays)
    found = Decoder(KNOWN, encoder.arrays.__getitem__, n_arrays).decode(content)
    assert found.dtype == values.dtype
    assert found.tobytes() == values.tobytes()


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one", "two.bayes", "three.zip")]
    save(BayesClassifier(Gaussian("tied")).fit(GAPS, Y), paths[0])
    save(BayesClassifier(Gaussian("tied")).fit(GAPS, Y), str(paths[1]))
    save(load(paths[0]), paths[2])
    contents = {path.read_bytes() for path in paths}
    assert len(contents) == 1
    assert sorted(os.listdir(tmp_path)) == ["one", "three.zip", "two.bayes"]


def test_other_programs_can_read_the_file(tmp_path: Path) -> None:
    clf = BayesClassifier(Gaussian("diag")).fit(X, Y)
    save(clf, tmp_path / "model.bayes")
    with zipfile.ZipFile(tmp_path / "model.bayes") as archive:
        assert archive.testzip() is None
        arrays = [np.load(archive.open(n)) for n in archive.namelist() if n.endswith(".npy")]
    assert any(same(a, clf.stats_.mean) for a in arrays)
    assert any(same(a, clf.classes_) for a in arrays)


def test_files_with_64_bit_sizes_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clf = BayesClassifier().fit(X, Y)
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 300)  # as if the file were beyond 2 GiB
    save(clf, tmp_path / "large.bayes")
    monkeypatch.undo()
    save(clf, tmp_path / "model.bayes")
    assert (tmp_path / "large.bayes").stat().st_size > (tmp_path / "model.bayes").stat().st_size
    assert_same_model(clf, load(tmp_path / "large.bayes"))


# ---------------------------------------------------------------------- failures


class Full(OSError):
    """No space left on device, say."""


@pytest.mark.parametrize("failing", ["write", "fsync", "replace", "array"])
def test_a_failed_save_leaves_the_old_file(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise Full("no space left")

    path = tmp_path / "model.bayes"
    save(BayesClassifier().fit(X, Y), path)
    before = path.read_bytes()
    targets = {
        "write": "bayesrule.store.write_archive",
        "fsync": "os.fsync",
        "replace": "os.replace",
        "array": "bayesrule.archive._npy_header",
    }
    monkeypatch.setattr(targets[failing], fail)
    for target in (path, tmp_path / "new.bayes"):
        with pytest.raises(Full):
            save(BayesClassifier(Gaussian("diag")).fit(X, Y), target)
    assert os.listdir(tmp_path) == ["model.bayes"]
    assert path.read_bytes() == before


def test_a_save_keeps_the_file_mode_and_follows_links(tmp_path: Path) -> None:
    path, link = tmp_path / "model.bayes", tmp_path / "link"
    path.touch(mode=0o600)
    link.symlink_to(path)
    save(BayesClassifier().fit(X, Y), link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600
    assert_same_model(load(path), load(link))


@functools.cache
def refused() -> dict[str, tuple[Any, type[Exception], str]]:
    """Models that no file can hold, and what is said of them."""
    plain = BayesClassifier().fit(X, Y)
    dates = np.repeat(np.array(["2020-01-01", "2021-01-01", "2022-01-01"], "M8[D]"), 30)
    function = BayesClassifier().fit(X, Y).set_params(gain=max)
    texts = [f"a text {i % 3}" for i in range(90)]
    vectorised = BayesClassifier(Words(vectorizer=CountVectorizer())).fit(texts, Y)
    foreign = BayesClassifier(FromClassifier(LogisticRegression())).fit(X, Y)
    return {
        "unfitted": (BayesClassifier(), NotFittedError, "not fitted"),
        "foreign": (foreign, TypeError, "skops.*joblib"),
        "a vectorizer": (vectorised, TypeError, "vectorizer.*skops.*joblib"),
        "pipeline": (make_pipeline(StandardScaler(), plain), TypeError, "skops.*joblib"),
        "a class": (BayesClassifier, TypeError, "type"),
        "function": (function, TypeError, r"the classifier\.gain is of type builtin_function"),
        "dates": (BayesClassifier().fit(X, dates), TypeError, r"datetime64.*astype\(str\)"),
        "bytes": (BayesClassifier().fit(X, Y.astype("S")), TypeError, r"astype\(str\)"),
        "generator": (
            BayesClassifier().fit(X, Y).set_params(random_state=np.random.RandomState(0)),
            TypeError,
            "random_state",
        ),
        "huge": (BayesClassifier(random_state=2**70).fit(X, Y), ValueError, "too large"),
        "nonsense set later": (plain.with_rule().set_params(priors="hope"), ValueError, "hope"),
        "gain set later": (plain.with_rule().set_params(gain=[[1]]), ValueError, "shape"),
    }


@pytest.mark.parametrize("which", refused())
def test_what_no_file_can_hold_is_refused_before_writing(which: str, tmp_path: Path) -> None:
    clf, error, message = refused()[which]
    with pytest.raises(error, match=message):
        save(clf, tmp_path / "model.bayes")
    assert os.listdir(tmp_path) == []


def test_paths_that_cannot_be(tmp_path: Path) -> None:
    clf = BayesClassifier().fit(X, Y)
    for path in (tmp_path, tmp_path / "absent" / "model.bayes"):
        with pytest.raises((IsADirectoryError, FileNotFoundError)):
            save(clf, path)
        with pytest.raises((IsADirectoryError, FileNotFoundError)):
            load(path)
    with pytest.raises(TypeError):
        save(clf, 3)  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == []


def test_loading_warns_of_no_more_than_fitting_did(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stored(BayesClassifier(priors=Minimax()).fit(X + 1e6, Y), tmp_path)


# ---------------------------------------------------------------------- values

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.text(),
    st.floats(width=32).map(np.float32),
    st.integers(-128, 127).map(np.int8),
    st.integers(0, 2**64 - 1).map(np.uint64),
    st.booleans().map(np.bool_),
)
ARRAYS = st.one_of(
    st.lists(st.floats(width=16), max_size=4).map(lambda v: np.array(v, np.float16)),
    st.lists(st.text(st.characters(exclude_characters="\0")), min_size=1).map(np.array),
    st.lists(st.text(), max_size=4).map(lambda v: np.array(v, object)),
    st.lists(SCALARS, max_size=4).map(lambda v: np.array([*v, None], object)[:-1]),
    st.lists(st.floats(), min_size=6, max_size=6).map(lambda v: np.array(v).reshape(2, 3).T),
    st.lists(st.booleans(), min_size=4, max_size=4).map(lambda v: np.array(v).reshape(2, 1, 2)),
    st.integers().map(lambda v: np.array(v % 7, ">i4")),
)
VALUES = st.recursive(
    st.one_of(SCALARS, ARRAYS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(SCALARS.filter(lambda v: v == v), inner, max_size=3),
    ),
    max_leaves=8,
)


@given(value=VALUES)
@settings(max_examples=100)
def test_every_plain_value_comes_back(value: Any) -> None:
    encoder = Encoder(KNOWN)
    content = encoder.encode(value, "value")
    decoder = Decoder(KNOWN, encoder.arrays.__getitem__, len(encoder.arrays))
    assert_same_value(decoder.decode(content), value)
    assert decoder.unused == []


def assert_same_value(found: Any, value: Any) -> None:
    """Equal in type, order, dtype, bits and order of memory."""
    assert type(found) is type(value)
    if isinstance(value, np.ndarray):
        assert (found.dtype, found.shape) == (value.dtype, value.shape)
        if value.dtype.kind == "O":
            assert_same_value(found.tolist(), value.tolist())
        else:
            assert found.tobytes() == value.tobytes()
            assert found.flags.c_contiguous == value.flags.c_contiguous
    elif isinstance(value, dict):
        assert_same_value(list(found.items()), list(value.items()))
    elif isinstance(value, (list, tuple)):
        assert len(found) == len(value)
        for a, b in zip(found, value, strict=True):
            assert_same_value(a, b)
    else:
        assert repr(found) == repr(value)
