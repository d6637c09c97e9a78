# SPDX-License-Identifier: Apache-2.0
"""gpu_bench/data/engines/vllm: `advise` reads the logs of vLLM's server and benchmark; its numbers match plain
arithmetic on them.

Usage: vllm_records_test.py REPOSITORY_ROOT FOREDRAFT
"""
import json
import pathlib
import subprocess
import sys
import unittest

FOREDRAFT = sys.argv.pop(2)
FOLDER = pathlib.Path(sys.argv.pop(1)).resolve() / "gpu_bench" / "data" / "engines" / "vllm"
METHODS = {"d1": "draft_model", "d3": "draft_model", "d5": "draft_model", "dynamic": "draft_model", "eagle": "eagle",
           "ng3": "ngram"}


def advise(*files, plain=None):
    words = [FOREDRAFT, "advise", *map(str, files), "--json", *(("--plain", str(plain)) if plain else ())]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):  # 1: too little data for a recommendation
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def tpot_ms(document):
    """Time after the first token of each request, per token in that time."""
    return 1e3 * sum(map(sum, document["itls"])) / sum(tokens - 1 for tokens in document["output_lens"])


class Records(unittest.TestCase):
    def test_a_benchmark_with_a_draft_model_matches_its_counts(self):
        plain = FOLDER / "runs" / "plain-c4-r1.json"
        plain_ms = tpot_ms(json.loads(plain.read_text()))
        for gamma in (1, 3, 5):
            with self.subTest(gamma):
                path = FOLDER / "runs" / f"d{gamma}-c4-r1.json"
                document = json.loads(path.read_text())
                answer = advise(path, plain=plain)
                self.assertEqual((answer["engine"], answer["gamma_observed"]), ("vllm", gamma))
                tokens = 1 + document["spec_decode_accepted_tokens"] / document["spec_decode_num_drafts"]
                self.assertAlmostEqual(answer["tokens_per_iteration"]["observed"], tokens, places=9)
                # The means of requests weigh short and long ones alike: 2 % apart at most.
                load, = answer["loads"]
                self.assertAlmostEqual(load["runs"][0]["speedup"]["measured"] / (plain_ms / tpot_ms(document)), 1, delta=0.02)
                self.assertNotIn("W18", [warning["code"] for warning in answer["warnings"]])

    def test_a_server_log_states_version_and_method(self):
        for name, method in METHODS.items():
            with self.subTest(name):
                answer = advise(FOLDER / "logs" / f"{name}.log")
                self.assertEqual((answer["engine"], answer["engine_version"], answer["method"]),
                                 ("vllm", "0.32.0", method))

    def test_advice_for_a_useless_drafter_is_to_turn_speculation_off(self):
        answer = advise(FOLDER / "logs" / "eagle.log")  # a head of random weights
        self.assertTrue(answer["action"].startswith("Turn speculation off"), answer["action"])

    def test_a_server_without_speculation_shows_no_acceptance(self):
        self.assertIsNone(advise(FOLDER / "logs" / "plain.log")["tokens_per_iteration"])


if __name__ == "__main__":
    unittest.main()
