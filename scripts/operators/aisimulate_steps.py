# SPDX-License-Identifier: Apache-2.0
"""Times of a target's and a drafter's passes in an inference engine, from the operator times of the package aisimulate:
one JSON request from standard input, one JSON document to standard output.

Request (null or omitted: the default):
  device           system of the package, "h200_sxm", or one of DEVICES, "h200"
  engine           "vllm", "sglang" or "trtllm"; default "vllm"
  engine_version   default: the package's current one
  target, draft    a name of NAMES or of configs/ beside this file, a Hugging Face name whose config the package has, or
                   a folder with config.json (or that file); draft null: only the target's passes
  method           "draft_model", "eagle3", "mtp" or "ngram"; default: from the draft's name and config
  tokens           tokens a sequence of the target's passes; a verification of k drafts is one of k + 1
  batches, contexts
  target_format, draft_format, kv_format   of NumberFormat: "bf16", "fp8", ...; default: the package's, of the config
  target_tp, draft_tp                      default 1, the target's
  target_ep        devices that whole experts of the target are spread over; default 1: each expert is split
  attention_dp     copies of the target's attention, each on target_tp devices with its share of the batch; default 1

Answer: package, tables (system, engine, version, sha256 of the package's tables of the system), request (defaults
filled in), notes, rows: {model, role, batch, context, tokens: [...], ms: [...]}, for drafting `tokens` is the number of
drafts. A pass that does not fit into memory is omitted and named in the notes. Else {"error": "what - what to do"} and
exit status 1.
"""

import dataclasses
import hashlib
import importlib.metadata
import importlib.util
import json
import math
import os
import pathlib
import sys

SCHEMA = "foredraft.operators/1"
PACKAGE = "aisimulate"
SERIES = "0.13."  # the functions called below are those of this series
INSTALL = (f'pip install --pre --no-deps "{PACKAGE}>=0.13.0.dev0,<0.14" && pip install numpy pandas pyarrow pyyaml '
           'pydantic scipy matplotlib "plotext<6" plotly prettytable munch tqdm "psutil<8" "ijson<4" bokeh '
           'nvidia-ml-py jinja2 packaging (Python 3.11 or newer)')
ENGINES = ("vllm", "sglang", "trtllm")
METHODS = ("draft_model", "eagle3", "mtp", "ngram")

# The package's names of our devices.
DEVICES = {
    "a100": "a100_sxm",
    "a100-80gb": "a100_sxm",
    "h100": "h100_sxm",
    "h200": "h200_sxm",
    "b200": "b200_sxm",
    "b300": "b300_sxm",
    "rtx-pro-6000-server": "rtx_pro_6000_server",
}

# The package's names of our models. Llama 3.3 70B has the shape of 3.1 70B.
NAMES = {
    "llama-3.1-8b": "meta-llama/Meta-Llama-3.1-8B",
    "llama-3.1-70b": "meta-llama/Meta-Llama-3.1-70B",
    "llama-3.1-405b": "meta-llama/Meta-Llama-3.1-405B",
    "llama-3.3-70b": "meta-llama/Meta-Llama-3.1-70B",
    "qwen3-0.6b": "Qwen/Qwen3-0.6B",
    "qwen3-1.7b": "Qwen/Qwen3-1.7B",
    "qwen3-8b": "Qwen/Qwen3-8B",
    "qwen3-32b": "Qwen/Qwen3-32B",
    "qwen3-30b-a3b": "Qwen/Qwen3-30B-A3B",
    "qwen3-235b-a22b": "Qwen/Qwen3-235B-A22B",
    "deepseek-v3": "deepseek-ai/DeepSeek-V3",
    "gpt-oss-20b": "openai/gpt-oss-20b",
    "gpt-oss-120b": "openai/gpt-oss-120b",
}

# Formats of weights: products of dense layers and of experts.
FORMATS = {
    "bf16": ("bfloat16", "bfloat16"),
    "fp16": ("bfloat16", "bfloat16"),
    "fp8": ("fp8", "fp8"),
    "fp8_block": ("fp8_block", "fp8_block"),
    "int8": ("int8_wo", "int8_wo"),
    "int4": ("int4_wo", "int4_wo"),
    "nvfp4": ("nvfp4", "nvfp4"),
    "mxfp4": ("bfloat16", "w4a16_mxfp4"),
}
KV_FORMATS = {"bf16": "bfloat16", "fp16": "bfloat16", "fp8": "fp8", "int8": "int8"}
MAX_COUNT = 1_000_000


class Problem(Exception):
    """A message for people: what is wrong and what to do."""


@dataclasses.dataclass
class Request:
    device: str
    target: str
    engine: str = "vllm"
    engine_version: str | None = None
    draft: str | None = None
    method: str | None = None
    tokens: tuple = tuple(range(1, 10))
    batches: tuple = (1, 2, 4, 8, 16, 32, 64, 128, 256)
    contexts: tuple = (512, 2048, 8192)
    target_format: str | None = None
    draft_format: str | None = None
    kv_format: str | None = None
    target_tp: int = 1
    draft_tp: int | None = None
    target_ep: int | None = None
    attention_dp: int = 1


@dataclasses.dataclass
class Model:
    """A model: its name in the rows, and the one by which the package finds it."""
    name: str
    path: str
    config: dict


def parse_request(text):
    """The request of a JSON text. Raises Problem."""
    try:
        stated = json.loads(text)
    except json.JSONDecodeError as error:
        raise Problem(f"the request is no JSON ({error}) - write one object to standard input") from None
    if not isinstance(stated, dict):
        raise Problem("the request is no object - write one object to standard input")
    known = [field.name for field in dataclasses.fields(Request)]
    for key in stated:
        if key not in known:
            raise Problem(f'unknown key "{key}" of the request - the keys are {", ".join(known)}')
    given = {key: value for key, value in stated.items() if value is not None}
    for key in ("device", "target"):
        if key not in given:
            raise Problem(f'the request lacks "{key}" - add it')
    for key in ("device", "target", "engine", "engine_version", "draft", "method", "target_format", "draft_format",
                "kv_format"):
        if key in given and not (isinstance(given[key], str) and given[key]):
            raise Problem(f'"{key}" of the request is no word - quote it')
    for key in ("tokens", "batches", "contexts"):
        if key in given:
            given[key] = counts(key, given[key], 0 if key == "contexts" else 1)
    for key in ("target_tp", "draft_tp", "target_ep", "attention_dp"):
        if key in given:
            given[key] = counts(key, [given[key]], 1)[0]
    given["device"] = DEVICES.get(given["device"].lower(), given["device"].lower())
    request = Request(**given)
    one_of("engine", request.engine, ENGINES)
    one_of("method", request.method, METHODS)
    one_of("target_format", request.target_format, FORMATS)
    one_of("draft_format", request.draft_format, FORMATS)
    one_of("kv_format", request.kv_format, KV_FORMATS)
    if request.draft is None and request.method not in (None, "ngram"):
        raise Problem(f'method "{request.method}" without a draft - name one in "draft"')
    request.draft_tp = request.draft_tp or request.target_tp
    devices = request.target_tp * request.attention_dp
    if devices % (request.target_ep or 1) != 0:
        raise Problem(f"experts spread over {request.target_ep} of {devices} devices (target_tp times attention_dp) - "
                      f"take a divisor of {devices} as target_ep")
    return request


def counts(key, values, least):
    """Whole numbers of at least `least`, ascending, each once."""
    if not isinstance(values, list) or not values:
        raise Problem(f'"{key}" of the request is no list of numbers - e.g. [1, 8]')
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MAX_COUNT:
            raise Problem(f'"{key}" holds {json.dumps(value)} - it takes whole numbers from {least} to {MAX_COUNT}')
    return tuple(sorted(set(values)))


def one_of(key, word, known):
    if word is not None and word not in known:
        raise Problem(f'unknown {key} "{word}" - one of {", ".join(known)}')


def find_model(name, package_configs):
    """A model by one of our names, a folder or the package's name; `package_configs` is the package's folder of
    configs. Raises Problem: nothing is downloaded."""
    own = pathlib.Path(__file__).resolve().parent / "configs"
    folder = pathlib.Path(name)
    if folder.name == "config.json":
        folder = folder.parent
    if name in NAMES:
        called, path = name, NAMES[name]
    elif "/" not in name and (own / name / "config.json").is_file():
        called, path = name, str(own / name)
    elif (folder / "config.json").is_file():
        called, path = folder.resolve().name.lower(), str(folder)
    else:
        called, path = name.rsplit("/", 1)[-1].lower(), name
    file = pathlib.Path(path) / "config.json"
    if not file.is_file():
        file = package_configs / f'{path.replace("/", "--")}_config.json'
    if not file.is_file():
        raise Problem(f'no config of "{name}" - give a folder with its config.json, one of {", ".join(sorted(NAMES))}, '
                      f"or one of {package_models(package_configs)}")
    with open(file, encoding="utf-8") as stream:
        return Model(called, path, json.load(stream))


def package_models(package_configs):
    """The package's names of models, in one line."""
    end = "_config.json"
    names = [file.name[:-len(end)].replace("--", "/", 1) for file in package_configs.glob(f"*{end}")
             if not file.name.endswith("_hf_quant_config.json")]
    return ", ".join(sorted(names))


def method_of(draft):
    """How a draft model drafts, by its config and its name."""
    if "draft_vocab_size" in draft.config or draft.name.startswith("eagle3"):
        return "eagle3"
    return "draft_model"


def plan(request, package_configs):
    """(target, draft or None, method) of a request. A draft named mtp or mtp-TARGET is the target's own layer."""
    target = find_model(request.target, package_configs)
    if request.target_ep is not None and not has_experts(target.config):
        raise Problem(f"{target.name} has no experts to spread - leave target_ep out")
    if request.draft is None:
        return target, None, "ngram"
    if request.method == "mtp" or (request.method is None and request.draft.lower().split("-")[0] == "mtp"):
        if not target.config.get("num_nextn_predict_layers"):
            raise Problem(f'{target.name} has no layer that predicts further tokens (num_nextn_predict_layers of its '
                          'config) - name a draft model')
        return target, Model(f"mtp-{target.name}", target.path, target.config), "mtp"
    draft = find_model(request.draft, package_configs)
    return target, draft, request.method or method_of(draft)


def passes(request, target, draft, method, ask):
    """(rows, notes) of a plan. `ask(model, format, tp, batch, context, **more)` is the time of one iteration in ms, or
    None where it does not fit into memory."""
    rows, left_out = [], []
    layout = {}
    if request.attention_dp > 1:
        layout["attention_dp_size"] = request.attention_dp
    if has_experts(target.config):
        spread = request.target_ep or 1
        layout |= {"moe_ep_size": spread, "moe_tp_size": request.target_tp * request.attention_dp // spread}

    def ngram(drafts):
        return {} if drafts == 0 else {"speculative": {"method": "ngram", "accepted_tokens": 0.0,
                                                       "params": {"num_speculative_tokens": drafts}}}

    def of_target(batch, context, **more):
        own = -(-batch // request.attention_dp)  # sequences of the fullest copy of the attention
        return ask(target, request.target_format, request.target_tp, own, context, **layout, **more)

    def drafting(drafts, batch, context):
        if method == "draft_model":
            one = ask(draft, request.draft_format, request.draft_tp, batch, context)
            return None if one is None else drafts * one
        if method == "mtp":
            both = of_target(batch, context, nextn=drafts, nextn_accepted=0.0)
        else:
            both = of_target(batch, context, speculative={
                "method": "eagle3", "params": {"num_speculative_tokens": drafts}, "draft_model_path": draft.path,
                "accepted_tokens": 0.0})
        verification = of_target(batch, context, **ngram(drafts))
        return None if both is None or verification is None else both - verification

    def add(model, role, all_tokens, time_of):
        for context in request.contexts:
            for batch in request.batches:
                found = []
                for tokens in all_tokens:
                    ms = time_of(tokens, batch, context)
                    if ms is None:
                        left_out.append((model.name, batch, context))
                        break
                    if not (math.isfinite(ms) and ms > 0.0):
                        raise Problem(f"{model.name}: the package's time of {role}, batch {batch}, {tokens} tokens, "
                                      f"context {context} is {ms} ms - ask for another engine, device or format")
                    found.append((tokens, rounded(ms)))
                if found:
                    rows.append({"model": model.name, "role": role, "batch": batch, "context": context,
                                 "tokens": [tokens for tokens, _ in found], "ms": [ms for _, ms in found]})

    add(target, "decoder_pass", request.tokens, lambda n, batch, context: of_target(batch, context, **ngram(n - 1)))
    if draft is not None:
        gammas = [tokens - 1 for tokens in request.tokens if tokens > 1]
        add(draft, "autoregressive_drafting", gammas, drafting)
    if not any(row["model"] == target.name for row in rows):
        raise Problem(f"{target.name} does not fit into memory at any batch and context that was asked for - take a "
                      "narrower format, more devices (target_tp) or a smaller batch")
    notes = [f"does not fit into memory, left out: {name}, batch {batch}, context {context}"
             for name, batch, context in dict.fromkeys(left_out)]
    return rows, notes


def rounded(value):
    """To four significant digits: the tables are less precise."""
    return float(f"{value:.4g}")


def one_line(error):
    return " ".join(str(error).split())[:300] or type(error).__name__


def check_package(version):
    """Raises Problem unless `version` (None: not installed) is of the series that this script was written for."""
    if version is None:
        raise Problem(f"the Python package {PACKAGE} is not installed for {sys.executable} - {INSTALL}")
    if not version.startswith(SERIES):
        raise Problem(f"{PACKAGE} {version} is installed, and its operators are asked for through functions of "
                      f"{SERIES}x - {INSTALL}")


def installed_version():
    if importlib.util.find_spec(PACKAGE) is None:
        return None
    try:
        return importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return None


def digest_of_tables(device):
    """Digest of the package's list of a system's tables: their names, sizes and digests."""
    prefixes = (f"aisimulate_core/systems/data/{device}/", f"aisimulate_core/systems/{device}.yaml")
    record = importlib.metadata.distribution(PACKAGE).read_text("RECORD") or ""
    lines = sorted(line for line in record.splitlines() if line.startswith(prefixes))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def what_there_is(found, device):
    """The engines and versions of a device that has some, else the devices; `found`: {device: {engine: versions}}."""
    if found.get(device):
        return ", ".join(f"{engine} {' or '.join(versions)}" for engine, versions in sorted(found[device].items()))
    return f"those of {', '.join(system for system, engines in sorted(found.items()) if engines)}"


def _no_download(*_, **__):
    raise Problem("the package has no config of this model, and nothing is downloaded")


class Operators:
    """The package, for one device and engine."""

    def __init__(self, request):
        import urllib.request
        urllib.request.urlopen = _no_download
        import aisimulate.sdk.perf_database as database
        from aisimulate.legacy_cli.api import cli_estimate
        self._estimate = cli_estimate
        self._request = request
        self.version = request.engine_version
        # The package searches all of its tables for the current version, so do it only once.
        if self.version is None:
            self.version = database.get_latest_database_version(system=request.device, backend=request.engine)
        found = database.get_supported_databases() if self.version is None or not self._listed(database) else None
        if found is not None:
            raise Problem(f"no operator times of {' '.join(filter(None, [request.engine, self.version]))} on "
                          f"{request.device} - there are {what_there_is(found, request.device)}")

    def _listed(self, database):
        slots = database.get_version_slots(self._request.device, self._request.engine)
        return slots is None or self.version in slots.values()

    def __call__(self, model, weights, tp, batch, context, **more):
        if weights is not None:
            more["gemm_quant_mode"], experts = FORMATS[weights]
            if has_experts(model.config):
                more["moe_quant_mode"] = experts
        if has_experts(model.config):
            more.setdefault("moe_tp_size", tp)
        if self._request.kv_format is not None:
            more["kvcache_quant_mode"] = KV_FORMATS[self._request.kv_format]
        try:
            answer = self._estimate(
                mode="static_gen", model_path=model.path, system_name=self._request.device, tp_size=tp,
                backend_name=self._request.engine, backend_version=self.version, isl=context, osl=2, batch_size=batch,
                **more)
        except Exception as error:  # noqa: BLE001  the package raises of every kind
            raise Problem(f"{model.name} on {self._request.device} with {self._request.engine} {self.version}: "
                          f"{one_line(error)} - ask for another model, format, engine or degree") from None
        return None if answer.kv_cache_warning else float(answer.tpot)


def has_experts(config):
    return any(config.get(key) for key in ("num_experts", "n_routed_experts", "num_local_experts"))


def answer_to(text):
    """The document that answers a request. Raises Problem."""
    request = parse_request(text)
    version = installed_version()
    check_package(version)
    core = importlib.util.find_spec("aisimulate_core").submodule_search_locations[0]
    target, draft, method = plan(request, pathlib.Path(core) / "model_configs")
    operators = Operators(request)
    rows, notes = passes(request, target, draft, method, operators)
    asked = dataclasses.asdict(request) | {"target": target.name, "draft": draft and draft.name, "method": method,
                                           "engine_version": operators.version}
    return {
        "schema": SCHEMA,
        "package": {"name": PACKAGE, "version": version},
        "tables": {"system": request.device, "engine": request.engine, "version": operators.version,
                   "sha256": digest_of_tables(request.device)},
        "request": asked,
        "notes": notes,
        "rows": rows,
    }


def document_text(document):
    """JSON with one row a line."""
    head = {key: value for key, value in document.items() if key != "rows"}
    text = json.dumps(head, indent=1)
    if "rows" not in document:
        return text + "\n"
    rows = ",\n".join("  " + json.dumps(row) for row in document["rows"])
    return f'{text[:-2]},\n "rows": [\n{rows}\n ]\n}}\n'


def main():
    sys.dont_write_bytecode = True
    answer = os.dup(1)
    os.dup2(2, 1)  # output of libraries goes to standard error
    import logging
    import warnings
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    try:
        document, code = answer_to(sys.stdin.read()), 0
    except Problem as problem:
        document, code = {"error": str(problem)}, 1
    except Exception as error:  # noqa: BLE001  of the package's import: a dependency is missing or of another version
        reason = f"{type(error).__name__}: {one_line(error)}"
        document, code = {"error": f"{PACKAGE} cannot be used: {reason} - {INSTALL}"}, 1
    with os.fdopen(answer, "w", encoding="utf-8") as stream:
        stream.write(document_text(document))
    return code


if __name__ == "__main__":
    sys.exit(main())
