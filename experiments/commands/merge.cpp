// SPDX-License-Identifier: Apache-2.0
#include "core/streams.hpp"
#include "experiments/cli/progress.hpp"
#include "experiments/cli/scripts.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/commands/sweep.hpp"
#include "experiments/sweep/merge_shards.hpp"
#include "experiments/sweep/summary.hpp"

namespace foredraft::experiments {

CommandSpec merge_spec() {
  return {.name = "merge",
          .arguments = "DIR... --out DIR [options]",
          .summary = "Joins the shards of a sweep into the same bytes as a run without shards.",
          .options = {{"out", "DIR", "results folder of the whole sweep"},
                      parquet_option,
                      {"no-figures", "", "only data: no figures"}},
          .min_positional = 1,
          .max_positional = 1'000'000,
          .examples = {"foredraft merge results/part1 results/part2 results/part3 --out results/whole"}};
}

int run_merge(const std::vector<std::string>& arguments) {
  CommandLine line(merge_spec(), arguments);
  line.require("out", "where the whole sweep goes", "e.g. --out results/whole");
  const bool parquet = wants_parquet(line);
  line.done();
  if (parquet) check_parquet();
  const std::string folder = line.text("out").value();
  const MergedSweep merged = merge_shards(line.positional(), folder, line.words(), &catch_interrupts(default_patience));
  const bool draw = !line.has("no-figures") && !has_drawings(merged.config, folder);
  if (merged.already_complete) {
    say("{} is complete: {}", folder, draw ? "the figures are made anew" : "nothing to do");
  }
  const PlotResult figures = draw ? draw_figures(folder) : PlotResult::drawn;
  if (parquet) write_parquet(folder);
  print_result(sweep_report(folder));
  return figures == PlotResult::failed ? exit_failed : exit_done;
}

}  // namespace foredraft::experiments
