# SPDX-License-Identifier: Apache-2.0
"""Sweeps over every combination of the axes of a configuration, locally or on an executor."""

from __future__ import annotations

import concurrent.futures
import contextlib
import fcntl
import json
import math
import os
import pathlib
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from foredraft import _core
from foredraft._scenarios import plain, quantities, table_rows
from foredraft._values import exact_frame

if TYPE_CHECKING:
    import pandas

SCHEMA = "foredraft.sweep/1"
SIMULATION_KEYS = ("iterations", "sequences", "requests", "replicas", "warmup_requests", "seed", "path")
COMMAND_LINE = ["foredraft.sweep"]
MAX_SHARDS = 32  # default
BETWEEN_LOOKS_S = 0.2
MAX_LOSSES = 3  # of one shard; then its error ends the run
SHARD_FILES = ("points.csv", "manifest.json")

ShowProgress = Callable[[float, float], None]


class Client(Protocol):
    """The interface of a Dask client."""

    def get_executor(self, *, pure: bool) -> concurrent.futures.Executor:
        ...


def sweep(config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
          /,
          *,
          out: str | os.PathLike[str] | None = None,
          executor: concurrent.futures.Executor | Client | None = None,
          shards: int | None = None,
          shard: tuple[int, int] | None = None,
          threads: int | None = None,
          progress: bool = True,
          **parameters: object) -> pandas.DataFrame:
    """Every combination of the axes: closed form and simulation, one row per point (columns: docs/metrics.md).

    config: a TOML file (experiments/configs/), or a dict in its shape; or keywords instead: parameters, whose lists and
    arrays are axes, and iterations, sequences, requests, replicas, seed of the simulation (without any: only closed
    forms). out: the results folder, where an interrupted run of the same configuration is resumed; without it nothing
    is kept. frame.attrs["folder"] names it. threads: 0 one per hardware thread (default), in tasks of an executor 1.
    progress: shown through tqdm if that is installed. Ctrl-C stops within about a second; finished rows are kept.

    executor: any concurrent.futures.Executor, or a Dask client; the points are split into ``shards`` tasks (default: at
    most 32). A shard whose task is lost (a killed worker, a dropped task) is run again; if the executor is broken, in
    this process. Finished shards are kept beside ``out`` and survive a crash of this process. The rows are those of
    the run without an executor, byte for byte. Files that the configuration names must exist for all workers.

    shard: (i, n) runs only the i-th of n parts of the points, 1 to n, into ``out``; merge() joins the folders.

    >>> frame = fd.sweep(alpha=[0.6, 0.8], gamma=[1, 3], c=0.05, progress=False)
    >>> frame[["alpha", "gamma", "analytic_speedup"]].round(3)
       alpha  gamma  analytic_speedup
    0    0.6      1             1.524
    1    0.6      3             1.892
    2    0.8      1             1.714
    3    0.8      3             2.567

    Raises ValueError before anything is written, with a line for each problem; RuntimeError for a failed run.
    """
    document = _document(config, parameters)
    points = _core.config_points(document)
    with contextlib.ExitStack() as stack:
        if out is None:
            folder = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "sweep")
        else:
            folder = os.fspath(out)
        show = stack.enter_context(progress_bar("points")) if progress else None
        if executor is None and shards is not None:
            raise TypeError("foredraft.sweep: shards without an executor")
        if shard is not None and (executor is not None or out is None):
            raise TypeError("foredraft.sweep: shard needs out, and no executor")
        if executor is None or _core.holds_whole_sweep(document, folder):
            _core.run_sweep(document, folder, shard, threads or 0, COMMAND_LINE, show)
        else:
            count = _shard_count(shards, points)
            _run_shards(document, folder, _pool_of(executor), count, 1 if threads is None else threads, points, show)
        return _frame(pathlib.Path(folder), out is not None)


def merge(folders: Iterable[str | os.PathLike[str]], /, *, out: str | os.PathLike[str]) -> pandas.DataFrame:
    """Joins the folders of all shards of a sweep into ``out``, whose bytes are those of the run without shards.

    folders: results folders of sweep(shard=...), in any order. Returns the rows, as sweep() does.

    >>> for i in (1, 2):  # on two machines
    ...     part = fd.sweep(alpha=[0.6, 0.8], gamma=[1, 3], c=0.05, shard=(i, 2), out=f"part{i}", progress=False)
    >>> len(fd.merge(["part1", "part2"], out="whole"))
    4

    Raises ValueError with every problem before anything is written: a shard that is missing, given twice or incomplete,
    folders of different sweeps or versions, a folder of another run.
    """
    _core.merge_shards([os.fspath(folder) for folder in folders], os.fspath(out), ["foredraft.merge"])
    return _frame(pathlib.Path(out), True)


@dataclass(frozen=True)
class RepeatedRun:
    """A repeated run, which agreed in every byte.

    >>> frame = fd.sweep(alpha=[0.6, 0.8], gamma=3, c=0.05, out="repeated", progress=False)
    >>> fd.check("repeated", progress=False).points
    2
    """
    points: int  #: number of points computed again
    config: str  #: hash of the configuration: 64 hexadecimal digits
    version: str  #: version of foredraft that wrote the folder


def check(folder: str | os.PathLike[str], /, *, threads: int = 0, progress: bool = True) -> RepeatedRun:
    """Repeats the run of a results folder and compares every row and digest. Writes nothing.

    >>> frame = fd.sweep(alpha=[0.6, 0.8], gamma=3, c=0.05, out="kept", progress=False)
    >>> fd.check("kept", progress=False).points
    2

    Raises RuntimeError that names the first difference, ValueError for a folder without a complete run. Ctrl-C ends it.
    """
    with contextlib.ExitStack() as stack:
        show = stack.enter_context(progress_bar("points")) if progress else None
        return RepeatedRun(*_core.repeat_folder(os.fspath(folder), threads, show))


def _document(config: str | os.PathLike[str] | Mapping[str, Any] | None, parameters: Mapping[str, object]) -> str:
    if config is not None and parameters:
        raise TypeError(f"foredraft: {', '.join(parameters)} mutually exclusive with a configuration - set them there")
    if isinstance(config, (str, os.PathLike)):
        return _core.config_of_file(os.fspath(config))
    if config is None:
        tables: dict[str, Any] = {"axes": {}, "fixed": {}}
        simulation = {key: plain(value) for key, value in parameters.items() if key in SIMULATION_KEYS}
        stated = {key: value for key, value in parameters.items() if key not in SIMULATION_KEYS}
        for name, value, is_axis in table_rows(stated):
            tables["axes" if is_axis else "fixed"][name] = value
        if simulation:
            tables["simulation"] = simulation
        config = tables
    tables = {"schema": SCHEMA} | {str(key): _plain_tree(value, str(key)) for key, value in config.items()}
    return _core.config_of_document(json.dumps(tables, allow_nan=False), "foredraft.sweep")


def _plain_tree(value: object, key: str) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain_tree(entry, f"{key}.{name}") for name, entry in value.items()}
    entry = plain(value)
    if isinstance(entry, list):
        return [_plain_tree(one, f"{key}[{i}]") for i, one in enumerate(entry)]
    if isinstance(entry, float) and not math.isfinite(entry):
        raise ValueError(f"foredraft.sweep: {key}: invalid {key.rpartition('.')[2]}={entry} (must be finite)")
    if entry is not None and not isinstance(entry, (str, bool, int, float)):
        raise ValueError(f"foredraft.sweep: {key}: wrong type (must be a number, a word, a list or a dict, is "
                         f"{type(entry).__name__})")
    return entry


@contextlib.contextmanager
def progress_bar(unit: str) -> Iterator[ShowProgress | None]:
    """Shows progress through tqdm if that is installed."""
    try:
        import tqdm
    except ImportError:
        yield None
        return
    with tqdm.tqdm(unit=unit, bar_format="{l_bar}{bar}| {n:.0f}/{total} [{elapsed}<{remaining}]") as shown:

        def show(finished: float, total: float) -> None:
            shown.total = total
            shown.update(finished - shown.n)

        yield show


def _frame(folder: pathlib.Path, kept: bool) -> pandas.DataFrame:
    import pandas
    frame = exact_frame(folder / "points.csv")
    columns = {f"{kind}_{name}" for name in quantities() for kind in ("analytic", "simulated")}
    for column in columns & set(frame.columns):
        if not pandas.api.types.is_numeric_dtype(frame[column]):
            frame[column] = pandas.to_numeric(frame[column].replace("unbounded", "inf"))
    if kept:
        frame.attrs["folder"] = str(folder)
    return frame


# ---- Shards as tasks.


def run_shard(document: str, index: int, count: int, threads: int) -> dict[str, bytes]:
    """One task: the files of a shard, made in a folder of the worker."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "shard"
        _core.run_sweep(document, str(folder), (index, count), threads, COMMAND_LINE, None)
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def _shard_count(stated: int | None, points: int) -> int:
    if stated is None:
        return min(points, MAX_SHARDS)
    if not 1 <= stated <= points:
        raise ValueError(f"foredraft.sweep: shards: invalid shards={stated} (must lie in [1, {points}], the points)")
    return stated


def _pool_of(executor: Any) -> concurrent.futures.Executor:
    if hasattr(executor, "get_executor"):
        made: concurrent.futures.Executor = executor.get_executor(pure=False)
        return made
    if not hasattr(executor, "submit"):
        raise TypeError(f"foredraft.sweep: executor: must be a concurrent.futures.Executor, is {type(executor).__name__}")
    return executor  # type: ignore[no-any-return]


class _Shards:
    """Finished shards, each a folder that exists completely or not at all."""

    def __init__(self, folder: str, document: str, count: int) -> None:
        self._root = pathlib.Path(f"{folder}.shards")
        self._key = json.dumps([json.loads(document), count])
        self.count = count

    def __enter__(self) -> _Shards:
        self._root.mkdir(parents=True, exist_ok=True)
        self._lock = open(self._root / "lock", "a", encoding="utf-8")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise RuntimeError(f"{self._root}: another sweep writes there - wait for it, or use another out") from None
        stated = self._root / "config.json"
        if not stated.exists():
            begun = self._root / "begun-config.json"
            begun.write_text(self._key, encoding="utf-8")
            begun.replace(stated)
        elif stated.read_text(encoding="utf-8") != self._key:
            self._lock.close()
            raise ValueError(f"{self._root}: holds shards of another sweep - remove it, or use another out")
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def path(self, index: int) -> pathlib.Path:
        return self._root / f"{index}-of-{self.count}"

    def missing(self) -> list[int]:
        return [index for index in range(1, self.count + 1) if not self.path(index).exists()]

    def keep(self, index: int, files: object) -> bool:
        """Whether these are the files of a shard; if so, writes them to the disk."""
        if not isinstance(files, dict) or not all(name in files for name in SHARD_FILES):
            return False
        begun = pathlib.Path(tempfile.mkdtemp(prefix="begun-", dir=self._root))
        for name, contents in files.items():
            (begun / pathlib.PurePath(name).name).write_bytes(contents)
        begun.rename(self.path(index))
        return True

    def merge(self, folder: str) -> None:
        _core.merge_shards([str(self.path(index)) for index in range(1, self.count + 1)], folder, COMMAND_LINE)
        shutil.rmtree(self._root)


def _run_shards(document: str, folder: str, pool: concurrent.futures.Executor, count: int, threads: int, points: int,
                show: ShowProgress | None) -> None:
    with _Shards(folder, document, count) as shards:
        _run_missing(shards, document, pool, threads, points, show)
        shards.merge(folder)


def _run_missing(shards: _Shards, document: str, pool: concurrent.futures.Executor, threads: int, points: int,
                 show: ShowProgress | None) -> None:
    count = shards.count
    waiting = shards.missing()
    losses = dict.fromkeys(waiting, 0)
    running: dict[concurrent.futures.Future[dict[str, bytes]], int] = {}
    broken = False
    failure: BaseException | None = None

    def finish(future: concurrent.futures.Future[dict[str, bytes]], index: int) -> BaseException | None:
        """Keeps a shard, or queues it again; returns the error that ends the run."""
        lost: BaseException | None = None
        try:
            if shards.keep(index, future.result()):
                return None
        except concurrent.futures.BrokenExecutor:
            waiting.append(index)  # submitting fails too
            return None
        except (ValueError, RuntimeError, OSError) as error:  # of the sweep itself
            return error
        except (Exception, concurrent.futures.CancelledError) as error:
            lost = error
        losses[index] += 1
        waiting.append(index)
        if losses[index] < MAX_LOSSES:
            return None
        failure = RuntimeError(f"foredraft.sweep: shard {index}/{count} was lost {MAX_LOSSES} times")
        failure.__cause__ = lost
        return failure

    try:
        while (waiting or running) and failure is None:
            while waiting and not broken:
                try:
                    running[pool.submit(run_shard, document, waiting[-1], count, threads)] = waiting[-1]
                except RuntimeError as error:  # shut down, or its workers are gone
                    warnings.warn(f"foredraft.sweep: the executor takes no tasks ({error}); the rest runs here", stacklevel=4)
                    broken = True
                else:
                    waiting.pop()
            if running:
                done, _ = concurrent.futures.wait(running, timeout=BETWEEN_LOOKS_S,
                                                  return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    failure = finish(future, running.pop(future)) or failure
            elif waiting:
                shards.keep(waiting[-1], run_shard(document, waiting[-1], count, threads))
                waiting.pop()
            if show is not None:
                show(points * (count - len(waiting) - len(running)) / count, points)
    finally:
        for future in running:
            future.cancel()
    if failure is not None:
        raise failure
