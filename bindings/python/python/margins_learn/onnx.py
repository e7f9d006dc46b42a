"""Classifiers as ONNX graphs in double precision."""

from __future__ import annotations

import functools
import math
import re
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ._base import CERTAIN, ModelClassifier
from ._onnx_graph import Graph
from ._regularised import PRECOMPUTED

__all__ = ["to_onnx"]


def to_onnx(model: Any, *, name: str = "margins") -> Any:
    """Returns the ONNX graph of a fitted classifier, or of a pipeline that ends with one, in double precision.

    The input is `X` of shape (n_samples, n_features), in float64 or, before an encoder of texts, of texts. A pipeline may have
    `StandardScaler`, `OneHotEncoder`, `OrdinalEncoder` and, as its first step, a `ColumnTransformer` of them, which has one input for each
    of its transformers, under its name. A category that an encoder does not know has none of the columns of `OneHotEncoder`, and the place
    -1 by default. The outputs are `label`, `scores`, and `probabilities`
    if the classifier has any. Probabilities are within 1e-12 of what `predict_proba` returns, and scores within 1e-12 of
    what `decision_function` returns, relative to the sum of the absolute terms of a score where that is above 1. What
    ONNX's operators cannot express is refused by name: a kernel that is a function of Python, raw columns, random Fourier
    features, ensembles of stumps or networks, and classes that are times.

    Parameters
    ----------
    model : estimator or Pipeline
        The classifier, fitted or loaded, or a fitted pipeline of scikit-learn that ends with one.
    name : str, default="margins"
        The name of the graph.

    Returns
    -------
    graph : onnx.ModelProto
        The graph, checked.

    Examples
    --------
    >>> from margins_learn import MarginClassifier, to_onnx
    >>> classifier = MarginClassifier("logistic").fit([[0.0], [1.0], [2.0], [3.0]], ["ham", "ham", "spam", "spam"])
    >>> [output.name for output in to_onnx(classifier).graph.output]
    ['label', 'scores', 'probabilities']
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx: pip install onnx") from error

    if not isinstance(name, str) or not name:
        raise ValueError(f"name is {name!r}, but must be a string that is not empty.")
    *transformers, model = [step for _, step in (model.steps if isinstance(model, Pipeline) else [("", model)]) if step not in (None, "passthrough")]
    fitted = _expressible(model)
    graph = Graph()
    if transformers:
        # The import takes time, and most graphs do without.
        from ._onnx_pipeline import transformed

        features = transformed(graph, transformers)
    else:
        features = graph.input("X", np.float64, model.n_features_in_)
    functions = _functions(graph, fitted, features)
    scores = graph.add("Add", graph.add("MatMul", functions, graph.constant(_coefficients(fitted).T)), graph.constant(fitted.intercept))
    of_members = scores
    if fitted.scheme == "one-versus-one":
        scores = _standing(graph, scores, len(model.classes_))
    elif fitted.scheme == "plurality":
        scores = _plurality(graph, scores, fitted.votes)
    elif fitted.votes:
        scores = _shares(graph, scores, fitted.votes)
    labels, decided = _labels(model.classes_), _decided(graph, scores, fitted)
    probabilities = _probabilities(graph, of_members, decided, fitted) if fitted.has_probabilities else None
    graph.name_output(graph.add("Gather", graph.constant(labels), decided), "label")
    graph.name_output(scores, "scores")
    columns = 1 if fitted.scheme in ("binary", "majority") else len(model.classes_)
    outputs = [("label", labels.dtype, [None]), ("scores", np.float64, [None, columns])]
    if probabilities is not None:
        graph.name_output(probabilities, "probabilities")
        outputs.append(("probabilities", np.float64, [None, len(model.classes_)]))
    proto = graph.model(name, outputs)
    onnx.checker.check_model(proto)
    return proto


def _expressible(model: Any) -> Any:
    """Returns the model of a classifier; raises `ValueError` for one that ONNX cannot represent."""
    check_is_fitted(model, "classes_")
    if not isinstance(model, ModelClassifier):
        raise TypeError(f"model is {model!r}, but must be a classifier of this package, or a pipeline that ends with one.")
    fitted = getattr(model, "model_", None)
    if fitted is None:
        raise ValueError(f"{type(model).__name__} left an ensemble that is no model, which ONNX cannot express here.")
    if fitted.scheme == "decision-list":
        raise ValueError("The learner 'partition' finds a decision list, which ONNX cannot express here: choose another learner.")
    if fitted.encoding is not None:
        raise ValueError("The classifier encodes raw columns, which ONNX cannot express here: encode them first.")
    if model._is_precomputed():
        raise ValueError(f"The kernel is {getattr(model, 'kernel', PRECOMPUTED)!r}, which ONNX cannot express.")
    return fitted


def _labels(classes: np.ndarray) -> np.ndarray:
    """Returns the classes in a type that ONNX has: whole numbers, numbers or text."""
    kinds = {"i": np.int64, "u": np.int64, "b": np.int64, "f": np.float64}
    labels = classes.astype(kinds.get(classes.dtype.kind, object))
    if not all(isinstance(label, (int, float, str)) for label in classes.tolist()) or labels.tolist() != classes.tolist():
        raise ValueError(f"The classes are {classes.tolist()}, but ONNX has whole numbers of 64 bits with a sign, numbers and texts alone.")
    return labels


def _decided(graph: Graph, scores: str, fitted: Any) -> str:
    """Returns the index of the class that the scores decide."""
    if fitted.scheme in ("binary", "majority"):
        positive = graph.add("Greater", graph.add("Squeeze", scores, graph.constant(np.array([1]))), graph.constant(0.0))
        return graph.add("Cast", positive, to=7)
    return graph.add("ArgMax", scores, axis=1, keepdims=0)


def _shares(graph: Graph, scores: str, votes: list[int]) -> str:
    """Returns the share of the votes of each group of members for their positive class less those against it."""
    won = graph.add("Cast", graph.add("Greater", scores, graph.constant(0.0)), to=11)
    won = graph.add("MatMul", won, graph.constant(np.repeat(np.eye(len(votes)), votes, axis=0)))
    counts = graph.constant(np.array(votes, dtype=float))
    lead = graph.add("Sub", graph.add("Mul", won, graph.constant(2.0)), counts)
    return graph.add("Div", lead, counts)


def _plurality(graph: Graph, scores: str, votes: list[int]) -> str:
    """Returns the share of the votes for each class less those for others; a vote is for the largest score of a voter."""
    classes, voters = len(votes), votes[0]
    of_voters = graph.add("Reshape", scores, graph.constant(np.array([-1, voters, classes])))
    chosen = graph.add("ArgMax", of_voters, axis=2, keepdims=1)
    won = graph.add("Cast", graph.add("Equal", chosen, graph.constant(np.arange(classes))), to=11)
    counts = graph.add("ReduceSum", won, graph.constant(np.array([1])), keepdims=0)
    lead = graph.add("Sub", graph.add("Mul", counts, graph.constant(2.0)), graph.constant(float(voters)))
    return graph.add("Div", lead, graph.constant(float(voters)))


def _standing(graph: Graph, scores: str, classes: int) -> str:
    """Returns the number of pairs that each class wins, plus a fraction below one half that breaks ties by the sum of scores.

    Members that are certain of a class do not count in the sum.
    """
    first, second = np.triu_indices(classes, 1)
    of_first, of_second = np.eye(classes)[first], np.eye(classes)[second]
    wins = graph.add("Cast", graph.add("Greater", scores, graph.constant(0.0)), to=11)
    # The first class of a pair has what the second has not.
    votes = graph.add("MatMul", wins, graph.constant(of_second - of_first))
    votes = graph.add("Add", votes, graph.constant(of_first.sum(axis=0)))
    is_open = graph.add("Less", graph.add("Abs", scores), graph.constant(CERTAIN))
    scores = graph.add("Where", is_open, scores, graph.constant(0.0))
    sums = graph.add("MatMul", scores, graph.constant(of_second - of_first))
    size = graph.add("Mul", graph.add("Add", graph.add("Abs", sums), graph.constant(1.0)), graph.constant(3.0))
    return graph.add("Add", votes, graph.add("Div", sums, size))


def _functions(graph: Graph, fitted: Any, features: str) -> str:
    """Returns the functions that the members combine: the features, or kernel sections."""
    basis = fitted.basis
    if basis is None:
        return features
    if "sections" not in basis:
        raise ValueError(f"The approximation of {basis['kernel']} is by random Fourier features, which ONNX cannot express in double precision.")
    beside = basis["linear"]
    seen = features
    if beside:
        others = [k for k in range(fitted.columns) if k not in beside]
        seen = graph.add("Gather", features, graph.constant(np.array(others)), axis=1)
    if basis["scales"] is not None:
        seen = graph.add("Mul", seen, graph.constant(np.array(basis["scales"])))
    functions = _kernel(graph, basis["kernel"], seen, basis["sections"])
    if not beside:
        return functions
    return graph.add("Concat", graph.add("Gather", features, graph.constant(np.array(beside)), axis=1), functions, axis=1)


def _coefficients(fitted: Any) -> np.ndarray:
    """Returns the coefficients of the functions of a model, those of features beside a kernel first."""
    if fitted.basis is None or not fitted.basis["linear"]:
        return fitted.coef
    return np.hstack([fitted.linear_coef[:, fitted.basis["linear"]], fitted.coef])


def _kernel(graph: Graph, text: str, features: str, sections: np.ndarray) -> str:
    """Returns a kernel, a sum or a product between the features and the sections, with one column per section."""
    text = text.strip()
    for sign, operator in (("+", "Add"), ("*", "Mul")):
        operands = _split(text, sign)
        if len(operands) > 1:
            values = [_kernel(graph, operand, features, sections) for operand in operands]
            return functools.reduce(functools.partial(graph.add, operator), values)
    if text.startswith("("):
        return _kernel(graph, text[1:-1], features, sections)
    return _one_kernel(graph, text, features, sections)


def _split(text: str, sign: str) -> list[str]:
    """Splits the text of a kernel at signs outside of parentheses, but not at the `+` of a number such as `1e+3`."""
    parts, start, depth = [], 0, 0
    for at, symbol in enumerate(text):
        depth += {"(": 1, ")": -1}.get(symbol, 0)
        if symbol == sign and depth == 0 and not re.search(r"=\s*-?[\d.]+[eE]$", text[:at]):
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


def _one_kernel(graph: Graph, text: str, features: str, sections: np.ndarray) -> str:
    """Returns one kernel between the features and the sections."""
    name, _, rest = text.partition(":")
    given = {key.strip(): float(value) for key, value in (pair.split("=") for pair in rest.split(",") if pair)}
    if name in ("linear", "poly", "sigmoid"):
        products = graph.add("MatMul", features, graph.constant(sections.T))
        if name == "linear":
            return products
        inner = graph.add("Add", graph.add("Mul", products, graph.constant(given["scale"])), graph.constant(given["offset"]))
        return graph.add("Tanh", inner) if name == "sigmoid" else _power(graph, inner, int(given["degree"]))
    if name not in ("gaussian", "laplacian", "matern32", "matern52", "anova"):
        raise ValueError(f"The kernel is {text}, which is not expressed in ONNX.")
    # Differences, samples x sections x features: no digits cancel between near samples.
    near = graph.add("Unsqueeze", features, graph.constant(np.array([1])))
    differences = graph.add("Sub", near, graph.constant(sections[None]))
    squares = graph.add("Mul", differences, differences)
    if name == "anova":
        each = graph.add("Exp", graph.add("Mul", squares, graph.constant(-given["sigma"])))
        return _power(graph, graph.add("ReduceSum", each, graph.constant(np.array([2])), keepdims=0), int(given["degree"]))
    square = graph.add("ReduceSum", squares, graph.constant(np.array([2])), keepdims=0)
    if name == "gaussian":
        return graph.add("Exp", graph.add("Mul", square, graph.constant(-given["sigma"])))
    factor = {"laplacian": lambda: given["sigma"], "matern32": lambda: math.sqrt(3) / given["length"], "matern52": lambda: math.sqrt(5) / given["length"]}
    distance = graph.add("Mul", graph.add("Sqrt", square), graph.constant(factor[name]()))
    decay = graph.add("Exp", graph.add("Neg", distance))
    if name == "laplacian":
        return decay
    shape = graph.add("Add", distance, graph.constant(1.0))
    if name == "matern52":
        third = graph.add("Mul", graph.add("Mul", distance, distance), graph.constant(1 / 3))
        shape = graph.add("Add", shape, third)
    return graph.add("Mul", decay, shape)


def _power(graph: Graph, base: str, degree: int) -> str:
    """Returns a whole power by products."""
    power = base
    for _ in range(degree - 1):
        power = graph.add("Mul", power, base)
    return power


def _probabilities(graph: Graph, scores: str, decided: str, fitted: Any) -> str:
    """Returns the probabilities of all classes from the scores of the members; that of the class decided is the largest."""
    classes = len(fitted.classes)
    if fitted.scheme in ("joint", "multinomial"):
        if fitted.loss != "logistic":
            raise ValueError(f"The probabilities of joint classes with loss {fitted.loss!r} are those of a Markov chain, which ONNX cannot express here: take loss 'logistic'.")
        return _preferred(graph, graph.add("Softmax", scores, axis=1), decided, classes)
    positive = _of_loss(graph, fitted.loss, scores) if fitted.platt is None else _scaled(graph, fitted.platt, scores)
    if fitted.scheme == "binary":
        of_classes = graph.add("Concat", graph.add("Sub", graph.constant(1.0), positive), positive, axis=1)
    elif fitted.scheme == "one-versus-rest":
        of_classes = _normalized(graph, positive, classes)
    else:
        of_classes = _coupled(graph, positive, classes)
    return _preferred(graph, of_classes, decided, classes)


def _scaled(graph: Graph, platt: list[tuple[float, float]], scores: str) -> str:
    """Returns the probability of the positive class of every member, by its Platt scaling."""
    slopes, intercepts = np.array(platt).T
    return _sigmoid(graph, graph.add("Sub", graph.add("Mul", scores, graph.constant(-slopes)), graph.constant(intercepts)))


def _normalized(graph: Graph, positive: str, classes: int) -> str:
    """Returns the probabilities divided by their sum, or even ones where that is 0."""
    total = graph.add("ReduceSum", positive, graph.constant(np.array([1])), keepdims=1)
    none = graph.add("Equal", total, graph.constant(0.0))
    safe = graph.add("Where", none, graph.constant(1.0), total)
    return graph.add("Where", none, graph.constant(1.0 / classes), graph.add("Div", positive, safe))


def _coupled(graph: Graph, later: str, classes: int) -> str:
    """Returns the probabilities of the classes from those of the second class of every pair, by pairwise coupling.

    The library solves `Q p = b 1` beside `sum(p) = 1` for every sample. For such p `(Q + 1 1') p` is a multiple of 1 too, and
    this matrix is positive definite: Gauss and Jordan eliminate without a search for pivots, one class after the other.
    """
    edge = 1e-7
    later = graph.add("Clip", later, graph.constant(edge), graph.constant(1 - edge))
    former = graph.add("Sub", graph.constant(1.0), later)
    first, second = np.triu_indices(classes, 1)
    pairs = np.arange(len(first))
    # The matrix of every sample with the right-hand side as its last column.
    of_first, of_second, of_both = np.zeros((3, len(pairs), classes, classes + 1))
    of_first[pairs, first, first] = of_second[pairs, second, second] = 1
    of_both[pairs, first, second] = of_both[pairs, second, first] = -1
    terms = [(later, later, of_first), (former, former, of_second), (later, former, of_both)]
    sums = [graph.add("MatMul", graph.add("Mul", a, b), graph.constant(at.reshape(len(pairs), -1))) for a, b, at in terms]
    system = functools.reduce(functools.partial(graph.add, "Add"), sums, graph.constant(1.0))
    system = graph.add("Reshape", system, graph.constant(np.array([-1, classes, classes + 1])))
    for k in range(classes):
        at, others = graph.constant(np.array([k])), graph.constant(1.0 - np.eye(classes)[:, [k]])
        row = graph.add("Gather", system, at, axis=1)
        factors = graph.add("Div", graph.add("Mul", graph.add("Gather", system, at, axis=2), others), graph.add("Gather", row, at, axis=2))
        system = graph.add("Sub", system, graph.add("Mul", factors, row))
    axis = graph.constant(np.array([2]))
    diagonal = graph.add("ReduceSum", graph.add("Mul", system, graph.constant(np.eye(classes, classes + 1))), axis, keepdims=0)
    solution = graph.add("Div", graph.add("Gather", system, graph.constant(classes), axis=2), diagonal)
    return _normalized(graph, graph.add("Max", solution, graph.constant(0.0)), classes)


def _preferred(graph: Graph, p: str, decided: str, classes: int) -> str:
    """Returns the nearest probabilities of which the class decided is the largest, as the library has them.

    The class and those above it share what they have, but for a lead that survives rounding.
    """
    axis, zero = graph.constant(np.array([1])), graph.constant(0.0)
    own = graph.add("Equal", graph.constant(np.arange(classes)[None]), graph.add("Unsqueeze", decided, axis))
    of_own = graph.add("ReduceSum", graph.add("Where", own, p, zero), axis, keepdims=1)
    others = graph.add("TopK", graph.add("Where", own, graph.constant(-1.0), p), graph.constant(np.array([classes - 1])), axis=1)
    # Sums of the class decided and of the largest others, one more in every column; each other that is not below the mean of
    # those before it joins.
    sums = graph.add("CumSum", graph.add("Concat", of_own, others, axis=1), graph.constant(np.array(1)))
    before = graph.add("Slice", sums, graph.constant(np.array([0])), graph.constant(np.array([classes - 1])), axis)
    parts = graph.add("Mul", others, graph.constant(np.arange(1.0, classes)[None]))
    joins = graph.add("GreaterOrEqual", parts, before)
    joined = graph.add("ReduceSum", graph.add("Cast", joins, to=11), axis, keepdims=1)
    last = graph.add("Equal", graph.constant(np.arange(float(classes))[None]), joined)
    members = graph.add("Add", joined, graph.constant(1.0))
    mean = graph.add("Div", graph.add("ReduceSum", graph.add("Where", last, sums, zero), axis, keepdims=1), members)
    share = graph.add("Div", graph.add("Min", mean, graph.constant(1e-12)), members)
    least = graph.add("ReduceMin", graph.add("Where", joins, others, graph.constant(2.0)), axes=(1,), keepdims=1)
    moved = graph.add("Where", graph.add("GreaterOrEqual", p, least), graph.add("Sub", mean, share), p)
    return graph.add("Where", own, graph.add("Add", mean, graph.add("Mul", share, joined)), moved)


def _sigmoid(graph: Graph, odds: str) -> str:
    """Returns the logistic function, by its own exponential."""
    return graph.add("Reciprocal", graph.add("Add", graph.add("Exp", graph.add("Neg", odds)), graph.constant(1.0)))


def _of_loss(graph: Graph, loss: str, scores: str) -> str:
    """Returns the probability of the positive class of every member, by the loss."""
    name, _, rest = loss.partition(":")
    given = {key: float(value) for key, value in (pair.split("=") for pair in rest.split(",") if pair)}
    if name in ("logistic", "exponential"):
        return _sigmoid(graph, scores if name == "logistic" else graph.add("Mul", scores, graph.constant(2.0)))
    if name in ("squared", "squared-hinge", "modified-huber"):
        half = graph.add("Mul", graph.add("Add", scores, graph.constant(1.0)), graph.constant(0.5))
        return graph.add("Clip", half, graph.constant(0.0), graph.constant(1.0))
    if name not in _FALLS:
        raise ValueError(f"The loss is {loss}, whose probabilities are not expressed in ONNX.")
    falls = _FALLS[name]
    own = falls(graph, scores, given)
    other = falls(graph, graph.add("Neg", scores), given)
    total = graph.add("Add", own, other)
    even = graph.add("Equal", total, graph.constant(0.0))
    safe = graph.add("Where", even, graph.constant(1.0), total)
    return graph.add("Where", even, graph.constant(0.5), graph.add("Div", other, safe))


def _tail(power: Any) -> Any:
    """Returns the fall of a hockey stick, `1/max(u, 1)` to a power."""

    def falls(graph: Graph, u: str, given: dict[str, float]) -> str:
        return graph.add("Pow", graph.add("Reciprocal", graph.add("Max", u, graph.constant(1.0))), graph.constant(power(given)))

    return falls


def _distance_weighted(graph: Graph, u: str, given: dict[str, float]) -> str:
    """Returns the fall of distance weighted discrimination, `(max(u, knee)/knee)^-(q + 1)`."""
    knee = graph.constant(given["q"] / (given["q"] + 1))
    return graph.add("Pow", graph.add("Div", graph.add("Max", u, knee), knee), graph.constant(-given["q"] - 1))


def _smoothed(graph: Graph, u: str, given: dict[str, float]) -> str:
    """Returns the fall of the smoothed hinge loss."""
    rest = graph.add("Div", graph.add("Sub", graph.constant(1.0), u), graph.constant(given["width"]))
    return graph.add("Clip", rest, graph.constant(0.0), graph.constant(1.0))


def _below(graph: Graph, u: str, given: dict[str, float]) -> str:
    """Returns the distance to the level of margin pursuit in units of its scale."""
    return graph.add("Div", graph.add("Sub", graph.constant(given["gamma"]), u), graph.constant(given["scale"]))


def _log_cosh(graph: Graph, u: str, given: dict[str, float]) -> str:
    """Returns the fall of the log-cosh loss, 0 where it rises."""
    return graph.add("Max", graph.add("Tanh", _below(graph, u, given)), graph.constant(0.0))


def _pursuit(graph: Graph, u: str, given: dict[str, float]) -> str:
    """Returns the fall of margin pursuit, 0 where it rises."""
    root = math.sqrt(2)
    inner = graph.add("Clip", _below(graph, u, given), graph.constant(-root), graph.constant(root))
    sixth = graph.add("Mul", graph.add("Mul", inner, inner), graph.constant(1 / 6))
    influence = graph.add("Mul", inner, graph.add("Sub", graph.constant(1.0), sixth))
    return graph.add("Max", influence, graph.constant(0.0))


# How steeply the losses fall, `-L'(u)` up to a factor, at least 0.
_FALLS = {
    "lhs": _tail(lambda given: 1.0),
    "l-r": _tail(lambda given: 1.0 - 1.0 / given["r"]),
    "dwd": _distance_weighted,
    "smoothed-hinge": _smoothed,
    "log-cosh": _log_cosh,
    "margin-pursuit": _pursuit,
}
