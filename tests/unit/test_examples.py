"""Every example runs and prints what it promises."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import mpiddl.examples

NAMES = [module.name for module in pkgutil.iter_modules(mpiddl.examples.__path__)]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs(name, capsys):
    importlib.import_module(f"mpiddl.examples.{name}").main()
    assert "loss" in capsys.readouterr().out


def test_public_names_are_those_of_the_package():
    assert sorted(mpiddl.__all__) == sorted(name for name in dir(mpiddl) if name in mpiddl.__all__)
    for name in set(mpiddl.__all__) - {"MPICommunicator", "guard"}:  # those two initialise MPI
        assert getattr(mpiddl, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = mpiddl.nonsense
