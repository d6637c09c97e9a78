# SPDX-License-Identifier: Apache-2.0
"""gpu_bench/time_transformers.py without torch, and with fakes of torch and transformers.

Usage: time_transformers_test.py REPOSITORY_ROOT
"""
import csv
import importlib.util
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
SCRIPT = ROOT / "gpu_bench/time_transformers.py"

TORCH = """
float16, float32, __version__ = "float16", "float32", "stand-in"

class Tensor:
    def __init__(self, *shape): self.shape = shape
    def __rmul__(self, factor): return self
    def __add__(self, other): return self
    def __getitem__(self, index): return Tensor(*self.shape[1:])
    def softmax(self, dim): return self
    def reshape(self, *shape): return Tensor(*shape)
    def to(self, dtype): return self

def randn(*shape, device, generator): return Tensor(*shape)
def cat(tensors, dim): return Tensor(1, tensors[0].shape[1] + tensors[1].shape[1], tensors[0].shape[2])
def multinomial(weights, count, generator): return Tensor(weights.shape[0], count)

class Generator:
    def __init__(self, device): pass
    def manual_seed(self, seed): return self

class inference_mode:
    def __enter__(self): pass
    def __exit__(self, *error): pass

class cuda:
    class Event:
        def __init__(self, enable_timing): pass
        def record(self): pass
        def elapsed_time(self, other): return 0.25
    @staticmethod
    def is_available(): return DEVICE
    @staticmethod
    def synchronize(): pass
    @staticmethod
    def get_device_name(): return "a device, with a comma"
"""

LIBRARY = """
def _speculative_sampling(candidate_input_ids, candidate_logits, candidate_length, new_logits, {last}):
    assert candidate_input_ids.shape == (1, candidate_length), candidate_input_ids.shape
    assert candidate_logits.shape[1] == candidate_length and new_logits.shape[1] == candidate_length + 1
    assert candidate_logits.shape[2] == new_logits.shape[2]
"""


class TimeTransformers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out.csv"

    def write(self, name, text):
        path = self.folder / "modules" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def stand_ins(self, device=True, last="is_done_candidate"):
        self.write("torch.py", TORCH.replace("DEVICE", str(device)))
        self.write("transformers/__init__.py", "__version__ = 'stand-in'")
        self.write("transformers/generation/__init__.py", "")
        self.write("transformers/generation/utils.py", LIBRARY.format(last=last))

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], text=True, capture_output=True,
                              env={**os.environ, "PYTHONPATH": str(self.folder / "modules")}, check=False)

    def test_absent_libraries_are_said_and_are_no_failure(self):
        self.write("torch.py", "raise ImportError('no torch here')")
        result = self.run_script(self.out)
        self.assertEqual((result.returncode, self.out.exists()), (0, False))
        self.assertIn("was not timed: no torch here", result.stderr)

    def test_without_a_device_nothing_is_timed(self):
        self.stand_ins(device=False)
        result = self.run_script(self.out)
        self.assertEqual((result.returncode, self.out.exists()), (0, False))
        self.assertIn("sees no CUDA device", result.stderr)

    def test_every_cell_gets_a_row_under_every_signature_of_the_library(self):
        for last in ("is_done_candidate", "last_assistant_token_is_eos, max_matches",
                     "is_done_candidate, assistant_ensemble_weight=None"):
            self.stand_ins(last=last)
            self.out.unlink(missing_ok=True)
            result = self.run_script(self.out, "--seconds", "0.01")
            self.assertEqual(result.returncode, 0, result.stderr)
            with self.out.open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len({(row["vocabulary"], row["gamma"], row["dtype"]) for row in rows}), 18)
            for row in rows:
                self.assertEqual(float(row["device_median_us"]), 250.0)
                self.assertLessEqual(float(row["wall_ci95_low_us"]), float(row["wall_median_us"]))
                self.assertLessEqual(float(row["wall_median_us"]), float(row["wall_ci95_high_us"]))
                self.assertGreaterEqual(int(row["samples"]), 20)
                self.assertEqual(row["device"], "a device, with a comma")

    def test_a_parameter_that_nobody_has_a_value_for_is_named(self):
        self.stand_ins(last="is_done_candidate, ensemble_weight")
        result = self.run_script(self.out)
        self.assertEqual((result.returncode, self.out.exists()), (1, False))
        self.assertEqual(result.stderr, "the transformers library was not timed: its speculative sampling needs "
                                        "ensemble_weight\n")

    def test_a_file_that_exists_is_left_alone(self):
        self.out.write_text("mine", encoding="utf-8")
        result = self.run_script(self.out)
        self.assertEqual((result.returncode, self.out.read_text(encoding="utf-8")), (2, "mine"))
        self.assertIn("exists", result.stderr)

    def test_the_interval_of_a_median_holds_what_it_says(self):
        spec = importlib.util.spec_from_file_location("time_transformers", SCRIPT)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for count in (6, 7, 20, 51):
            middle, low, high = module.median_interval(range(count))
            self.assertEqual(middle, (count - 1) / 2.0)
            # Sample `low` of `count`, from 0: the median lies outside with twice the chance of at most `low` below it.
            outside = 2.0 * sum(math.comb(count, k) for k in range(low + 1)) / 2.0**count
            self.assertLessEqual(outside, 0.05)
            self.assertGreater(outside + 2.0 * math.comb(count, low + 1) / 2.0**count, 0.05)
            self.assertEqual(high, count - 1 - low)


if __name__ == "__main__":
    unittest.main()
