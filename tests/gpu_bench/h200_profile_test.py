# SPDX-License-Identifier: Apache-2.0
"""gpu_bench/data/h200, measured on an NVIDIA H200: its files belong together, predictions follow from it, and what the
documents say of it is in it.

Usage: h200_profile_test.py REPOSITORY_ROOT FOREDRAFT
"""
import collections
import csv
import hashlib
import json
import pathlib
import statistics
import subprocess
import sys
import unittest
import zlib

FOREDRAFT = sys.argv.pop(2)
ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
FOLDER = ROOT / "gpu_bench/data/h200"
PUBLISHED = ("hf_reference", "wagner_exact", "wagner_sigmoid")
BYTES = {"fp16": 2, "bf16": 2, "fp32": 4}
STATED_RATIO = (1.0 / 1.21, 1.21)  # verification over decode step, as `predict --device` states it
# Lines of the table of docs/step-times.md, and the models of each.
TABLE = {
    "vicuna-33b": ["vicuna-33b"], "llama-2-13b": ["llama-2-13b"], "gemma-7b": ["gemma-7b"],
    "llama-3.1-8b": ["llama-3.1-8b"], "qwen1.5-7b": ["qwen1.5-7b"], "llama-2-7b": ["llama-2-7b"],
    "t5-xxl": ["t5-xxl"], "gemma-2b": ["gemma-2b"], "whisper-large-v2": ["whisper-large-v2"],
    "sheared-llama-1.3b": ["sheared-llama-1.3b"], "EAGLE head of llama-3.1-8b": ["eagle-llama-3.1-8b"],
    "eleven below 0.8B": ["qwen1.5-0.5b", "t5-large", "t5-base", "t5-small", "distil-large-v2", "whisper-small.en",
                          "distil-small.en", "transformer-base", "transformer-base-12-2", "transformer-big",
                          "bart-base"],
}


def rows_of(name):
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def predict(*options):
    result = subprocess.run([FOREDRAFT, "predict", "--json", *map(str, options)], text=True, capture_output=True,
                            check=True)
    return json.loads(result.stdout)


def span(ratios):
    return f"{min(ratios):.1f} to {max(ratios):.1f} times (median {statistics.median(ratios):.1f})"


def signed_worst(errors):
    return max(errors, key=abs)


class Errors:
    """Measured over predicted by the data sheet, less 1, of passes, and of their ratio to the decode step."""

    def __init__(self):
        self.times, self.ratios, self.held, self.held_ratios = [], [], 0, 0

    def add(self, other):
        self.times += other.times
        self.ratios += other.ratios
        self.held += other.held
        self.held_ratios += other.held_ratios

    def line(self, name):
        return (f"| {name} | {len(self.times)} | {100 * statistics.median(self.times):+.0f} % | "
                f"{100 * signed_worst(self.times):+.0f} % | {100 * self.held / len(self.times):.0f} % | "
                f"{100 * statistics.median(map(abs, self.ratios)):.1f} % | {100 * signed_worst(self.ratios):+.0f} % | "
                f"{100 * self.held_ratios / len(self.ratios):.0f} % |")


def data_sheet_errors(model, context, measured):
    """`measured`: microseconds by (batch, tokens)."""
    errors = Errors()
    answer = predict("--device", "h200", "--target", model, "--draft", model, "--alpha", 0.5, "--context", context,
                     "--gamma", max(tokens for _, tokens in measured) - 1,
                     "--batch", ",".join(map(str, sorted({batch for batch, _ in measured}))))
    for cell in answer["cells"]:
        batch = cell["batch"]
        predicted = {1: cell["plain"], **{of["gamma"] + 1: of["verify"] for of in cell["gammas"]}}
        for tokens, time in predicted.items():
            if (batch, tokens) not in measured:
                continue
            ms = measured[batch, tokens] / 1e3
            errors.times.append(ms / time["ms"] - 1.0)
            errors.held += time["ci95_ms"][0] <= ms <= time["ci95_ms"][1]
            if tokens > 1:
                ratio = measured[batch, tokens] / measured[batch, 1] / (time["ms"] / predicted[1]["ms"])
                errors.ratios.append(ratio - 1.0)
                errors.held_ratios += STATED_RATIO[0] <= ratio <= STATED_RATIO[1]
    return errors


class Profile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = json.loads((FOLDER / "profile.json").read_text(encoding="utf-8"))
        cls.steps = {(row["model"], row["role"], int(row["batch"]), int(row["tokens"])): row
                     for row in rows_of("steps.csv")}
        cls.read = cls.profile["limits"]["read_bandwidth_bytes_per_s"]["value"]

    def says(self, document, *lines):
        text = " ".join((ROOT / document).read_text(encoding="utf-8").split())
        for line in lines:
            self.assertIn(" ".join(line.split()), text, document)

    def test_its_files_belong_together(self):
        samples = (FOLDER / "samples.csv").read_bytes()
        self.assertEqual(self.profile["raw_samples"], {"bytes": len(samples), "crc32": f"{zlib.crc32(samples):08x}"})
        for table in ("steps", "kernels", "verifications"):
            self.assertEqual(len(rows_of(f"{table}.csv")), len(self.profile[table]), table)
        manifest = json.loads((FOLDER / "validation/manifest.json").read_text(encoding="utf-8"))
        files = [(ROOT, of) for of in manifest["inputs"]] + [(FOLDER / "validation", of) for of in manifest["outputs"]]
        for folder, of in files:
            content = (folder / of["path"]).read_bytes()
            self.assertEqual((len(content), hashlib.sha256(content).hexdigest()), (of["bytes"], of["sha256"]))

    def test_a_prediction_takes_the_passes_that_were_measured(self):
        answer = predict("--profile", FOLDER / "profile.json", "--target", "llama-2-7b", "--draft",
                         "sheared-llama-1.3b", "--alpha", 0.8, "--gamma", 5)
        self.assertEqual((answer["profile"]["source"], answer["profile"]["valid"]), ("measured", True))
        cell, = answer["cells"]
        for tokens, time in ((1, cell["plain"]), *((of["gamma"] + 1, of["verify"]) for of in cell["gammas"])):
            us = float(self.steps["llama-2-7b", "decoder_pass", 1, tokens]["median_us"])
            self.assertAlmostEqual(time["ms"], us / 1e3, places=6)
        drafting = float(self.steps["sheared-llama-1.3b", "autoregressive_drafting", 1, 2]["median_us"])
        self.assertAlmostEqual(cell["gammas"][1]["drafting"]["ms"], drafting / 1e3, places=6)
        self.assertEqual(cell["best_gamma"], 2)
        # 1 + 0.8 + 0.64 tokens; verification and sampling take little beside a decode step and two drafts.
        step = float(self.steps["llama-2-7b", "decoder_pass", 1, 1]["median_us"])
        self.assertAlmostEqual(cell["best_speedup"], 2.44 * step / (step + drafting), delta=0.03)

    def test_the_readme_states_what_was_measured(self):
        limits = {name: of["value"] for name, of in self.profile["limits"].items()}
        curve = [float(self.steps["llama-2-7b", "decoder_pass", 1, n]["median_us"]) / 1e3 for n in (1, 8, 16, 32)]
        attend = [next(float(row["median_us"]) for row in rows_of("kernels.csv")
                       if row["operation"] == "attend" and
                       row["shape"].startswith(f"batch 1 tokens {n} length {512 + n} capacity {512 + n} heads 32 "
                                               "kv_heads 32 ")) for n in (1, 6)]
        large = [row for row in rows_of("kernels.csv") if row["operation"] == "project" and row["dtype"] == "fp16" and
                 self.weight_bytes(row["shape"]) > 50e6 and "rows 8192" not in row["shape"]]
        shares = [float(row["fraction_of_ceiling"]) for row in large]
        reasons = collections.Counter("time" if of["why"] == "no time left" else "memory"
                                      for of in self.profile["missing"])
        self.says("gpu_bench/README.md",
                  f"| bandwidth | read {limits['read_bandwidth_bytes_per_s'] / 1e9:.0f}, copy "
                  f"{limits['copy_bandwidth_bytes_per_s'] / 1e9:.0f}, write "
                  f"{limits['write_bandwidth_bytes_per_s'] / 1e9:.0f} GB/s |",
                  f"| matrix peak, fp16 | {limits['matrix_peak_fp16_flop_per_s'] / 1e12:.0f} Tflop/s |",
                  "| llama-2-7b, 1, 8, 16, 32 tokens | {:.2f}, {:.2f}, {:.2f}, {:.2f} ms |".format(*curve),
                  "| attention of one of its layers, 1 and 6 tokens | {:.1f} and {:.1f} us |".format(*attend),
                  f"{sum(share >= 0.85 for share in shares)} of {len(shares)} |",
                  f"{len(self.profile['missing']):,} planned parts are missing",
                  f"{reasons['memory']} for want of memory",
                  self.profile["identity"]["commit"][:8], self.profile["identity"]["cuda_driver"])

    @staticmethod
    def weight_bytes(shape):
        words = shape.split()
        return 2 * int(words[words.index("outputs") + 1]) * int(words[words.index("inputs") + 1])

    def test_the_readme_states_how_verification_fares(self):
        groups = collections.defaultdict(dict)
        for row in rows_of("verifications.csv"):
            cell = tuple(row[name] for name in ("dtype", "batch", "gamma", "vocabulary", "logits", "cache"))
            groups[cell][row["verifier"], row["launch"]] = float(row["median_us"])
        over_goal, over_rival = collections.defaultdict(list), []
        for (dtype, batch, gamma, vocabulary, _, _), times in groups.items():
            moved = (2 * int(gamma) + 1) * int(batch) * int(vocabulary) * BYTES[dtype]
            goal = 1e6 * moved / (0.85 * self.read) + 4.0
            ours = times["fused_exact", "graph"]
            over_goal[dtype].append(ours / goal)
            over_rival.append(min(us for (name, _), us in times.items() if name in PUBLISHED) / ours)
        self.says("gpu_bench/README.md",
                  f"| `fused_exact` over its goal, fp16 | {span(over_goal['fp16'])} |",
                  f"| `fused_exact` over its goal, fp32 | {span(over_goal['fp32'])} |",
                  f"| fastest published verifier over `fused_exact` | {span(over_rival)} |")

    def test_the_page_on_validation_states_the_errors_of_the_loops(self):
        cells = [row for row in rows_of("validation/validation.csv") if row["signed_error"]]
        errors = [float(row["signed_error"]) for row in cells]
        between = [float(row["between_runs"]) for row in cells]
        held = sum(float(row["predicted_low"]) <= float(row["measured_speedup"]) <= float(row["predicted_high"])
                   for row in cells)
        self.says("docs/validation.md",
                  f"{len(cells)} decoding loops were predicted to {100 * statistics.median(map(abs, errors)):.1f} % "
                  f"(median) and {100 * abs(signed_worst(errors)):.1f} % (worst)",
                  f"differ by {100 * statistics.median(between):.1f} % (median) and {100 * max(between):.1f} % (worst)",
                  f"{held} of the {len(cells)} intervals",
                  f"error of {sum(abs(of) <= two for of, two in zip(errors, between))} cells is at most")
        of_pair = collections.defaultdict(list)
        for row in cells:
            of_pair[row["target"], row["drafter"], row["drafting"]].append(float(row["signed_error"]))
        for (target, drafter, drafting), of in of_pair.items():
            self.says("docs/validation.md",
                      f"| {target} | {drafter} | {drafting} | {100 * statistics.median(map(abs, of)):.1f} % | "
                      f"{100 * signed_worst(of):+.1f} % |")

    def test_the_page_on_step_times_holds_the_data_sheet_against_it(self):
        measured = collections.defaultdict(dict)
        for (model, role, batch, tokens), row in self.steps.items():
            if role == "decoder_pass":
                measured[model, int(row["context"])][batch, tokens] = float(row["median_us"])
        by_model = {model: data_sheet_errors(model, context, of) for (model, context), of in measured.items()}
        self.assertEqual(sorted(by_model), sorted(model for models in TABLE.values() for model in models))
        whole = Errors()
        for name, models in TABLE.items():
            errors = Errors()
            for model in models:
                errors.add(by_model[model])
            whole.add(errors)
            self.says("docs/step-times.md", errors.line(name))
        self.says("docs/step-times.md", whole.line("all"))


if __name__ == "__main__":
    unittest.main()
