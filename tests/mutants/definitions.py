# SPDX-License-Identifier: Apache-2.0
"""Finds definitions by name in C++, CUDA and Python sources: functions, classes, constants.

A small reader of scopes, not a parser: it walks namespaces and classes by their braces and takes the bodies of
functions whole. Comments, literals and preprocessor lines are blanked first, so that positions stay.
"""
import ast
import re

BLANKED = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
                     r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*", re.DOTALL | re.MULTILINE)
CLOSING = {"{": "}", "(": ")", "[": "]"}
# Words before parentheses that are not parameter lists.
NO_FUNCTION = {"alignas", "decltype", "explicit", "noexcept", "requires", "__attribute__", "__launch_bounds__"}


def end_of_group(code, start):
    """The end of the group that opens at `start`."""
    open_groups = []
    for at in range(start, len(code)):
        if code[at] in CLOSING:
            open_groups.append(CLOSING[code[at]])
        elif open_groups and code[at] == open_groups[-1]:
            open_groups.pop()
            if not open_groups:
                return at + 1
    return len(code)


def outside_of_groups(head):
    """`head` with everything inside parentheses, brackets or braces blanked; the delimiters are kept."""
    depth, kept = 0, []
    for character in head:
        depth -= character in ")]}"
        kept.append(character if depth == 0 else " ")
        depth += character in "([{"
    return "".join(kept)


def function_name(head, flat):
    """The name of the function whose declaration begins with `head`, or none."""
    if operator := re.search(r"((?:\w+::)*operator\s*(?:\(\s*\)|\[\s*\]|[^\s\w(]+|\w+))\s*\(", head):
        return re.sub(r"\s+", "", operator[1])
    for match in re.finditer(r"((?:\w+(?:<[^<>()]*>)?::)*~?\w+)\s*\(", flat):
        if match[1] not in NO_FUNCTION:
            return re.sub(r"<[^<>]*>", "", match[1])
    return None


def definitions_of_cpp(text):
    """(qualified name, start, end) of each definition outside of functions."""
    code = BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    found = []

    def walk(at, end, scope):
        start = at
        while at < end:
            if code[at] in "([":
                at = end_of_group(code, at)
            elif code[at] in ";}":
                declared(start, at + 1, code[start:at], scope)
                at += 1
                start = at
            elif code[at] == ":" and re.fullmatch(r"\s*(?:public|private|protected)\s*", code[start:at]):
                at += 1
                start = at
            elif code[at] == "{":
                head, after = code[start:at], end_of_group(code, at)
                flat = outside_of_groups(head)
                kind = kind_of(flat)
                if kind == "namespace":
                    walk(at + 1, after - 1, scope)
                    start = after
                elif kind == "class":
                    name = re.findall(r"\b(?:class|struct|union|enum)\s+(?:class\s+)?((?:\w+::)*\w+)",
                                      re.sub(r"<[^{;]*?>", " ", flat))
                    name = [*scope, name[0] if name else ""]
                    found.append(("::".join(name), start, after))
                    if "enum" not in flat.split():
                        walk(at + 1, after - 1, name)
                elif kind == "function":
                    found.append(("::".join([*scope, function_name(head, flat) or ""]), start, after))
                    start = after
                at = after
            else:
                at += 1

    def declared(start, end, head, scope):
        flat = re.sub(r"<[^<>]*>\s*$", "", outside_of_groups(head.partition("{")[0]))
        if kind_of(flat) == "class":
            return
        if name := re.search(r"(\w+)\s*(?:\[\s*\]\s*)*(?:=(?!=)|$)", flat):
            if "=" in flat or "{" in head:
                found.append(("::".join([*scope, name[1]]), start, end))

    walk(0, len(code), [])
    return found


def kind_of(flat):
    """The kind of a declaration that begins with `flat`, its groups blanked."""
    if re.search(r"\bnamespace\b", flat) or re.fullmatch(r"\s*extern\s*", flat):
        return "namespace"
    if re.search(r"(?<![=<>!])=(?!=)", flat) and "operator" not in flat:
        return "initializer"
    if "(" not in flat:
        return "class" if {"class", "struct", "union", "enum"} & set(re.sub(r"<[^{;]*?>", " ", flat).split()) else "initializer"
    if re.search(r"\)[^:]*(?<!:):(?!:)", flat) and re.search(r"[\w>]\s*$", flat):
        return "initializer"  # of a member, before the body of a constructor
    return "function" if flat.strip() else "initializer"


def definitions_of_python(text):
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []

    def walk(body, scope):
        for node in body:
            span = starts[node.lineno - 1], starts[node.end_lineno]
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.append(("::".join([*scope, node.name]), *span))
                walk(node.body, [*scope, node.name])
            elif isinstance(node, ast.Assign):
                found.extend(("::".join([*scope, name.id]), *span) for name in node.targets if isinstance(name, ast.Name))

    walk(ast.parse(text).body, [])
    return found


def definitions(name, text):
    """(qualified name, start, end) of each definition in the file `name`."""
    return definitions_of_python(text) if name.endswith(".py") else definitions_of_cpp(text)
