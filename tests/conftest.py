"""Rules for every test: with MAJORDOMUS_NO_SKIPS=1, a skipped or expected failure counts as a failure.

What is left out because it needs root is told as skipped all the same where somebody else runs the tests; CI runs as root.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from hypothesis import settings

pytest_plugins = ["suite", "sandbox", "repo_fixture"]

NEEDS_ROOT = "Skipped: needs root"
"""The beginning of the reason for skipping a test that only root can run."""

NO_SKIPS = os.environ.get("MAJORDOMUS_NO_SKIPS") == "1"

# No time is asserted, and a run that failed can be repeated as it was.
settings.register_profile("majordomus", deadline=None, derandomize=True)
settings.load_profile("majordomus")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that was skipped or was expected to fail, since it has not shown that it passes."""
    report = yield
    refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail a file that was skipped as a whole, since none of its tests ran."""
    report = yield
    refuse_skip(report)
    return report


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure with the same reason, unless skipping is allowed."""
    if NO_SKIPS and report.skipped:
        reason = getattr(report, "wasxfail", None) or report.longreprtext
        if os.geteuid() != 0 and NEEDS_ROOT in reason:
            return
        report.outcome = "failed"
        report.longrepr = f"skipped, where every test must run: {reason}"
        report.__dict__.pop("wasxfail", None)
