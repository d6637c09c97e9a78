# SPDX-License-Identifier: Apache-2.0
"""The parts of the validation with vLLM that do not need it: reading its files, fitting, predicting and judging."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts" / "engines"))

import vllm_cpu_prediction as prediction  # noqa: E402
import vllm_cpu_runs as of_runs  # noqa: E402
import vllm_cpu_settings as settings  # noqa: E402
import vllm_cpu_validation as validation  # noqa: E402


def document(itls, accepted=0, iterations=0, drafts=0):
    """A file of the benchmark for requests whose chunks have these distances in seconds."""
    made = {"itls": itls, "output_lens": [5] * len(itls), "ttfts": [0.5] * len(itls), "output_throughput": 10.0,
            "completed": len(itls), "start_times": [1.23456789]}
    if iterations:
        made |= {"spec_decode_num_drafts": iterations, "spec_decode_accepted_tokens": accepted,
                 "spec_decode_draft_tokens": drafts}
    return made


class Runs(unittest.TestCase):
    def test_arms_alternate_and_every_other_round_begins_at_the_end(self):
        self.assertEqual(settings.in_turn(("a", "b"), (1, 8), 2), [
            (1, 1, "a"), (1, 1, "b"), (1, 8, "a"), (1, 8, "b"), (2, 1, "b"), (2, 1, "a"), (2, 8, "b"), (2, 8, "a")])

    def test_a_token_takes_total_time_over_tokens_after_the_first(self):
        plain = of_runs.run_numbers(document([[0.1, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.9]]))
        self.assertAlmostEqual(plain["tpot_ms"], 200.0)  # the mean over requests would be the same, the median not
        self.assertAlmostEqual(plain["step_ms"], 100.0)
        self.assertEqual(plain["tokens_per_iteration"], 1.0)

    def test_chunks_of_several_tokens_are_iterations(self):
        run = of_runs.run_numbers(document([[0.2, 0.2]], accepted=2, iterations=2, drafts=6))  # 2 + 2 tokens of 4
        self.assertAlmostEqual(run["tpot_ms"], 100.0)
        self.assertAlmostEqual(run["step_ms"], 200.0)
        self.assertEqual((run["tokens_per_iteration"], run["drafts_per_iteration"]), (2.0, 3.0))

    def test_iterations_that_found_nothing_to_draft_are_iterations(self):
        # 8 tokens after the first ones, 2 of them drafts: 6 iterations, one of which drafted.
        run = of_runs.run_numbers(document([[0.1] * 3, [0.1] * 3], accepted=2, iterations=1, drafts=3))
        self.assertEqual(run["iterations"], 6)
        self.assertAlmostEqual(run["tokens_per_iteration"], 8 / 6)
        self.assertAlmostEqual(run["drafts_per_iteration"], 0.5)

    def test_chunks_that_came_at_once_are_timed_by_their_mean(self):
        run = of_runs.run_numbers(document([[0.0, 0.0, 0.0, 0.2]]))
        self.assertAlmostEqual(run["step_ms"], 50.0)

    def test_files_are_found_by_arm_load_and_round(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("d3-c4-r2.json", "plainrep-c8-r1.json", "other.json", "d3-c4-r3.part"):
                (pathlib.Path(folder) / name).write_text("{}")
            self.assertEqual(of_runs.read_runs(pathlib.Path(folder)), {("d3", 4): {2: {}}, ("plainrep", 8): {1: {}}})

    def test_n_gram_lookup_is_held_against_texts_that_repeat(self):
        rows = [{"arm": arm, "load": "4", "round": "1", "tpot_ms": tpot, "tokens_per_iteration": "2"}
                for arm, tpot in (("plain", "30"), ("plainrep", "40"), ("d3", "20"), ("ng3", "10"))]
        runs = of_runs.paired(rows)
        self.assertEqual(set(runs), {("d3", 4), ("ng3", 4)})
        self.assertEqual(runs["d3", 4][0]["plain_tokens_per_s"], "33.3333")
        self.assertEqual(runs["ng3", 4][0]["plain_tokens_per_s"], "25")

    def test_a_round_without_plain_decoding_is_left_out(self):
        rows = [{"arm": arm, "load": "1", "round": round_, "tpot_ms": "10", "tokens_per_iteration": "2"}
                for arm, round_ in (("plain", "1"), ("d3", "1"), ("d3", "2"))]
        self.assertEqual(len(of_runs.paired(rows)["d3", 1]), 1)


class Model(unittest.TestCase):
    def engine(self):
        """Host 4 ms and 0.1 ms per request, 3 ms more for drafting; passes of 30 ms, plus 1 ms per token up to 8, 2 ms
        beyond."""
        return prediction.Engine(0.25, {1: 30.0, 8: 37.0, 32: 85.0}, {1: 4.1, 8: 4.8}, 3.0, 2.0, {1: 11.6, 8: 14.05})

    def calibration(self, engine):
        at = {}
        for load in settings.CALIBRATION_LOADS:
            at["plain", load] = {"step_ms": engine.step(load), "drafts_per_iteration": 0.0}
            at["alone", load] = {"step_ms": engine.host(load) + engine.draft(load), "drafts_per_iteration": 0.0}
            at["d3", load] = {"step_ms": engine.iteration(load, 3), "drafts_per_iteration": 3.0}
            iteration = engine.host(load) + engine.target(3.5 * load) + engine.lookup
            at["ng3", load] = {"tpot_ms": iteration / 2, "tokens_per_iteration": 2.0, "drafts_per_iteration": 2.5}
        return at

    def test_interpolation_goes_on_along_the_last_line(self):
        points = {1: 10.0, 3: 20.0, 5: 50.0}
        for x, y in ((1, 10), (2, 15), (4, 35), (6, 65), (0, 5)):
            self.assertAlmostEqual(prediction.interpolated(points, x), y)

    def test_calibration_finds_the_engine_that_made_it(self):
        made = self.engine()
        found = prediction.fitted(self.calibration(made), made.share)
        for load in (1, 2, 4, 8):
            self.assertAlmostEqual(found.step(load), made.step(load))
            for gamma in (1, 3, 5):
                self.assertAlmostEqual(found.iteration(load, gamma), made.iteration(load, gamma), msg=(load, gamma))
        self.assertAlmostEqual(found.drafting, 3.0)
        self.assertAlmostEqual(found.lookup, 2.0)

    def test_a_third_load_bends_the_time_of_passes(self):
        at = self.calibration(self.engine())
        at["plain", settings.MIDDLE_LOAD] = {"step_ms": self.engine().step(settings.MIDDLE_LOAD) - 1.0}
        found = prediction.fitted(at, self.engine().share)
        self.assertAlmostEqual(found.target(settings.MIDDLE_LOAD), self.engine().target(settings.MIDDLE_LOAD) - 1.0)
        self.assertAlmostEqual(found.step(8), self.engine().step(8))

    def test_an_iteration_is_the_sum_of_its_passes(self):
        # 30 + 3 the target's pass over 4 tokens, a quarter of it the drafter's first, two more of 7.5, host 4.1 + 3.
        self.assertAlmostEqual(self.engine().iteration(1, 3), 33 + 8.25 + 2 * 7.5 + 7.1)

    def test_more_work_takes_no_less_time(self):
        self.assertEqual(prediction.rising({8: 3.0, 1: 2.0, 32: 1.0}), {1: 2.0, 8: 3.0, 32: 3.0})
        at = self.calibration(self.engine())
        for arm in ("plain", "alone"):
            at[arm, 8] = {"step_ms": 5.0, "drafts_per_iteration": 0.0}
        found = prediction.fitted(at, 0.25)
        self.assertGreaterEqual(found.target(8), found.target(1))
        self.assertGreaterEqual(found.alone[8], found.alone[1])

    def test_a_quick_iteration_leaves_no_negative_time(self):
        at = self.calibration(self.engine())
        at["d3", 1] = {"step_ms": 1.0, "drafts_per_iteration": 3.0}
        self.assertEqual(prediction.fitted(at, 0.25).drafting, 0.0)

    def test_the_draft_model_reads_its_layers_and_the_output_layer(self):
        target = {"hidden_size": 4, "intermediate_size": 8, "head_dim": 2, "num_attention_heads": 2,
                  "num_key_value_heads": 1, "vocab_size": 10, "num_hidden_layers": 3}
        layer = 4 * 4 + 2 * 4 * 2 + 4 * 4 + 3 * 4 * 8  # q, k and v, output, three of the feed-forward network
        share = prediction.share_of(target, target | {"num_hidden_layers": 1})
        self.assertAlmostEqual(share, (layer + 40) / (3 * layer + 40))

    def test_left_out_terms_change_the_steps(self):
        def ms(without, model, load, tokens):
            rows = prediction.step_rows(self.engine(), (1, 8), 3, without)
            return next(float(row["ms"]) for row in rows
                        if (row["model"], row["batch"], row["tokens"]) == (model, load, tokens))
        self.assertAlmostEqual(ms((), "target", 1, 4), 33 + 0.75)
        self.assertAlmostEqual(ms(("first_pass",), "target", 1, 4), 33)
        self.assertAlmostEqual(ms(("growth",), "target", 8, 4), 37)
        self.assertAlmostEqual(ms((), "draft", 8, 1), 9.25)
        lookup = prediction.step_rows(self.engine(), (1,), 3, ("first_pass",), 1.5)
        self.assertIn("31.500000", [row["ms"] for row in lookup if row["tokens"] == 4])
        self.assertAlmostEqual(ms(("in_loop",), "draft", 8, 1), 14.05)

    def test_the_engine_file_holds_host_times_in_us(self):
        text = prediction.engine_toml(self.engine(), 3.0, ())
        self.assertIn("\nhost_us = { low = 4000.0, value = 4000.0, high = 4000.0 }\n", text)
        self.assertIn("\nhost_request_us = { low = 100.0, value = 100.0, high = 100.0 }\n", text)
        self.assertIn("\ndraft_host_us = { low = 3000.0, value = 3000.0, high = 3000.0 }\n", text)
        without = prediction.engine_toml(self.engine(), 3.0, ("host",))
        self.assertIn("\nhost_us = { low = 0.0, value = 0.0, high = 0.0 }\n", without)

    def test_what_one_more_draft_takes_is_told_from_the_growth_of_verification(self):
        engine = prediction.Engine(0.25, {1: 30.0, 8: 37.0}, {1: 4.0, 8: 4.0}, 3.0, 0.0, {})
        at = {("plain", load): {"step_ms": engine.step(load)} for load in (1, 4, 8)}
        at |= {(f"d{gamma}", load): {"step_ms": engine.iteration(load, gamma)}
               for gamma in (1, 3) for load in (1, 4, 8)}
        at["alone", 1] = {"step_ms": 11.5}
        row = validation.engine_terms(at)[0]
        self.assertAlmostEqual(row["growth_ms"], 1.0)
        self.assertAlmostEqual(row["draft_in_loop_ms"], 7.75)  # 7.5 and the first pass's growth
        self.assertAlmostEqual(row["draft_alone_ms"], 11.5)


class Judged(unittest.TestCase):
    def test_the_loss_is_that_of_the_arm_believed_best(self):
        measured = {("d1", 1): 1.2, ("d3", 1): 1.5, ("d1", 8): 0.9, ("d3", 8): 0.7}
        believed = {("d1", 1): 1.4, ("d3", 1): 1.3, ("d1", 8): 0.95, ("d3", 8): 0.9}
        losses = validation.losses(measured, believed)
        self.assertAlmostEqual(losses[1], 0.2)
        self.assertEqual(losses[8], 0.0)

    def test_only_signs_that_all_rounds_share_are_judged(self):
        def runs(*speedups):
            return [{"tokens_per_s": str(one), "plain_tokens_per_s": "1"} for one in speedups]
        rows = [{"predicted_speedup": one} for one in (1.1, 1.1, 0.9)]
        self.assertEqual(validation.signs(rows, [runs(1.2, 1.3), runs(0.8, 0.9), runs(0.9, 1.1)]), (1, 2))

    def test_recorded_files_are_short_and_name_no_path(self):
        run = {"itls": [[0.123456]], "start_times": [1.0], "output_throughput": 123.456, "n": 3}
        self.assertEqual(validation.trimmed(run), {"itls": [[0.1235]], "output_throughput": 123.46, "n": 3})
        log = "\n".join(["non-default args: /home/me/models", "noise", *["Avg generation throughput: 1"] * 5])
        self.assertEqual(validation.trimmed_log(log, "/home/me", 2), "non-default args: FOLDER/models\n" +
                         "Avg generation throughput: 1\n" * 2)


if __name__ == "__main__":
    unittest.main()
