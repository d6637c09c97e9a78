// SPDX-License-Identifier: Apache-2.0
#include "experiments/commands/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <charconv>
#include <filesystem>

#include "core/streams.hpp"
#include "experiments/cli/progress.hpp"
#include "experiments/cli/scripts.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/sweep/run_points.hpp"
#include "experiments/sweep/run_sweep.hpp"
#include "experiments/sweep/summary.hpp"
#include "experiments/sweep/sweep_folder.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;

/// "points.csv  manifest.json  summary.{md,tex}  speedup.{pdf,svg,png,csv}"
std::string files_line(const std::string& folder, const Manifest& manifest) {
  std::string line = "points.csv";
  if (fs::exists(fs::path(folder) / "points.parquet")) line += "  points.parquet";
  line += "  manifest.json";
  const auto add = [&](const std::string& stem, const std::vector<std::string>& endings) {
    std::vector<std::string> there;
    for (const std::string& ending : endings) {
      if (fs::exists(fs::path(folder) / fmt::format("{}.{}", stem, ending))) there.push_back(ending);
    }
    if (!there.empty()) line += fmt::format("  {}.{{{}}}", stem, fmt::join(there, ","));
  };
  add("summary", {"md", "tex"});
  for (const Figure& figure : manifest.config.figures) add(figure.id, {"pdf", "svg", "png", "csv"});
  return line;
}

std::string shard_report(const Manifest& manifest) {
  const Shard& shard = manifest.shard.value();
  const PointRange range = shard_range(point_count(manifest.config), shard.index, shard.count);
  return fmt::format(
      "shard {}/{}: points {} to {} of {}; config {}\n"
      "wrote       points.csv  manifest.json\n"
      "next        foredraft merge DIR... --out DIR        (the folders of all {} shards)\n",
      shard.index, shard.count, range.first, range.last - 1, point_count(manifest.config), manifest.hash.substr(0, 8),
      shard.count);
}

}  // namespace

std::string sweep_report(const std::string& folder) {
  const Manifest manifest = read_manifest(folder);
  if (manifest.shard) return shard_report(manifest);
  const SweepSummary summary = summarize(manifest.config, points_path(folder));
  std::string text =
      headline(manifest.config, summary) + "\n\n" + summary.table.caption + "\n" + to_text(summary.table);
  for (const std::string& note : summary.notes) text += " * " + note + "\n";
  text += "\n";
  if (manifest.config.simulation) text += fmt::format("agreement   {}\n", to_text(summary.agreement));
  text += fmt::format("wrote       {}\n", files_line(folder, manifest));
  text += fmt::format("rerun       foredraft check {}        (repeats the run, compares every digest)\n", folder);
  return text;
}

bool wants_parquet(CommandLine& line) { return line.word("format", {"csv", "parquet"}) == "parquet"; }

namespace {

std::optional<Shard> read_shard(CommandLine& line) {
  const auto text = line.text("shard");
  if (!text) return std::nullopt;
  Shard shard{0, 0};
  const char* end = text->data() + text->size();
  const auto index = std::from_chars(text->data(), end, shard.index);
  const bool slash = index.ec == std::errc{} && index.ptr != end && *index.ptr == '/';
  const auto count = slash ? std::from_chars(index.ptr + 1, end, shard.count) : index;
  if (!slash || count.ec != std::errc{} || count.ptr != end || shard.index < 1 || shard.index > shard.count) {
    line.refuse("shard", fmt::format("invalid shard \"{}\"", *text), "must be i/n with 1 <= i <= n",
                "e.g. --shard 1/4");
    return std::nullopt;
  }
  return shard;
}

}  // namespace

CommandSpec sweep_spec() {
  return {
      .name = "sweep",
      .arguments = "CONFIG.toml --out DIR [options]",
      .summary =
          "Computes every combination of the axes of a configuration: closed form and simulation. Resumes by itself.",
      .options = {{"out", "DIR", "results folder: points.csv, manifest.json, summary and figures"},
                  threads_option,
                  {"shard", "i/n", "only the i-th of n parts; foredraft merge joins them"},
                  parquet_option,
                  {"no-figures", "", "only data: no figures"}},
      .min_positional = 1,
      .max_positional = 1,
      .examples = {"foredraft sweep experiments/configs/quickstart.toml --out results/quickstart",
                   "foredraft sweep big.toml --out results/part2 --shard 2/8 --threads 4"}};
}

int run_sweep_command(const std::vector<std::string>& arguments) {
  CommandLine line(sweep_spec(), arguments);
  line.require("out", "where the results go", "e.g. --out results/quickstart");
  const unsigned threads = line.threads();
  const auto shard = read_shard(line);
  const bool parquet = wants_parquet(line);
  if (parquet && shard)
    line.refuse("format", "parquet of a shard", "it is for whole sweeps", "give it to foredraft merge");
  line.done();
  if (parquet) check_parquet();
  const SweepConfig config = load_sweep_config(line.positional().front());
  const SweepOrder order{.folder = line.text("out").value(),
                         .shard = shard,
                         .threads = threads,
                         .command_line = line.words(),
                         .talk = true,
                         .stop = &catch_interrupts(default_patience)};
  if (shard && shard->count > point_count(config)) {
    throw InputError(
        fmt::format("foredraft sweep: --shard: {} shards of {} points (must be no more shards than points)",
                    shard->count, point_count(config)));
  }
  const SweepOutcome outcome = run_sweep(config, order);
  const bool draw = !line.has("no-figures") && !shard && !has_drawings(config, order.folder);
  if (outcome.already_complete) {
    say("{} is complete: {}", order.folder,
        outcome.figures_written || draw ? "the figures are made anew" : "nothing to do");
  }
  const PlotResult figures = draw ? draw_figures(order.folder) : PlotResult::drawn;
  if (parquet) write_parquet(order.folder);
  print_result(sweep_report(order.folder));
  return figures == PlotResult::failed ? exit_failed : exit_done;
}

}  // namespace foredraft::experiments
