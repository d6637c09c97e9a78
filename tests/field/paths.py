# SPDX-License-Identifier: Apache-2.0
"""Paths into a JSON document, for a table of expected values."""
import re

SELECTOR = re.compile(r"\[(?:(?P<index>-?\d+)|(?P<all>\*)|(?P<key>\w+)(?P<how>[=~<>])(?P<value>[^\]]*))\]")


def chosen(items, selector):
    if selector["all"]:
        return items
    if selector["index"] is not None:
        return items[int(selector["index"]):][:1]
    key, how, text = selector["key"], selector["how"], selector["value"]
    with_key = [item for item in items if item.get(key) is not None]
    if how == "=":
        return [item for item in with_key if str(item[key]).removesuffix(".0") == text]
    if how == "~" and not re.fullmatch(r"[\d.]+", text):
        return [item for item in with_key if text in str(item[key])]
    number = float(text)
    return [item for item in with_key
            if (how == "~" and abs(item[key] - number) <= 0.1 * number) or (how == "<" and item[key] < number)
            or (how == ">" and item[key] > number)]


def values(document, path):
    """All values that a path names; none if it is missing in the document.

    Keys in dots; of a list: [0], [*] (all), [key=text] (equal), [key~number] (within 10 %) or [key~text] (holds it),
    [key<number], [key>number]; at its end # is the number of entries.
    """
    found = [document]
    for step in re.findall(r"[^.\[\]]+|\[[^\]]*\]", path):
        if step == "#":
            found = [len(found)]
        elif step.startswith("["):
            selector = SELECTOR.fullmatch(step)
            if not selector:
                raise ValueError(f"{path}: {step}")
            found = [item for value in found if isinstance(value, list) for item in chosen(value, selector)]
        else:
            count = step.endswith("#")
            key = step.rstrip("#")
            found = [value[key] for value in found if isinstance(value, dict) and key in value]
            if count:
                found = [len(value) for value in found if isinstance(value, list)]
    return found
