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
        gamma = np.repeat([0, 5, 0], [5000, 100, 3000])  # the first and the last block of points know nothing
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
        # Whoever starts the tests in the background has them ignore the signal.
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

    def test_trees(self):
        answer = fd.tree([[0.6, 0.2], [0.5, 0.2]], 6, c=0.05)
        self.assertEqual(answer.chosen.nodes, 6)
        self.assertAlmostEqual(answer.chosen.tokens, 1 + 0.6 + 0.2 + 0.6 * 0.5 + 0.6 * 0.2 + 0.2 * 0.5, delta=1e-12)
        self.assertAlmostEqual(sum(answer.pmf), 1.0, delta=1e-12)
        with self.assertRaises(ValueError):
            fd.tree([[0.9, 0.9]], 3)

    def test_the_program_comes_along(self):
        program = pathlib.Path(sys.executable).parent / "foredraft"
        done = subprocess.run([program, "predict", "--alpha", "0.8", "--gamma", "5", "--c", "0.05", "--json"],
                              capture_output=True, text=True, check=True)
        self.assertIn("2.951424", done.stdout)
        self.assertEqual(subprocess.run([program, "predict", "--alpha", "2"], capture_output=True).returncode, 2)


if __name__ == "__main__":
    unittest.main()
