# SPDX-License-Identifier: Apache-2.0
"""Scenarios, closed forms, simulation, devices, logs and trees of the Python package."""

import math
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import foredraft as fd

STANDARD_ERRORS = 5.0  # of a simulated mean from its closed form

POINT = dict(alpha=0.8, gamma=5, c=0.05)


class Questions(unittest.TestCase):

    def test_the_worked_example_of_the_papers(self):
        answer = fd.predict(**POINT)
        self.assertAlmostEqual(answer.tokens_per_iteration, (1 - 0.8**6) / 0.2, delta=1e-12)
        self.assertAlmostEqual(answer.speedup, (1 - 0.8**6) / 0.2 / 1.25, delta=1e-12)
        self.assertEqual(fd.Scenario(**POINT).parameters, POINT)
        self.assertEqual(fd.predict(fd.Scenario(**POINT)).to_dict(), answer.to_dict())

    def test_a_point_asked_twice_is_checked_twice(self):
        for _ in range(3):
            self.assertEqual(fd.predict(**POINT).speedup, fd.predict(**POINT).speedup)
            with self.assertRaisesRegex(ValueError, r"alpha: invalid alpha=1.5 \(must lie in \[0, 1\]\)"):
                fd.predict(alpha=1.5, gamma=5, c=0.05)
        self.assertGreater(fd.predict(alpha=0.9, gamma=5, c=0.05).speedup, fd.predict(**POINT).speedup)

    def test_arrays_broadcast_and_agree_with_points(self):
        alpha = np.linspace(0.1, 0.9, 9)[:, None]
        gamma = np.array([1, 4, 7])
        answer = fd.predict(alpha=alpha, gamma=gamma, c=0.1)
        self.assertEqual(answer.speedup.shape, (9, 3))
        for i in range(9):
            for j in range(3):
                point = fd.predict(alpha=float(alpha[i, 0]), gamma=int(gamma[j]), c=0.1)
                self.assertEqual(answer.speedup[i, j], point.speedup)
                self.assertEqual(answer.tokens_variance[i, j], point.tokens_variance)
        self.assertEqual(len(answer.to_frame()), 27)
        self.assertTrue(np.isnan(answer.operations_factor).all())
        for threads in (1, 3):
            other = fd.predict(alpha=alpha, gamma=gamma, c=0.1, threads=threads)
            np.testing.assert_array_equal(other.speedup, answer.speedup)
        self.assertEqual(fd.predict(alpha=[], gamma=1, c=0.1).shape, (0,))

    def test_a_quantity_that_is_unknown_at_some_points_is_nan_there(self):
        gamma = np.repeat([0, 5, 0], [5000, 100, 3000])  # the first and the last block of points have no known quantity
        answer = fd.predict(alpha=0.8, gamma=gamma, c=0.1)
        np.testing.assert_array_equal(np.isnan(answer.accepted_over_drafted), gamma == 0)
        self.assertFalse(np.isnan(answer.speedup).any())

    def test_the_best_gamma_of_arrays_is_that_of_points(self):
        alpha = np.array([0.3, 0.6, 0.9])
        answer = fd.predict(alpha=alpha, gamma=fd.best, c=0.1)
        for i, one in enumerate(alpha):
            best = fd.best_gamma(alpha=float(one), c=0.1)
            self.assertEqual(answer.gamma[i], best.gamma)
            self.assertAlmostEqual(answer.speedup[i], best.speedup, delta=1e-12)

    def test_arrays_of_any_layout_are_those_of_points(self):
        random = np.random.default_rng(3)
        alpha, gamma, c = random.uniform(0, 1, (7, 1, 300)), random.integers(1, 40, (1, 5, 1)), random.uniform(0, 1, (5, 300))
        layouts = {
            "open axes": (alpha, gamma, c),
            "dense": tuple(np.array(array) for array in np.broadcast_arrays(alpha, gamma, c)),
            "transposed": tuple(np.asfortranarray(array) for array in np.broadcast_arrays(alpha, gamma, c)),
            "views": tuple(np.broadcast_arrays(alpha, gamma, c)),
            "short rows": tuple(array.T for array in np.broadcast_arrays(alpha, gamma, c)),
        }
        for convention in ("bonus", "no_bonus"):
            n = gamma + (convention == "bonus")
            expected = sum(np.where(j < n, alpha**j, 0) for j in range(40)) / (1 + gamma * c)
            for name, (alphas, gammas, costs) in layouts.items():
                with self.subTest(name, convention=convention):
                    answer = fd.predict(alpha=alphas, gamma=gammas, c=costs, convention=convention)
                    turned = answer.speedup.T if name == "short rows" else answer.speedup
                    np.testing.assert_allclose(turned, expected, rtol=1e-14)
                    at = (3, 4, 100)
                    point = fd.predict(alpha=float(alpha[3, 0, 100]), gamma=int(gamma[0, 4, 0]), c=float(c[4, 100]),
                                       convention=convention)
                    self.assertLessEqual(abs(turned[at] - point.speedup), 4 * np.spacing(point.speedup))

    def test_the_best_gammas_of_many_points_are_those_of_points(self):
        random = np.random.default_rng(4)
        alpha, c = random.uniform(0, 1, 400), 10**random.uniform(-5, 0.3, 400)
        answer = fd.predict(alpha=alpha, gamma=fd.best, c=c)
        gammas = [fd.best_gamma(alpha=float(a), c=float(b)).gamma for a, b in zip(alpha, c)]
        np.testing.assert_array_equal(answer.gamma, gammas)
        np.testing.assert_array_equal(answer.tokens_variance, [
            fd.predict(alpha=float(a), gamma=gamma, c=float(b)).tokens_variance for a, b, gamma in zip(alpha, c, gammas)])

    def test_a_point_without_an_answer_is_named_at_the_call(self):
        c = np.full((3, 1), 0.1)
        for bad, message in (
            (dict(alpha=[0.5, 0.6, 1.5], gamma=2, c=c), r"alpha=1.5 at index 2 \("),
            (dict(alpha=0.5, gamma=[1, 2], c=[[0.1], [-1]]), r"c=-1 at index 2 \("),
            (dict(alpha=[0.5] * 5000 + [math.nan], gamma=2, c=0.1), r"alpha=nan at index 5000 \("),
            (dict(alpha=0.5, gamma=[[1], [0]], c=[0.1, 0.2, 0.3], convention="no_bonus"), "at index 3: .*gamma=0"),
            (dict(alpha=0.5, gamma=[1, 2e12], c=c), r"gamma=2000000000000 at index 1 \("),
            (dict(alpha=[0.5, 1.0], gamma=fd.best, c=c), "at index 1: no finite best gamma"),
            (dict(alpha=[0.5, 0.7], gamma=fd.best, c=[[0.1], [0]]), "at index 2: no finite best gamma"),
            (dict(alpha=[0.5, 0.6], gamma=fd.best, c=0.1, sequence_length=100), "at index 0: no best draft length"),
        ):
            with self.subTest(bad), self.assertRaisesRegex(ValueError, message):
                fd.predict(**bad)

    def test_arrays_that_change_after_the_call_are_an_error(self):
        alpha = np.linspace(0.1, 0.9, 10_000)
        answer = fd.predict(alpha=alpha, gamma=5, c=0.1)
        before = answer.speedup
        alpha[[0, 9999]] = alpha[[9999, 0]]
        self.assertIs(answer.speedup, before)
        for name in ("tokens_per_iteration", "tokens_variance"):
            with self.subTest(name), self.assertRaisesRegex(ValueError, "alpha: the array has changed"):
                getattr(answer, name)
        for name in ("to_frame", "__getstate__"):
            with self.subTest(name), self.assertRaisesRegex(ValueError, "alpha: the array has changed"):
                getattr(answer, name)()

    def test_other_scenarios_answer_arrays_too(self):
        for other in (dict(drafter="block"), dict(policy="plus2_minus1"), dict(cost_verify_growth=0.1)):
            with self.subTest(other):
                alpha = np.array([[0.5], [0.8]])
                answer = fd.predict(alpha=alpha, gamma=[2, 5, 9], c=0.1, **other)
                self.assertEqual(answer.speedup[1, 1], fd.predict(alpha=0.8, gamma=5, c=0.1, **other).speedup)
        known = fd.predict(alpha=[0.5, 0.8], gamma=5)
        self.assertTrue(np.isnan(known.speedup).all())
        self.assertEqual(known.tokens_per_iteration[1], fd.predict(alpha=0.8, gamma=5).tokens_per_iteration)

    def test_a_parquet_file_has_the_rows_of_the_frame(self):
        import pandas
        scenario = dict(alpha=np.linspace(0, 1, 400)[:, None], gamma=np.arange(700), c=0.1, convention="bonus")
        answer = fd.predict(**scenario)  # more than one piece of the file
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "points.parquet")
            answer.to_parquet(path, progress=False)
            pandas.testing.assert_frame_equal(pandas.read_parquet(path), answer.to_frame(), check_dtype=False)
            fd.predict(alpha=[0.5, 0.8], gamma=fd.best, c=0.1).to_parquet(path, quantities=["gamma", "mean_batch"], progress=False)
            frame = pandas.read_parquet(path)
            self.assertEqual(list(frame.columns), ["alpha", "c", "gamma", "mean_batch"])
            np.testing.assert_array_equal(frame.gamma, [fd.best_gamma(alpha=a, c=0.1).gamma for a in (0.5, 0.8)])
            self.assertTrue(frame.mean_batch.isna().all())
            fd.predict(alpha=[], gamma=1, c=0.1).to_parquet(path, progress=False)
            self.assertEqual(len(pandas.read_parquet(path)), 0)
            with self.assertRaisesRegex(ValueError, "unknown 'speed'"):
                answer.to_parquet(path, quantities=["speed"])
            self.assertEqual(os.listdir(folder), ["points.parquet"])

    def test_an_interrupted_parquet_file_does_not_exist(self):
        script = ("import sys, numpy as np, foredraft as fd\n"
                  "answer = fd.predict(alpha=np.linspace(0, 1, 30_000)[:, None], gamma=np.arange(1, 10_000), c=0.1)\n"
                  "print('begun', flush=True)\n"
                  "answer.to_parquet(sys.argv[1], quantities=['speedup'], progress=False)\n")
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.Popen([sys.executable, "-c", script, f"{folder}/points.parquet"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
            self.assertEqual(run.stdout.readline(), "begun\n")
            while not os.listdir(folder) and run.poll() is None:
                time.sleep(0.01)
            run.send_signal(signal.SIGINT)
            _, errors = run.communicate(timeout=60)
            self.assertIn("KeyboardInterrupt", errors)
            self.assertEqual(os.listdir(folder), [])

    def test_mistakes_are_named_all_at_once(self):
        with self.assertRaises(ValueError) as raised:
            fd.Scenario(alph=0.8, gamma=-1, c="fast", rule="lenint", fidelity="token")
        text = str(raised.exception)
        for part in ("alph: unknown parameter - did you mean alpha?", "gamma: invalid gamma=-1", "did you mean lenient?"):
            self.assertIn(part, text)
        for bad, message in ((dict(alpha=math.nan), "alpha"), (dict(alpha=[0.1, math.nan]), "at index 1"),
                             (dict(alpha=[0.1, 0.2], gamma=[1, 2, 3]), "do not broadcast"),
                             (dict(alpha=["a", "b"]), "must be numbers"), (dict(gamma=[1.5, 2.0]), "whole number"),
                             (dict(alpha=[[0.1], [0.2, 0.3]]), "not an array"), (dict(alpha=1j), "wrong type")):
            with self.subTest(bad), self.assertRaisesRegex(ValueError, message):
                fd.predict(**(POINT | bad))

    def test_scenarios_are_values(self):
        scenario = fd.Scenario(**POINT)
        self.assertEqual(pickle.loads(pickle.dumps(scenario)), scenario)
        self.assertEqual(scenario.replace(alpha=0.7), fd.Scenario(alpha=0.7, gamma=5, c=0.05))
        self.assertNotEqual(scenario, scenario.replace(c=None))
        with self.assertRaises(TypeError):
            fd.predict(scenario, alpha=0.5)


class Values(unittest.TestCase):

    def test_other_answers_differ(self):
        self.assertNotEqual(fd.predict(**POINT), fd.predict(**(POINT | dict(gamma=4))))
        self.assertNotEqual(fd.simulate(**POINT, iterations=1000), fd.simulate(**POINT, iterations=1000, seed=2))
        self.assertNotEqual(fd.predict(alpha=[0.5], gamma=1, c=0.1), fd.predict(alpha=[0.6], gamma=1, c=0.1))
        self.assertNotEqual(fd.Device("h100"), fd.Device("h200"))
        self.assertNotEqual(fd.predict(**POINT), 1)

    def test_a_pickled_profile_is_read_again_unless_it_changed(self):
        with tempfile.TemporaryDirectory() as folder:
            steps = pathlib.Path(folder, "steps.csv")
            steps.write_text("model,role,batch,tokens,context,ms\nbig,decoder_pass,1,1,0,2\n", encoding="utf-8")
            profile = fd.Profile(steps, steps=True)
            pickled = pickle.dumps(profile)
            self.assertEqual(pickle.loads(pickled), profile)
            steps.write_text("model,role,batch,tokens,context,ms\nbig,decoder_pass,1,1,0,3\n", encoding="utf-8")
            with self.assertRaisesRegex(ValueError, "have changed"):
                pickle.loads(pickled)


class Simulation(unittest.TestCase):

    def test_simulation_agrees_with_the_closed_form_on_any_threads(self):
        run = fd.simulate(**POINT, iterations=200_000)
        self.assertEqual(run.iterations, 200_000)
        difference = run.speedup.mean - fd.predict(**POINT).speedup
        self.assertLess(abs(difference), STANDARD_ERRORS * run.speedup.standard_error)
        self.assertEqual(fd.simulate(**POINT, iterations=200_000, threads=1).speedup, run.speedup)
        self.assertNotEqual(fd.simulate(**POINT, iterations=200_000, seed=2).speedup, run.speedup)
        low, high = run.speedup.ci95
        self.assertTrue(low < run.speedup.mean < high)
        self.assertEqual(pickle.loads(pickle.dumps(run.speedup)), run.speedup)

    def test_recorded_acceptances_are_replayed(self):
        outcomes = np.array([[1, 1, 0], [1, 0, -1]] * 500)
        run = fd.simulate(acceptances=outcomes, gamma=1, c=0.05, iterations=1000)
        self.assertAlmostEqual(run.per_token.mean, 0.6, delta=0.05)
        for bad, message in ((outcomes[0], "wrong shape"), (outcomes * 2, "invalid outcome 2"), (outcomes * 0.5, "whole numbers")):
            with self.assertRaisesRegex(ValueError, message):
                fd.simulate(acceptances=bad, gamma=1, iterations=10)
        with self.assertRaisesRegex(ValueError, "alpha: mutually exclusive with acceptances"):
            fd.simulate(acceptances=outcomes, alpha=0.5, gamma=1, iterations=10)

    def test_counts_are_checked(self):
        for bad, message in ((dict(iterations=-1), "iterations"), (dict(iterations=1.5), "whole number"),
                             (dict(iterations=10, seed=2**64), "seed"), ({}, "iterations"),
                             (dict(iterations=10, path="slow"), "unknown path")):
            with self.subTest(bad), self.assertRaisesRegex(ValueError, message):
                fd.simulate(**POINT, **bad)

    def test_other_threads_run_meanwhile(self):
        ticks = []
        done = threading.Event()

        def tick():
            while not done.wait(0.001):
                ticks.append(time.monotonic())

        ticker = threading.Thread(target=tick)
        ticker.start()
        fd.simulate(**POINT, iterations=20_000_000, path="reference", threads=1)
        done.set()
        ticker.join()
        self.assertGreater(len(ticks), 3)

    def test_an_interrupt_ends_long_work(self):
        # Tests started in the background by a shell ignore the signal.
        program = ("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
                   "import foredraft as fd\nprint('ready', flush=True)\n"
                   "fd.simulate(alpha=.8, gamma=5, c=.05, iterations=10**13, path='reference')\n")
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            run.stdout.readline()
            time.sleep(0.3)
            run.send_signal(signal.SIGINT)
            _, errors = run.communicate(timeout=60)
        self.assertIn(b"KeyboardInterrupt", errors)


class Others(unittest.TestCase):

    def test_devices_models_and_profiles(self):
        self.assertIn("llama-3.1-8b", fd.models())
        self.assertTrue(all(fd.Device(name).figures for name in fd.devices()))
        model = fd.Model("llama-3.1-8b", format="fp8")
        self.assertEqual(model.layers, 32)
        self.assertLess(model.weight_bytes, fd.Model("llama-3.1-8b").weight_bytes)
        answer = fd.Profile("h100").speedups("llama-3.1-8b", "llama-3.2-1b", alpha=0.8, batch=4)
        self.assertEqual(list(answer.lengths.gamma), list(range(1, 9)))
        self.assertGreater(answer.plain_us, 0)
        with self.assertRaisesRegex(ValueError, "did you mean"):
            fd.Device("h10")
        with tempfile.TemporaryDirectory() as folder:
            profile = pathlib.Path(folder, "profile.json")
            profile.write_text('{"schema": "foredraft.profile/99"}', encoding="utf-8")
            with self.assertRaisesRegex(ValueError, "profile/99"):
                fd.Profile(profile)

    def test_logs_are_read_and_advised_on(self):
        line = ("INFO 11-23 10:00:{:02d} [metrics.py:96] SpecDecoding metrics: Mean acceptance length: 2.20, "
                "Accepted throughput: 40.00 tokens/s, Drafted throughput: 100.00 tokens/s, Accepted: 1200 tokens, "
                "Drafted: 3000 tokens, Per-position acceptance rate: 0.700, 0.350, 0.150, Avg Draft acceptance rate: 40.0%")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "server.log")
            path.write_text("\n".join(line.format(10 * i) for i in range(5)) + "\n", encoding="utf-8")
            log = fd.read_log(path)
            self.assertEqual(len(log.observations), 5)
            self.assertEqual(len(log.to_frame()), 5)
            advice = fd.advise(log)
            self.assertIn("acceptance", str(advice))
            self.assertIsNone(advice.gamma)
            self.assertIsNotNone(advice.why_not)
            with self.assertRaisesRegex(ValueError, "unknown option"):
                fd.advise(log, bath=4)
            with self.assertRaises(ValueError):
                fd.read_log(os.path.join(folder, "none.log"))

    def test_a_schedule_is_rows_of_batches_and_a_draft_length(self):
        with tempfile.TemporaryDirectory() as folder:
            runs, plain = pathlib.Path(folder, "runs.csv"), pathlib.Path(folder, "plain, of today.csv")
            runs.write_text("decoding,gamma,steps,accepted_at_1,accepted_at_2,accepted_at_3,requests,iteration_ms\n"
                            "speculative,3,40000,32000,26000,21000,1,11\nspeculative,1,40000,32000,,,1,10.5\n"
                            "speculative,3,40000,32000,26000,21000,64,40\nspeculative,1,40000,32000,,,64,20\n")
            plain.write_text("decoding,requests,iteration_ms\nplain,1,10\nplain,64,18\n")
            advice = fd.advise(runs, plain=plain)
            self.assertEqual([row[2] for row in advice.schedule], [3, 1])
            self.assertEqual([row[:2] for row in advice.schedule], [(1, 8), (9, 64)])
            self.assertEqual(advice.gamma, 1)  # no K between those of single runs for a gain that their error can hide
            self.assertIn("schedule=[(1, ", repr(advice))
            log = fd.read_log(runs, plain)
            for value in (advice, log):
                self.assertEqual(pickle.loads(pickle.dumps(value)), value)
            self.assertNotEqual(fd.advise(runs), advice)

    def test_a_plan_says_what_to_log(self):
        plan = fd.plan("vllm", current_k=3, concurrency=8, target="acme/llama")
        self.assertEqual([server["gamma"] for server in plan.document["servers"]], [0, 1, 3, 5])
        self.assertEqual([load["concurrency"] for load in plan.document["loads"]], [1, 8])
        self.assertIn("vllm serve acme/llama", str(plan))
        self.assertEqual(fd.plan("vllm", current_k=3, concurrency=[1, 8], target="acme/llama"), plan)
        self.assertEqual(pickle.loads(pickle.dumps(plan)), plan)
        with self.assertRaises(ValueError) as caught:
            fd.plan("vlm", current_k=0)
        self.assertIn('engine: unknown engine "vlm"', str(caught.exception))
        self.assertIn("current_k: invalid value 0", str(caught.exception))

    def test_keywords_of_advice_are_checked_all_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            runs = pathlib.Path(folder, "runs.csv")
            runs.write_text("gamma,steps,accepted_at_1,accepted_at_2,iteration_ms\n2,5000,3000,1500,12.5\n")
            pair = dict(device="h100", target="llama-3.1-8b", draft="llama-3.2-1b")
            with self.assertRaises(ValueError) as raised:
                fd.advise(runs, engine="vlm", device="h100", profile="h200", target_tp=0, kv_format="fp9", memory_utilization=2,
                          ignore_memory="yes", batch="many", context=1.5)
            lines = str(raised.exception).splitlines()
            for part in ("engine: ", "device: ", "target: missing", "draft: missing", "target_tp: ", "kv_format: ",
                         "memory_utilization: ", "ignore_memory: ", "batch: ", "context: "):
                self.assertTrue(any(line.startswith(f"foredraft advise: {part}") for line in lines), part)
            for bad, message in ((dict(target_tp=2), "target_tp: given without device"), (dict(target="t5-base"), "target: given"),
                                 (dict(engine="trtllm"), "engine_version: required"), (pair, "add batch"),
                                 (dict(format="csw"), "csw"), (pair | dict(draft="qwen3-0.6b", batch=8), "tokenizer")):
                with self.subTest(bad), self.assertRaisesRegex(ValueError, message):
                    fd.advise(runs, **bad)
            with self.assertRaises(TypeError):
                fd.advise(runs, out=folder)
            narrow = fd.advise(runs, **pair, batch=np.int64(8), target_tp=1, memory_utilization="80%", ignore_memory=True)
            self.assertEqual(len(narrow.document["loads"][0]["speedup_by_gamma"]), 12)
            self.assertEqual(narrow.notes, [])
            allowed = fd.advise(runs, **(pair | dict(draft="qwen3-0.6b")), batch=8, allow_vocabulary_mismatch=True, plain=None)
            self.assertNotEqual(allowed, narrow)
            versions = fd.advise(runs, engine="trtllm", engine_version=1.3)
            self.assertIn("trtllm", versions.document["export"])

    def test_loads_are_predicted_and_their_keywords_checked_all_at_once(self):
        pair = dict(device="h100", target="llama-3.1-8b", draft="llama-3.2-1b")
        users = dict(concurrency=40, prompt=3000, output=500, closed_form=True)
        answer = fd.predict_load(**pair, alpha=0.75, engine="none", **users, schedule=[[1, 8, 3], [9, 64, 0]])
        self.assertIn(f"use K = {answer.best_gamma}: ", answer.text.splitlines()[0])
        self.assertEqual((answer.payoff, answer.document["concurrency"]), ("pays", 40))
        self.assertEqual(answer.document["schedule"]["ranges"], [[1, 8, 3], [9, 64, 0]])
        low, high = answer.interval
        self.assertLess(low, answer.speedup)
        self.assertLess(answer.speedup, high)
        self.assertEqual(len(answer.to_frame()), 9)
        marginal = fd.predict_load(**pair, marginal=np.array([0.75, 0.5]), engine="none", **users)
        self.assertEqual(len(marginal.to_frame()), 3)
        self.assertNotEqual(marginal, answer)
        with self.assertRaises(ValueError) as raised:
            fd.predict_load(target="llama-3.1-8b", alpha=1.5, prompt=0, engine="vlm", prefix_hit=2, ouput=5)
        self.assertIn("ouput: unknown option - did you mean output?", str(raised.exception))
        with self.assertRaises(ValueError) as raised:
            fd.predict_load(target="llama-3.1-8b", alpha=1.5, prompt=0, engine="vlm", prefix_hit=2)
        for part in ("alpha: ", "draft: missing", "device: missing", "concurrency: missing", "prompt: ", "output: missing",
                     "engine: ", "prefix_hit: "):
            self.assertIn(f"foredraft predict: {part}", str(raised.exception))
        with self.assertRaises(TypeError):
            fd.predict_load(**pair, out="folder")

    def test_trees(self):
        answer = fd.tree([[0.6, 0.2], [0.5, 0.2]], 6, c=0.05)
        self.assertEqual(answer.chosen.nodes, 6)
        self.assertAlmostEqual(answer.chosen.tokens, 1 + 0.6 + 0.2 + 0.6 * 0.5 + 0.6 * 0.2 + 0.2 * 0.5, delta=1e-12)
        self.assertAlmostEqual(sum(answer.pmf), 1.0, delta=1e-12)
        self.assertIsNone(answer.dynamic)
        with self.assertRaises(ValueError):
            fd.tree([[0.9, 0.9]], 3)

    def test_trees_that_grow(self):
        accuracies = [[0.5, 0.2, 0.1], [0.4, 0.2, 0.1]]
        grown = fd.tree(accuracies, 6, c=0.05, expand=3, spread=0.5, iterations=50_000, seed=2)
        dynamic = grown.dynamic
        self.assertTrue(dynamic.static_tree.tokens < dynamic.exact <= dynamic.bound)
        self.assertLess(abs(dynamic.tokens.mean - dynamic.exact), 5 * dynamic.tokens.standard_error)
        self.assertAlmostEqual(dynamic.speedup.mean, dynamic.tokens.mean / dynamic.iteration_cost, delta=1e-12)
        self.assertEqual(grown, fd.tree(accuracies, 6, c=0.05, expand=3, spread=0.5, iterations=50_000, seed=2))
        alike = fd.tree(accuracies, 6, expand=3, spread=0.0).dynamic
        self.assertAlmostEqual(alike.exact, alike.static_tree.tokens, delta=1e-12)
        self.assertIsNone(alike.speedup)
        for wrong in ({"expand": 3}, {"spread": 0.5}, {"expand": 0, "spread": 0.5}, {"expand": 3, "spread": 2.0}):
            with self.assertRaises(ValueError):
                fd.tree(accuracies, 6, **wrong)

    def test_the_program_comes_along(self):
        program = pathlib.Path(sys.executable).parent / "foredraft"
        done = subprocess.run([program, "predict", "--alpha", "0.8", "--gamma", "5", "--c", "0.05", "--json"],
                              capture_output=True, text=True, check=True)
        self.assertIn("2.951424", done.stdout)
        self.assertEqual(subprocess.run([program, "predict", "--alpha", "2"], capture_output=True).returncode, 2)


if __name__ == "__main__":
    unittest.main()
