# SPDX-License-Identifier: Apache-2.0
"""Checks documents against docs/schemas: the keywords of JSON Schema that these use, and the order of the keys."""
import functools
import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schemas"
KINDS = {"null": type(None), "boolean": bool, "string": str, "integer": int, "number": (int, float), "array": list,
         "object": dict}


@functools.cache
def schema_of(name):
    return json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))


def is_a(value, kind):
    return isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def differences(document, name):
    """The parts of a document that its schema does not allow."""
    yield from below(schema_of(name), schema_of(name), document, name)


def below(schema, rule, value, path):
    rule = schema["$defs"][rule["$ref"].rsplit("/", 1)[1]] if "$ref" in rule else rule
    if "anyOf" in rule:
        found = [list(below(schema, choice, value, path)) for choice in rule["anyOf"]]
        yield from min(found, key=len)
        return
    if "const" in rule and value != rule["const"] or "enum" in rule and value not in rule["enum"]:
        yield f"{path} is {value}"
    kinds = rule.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_a(value, kind) for kind in kinds):
        yield f"{path} is {str(value)[:60]}, should be {' or '.join(kinds)}"
    elif isinstance(value, list):
        for one in value:
            yield from below(schema, rule["items"], one, f"{path}[]")
    elif isinstance(value, dict):
        known = [key for key in rule["properties"] if key in value]
        yield from (f"{path}.{key} is not there" for key in rule.get("required", []) if key not in value)
        yield from (f"{path}.{key} is not in the schema" for key in value if key not in known)
        if known != [key for key in value if key in known]:
            yield f"the keys of {path} have another order"
        for key in known:
            yield from below(schema, rule["properties"][key], value[key], f"{path}.{key}")
