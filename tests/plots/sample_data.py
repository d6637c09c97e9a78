# SPDX-License-Identifier: Apache-2.0
"""Result folders as the program writes them, from the formulas and seeded noise: the tests' input."""

import csv
import json
import math
import random


def tokens(alpha, gamma):
    """Expected tokens of one iteration, i.i.d. acceptance."""
    if math.isinf(gamma):
        return math.inf if alpha == 1 else 1 / (1 - alpha)
    return sum(alpha**k for k in range(gamma + 1))


def tokens_deviation(alpha, gamma):
    """Standard deviation of the tokens of one iteration."""
    n = gamma + 1 if not math.isinf(gamma) else 2000
    square = sum((2 * k - 1) * alpha ** (k - 1) for k in range(1, n + 1))
    return math.sqrt(max(0.0, square - sum(alpha**k for k in range(n)) ** 2))


def speedup(alpha, gamma, c):
    return tokens(alpha, gamma) / (gamma * c + 1)


def best_gamma(alpha, c):
    if alpha <= c:
        return 0
    gamma = 0
    while alpha ** (gamma + 1) > c * speedup(alpha, gamma, c):
        gamma += 1
    return gamma


def write_csv(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def figure_specification(**changes):
    spec = {
        "schema": "foredraft.figure/1", "id": "speedup", "x": "gamma", "y": "speedup", "series": "alpha",
        "panel": "c", "width": "single_column",
        "labels": {"gamma": "draft length γ (tokens)", "speedup": "speedup over autoregressive decoding",
                   "alpha": "acceptance α", "c": "draft step / target step"},
    }
    spec.update(changes)
    return spec


def write_specification(directory, **changes):
    spec = figure_specification(**changes)
    (directory / f"{spec['id']}.figure.json").write_text(json.dumps(spec), encoding="utf-8")
    return spec


def write_sweep(directory, figure_id="speedup", width="single_column", alphas=(0.5, 0.6, 0.7, 0.8, 0.9),
                gammas=range(1, 13), cs=(0.02, 0.05, 0.1), iterations=20_000, **changes):
    """The quickstart sweep: 5 x 12 x 3 points; noise large enough to see the error bars."""
    write_specification(directory, id=figure_id, width=width, **changes)
    noise = random.Random(1)
    rows = []
    for c in cs:
        for alpha in alphas:
            for gamma in gammas:
                exact = speedup(alpha, gamma, c)
                error = tokens_deviation(alpha, gamma) / math.sqrt(iterations) / (gamma * c + 1)
                rows.append([c, alpha, gamma, repr(exact), repr(noise.gauss(exact, error)), repr(error)])
    write_csv(directory / f"{figure_id}.csv",
              ["c", "alpha", "gamma", "analytic_speedup", "simulated_speedup", "simulated_speedup_standard_error"],
              rows)


def write_small_sweep(directory, figure_id="speedup", **changes):
    """A figure that is quick to draw, for tests in which its content does not matter."""
    write_sweep(directory, figure_id, alphas=(0.8,), gammas=(1, 2), cs=(0.05,), **changes)


def write_figure2(directory, iterations=2_000):
    noise = random.Random(2)
    rows = []
    for gamma in (1, 3, 5, 7, 10, math.inf):
        name = "inf" if math.isinf(gamma) else gamma
        for i in range(101):
            alpha = i / 100
            exact = tokens(alpha, gamma)
            simulated = i % 10 == 0 and not (math.isinf(gamma) and alpha == 1)
            error = tokens_deviation(alpha, gamma) / math.sqrt(iterations) if simulated else None
            rows.append([name, alpha, "" if math.isinf(exact) else repr(exact),
                         repr(noise.gauss(exact, error)) if simulated else "", repr(error) if simulated else ""])
    write_csv(directory / "leviathan-figure2.csv",
              ["gamma", "alpha", "analytic_tokens_per_iteration", "simulated_tokens_per_iteration",
               "simulated_tokens_per_iteration_standard_error"], rows)


def write_figure3(directory):
    noise = random.Random(3)
    rows = []
    for c in (0.01, 0.02, 0.05, 0.1, 0.2):
        for i in range(1, 191):
            alpha = i / 200
            best = best_gamma(alpha, c)
            cells = ["", "", ""]
            if i % 20 == 0:
                near = [g for g in range(0, 200) if speedup(alpha, g, c) > 0.999 * speedup(alpha, best, c)]
                cells = [noise.choice(near), near[0], near[-1]]
            rows.append([c, alpha, best, *cells])
    write_csv(directory / "leviathan-figure3.csv",
              ["c", "alpha", "analytic_best_gamma", "simulated_best_gamma", "simulated_best_gamma_low",
               "simulated_best_gamma_high"], rows)


def write_figure4(directory, iterations=2_000):
    noise = random.Random(4)
    rows = []
    for gamma in (1, 3, 5, 7, 10):
        for i in range(101):
            alpha = i / 100
            exact = tokens(alpha, gamma)
            cells = ["", "", "", ""]
            if i % 10 == 0:
                error = tokens_deviation(alpha, gamma) / math.sqrt(iterations)
                mean = noise.gauss(exact, error)
                cells = [mean, error, (gamma + 1) / mean, (gamma + 1) * error / mean**2]
            rows.append([gamma, alpha, exact, (gamma + 1) / exact, *cells])
    write_csv(directory / "leviathan-figure4.csv",
              ["gamma", "alpha", "analytic_speedup", "analytic_operations_factor", "simulated_speedup",
               "simulated_speedup_standard_error", "simulated_operations_factor",
               "simulated_operations_factor_standard_error"], rows)


def write_sentence_speedups(directory, figure_id="emnlp-figure6", sentences=2_000):
    rows = []
    for population, spread in (("all sentences alike", 1.3), ("acceptance varies between sentences", 2.0)):
        weights = [math.exp(-((i / 2 + 0.25 - 5) / spread)**2 / 2) for i in range(24)]
        for i, weight in enumerate(weights):
            share = weight / sum(weights)
            rows.append([population, i / 2, (i + 1) / 2, share, math.sqrt(share * (1 - share) / sentences)])
    write_csv(directory / f"{figure_id}.csv",
              ["population", "speedup_low", "speedup_high", "simulated_share", "simulated_share_standard_error"], rows)


def write_quality(directory):
    write_csv(directory / "iclr-figure2.csv", ["group", "system", "bleu", "printed_speedup", "predicted_speedup"],
              [["Fully NAT", "first", 25.2, 15.3, ""], ["Fully NAT", "second", 27.5, 13.9, ""],
               ["SpecDec and its parts", "AT verifier", 28.9, 1.0, ""],
               ["SpecDec and its parts", "SpecDec", 28.7, 3.0, 3.07],
               ["SpecDec and its parts", "NAT drafter", 26.5, 14.3, 15.1]])


def write_figure5(directory, length=24, alpha=0.8, c=0.08):
    noise = random.Random(5)
    rows = []
    for gamma in (7, 3):
        lane, time, emitted = f"gamma = {gamma}", 0.0, 0
        while emitted < length:
            for i in range(gamma):
                rows.append([lane, "draft", round(time + i * c, 9), round(time + (i + 1) * c, 9), ""])
            time += gamma * c
            rows.append([lane, "target", round(time, 9), round(time + 1, 9), ""])
            time += 1
            accepted = 0
            while accepted < gamma and noise.random() < alpha:
                accepted += 1
            kinds = ["accepted"] * accepted + ["corrected" if accepted < gamma else "bonus"]
            for kind in kinds[:length - emitted]:
                rows.append([lane, "token", round(time, 9), round(time, 9), kind])
            emitted += len(kinds)
    for i in range(length):
        rows.append(["plain decoding", "target", i, i + 1, ""])
        rows.append(["plain decoding", "token", i + 1, i + 1, "corrected"])
    write_csv(directory / "leviathan-figure5.csv", ["lane", "kind", "start", "end", "label"], rows)


def write_ngram(directory, gammas=(1, 2, 3, 4, 5, 7, 10), temperatures=(0, 1)):
    noise = random.Random(6)
    rows = []
    for corpus, shift in (("prose", 0.0), ("code", 0.09)):
        for temperature in temperatures:
            for drafter, alpha in (("unigram", 0.21), ("bigram", 0.44), ("trigram", 0.62)):
                alpha += shift - 0.05 * temperature
                for gamma in gammas:
                    iid = tokens(alpha, gamma)
                    run = 1 + (iid - 1) * (1 + 0.006 * gamma)
                    error = tokens_deviation(alpha, gamma) / math.sqrt(20_000)
                    rows.append([corpus, temperature, drafter, gamma, noise.gauss(run, error), error, iid,
                                 1 + (iid - 1) * (1 + 0.005 * gamma), 1 + alpha,
                                 min(gamma * alpha + 1, 1 / (1 - alpha))])
    write_csv(directory / "ngram-iid-check.csv",
              ["corpus", "temperature", "drafter", "gamma", "simulated_tokens_per_iteration",
               "simulated_tokens_per_iteration_standard_error", "iid_tokens_per_iteration",
               "markov_tokens_per_iteration", "bound_low", "bound_high"], rows)


def write_rule_lossiness(directory, more=0):
    """An exact rule, a rule with several values of its parameter and one whose acceptance has no closed form; and
    `more` rules."""
    rows = []
    for vocabulary in (256, 32_000):
        rows.append([vocabulary, "rejection_sampling", 0.7, 0.699, 0, 0, 0.36, 0.02])
        rows.extend([vocabulary, "lenient", 0.7 + 0.1 * i, 0.7 + 0.1 * i, 0.1 * i, 0.004, 0.35, 0.02]
                    for i in range(1, 4))
        rows.append([vocabulary, "multi_candidate, distinct", "", 0.88, 0, 0, 0.36, 0.02])
        rows.append([vocabulary, "sigmoid_approximation, 64 bits", 0.99, 0.99, 0.295, 0.004, 0.33, 0.02])
        rows.extend([vocabulary, f"another rule, no. {i}", 0.5, 0.5, 0.01 * i, 0.004, 0.35, 0.02] for i in range(more))
    write_csv(directory / "rule-lossiness.csv",
              ["vocabulary", "series", "acceptance", "simulated_acceptance", "total_variation",
               "total_variation_standard_error", "top1_probability", "top1_probability_standard_error"], rows)


def write_sampling_acceptance(directory):
    """Two pairs of models, two truncations, a line that falls with the temperature and one that does not."""
    rows = [[pair, kept, series, temperature, round(0.9 - less - fall * temperature, 6), 0.02]
            for pair, less in (("synthetic", 0.0), ("5-gram and bigram, prose", 0.2))
            for kept in ("all tokens", "target: top-p 0.9")
            for series, fall in (("drafts at the same temperature", 0.0), ("argmax drafts", 0.2))
            for temperature in (1.0, 0.0, 0.5)]
    write_csv(directory / "sampling-acceptance.csv",
              ["pair", "kept", "series", "temperature", "acceptance", "acceptance_standard_error"], rows)


def write_methods(directory, temperatures=(0, 0.7, 1), exact=13, relaxed=10, pairs=(), values=1):
    """Exact methods with similar speedups and relaxed ones, one of which is as fast as two exact ones and loses
    nothing.

    Each relaxed one has several values of its parameters; with `pairs`, all rows for each pair.
    """
    rows = []
    for pair in pairs or ("",):
        for temperature in temperatures:
            rows.extend([pair, temperature, f"an_exact_method_no_{i}", 2.4 + 0.02 * i, 0.01, 1, 0] for i in range(exact))
            rows.extend([pair, temperature, f"relaxed_no_{i}", (1.1 + i) * 0.9 ** value, 0.02, 0, 0.07 * i * 0.9 ** value]
                        for i in range(relaxed) for value in range(values))
    header = ["pair", "temperature", "method", "speedup", "speedup_standard_error", "exact", "loss"]
    first = 0 if pairs else 1
    write_csv(directory / "methods.csv", header[first:], [row[first:] for row in rows])


def write_trade_off(directory, simulated=True, **changes):
    """A server under load: throughput and latency by number of clients, plain and with drafts; no closed form."""
    write_specification(directory, **{"id": "trade", "x": "tokens_per_s", "y": "latency_ms", "series": "gamma",
                                      "panel": None, "along": "arrivals.clients",
                                      "labels": {"tokens_per_s": "tokens per second", "latency_ms": "latency"},
                                      "units": {"tokens_per_s": "1/s", "latency_ms": "ms"}, **changes})
    rows = []
    for gamma, fastest in ((0, 10), (2, 6)):
        for clients in (64, 1, 8):  # in no order
            latency = fastest * (1 + clients / 16)
            numbers = [100 * clients / latency, 2.0, latency, 0.1]
            rows.append([gamma, clients, *(["", *numbers[:2], "", *numbers[2:]] if simulated
                                           else [numbers[0], "", "", numbers[2], "", ""])])
    write_csv(directory / f"{changes.get('id', 'trade')}.csv",
              ["gamma", "arrivals.clients", *(form.format(name) for name in ("tokens_per_s", "latency_ms")
                                              for form in ("analytic_{}", "simulated_{}", "simulated_{}_standard_error"))],
              rows)


def write_batch_latencies(directory):
    """Two systems, one of them simulated, with two kinds of times, the second ten times as long."""
    rows = []
    for clock, slower in (("device alone", 1), ("device and program", 10)):
        for system, latencies in (("plain", (20, 20, 20, 40)), ("speculation", (5, 6, 12, 24))):
            for batch, latency in zip((1, 2, 4, 8), latencies):
                simulated = [1.01 * latency * slower, 0.02 * latency * slower] if system == "speculation" else ["", ""]
                rows.append([clock, system, batch, 28 * batch, latency * slower, *simulated])
    write_csv(directory / "emnlp-figure5.csv",
              ["clock", "system", "batch", "tokens", "analytic_latency_ms", "simulated_latency_ms",
               "simulated_latency_ms_standard_error"], rows)


def write_device_speedups(directory):
    write_csv(directory / "iclr-figure5.csv", ["clock", "device", "batch", "analytic_speedup"],
              [[clock, device, batch, gain / (1 + batch / half)] for clock in ("device alone", "device and program")
               for device, gain, half in (("P100", 3, 4), ("A100", 4, 16)) for batch in (1, 2, 4, 8, 16, 32)])


def write_batch_context(directory):
    """The longer context lacks the largest batches."""
    write_csv(directory / "survey-batch-context.csv", ["cache", "context", "batch", "analytic_speedup"],
              [[cache, context, batch, 2.5 / (1 + batch / half)] for cache in ("once a sequence", "by every token")
               for context, half in ((64, 16), (2048, 8)) for batch in (1, 2, 4, 8, 16, 32)
               if context * batch < 40_000])


def write_verification_memory(directory, figure_id="wagner-figure5"):
    """Rows of the vocabulary's length: 4 gamma + 4, 6 gamma + 4 and 4 gamma + 3, above 2 gamma + 1 of logits."""
    write_csv(directory / f"{figure_id}.csv",
              ["pair", "vocabulary", "element_bytes", "variant", "gamma", "analytic_logits_mb", "analytic_peak_mb"],
              [[pair, vocabulary, 4, variant, gamma, 4e-6 * vocabulary * (2 * gamma + 1),
                4e-6 * vocabulary * (slope * gamma + rows)]
               for pair, vocabulary in (("a large network with a small one", 32_000), ("others", 256_000))
               for variant, slope, rows in (("baseline", 4, 4), ("exact", 6, 4), ("sigmoid", 4, 3))
               for gamma in range(1, 21)])


def write_verification_time(directory):
    """Rows of the vocabulary's length at 2 bytes a number, and launches of 2 us."""
    write_csv(directory / "wagner-figure3.csv",
              ["pair", "vocabulary", "element_bytes", "variant", "gamma", "counted_moved_mb", "counted_launches",
               "counted_read_backs", "counted_call_us"],
              [[pair, vocabulary, 2, variant, gamma, 2e-6 * vocabulary * (slope * gamma + rows), launches, waits,
                2 * launches + 1e-6 * vocabulary * (slope * gamma + rows)]
               for pair, vocabulary in (("a large network with a small one", 32_000), ("others", 256_000))
               for variant, slope, rows, launches, waits in (("baseline", 6, 15, 29, 7), ("exact", 12, 9, 26, 4),
                                                             ("fused_exact", 2, 3, 1, 0))
               for gamma in range(1, 21)])


def write_scorecard(directory):
    header = ["experiment", "row", "column", "published", "published_low", "published_high", "ours", "ours_low",
              "ours_high", "kind", "verdict", "note"]
    write_csv(directory / "scorecard.csv", header, [
        ["leviathan-table1", "alpha 0.8, gamma 5", "speed", "3.69", "3.685", "3.695", "3.68928", "3.68928", "3.68928",
         "exact", "pass", ""],
        ["leviathan-table1", "alpha 0.9, gamma 10", "operations", "1.60", "1.595", "1.605", "1.7", "1.7", "1.7",
         "exact", "fail", "an invented failure"],
        ["leviathan-table2", "CNNDM T5-small T=0", "speed", "3.1", "3.05", "3.15", "2.674321987654", "", "2.9",
         "fitted", "finding", "above <any> process & rounding"],
        ["leviathan-table2", "EnDe T5-base T=0", "alpha", "0.8", "0.75", "0.85", "", "", "", "input", "shown", ""],
        ["leviathan-table2", "EnDe T5-base T=0", "speed", "2.8", "2.75", "2.85", "2.8", "", "", "fitted", "shown", ""],
    ])


def write_manifest(directory, schema="foredraft.manifest/1", **more):
    (directory / "manifest.json").write_text(json.dumps({
        "schema": schema, "version": "0.1.0", "seed": 1, "git": {"commit": "0" * 40, "dirty": False},
        "config": {"axes": {"alpha": [0.5, 0.9], "c": [0.02]}}, "outputs": [{"file": "a.csv", "sha256": "f" * 64}],
        **more,
    }), encoding="utf-8")


def write_tree(directory, figure_id="tree", kinds=None):
    """Three candidates, two below the first, one below the last of these: 7 nodes; with `kinds` a column of them."""
    rows = [[0, "", 0, 0, 1.0], [1, 0, 1, 0, 0.5], [2, 0, 1, 1, 0.2], [3, 0, 1, 2, 0.004], [4, 1, 2, 0, 0.25],
            [5, 1, 2, 1, 0.05], [6, 5, 3, 0, 0.01]]
    header = ["node", "parent", "depth", "rank", "probability"]
    if kinds is not None:
        header.append("tree")
        rows = [[*row, kind] for row, kind in zip(rows, kinds)]
    write_csv(directory / f"{figure_id}.csv", header, rows)


def write_medusa_tree(directory):
    write_tree(directory, "survey-medusa-tree", ["both", "both", "both", "shipped", "both", "greedy", "greedy"])


def write_prediction(directory, batches=(1, 8, 32), contexts=(512, 4096), gammas=range(1, 5), alpha=0.7, spread=0.03,
                     level=0.95):
    """The four figures of a prediction: passes that grow by 1 % of a plain step for each token and sequence, drafts of
    0.1 plain steps, 1 ms of overhead; times of the largest batch are fitted, and its longest draft is outside the
    domain."""
    steps, speedups, passes, ranges = [], [], [], []
    for context in contexts:
        for batch in batches:
            plain_us = 1000 * (1 + 0.01 * batch)
            origin = "fitted" if batch == batches[-1] else "measured" if batch == 1 else "interpolated"
            knee = 1 + 0.1 * (1 + 0.01 * batch) / (0.01 * batch)
            for gamma in gammas:
                verify_us = 1000 * (1 + 0.01 * batch * (gamma + 1))
                inside = "no" if (batch, gamma) == (batches[-1], gammas[-1]) else "yes"
                iteration_us = 100 * gamma + verify_us + 50 + 100
                gain = tokens(alpha, gamma) * plain_us / iteration_us
                steps.append([context, batch, gamma, plain_us - 20, 20, 100 * gamma, verify_us, 50, 100, tokens(alpha, gamma),
                              spread, origin, inside, level])
                speedups.append([context, batch, gamma, gain, spread, origin, inside, level])
            passes.extend([context, batch, count, 1000 * (1 + 0.01 * batch * count), spread, origin, "yes",
                           (1 + 0.01 * batch * count) / (1 + 0.01 * batch), 0 if count == 1 else spread, 1.1,
                           knee if knee <= 16 else "", level] for count in (1, 2, 3, 4, 5, 6, 8, 12, 16))
        middle = batches[len(batches) // 2]
        ranges += [[context, batches[0], middle, 3], [context, middle + 1, middle + 2, 1],
                   [context, middle + 3, batches[-1], 0]]
    write_csv(directory / "step-time.csv",
              ["context", "batch", "gamma", "plain_us", "plain_sampling_us", "drafting_us", "verify_us", "sampling_us", "overhead_us",
               "tokens_per_iteration", "speedup_spread", "origin", "inside_domain", "interval_level"], steps)
    write_csv(directory / "batch-speedup.csv",
              ["context", "batch", "gamma", "speedup", "speedup_spread", "origin", "inside_domain", "interval_level"], speedups)
    write_csv(directory / "verification-cost.csv",
              ["context", "batch", "tokens", "pass_us", "pass_spread", "origin", "inside_domain", "growth",
               "growth_spread", "knee_growth", "knee_tokens", "interval_level"], passes)
    write_csv(directory / "decision-map.csv", ["context", "first_batch", "last_batch", "gamma"], ranges)


LOAD_TEXT = """At 8 concurrent requests use K = 3: 1.39x (1.10 to 1.68),
instead of <none>.
evidence    data sheet: 20 %

  K  speedup
"""


def write_load(directory, loads=(1, 2, 4, 8, 16, 32, 64), gammas=range(9), asked=8, unit="concurrent requests", priced=True,
               intervals=True):
    """A server whose best draft length falls from 4 to 1 as its load rises; plain decoding takes 10 ms and 0.2 ms per
    request for a token, and half of that for the prompts of 100 requests."""
    curves, times = [], []
    for at in loads:
        for gamma in gammas:
            prompts = 0.05 * at
            engine, drafting, verification = 1.0, 0.8 * gamma, 10 + 0.02 * at * (gamma + 1)
            per_token = (prompts + engine + drafting + verification) / tokens(0.7, gamma)
            gain = (prompts + 11 + 0.02 * at) / per_token
            known = intervals and gamma > 0
            curves.append([at, unit, "yes" if at == asked else "no", gamma, gain if gamma else "", 0.8 * gain if known else "",
                           1.2 * gain if known else "", per_token, 100 + at, per_token / at if priced else "", 0.9])
            if at == asked:
                times.append([at, unit, gamma, *(part / tokens(0.7, gamma) for part in (verification, drafting, prompts, engine)),
                              "yes" if gamma == 3 else "no"])
    write_csv(directory / "load-curves.csv",
              ["load", "unit", "asked", "gamma", "speedup", "low", "high", "tpot_ms", "ttft_ms",
               "cost_per_million_output_tokens", "interval_level"], curves)
    write_csv(directory / "load-time.csv", ["load", "unit", "gamma", "verification_ms", "drafting_ms", "prompts_ms",
                                            "engine_ms", "best"], times)
    (directory / "load.txt").write_text(LOAD_TEXT, encoding="utf-8")


def write_validation(directory, cells=24, noise=0.03, between_runs=0.02, intervals=True, drafter="t5-small"):
    """Two pairs, predictions with errors up to 9 %; the last cell was not measured. Cells of an engine have no
    intervals and one run."""
    random_errors = random.Random(7)
    rows = []
    for i in range(cells):
        measured = 0.8 + 1.6 * i / cells
        error = 0.09 if i == 5 else random_errors.uniform(-noise, noise)
        predicted = measured * (1 + error)
        around = ([0.97 * predicted, 1.03 * predicted], [0.98 * measured, 1.02 * measured]) if intervals else ([""] * 2,) * 2
        rows.append([("t5-base", "transformer-base")[i % 2], drafter, 1 + i % 6, 0.7, 1, 256, predicted,
                     *around[0], measured, *around[1], error, between_runs])
    rows.append(["t5-base", drafter, 3, 0.7, 1, 256, 1.5, 1.4, 1.6, "", "", "", "", ""])
    write_csv(directory / "validation.csv",
              ["target", "drafter", "gamma", "alpha", "batch", "context", "predicted_speedup", "predicted_low",
               "predicted_high", "measured_speedup", "measured_low", "measured_high", "signed_error", "between_runs"],
              rows)


def write_advice(directory, loads=("1 request", "64 requests"), gammas=range(1, 13), split=True, bounded=True):
    """The files of `advise --out`: one draft length, 3, logged at every load; an iteration takes 2.5 times as long at
    the second load as at the first, and 2.5 times that at all others. With `bounded` the times of draft lengths above 3
    are bounds."""
    lengths = [[gamma, tokens(0.7, gamma), 0.98 * tokens(0.7, gamma), 1.02 * tokens(0.7, gamma),
                "observed" if gamma == 3 else "fitted", "yes" if gamma > 3 else "no"] for gamma in gammas]
    chain, speedups = [], []
    for i, name in enumerate(loads):
        cost, promised = 1.2 * 2.5**min(i, 2), tokens(0.7, 3)
        factors = {"verification": 0.8 / 2.5**min(i, 2), "drafting": 0.9, "engine_overhead": 0.97,
                   "plain_overhead": 1 / (cost * 0.8 / 2.5**min(i, 2) * 0.9 * 0.97)} if split else {"iteration_cost": 1 / cost}
        measured = promised / cost
        chain += [[name, 4**i, 3, factor, value, 0.01, ""] for factor, value in
                  {"promised": promised, **factors, "measured": measured}.items()]
        for gamma in gammas:
            gain = tokens(0.7, gamma) / (cost * (1 + 0.1 * (gamma - 3)))
            known = gamma <= 3 or not bounded
            speedups.append([name, 4**i, gamma, gain if known else "", 0.95 * gain if known else "", 1.05 * gain,
                             "logged" if gamma == 3 else "interpolated" if known else "bounded",
                             "yes" if gamma == 3 and gain > 1 else "no"])
    write_csv(directory / "acceptance-length.csv",
              ["gamma", "tokens_per_iteration", "low", "high", "source", "extrapolated"], lengths)
    write_csv(directory / "speedup-chain.csv",
              ["load", "batch", "gamma", "factor", "value", "standard_error", "share"], chain)
    write_csv(directory / "speedup-by-load.csv",
              ["load", "batch", "gamma", "speedup", "low", "high", "iteration_time", "use"], speedups)
    (directory / "advice.txt").write_text("Keep K = 3: <1.00x>.\n", encoding="utf-8")
    (directory / "advice.json").write_text(json.dumps({"schema": "foredraft.advise/1", "action": "Keep K = 3: <1.00x>."}),
                                           encoding="utf-8")
