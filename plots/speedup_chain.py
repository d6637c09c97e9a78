# SPDX-License-Identifier: Apache-2.0
"""From the promised speedup to the measured one: a waterfall for each load, on a logarithmic axis, so that factors are
steps."""

import itertools

import numpy
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from . import curves, layout, load, style

ID = "speedup-chain"
COLUMNS = {"load": load.TEXT, "gamma": load.NUMBER, "factor": load.TEXT, "value": load.NUMBER,
           "standard_error": load.NUMBER}
_FACTORS = {"promised": "promised", "verification": "verification", "drafting": "drafting",
            "engine_overhead": "engine overhead", "plain_overhead": "overhead in both",
            "iteration_cost": "iteration cost", "measured": "measured"}
_TOTAL, _LOSS, _GAIN = ({"facecolor": style.TARGET}, {"facecolor": style.DRAFT},
                        {"facecolor": "white", "hatch": "//////"})
_EDGE = {"edgecolor": style.INK, "linewidth": 0.4}
_MOST_PANELS = 6
_MOST_TICKS = 6
_BAR_IN = 0.19
_TICKS, _FINE_TICKS = (sorted({k * 10.0**power for power in (-2, -1, 0, 1) for k in steps})
                       for steps in ((1, 1.5, 2, 3, 5, 7), (1, 1.1, 1.2, 1.3, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)))
_FEWEST_TICKS = 3


def figure(table):
    if not numpy.isfinite(table["value"]).any():
        raise load.BadFile(table.path, "no value of a factor to draw")
    loads = table.values("load")
    chains = {name: table.where(load=name) for name in loads}
    for name, chain in chains.items():
        _check(table.path, name, chain)
    shown = curves.thinned(loads, _MOST_PANELS)
    used = [factor for factor in _FACTORS if factor in table["factor"]]
    inner = table["value"][[factor not in ("promised", "measured") for factor in table["factor"]]]
    looks = {"speedup": _TOTAL, **({"loss": _LOSS} if (inner < 1).any() else {}),
             **({"gain": _GAIN} if (inner >= 1).any() else {})}
    drawn, grid = layout.panels("single_column" if len(shown) == 1 else "double_column", len(shown), min(3, len(shown)))
    every = [axes for axes in grid.flat if axes is not None]
    for axes, name in zip(every, shown):
        _draw_chain(axes, chains[name], used)
        gamma = chains[name]["gamma"][0]
        axes.set_title(style.value_text(name) + (f", γ = {style.value_text(gamma)}" if numpy.isfinite(gamma) else ""))
        axes.grid(visible=False, axis="y")
    _dress(every[0], every, used, [end for name in shown for end in _ends(chains[name])])
    layout.arrange(drawn, grid, 0.3 + _BAR_IN * len(used), "speedup over autoregressive decoding (bar: 95 %)",
                   "factors", [
        layout.Legend([Patch(**look, **_EDGE) for look in looks.values()], list(looks)),
        layout.Legend(*zip(curves.break_even_entry()))])
    return drawn


def _check(path, name, chain):
    unknown = [factor for factor in chain["factor"] if factor not in _FACTORS]
    if unknown:
        raise load.BadFile(path, f"factor: '{unknown[0]}' (must be {', '.join(_FACTORS)})")
    if len(chain) < 2 or chain["factor"][0] != "promised" or chain["factor"][-1] != "measured":
        raise load.BadFile(path, f"load '{name}' does not go from promised to measured")
    if not ((chain["value"] > 0) & numpy.isfinite(chain["value"])).all():
        raise load.BadFile(path, f"load '{name}': value must be > 0 and finite")


def _levels(chain):
    """The promised speedup, and the speedup after each factor."""
    return list(itertools.accumulate(chain["value"][:-1], lambda level, factor: level * factor))


def _ends(chain):
    """All values that bars and the interval include."""
    measured, half = chain["value"][-1], _half_interval(chain)
    return [*_levels(chain), measured + half, max(measured - half, measured / 2)]


def _draw_chain(axes, chain, used):
    levels = _levels(chain)
    at = {factor: place for place, factor in enumerate(used)}
    for factor, value, before, after in zip(chain["factor"][1:-1], chain["value"][1:-1], levels, levels[1:]):
        _draw_bar(axes, at[factor], before, after, _LOSS if after < before else _GAIN, f"×{value:.2f}")
    half = _half_interval(chain)
    for factor, value, error in (("promised", chain["value"][0], 0.0), ("measured", chain["value"][-1], half)):
        _draw_bar(axes, at[factor], 1.0, value, _TOTAL, f"{value:.2f}×", value + error)
    if half > 0:
        axes.errorbar([chain["value"][-1]], [at["measured"]], xerr=[half], color=style.INK, capsize=2,
                      elinewidth=0.8, capthick=0.8, zorder=3)


def _half_interval(chain):
    """The lengths of the 95 % interval on both sides of the measured speedup; 0 if unknown."""
    return curves.Z_95 * numpy.nan_to_num(chain["standard_error"][-1])


def _draw_bar(axes, place, start, end, look, text, text_from=0.0):
    axes.barh([place], [end - start], left=start, height=0.7, zorder=2, **look, **_EDGE)
    axes.annotate(text, (max(start, end, text_from), place), xytext=(4, 0), textcoords="offset points", ha="left",
                  va="center_baseline", size=style.SMALLEST_PT)


def _dress(first, every, used, levels):
    """One logarithmic axis with room for the texts, including break-even; the factors from top to bottom."""
    low, high = min([*levels, 1.0]) / 1.1, max([*levels, 1.0])
    right = high * (high / low)**0.35
    first.set_xscale("log")
    first.set_xlim(low, right)
    first.set_ylim(len(used) - 0.4, -0.6)
    for axes in every:
        curves.shade_losses(axes, low, upright=True)
    first.set_yticks(range(len(used)), [_FACTORS[factor] for factor in used])
    coarse, fine = ([tick for tick in ticks if low <= tick <= right] for ticks in (_TICKS, _FINE_TICKS))
    ticks = coarse if len(coarse) >= _FEWEST_TICKS else fine
    first.xaxis.set_major_locator(FixedLocator(curves.thinned(ticks, _MOST_TICKS)))
    first.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    first.xaxis.set_minor_locator(NullLocator())
    first.xaxis.set_minor_formatter(NullFormatter())
