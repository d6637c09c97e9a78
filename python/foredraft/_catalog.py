# SPDX-License-Identifier: Apache-2.0
"""Inventories of what can be named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from foredraft import _core

if TYPE_CHECKING:
    import pandas

_PARTS = {"pairs": "models", "profiles": "devices"}  # lists that the program prints with another one


def catalog(name: str, /) -> pandas.DataFrame:
    """All entries of a kind, one row each: name, summary and further fields.

    name: "drafters", "rules", "policies", "methods" (of the field), "processes", "costs", "models", "pairs" (of token
    models), "devices", "profiles" (step times of engines), "engines", "experiments", "formats" (of logs), "parameters",
    "metrics".

    >>> rules = fd.catalog("rules")
    >>> rules.set_index("name").source["rejection_sampling"]
    'Leviathan2023, Alg. 1; Chen2023, Alg. 2'

    Raises ValueError for an unknown name, with the nearest one.
    """
    import pandas
    try:
        document = json.loads(_core.list_document(_PARTS.get(name, name)))
    except ValueError as error:
        raise ValueError(str(error).replace("foredraft list:", "foredraft.catalog:")) from None
    return pandas.DataFrame(document[name])
