"""The page of a decision report in a browser: its numbers, its controls, and what it keeps out."""

from __future__ import annotations

import json
import re
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from browsers import open_browser, settled
from hostile import NAMES
from scipy.special import ndtri
from sklearn.datasets import load_breast_cancer

from bayesrule import BayesClassifier, Gaussian, Minimax, evaluate, recipes, report, with_action
from bayesrule.intervals import _quantile

CANCER = load_breast_cancer(as_frame=True)
X = CANCER.data.iloc[:, :8]
Y = np.where(CANCER.target == 0, "malignant", "benign")
GAIN = with_action(
    {"malignant": {"malignant": 20, "benign": -100}, "benign": {"malignant": -20, "benign": 0}},
    "refer",
    {"malignant": 15, "benign": -3},
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = open_browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.quit()


@pytest.fixture(scope="module")
def cancer(tmp_path_factory):
    """A page of two classes with a third decision, and what it was made of."""
    clf = BayesClassifier(Gaussian("diag"), gain=GAIN, priors=[0.9, 0.1]).fit(X[::2], Y[::2])
    path = tmp_path_factory.mktemp("page") / "cancer.html"
    report(clf, X[1::2], Y[1::2], path=path, title="Screening", sample=200)
    return clf, path


@pytest.fixture
def page(browser, cancer):
    return visit(browser, cancer[1])


def visit(browser, path, fragment=""):
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get(f"file://{path}{fragment}")
    settled(browser)
    return browser


def state_of(browser):
    return browser.execute_script("return decisionReport.app.state")


def text_of(browser, name):
    settled(browser)
    return browser.execute_script("return document.getElementById(arguments[0]).textContent", name)


def no_complaints(browser):
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def random_states(data, rng, n):
    """Priors, gains, prices and switches, also at the edges: equal gains, a class without prior."""
    shape = len(data["classes"]), len(data["decisions"])
    extra = np.array(data["decided"]) < 0
    for i in range(n):
        priors = rng.dirichlet(np.full(shape[0], (0.2, 1.0, 5.0)[i % 3]))
        if i % 7 == 0:
            priors[rng.integers(shape[0])] = 0.0
            priors /= priors.sum()
        gain = rng.normal(0, 10, shape) if i % 2 else rng.integers(-5, 6, shape).astype(float)
        enabled = ~extra | (rng.random(shape[1]) < 0.5)
        price = np.where(extra, rng.normal(size=shape[1]), 0.0)
        yield {
            "priors": priors.tolist(),
            "gain": gain.tolist(),
            "enabled": enabled.tolist(),
            "price": price.tolist(),
        }


def rule_of(clf, names, state, **with_rows):
    """The rule of a state, in Python."""
    gain = {
        label: {
            name: state["gain"][k][d] - state["price"][d]
            for d, name in enumerate(names)
            if state["enabled"][d]
        }
        for k, label in enumerate(clf.classes_.tolist())
    }
    return clf.with_rule(priors=with_rows.pop("priors", state["priors"]), gain=gain, **with_rows)


def agree(told, figures):
    """All figures of the browser against those of ``evaluate``."""
    pairs = {
        "expectedGain": figures.expected_gain,
        "interval": figures.interval,
        "accuracy": figures.accuracy,
        "confusion": figures.confusion,
        "counts": figures.counts,
        "shares": list(figures.shares.values()),
        "classGains": figures.class_gains,
        "classRisks": figures.class_risks,
        "brier": figures.brier,
        "logLoss": figures.log_loss,
    }
    for name, expected in pairs.items():
        np.testing.assert_allclose(
            np.array(told[name], float), expected, rtol=1e-9, atol=1e-9, err_msg=name
        )
    for table, expected in zip(told["calibration"], figures.calibration.values(), strict=True):
        for part in ("predicted", "observed", "weight"):
            np.testing.assert_allclose(
                [bin_[part] for bin_ in table], getattr(expected, part), rtol=1e-9, atol=1e-9
            )


EVALUATE = "return arguments[0].map((state) => decisionReport.evaluate(state))"
MINIMAX = "return arguments[0].map((state) => decisionReport.minimax(state))"


@pytest.mark.parametrize("n", [75, pytest.param(500, marks=pytest.mark.slow)])
def test_the_browser_finds_the_numbers_of_python_in_any_state(browser, cancer, tmp_path, n):
    rng = np.random.default_rng(0)
    k = rng.integers(0, 4, 240)
    rows = rng.normal(size=(240, 3)) + rng.normal(size=(4, 3))[k]
    weights = rng.integers(1, 4, 240).astype(float)
    four = BayesClassifier(gain=with_action(None, "ask", 0.7)).fit(rows[:120], k[:120])
    report(four, rows[120:], k[120:], weights[120:], path=tmp_path / "four.html")
    clf, path = cancer
    part = report(clf, X[1::2], Y[1::2], sample=200).rows
    for model, place, seen in (
        (clf, path, (X[1::2].iloc[part], Y[1::2][part], None)),
        (four, tmp_path / "four.html", (rows[120:], k[120:], weights[120:])),
    ):
        visit(browser, place)
        data = browser.execute_script("return decisionReport.data")
        states = list(random_states(data, rng, n))
        names = model.decisions_.tolist()
        for state, told in zip(states, browser.execute_script(EVALUATE, states), strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                agree(told, evaluate(rule_of(model, names, state), *seen))
        solved = browser.execute_script(MINIMAX, states[:20])
        for state, told in zip(states, solved, strict=False):
            if seen[2] is None:
                with_rows = rule_of(model, names, state, priors=Minimax(), X=seen[0])
                assert told["value"] == pytest.approx(
                    with_rows.prior_solution_.value, rel=1e-8, abs=1e-8
                )
    no_complaints(browser)


def test_curves_show_the_gains_of_the_states_they_pass(page):
    """Whatever is worked out in between: figures and curves share what they keep."""
    data = page.execute_script("return decisionReport.data")
    states = list(random_states(data, np.random.default_rng(5), 40))
    call = """const { cases, ruleOf, evaluate } = decisionReport;
        const whole = arguments[0].map((state) => evaluate(state).expectedGain);
        return arguments[0].map((state, i, all) => [
            cases.gainOf(ruleOf(state)), evaluate(all[(i * 7) % all.length]).expectedGain,
            cases.gainOf(ruleOf(state)), whole[i], whole[(i * 7) % all.length]])"""
    once, other, again, expected, of_other = np.array(page.execute_script(call, states)).T
    np.testing.assert_allclose(once, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(again, once)
    np.testing.assert_array_equal(other, of_other)


def test_limits_agree_from_one_row_to_a_million(page):
    call = """return arguments[0].map(([gains, rows, low, high, z]) => [
        decisionReport.meanQuantile(0.025, -z, gains, rows, low),
        decisionReport.meanQuantile(0.975, z, gains, rows, high)])"""
    rng = np.random.default_rng(3)
    asked, expected = [], []
    for i in range(300):
        gains = rng.normal(size=3) * 10.0 ** rng.integers(-2, 3)
        counts = rng.integers(0, 10 ** (1 + i % 6), 3).astype(float)
        counts[0] += 1
        low, high = gains.min() - 1.0, gains.max() + 1.0
        asked.append([gains.tolist(), counts.tolist(), low, high, float(ndtri(0.975))])
        expected.append(
            [_quantile(0.025, gains, counts, low), _quantile(0.975, gains, counts, high)]
        )
    found = np.array(page.execute_script(call, asked))
    spans = np.array([[high - low] for _, _, low, high, _ in asked])
    assert np.abs((found - np.array(expected)) / spans).max() < 1e-11


def test_it_opens_at_the_fitted_rule_and_asks_nobody_for_anything(browser, cancer):
    clf, path = cancer
    visit(browser, path)
    rows = report(clf, X[1::2], Y[1::2], sample=200).rows
    figures = evaluate(clf, X[1::2].iloc[rows], Y[1::2][rows])
    told = browser.execute_script("return decisionReport.app.figures.expectedGain")
    assert told == pytest.approx(figures.expected_gain, rel=1e-12)
    sentence = text_of(browser, "sentence")
    assert "always deciding" in sentence
    assert "95 % interval" in sentence
    asked = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = {
        message["params"]["request"]["url"]
        for message in asked
        if message["method"] == "Network.requestWillBeSent"
    }
    assert {url.partition("#")[0] for url in urls} <= {f"file://{path}", "about:blank"}
    no_complaints(browser)
    assert browser.execute_script("return location.hash") == ""


def test_every_control_moves_the_figures_and_reset_brings_them_back(page):
    from selenium.webdriver.common.by import By

    before = text_of(page, "sentence"), text_of(page, "confusion")
    buttons = page.find_elements(By.CSS_SELECTOR, ".controls button.value")
    assert len(buttons) == 2 * 3 + 2 + 1
    for button in buttons:
        if button.get_attribute("aria-pressed") == "false":
            button.click()
            settled(page)
        key = button.get_attribute("data-key")
        if button.get_attribute("aria-pressed") == "true":
            assert len(page.find_elements(By.CSS_SELECTOR, ".slider")) <= 5
        value = page.execute_script(
            """const { input } = decisionReport.app.controls.sliders.get(arguments[0]);
            input.value = Number(input.min) + 0.9 * (input.max - input.min);
            input.dispatchEvent(new Event('input'));
            return Number(input.value)""",
            key,
        )
        settled(page)
        kind, i, *j = key.split(".")
        state = state_of(page)
        held = {"p": "priors", "a": "price"}.get(kind, "gain")
        now = state[held][int(i)] if not j else state[held][int(i)][int(j[0])]
        assert now == pytest.approx(value)
        assert sum(state["priors"]) == pytest.approx(1.0, abs=1e-12)
        told = page.execute_script("return decisionReport.evaluate(decisionReport.app.state)")
        shown = page.execute_script("return decisionReport.app.figures.expectedGain")
        assert told["expectedGain"] == shown
        points = page.execute_script(
            "return decisionReport.app.controls.sliders.get(arguments[0])"
            ".line.getAttribute('points')",
            key,
        )
        assert len(points.split()) == 33
    assert text_of(page, "sentence") != before[0]
    box = page.find_element(By.CSS_SELECTOR, ".slider input[type=number]")
    box.clear()
    box.send_keys("-7.5")
    settled(page)
    assert -7.5 in np.ravel(state_of(page)["gain"]) or -7.5 in state_of(page)["price"]
    switch = page.find_element(By.CSS_SELECTOR, ".controls input[type=checkbox]")
    switch.click()
    settled(page)
    assert state_of(page)["enabled"] == [True, True, False]
    assert "refer" not in text_of(page, "thousand")
    address = page.execute_script("return location.href")
    state = state_of(page)
    visit(page, address.partition("://")[2])
    assert state_of(page) == state
    for name in ("Equal costs", "Minimax priors", "Fitted rule"):
        page.find_element(By.XPATH, f"//button[text()='{name}']").click()
        settled(page)
        if name == "Equal costs":
            assert state_of(page)["gain"][0][:2] in ([1, 0], [0, 1])
        if name == "Minimax priors":
            solved = page.execute_script("return decisionReport.minimax(decisionReport.app.state)")
            assert state_of(page)["priors"] == solved["priors"]
    page.find_element(By.XPATH, "//button[text()='Reset']").click()
    assert (text_of(page, "sentence"), text_of(page, "confusion")) == before
    assert page.execute_script("return location.hash") == ""
    no_complaints(page)


def test_nonsense_in_the_address_is_ignored(browser, cancer):
    fitted = state_of(visit(browser, cancer[1]))
    for fragment in ("#p=1_2_3&g=9.9:1_0.0:x&on=000&a=1&open=q.1_p.77&case=-4&map=1e9",
                     "#__proto__=1&p=NaN_0", "#%00%ff&p=", "#p=0_0", "#" + "x" * 5000):  # fmt: skip
        state = state_of(visit(browser, cancer[1], fragment))
        assert {**state, "open": fitted["open"]} == fitted
    assert state_of(visit(browser, cancer[1], "#p=1_3"))["priors"] == [0.25, 0.75]
    no_complaints(browser)


def test_one_case_is_looked_up_and_its_evidence_adds_up(page, cancer):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    clf, _ = cancer
    place = page.execute_script("return decisionReport.cases.places[7]")
    page.find_element(By.ID, "case").send_keys(f"{int(place)}", Keys.ENTER)
    told = text_of(page, "oneCase")
    row = X[1::2].iloc[[int(place)]]
    assert f"Decided {clf.predict(row)[0]}" in told.replace("\u2060", "")
    evidence = page.execute_script("return decisionReport.evidenceOf(7, 0, 1, [0.9, 0.1])")
    odds = np.diff(clf.predict_log_proba(row)[0])[0]
    assert sum(e["weight"] for e in evidence) == pytest.approx(-odds, rel=1e-5)
    terms = dict(zip(clf.contribution_names_, clf.contributions(row)[0].T, strict=True))
    for e in evidence[:6]:
        assert e["weight"] == pytest.approx(terms[e["name"]][0] - terms[e["name"]][1], rel=1e-5)
    page.find_element(By.XPATH, "//button[text()='A dear mistake']").click()
    assert "would have gained" in text_of(page, "oneCase")
    page.find_element(By.ID, "case").send_keys("999999", Keys.ENTER)
    no_complaints(page)


def test_what_is_copied_makes_the_rule_that_is_shown(page, cancer):
    clf, _ = cancer
    texts = page.execute_script(
        "const { app, asJSON, asPython } = decisionReport;"
        "return [asJSON(app.state), asPython(app.state)]"
    )
    given = json.loads(texts[0])
    copied = clf.with_rule(gain=given["gain"], priors=given["priors"])
    names = {"clf": clf}
    exec(texts[1], names)
    for rule in (copied, names["clf"]):
        assert np.array_equal(rule.gain_, clf.gain_)
        assert np.array_equal(rule.priors_, clf.priors_)


def test_a_keyboard_is_enough(page):
    from selenium.webdriver.common.keys import Keys

    body = page.switch_to.active_element
    reached = []
    for _ in range(60):
        body.send_keys(Keys.TAB)
        body = page.switch_to.active_element
        reached.append(body.get_attribute("aria-label") or body.text or body.tag_name)
        if body.get_attribute("type") == "range":
            before = text_of(page, "sentence")
            body.send_keys(Keys.END)
            assert text_of(page, "sentence") != before
            body.send_keys(Keys.HOME)
        if body.get_attribute("type") == "checkbox":
            body.send_keys(Keys.SPACE)
            settled(page)
            assert state_of(page)["enabled"][2] is False
        if (body.get_attribute("aria-label") or "").startswith(
            "Gain of deciding malignant when truly malignant"
        ):
            body.send_keys(Keys.ENTER)
            settled(page)
            body = page.switch_to.active_element
            assert body.get_attribute("type") == "range"
            break
    assert "Reset" in reached
    assert len(set(reached)) > 12


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_those_who_cannot_see_or_point_are_served(page, scheme):
    package = pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    program = next(iter(package.__path__)) + "/axe.min.js"
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    page.execute_script("decisionReport.app.change({...decisionReport.app.state, row: 3})")
    settled(page)
    with open(program, encoding="utf-8") as file:
        # As a debugger does it: the page's own policy lets no foreign program in.
        page.execute_cdp_cmd("Runtime.evaluate", {"expression": file.read()})
    found = page.execute_async_script("axe.run().then(arguments[0])")
    assert [(v["id"], v["nodes"][0]["html"]) for v in found["violations"]] == []
    assert len(found["passes"]) > 20


def test_hostile_names_labels_and_cells_are_shown_as_they_are_written(browser, tmp_path):
    rng = np.random.default_rng(0)
    k = np.arange(240) % 12
    names, actions, columns = NAMES[:12], NAMES[12:15], NAMES[30:38]
    cells = np.array(NAMES[100:300]).reshape(8, 25)
    rows = pd.DataFrame(
        {c: texts[np.arange(240) % 25] for c, texts in zip(columns, cells, strict=True)}
    )
    rows["x"] = rng.normal(size=240) + k
    gain = {n: {m: float(m == n) for m in names} for n in names}
    for action in actions:
        gain = with_action(gain, action, 0.6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there are few rows of each
        clf = recipes.naive_bayes(gain=gain).fit(rows, np.array(names)[k])
        report(clf, rows, np.array(names)[k], path=tmp_path / "page.html", title=NAMES[2],
               include_features=True)  # fmt: skip
    visit(browser, tmp_path / "page.html")
    shown = set()
    for row in range(25):
        # Straight into the view, without the curves and maps that a reader would wait for.
        shown |= set(browser.execute_script(
            """const { app, ruleOf, caseFigures } = decisionReport;
            const state = { ...app.state, row: arguments[0] };
            app.views.oneCase.replaceChildren(...caseFigures(state, ruleOf(state), app.figures));
            return [...document.querySelectorAll('bdi')].map((e) => e.textContent)""", row,
        ))  # fmt: skip
    assert {*names, *actions, *columns, *NAMES[100:300]} <= shown
    assert browser.execute_script("return window.hacked") is None
    tags = browser.execute_script(
        "return [...new Set([...document.querySelectorAll('*')].map((e) => e.localName))]"
    )
    assert not set(tags) & {"iframe", "img", "link", "object", "embed", "form"}
    assert browser.execute_script("return document.scripts.length") == 2
    no_complaints(browser)


def test_without_javascript_the_figures_are_there(browser, cancer):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(f"file://{cancer[1]}")
        from selenium.webdriver.common.by import By

        text = browser.find_element(By.TAG_NAME, "main").text
        for part in ("Decide benign while the chance of malignant is below", "refer up to",
                     "more than deciding for the most probable class", "Of 1,000 cases like these",
                     "Share of each decision", "mean regret"):  # fmt: skip
            assert part in text
        static = browser.find_element(By.TAG_NAME, "h1").text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    # Both tell the same figures in their first sentences.
    shown = text_of(visit(browser, cancer[1]), "sentence")
    money = r"[−-]?\d+\.\d+(?! ?%)"
    assert re.findall(money, static.partition("It earns")[2]) == re.findall(
        money, shown.partition("It earns")[2]
    )


def test_it_fits_phones_and_paper(page):
    import base64

    for width in (320, 360, 768, 1440):
        page.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        time.sleep(0.05)
        assert page.execute_script("return document.documentElement.scrollWidth") <= width
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    paper = page.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    pages = base64.b64decode(paper["data"]).count(b"/Type /Page\n")
    assert 1 <= pages <= 5
