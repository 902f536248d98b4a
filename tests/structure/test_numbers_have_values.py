"""Numbers have a value from the start. What lies in one that nothing has set depends on the options of the compiler, and
so would answers: sums would begin at 0 in one build and elsewhere in another.

Read from the text of all C++ and CUDA sources. "Open" is a type whose objects hold nothing in particular where a
declaration says no value: numbers, enums, pointers, and aggregates of them without default initializers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {str(path.relative_to(ROOT)): path.read_text() for folder in ("halo", "dirac", "lattice_io", "solver", "python")
           for path in sorted((ROOT / folder).rglob("*")) if path.suffix in {".hpp", ".cpp", ".cu", ".cuh", ".h"}}

NUMBERS = {"bool", "char", "short", "int", "unsigned", "long", "float", "double", "size_t", "ptrdiff_t", "byte", "int4", "uint2", "uint4",
           "float2", "float4", "double2", "MPI_Comm", "MPI_Request"} | {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
NAME = r"[A-Za-z_]\w*(?:\s*\[[^]]*\])*"
# Nothing is set: a type, perhaps with arguments of a template, and names, perhaps with the lengths of arrays.
DECLARATION = re.compile(r"(?P<words>(?:(?:static|extern|thread_local|inline|mutable|const|constexpr|volatile|__shared__|alignas\s*\([^()]*\))\s+)*)"
                         r"(?:typename\s+)?(?P<type>(?:\w+::)*[A-Za-z_]\w*(?:\s+(?:long|int|char|short)\b)*)\s*(?P<arguments><.*>)?"
                         rf"(?P<stars>[\s*]*(?:const\b)?)\s*\b(?P<names>{NAME}(?:\s*,\s*\**\s*{NAME})*)", re.S)
NO_TYPE = {"return", "delete", "using", "typedef", "goto", "case", "throw", "else", "new", "friend", "template", "namespace", "struct",
           "class", "enum", "union", "break", "continue", "default", "static_assert", "if", "for", "while", "do", "operator"}


def without_comments(text: str) -> str:
    """Without comments, texts in quotes and lines of the preprocessor, on the same lines."""
    def lines_of(found): return re.sub(r"[^\n]", " ", found.group())
    text = re.sub(r"//[^\n]*|/\*.*?\*/", lines_of, text, flags=re.S)
    text = re.sub(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\'',
                  lambda found: '""' + "\n" * found.group().count("\n"), text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lines_of, text, flags=re.M)


class Scope(NamedTuple):
    kind: str  # namespace, type, enum, value or function
    name: str
    depth: int  # of round brackets before it
    begin: int  # where the statement that it stands in begins


def scope_kind(before: str) -> tuple[str, str]:
    """What a brace opens behind this text of a statement."""
    before = re.sub(r"^\s*template\s*<.*?>\s*(?=struct|class|union|requires|STAGHORN|__|inline|constexpr|[A-Za-z_])", "", before, flags=re.S).strip()
    if re.match(r'(inline\s+)?namespace\b|extern\s+""', before):
        return "namespace", ""
    if found := re.match(r"(?:typedef\s+)?(?:struct|class|union)\b(?:\s+(?:alignas|__align__)\s*\([^()]*\))?\s*(\w*)[^()=]*$", before):
        return "type", found[1]
    if re.match(r"enum\b", before):
        return "enum", ""
    if re.search(r"(^|[^\w\]\s])\s*\[[^\[\]]*\](\s*\{)?$", before):  # a lambda without parameters
        return "function", ""
    if re.search(r"[=,(\]]$|\breturn$|\w$|>$", before) and not re.search(r"\)\s*(const|noexcept|override|mutable)+$|(^|[^\w])(else|do|try)$|->[^()]*$", before):
        return "value", ""
    return "function", ""


def statements(text: str) -> Iterator[tuple[Scope, str, int, int]]:
    """Scope, text, line and end of each statement that a semicolon ends."""
    scopes, begin, depth = [Scope("namespace", "", 0, 0)], 0, 0
    for at, c in enumerate(text):
        if c in "()":
            depth += 1 if c == "(" else -1
        elif c == "{":
            scopes.append(Scope(*scope_kind(text[begin:at]), depth, begin))
            depth = 0
            if scopes[-1].kind != "value":
                begin = at + 1
        elif c == "}" and len(scopes) > 1:
            left = scopes.pop()
            depth, begin = left.depth, left.begin if left.kind == "value" or left.depth > 0 else at + 1
        elif c == ";" and depth == 0:
            yield scopes[-1], text[begin:at].strip(), text.count("\n", 0, at) + 1, at
            begin = at + 1
        elif c == ":" and depth == 0 and re.fullmatch(r"\s*(public|private|protected|default|case\s[^:]*)\s*", text[begin:at]):
            begin = at + 1


class Declared(NamedTuple):
    """Names that a declaration gives no value."""
    file: str
    line: int
    scope: Scope
    words: str
    type: str
    arguments: str
    pointer: bool
    names: list[str]
    arrays: bool
    after: str  # the rest of the file

    def __str__(self):
        return f"{self.file}:{self.line}: {self.type}{self.arguments}{' *' * self.pointer} {', '.join(self.names)}"


def declarations(file: str, text: str) -> Iterator[Declared]:
    text = without_comments(text)
    for scope, statement, line, end in statements(text):
        found = DECLARATION.fullmatch(statement)
        words = re.findall(r"\w+", statement)
        if found and not NO_TYPE & {words[0], last_word(found["type"])}:
            names = [name.strip(" *\n") for name in re.split(r",(?![^\[]*\])", found["names"])]
            yield Declared(file, line, scope, found["words"], found["type"], found["arguments"] or "", "*" in found["stars"],
                           [name.split("[")[0].strip() for name in names], any("[" in name for name in names), text[end:])


def last_word(type_name: str) -> str:
    return type_name.split("::")[-1].split()[0]


class Types:
    """Which types are open where, and which have constructors of their own. What a .cpp or .cu file defines is known there only, and
    so is what a template calls its parameters."""

    def __init__(self, sources: dict[str, str]):
        self.open: dict[str, set[str]] = {"": set(NUMBERS)} | {file: set() for file in sources}
        self.constructed = {"": set()} | {file: set() for file in sources}
        self.aliases, self.members = {}, {}
        for file, raw in sources.items():
            text, where = without_comments(raw), "" if file.endswith(("hpp", "cuh", "h")) else file
            self.open[where] |= set(re.findall(r"\benum (?:class |struct )?(\w+)", text))
            self.open[where] |= set(re.findall(r"\btypedef struct\s*\{[^{}]*\}\s*(\w+)", text))
            for parameters in re.findall(r"\btemplate\s*<([^{};]*?)>\s*(?=[\w\[])", text):
                self.open[file] |= set(re.findall(r"\b(?:class|typename)\s+(\w+)\b", parameters))
            for name in re.findall(r"\b(?:struct|class)\s+(\w+)[^;{()]*\{", text):
                if re.search(rf"(?<![~\w:.>]){name}\s*\([^;{{}}]*\)\s*(?:noexcept\s*)?(?::[^;]*?)?[{{;]", text):
                    self.constructed[where].add(name)
            self.aliases[file, where] = re.findall(r"\busing (\w+) = ([^;]+);", text)
            self.members[file, where] = [d for d in declarations(file, raw)
                                         if d.scope.kind == "type" and d.scope.name and not re.search(r"static|constexpr", d.words)]
        before = -1
        while before != (before := sum(map(len, self.open.values()))):  # until nothing is added
            for (file, where), aliases in self.aliases.items():
                self.open[where] |= {name for name, of in aliases if self.text_is_open(file, of)}
            for (file, where), members in self.members.items():
                self.open[where] |= {d.scope.name for d in members if d.scope.name not in self.constructed[where] and self.is_open(d)}

    def text_is_open(self, file: str, text: str) -> bool:
        found = re.match(r"(?:const\s+|typename\s+)*([\w:]+(?:\s+(?:long|int)\b)*)\s*(<.*>)?\s*(\*?)", text.strip(), re.S)
        return bool(found) and self.type_is_open(file, found[1], found[2] or "", bool(found[3]))

    def type_is_open(self, file: str, name: str, arguments: str, pointer: bool) -> bool:
        if name == "std::array":
            return self.text_is_open(file, arguments[1:-1])
        word = last_word(name)
        return pointer or ("std::" not in name or word in NUMBERS) and (word in self.open[""] or word in self.open[file])

    def is_open(self, declared: Declared) -> bool:
        return self.type_is_open(declared.file, declared.type, declared.arguments, declared.pointer)

    def is_constructed(self, file: str, name: str) -> bool:
        return name in (self.constructed[""] if file.endswith(("hpp", "cuh", "h")) else self.constructed[file])


def is_kernel_text(file: str, text: str) -> bool:
    """Where zeros that are overwritten at once could cost time, or are refused."""
    return file.endswith((".cu", ".cuh")) or file.startswith(("dirac/kernels/", "dirac/algebra/")) or "STAGHORN_INLINE" in text


def is_written_first(name: str, after: str) -> bool:
    """Whether the first use of a name writes it: `name[i] = ...`, or hands it to a function, a loop or a statement of assembler."""
    use = re.search(rf"(?<![\w.>]){name}\b", after)
    if not use:
        return True
    before, behind = after[:use.start()].rstrip(), after[use.end():]
    place = re.match(r"(?:\s*\[(?:[^][]|\[[^][]*\])*\])*(?:\.\w+(?:\[[^]]*\])*)*\s*", behind).group()
    behind = behind[len(place):]
    if re.match(r"=[^=]", behind):
        return True
    handed_over = re.search(r"[(,&]$|\bsizeof$", before) and not before.endswith("&&") and re.match(r"[,)}]|\+ ", behind)
    return bool(handed_over) or before.endswith(":")


def findings(sources: dict[str, str]) -> list[str]:
    types, found = Types(sources), []
    for file, text in sources.items():
        kernel = is_kernel_text(file, text)
        for d in declarations(file, text):
            if not types.is_open(d) or re.search(r"\b(extern|static|constexpr|__shared__)\b", d.words):
                continue
            if d.scope.kind == "function" and not (d.type == "char" and d.arrays):
                if not kernel or not all(is_written_first(name, d.after) for name in d.names):
                    found.append(str(d))
            if d.scope.kind == "type" and types.is_constructed(file, d.scope.name):
                with_source = text + sources.get(re.sub(r"\.hpp$", ".cpp", re.sub(r"\.cuh$", ".cu", file)), "")
                if not all(re.search(rf"[:,]\s*{name}\s*[({{]|\b{name}(\[\w+\])? = ", with_source) for name in d.names):
                    found.append(f"{d}, a member of {d.scope.name}")
    return found


def test_numbers_have_values_from_the_start():
    assert len(SOURCES) > 500 and {"Complex", "ColorMatrix", "Coordinates", "staghorn_result"} <= Types(SOURCES).open[""]
    assert findings(SOURCES) == []


NUMBERS_OF_A_PROJECT = {"a.hpp": """
using Coordinates = std::array<int, 4>;
template <class Real> struct Complex { Real re, im; };
struct Vector { Complex<double> c[3]; };
struct Safe { Vector v{}; int n = 0; };
class Made { Made(); int n_; Vector v_; };"""}


@pytest.mark.parametrize("text, found", [
    ("void f() { Complex<double> sum; sum.re += 1; }", ["Complex<double> sum"]),
    ("auto f = [&] { for (;;) { const double x = 1; Vector v; use(v); } };", ["Vector v"]),
    ("void f() { g(1, [&](int) { double a, b[2]; }); long double c = 0; }", ["double a, b"]),
    ("void f() { Coordinates x; std::array<double, 3> y; Safe s; Made m; static int n; char text[8]; std::string t; auto* p = &x; }",
     ["Coordinates x", "std::array<double, 3> y"]),
    ("namespace { enum class Kind { a, b }; } void f() { Kind k; const Kind* p; if (k == Kind::a) return; }", ["Kind k", "Kind * p"]),
    ("void f() { Complex<double> sum{}; Vector v = {}; int i(0); extern int n; }", []),
    ("struct Own { Own(int n) : n_(n) {} int n_, m_; };", ["int n_, m_, a member of Own"]),
    ("struct Own { Own(int n) : n_(n), m_{n} { k_ = 1; } int n_, m_, k_; int l_ = 0; };", []),
], ids=["aggregate", "lambda", "list", "arrays", "enum", "set", "member", "members-set"])
def test_what_is_left_open_is_found(text, found):
    sources = NUMBERS_OF_A_PROJECT | {"a.cpp": "Made::Made() : n_(0), v_{} {}", "b.cpp": text}
    assert [words.split(": ", 1)[1] for words in findings(sources)] == found


@pytest.mark.parametrize("body, found", [
    ("Complex<double> acc[4]; for (int i = 0; i < 4; ++i) acc[i].re = x[i]; y = acc[0].re;", []),
    ("Complex<double> acc[4]; for (int i = 0; i < 4; ++i) acc[i].re += x[i];", ["Complex<double> acc"]),
    ("double v[6]; load(x, v); return v[0];", []),
    ("double v; return v;", ["double v"]),
    ("int q; if (q == 0) q = 1;", ["int q"]),
    ("__shared__ Complex<double> all[8]; all[thread].re += 1;", []),
], ids=["written", "added-to", "handed-over", "returned", "compared", "shared"])
def test_kernels_write_first(body, found):
    sources = NUMBERS_OF_A_PROJECT | {"a.cpp": "Made::Made() : n_(0), v_{} {}", "k.cuh": f"__device__ double f(double* x) {{ {body} }}"}
    assert [words.split(": ", 1)[1] for words in findings(sources)] == found
