"""The nodes and constants of an ONNX graph."""

from __future__ import annotations

from typing import Any

import numpy as np

_OPSET = 17


class Graph:
    """Nodes of a graph, each known by the name of its output; what was there before is used again."""

    input = "X"

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._known: dict[Any, str] = {}

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node and returns the name of its output."""
        from onnx import helper

        key = (operator, inputs, tuple(attributes.items()))
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
