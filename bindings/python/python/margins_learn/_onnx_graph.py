"""The nodes and constants of an ONNX graph."""

from __future__ import annotations

from typing import Any

import numpy as np

_OPSET = 17
_ML, _ML_OPSET = "ai.onnx.ml", 3


class Graph:
    """Nodes of a graph, each known by the name of its output; what was there before is used again."""

    def __init__(self) -> None:
        self.inputs: list[tuple[str, Any, int]] = []
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._known: dict[Any, str] = {}

    def input(self, name: str, kind: Any, columns: int) -> str:
        """Adds an input of numbers or texts and returns its name."""
        self.inputs.append((name, kind, columns))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node and returns the name of its output."""
        return self._node(operator, inputs, attributes)

    def add_ml(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node of the operators for machine learning and returns the name of its output."""
        return self._node(operator, inputs, attributes | {"domain": _ML})

    def _node(self, operator: str, inputs: tuple[str, ...], attributes: dict[str, Any]) -> str:
        from onnx import helper

        key = (operator, inputs, tuple((name, str(value)) for name, value in attributes.items()))
        if key not in self._known:
            self._known[key] = output = f"v{len(self.nodes)}"
            outputs = [output, f"{output}_places"] if operator == "TopK" else [output]
            self.nodes.append(helper.make_node(operator, list(inputs), outputs, **attributes))
        return self._known[key]

    def constant(self, values: Any) -> str:
        """Adds a constant and returns its name."""
        from onnx import numpy_helper

        values = np.asarray(values)
        values = np.ascontiguousarray(values.astype(np.float64) if values.dtype.kind == "f" else values).reshape(values.shape)
        content = tuple(values.tolist()) if values.dtype.kind == "O" else values.tobytes()
        key = (values.dtype.str, values.shape, content)
        if key not in self._known:
            self._known[key] = f"c{len(self.constants)}"
            self.constants.append(numpy_helper.from_array(values, self._known[key]))
        return self._known[key]

    def name_output(self, value: str, name: str) -> None:
        """Gives a value the name of an output."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [value], [name]))

    def model(self, name: str, outputs: list[tuple[str, Any, list[Any]]]) -> Any:
        """Returns the graph with its inputs and outputs."""
        from onnx import TensorProto, helper

        def tensor(kind: Any) -> int:
            kind = np.dtype(kind)
            return TensorProto.STRING if kind.kind in "OU" else helper.np_dtype_to_tensor_dtype(kind)

        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info(given, tensor(kind), [None, columns]) for given, kind, columns in self.inputs],
            [helper.make_tensor_value_info(output, tensor(kind), shape) for output, kind, shape in outputs],
            self.constants,
        )
        opsets = [helper.make_opsetid("", _OPSET)]
        if any(node.domain == _ML for node in self.nodes):
            opsets.append(helper.make_opsetid(_ML, _ML_OPSET))
        return helper.make_model(graph, producer_name="margins-learn", ir_version=8, opset_imports=opsets)
