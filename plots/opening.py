# SPDX-License-Identifier: Apache-2.0
"""The beginning of a report: the answer in a sentence or two, and the figure that shows it."""

import math

from . import batch_speedup, load, scorecard, validation

_ADVICE_FIGURES = ("speedup-by-load", "speedup-chain", "acceptance-length")
# The quantities of a sweep whose largest value is the answer, with label and unit; the first one in the sweep is used.
_SWEEP_ANSWERS = (("speedup", "speedup", "x"), ("tokens_per_s", "throughput", " tokens/s"),
                  ("tokens_per_iteration", "acceptance length", " tokens per iteration"))


def opening(directory, manifest, score, stems):
    """The sentences, and the drawing of `stems` that belongs to them, or None."""
    for applies, answer, figures in (
            (load.exists(directory / "advice.json"), lambda: advice(directory), _ADVICE_FIGURES),
            (score is not None, lambda: scorecard.verdict(score), ()),
            (load.exists(directory / f"{validation.ID}.csv"), lambda: validation.verdict(directory), (validation.ID,)),
            (load.exists(directory / f"{batch_speedup.ID}.csv"), lambda: _prediction(directory), (batch_speedup.ID,)),
            (load.exists(directory / "load.txt"), lambda: _load(directory), ("load-curves", "load-time")),
            (load.exists(directory / "tree.json"), lambda: _tree(directory), ("tree",)),
            (load.exists(directory / "points.csv"), lambda: _sweep(directory, manifest), tuple(stems))):
        if applies:
            return _marked(answer(), manifest), next((stem for stem in figures if stem in stems), None)
    return "", None


def _marked(sentences, manifest):
    """An answer from a profile that fails its A/A test begins with a warning."""
    invalid = (manifest or {}).get("valid", True) is False
    return f"NOT VALID by the profile's own A/A test. {sentences}" if sentences and invalid else sentences


def advice(directory):
    return str(load.document(directory / "advice.json", "foredraft.advise/1").get("action", ""))


def _prediction(directory):
    """The largest speedup over batches and contexts, each with its best draft length, and the smallest of these."""
    table = load.table(directory / f"{batch_speedup.ID}.csv", batch_speedup.COLUMNS)
    best = {}
    for row, (batch, context, speedup) in enumerate(zip(table["batch"], table["context"], table["speedup"])):
        held = best.get((batch, context))
        if math.isfinite(speedup) and (held is None or speedup > table["speedup"][held]):
            best[batch, context] = row
    if not best:
        return ""

    def words(row):
        return (f"{table['speedup'][row]:.2f}x with draft length {table['gamma'][row]:g} at batch size "
                f"{table['batch'][row]:g}, context {table['context'][row]:g}{_interval(table, row)}")

    top, bottom = (pick(best.values(), key=lambda row: table["speedup"][row]) for pick in (max, min))
    if table["speedup"][top] <= 1:
        return f"Speculative decoding is predicted to lose: at best {words(top)}."
    first = f"Predicted speedup: {'up to ' if len(best) > 1 else ''}{words(top)}."
    return first if top == bottom else f"{first} Smallest of {len(best)} combinations: {words(bottom)}."


def _load(directory):
    """The first sentences of the answer at a load, before its evidence."""
    return " ".join(load.text(directory / "load.txt").partition("\nevidence ")[0].split())


def _interval(table, row):
    speedup, spread, level = (table[name][row] for name in ("speedup", "speedup_spread", "interval_level"))
    if not (math.isfinite(spread) and math.isfinite(level)):
        return ""
    return f" ({100 * level:.0f} % interval {max(0, speedup * (1 - spread)):.2f} to {speedup * (1 + spread):.2f})"


def _tree(directory):
    found = load.document(directory / "tree.json", "foredraft.tree/1")
    tokens, speedup, chain = (_number(value) for value in (
        found.get("tokens_per_iteration"), found.get("speedup"),
        found["chain"].get("tokens_per_iteration") if isinstance(found.get("chain"), dict) else None))
    if not math.isfinite(tokens):
        return ""
    gain = f", speedup {speedup:.3f}x" if math.isfinite(speedup) else ""
    which = "the best tree" if found.get("tree") == "best" else "the given tree"
    text = f"{tokens:.3f} tokens per iteration with {which} of {found.get('nodes')} nodes{gain}."
    return f"{text} A chain has {chain:.3f}." if math.isfinite(chain) else text


def _sweep(directory, manifest):
    """The point of the largest answer, and the difference between simulation and closed form."""
    rows = load.rows(directory / "points.csv")
    _, header = next(rows)
    place = {name: column for column, name in enumerate(header)}
    name, words, unit = next((answer for answer in _SWEEP_ANSWERS if {f"{side}_{answer[0]}" for side in
                                                                      ("analytic", "simulated")} & set(header)),
                             (None, "", ""))
    apart = [column for name, column in place.items() if name.endswith("_deviation_in_se")]
    best, furthest, compared = None, 0.0, 0
    for _, line in rows:
        found = [abs(number) for number in (_number(line[column]) for column in apart) if math.isfinite(number)]
        compared, furthest = compared + len(found), max([furthest, *found])
        answers = [_number(line[place[column]]) for column in (f"analytic_{name}", f"simulated_{name}") if column in place]
        answer = next(filter(math.isfinite, answers), math.nan)
        if math.isfinite(answer) and (best is None or answer > best[0]):
            best = answer, line
    sentences = []
    if best is not None:
        axes = [axis for axis in _axes(manifest) if axis in place]
        at = ", ".join(f"{axis} = {scorecard.short(best[1][place[axis]])}" for axis in axes)
        sentences.append(f"Largest {words}: {best[0]:.4g}{unit}{f' at {at}' if at else ''}.")
    if compared:
        sentences.append(f"Simulation and closed form differ by at most {furthest:.1f} standard errors in "
                         f"{compared:,} comparisons.")
    return " ".join(sentences)


def _axes(manifest):
    config = (manifest or {}).get("config")
    axes = config.get("axes") if isinstance(config, dict) else None
    return list(axes) if isinstance(axes, dict) else []


def _number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
