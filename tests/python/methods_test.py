# SPDX-License-Identifier: Apache-2.0
"""Comparisons of methods: the same as the program's, and as a frame."""

import unittest

import foredraft as fd


class Methods(unittest.TestCase):

    def test_a_row_for_each_method_and_temperature_and_no_faster_than_its_bound(self):
        answer = fd.methods(["specinfer", "EAGLE-2", "pearl"], temperature=[0, 1], iterations=2000, vocabulary=50, pool=16)
        frame = answer.to_frame()
        self.assertEqual(sorted(set(frame.method)), ["dynamic_tree", "pearl", "specinfer"])
        self.assertEqual(len(frame), 6)
        known = frame[frame.bound.notna()]
        self.assertTrue((known.speedup_low <= known.bound * 1.01).all())
        self.assertTrue(frame[frame.method == "pearl"].iteration_cost.isna().all())
        self.assertIn("temperature 1, acceptance 0.800", str(answer))

    def test_times_of_passes_take_the_place_of_a_growth(self):
        stated = fd.methods(["static_tree"], temperature=1, verify_growth=0.02, positions=16, iterations=1000)
        timed = fd.methods(["static_tree"], temperature=1, iterations=1000,
                           verification=[10 * (1 + 0.02 * n) for n in range(16)])
        self.assertEqual(stated.rows[0]["setting"], timed.rows[0]["setting"])
        self.assertAlmostEqual(stated.rows[0]["speedup"]["mean"], timed.rows[0]["speedup"]["mean"])

    def test_several_pairs_and_values_of_a_parameter(self):
        answer = fd.methods(["lenience", "prompt_lookup"], temperature=1, iterations=1000, gamma=3, vocabulary=50, pool=16,
                            pairs={"easy": {"alpha": 0.9},
                                   "prose": {"kind": "ngram", "corpus": "prose", "vocabulary": 500, "pool": 32}},
                            parameters={"lenience": {"lenience": [0.3, 0.9]}})
        frame = answer.to_frame()
        self.assertEqual(list(frame.pair), ["easy"] * 2 + ["prose"] * 3)
        easy = frame[frame.pair == "easy"].set_index("rule.lenience")
        self.assertGreater(easy.loss[0.3], easy.loss[0.9])
        self.assertEqual(set(frame[frame.pair == "prose"].method), {"lenience", "prompt_lookup"})
        self.assertEqual(repr(answer), "Methods(rows=5, pairs=['easy', 'prose'])")
        with self.assertRaisesRegex(ValueError, "pairs.easy.alpha"):
            fd.methods(pairs={"easy": {"alpha": 9}})

    def test_mistakes_are_value_errors_that_say_what_to_do(self):
        with self.assertRaisesRegex(ValueError, "unknown method \"no method\""):
            fd.methods(["no method"])
        with self.assertRaisesRegex(ValueError, "not modeled"):
            fd.methods(["rest"])
        with self.assertRaises(ValueError):
            fd.methods(temperature=-1)


if __name__ == "__main__":
    unittest.main()
