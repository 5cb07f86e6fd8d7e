"""Every public name teaches by an example; that examples run is seen by the doctests."""

import inspect
from types import ModuleType

import pytest

import isinglass as ig

NAMES = [name for name in ig.__all__ if not isinstance(getattr(ig, name), ModuleType)]
MODULES = [name for name in ig.__all__ if name not in NAMES]
CLASSES = [
    *(ig.Graph, ig.GreedyGraph, ig.MarkovField, ig.FitRecord, ig.Path),
    *(ig.GreedyRegressor, ig.GreedyClassifier),
]


def own_methods(cls: type) -> list[str]:
    """Public methods that are written here, not taken over from other libraries."""
    return [
        name
        for name, method in inspect.getmembers(cls, callable)
        if not name.startswith("_") and (method.__module__ or "").startswith("isinglass")
    ]


@pytest.mark.parametrize("name", NAMES)
def test_public_names_have_an_example(name):
    assert ">>> " in (inspect.getdoc(getattr(ig, name)) or "")


@pytest.mark.parametrize(
    ("cls", "name"),
    [(cls, name) for cls in CLASSES for name in own_methods(cls)],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_methods_of_the_main_classes_have_an_example(cls, name):
    assert ">>> " in (inspect.getdoc(getattr(cls, name)) or "")


@pytest.mark.parametrize("name", MODULES)
def test_public_names_of_modules_have_a_docstring(name):
    module = getattr(ig, name)
    assert module.__doc__
    for public in module.__all__:
        thing = getattr(module, public)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), f"{name}.{public}"


def test_names_that_are_not_there():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ig.nothing  # noqa: B018
    assert set(ig.__all__) <= set(dir(ig))
