# SPDX-License-Identifier: Apache-2.0
"""Latency against throughput over batches of sentences [Xia2023, Fig. 5]: a curve for each system, from batch 1
upwards; a panel for the device only and one for device and program."""

import numpy

from . import curves, layout, load, style

ID = "emnlp-figure5"
_FORM, _RUN = "analytic_latency_ms", "simulated_latency_ms"
COLUMNS = {"clock": load.TEXT, "system": load.TEXT, "batch": load.NUMBER, "tokens": load.NUMBER, _FORM: load.NUMBER,
           _RUN: load.NUMBER, f"{_RUN}_standard_error": load.NUMBER}


def figure(table):
    if not numpy.isfinite(table[_FORM]).any():
        raise load.BadFile(table.path, f"no value of {_FORM} to draw")
    clocks = table.values("clock")
    systems = curves.series_values(table, "system")
    looks = style.looks(len(systems))
    drawn, grid = layout.panels("double_column", len(clocks), len(clocks))
    for axes, clock in zip(grid[0], clocks):
        axes.set_title(style.plain(clock))
        for system, look in zip(systems, looks):
            _draw_system(axes, table.where(clock=clock, system=system).sorted_by("batch"), look)
        axes.set_xscale("log")
        axes.set_yscale("log")
    for axis in (grid[0, 0].xaxis, grid[0, 0].yaxis):
        curves.decimal_ticks(axis)
    layout.arrange(drawn, grid, 2.4, "throughput (tokens/s)", "latency of a sentence (ms)", [
        layout.Legend([curves.series_handle(look) for look in looks], [style.plain(system) for system in systems]),
        layout.Legend([curves.closed_form_handle(), curves.simulated_handle(grid[0, 0])],
                      ["closed form, batches " + _batches(table), "simulated, 95 %"])])
    return drawn


def _batches(table):
    """The batches in words; each is twice the one before, so that they can be counted along the marks of a curve."""
    batches = table.values("batch")
    return f"{style.value_text(batches[0])}, {style.value_text(batches[1])}, … {style.value_text(batches[-1])}"


def _draw_system(axes, rows, look):
    form = 1e3 * rows["tokens"] / rows[_FORM]
    curves.closed_form(axes, form, rows[_FORM], look)
    simulated = numpy.isfinite(rows[_RUN])
    # Curves that were not simulated keep a mark for every batch.
    axes.plot(form[~simulated], rows[_FORM][~simulated], linestyle="none", color=look.color, marker=look.marker,
              markersize=0.7 * style.MARKER_PT * look.scale, zorder=3)
    curves.simulated(axes, 1e3 * rows["tokens"] / rows[_RUN], rows[_RUN], rows[f"{_RUN}_standard_error"], look)
