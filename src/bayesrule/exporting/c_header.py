"""A rule as one C99 header: no dependencies but the standard library, no memory of its own.

``NAME_decide(x)`` takes the row as doubles and gives the place of the decision, or -1 for a row
that Python would refuse. All that a model calls itself (columns, classes, categories) appears as
string literals of plain characters, and in comments as plain words only.
"""

from __future__ import annotations

import re

import numpy as np

from bayesrule.exporting.arithmetic import CannotExportError, Column, Expression, Language, Shared
from bayesrule.exporting.program import Program

#: Up to so many edges it is faster to look at all of them.
FEW = 16
#: Numbers of a table on one line.
PER_LINE = 8


def c_header(program: Program, name: str = "bayesrule") -> str:
    """The text of the header; its functions begin with ``name``."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ValueError(f"name={name!r} is no name in C: use letters, digits and underscores.")
    tables = Tables(name)
    whole = program.whole
    decision = "" if whole is None else _function(whole, f"{name}_decide_whole", tables)
    decision += _function(program, f"{name}_decide", tables)
    chances = _chances(program, name, tables)
    lists = [
        _names(f"{name}_decision", program.decisions, "decision"),
        _names(f"{name}_class", program.classes, "class"),
        _names(f"{name}_feature", _all_columns(program), "feature"),
    ]
    codes = [_category(name, column) for column in program.columns if column.form == "text"]
    guard = f"{name.upper()}_H"
    upper = name.upper()
    return "\n".join(
        [
            *_opening(program, name),
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            "#include <float.h>",
            "#include <math.h>",
            "#include <string.h>",
            "",
            "#ifdef __FAST_MATH__",
            '#error "A missing value is NAN here: compile without -ffast-math."',
            "#endif",
            "",
            f"#define {upper}_FEATURES {program.n_columns}",
            f"#define {upper}_CLASSES {len(program.classes)}",
            f"#define {upper}_DECISIONS {len(program.decisions)}",
            "",
            *lists,
            *codes,
            *tables.written,
            *_search(name),
            decision,
            chances,
            f"#endif /* {guard} */",
            "",
        ]
    )


def _opening(program: Program, name: str) -> list[str]:
    """What whoever opens the file should know."""
    lines = [
        "Decisions of highest expected gain, written by bayesrule.",
        "",
        f"int {name}_decide(const double *x)",
        "    The place of the decision for a row, or -1 where the row cannot be decided:",
        "    a value is infinite, missing or below zero where that is not allowed.",
        f"int {name}_chances(const double *x, double *chances)",
        "    Writes the chance of each class; 0, or -1 for such a row.",
        f"const char *{name}_decision(int place), {name}_class(int), {name}_feature(int)",
        "    Names, in UTF-8; NULL for a place that there is not.",
        "",
        "A missing value is NAN. Compile with -ffp-contract=off for the very numbers of Python.",
        "",
        "x[place]:",
    ]
    for column in program.columns:
        how = {
            "number": "a number",
            "flag": "0 or 1",
            "label": "a category told by its number",
            "text": f"a category, as {name}_category_{column.place}(text) tells it",
        }[column.form]
        gaps = "may be missing" if column.gaps else "must be there"
        lines.append(f"    {column.place:4d}  {plain(column.name)}: {how}, {gaps}")
    return ["/*", *(f" * {line}".rstrip() for line in lines), " */"]


def plain(text: str) -> str:
    """Text for a comment: no character that could end it or mean anything."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in " _.,-") else "." for c in text)
    return kept[:60]


def literal(text: str) -> str:
    """A string literal of plain characters: others by their bytes, in three octal digits each."""
    if "\0" in text:
        raise CannotExportError(f"The name {text[:40]!r} holds a zero, which ends a text in C.")
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise CannotExportError(f"The name {text[:40]!r} is no valid Unicode text.") from None
    safe = set(range(32, 127)) - set(b'"\\?')
    return '"' + "".join(chr(byte) if byte in safe else f"\\{byte:03o}" for byte in data) + '"'


def _all_columns(program: Program) -> tuple[str, ...]:
    known = {column.place: column.name for column in program.columns}
    return tuple(known.get(j, "") for j in range(program.n_columns))


def _names(function: str, names: tuple[str, ...], what: str) -> str:
    """A function from places to names."""
    cases = "\n".join(f"    case {i}: return {literal(name)};" for i, name in enumerate(names))
    return (
        f"/* Name of a {what}. */\n"
        f"static inline const char *{function}(int place)\n{{\n    switch (place) {{\n{cases}\n"
        f"    default: return (const char *)0;\n    }}\n}}\n"
    )


def _category(name: str, column: Column) -> str:
    """A function from the text of a category to the number that stands for it."""
    order = sorted(range(len(column.labels)), key=lambda c: column.labels[c].encode())
    rows = "".join(f"        {{{literal(column.labels[c])}, {c}}},\n" for c in order)
    head = (
        f"/* What stands in x[{column.place}] for a category; NULL is a missing one. */\n"
        f"static inline double {name}_category_{column.place}(const char *text)\n{{\n"
    )
    if not order:
        return head + "    return text ? -1.0 : (double)NAN;\n}\n"
    return (
        head + "    static const struct { const char *text; int place; } known[] = {\n"
        f"{rows}    }};\n    int low = 0, high = {len(order)} - 1;\n"
        "    if (!text)\n        return (double)NAN;\n"
        "    while (low <= high) {\n        const int middle = (low + high) / 2;\n"
        "        const int side = strcmp(text, known[middle].text);\n"
        "        if (side == 0)\n            return (double)known[middle].place;\n"
        "        if (side < 0)\n            high = middle - 1;\n        else\n"
        "            low = middle + 1;\n    }\n    return -1.0;\n}\n"
    )


def number(value: float) -> str:
    """A number as Python's shortest text, which C reads back to the last bit."""
    text = repr(float(value))
    return f"({text})" if value < 0 else text


class Tables:
    """Tables that functions look numbers up in, each written once."""

    def __init__(self, name: str):
        self.name = name
        self.written: list[str] = []
        self._known: dict[bytes, str] = {}

    def of(self, values: np.ndarray) -> str:
        """The name of a table of numbers."""
        flat = np.ascontiguousarray(values, dtype=float).ravel()
        whole = len(flat) > 0 and bool((flat == np.floor(flat)).all())
        small = whole and 0 <= flat.min() <= flat.max() < 2**15
        kind = "unsigned short" if small else "double"
        key = kind.encode() + flat.tobytes()
        if key not in self._known:
            known = self._known[key] = f"{self.name}_table_{len(self._known)}"
            cells = [str(int(v)) if small else repr(float(v)) for v in flat]
            lines = [
                "    " + ", ".join(cells[i : i + PER_LINE]) for i in range(0, len(cells), PER_LINE)
            ]
            self.written.append(
                f"static const {kind} {known}[{len(cells)}] = {{\n" + ",\n".join(lines) + "\n};\n"
            )
        return self._known[key]


class CText(Language[str]):
    """Expressions as C; what is shared becomes a constant with a name."""

    def __init__(self, tables: Tables):
        self.tables = tables
        self.lines: list[str] = []
        self._names: dict[int, str] = {}
        self._held: list[Expression] = []

    def number(self, value: float) -> str:
        return number(value)

    def value(self, column: Column) -> str:
        return f"v{column.place}"

    def there(self, column: Column) -> str:
        return f"!isnan(v{column.place})"

    def sum(self, terms: list[str]) -> str:
        return "(" + " + ".join(terms) + ")"

    def operation(self, sign: str, left: str, right: str) -> str:
        return f"({left} {sign} {right})"

    def call(self, name: str, arguments: list[str]) -> str:
        return f"{'pow' if name == 'power' else name}({', '.join(arguments)})"

    def lookup(self, table: np.ndarray, column: int, place: str) -> str:
        known, width = self.tables.of(table), table.shape[1]
        at = f"(int){place}" if width == 1 else f"(int){place} * {width} + {column}"
        return f"(double){known}[{at}]"

    def level(self, of: str, edges: tuple[float, ...]) -> str:
        if len(edges) <= FEW:
            tests = " + ".join(f"({of} >= {number(edge)})" for edge in edges)
            return f"(double)({tests or 0})"
        table = self.tables.of(np.array(edges)[:, None])
        return f"(double){self.tables.name}_level({of}, {table}, {len(edges)})"

    def choice(self, test: str, yes: str, no: str) -> str:
        return f"({test} ? {yes} : {no})"

    def compared(self, sign: str, left: str, right: str) -> str:
        return f"{left} {'==' if sign == '=' else sign} {right}"

    def all(self, tests: list[str]) -> str:
        return "(" + " && ".join(tests) + ")"

    def shared(self, expression: Shared) -> str:
        known = self._names.get(id(expression))
        if known is None:
            text = expression.of.write(self)
            if re.fullmatch(r"[a-z]\d+", text):
                known = text
            else:
                known = f"b{len(self.lines)}"
                self.lines.append(f"    const double {known} = {text};")
            self._names[id(expression)] = known
            self._held.append(expression)
        return known


def _reading(program: Program) -> list[str]:
    """Lines that take the values of the columns, and leave where Python would refuse the row."""
    lines = []
    for column in program.columns:
        place = f"v{column.place}"
        lines.append(f"    const double r{column.place} = x[{column.place}];")
        raw = f"r{column.place}"
        if column.form == "number":
            lines[-1] = f"    const double {place} = x[{column.place}];"
            raw = place
        tests = [f"fabs({raw}) > DBL_MAX" if column.gaps else f"!(fabs({raw}) <= DBL_MAX)"]
        if column.least is not None:
            tests.append(f"{raw} < {number(column.least)}")
        if column.only:
            others = " && ".join(f"{raw} != {number(v)}" for v in column.only)
            tests.append(f"(!isnan({raw}) && {others})")
        lines.append(f"    if ({' || '.join(tests)})\n        return -1;")
        if column.form in ("label", "flag") and column.labels:
            chain = "-1.0"
            for c in reversed(range(len(column.labels))):
                chain = f"{raw} == {number(column.labels[c])} ? {float(c)!r} : {chain}"
            lines.append(f"    const double {place} = isnan({raw}) ? {raw} : ({chain});")
        elif column.form != "number":
            lines.append(f"    const double {place} = {raw};")
    return lines


def _function(program: Program, function: str, tables: Tables) -> str:
    """A function that decides."""
    text = CText(tables)
    answer = program.decision.write(text)
    shorter = []
    if program.whole is not None:
        gaps = " || ".join(f"isnan(v{c.place})" for c in program.columns if c.gaps)
        shorter = [f"    if (!({gaps}))", f"        return {function}_whole(x);"]
    return "\n".join(
        [
            "/* Place of the decision of highest expected gain; -1 for a row that is refused. */",
            f"static inline int {function}(const double *x)",
            "{",
            *(_reading(program) or ["    (void)x;"]),
            *shorter,
            *text.lines,
            f"    return (int){answer};",
            "}",
            "",
            "",
        ]
    )


def _search(name: str) -> list[str]:
    """A search that functions share."""
    return [
        "/* How many of n increasing edges are at most v. */",
        f"static inline int {name}_level(double v, const double *edges, int n)",
        "{",
        "    const double *low = edges;",
        "    while (n > 1) {",
        "        const int half = n / 2;",
        "        low += low[half - 1] <= v ? half : 0;",
        "        n -= half;",
        "    }",
        "    return (int)(low - edges) + (*low <= v ? 1 : 0);",
        "}",
        "",
    ]


def _chances(program: Program, name: str, tables: Tables) -> str:
    """The function that writes posteriors."""
    text = CText(tables)
    answers = [chance.write(text) for chance in program.chances]
    lines = _reading(program)
    return "\n".join(
        [
            "/* Chance of each class; 0, or -1 for a row that is refused. */",
            f"static inline int {name}_chances(const double *x, double *chances)",
            "{",
            *(lines or ["    (void)x;"]),
            *text.lines,
            *(f"    chances[{k}] = {answer};" for k, answer in enumerate(answers)),
            "    return 0;",
            "}",
            "",
        ]
    )
