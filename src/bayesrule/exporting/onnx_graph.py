"""A rule as an ONNX graph of plain operators.

=============  =============================================================================
``X``          input, (n, D): the columns of X as numbers; NaN is a missing value. Flags are 0 and
               1, and what stands in the place of a column of text does not matter
``text_3``     input, (n, 1), one for each column of text, by its place; "" is a missing value
``decision``   output, (n,): the place of the decision; -1 for a row that Python would refuse
``label``      output, (n,): the decision, as text or as whole numbers; "" and -1 for such a row
``chances``    output, (n, K): the posteriors; NaN for such a row
=============  =============================================================================

Numbers are of double precision unless float32 is asked for, as some accelerators want it. Decisions
then are those of a row rounded to seven digits: near a boundary they may differ from Python's.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from bayesrule.exporting.arithmetic import CannotExportError, Column, Expression, Language, Shared
from bayesrule.exporting.program import Program

#: Versions of the operators that are used: onnxruntime has had them since 2021.
OPSET, ML_OPSET = 13, 2
#: Version of the file format that goes with them.
IR_VERSION = 8
#: The largest numbers: whatever is beyond is infinite.
LARGEST = {np.dtype(kind): float(np.finfo(kind).max) for kind in ("float64", "float32")}


def onnx_bytes(program: Program, dtype: str = "float64") -> bytes:
    """The graph as a file.

    Parameters
    ----------
    program : Program
    dtype : {"float64", "float32"}
    """
    if dtype not in ("float64", "float32"):
        raise ValueError(f"dtype={dtype!r} is not known; use 'float64' or 'float32'.")
    try:
        import onnx
    except ImportError as error:
        raise ImportError("ONNX needs a package: pip install 'bayesrule[onnx]'.") from error
    graph = Graph(onnx, np.dtype(dtype))
    refused = graph.refused(program.columns)
    place = graph.long(graph.per_row(program.decision.write(graph)))
    lost = graph.constant(np.array(-1, np.int64))
    decision = place if refused is None else graph.node("Where", refused, lost, place)
    chances = [graph.per_row(chance.write(graph)) for chance in program.chances]
    if refused is not None:
        unknown = graph.number(float("nan"))
        chances = [graph.node("Where", refused, unknown, chance) for chance in chances]
    labels, blank = _labels(program)
    label = graph.node("Gather", graph.constant(labels), place)
    if refused is not None:
        label = graph.node("Where", refused, graph.constant(blank), label)
    axis = graph.constant(np.array([1], np.int64))
    side_by_side = [graph.node("Unsqueeze", chance, axis) for chance in chances]
    graph.output("decision", decision)
    graph.output("label", label)
    graph.output("chances", graph.node("Concat", *side_by_side, axis=1))
    data: bytes = graph.model(program, labels.dtype.kind == "i").SerializeToString()
    return data


def _labels(program: Program) -> tuple[np.ndarray, np.ndarray]:
    """The decisions as a tensor, and what stands for none."""
    whole = all(isinstance(v, int) and not isinstance(v, bool) for v in program.decision_labels)
    if whole:
        return np.array(program.decision_labels, np.int64), np.array(-1, np.int64)
    return np.array(program.decisions, dtype=object), np.array("", dtype=object)


class Graph(Language[str]):
    """Expressions as nodes, told by the names of their results."""

    def __init__(self, onnx: Any, dtype: Any):
        self.onnx = onnx
        self.dtype = dtype
        self.kind = onnx.helper.np_dtype_to_tensor_dtype(dtype)
        self.nodes: list[Any] = []
        self.constants: dict[bytes, Any] = {}
        self._columns: dict[int, str] = {}
        self._texts: list[int] = []
        self._shared: dict[int, tuple[str, Expression]] = {}
        self._same: dict[tuple[Any, ...], str] = {}
        self._outputs: list[str] = []

    # ------------------------------------------------------------------ nodes

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """The result of an operator; the same one is not computed twice."""
        key = (kind, inputs, domain, repr(sorted(attributes.items())))
        if key not in self._same:
            name = self._same[key] = f"n{len(self.nodes)}"
            made = self.onnx.helper.make_node(
                kind, list(inputs), [name], domain=domain, **attributes
            )
            self.nodes.append(made)
        return self._same[key]

    def constant(self, value: np.ndarray) -> str:
        """A tensor of constants."""
        texts = value.dtype.kind == "O"
        data = json.dumps(value.tolist()).encode() if texts else value.tobytes()
        key = f"{value.dtype}{value.shape}".encode() + data
        if key not in self.constants:
            name = f"c{len(self.constants)}"
            if texts:
                made = self.onnx.helper.make_tensor(
                    name,
                    self.onnx.TensorProto.STRING,
                    value.shape,
                    [text.encode() for text in value.ravel().tolist()],
                )
            else:
                made = self.onnx.numpy_helper.from_array(value, name)
            self.constants[key] = made
        found: str = self.constants[key].name
        return found

    def numbers(self, values: Any) -> str:
        """A tensor of numbers of the graph's precision."""
        with np.errstate(over="ignore"):
            return self.constant(np.asarray(values, dtype=np.float64).astype(self.dtype))

    def long(self, value: str) -> str:
        """A number as a place; a missing one is the first."""
        there = self.node("IsNaN", value)
        known = self.node("Where", there, self.number(0.0), value)
        return self.node("Cast", known, to=int(self.onnx.TensorProto.INT64))

    def real(self, value: str) -> str:
        """Places or truth values as numbers."""
        return self.node("Cast", value, to=int(self.kind))

    def per_row(self, value: str) -> str:
        """A number for each row, also where it is the same for all."""
        rows = self.node("Shape", self._raw(0))
        return self.node("Expand", value, rows)

    def output(self, name: str, value: str) -> None:
        """Give a result its name."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        self._outputs.append(name)

    def model(self, program: Program, whole_labels: bool) -> Any:
        """The nodes with inputs and outputs, checked."""
        helper, kinds = self.onnx.helper, self.onnx.TensorProto
        inputs = [helper.make_tensor_value_info("X", self.kind, [None, program.n_columns])]
        inputs += [
            helper.make_tensor_value_info(f"text_{place}", kinds.STRING, [None, 1])
            for place in sorted(self._texts)
        ]
        outputs = [
            helper.make_tensor_value_info("decision", kinds.INT64, [None]),
            helper.make_tensor_value_info(
                "label", kinds.INT64 if whole_labels else kinds.STRING, [None]
            ),
            helper.make_tensor_value_info("chances", self.kind, [None, len(program.classes)]),
        ]
        used = {name for node in self.nodes for name in node.input}
        constants = [made for made in self.constants.values() if made.name in used]
        graph = helper.make_graph(self.nodes, "bayesrule", inputs, outputs, constants)
        model = helper.make_model(
            graph,
            producer_name="bayesrule",
            ir_version=IR_VERSION,
            opset_imports=[
                helper.make_opsetid("", OPSET),
                helper.make_opsetid("ai.onnx.ml", ML_OPSET),
            ],
        )
        told = {
            "columns": json.dumps({c.place: c.name for c in program.columns}),
            "classes": json.dumps(program.classes),
            "decisions": json.dumps(program.decisions),
        }
        helper.set_model_props(model, told)
        self.onnx.checker.check_model(model)
        return model

    # ------------------------------------------------------------------ columns

    def _raw(self, place: int) -> str:
        """A column of X."""
        return self.node("Gather", "X", self.constant(np.array(place, np.int64)), axis=1)

    def refused(self, columns: tuple[Column, ...]) -> str | None:
        """Whether Python would refuse each row; None where it refuses none."""
        tests: list[str] = []
        for column in columns:
            if column.form == "text":
                value = self.value(column)
            else:
                value = self._raw(column.place)
                largest = self.number(LARGEST[self.dtype])
                tests.append(self.node("Greater", self.node("Abs", value), largest))
            if not column.gaps:
                tests.append(self.node("IsNaN", value))
            if column.least is not None:
                tests.append(self.node("Less", value, self.number(column.least)))
            if column.only:
                known = [self.node("Equal", value, self.number(v)) for v in column.only]
                known.append(self.node("IsNaN", value))
                tests.append(self.node("Not", self._joined("Or", known)))
        return self._joined("Or", tests) if tests else None

    def _joined(self, kind: str, parts: list[str]) -> str:
        found = parts[0]
        for part in parts[1:]:
            found = self.node(kind, found, part)
        return found

    def value(self, column: Column) -> str:
        if column.place not in self._columns:
            self._columns[column.place] = self._read(column)
        return self._columns[column.place]

    def _read(self, column: Column) -> str:
        """What the arithmetic sees of a column."""
        if column.form == "text":
            return self._category(column)
        value = self._raw(column.place)
        if not column.labels:
            return value
        axis = self.constant(np.array([1], np.int64))
        same = self.node(
            "Equal", self.node("Unsqueeze", value, axis), self.numbers([column.labels])
        )
        hits = self.node("Cast", same, to=1)
        place = self.real(self.node("ArgMax", hits, axis=1, keepdims=0))
        most = self.node("ReduceMax", hits, axes=[1], keepdims=0)
        any_hit = self.node("Greater", most, self.constant(np.array(0.0, np.float32)))
        known = self.node("Where", any_hit, place, self.number(-1.0))
        return self.node("Where", self.node("IsNaN", value), value, known)

    def _category(self, column: Column) -> str:
        if "" in column.labels:
            raise CannotExportError(
                f"Column {column.name!r} has the empty text as a category, which in ONNX stands "
                "for a missing value. Give it a name and fit again."
            )
        if column.place not in self._texts:
            self._texts.append(column.place)
        flat = self.node("Reshape", f"text_{column.place}", self.constant(np.array([-1], np.int64)))
        # The empty text has a place of its own, which is turned into a missing number.
        codes = self.node(
            "LabelEncoder",
            flat,
            domain="ai.onnx.ml",
            keys_strings=[*column.labels, ""],
            values_int64s=[*range(len(column.labels)), -2],
            default_int64=-1,
        )
        code = self.real(codes)
        missing = self.node("Less", code, self.number(-1.5))
        return self.node("Where", missing, self.number(float("nan")), code)

    def there(self, column: Column) -> str:
        return self.node("Not", self.node("IsNaN", self.value(column)))

    # ------------------------------------------------------------------ the language

    def number(self, value: float) -> str:
        return self.numbers(value)

    def sum(self, terms: list[str]) -> str:
        return self._joined("Add", terms)

    def operation(self, sign: str, left: str, right: str) -> str:
        return self.node({"-": "Sub", "*": "Mul", "/": "Div"}[sign], left, right)

    def call(self, name: str, arguments: list[str]) -> str:
        if name != "log1p":
            kind = {"log": "Log", "exp": "Exp", "sqrt": "Sqrt", "power": "Pow"}[name]
            return self.node(kind, *arguments)
        # Kahan's: the error of 1 + z is made in the quotient too, and cancels.
        (z,), unit = arguments, self.number(1.0)
        one = self.node("Add", unit, z)
        quotient = self.node("Div", z, self.node("Sub", one, unit))
        grown = self.node("Mul", self.node("Log", one), quotient)
        return self.node("Where", self.node("Equal", one, unit), z, grown)

    def lookup(self, table: np.ndarray, column: int, place: str) -> str:
        return self.node("Gather", self.numbers(table[:, column]), self.long(place))

    def level(self, of: str, edges: tuple[float, ...]) -> str:
        axis = self.constant(np.array([1], np.int64))
        wide = self.node("Unsqueeze", of, axis)
        above = self.real(self.node("GreaterOrEqual", wide, self.numbers([edges])))
        return self.node("ReduceSum", above, axis, keepdims=0)

    def choice(self, test: str, yes: str, no: str) -> str:
        return self.node("Where", test, yes, no)

    def shared(self, expression: Shared) -> str:
        if id(expression) not in self._shared:
            self._shared[id(expression)] = expression.of.write(self), expression
        return self._shared[id(expression)][0]

    def compared(self, sign: str, left: str, right: str) -> str:
        return self.node({"<": "Less", ">": "Greater", "=": "Equal"}[sign], left, right)

    def all(self, tests: list[str]) -> str:
        return self._joined("And", tests)
