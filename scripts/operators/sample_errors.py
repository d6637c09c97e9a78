# SPDX-License-Identifier: Apache-2.0
"""Compares sums of operators with measured deployments: sample_errors.py [TIMES.jsonl [ROWS.csv FIGURE.png]].

The package aisimulate has systems/silicon_sample.csv, 5,221 deployments with their time per output token (TPOT). For
those served by one pool of devices this asks the package for three times and keeps them in TIMES.jsonl (default
sample.jsonl, which is continued): the decode step at batch = concurrency and context = input + half of the output, the
pass over one prompt, and the package's own estimate of TPOT. Then it fits, by engine,

    TPOT = step + step_ms + share x prompt_ms x (concurrency - 1) / output tokens

to all families of models but one, judges it on that one, and prints the errors by engine, device and kind of model:
median and 90th percentile in percent, of this fit and of the package. ROWS.csv gets the predicted and the measured time
of every row, FIGURE.png a drawing of them by engine and device. It needs the package and ten minutes to an hour of one
core. sample_errors.py ROWS.csv FIGURE.png only draws, from the rows.
"""

import csv
import json
import logging
import math
import pathlib
import sys
import warnings

# Models of the sample without a config in the package, and models of the same shape that have one.
SAME_SHAPE = {
    "zhipuai/GLM-5": "zai-org/GLM-5",
    "meta-llama/Llama-3.1-70B": "meta-llama/Meta-Llama-3.1-70B",
    "meta-llama/Llama-3.1-8B-Instruct": "meta-llama/Meta-Llama-3.1-8B",
    "nvidia/Llama-3.1-8B-Instruct-FP8": "meta-llama/Meta-Llama-3.1-8B",
}
DENSE = ("Qwen3-32B", "Llama-3.1-70B", "Llama-3.1-8B-Instruct", "Llama-3.1-8B-Instruct-FP8")
FAMILIES = {"Llama-3.1-8B-Instruct": "Llama-3.1-8B", "Llama-3.1-8B-Instruct-FP8": "Llama-3.1-8B"}


def ask_all(sample, path):
    """Appends the times of all rows that `path` lacks."""
    import functools
    import aisimulate.sdk.perf_database as database
    from aisimulate.legacy_cli.api import cli_estimate
    version_of = functools.lru_cache(None)(database.get_latest_database_version)
    done = {json.loads(line)["id"] for line in path.read_text().splitlines()} if path.exists() else set()
    with open(path, "a", encoding="utf-8") as out:
        for row in sample.itertuples():
            if row.id in done:
                continue
            dp = max(1, int(row.attention_dp_size)) if row.attention_dp_size == row.attention_dp_size else 1
            concurrency = row.concurrency if row.concurrency == row.concurrency else row.batch_size * dp
            name = row.model_path.rsplit("/", 1)[-1]
            products = row.gemm_quant_mode
            if products != products:
                products = "fp8" if row.precision == "fp8" else "bfloat16" if name in DENSE else None
            asked = {"model_path": SAME_SHAPE.get(row.model_path, row.model_path), "system_name": row.system,
                     "backend_name": row.backend, "backend_version": version_of(system=row.system, backend=row.backend),
                     "tp_size": int(row.tp_size), "attention_dp_size": dp, "gemm_quant_mode": products}
            if name not in DENSE:
                whole = {key: int(value) if value == value and value else None for key, value in
                         (("moe_tp_size", row.moe_tp_size), ("moe_ep_size", row.moe_ep_size))}
                experts = row.moe_quant_mode if row.moe_quant_mode == row.moe_quant_mode else None
                asked |= whole | {"moe_quant_mode": experts}
            # TensorRT-LLM was measured with an fp8 KV cache where its weights are narrower than 16 bits.
            cache = {"kvcache_quant_mode": "fp8"} if row.backend == "trtllm" else {}
            found = {"id": row.id, "concurrency": concurrency}
            batch = max(1, round(concurrency / dp))
            try:
                found["step"] = cli_estimate(mode="static_gen", isl=int(row.isl + row.osl / 2), osl=2, batch_size=batch,
                                             **asked, **cache).tpot
                found["prompt"] = cli_estimate(mode="static_ctx", isl=int(row.isl), osl=2, batch_size=1, **asked).ttft
                found["package"] = cli_estimate(mode="agg", isl=int(row.isl), osl=int(row.osl), batch_size=batch,
                                                **asked).tpot
            except Exception as error:  # noqa: BLE001  the package raises of every kind
                found["error"] = str(error).split("\n", 1)[0][:200]
            out.write(json.dumps(found) + "\n")
            out.flush()


def predicted(parameters, rows):
    step_ms, share = math.exp(parameters[0]), 1.0 / (1.0 + math.exp(-parameters[1]))
    return rows.step + step_ms + share * rows.prompt * (rows.concurrency - 1) / rows.osl


def fitted(rows):
    """Fit with the least absolute error of the logarithm; each family on each device has the same weight."""
    import numpy
    from scipy.optimize import minimize
    weights = 1.0 / rows.groupby(["family", "system"]).step.transform("size")

    def loss(parameters):
        errors = numpy.abs(numpy.log(predicted(parameters, rows) / rows.silicon_tpot_ms))
        return (weights * errors).sum() / weights.sum() + 1e-4 * parameters[1]**2
    starts = [(step, share) for step in (-1.0, 0.5) for share in (-1.0, 1.0)]
    return min((minimize(loss, start, method="Nelder-Mead") for start in starts), key=lambda found: found.fun).x


def judged(rows):
    """The rows with the prediction of a fit that has not seen their family."""
    import pandas
    parts = []
    for family, part in rows.groupby("family"):
        parameters = fitted(rows[rows.family != family])
        print(f"  without {family}: {math.exp(parameters[0]):.2f} ms a step, share of prompts "
              f"{1.0 / (1.0 + math.exp(-parameters[1])):.2f}")
        parts.append(part.assign(ours=predicted(parameters, part)))
    return pandas.concat(parts)


def errors_text(times, measured):
    errors = (times / measured - 1.0).abs().dropna()
    return f"{100 * errors.median():.0f} / {100 * errors.quantile(0.9):.0f}" if len(errors) >= 8 else "-"


def why_not_fitted(row):
    """Why a row tests its labels more than the step times; docs/step-times.md has the details."""
    if "DeepSeek" in row["name"]:
        return "does not say where MTP was on"
    if row.tp_size > 8 or (row.attention_dp_size == row.attention_dp_size and row.attention_dp_size > 1):
        return "one deployment under several degrees of parallelism"
    if row.system == "gb200":
        return "batches are not the concurrency"
    if row.backend == "vllm" and row["name"] == "Qwen3-235B-A22B-FP8":
        return "table of fp8 experts is twice too slow"
    if row.backend == "vllm" and row["name"] == "Llama-3.1-8B-Instruct-FP8":
        return "prompts at this rate take more than all of the time"
    return ""


def why_not_asked(error):
    """The package's error as one of a few reasons."""
    for part, reason in (("OOM", "does not fit into memory by the package"), ("perf data", "no table of this format"),
                         ("data missing", "no table of these operators"), ("divisible", "heads do not divide by the degree"),
                         ("mismatch", "degrees of parallelism contradict each other"),
                         ("DeepEP", "no table of experts over several nodes")):
        if part in error:
            return reason
    return "the package gives an error"


def write_rows(sample, rows, path):
    """Every deployment of one pool: predicted and measured time, or why there is no prediction."""
    import pandas
    kept = ["id", "backend", "system", "name", "precision", "tp_size", "isl", "osl", "concurrency", "silicon_tpot_ms",
            "ours", "step", "prompt", "package", "left_out"]
    names = {"backend": "engine", "system": "device", "name": "model", "tp_size": "target_tp", "isl": "prompt_tokens",
             "osl": "output_tokens", "silicon_tpot_ms": "measured_tpot_ms", "ours": "predicted_tpot_ms",
             "step": "operators_step_ms", "prompt": "operators_prompt_ms", "package": "package_tpot_ms"}
    missing = sample[~sample.id.isin(rows.id)]
    out = pandas.concat([rows, missing])[kept].rename(columns=names)
    out["error_percent"] = 100.0 * (out.predicted_tpot_ms / out.measured_tpot_ms - 1.0)
    for column in ("target_tp", "prompt_tokens", "output_tokens", "concurrency"):
        out[column] = out[column].astype("Int64")
    for column in ("measured_tpot_ms", "predicted_tpot_ms", "operators_step_ms", "operators_prompt_ms", "package_tpot_ms"):
        out[column] = out[column].map("{:.4g}".format).replace("nan", "")
    out["error_percent"] = out.error_percent.map("{:.1f}".format).replace("nan", "")
    order = [name for name in out.columns if name not in ("id", "left_out")] + ["left_out", "id"]
    out.sort_values(["engine", "device", "model", "id"])[order].to_csv(path, index=False)


def draw(table, path):
    """Draws the file of write_rows, predicted against measured: a panel for each engine and device."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
    from matplotlib.lines import Line2D
    from plots import style
    with open(table, encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["predicted_tpot_ms"]]
    names = sorted({row["model"] for row in rows})
    looks = dict(zip(names, style.looks(len(names))))
    engines = {"vllm": "vLLM", "sglang": "SGLang", "trtllm": "TensorRT-LLM"}
    cells = [(engine, device) for engine in engines
             for device in ("h100_sxm", "h200_sxm", "b200_sxm", "b300_sxm", "gb200")
             if any(row["engine"] == engine and row["device"] == device for row in rows)]
    style.settle()
    figure = style.new_figure("double_column")
    figure.set_size_inches(style.WIDTH_IN["double_column"], 6.2)
    panels = figure.subplots(3, 4, sharex=True, sharey=True)
    ends = [1.0, 400.0]
    for panel, (engine, device) in zip(panels.flat, cells, strict=True):
        cell = [row for row in rows if row["engine"] == engine and row["device"] == device]
        panel.loglog(ends, ends, color=style.INK, linewidth=0.7)
        for factor in (0.8, 1.25):
            panel.loglog(ends, [factor * end for end in ends], color=style.GREY, linewidth=0.5, linestyle="--")
        for row in cell:
            look = looks[row["model"]]
            panel.plot(float(row["measured_tpot_ms"]), min(float(row["predicted_tpot_ms"]), ends[1]), look.marker,
                       color=look.color, markersize=2.2 * look.scale, markeredgewidth=0.4, clip_on=False,
                       fillstyle="none" if row["left_out"] else "full")
        panel.set_title(f"{engines[engine]}, {device.split('_')[0].upper()}")
        panel.text(0.96, 0.05, f"{len(cell)} rows", transform=panel.transAxes, ha="right", fontsize=style.SMALLEST_PT)
        panel.set(xlim=ends, ylim=ends)
        panel.xaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_major_formatter("{x:g}")
    handles = [Line2D([], [], marker=look.marker, linestyle="", color=look.color, label=name)
               for name, look in looks.items()]
    handles.append(Line2D([], [], marker="o", linestyle="", color=style.INK, markeredgewidth=0.4, fillstyle="none",
                          label="hollow: left out of the fits"))
    figure.legend(handles=handles, loc="upper center", ncols=4, handlelength=1.0)
    figure.supxlabel("measured time per output token (ms)", fontsize=style.LABEL_PT)
    figure.supylabel("predicted time per output token (ms)", fontsize=style.LABEL_PT)
    figure.tight_layout(rect=(0, 0, 1, 0.94))
    figure.savefig(path, dpi=200, metadata={"Software": None})


def main():
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    import aisimulate_core
    import pandas
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "sample.jsonl")
    systems = pathlib.Path(aisimulate_core.__file__).parent / "systems"
    sample = pandas.read_csv(systems / "silicon_sample.csv").drop_duplicates("id")
    sample = sample[sample["mode"] == "agg"]
    stated = sample.silicon_data_source.str.extract(r"silicon_concurrency=(\d+)")[0].astype(float)
    sample["name"] = sample.model_path.str.split("/").str[-1]
    ask_all(sample.assign(concurrency=stated), path)
    times = pandas.DataFrame([json.loads(line) for line in path.read_text().splitlines()])
    sample = sample.merge(times, on="id", how="left")
    sample["left_out"] = sample.error.map(why_not_asked, na_action="ignore")
    rows = sample.dropna(subset=["step", "prompt"]).copy()
    rows["family"] = rows.name.map(FAMILIES).fillna(rows.name)
    rows["kind"] = rows.name.isin(DENSE).map({True: "dense", False: "MoE"})
    print(f"{len(sample)} deployments of one pool, {len(rows)} with operators")
    rows["left_out"] = rows.apply(why_not_fitted, axis=1)
    parts = []
    for engine, part in rows.groupby("backend"):
        print(engine)
        others = part[part.left_out != ""]
        part = judged(part[part.left_out == ""])
        parts += [part, others.assign(ours=predicted(fitted(part), others))]
        within = ((part.ours / part.silicon_tpot_ms - 1.0).abs() < 0.285).mean()
        print(f"  all: {len(part)} rows, ours {errors_text(part.ours, part.silicon_tpot_ms)}, package "
              f"{errors_text(part.package, part.silicon_tpot_ms)}, within 28.5 %: {within:.2f}")
        for (kind, system), cell in part.groupby(["kind", "system"]):
            print(f"  {system} {kind}: {len(cell)} rows, ours {errors_text(cell.ours, cell.silicon_tpot_ms)}, package "
                  f"{errors_text(cell.package, cell.silicon_tpot_ms)}, operators alone "
                  f"{errors_text(cell.step, cell.silicon_tpot_ms)}")
    if len(sys.argv) > 3:
        write_rows(sample, pandas.concat(parts), sys.argv[2])
        draw(*sys.argv[2:4])


if __name__ == "__main__":
    draw(*sys.argv[1:]) if len(sys.argv) == 3 else main()
