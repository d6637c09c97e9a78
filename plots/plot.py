"""Draws the figures of a results directory from its files alone: plot.py DIR.

Every <id>.figure.json and every experiment figure known below whose data are there becomes <id>.pdf, .svg and .png
beside the data. Exit status: 0 all drawn; 1 some could not be (the others are); 2 bad usage or nothing to draw.
"""

import sys
from pathlib import Path

import batch_speedup
import decision_map
import emnlp_figure5
import emnlp_figure6
import iclr_figure2
import iclr_figure4
import iclr_figure5
import leviathan_figure2
import leviathan_figure3
import leviathan_figure4
import leviathan_figure5
import load
import ngram_iid_check
import rule_lossiness
import step_time
import survey_batch_context
import survey_medusa_tree
import sweep_figure
import token_tree
import validation
import verification_cost
import wagner_figure3
import wagner_figure4
import wagner_figure5

EXPERIMENTS = (leviathan_figure2, leviathan_figure3, leviathan_figure4, leviathan_figure5, ngram_iid_check,
               emnlp_figure5, emnlp_figure6, iclr_figure2, iclr_figure4, iclr_figure5, rule_lossiness,
               survey_batch_context, survey_medusa_tree, token_tree, wagner_figure3, wagner_figure4, wagner_figure5,
               batch_speedup, decision_map, step_time, verification_cost, validation)
_SUFFIX = ".figure.json"


def drawings(directory):
    """The figures that `directory` has data for: pairs of an id and a function that draws it."""
    found = [(figure.ID, lambda figure=figure: figure.draw(directory)) for figure in EXPERIMENTS
             if (directory / f"{figure.ID}.csv").exists()]
    for path in sorted(directory.glob(f"*{_SUFFIX}")):
        name = path.name[:-len(_SUFFIX)]
        found.append((name, lambda name=name: sweep_figure.draw(directory, name)))
    return found


def main(arguments):
    if len(arguments) != 1:
        print("usage: plot.py DIR", file=sys.stderr)
        return 2
    directory = Path(arguments[0])
    if not directory.is_dir():
        print(f"plot: {directory}: is not a directory", file=sys.stderr)
        return 2
    try:
        load.manifest(directory)
    except load.BadFile as error:
        print(f"plot: {error}", file=sys.stderr)
        return 2
    found = drawings(directory)
    if not found:
        print(f"plot: {directory}: nothing to draw (no *{_SUFFIX}, no data of "
              f"{', '.join(figure.ID for figure in EXPERIMENTS)})", file=sys.stderr)
        return 2
    status = 0
    for name, draw in found:
        try:
            files = draw()
            print(f"{name}.{{{','.join(file.rpartition('.')[2] for file in files)}}}")
        except (load.BadFile, OSError) as error:
            print(f"plot: {error}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
