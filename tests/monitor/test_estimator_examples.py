"""The examples in the estimators' docstrings give what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import monitor.estimators

MODULES = sorted(module.name for module in pkgutil.iter_modules(monitor.estimators.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    """Every `>>>` of the module, digits after an ellipsis left open."""
    module = importlib.import_module(f"monitor.estimators.{name}")
    outcome = doctest.testmod(module, optionflags=doctest.ELLIPSIS)

    assert outcome.failed == 0
    assert outcome.attempted > 0
