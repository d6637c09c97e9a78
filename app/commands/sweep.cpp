// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <charconv>
#include <filesystem>

#include "app/commands/commands.hpp"
#include "app/scripts.hpp"
#include "core/files.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "experiments/sweep/point.hpp"
#include "experiments/sweep/repeat_run.hpp"
#include "experiments/sweep/run_sweep.hpp"
#include "experiments/sweep/summary.hpp"
#include "experiments/sweep/sweep_folder.hpp"

/// The commands of sweeps and of their folders: sweep, merge, check, plot.
namespace foredraft::app {
namespace {

namespace fs = std::filesystem;

/// "points.csv  manifest.json  summary.{md,tex}  speedup.{pdf,svg,png,csv}"
std::string files_line(const std::string& folder, const std::vector<experiments::Figure>& figures) {
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
  for (const experiments::Figure& figure : figures) add(figure.id, {"pdf", "svg", "png", "csv"});
  return line;
}

std::string shard_report(const experiments::Manifest& manifest) {
  const Shard& shard = manifest.shard.value();
  const experiments::PointRange range = experiments::range_of(manifest.points, shard);
  return fmt::format(
      "shard {}/{}: points {} to {} of {}; config {}\n"
      "wrote       points.csv  manifest.json\n"
      "next        foredraft merge DIR... --out DIR        (the folders of all {} shards)\n",
      shard.index, shard.count, range.first, range.last - 1, manifest.points, manifest.hash.substr(0, 8), shard.count);
}

std::string sweep_report(const std::string& folder) {
  const experiments::StoredManifest manifest = experiments::read_manifest(folder);
  if (manifest.shard) return shard_report(manifest);
  const experiments::Sweep sweep = experiments::sweep_of(manifest.config);
  const experiments::SweepSummary summary = experiments::summarize(sweep.points, experiments::points_path(folder));
  std::string text = experiments::headline(sweep, manifest.hash, summary) + "\n\n" + summary.table.caption + "\n" +
                     to_text(summary.table);
  for (const std::string& note : summary.notes) text += " * " + note + "\n";
  text += "\n";
  if (sweep.simulation) text += fmt::format("agreement   {}\n", to_text(summary.agreement));
  return text + fmt::format(
                    "wrote       {}\nrerun       foredraft check {}        (repeats the run, compares every "
                    "digest)\n",
                    files_line(folder, sweep.figures), folder);
}

const OptionSpec parquet_option{"format", "csv|parquet", "parquet: points.parquet beside points.csv; needs pyarrow"};

bool wants_parquet(CommandLine& line) { return line.word("format", {"csv", "parquet"}) == "parquet"; }

std::optional<Shard> read_shard(CommandLine& line) {
  const auto text = line.text("shard");
  if (!text) return std::nullopt;
  Shard shard{0, 0};
  const char* end = text->data() + text->size();
  const auto index = std::from_chars(text->data(), end, shard.index);
  const bool slash = index.ec == std::errc{} && index.ptr != end && *index.ptr == '/';
  const auto count = slash ? std::from_chars(index.ptr + 1, end, shard.count) : index;
  if (!slash || count.ec != std::errc{} || count.ptr != end || shard.index < 1 || shard.index > shard.count) {
    line.reject("shard", fmt::format("invalid shard \"{}\"", *text), "must be i/n with 1 <= i <= n",
                "e.g. --shard 1/4");
    return std::nullopt;
  }
  return shard;
}

void say_complete(const std::string& folder, bool figures) {
  say("{} is complete: {}", folder, figures ? "the figures are drawn again" : "nothing to do");
}

/// What sweep and merge do with a complete results folder. Returns an exit code.
int finish(const std::string& folder, bool draw, bool parquet) {
  const PlotResult figures = draw ? draw_figures(folder) : PlotResult::drawn;
  if (parquet) write_parquet(folder);
  print_result(sweep_report(folder));
  return figures == PlotResult::failed ? exit_failed : exit_done;
}

int run_sweep_command(CommandLine& line) {
  line.require("out", "where the results go", "e.g. --out results/quickstart");
  const unsigned threads = line.threads();
  const auto shard = read_shard(line);
  const bool parquet = wants_parquet(line);
  if (parquet && shard)
    line.reject("format", "parquet of a shard", "it is for whole sweeps", "give it to foredraft merge");
  line.done();
  if (parquet) check_parquet();
  const experiments::SweepConfig config = experiments::load_sweep_config(line.positional().front());
  const std::string folder = line.text("out").value();
  if (const std::uint64_t points = point_count(config); shard && shard->count > points) {
    throw InputError(fmt::format(
        "foredraft sweep: --shard: {} shards of {} points (must be no more shards than points)", shard->count, points));
  }
  const SweepOptions options{
      .threads = threads, .shard = shard, .stop = &catch_interrupts(default_patience), .command_line = line.words()};
  const experiments::SweepOutcome outcome = experiments::run_sweep(config, folder, options, true);
  const bool draw = !line.has("no-figures") && !shard && !experiments::has_drawings(config.figures, folder);
  if (outcome.result.already_complete) say_complete(folder, outcome.figures_written || draw);
  return finish(folder, draw, parquet);
}

int run_merge(CommandLine& line) {
  line.require("out", "where the whole sweep goes", "e.g. --out results/whole");
  const bool parquet = wants_parquet(line);
  line.done();
  if (parquet) check_parquet();
  const std::string folder = line.text("out").value();
  const experiments::MergedSweep merged =
      experiments::merge_shards(line.positional(), folder, line.words(), &catch_interrupts(default_patience));
  const bool draw = !line.has("no-figures") && !experiments::has_drawings(merged.figures, folder);
  if (merged.result.already_complete) say_complete(folder, draw);
  return finish(folder, draw, parquet);
}

int run_check(CommandLine& line) {
  const unsigned threads = line.threads();
  line.done();
  const std::string& folder = line.positional().front();
  const experiments::RepeatedRun run = experiments::repeat_run(folder, {.threads = threads, .talk = true});
  print_result(fmt::format("{}: {} points repeated, every byte and every digest agrees; config {}\n", folder,
                           run.points, run.hash.substr(0, 8)));
  return exit_done;
}

int run_plot(CommandLine& line) {
  line.done();
  const std::string& folder = line.positional().front();
  experiments::require_results_folder(folder);
  static_cast<void>(catch_interrupts());  // before anything is written
  const WriteLock lock = WriteLock::of_folder(folder);
  return draw_figures(folder) == PlotResult::drawn ? exit_done : exit_failed;
}

}  // namespace

Command sweep_command() {
  return {{.name = "sweep",
           .arguments = "CONFIG.toml --out DIR [options]",
           .summary = "Computes every combination of the axes of a configuration: closed form and simulation. Resumes "
                      "an interrupted run.",
           .options = {{"out", "DIR", "results folder: points.csv, manifest.json, summary and figures"},
                       threads_option,
                       {"shard", "i/n", "only the i-th of n parts; foredraft merge joins them"},
                       parquet_option,
                       {"no-figures", "", "only data: no figures"}},
           .min_positional = 1,
           .max_positional = 1,
           .examples = {"foredraft sweep experiments/configs/quickstart.toml --out results/quickstart",
                        "foredraft sweep big.toml --out results/part2 --shard 2/8 --threads 4"}},
          run_sweep_command};
}

Command merge_command() {
  return {{.name = "merge",
           .arguments = "DIR... --out DIR [options]",
           .summary = "Joins the shards of a sweep into the same bytes as a run without shards.",
           .options = {{"out", "DIR", "results folder of the whole sweep"},
                       parquet_option,
                       {"no-figures", "", "only data: no figures"}},
           .min_positional = 1,
           .max_positional = 1'000'000,
           .examples = {"foredraft merge results/part1 results/part2 results/part3 --out results/whole"}},
          run_merge};
}

Command check_command() {
  return {{.name = "check",
           .arguments = "DIR [--threads N]",
           .summary = "Repeats the run of a results folder and compares every row and digest. Writes nothing.",
           .options = {threads_option},
           .min_positional = 1,
           .max_positional = 1,
           .examples = {"foredraft check results/quickstart"}},
          run_check};
}

Command plot_command() {
  return {{.name = "plot",
           .arguments = "DIR",
           .summary = "Draws the figures and the report of a results folder again (needs Python with matplotlib).",
           .options = {},
           .min_positional = 1,
           .max_positional = 1,
           .examples = {"foredraft plot results/quickstart"}},
          run_plot};
}

}  // namespace foredraft::app
