"""A headless browser for tests of pages; tests that need one are skipped where there is none."""

from __future__ import annotations

import shutil
import time

import pytest

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
    "--window-size=1200,900",
)


def open_browser(folder):
    """A browser whose profile is in a folder, or a skipped test."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    program = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("no Chromium with its chromedriver is installed, which these tests drive")
    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.binary_location = program
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    browser.set_script_timeout(120)
    return browser


def settled(browser):
    """Wait until the page of a report shows all of its figures."""
    until = time.monotonic() + 60
    while not browser.execute_script(
        "const app = globalThis.decisionReport?.app; return !!app && app.settled && !app.waiting"
    ):
        assert time.monotonic() < until, "the page does not come to rest"
        time.sleep(0.02)
