"""The transformers of a pipeline as nodes of an ONNX graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

from ._onnx_graph import Graph


def transformed(graph: Graph, steps: list[Any]) -> str:
    """Returns the outputs of the transformers of a pipeline for the inputs of the graph.

    The input is `X`, or one input for each transformer of a `ColumnTransformer`, under its name, because columns of a graph have one
    type.
    """
    first = steps[0]
    if isinstance(first, ColumnTransformer):
        features = _side_by_side(graph, first)
    else:
        features = _applied(graph, first, graph.input("X", _kind(first), first.n_features_in_))
    for step in steps[1:]:
        if isinstance(step, ColumnTransformer):
            raise ValueError(f"The pipeline has {step!r} behind another transformer, which ONNX cannot express here: make it the first step.")
        features = _applied(graph, step, features)
    return features


def _side_by_side(graph: Graph, transformer: ColumnTransformer) -> str:
    """Returns the columns that the transformers make, one beside the other."""
    if transformer.transformer_weights:
        raise ValueError(f"transformer_weights is {transformer.transformer_weights!r}, which ONNX cannot express here: leave it out.")
    parts = []
    for name, step, _ in transformer.transformers_:
        if not isinstance(step, str) and step.n_features_in_ > 0:
            parts.append(_applied(graph, step, graph.input(name, _kind(step), step.n_features_in_)))
    return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)


def _kind(step: Any) -> Any:
    """Returns the type of the columns that a transformer takes: texts for an encoder of texts, else numbers."""
    kinds = {"text" if _is_text(categories) else "number" for categories in getattr(step, "categories_", [])}
    if len(kinds) > 1:
        raise ValueError(f"{step!r} encodes texts and numbers, but an input of a graph has one type: encode them by two transformers.")
    return object if kinds == {"text"} else np.float64


def _is_text(categories: np.ndarray) -> bool:
    return all(isinstance(category, str) for category in categories.tolist())


def _applied(graph: Graph, step: Any, features: str) -> str:
    """Returns what a transformer makes of features."""
    if isinstance(step, FunctionTransformer) and step.func is None:
        return features
    if isinstance(step, StandardScaler):
        if step.with_mean:
            features = graph.add("Sub", features, graph.constant(step.mean_))
        return graph.add("Div", features, graph.constant(step.scale_)) if step.with_std else features
    if isinstance(step, OneHotEncoder):
        return _one_hot(graph, step, features)
    if isinstance(step, OrdinalEncoder):
        return _ordinal(graph, step, features)
    raise ValueError(
        f"The pipeline has {step!r}, which ONNX cannot express here: it takes StandardScaler, OneHotEncoder, OrdinalEncoder and a "
        "ColumnTransformer of them."
    )


def _levels(graph: Graph, step: Any, features: str) -> list[tuple[str, np.ndarray]]:
    """Returns for every column whether it has each of its categories, a matrix of truth values, with the categories."""
    if getattr(step, "infrequent_categories_", None) is not None and any(one is not None for one in step.infrequent_categories_):
        raise ValueError(f"{step!r} has infrequent categories, which ONNX cannot express here.")
    found = []
    for at, categories in enumerate(step.categories_):
        column = graph.add("Gather", features, graph.constant(np.array([at])), axis=1)
        if _is_text(categories):
            keys = categories.tolist()
            codes = graph.add_ml("LabelEncoder", column, keys_strings=keys, values_int64s=list(range(len(keys))), default_int64=-1)
            found.append((graph.add("Equal", codes, graph.constant(np.arange(len(keys))[None])), categories))
        elif categories.dtype.kind in "biuf" and np.isfinite(categories.astype(np.float64)).all():
            found.append((graph.add("Equal", column, graph.constant(categories.astype(np.float64)[None])), categories))
        else:
            raise ValueError(f"{step!r} has the categories {categories.tolist()} of column {at}, but ONNX compares texts or numbers alone.")
    return found


def _one_hot(graph: Graph, step: OneHotEncoder, features: str) -> str:
    """Returns a column for every category that is not dropped."""
    dropped = [None] * len(step.categories_) if step.drop_idx_ is None else step.drop_idx_
    parts = []
    for (levels, categories), without in zip(_levels(graph, step, features), dropped, strict=True):
        kept = np.delete(np.arange(len(categories)), [] if without is None else [int(without)])
        parts.append(graph.add("Gather", graph.add("Cast", levels, to=11), graph.constant(kept), axis=1))
    return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)


def _ordinal(graph: Graph, step: OrdinalEncoder, features: str) -> str:
    """Returns the place of the category of every column."""
    unknown = float(step.unknown_value) if step.handle_unknown == "use_encoded_value" else -1.0
    parts = []
    for levels, categories in _levels(graph, step, features):
        # Nothing is added for an unknown category.
        places = graph.constant(np.arange(len(categories), dtype=np.float64)[None] - unknown)
        ones = graph.add("Mul", graph.add("Cast", levels, to=11), places)
        total = graph.add("ReduceSum", ones, graph.constant(np.array([1])), keepdims=1)
        parts.append(graph.add("Add", total, graph.constant(unknown)))
    return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)
