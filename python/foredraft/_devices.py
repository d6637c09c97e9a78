# SPDX-License-Identifier: Apache-2.0
"""Devices, models, and the times of forward passes."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foredraft import _core
from foredraft._scenarios import plain
from foredraft._values import Value

if TYPE_CHECKING:
    import pandas


def devices() -> list[str]:
    """Names of the shipped data sheets, sorted.

    >>> "h100" in fd.devices()
    True
    """
    return _core.shipped_devices()


def models() -> list[str]:
    """Names of the shipped model shapes, sorted.

    >>> "llama-3.1-8b" in fd.models()
    True
    """
    return _core.shipped_models()


class Device(Value):
    """A data sheet: a shipped device by name or alias, or a TOML file with one device (docs/devices.md).

    >>> fd.Device("h100").figures["memory_bandwidth_gb_per_s"]
    3350.0

    Raises ValueError if there is neither, with the nearest name.
    """

    def __init__(self, name: str | os.PathLike[str]) -> None:
        document = json.loads(_core.device_document(os.fspath(name)))
        self.name: str = document["name"]  #: the manufacturer's spelling
        self.sha256: str = document["sha256"]  #: digest of the file, or of a shipped profile as JSON
        self.figures: dict[str, float] = document["figures"]  #: by key, which ends with the unit: memory_bandwidth_gb_per_s

    def __repr__(self) -> str:
        return f"Device({self.name!r})"


class Model(Value):
    """A model's shape: a shipped one by its name or that on the Hugging Face hub, a TOML file, or a config.json of
    Hugging Face (file or folder).

    format, kv_format: number formats of weights and KV cache ("fp8", ...); None: that of the config, else fp16.
    tensor_parallel: devices that share the model. Raises ValueError if there is no such model, with the nearest name.

    >>> model = fd.Model("llama-3.1-8b", format="fp8")
    >>> model.layers, model.weight_bytes / 1e9
    (32, 9.08120064)
    """

    def __init__(self,
                 name: str | os.PathLike[str],
                 *,
                 format: str | None = None,
                 kv_format: str | None = None,
                 tensor_parallel: int = 1) -> None:
        document = json.loads(_core.model_document(os.fspath(name), format or "", kv_format or "", tensor_parallel))
        self.name: str = document["name"]  #: as in `models()`, or from the file
        self.summary: str = document["summary"]  #: one line
        self.source: str = document["source"]  #: source of the numbers
        self.layers: int = document["layers"]  #: transformer blocks
        self.d_model: int = document["d_model"]  #: width of the residual stream
        self.heads: int = document["heads"]  #: attention heads
        self.kv_heads: int = document["kv_heads"]  #: attention heads for keys and values
        self.head_dim: int = document["head_dim"]  #: width of one head
        self.d_ff: int = document["d_ff"]  #: width of the feed-forward layer
        self.vocabulary: int = document["vocabulary"]  #: number of tokens
        self.parameters: float = document["parameters"]  #: number of parameters
        self.active_parameters: float = document["active_parameters"]  #: of one token in a mixture of experts
        self.format: str = document["format"]  #: format of the weights
        self.kv_format: str = document["kv_format"]  #: format of the KV cache
        self.tensor_parallel: int = document["tensor_parallel"]  #: number of devices that share the model
        self.weight_bytes: float = document["weight_bytes"]  #: all devices together
        self.step_bytes: float = document["step_bytes"]  #: weights that a decode step of one sequence reads
        self.kv_bytes_per_token: float = document["kv_bytes_per_token"]
        self.notes: list[str] = document["notes"]  #: omissions and assumptions

    def __repr__(self) -> str:
        return f"Model({self.name!r}, format={self.format!r})"


@dataclass(frozen=True, eq=False)
class Speedups(Value):
    """Speedup by draft length on a device.

    >>> table = fd.Profile("h100").speedups("llama-3.1-8b", "llama-3.2-1b", alpha=0.8, batch=8)
    >>> table.best_gamma, round(table.plain_us)
    (3, 7144)
    """
    plain_us: float  #: one autoregressive decode step
    lengths: pandas.DataFrame  #: gamma, tokens_per_iteration, drafting_us, verify_us, sampling_us, speedup, spread
    best_gamma: int  #: the smallest within 1 % of the best; 0: autoregressive decoding


class Profile:
    """Times of forward passes: a shipped data sheet by name, a TOML data sheet, a profile.json, or your own steps.

    steps: True for a CSV file with the header ``model,role,batch,tokens,context,ms``. Raises ValueError if there is
    no such profile, for a file of another schema, and with every problem of a file. A pickle holds only the name:
    unpickling reads it again, with ValueError if its bytes have changed.

    >>> fd.Profile("h100")
    Profile('h100', source='datasheet')
    """

    def __init__(self, name: str | os.PathLike[str], *, steps: bool = False) -> None:
        read = _core.ReadProfile.read_steps if steps else _core.ReadProfile.read
        self._profile = read(os.fspath(name))
        self.steps = steps  #: whether it comes from a file of steps
        self.name = os.fspath(name)  #: the given name
        self.device: str = self._profile.device  #: name of the device
        self.source: str = self._profile.source  #: measured, datasheet, user, engine or operators
        self.sha256: str = self._profile.sha256  #: digest of the bytes read
        self.valid: bool = self._profile.valid  #: False if repeated measurements differ by more than allowed

    def speedups(self,
                 target: str,
                 draft: str = "",
                 *,
                 batch: int = 1,
                 context: int = 512,
                 max_gamma: int = 8,
                 overhead_us: float = 0.0,
                 **acceptance: object) -> Speedups:
        """Speedup by draft length, 1 to max_gamma. [Leviathan2023, Eq. 1; docs/model.md]

        target, draft: shipped models or ones that the profile has times of; omit draft with drafter="heads".
        batch: batch size; context: context length in tokens; overhead_us: time of an iteration beyond its forward
        passes. acceptance: alpha, or process and its parameters, drafter, convention. spread in the table is the half
        width of the 95 % interval of the speedup divided by it (NaN: not known).

        Raises ValueError if the profile cannot answer.
        """
        import pandas
        question = _core.Question({name: plain(value) for name, value in ({"gamma": 1} | acceptance).items()})
        table = self._profile.speedups(question, target, draft, batch, context, max_gamma, overhead_us)
        return Speedups(table["plain"]["time_us"], pandas.DataFrame(table["lengths"]), table["best_gamma"])

    def __reduce__(self) -> tuple[object, ...]:
        return _profile_of, (self.name, self.steps, self.sha256)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Profile) and (self.name, self.sha256) == (other.name, other.sha256)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Profile({self.name!r}, source={self.source!r})"


def _profile_of(name: str, steps: bool, sha256: str) -> Profile:
    profile = Profile(name, steps=steps)
    if profile.sha256 != sha256:
        raise ValueError(f"foredraft: {name}: is no longer the profile that was pickled (its bytes have changed)")
    return profile
