# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of a results directory from its files alone: plot.py DIR.

Every <id>.figure.json, and every experiment figure listed below that has data, becomes <id>.pdf, .svg and .png in this
directory. Exit status: 0 all drawn; 1 something could not be drawn or written (the rest was); 2 bad usage or nothing to
draw; 130 interrupted (finished figures stay).
"""

import functools
import os
import sys
import types

if __name__ == "__main__":  # started by its path: its folder becomes the package `plots`
    sys.dont_write_bytecode = True  # a full disk could leave a truncated file, which Python would load
    __package__ = "plots"
    sys.modules["plots"] = types.ModuleType("plots")
    sys.modules["plots"].__path__ = [os.path.dirname(os.path.realpath(__file__))]

from . import command

if __name__ == "__main__":
    command.start()

from . import (acceptance_length, batch_speedup, decision_map, emnlp_figure5, emnlp_figure6, iclr_figure2,
               iclr_figure4, iclr_figure5, leviathan_figure2, leviathan_figure3, leviathan_figure4, leviathan_figure5,
               load, load_curves, load_time, methods, ngram_iid_check, rule_lossiness, sampling_acceptance,
               speedup_by_load, speedup_chain, step_time, style, survey_batch_context, survey_medusa_tree,
               sweep_figure, token_tree, validation, verification_cost, wagner_figure3, wagner_figure4, wagner_figure5)

EXPERIMENTS = (leviathan_figure2, leviathan_figure3, leviathan_figure4, leviathan_figure5, ngram_iid_check,
               emnlp_figure5, emnlp_figure6, iclr_figure2, iclr_figure4, iclr_figure5, rule_lossiness,
               sampling_acceptance, survey_batch_context, survey_medusa_tree, token_tree, wagner_figure3,
               wagner_figure4, wagner_figure5, batch_speedup, decision_map, step_time, verification_cost, validation,
               acceptance_length, speedup_chain, speedup_by_load, load_curves, load_time, methods)
_SUFFIX = ".figure.json"


def drawings(directory):
    """The figures that `directory` has data for: pairs of an id and a function that draws the figure."""
    found = [(module.ID, functools.partial(read, module, directory)) for module in EXPERIMENTS
             if load.exists(directory / f"{module.ID}.csv")]
    for path in sorted(directory.glob(f"*{_SUFFIX}")):
        name = path.name[:-len(_SUFFIX)]
        found.append((name, functools.partial(sweep_figure.read, directory, name)))
    return found


def read(module, directory):
    """The figure of a module of EXPERIMENTS."""
    return module.figure(load.table(directory / f"{module.ID}.csv", module.COLUMNS))


def main(arguments):
    return command.run("plot", draw_all, arguments)


def draw_all(directory):
    """Draws what `directory` has data for; returns the exit status."""
    style.settle()
    load.manifest(directory)
    found = drawings(directory)
    if not found:
        command.say(f"plot: {directory}: nothing to draw (no figure of a sweep, no data of a known figure)",
                    problem=True)
        return 2
    return max([command.tried("plot", directory / name, functools.partial(_draw_one, directory / name, make))
                for name, make in found])


def _draw_one(stem, make):
    files = style.save(make(), stem)
    command.say(f"{stem.name}.{{{','.join(file.rpartition('.')[2] for file in files)}}}")
    return 0


if __name__ == "__main__":
    command.finish(main(sys.argv[1:]))
