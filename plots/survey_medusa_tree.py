# SPDX-License-Identifier: Apache-2.0
"""Medusa's sparse tree from published head accuracies, compared with the tree that Medusa ships [Cai2024].

Filled nodes are in both trees, rings and squares in one of them; the column at the right is the greedy tree's.
"""

from . import load, token_tree

ID = "survey-medusa-tree"
COLUMNS = {**token_tree.COLUMNS, "tree": load.TEXT}
_MARKS = {"both": (token_tree.FILLED, "in both trees"),
          "greedy": (token_tree.Mark("o", False), "only in the greedy tree"),
          "shipped": (token_tree.Mark("s", False), "only in the shipped tree")}


def figure(table):
    token_tree.check(table)
    for kind in table["tree"]:
        if kind not in _MARKS:
            raise load.BadFile(table.path, f"tree: '{kind}' (must be {', '.join(_MARKS)})")
    used = [_MARKS[kind] for kind in _MARKS if kind in table["tree"]]
    return token_tree.figure(table, [_MARKS[kind][0] for kind in table["tree"]], dict(used),
                             counted=[kind != "shipped" for kind in table["tree"]])
