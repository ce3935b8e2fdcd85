"""What tests of the pure half share: R, the oracle for variances."""

from __future__ import annotations

import shutil
import subprocess

import pytest


@pytest.fixture(scope="session")
def rscript() -> str:
    """Return the interpreter, if it has the package."""
    found = shutil.which("Rscript")
    if found is None or subprocess.run([found, "-e", "library(survey)"], capture_output=True, check=False).returncode:
        pytest.skip("needs R with its package survey (Debian: r-base-core, r-cran-survey)")
    return found
