"""Tutorials run and leave their pictures; examples in the documentation print what they say."""

import doctest
import importlib.util
import inspect
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import margins_learn as ml

TUTORIALS = sorted((Path(__file__).parents[1] / "tutorials").glob("*.py"))


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial(path, tmp_path, capsys):
    specification = importlib.util.spec_from_file_location(path.stem, path)
    tutorial = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(tutorial)
    smaller = {"rows": 100_000, "seeds": 2, "steps": 500}
    tutorial.main(tmp_path, **{name: smaller[name] for name in smaller.keys() & inspect.signature(tutorial.main).parameters.keys()})
    plt.close("all")
    assert (tmp_path / f"{path.stem}.png").stat().st_size > 10_000 and capsys.readouterr().out


WALKS = [(f"docs/walks/{paper}.md", "fixtures") for paper in ("leaky-hockey-stick", "margin-pursuit", "massart", "maximal-loss")]


@pytest.mark.parametrize(("page", "folder"), [("README.md", "."), ("docs/start/python.md", "fixtures"), *WALKS])
def test_pages_with_examples(page, folder, monkeypatch):
    root = Path(__file__).parents[3]
    monkeypatch.chdir(root / "crates" / "test-support" / folder)
    text = (root / page).read_text().replace("```", "")
    results = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(text, {}, page, page, 0))
    assert results.attempted >= 7 and not results.failed


PUBLIC = [ml] + [getattr(ml, name) for name in ml.__all__ if name != "__version__"]


@pytest.mark.parametrize("thing", PUBLIC, ids=lambda thing: thing.__name__)
def test_examples_and_documentation(thing):
    assert inspect.getdoc(thing)
    finder = doctest.DocTestFinder(exclude_empty=True, recurse=thing is not ml)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for example in finder.find(thing, module=False):
        assert not runner.run(example).failed
    members = vars(thing).items() if inspect.isclass(thing) or inspect.ismodule(thing) else []
    for name, member in members:
        if inspect.isfunction(member) and not name.startswith("_"):
            assert inspect.getdoc(member), name


def functions_of(thing):
    """Returns the public functions of a module or class of the package, and those of a module's classes."""
    if inspect.ismodule(thing):
        return [function for name in thing.__all__ for function in functions_of(getattr(thing, name))]
    if inspect.isclass(thing):
        members = [inspect.unwrap(getattr(member, "__func__", member)) for _, member in inspect.getmembers(thing, inspect.isroutine)]
        own = (member for member in members if str(getattr(member, "__module__", "")).startswith("margins_learn."))
        return [member for member in own if not member.__name__.startswith("_")]
    return [thing] if inspect.isroutine(thing) else []


@pytest.mark.parametrize("thing", [thing for thing in PUBLIC if thing is not ml], ids=lambda thing: thing.__name__)
def test_parameters_and_results_are_documented(thing):
    for function in functions_of(thing):
        text, signature = inspect.getdoc(function), inspect.signature(function)
        for parameter in signature.parameters.keys() - {"self", "cls"}:
            assert re.search(rf"(?m)^(\w+, |\*\*)*{parameter}\b(, \w+)*( : |$)", text), (function, parameter)
        assert signature.return_annotation in ("None", inspect.Signature.empty) or re.search(r"(?m)^(Returns|Yields)\n-+$", text), function
