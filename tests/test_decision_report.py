"""What a decision report holds: never too much, nothing that was not asked for, nothing alive."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hostile import NAMES
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesrule import (
    BayesClassifier,
    FromClassifier,
    Gaussian,
    Minimax,
    Multinomial,
    evaluate,
    report,
    with_action,
)

X, Y = load_iris(return_X_y=True)


class Page(HTMLParser):
    """Elements and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.data, self.script = [], "", None
        self.words = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.script = dict(attrs).get("id") if tag == "script" else None

    def handle_endtag(self, tag):
        self.script = None

    def handle_data(self, data):
        if self.script == "data":
            self.data += data
        else:
            self.words.append(data)


def held(page):
    return json.loads(Page(page.html).data)


def floats(text, dtype="<f8"):
    return np.frombuffer(base64.b64decode(text), dtype)


def test_the_page_holds_log_densities_to_the_last_bit_and_no_features():
    clf = BayesClassifier(gain=with_action(None, "refer", 0.7)).fit(X[::2], Y[::2])
    data = held(report(clf, X[1::2], Y[1::2]))
    values = floats(data["logDensity"]).reshape(-1, 3)
    assert np.array_equal(values, clf.log_density(X[1::2]))
    assert np.array_equal(floats(data["labels"], "u1"), Y[1::2])
    assert data["features"] is None
    assert data["gain"] == clf.gain_.tolist()
    assert data["enabled"] == [True] * 4
    shown = held(report(clf, X[1::2], Y[1::2], include_features=True))["features"]
    assert shown["values"][0][:2] == [f"{v:.6g}" for v in X[1::2][:2, 0]]


def test_a_rule_without_extra_actions_is_offered_one_switched_off():
    clf = BayesClassifier().fit(X, Y)
    data = held(report(clf, X, Y, offer="ask"))
    assert data["decisions"] == ["0", "1", "2", "ask"]
    assert data["enabled"] == [True, True, True, False]
    assert [row[3] for row in data["gain"]] == [0.8, 0.8, 0.8]
    assert held(report(clf, X, Y, offer=None))["decisions"] == ["0", "1", "2"]


def test_no_page_exceeds_a_megabyte_whatever_it_is_made_of():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 20, 12_000)
    rows = rng.normal(size=(len(y), 12)) + rng.normal(size=(20, 12))[y]
    clf = BayesClassifier(Gaussian("diag")).fit(rows, y)
    page = report(clf, rows, y, sample=12_000, include_features=True)
    assert 600_000 < len(page.html.encode()) <= 1_000_000
    counts = np.bincount(y[page.rows])
    assert counts.max() - counts.min() <= 1
    names = np.array([f"{k}" + "🦠" * 490 for k in range(20)])
    page = report(BayesClassifier().fit(rows[:4000, :3], names[y[:4000]]), rows[:4000, :3],
                  names[y[:4000]])  # fmt: skip
    assert len(page.html.encode()) <= 1_000_000


def test_a_sample_keeps_rare_classes_and_its_figures_are_those_of_its_rows():
    y = np.repeat([0, 1], [5000, 40])
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(len(y), 2)) + y[:, None]
    clf = BayesClassifier(priors=[0.9, 0.1]).fit(rows, y)
    page = report(clf, rows, y, sample=1000)
    assert len(page.rows) == 1000
    assert (y[page.rows] == 1).sum() == 40
    assert np.array_equal(page.rows, report(clf, rows, y, sample=1000).rows)
    figures = evaluate(clf, rows[page.rows], y[page.rows])
    text = " ".join(Page(page.html).words)
    told = re.search(r"earns (\d+\.\d+) per case", text)
    assert told
    # As many digits as the interval allows.
    places = len(told[1].partition(".")[2])
    assert float(told[1]) == round(figures.expected_gain, places)
    assert places >= 2


def test_soft_labels_and_weights_become_weighted_rows():
    clf = BayesClassifier().fit(X, Y)
    soft = np.full((150, 3), 0.05)
    soft[np.arange(150), Y] = 0.9
    data = held(report(clf, X, soft, np.arange(150)))
    assert data["rows"] == 3 * 149  # a row of weight zero is absent
    assert floats(data["weights"]).sum() == pytest.approx(np.arange(150).sum())


def test_any_rule_has_a_page():
    texts = np.random.default_rng(0).poisson(2.0, (60, 5)) * (1 + np.arange(60)[:, None] % 2)
    report(BayesClassifier(Multinomial()).fit(texts, np.arange(60) % 2), texts, np.arange(60) % 2)
    model = BayesClassifier(FromClassifier(LogisticRegression(max_iter=500)))
    pipe = make_pipeline(StandardScaler(), model).fit(X, Y)
    assert held(report(pipe, X, Y))["terms"] is None
    random = BayesClassifier(priors=Minimax(randomised=True)).fit(X, Y)
    assert "at random" in held(report(random, X, Y))["notes"][0]


def test_what_no_page_can_show_is_refused():
    with pytest.raises(ValueError, match="2 to 20 classes; this has 21"):
        report(BayesClassifier(Gaussian("tied")).fit(np.arange(42.0)[:, None], np.arange(42) % 21),
               [[0.0]], [0])  # fmt: skip
    with pytest.raises(TypeError, match="LogisticRegression"):
        report(LogisticRegression(max_iter=500).fit(X, Y), X, Y)
    clf = BayesClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="class 7, which is not among"):
        report(clf, X, np.where(Y == 2, 7, Y))
    with pytest.raises(ValueError, match="sample=0"):
        report(clf, X, Y, sample=0)
    with pytest.raises(ValueError, match="confidence=95"):
        report(clf, X, Y, confidence=95)
    with pytest.raises(ValueError, match="600 characters"):
        report(BayesClassifier().fit(X, np.where(Y == 1, "a", "b" * 600)), X, np.full(150, "a"))


def test_hostile_names_stay_text(tmp_path):
    names = np.array(NAMES[:15])
    rng = np.random.default_rng(0)
    k = rng.integers(0, 15, 300)
    rows = rng.normal(size=(300, 2))
    gain = {n: {m: float(m == n) for m in NAMES[:30]} for n in names.tolist()}
    page = report(BayesClassifier(gain=gain).fit(rows, names[k]), rows, names[k], title=NAMES[2])
    page.save(tmp_path / "page.html")
    parsed = Page((tmp_path / "page.html").read_bytes().decode())
    tags = {tag for tag, _ in parsed.elements}
    assert not tags & {"iframe", "img", "b", "link", "object", "form"}
    assert [tag for tag, _ in parsed.elements].count("script") == 2
    assert not any(name.startswith("on") for _, attrs in parsed.elements for name in attrs)
    assert json.loads(parsed.data)["classes"] == sorted(names.tolist())
    assert "<" not in parsed.data
    policy = next(a["content"] for tag, a in parsed.elements if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert not re.search(r"unsafe|https?:|\*", policy)
    assert "srcdoc" in page._repr_html_()
