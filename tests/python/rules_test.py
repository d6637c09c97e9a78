# SPDX-License-Identifier: Apache-2.0
"""User-defined distributions and verification rules."""

import unittest

import numpy as np

import foredraft as fd

ROUND_OFF = 1e-12  # of sums over a small vocabulary

RANDOM = np.random.default_rng(7)
P = RANDOM.dirichlet(np.ones(30), 12)
Q = 0.7 * P + 0.3 * RANDOM.dirichlet(np.ones(30), 12)


def speculative_sampling(p, q):
    """[Leviathan2023, Alg. 1]"""
    ratio = np.divide(p, q, out=np.ones_like(p), where=q > 0)
    residual = np.maximum(0, p - q)
    mass = residual.sum(axis=1, keepdims=True)
    return np.minimum(1, ratio), np.where(mass > 0, residual / np.where(mass > 0, mass, 1), p)


def accept_all(p, q):
    return np.ones_like(p), p


class Distributions(unittest.TestCase):

    def test_acceptance_is_the_overlap(self):
        run = fd.simulate(target=P, draft=Q, gamma=4, c=0.05, iterations=200_000)
        overlap = np.minimum(P, Q).sum(axis=1).mean()
        self.assertLess(abs(run.per_token.mean - overlap), 5 * run.per_token.standard_error)
        self.assertAlmostEqual(fd.lossiness(target=P, draft=Q).acceptance.mean, overlap, delta=ROUND_OFF)

    def test_single_precision_and_lists_are_taken(self):
        exact = np.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]], dtype=np.float32)
        run = fd.simulate(target=exact, draft=exact.tolist(), gamma=2, iterations=1000)
        self.assertEqual(run.per_token.mean, 1.0)

    def test_rows_that_were_rounded_to_single_precision_are_distributions(self):
        narrow = [array.astype(np.float32) for array in (P, Q)]
        self.assertTrue((np.abs(narrow[0].astype(float).sum(axis=1) - 1) > ROUND_OFF).any())
        exact, rounded = fd.lossiness(target=P, draft=Q), fd.lossiness(target=narrow[0], draft=narrow[1])
        self.assertAlmostEqual(rounded.acceptance.mean, exact.acceptance.mean, delta=1e-6)
        self.assertTrue(rounded.lossless)
        np.testing.assert_allclose(rounded.emitted, P, atol=1e-6)
        run = fd.simulate(target=narrow[0], draft=Q.astype(np.float16), rule="rejection_sampling", gamma=2, iterations=1000)
        self.assertGreater(run.per_token.mean, 0.5)

        def in_single_precision(p, q):
            acceptance, replacement = speculative_sampling(p, q)
            return acceptance.astype(np.float32), replacement.astype(np.float32)

        self.assertLess(fd.lossiness(target=P, draft=Q, rule=in_single_precision).total_variation.mean, 1e-6)
        with self.assertRaisesRegex(ValueError, r"sum of draft\[0\]"):
            fd.lossiness(target=P, draft=0.99 * narrow[1])

    def test_masked_entries_are_rejected_and_masks_of_nothing_are_not(self):
        some = np.ma.masked_less(P, 0.01)
        with self.assertRaisesRegex(ValueError, "target: has masked entries"):
            fd.simulate(target=some, draft=Q, gamma=2, iterations=10)
        with self.assertRaisesRegex(ValueError, "replacement of the rule: has masked entries"):
            fd.lossiness(target=P, draft=Q, rule=lambda p, q: (np.ones_like(p), np.ma.masked_less(p, 0.01)))
        unmasked = np.ma.masked_less(P, -1)
        self.assertEqual(fd.lossiness(target=unmasked, draft=Q), fd.lossiness(target=P, draft=Q))
        with self.assertRaisesRegex(ValueError, "alpha: has masked entries"):
            fd.predict(alpha=np.ma.masked_greater([0.5, 0.9], 0.8), gamma=2, c=0.1)
        with self.assertRaisesRegex(ValueError, "acceptances: has masked entries"):
            fd.simulate(acceptances=np.ma.masked_equal([[1, 0, 1]], 0), gamma=1, iterations=10)

    def test_what_is_no_distribution_is_rejected(self):
        for bad, message in ((dict(draft=2 * Q), r"sum of draft\[0\]"), (dict(draft=Q[:, :5]), "wrong shape"),
                             (dict(draft=-Q), r"draft\[0\]\[0\]"), (dict(draft=Q * np.nan), r"draft\[0\]\[0\]"),
                             (dict(draft=Q[0]), "must be \\[contexts, vocabulary\\]"), (dict(draft=None), "missing"),
                             (dict(draft=Q.astype(str)), "must be numbers"), (dict(models_alpha=0.5), "mutually exclusive"),
                             (dict(fidelity="process"), "must be token"), (dict(rule="lenint"), "did you mean"),
                             (dict(drafter="prompt_lookup"), "drafter")):
            with self.subTest(str(bad)[:40]), self.assertRaisesRegex(ValueError, message):
                fd.simulate(**(dict(target=P, draft=Q, gamma=2, iterations=10) | bad))


class Rules(unittest.TestCase):

    def test_a_function_and_the_built_in_rule_give_the_same_bits(self):
        mine = fd.simulate(target=P, draft=Q, rule=speculative_sampling, gamma=4, c=0.05, iterations=50_000)
        theirs = fd.simulate(target=P, draft=Q, rule="rejection_sampling", gamma=4, c=0.05, iterations=50_000)
        for name, estimate in theirs.to_dict().items():
            self.assertEqual(getattr(mine, name), estimate, name)

    def test_losses(self):
        mine = fd.lossiness(target=P, draft=Q, rule=speculative_sampling)
        self.assertTrue(mine.lossless)
        np.testing.assert_allclose(mine.emitted, P, atol=ROUND_OFF)
        lossy = fd.lossiness(target=P, draft=Q, rule=accept_all)
        self.assertFalse(lossy.lossless)
        np.testing.assert_allclose(lossy.emitted, Q, atol=ROUND_OFF)
        self.assertAlmostEqual(lossy.total_variation.mean, 0.5 * np.abs(P - Q).sum(axis=1).mean(), delta=ROUND_OFF)
        named = fd.lossiness(target=P, draft=Q, rule="lenient", rule_lenience=0.5)
        self.assertTrue(0 < named.total_variation.mean < lossy.total_variation.mean)
        self.assertEqual(fd.lossiness(models_alpha=0.8, models_vocabulary=64, rule="rejection_sampling").lossless, True)
        entropy = np.array([-(row[row > 0] * np.log(row[row > 0])).sum() for row in np.concatenate((Q, P))])
        change = (entropy[:len(Q)] - entropy[len(Q):]).mean()
        self.assertAlmostEqual(lossy.entropy_change.mean, change, delta=ROUND_OFF)

    def test_losses_of_several_tokens(self):
        one, two, three = (fd.lossiness(target=P, draft=Q, rule=accept_all, gamma=3, tokens=tokens)
                           for tokens in (1, 2, 3))
        self.assertEqual(one.joint_total_variation, one.total_variation)
        pairs = [0.5 * np.abs(np.outer(Q[k], Q[(k + 1) % len(Q)]) - np.outer(P[k], P[(k + 1) % len(P)])).sum()
                 for k in range(len(P))]
        self.assertAlmostEqual(two.joint_total_variation.mean, np.mean(pairs), delta=ROUND_OFF)
        self.assertGreater(three.joint_total_variation.mean, two.joint_total_variation.mean)
        self.assertEqual(two.total_variation, one.total_variation)
        for wrong in (0, 4):
            with self.assertRaises(ValueError):
                fd.lossiness(target=P, draft=Q, tokens=wrong)

    def test_temperature_and_truncation_of_either_side(self):
        warm = fd.lossiness(target=P, draft=Q).acceptance.mean
        argmax = fd.lossiness(target=P, draft=Q, draft_temperature=0).acceptance.mean
        self.assertAlmostEqual(argmax, P[np.arange(len(P)), Q.argmax(axis=1)].mean(), delta=ROUND_OFF)
        self.assertNotEqual(warm, fd.lossiness(target=P, draft=Q, top_p=0.5).acceptance.mean)
        self.assertNotEqual(warm, fd.lossiness(target=P, draft=Q, draft_top_k=1).acceptance.mean)

    def test_the_contract_holds_rules_to_what_they_promise(self):
        fd.check_rule(speculative_sampling, lossless=True)
        fd.check_rule(accept_all, lossless=False)

        def never(p, q):
            return np.zeros_like(p), p

        def random(p, q):
            return np.random.random(p.shape), p

        def mixes_rows(p, q):
            return np.full_like(p, p.max()), p

        fd.check_rule(never, lossless=True)
        broken = ((lambda p, q: (2 * np.ones_like(p), p), None, r"invalid acceptance\[0\]\[0\]=2"),
                  (lambda p, q: (np.ones_like(p), 0.5 * p), None, r"sum of replacement\[0\]"),
                  (lambda p, q: np.ones_like(p), None, "must return"),
                  (lambda p, q: (np.ones(3), p), None, "wrong shape"), (random, None, "different results for the same arguments"),
                  (mixes_rows, None, "depends on other rows"), (accept_all, True, "claims to be lossless"),
                  (speculative_sampling, False, "claims a loss"))
        for rule, lossless, message in broken:
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                fd.check_rule(rule, lossless=lossless)

    def test_parameters_of_built_in_rules_do_not_go_with_a_function(self):
        with self.assertRaisesRegex(ValueError, "rule.lenience: mutually exclusive"):
            fd.simulate(target=P, draft=Q, rule=accept_all, rule_lenience=0.5, gamma=2, iterations=10)
        with self.assertRaisesRegex(ValueError, "temperature"):
            fd.simulate(target=P, draft=Q, rule=accept_all, temperature=0.5, gamma=2, iterations=10)
        with self.assertRaisesRegex(ValueError, "target: missing"):
            fd.simulate(rule=accept_all, gamma=2, iterations=10)


if __name__ == "__main__":
    unittest.main()
