# SPDX-License-Identifier: Apache-2.0
"""gpu_bench/data/DEVICE, measured on GPUs: the files of each are consistent, predictions follow from them, and the
numbers of the documents match them.

Usage: measured_profiles_test.py REPOSITORY_ROOT FOREDRAFT
"""
import collections
import csv
import hashlib
import json
import pathlib
import statistics
import subprocess
import sys
import tomllib
import unittest
import zlib

FOREDRAFT = sys.argv.pop(2)
ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
DEVICES = ("H100", "H200")  # in the order of the documents' columns and lines
PUBLISHED = ("hf_reference", "wagner_exact", "wagner_sigmoid")
BATCHES = ("llama-3.1-8b", "qwen1.5-7b")  # targets of gpu_bench/data/DEVICE/batches
DRAFTERS = ("eagle-llama-3.1-8b", "llama-3.2-1b")  # validations of gpu_bench/data/h200/contexts/llama-3.1-8b
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


# Lines of its second table: kinds of passes of the models from 1.3B on, by batch size and tokens.
KINDS = {
    "decode step, batch 1": (range(1, 2), range(1, 2)),
    "2 to 8 tokens, batch 1": (range(1, 2), range(2, 9)),
    "9 to 32 tokens, batch 1": (range(1, 2), range(9, 33)),
    "decode step, batches 2 to 16": (range(2, 17), range(1, 2)),
    "2 to 8 tokens, batches 2 to 16": (range(2, 17), range(2, 9)),
    "9 to 32 tokens, batches 2 to 16": (range(2, 17), range(9, 33)),
}


def predict(*options):
    result = subprocess.run([FOREDRAFT, "predict", "--json", *map(str, options)], text=True, capture_output=True,
                            check=True)
    return json.loads(result.stdout)


def printed(device, name):
    """A figure of the data sheet in latency/devices/, in its unit."""
    sheet = tomllib.loads((ROOT / "latency/devices/nvidia-datacenter.toml").read_text(encoding="utf-8"))[device.lower()]
    return sheet[name]["value"] if isinstance(sheet[name], dict) else sheet[name]


def span(ratios):
    return f"{min(ratios):.1f} to {max(ratios):.1f} times (median {statistics.median(ratios):.1f})"


def share(part, whole):
    return f"{100 * part / whole:.0f} %"


def signed_worst(errors):
    return max(errors, key=abs)


def of_loops(measured, folder="validation"):
    """Cells of a row of a table of loops, from the drafter on."""
    cells = measured.rows_of(f"{folder}/validation.csv")
    errors = [float(row["signed_error"]) for row in cells]
    held = sum(float(row["predicted_low"]) <= float(row["measured_speedup"]) <= float(row["predicted_high"])
               for row in cells)
    batches = ", ".join(map(str, sorted({int(row["batch"]) for row in cells})))
    between = statistics.median(float(row["between_runs"]) for row in cells)
    return (f"{cells[0]['drafter']} | {batches} | {len(cells)} | {100 * statistics.median(map(abs, errors)):.1f} % | "
            f"{100 * signed_worst(errors):+.1f} % | {held} | {100 * between:.1f} %")


class Errors:
    """Measured over predicted by the data sheet, less 1, of passes, and of their ratio to the decode step."""

    def __init__(self, of_passes):
        """`of_passes`: as `data_sheet_errors` returns them."""
        self.times = [of["time"] for of in of_passes]
        self.held = sum(of["held"] for of in of_passes)
        self.ratios = [of["ratio"] for of in of_passes if of["tokens"] > 1]
        self.held_ratios = sum(STATED_RATIO[0] <= 1.0 + ratio <= STATED_RATIO[1] for ratio in self.ratios)

    def line(self, *names):
        line = (f"| {' | '.join(names)} | {len(self.times):,} | {round(100 * statistics.median(self.times)):+d} % | "
                f"{round(100 * signed_worst(self.times)):+d} % | {100 * self.held / len(self.times):.0f} % | ")
        if not self.ratios:
            return line + "| | |"
        return line + (f"{100 * statistics.median(map(abs, self.ratios)):.1f} % | "
                       f"{100 * signed_worst(self.ratios):+.0f} % | "
                       f"{100 * self.held_ratios / len(self.ratios):.0f} % |")


def data_sheet_errors(device, model, context, measured):
    """`measured`: microseconds by (batch, tokens)."""
    answer = predict("--device", device, "--target", model, "--draft", model, "--alpha", 0.5, "--context", context,
                     "--gamma", max(tokens for _, tokens in measured) - 1,
                     "--batch", ",".join(map(str, sorted({batch for batch, _ in measured}))))
    errors = []
    for cell in answer["cells"]:
        batch = cell["batch"]
        predicted = {1: cell["plain"], **{of["gamma"] + 1: of["verify"] for of in cell["gammas"]}}
        for tokens, time in predicted.items():
            if (batch, tokens) not in measured:
                continue
            ms = measured[batch, tokens] / 1e3
            errors.append({
                "model": model, "batch": batch, "tokens": tokens, "time": ms / time["ms"] - 1.0,
                "held": time["ci95_ms"][0] <= ms <= time["ci95_ms"][1],
                "ratio": measured[batch, tokens] / measured[batch, 1] / (time["ms"] / predicted[1]["ms"]) - 1.0})
    return errors


class Measured:
    """The files of one folder, and what the documents state of them."""

    def __init__(self, device, folder=""):
        self.device = device
        self.folder = ROOT / "gpu_bench/data" / device.lower() / folder
        self.profile = json.loads((self.folder / "profile.json").read_text(encoding="utf-8"))
        self.steps = {(row["model"], row["role"], int(row["batch"]), int(row["tokens"])): row
                      for row in self.rows_of("steps.csv")}
        self.limits = {name: of["value"] for name, of in self.profile["limits"].items()}

    def rows_of(self, name):
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def step_us(self, model, role, tokens):
        """Median at batch 1."""
        return float(self.steps[model, role, 1, tokens]["median_us"])

    def of_passes(self):
        """By label of the README's table."""
        curve = [self.step_us("llama-2-7b", "decoder_pass", n) / 1e3 for n in (1, 8, 16, 32)]
        attend = [next(float(row["median_us"]) for row in self.rows_of("kernels.csv")
                       if row["operation"] == "attend" and
                       row["shape"].startswith(f"batch 1 tokens {n} length {512 + n} capacity {512 + n} heads 32 "
                                               "kv_heads 32 ")) for n in (1, 6)]
        shares = [float(row["fraction_of_ceiling"]) for row in self.rows_of("kernels.csv")
                  if row["operation"] == "project" and row["dtype"] == "fp16" and
                  self.weight_bytes(row["shape"]) > 50e6 and "rows 8192" not in row["shape"]]
        again = self.profile["against_itself"]
        whys = collections.Counter(of["why"] == "no time left" for of in self.profile["missing"])
        bandwidths = [self.limits[f"{name}_bandwidth_bytes_per_s"] / 1e9 for name in ("read", "copy", "write")]
        ceiling = float(self.steps["llama-2-7b", "decoder_pass", 1, 1]["fraction_of_ceiling"])
        return {
            "bandwidth": "read {:.0f}, copy {:.0f}, write {:.0f} GB/s".format(*bandwidths),
            "matrix peak, fp16": f"{self.limits['matrix_peak_fp16_flop_per_s'] / 1e12:.0f} Tflop/s",
            "llama-2-7b, 1, 8, 16, 32 tokens": "{:.2f}, {:.2f}, {:.2f}, {:.2f} ms".format(*curve),
            "its decode step, share of the ceiling": f"{100 * ceiling:.0f} %",
            "attention of one of its layers, 1 and 6 tokens": "{:.1f} and {:.1f} us".format(*attend),
            "products over more than 50 MB of weights that reach 85 % of the bandwidth of reading":
                f"{sum(share >= 0.85 for share in shares)} of {len(shares)}",
            "A/A test: median, 95th percentile":
                f"{100 * again['median_difference']:.2f} %, {100 * again['p95_difference']:.2f} %",
            "rows of passes": f"{len(self.profile['steps']):,}",
            "planned parts that are missing (for lack of memory)":
                f"{len(self.profile['missing']):,} ({whys[False]})",
        }

    @staticmethod
    def weight_bytes(shape):
        words = shape.split()
        return 2 * int(words[words.index("outputs") + 1]) * int(words[words.index("inputs") + 1])

    def verification_us(self):
        """Medians by (verifier, launch) of each size."""
        groups = collections.defaultdict(dict)
        for row in self.rows_of("verifications.csv"):
            cell = tuple(row[name] for name in ("dtype", "batch", "gamma", "vocabulary", "logits", "cache"))
            groups[cell][row["verifier"], row["launch"]] = float(row["median_us"])
        return groups

    def of_verification(self):
        """By label of the README's table."""
        over_goal, over_rival = collections.defaultdict(list), []
        for (dtype, batch, gamma, vocabulary, _, _), times in self.verification_us().items():
            moved = (2 * int(gamma) + 1) * int(batch) * int(vocabulary) * BYTES[dtype]
            goal = 1e6 * moved / (0.85 * self.limits["read_bandwidth_bytes_per_s"]) + 4.0
            ours = times["fused_exact", "graph"]
            over_goal[dtype].append(ours / goal)
            over_rival.append(min(us for (name, _), us in times.items() if name in PUBLISHED) / ours)
        return {
            "`fused_exact` over its goal, fp16": span(over_goal["fp16"]),
            "`fused_exact` over its goal, fp32": span(over_goal["fp32"]),
            "fastest published verifier over `fused_exact`": span(over_rival),
            "transformers over `fused_exact`, batch 1": self.transformers(),
        }

    def transformers(self):
        """Times of the library on the device over ours, both over logits in the L2."""
        if not (self.folder / "transformers.csv").exists():
            return "not timed"
        ours = self.verification_us()
        ratios = []
        for row in self.rows_of("transformers.csv"):
            size = (row["dtype"], "1", row["gamma"], row["vocabulary"], "real_like", "hot")
            ratios.append(float(row["device_median_us"]) / ours[size]["fused_exact", "graph"])
        return span(ratios)

    def data_sheet_errors(self):
        measured = collections.defaultdict(dict)
        for (model, role, batch, tokens), row in self.steps.items():
            if role == "decoder_pass":
                measured[model, int(row["context"])][batch, tokens] = float(row["median_us"])
        return [of for (model, context), times in measured.items()
                for of in data_sheet_errors(self.device.lower(), model, context, times)]


class Profiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.measured = [Measured(device) for device in DEVICES]

    def says(self, document, *lines):
        text = " ".join((ROOT / document).read_text(encoding="utf-8").split())
        for line in lines:
            self.assertIn(" ".join(line.split()), text, document)

    def test_their_files_belong_together(self):
        for measured in self.measured:
            with self.subTest(measured.device):
                samples = (measured.folder / "samples.csv").read_bytes()
                self.assertEqual(measured.profile["raw_samples"],
                                 {"bytes": len(samples), "crc32": f"{zlib.crc32(samples):08x}"})
                for table in ("steps", "kernels", "verifications"):
                    self.assertEqual(len(measured.rows_of(f"{table}.csv")), len(measured.profile[table]), table)
                self.assertTrue((measured.folder / "report.md").read_text(encoding="utf-8").startswith(
                    f"# {measured.profile['device']['name']} (incomplete)\n"))

    def test_a_validation_belongs_to_its_profile(self):
        paths = list(ROOT.glob("gpu_bench/data/**/validation/manifest.json"))
        self.assertEqual(len(paths), 1 + len(DEVICES) * len(BATCHES) + len(DRAFTERS))
        for path in paths:
            manifest = json.loads(path.read_text(encoding="utf-8"))
            files = [(ROOT, of) for of in manifest["inputs"]] + [(path.parent, of) for of in manifest["outputs"]]
            for folder, of in files:
                content = (folder / of["path"]).read_bytes()
                self.assertEqual((len(content), hashlib.sha256(content).hexdigest()), (of["bytes"], of["sha256"]))

    def test_a_prediction_takes_the_passes_that_were_measured(self):
        for measured, best_gamma in zip(self.measured, (3, 2)):
            with self.subTest(measured.device):
                answer = predict("--profile", measured.folder / "profile.json", "--target", "llama-2-7b", "--draft",
                                 "sheared-llama-1.3b", "--alpha", 0.8, "--gamma", 5)
                self.assertEqual((answer["profile"]["source"], answer["profile"]["valid"]), ("measured", True))
                cell, = answer["cells"]
                for tokens, time in ((1, cell["plain"]), *((of["gamma"] + 1, of["verify"]) for of in cell["gammas"])):
                    self.assertAlmostEqual(time["ms"], measured.step_us("llama-2-7b", "decoder_pass", tokens) / 1e3,
                                           places=6)
                drafting = measured.step_us("sheared-llama-1.3b", "autoregressive_drafting", 2)
                self.assertAlmostEqual(cell["gammas"][1]["drafting"]["ms"], drafting / 1e3, places=6)
                self.assertEqual(cell["best_gamma"], best_gamma)
                # 1 + 0.8 + 0.64 tokens; verification and sampling take little beside a decode step and two drafts.
                step = measured.step_us("llama-2-7b", "decoder_pass", 1)
                self.assertAlmostEqual(cell["gammas"][1]["speedup"], 2.44 * step / (step + drafting), delta=0.03)

    def test_the_readme_states_what_was_measured(self):
        for of_device in (Measured.of_passes, Measured.of_verification):
            columns = [of_device(measured) for measured in self.measured]
            for label in columns[0]:
                self.says("gpu_bench/README.md", f"| {label} | {' | '.join(of[label] for of in columns)} |")
        for measured in self.measured:
            self.says("gpu_bench/README.md", measured.profile["identity"]["commit"][:8],
                      measured.profile["identity"]["cuda_driver"])

    def test_the_page_on_validation_states_the_errors_of_the_loops(self):
        measured = self.measured[DEVICES.index("H200")]
        cells = [row for row in measured.rows_of("validation/validation.csv") if row["signed_error"]]
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

    def test_the_page_on_validation_states_the_errors_of_loops_at_larger_batches(self):
        for device in DEVICES:
            few, many, steps = [], [], []
            for target in BATCHES:
                measured = Measured(device, f"batches/{target}")
                self.says("docs/validation.md", f"| {device} | {target} | {of_loops(measured)} |")
                times = {(int(row["batch"]), int(row["tokens"])): float(row["median_us"])
                         for row in measured.rows_of("steps.csv")
                         if (row["model"], row["role"], row["dtype"]) == (target, "decoder_pass", "fp16")}
                passes = data_sheet_errors(device.lower(), target, 512, times)
                steps += [of for of in passes if of["tokens"] == 1]
                few += [of for of in passes if of["batch"] * of["tokens"] <= 128]
                many += [of for of in passes if of["batch"] * of["tokens"] > 128]
            low, high = (round(-100 * of(step["time"] for step in steps)) for of in (max, min))
            worst = max(many, key=lambda of: of["time"])
            self.assertTrue(all(of["held"] for of in few))
            self.assertEqual((worst["batch"], worst["tokens"]), (64, 16))
            self.says("docs/validation.md", f"{low} to {high} % less than `--device {device.lower()}`",
                      f"{round(100 * worst['time'])} %")

    def test_the_page_on_validation_states_the_errors_of_loops_at_longer_contexts(self):
        measured = Measured("H200", "contexts/llama-3.1-8b")
        for drafter in DRAFTERS:
            self.says("docs/validation.md", f"| {of_loops(measured, f'{drafter}/validation')} |")
        times = collections.defaultdict(dict)
        for row in measured.rows_of("steps.csv"):
            if (row["model"], row["role"], row["dtype"]) == ("llama-3.1-8b", "decoder_pass", "fp16"):
                times[int(row["context"])][int(row["batch"]), int(row["tokens"])] = float(row["median_us"])
        passes = [of for context, of_context in times.items()
                  for of in data_sheet_errors("h200", "llama-3.1-8b", context, of_context)]
        self.assertTrue(all(of["held"] for of in passes))
        low, high = (round(100 * of(step["time"] for step in passes)) for of in (min, max))
        self.says("docs/validation.md", f"every one of the {len(passes)} passes", f"{-low} % less to {high} % more",
                  f"it takes {times[8192][8, 6] / 1e3:.1f} ms, {times[8192][8, 6] / times[8192][8, 1]:.2f} decode steps")
        fastest, = [row for row in measured.rows_of("eagle-llama-3.1-8b/validation/validation.csv")
                    if (row["gamma"], row["batch"], row["context"]) == ("5", "16", "4096")]
        self.says("docs/validation.md", f"now runs at {float(fastest['measured_speedup']):.2f}")

    def test_a_short_profile_of_a_current_model_predicts(self):
        answer = predict("--profile", ROOT / "gpu_bench/data/h200/contexts/qwen3-8b/profile.json", "--target",
                         "qwen3-8b", "--draft", "qwen3-0.6b", "--alpha", 0.8, "--batch", 8, "--context", 2000)
        self.assertEqual((answer["profile"]["source"], answer["profile"]["valid"]), ("measured", True))

    def test_the_page_on_step_times_holds_the_data_sheets_against_them(self):
        summaries = []
        for measured in self.measured:
            errors = measured.data_sheet_errors()
            self.assertEqual({of["model"] for of in errors}, {model for models in TABLE.values() for model in models})
            for name, models in (*TABLE.items(), ("all", sum(TABLE.values(), []))):
                self.says("docs/step-times.md",
                          Errors([of for of in errors if of["model"] in models]).line(name, measured.device))
            large = [of for of in errors if of["model"] not in TABLE["eleven below 0.8B"]]
            for name, (batches, tokens) in KINDS.items():
                self.says("docs/step-times.md",
                          Errors([of for of in large if of["batch"] in batches and of["tokens"] in tokens])
                          .line(name, measured.device))
            few = Errors([of for of in large if of["tokens"] <= 8])
            summaries.append({
                "passes of 1 to 8 tokens in the interval": f"{few.held} of {len(few.times)}",
                "ratios v of 2 to 8 tokens in the interval": f"{few.held_ratios} of {len(few.ratios)}",
                "bandwidth of reading, share of the data sheet": share(
                    measured.limits["read_bandwidth_bytes_per_s"] / 1e9,
                    printed(measured.device, "memory_bandwidth_gb_per_s")),
                "matrix peak, share of the data sheet": share(
                    measured.limits["matrix_peak_fp16_flop_per_s"] / 1e12,
                    printed(measured.device, "matrix_peak_fp16_tflop_per_s"))})
        for label in summaries[0]:
            self.says("docs/step-times.md", f"| {label} | {' | '.join(of[label] for of in summaries)} |")


if __name__ == "__main__":
    unittest.main()
