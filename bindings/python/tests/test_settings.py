"""Constructors, stubs and the native settings name the same things."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import margins_learn as ml
from margins_learn import _native
from margins_learn._regularised import OneKernel

ESTIMATORS = [getattr(ml, name) for name in _native.SETTINGS]
# What the library sees as functions, not as settings.
WATCHERS = {"callback", "progress", "verbose"}
# What it sees as a part of the kernel.
OF_KERNEL = {"gamma", "degree", "coef0"}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_constructors_have_the_settings_and_no_others(estimator):
    names = set(inspect.signature(estimator).parameters)
    of_kernel = OF_KERNEL if issubclass(estimator, OneKernel) else set()
    assert names - WATCHERS - of_kernel == set(_native.SETTINGS[estimator.__name__]) and of_kernel <= names


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_documentation_names_every_parameter(estimator):
    assert named(estimator, "Parameters", "Attributes") == set(inspect.signature(estimator).parameters)


@pytest.mark.parametrize(
    ("estimator", "settings"),
    [
        (estimator, settings)
        for estimator in ESTIMATORS
        for settings in ({}, {"kernel": "gaussian"}, {"kernels": ["gaussian", "linear"]})
        if set(settings) <= set(inspect.signature(estimator).parameters)
    ],
)
def test_documentation_names_every_attribute(estimator, settings, two):
    if estimator is ml.RobustClassifier and settings:
        settings = settings | {"approximation": "nystrom:m=20"}
    if estimator is ml.FocusedClassifier:
        settings = settings | {"max_steps": 1000} | ({"learner": "kernel-perceptron:budget=50"} if settings else {})
    fitted = estimator(**settings).fit(*two)
    there = {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")}
    assert there <= named(estimator, "Attributes", "Examples")


def test_samples_that_a_kernel_of_python_keeps_are_documented(two):
    fitted = ml.MarginClassifier(kernel=lambda a, b: a @ b.T).fit(*two)
    assert "X_fit_" in vars(fitted) and "X_fit_" in named(ml.MarginClassifier, "Attributes", "Examples")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_attribute_that_the_documentation_names_has_a_type(estimator):
    typed = {name for kind in estimator.__mro__ for name in inspect.get_annotations(kind)}
    assert {name for name in named(estimator, "Attributes", "Examples") if name.endswith("_")} - typed == set()


# What a setting needs beside it to be used.
BESIDE = {
    "first_step": {"method": "sgd"},
    "radius": {"method": "sgd"},
    "start_norm": {"method": "sgd"},
    "patience": {"hold_out": 0.5},
    "rescale_at": {"loss": "margin-pursuit:gamma=1,scale=1"},
    "eta": {"learner": "sgd", "gamma": 0.1},
    "gamma": {"learner": "sgd", "eta": 0.1},
    "project": {"learner": "cuts", "eta": 0.1, "gamma": 0.1},
    "max_calls": {"learner": "cuts", "eta": 0.1, "gamma": 0.1},
    "steps": {"learner": "sgd", "eta": 0.1, "gamma": 0.1},
    "step": {"learner": "sgd", "eta": 0.1, "gamma": 0.1},
    "held_out": {"learner": "sgd", "eta": 0.1, "gamma": 0.1},
}
OUTSIDE = {"> 0": 0, ">= 0": -1, ">= 1": 0, ">= 2": 1, "in (0, 1)": 1, "in [0, 1/2)": 0.5}


def ranges():
    for estimator in ESTIMATORS:
        yield from ((estimator, *head) for head in re.findall(r"(?m)^(\w+) : (float|int) ([>i].*?)(?: or None)?, default", inspect.getdoc(estimator)))


@pytest.mark.parametrize(("estimator", "name", "kind", "span"), list(ranges()))
def test_a_number_outside_of_its_documented_range_is_refused(estimator, name, kind, span, two):
    wrong = {"float": float, "int": int}[kind](OUTSIDE[span])
    beside = BESIDE.get(name, {})
    assert beside.keys() <= set(inspect.signature(estimator).parameters)
    with pytest.raises((ValueError, OverflowError)):
        estimator(**beside | {name: wrong}).fit(*two)


@pytest.mark.parametrize("estimator", [ml.MarginClassifier, ml.MarginClassifierCV])
def test_probabilities_are_of_the_loss_or_scaled(estimator, two):
    with pytest.raises(ValueError, match="probability is True, but must be 'loss' or 'platt'"):
        estimator(probability=True).fit(*two)


@pytest.mark.parametrize(("kernels", "told"), [(max, "function max.*GridSearchCV"), (["linear", 3], "contains 3")])
def test_a_search_takes_kernels_as_texts(kernels, told, two):
    with pytest.raises(TypeError, match=told):
        ml.MarginClassifierCV(kernels=kernels).fit(*two)


def named(estimator, section, following):
    """Returns the names that a section of the documentation explains."""
    text = inspect.getdoc(estimator).split(f"{section}\n--")[1].split(f"{following}\n--")[0]
    heads = [line.split(" : ")[0] for line in text.splitlines() if line and not line.startswith((" ", "-"))]
    return {name.strip() for head in heads for name in head.split(",")}


def stubs():
    return ast.parse((Path(ml.__file__).parent / "_native.pyi").read_text())


@pytest.mark.parametrize("name", list(_native.SETTINGS))
def test_stubs_have_the_settings_and_no_others(name):
    classes = {node.name: node for node in stubs().body if isinstance(node, ast.ClassDef)}
    fields = [line.target.id for line in classes[name + "Settings"].body if isinstance(line, ast.AnnAssign)]
    assert sorted(fields) == sorted(_native.SETTINGS[name])


def test_stubs_have_the_functions_and_classes_of_the_module():
    told = {node.name for node in stubs().body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    told = {name for name in told if not name.endswith(("Settings", "Data", "Watchers"))}
    there = {name for name in dir(_native) if callable(getattr(_native, name)) and not name.startswith("__")}
    assert told == there
    for node in stubs().body:
        if isinstance(node, ast.FunctionDef):
            parameters = [argument.arg for argument in node.args.posonlyargs + node.args.args]
            assert parameters == list(inspect.signature(getattr(_native, node.name)).parameters), node.name
        elif node.name in there if isinstance(node, ast.ClassDef) else False:
            methods = {line.name: line for line in node.body if isinstance(line, ast.FunctionDef)}
            there_too = {name for name in dir(getattr(_native, node.name)) if not name.startswith("_")}
            assert methods.keys() - {"__new__", "__len__"} == there_too, node.name
            if "__new__" in methods:
                parameters = [argument.arg for argument in methods["__new__"].args.args[1:]]
                assert parameters == list(inspect.signature(getattr(_native, node.name)).parameters), node.name


def test_unknown_and_missing_settings_are_refused():
    estimator = ml.MassartClassifier()
    settings = estimator._settings()
    nobody = {"callback": None, "progress": None}
    data = estimator._data([[0.0], [1.0]], [0, 1], None)
    with pytest.raises(TypeError, match="there is no setting 'eps': known are 'learner', 'eta'"):
        _native.fit_massart(data, settings | {"eps": 1}, nobody)
    del settings["eta"]
    with pytest.raises(TypeError, match="the setting 'eta' is missing"):
        _native.fit_massart(data, settings, nobody)
