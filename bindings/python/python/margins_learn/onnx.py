"""Classifiers as ONNX graphs in double precision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._base import ModelClassifier

__all__ = ["to_onnx"]

_OPSET = 17


def to_onnx(model: Any, *, name: str = "margins") -> Any:
    """Returns the ONNX graph of a fitted classifier, in double precision.

    Its input is `X` of shape (n_samples, n_features) in float64. Its outputs are `label`, `scores`, and `probabilities`
    where the classifier has any. What ONNX's operators cannot say is refused by name: a kernel that is a function of
    Python, raw columns, random Fourier features, one-versus-one, Platt scaling of several classes, and ensembles that are
    no model.

    Parameters
    ----------
    model : estimator
        The classifier, fitted or loaded.
    name : str, default="margins"
        The name of the graph.

    Returns
    -------
    graph : onnx.ModelProto
        The graph, checked.
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx: pip install onnx") from error

    check_is_fitted(model, "classes_")
    if not isinstance(model, ModelClassifier):
        raise TypeError(f"model is {model!r}, but must be a classifier of this package: to_onnx takes one out of a pipeline by itself.")
    fitted = getattr(model, "model_", None)
    if fitted is None:
        raise ValueError(f"{type(model).__name__} left an ensemble that is no model, which ONNX cannot express here.")
    if fitted.encoding is not None:
        raise ValueError("The classifier encodes raw columns, which ONNX cannot express here: encode them first.")
    if getattr(model, "_is_precomputed", bool)():
        raise ValueError(f"The kernel is {model.kernel!r}, which ONNX cannot express.")
    if fitted.scheme == "one-versus-one":
        raise ValueError("The scheme is one-versus-one, whose votes ONNX cannot express here: take multi_class='ovr'.")
    graph = _Graph()
    functions = _functions(graph, fitted, graph.input)
    scores = graph.add("Add", graph.add("MatMul", functions, graph.constant(fitted.coef.T)), graph.constant(fitted.intercept))
    decided = _decided(graph, scores, fitted)
    graph.name_output(graph.add("Gather", graph.constant(_labels(model.classes_)), decided), "label")
    graph.name_output(scores, "scores")
    outputs = [("label", _labels(model.classes_).dtype, [None]), ("scores", np.float64, [None, len(fitted.intercept)])]
    if fitted.has_probabilities:
        graph.name_output(_probabilities(graph, scores, fitted), "probabilities")
        outputs.append(("probabilities", np.float64, [None, len(model.classes_)]))
    proto = graph.model(name, model.n_features_in_, outputs)
    onnx.checker.check_model(proto)
    return proto


class _Graph:
    """Nodes of a graph, each known by the name of its output."""

    input = "X"

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node and returns the name of its output."""
        from onnx import helper

        output = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def constant(self, values: Any) -> str:
        """Adds a constant and returns its name."""
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        values = np.asarray(values)
        values = values.astype(np.float64) if values.dtype.kind == "f" else values
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def name_output(self, value: str, name: str) -> None:
        """Gives a value the name of an output."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [value], [name]))

    def model(self, name: str, features: int, outputs: list[tuple[str, Any, list[Any]]]) -> Any:
        """Returns the graph with its input and outputs."""
        from onnx import TensorProto, helper

        def tensor(kind: Any) -> int:
            kind = np.dtype(kind)
            return TensorProto.STRING if kind.kind in "OU" else helper.np_dtype_to_tensor_dtype(kind)

        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info(self.input, TensorProto.DOUBLE, [None, features])],
            [helper.make_tensor_value_info(output, tensor(kind), shape) for output, kind, shape in outputs],
            self.constants,
        )
        return helper.make_model(
            graph, producer_name="margins-learn", ir_version=8, opset_imports=[helper.make_opsetid("", _OPSET)]
        )


def _labels(classes: np.ndarray) -> np.ndarray:
    """Returns the classes in a type that ONNX has: whole numbers, numbers or text."""
    if classes.dtype.kind in "iub":
        return classes.astype(np.int64)
    return classes.astype(np.float64) if classes.dtype.kind == "f" else np.array([str(label) for label in classes], dtype=object)


def _decided(graph: _Graph, scores: str, fitted: Any) -> str:
    """Returns the index of the class that the scores decide."""
    if fitted.scheme == "binary":
        positive = graph.add("Greater", graph.add("Squeeze", scores, graph.constant(np.array([1]))), graph.constant(0.0))
        return graph.add("Cast", positive, to=7)
    return graph.add("ArgMax", scores, axis=1, keepdims=0)


def _functions(graph: _Graph, fitted: Any, features: str) -> str:
    """Returns the functions that the members combine: the features, or kernel sections."""
    basis = fitted.basis
    if basis is None:
        return features
    if "sections" not in basis:
        raise ValueError(f"The approximation of {basis['kernel']} is by random Fourier features, which ONNX cannot express in double precision.")
    if basis["scales"] is not None:
        features = graph.add("Mul", features, graph.constant(np.array(basis["scales"])))
    return _kernel(graph, basis["kernel"], features, basis["sections"])


def _kernel(graph: _Graph, text: str, features: str, sections: np.ndarray) -> str:
    """Returns the kernel between the features and the sections, with one section a column."""
    name, _, rest = text.partition(":")
    if any(sign in text.replace("e+", "") for sign in "+*("):
        raise ValueError(f"The kernel is {text}, a combination of kernels, which is not expressed in ONNX.")
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


def _power(graph: _Graph, base: str, degree: int) -> str:
    """Returns a whole power by products."""
    power = base
    for _ in range(degree - 1):
        power = graph.add("Mul", power, base)
    return power


def _probabilities(graph: _Graph, scores: str, fitted: Any) -> str:
    """Returns the probabilities of all classes, of which the one decided is the largest."""
    if fitted.platt is not None:
        if fitted.scheme != "binary":
            raise ValueError("The probabilities are Platt scalings of several classes, which ONNX cannot express here.")
        ((slope, intercept),) = fitted.platt
        odds = graph.add("Add", graph.add("Mul", scores, graph.constant(-slope)), graph.constant(-intercept))
        positive = _nearest_to_decision(graph, scores, _sigmoid(graph, odds))
    else:
        positive = _of_loss(graph, fitted.loss, scores)
    if fitted.scheme == "binary":
        return graph.add("Concat", graph.add("Sub", graph.constant(1.0), positive), positive, axis=1)
    total = graph.add("ReduceSum", positive, graph.constant(np.array([1])), keepdims=1)
    return graph.add("Div", positive, total)


def _nearest_to_decision(graph: _Graph, scores: str, positive: str) -> str:
    """Returns probabilities of at least one half where the score decides for the class, and of at most that elsewhere."""
    half = graph.constant(0.5)
    above, below = graph.add("Max", positive, half), graph.add("Min", positive, half)
    return graph.add("Where", graph.add("Greater", scores, graph.constant(0.0)), above, below)


def _sigmoid(graph: _Graph, odds: str) -> str:
    """Returns the logistic function, by its own exponential."""
    return graph.add("Reciprocal", graph.add("Add", graph.add("Exp", graph.add("Neg", odds)), graph.constant(1.0)))


def _of_loss(graph: _Graph, loss: str, scores: str) -> str:
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

    def falls(graph: _Graph, u: str, given: dict[str, float]) -> str:
        return graph.add("Pow", graph.add("Reciprocal", graph.add("Max", u, graph.constant(1.0))), graph.constant(power(given)))

    return falls


def _distance_weighted(graph: _Graph, u: str, given: dict[str, float]) -> str:
    """Returns the fall of distance weighted discrimination, `(max(u, knee)/knee)^-(q + 1)`."""
    knee = graph.constant(given["q"] / (given["q"] + 1))
    return graph.add("Pow", graph.add("Div", graph.add("Max", u, knee), knee), graph.constant(-given["q"] - 1))


def _smoothed(graph: _Graph, u: str, given: dict[str, float]) -> str:
    """Returns the fall of the smoothed hinge loss."""
    rest = graph.add("Div", graph.add("Sub", graph.constant(1.0), u), graph.constant(given["width"]))
    return graph.add("Clip", rest, graph.constant(0.0), graph.constant(1.0))


def _below(graph: _Graph, u: str, given: dict[str, float]) -> str:
    """Returns the distance to the level of margin pursuit in units of its scale."""
    return graph.add("Div", graph.add("Sub", graph.constant(given["gamma"]), u), graph.constant(given["scale"]))


def _log_cosh(graph: _Graph, u: str, given: dict[str, float]) -> str:
    """Returns the fall of the log-cosh loss, 0 where it rises."""
    return graph.add("Max", graph.add("Tanh", _below(graph, u, given)), graph.constant(0.0))


def _pursuit(graph: _Graph, u: str, given: dict[str, float]) -> str:
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
