# SPDX-License-Identifier: Apache-2.0
"""scripts/operators/aisimulate_steps.py without the package: what it accepts, requests and rejects."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "operators" / "aisimulate_steps.py"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPT.parent))
import aisimulate_steps as steps  # noqa: E402


def request_text(**more):
    return json.dumps({"device": "h100_sxm", "target": "llama-3.1-8b"} | more)


class Parsing(unittest.TestCase):
    def test_defaults_are_filled_in_and_lists_are_sorted(self):
        request = steps.parse_request(request_text(batches=[8, 1, 8], target_tp=4, draft="x", engine=None))
        self.assertEqual((request.engine, request.batches, request.draft_tp), ("vllm", (1, 8), 4))
        self.assertEqual(request.tokens, (1, 2, 3, 4, 5, 6, 7, 8, 9))

    def test_each_wrong_request_is_rejected_with_what_to_do(self):
        for text, said in (
                ("{", "no JSON"), ("[1]", "no object"), ("{}", 'lacks "device"'),
                ('{"device": "h100_sxm"}', 'lacks "target"'),
                (request_text(devise="h100"), 'unknown key "devise"'),
                (request_text(engine="llama.cpp"), 'unknown engine "llama.cpp"'),
                (request_text(method="medusa"), 'unknown method "medusa"'),
                (request_text(method="eagle3"), 'method "eagle3" without a draft'),
                (request_text(target_format="fp7"), 'unknown target_format "fp7"'),
                (request_text(batches=[0]), '"batches" holds 0'), (request_text(batches=[]), "no list of numbers"),
                (request_text(tokens=[1.5]), '"tokens" holds 1.5'),
                (request_text(tokens=[True]), '"tokens" holds true'),
                (request_text(target_tp=0), '"target_tp" holds 0'),
                (request_text(attention_dp=0), '"attention_dp" holds 0'),
                (request_text(target_tp=4, attention_dp=2, target_ep=3), "spread over 3 of 8 devices"), (request_text(draft=3), '"draft" of the request')):
            with self.subTest(text), self.assertRaises(steps.Problem) as raised:
                steps.parse_request(text)
            self.assertIn(said, str(raised.exception))
            self.assertIn(" - ", str(raised.exception))


class Models(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.configs = pathlib.Path(self._folder.name)
        self.put("meta-llama--Meta-Llama-3.1-8B_config.json", {"num_hidden_layers": 32})
        self.put("deepseek-ai--DeepSeek-V3_config.json", {"n_routed_experts": 256, "num_nextn_predict_layers": 1})

    def put(self, name, config):
        (self.configs / name).parent.mkdir(exist_ok=True)
        (self.configs / name).write_text(json.dumps(config), encoding="utf-8")

    def planned(self, **request):
        return steps.plan(steps.parse_request(request_text(**request)), self.configs)

    def test_models_are_found_by_our_name_the_packages_name_and_their_folder(self):
        self.put("Own-Model/config.json", {"num_hidden_layers": 2})
        for name, called in (("llama-3.1-8b", "llama-3.1-8b"), ("meta-llama/Meta-Llama-3.1-8B", "meta-llama-3.1-8b"),
                             (str(self.configs / "Own-Model"), "own-model"),
                             (str(self.configs / "Own-Model" / "config.json"), "own-model"),
                             ("llama-3.2-1b", "llama-3.2-1b")):
            with self.subTest(name):
                self.assertEqual(steps.find_model(name, self.configs).name, called)

    def test_a_model_without_a_config_is_rejected_with_those_that_there_are(self):
        with self.assertRaises(steps.Problem) as raised:
            steps.find_model("some/Model", self.configs)
        self.assertIn('no config of "some/Model"', str(raised.exception))
        self.assertIn("deepseek-ai/DeepSeek-V3", str(raised.exception))

    def test_how_a_draft_drafts_follows_from_its_name_and_config(self):
        self.assertEqual(self.planned()[1:], (None, "ngram"))
        self.assertEqual(self.planned(draft="llama-3.2-1b")[2], "draft_model")
        self.assertEqual(self.planned(draft="eagle3-llama-3.1-8b")[2], "eagle3")
        target, draft, method = self.planned(target="deepseek-v3", draft="mtp")
        self.assertEqual((draft.name, draft.path, method), ("mtp-deepseek-v3", target.path, "mtp"))
        with self.assertRaises(steps.Problem) as raised:
            self.planned(target_ep=2, target_tp=2)
        self.assertIn("has no experts to spread", str(raised.exception))
        with self.assertRaises(steps.Problem) as raised:
            self.planned(draft="mtp")
        self.assertIn("no layer that predicts further tokens", str(raised.exception))


class ForwardPasses(unittest.TestCase):
    TARGET, DRAFT = steps.Model("t", "T", {}), steps.Model("d", "D", {})

    def rows(self, method, ask, **request):
        request = steps.parse_request(request_text(draft="x", tokens=[1, 3], batches=[1, 8], contexts=[512], **request))
        return steps.passes(request, self.TARGET, self.DRAFT, method, ask)

    def test_drafts_of_a_model_are_its_passes_in_its_own_format_and_degree(self):
        def ask(model, weights, tp, batch, context, **more):
            return {("t", "bf16", 4): 10.0, ("d", "fp8", 1): 1.23456}[model.name, weights, tp]
        rows, notes = self.rows("draft_model", ask, target_format="bf16", draft_format="fp8", target_tp=4, draft_tp=1)
        self.assertEqual(rows[0], {"model": "t", "role": "decoder_pass", "batch": 1, "context": 512, "tokens": [1, 3],
                                   "ms": [10.0, 10.0]})
        self.assertEqual(rows[2], {"model": "d", "role": "autoregressive_drafting", "batch": 1, "context": 512,
                                   "tokens": [2], "ms": [2.469]})
        self.assertEqual(notes, [])

    def test_drafts_of_a_head_are_what_an_iteration_takes_beyond_its_verification(self):
        def ask(model, weights, tp, batch, context, speculative=None, nextn=0, nextn_accepted=None):
            if nextn:
                return 10.0 + nextn * 2.0
            if speculative is None:
                return 9.0
            self.assertEqual(speculative["accepted_tokens"], 0.0)
            return {"ngram": 10.0, "eagle3": 10.0 + 0.5 * speculative["params"]["num_speculative_tokens"]}[
                speculative["method"]]
        for method, ms in (("eagle3", 1.0), ("mtp", 4.0)):
            with self.subTest(method):
                rows, _ = self.rows(method, ask)
                self.assertEqual([row["ms"] for row in rows], [[9.0, 10.0]] * 2 + [[ms]] * 2)

    def test_experts_are_spread_and_copies_of_the_attention_have_their_share_of_the_batch(self):
        experts, asked = steps.Model("t", "T", {"num_experts": 8}), []

        def ask(model, weights, tp, batch, context, **more):
            asked.append((tp, batch, {key: more.get(key) for key in ("attention_dp_size", "moe_tp_size", "moe_ep_size")}))
            return 1.0
        request = steps.parse_request(request_text(tokens=[1], batches=[9], contexts=[512], target_tp=2, attention_dp=4,
                                                   target_ep=4))
        rows, _ = steps.passes(request, experts, None, "ngram", ask)
        self.assertEqual(asked, [(2, 3, {"attention_dp_size": 4, "moe_tp_size": 2, "moe_ep_size": 4})])
        self.assertEqual(rows[0]["batch"], 9)
        asked.clear()
        steps.passes(steps.parse_request(request_text(tokens=[1], batches=[9], contexts=[512])), self.TARGET, None, "ngram",
                     ask)
        self.assertEqual(asked, [(1, 9, dict.fromkeys(("attention_dp_size", "moe_tp_size", "moe_ep_size")))])

    def test_passes_that_do_not_fit_are_named_and_a_target_that_never_fits_is_rejected(self):
        rows, notes = self.rows("draft_model", lambda *point, **more: None if point[3] == 8 else 1.0)
        self.assertEqual([row["batch"] for row in rows], [1, 1])
        self.assertEqual(notes[0], "does not fit into memory, left out: t, batch 8, context 512")
        with self.assertRaises(steps.Problem) as raised:
            self.rows("draft_model", lambda *_, **__: None)
        self.assertIn("does not fit into memory at any batch", str(raised.exception))

    def test_a_time_that_is_none_is_rejected(self):
        with self.assertRaises(steps.Problem) as raised:
            self.rows("draft_model", lambda *_, **__: 0.0)
        self.assertIn("is 0.0 ms", str(raised.exception))


class Package(unittest.TestCase):
    def test_a_missing_package_and_another_series_say_what_to_install(self):
        for version, said in ((None, "is not installed"), ("0.12.4", "aisimulate 0.12.4 is installed")):
            with self.subTest(version), self.assertRaises(steps.Problem) as raised:
                steps.check_package(version)
            self.assertIn(said, str(raised.exception))
            self.assertIn("pip install", str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))
        steps.check_package("0.13.0.dev1")

    def test_missing_data_name_what_there_is(self):
        found = {"h100_sxm": {"vllm": ["0.24.0", "0.31.0"], "sglang": ["0.5.14"]},
                 "b60": {"vllm": ["0.28.0"]}, "l4": {}}
        self.assertEqual(steps.what_there_is(found, "h100_sxm"), "sglang 0.5.14, vllm 0.24.0 or 0.31.0")
        self.assertEqual(steps.what_there_is(found, "h1"), "those of b60, h100_sxm")

    def test_a_problem_is_one_document_on_standard_output_and_nothing_else(self):
        ended = subprocess.run([sys.executable, "-I", str(SCRIPT)], input="{", capture_output=True, text=True,
                               check=False)
        self.assertEqual((ended.returncode, ended.stderr), (1, ""))
        self.assertEqual(list(json.loads(ended.stdout)), ["error"])

    def test_documents_are_read_back_with_a_row_a_line(self):
        document = {"schema": steps.SCHEMA, "notes": [], "rows": [{"model": "t"}, {"model": "d"}]}
        text = steps.document_text(document)
        self.assertEqual(json.loads(text), document)
        self.assertIn('\n  {"model": "d"}\n', text)


if __name__ == "__main__":
    unittest.main()
