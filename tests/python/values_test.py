# SPDX-License-Identifier: Apache-2.0
"""Every public value can be pickled and read back, and columns and frames of pandas and polars can be used as
arrays."""

import inspect
import pathlib
import pickle
import tempfile
import unittest

import numpy as np
import pandas as pd
import polars as pl

import foredraft as fd

LOGS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples" / "advise"
POINT = dict(alpha=0.8, gamma=5, c=0.05)
PAIR = dict(device="h100", target="llama-3.1-8b", draft="llama-3.2-1b", alpha=0.75)
UNEVEN = [[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]]
MEASURED = dict(target=["qwen1.5-7b"] * 2, draft=["qwen1.5-0.5b"] * 2, gamma=[2, 4], alpha=[0.6, 0.8], batch=[1, 1],
                context=[512, 512], speedup=[1.1, 1.4])


def answers():
    """Values of every public class."""
    run = fd.simulate(**POINT, iterations=1000)
    log, plain = LOGS / "k3.log", LOGS / "plain.log"
    tree = fd.tree([[0.6, 0.2], [0.5, 0.2]], 6, c=0.05)
    growing = fd.tree([[0.6, 0.2], [0.5, 0.2]], 6, c=0.05, expand=2, spread=0.5)
    with tempfile.TemporaryDirectory() as folder:
        fd.sweep(**POINT, out=folder, progress=False)
        checked = fd.check(folder, progress=False)
    return [
        fd.Scenario(**POINT), fd.predict(**POINT), fd.predict(alpha=[0.5, 0.8], gamma=fd.best, c=0.05), run, run.speedup,
        fd.best_gamma(alpha=0.8, c=0.05), fd.best_gamma(alpha=1.0, c=0.0), fd.lossiness(target=UNEVEN, draft=UNEVEN),
        fd.lossiness(target=UNEVEN[:1], draft=UNEVEN[:1]), tree, tree.chosen, fd.Device("h100"), fd.Model("llama-3.1-8b"),
        fd.Profile("h100"), fd.Profile("h100").speedups("llama-3.1-8b", "llama-3.2-1b", alpha=0.8), fd.parameters()[0],
        fd.best, fd.read_log(log), fd.advise([log, LOGS / "k1.log"], plain=plain), fd.plan("vllm", concurrency=16),
        fd.compare(log, plain=plain), fd.predict_load(**PAIR, concurrency=8, prompt=100, output=50, closed_form=True),
        fd.predict_times(**PAIR), fd.explain(measured_speedup=1.8, gamma=5, c=0.05),
        fd.reproduce("leviathan-table1", progress=False), fd.validate("h200", against=MEASURED), checked,
        fd.methods(["pearl"], temperature=1.0, iterations=1000), fd.Page("<!DOCTYPE html>", 800), growing.dynamic
    ]


class Pickles(unittest.TestCase):

    def test_values_come_back_from_a_pickle_as_they_were(self):
        kinds = set()
        for answer in answers():
            with self.subTest(type(answer).__name__):
                for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
                    again = pickle.loads(pickle.dumps(answer, protocol))
                    self.assertIs(type(again), type(answer))
                    self.assertEqual(again, answer)
                    self.assertEqual(repr(again), repr(answer))
                kinds.add(type(answer).__name__)
        self.assertEqual({name for name in fd.__all__ if inspect.isclass(getattr(fd, name))} - kinds, set())

    def test_documents_are_copied(self):
        for answer in answers():
            if hasattr(answer, "document"):
                with self.subTest(type(answer).__name__):
                    answer.to_dict().clear()
                    self.assertTrue(answer.document)
                    self.assertEqual(answer.to_dict(), answer.document)


class Columns(unittest.TestCase):
    """The same answer for lists, numpy, pandas and polars."""

    KINDS = (np.array, pd.Series, pl.Series)

    def test_of_parameters(self):
        wanted = fd.predict(alpha=[0.5, 0.7, 0.9], gamma=[1, 3, 5], c=0.05)
        for kind in self.KINDS:
            with self.subTest(kind.__module__):
                got = fd.predict(alpha=kind([0.5, 0.7, 0.9]), gamma=kind([1, 3, 5]), c=0.05)
                np.testing.assert_array_equal(got.speedup, wanted.speedup)
                marginal = kind([0.8, 0.6, 0.5])
                self.assertEqual(fd.predict(process="positional", process_marginal=marginal, gamma=3, c=0.05),
                                 fd.predict(process="positional", process_marginal=[0.8, 0.6, 0.5], gamma=3, c=0.05))
                self.assertEqual(fd.Scenario(alpha=kind([0.8])[0], gamma=kind([5])[0], c=0.05), fd.Scenario(**POINT))
                with self.assertRaisesRegex(ValueError, "must be numbers|wrong type"):
                    fd.predict(alpha=kind(["a", "b"]), gamma=1, c=0.1)
        with self.assertRaises(ValueError):
            fd.predict(alpha=pl.Series([0.5, None]), gamma=1, c=0.1)
        with self.assertRaises(ValueError):
            fd.predict(alpha=pd.Series([0.5, None], dtype="Float64"), gamma=1, c=0.1)

    def test_of_axes(self):
        wanted = fd.sweep(alpha=[0.5, 0.9], drafter=["autoregressive", "block"], gamma=2, c=0.05, progress=False)
        for kind in self.KINDS:
            with self.subTest(kind.__module__):
                got = fd.sweep(alpha=kind([0.5, 0.9]), drafter=kind(["autoregressive", "block"]), gamma=2, c=0.05,
                               progress=False)
                pd.testing.assert_frame_equal(got, wanted)
                dicts = fd.sweep(dict(axes=dict(alpha=kind([0.5, 0.9]), drafter=kind(["autoregressive", "block"])),
                                      fixed=dict(gamma=2, c=0.05)), progress=False)
                pd.testing.assert_frame_equal(dicts, wanted)

    def test_of_options(self):
        users = dict(concurrency=8, prompt=100, output=50, closed_form=True, engine="none")
        pair = dict(device="h100", target="llama-3.1-8b", draft="llama-3.2-1b")
        load = fd.predict_load(**pair, marginal=[0.75, 0.5], **users, schedule=[[1, 8, 2], [9, 64, 0]])
        times = fd.predict_times(**pair, alpha=0.7, batch=[1, 8])
        plan = fd.plan("vllm", concurrency=[1, 16])
        for kind in self.KINDS:
            with self.subTest(kind.__module__):
                self.assertEqual(fd.predict_load(**pair, marginal=kind([0.75, 0.5]), **users,
                                                 schedule=np.array([[1, 8, 2], [9, 64, 0]])), load)
                self.assertEqual(fd.predict_times(**pair, alpha=0.7, batch=kind([1, 8])), times)
                self.assertEqual(fd.plan("vllm", concurrency=kind([1, 16])), plan)

    def test_of_tables(self):
        target, outcomes = np.array(UNEVEN), np.array([[1, 1, 0], [1, 0, 1]] * 50)
        accuracies = np.array([[0.6, 0.2], [0.5, 0.2]])
        loss = fd.lossiness(target=target, draft=target[::-1], rule="lenient", rule_lenience=0.5)
        run = fd.simulate(acceptances=outcomes, gamma=1, c=0.05, iterations=100)
        tree = fd.tree(accuracies, 4, verification=[1.0, 1.1, 1.2, 1.3])
        validation = fd.validate("h200", against=MEASURED)
        for kind, series in ((pd.DataFrame, pd.Series), (pl.DataFrame, pl.Series)):
            with self.subTest(kind.__module__):
                self.assertEqual(fd.lossiness(target=kind(target), draft=kind(target[::-1].copy()), rule="lenient",
                                              rule_lenience=0.5), loss)
                self.assertEqual(fd.simulate(acceptances=kind(outcomes), gamma=1, c=0.05, iterations=100), run)
                self.assertEqual(fd.tree(kind(accuracies), 4, verification=series([1.0, 1.1, 1.2, 1.3])), tree)
                self.assertEqual(fd.validate("h200", against=kind(MEASURED)), validation)

    def test_answers_become_frames_of_polars(self):
        grid = fd.predict(alpha=[0.5, 0.7, 0.9], gamma=3, c=0.05)
        self.assertEqual(pl.DataFrame(grid.to_dict())["speedup"].to_list(), grid.speedup.tolist())
        for frame in (grid.to_frame(), fd.sweep(alpha=[0.5, 0.7], gamma=3, c=0.05, progress=False),
                      fd.compare(LOGS / "k3.log").to_frame(), fd.validate("h200", against=MEASURED).to_frame(),
                      fd.Profile("h100").speedups("llama-3.1-8b", "llama-3.2-1b", alpha=0.8).lengths,
                      fd.reproduce("leviathan-table1", progress=False).to_frame()):
            self.assertEqual(pl.from_pandas(frame).shape, frame.shape)


if __name__ == "__main__":
    unittest.main()
