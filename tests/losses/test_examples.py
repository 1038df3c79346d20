"""The examples in the docstrings run, and every public loss has one."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

from mobilevos import losses

MODULES = [module.name for module in pkgutil.iter_modules(losses.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(f"mobilevos.losses.{name}"))
    assert failed == 0


@pytest.mark.parametrize("name", [name for name in losses.__all__ if inspect.isfunction(getattr(losses, name))])
def test_every_function_has_an_example(name: str) -> None:
    assert ">>>" in (inspect.getdoc(getattr(losses, name)) or "")
