#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a header declares is defined in its folder, and no name is defined twice.

A free function that a header declares has its body in a source of the same folder, or in a header of
it: a lower folder must not promise what an upper one keeps. A class of namespace trainwatch is defined
in one file only: two of one name in one program are a mistake that no compiler and no linker reports.
"""

import os
import re
import sys
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("include", "pipeline", "rules", "daemon", "commands")

NOT_CODE = re.compile(r'R"(?P<mark>\w*)\(.*?\)(?P=mark)"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
                      r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:[^\n\\]|\\\n|\\.)*",
                      re.DOTALL | re.MULTILINE)
TYPE = re.compile(r"^(?:template\b.*?>\s*)?(?:class|struct|union|enum(?:\s+class|\s+struct)?)\s+"
                  r"(?:\[\[[^\]]*\]\]\s*)?(?P<name>\w+)\s*(?:final\s*)?(?::(?!:).*)?$", re.DOTALL)
GENERATED = {"web_assets"}  # by scripts/embed.cmake, in the build folder
NO_FUNCTION = re.compile(r"^\s*(?:using|typedef|static_assert|friend|extern|class|struct|enum|union)\b")
FUNCTION = re.compile(r"(?P<name>[\w:]*\boperator\s*(?:\(\)|[^\s\w(]+|\w+)|[\w:~]+)\s*\(")


def code(text):
    return NOT_CODE.sub(lambda found: '""' if found.group()[0] in "R\"'" else " ", text)


def plain(statement):
    """Without attributes, arguments of templates, and what follows an arrow or an equals sign."""
    statement = re.sub(r"\[\[.*?\]\]", " ", statement)
    statement = re.sub(r"->|<=>|<<|>=|<=|(?<=operator)[<>]=?", "@", statement)
    while True:
        shorter = re.sub(r"<[^<>]*>", " ", statement)
        if shorter == statement:
            return statement
        statement = shorter


def function(statement):
    """Name and type of the first parameter, which tells overloads apart, of a declaration or the
    beginning of a definition; None where it is neither."""
    if NO_FUNCTION.match(statement):
        return None
    statement = plain(statement)
    found = FUNCTION.search(statement)
    if not found or "=" in statement[:found.start()] or not statement[:found.start()].strip():
        return None
    first = re.match(r"\s*(?:const\s+)?([\w:]*)", statement[found.end():]).group(1)
    return found.group("name").split("::")[-1], first.split("::")[-1]


def definitions(text):
    """Yields (namespaces, kind, what): kind is "type", "body" or "declaration"; what lies in anonymous
    namespaces, in types and in functions is left out."""
    scopes = []  # names of namespaces; None: something whose inside is of no interest
    start, parentheses = 0, 0
    for place in re.finditer(r"[{};()]", text):
        sign = place.group()
        parentheses += {"(": 1, ")": -1}.get(sign, 0)
        if sign in "()" or parentheses > 0 and sign == ";":
            continue
        statement = text[start:place.start()].strip()
        if parentheses == 0:
            start = place.end()
        open_air = None not in scopes
        if sign == "}":
            if scopes:
                scopes.pop()
        elif sign == ";" and open_air and function(statement):
            yield tuple(scopes), "declaration", function(statement)
        elif sign == "{":
            namespace = re.match(r"^(?:inline\s+)?namespace\s*([\w:]*)$", statement)
            if namespace and open_air:
                scopes.append(namespace.group(1) or None)
                continue
            if open_air and parentheses == 0:
                kind = TYPE.match(statement)
                if kind:
                    yield tuple(scopes), "type", kind.group("name")
                elif function(statement):
                    yield tuple(scopes), "body", function(statement)
            scopes.append(None)


def sources():
    for top in FOLDERS:
        for where, _, names in os.walk(os.path.join(ROOT, top)):
            for name in sorted(names):
                if name.endswith((".cc", ".h")):
                    yield os.path.relpath(os.path.join(where, name), ROOT)


def complaints(texts):
    types, bodies, declared = defaultdict(list), defaultdict(set), []
    for path, text in texts.items():
        for scopes, kind, name in definitions(code(text)):
            if kind == "type" and scopes:
                types[scopes, name].append(path)
            elif kind == "body":
                bodies[os.path.dirname(path)].add(name)
            elif kind == "declaration" and path.endswith(".h"):
                declared.append((path, name))
    for (scopes, name), paths in sorted(types.items()):
        if len(paths) > 1:
            yield "%s::%s is defined in %s" % ("::".join(scopes), name, " and in ".join(sorted(paths)))
    for path, name in declared:
        if name not in bodies[os.path.dirname(path)] and name[0] not in GENERATED:
            yield "%s: %s(%s) is not defined in this folder" % (path, *name)


EXAMPLE = {
    "include/trainwatch/a.h": 'namespace trainwatch {\n'
                              'struct A { int f(int); };  // struct B {};\n'
                              'std::string to_text(const A& a, std::map<int, void (*)(int)> m = {});\n'
                              'inline int half(int n) { return n / 2; }\n'
                              'template <class T> class L final : public A<T> { void g() { h(); } };\n}\n',
    "rules/a.h": "namespace trainwatch {\nclass A {};\nbool shown(Time t);\n}\n",
    "rules/a.cc": "namespace trainwatch {\nnamespace {\nclass L {};\n}\n"
                  "bool shown(Time t) { return t > 1'000; }\n"
                  "std::string to_text(const A& a, int m) { return R\"({)\"; }\nbool A::late() { x(); }\n}\n"}


def test_itself():
    found = list(complaints(EXAMPLE))
    expected = ["trainwatch::A is defined in include/trainwatch/a.h and in rules/a.h",
                "include/trainwatch/a.h: to_text(A) is not defined in this folder"]
    assert found == expected, found


def main():
    test_itself()
    texts = {}
    for path in sources():
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            texts[path] = file.read()
    found = list(complaints(texts))
    for complaint in found:
        print(complaint)
    print("definition check: %d files, %d complaints" % (len(texts), len(found)))
    return 1 if found or not texts else 0


if __name__ == "__main__":
    sys.exit(main())
