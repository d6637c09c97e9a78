// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <optional>

#include "app/commands/commands.hpp"
#include "app/scripts.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "core/table.hpp"
#include "experiments/reproduce/registry.hpp"
#include "experiments/reproduce/reproduction.hpp"
#include "experiments/results/manifest.hpp"

namespace foredraft::app {
namespace {

std::string inventory() {
  std::string text;
  for (const experiments::ExperimentEntry& entry : experiments::experiment_registry())
    text += fmt::format("{:<20} {}\n", entry.id, entry.summary);
  return text;
}

std::vector<std::string> experiment_ids() {
  return texts_of(experiments::experiment_registry(), &experiments::ExperimentEntry::id);
}

/// "manifest.json  leviathan-table1.{csv,tex,md}  scorecard.csv", or only the number of files if there are many.
std::string files_text(const std::vector<std::string>& files) {
  constexpr std::size_t max_named = 12;
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const std::string& file : files) {
    const auto dot = file.rfind('.');
    const std::string stem = file.substr(0, dot);
    if (groups.empty() || groups.back().first != stem) groups.push_back({stem, {}});
    groups.back().second.push_back(file.substr(dot + 1));
  }
  if (groups.size() > max_named) {
    return fmt::format("manifest.json  scorecard.csv  and the data of {} tables and figures (csv, tex, md)",
                       groups.size() - 2);
  }
  std::string text;
  for (const auto& [stem, endings] : groups) {
    text += (text.empty() ? "" : "  ") + stem + ".";
    text += endings.size() == 1 ? endings.front() : fmt::format("{{{}}}", fmt::join(endings, ","));
  }
  return text;
}

int run_reproduce(CommandLine& line) {
  if (line.has("list")) {
    line.done();
    print_result(inventory());
    return exit_done;
  }
  line.require("out", "where the results go", "e.g. --out results/papers");
  const auto seed = static_cast<std::uint64_t>(line.integer("seed", 0, std::int64_t{1} << 53U).value_or(1));
  const unsigned threads = line.threads();
  line.done();
  const auto chosen = experiments::chosen_experiments(line.positional(), line.has("all"));
  std::optional<experiments::ExperimentResult> validation;
  if (const auto measured = line.text("validation")) validation = experiments::validation_artifacts(*measured);

  const experiments::ExperimentSettings settings{.seed = seed,
                                                 .threads = threads,
                                                 .note = [](std::string_view text) { say("  {}", text); },
                                                 .stop = &catch_interrupts(default_patience)};
  experiments::ResultFolder folder(line.text("out").value(), experiments::reproduction_kind(chosen, seed), line.words(),
                                   threads);
  std::size_t begun = 0;
  const auto run = [&](const experiments::ExperimentEntry& entry, const experiments::ExperimentSettings& with) {
    say("[{}/{}] {}: {}", ++begun, chosen.size(), entry.id, entry.summary);
    experiments::ExperimentResult result =
        in_phase(std::string(entry.id), [&] { return experiments::run_experiment(entry, with); });
    print_result(fmt::format("{:<18} {}\n", entry.id, result.text));
    return result;
  };
  const std::vector<experiments::ScorecardRow> rows = experiments::rows_of(experiments::reproduce(
      {.experiments = chosen, .settings = settings, .validation = validation, .folder = &folder}, run));
  print_result(fmt::format("{}\nwrote   {}\n", experiments::summary_line(rows), files_text(folder.files())));
  if (!line.has("no-figures")) {
    const bool figures = validation || std::ranges::any_of(chosen, [](const auto& entry) { return entry.has_figure; });
    const PlotResult drawn = figures ? draw_figures(folder.path()) : write_report(folder.path());
    if (drawn == PlotResult::failed) return exit_failed;
  }
  return experiments::any_failed(rows) ? exit_failed : exit_done;
}

}  // namespace

Command reproduce_command() {
  return {{.name = "reproduce",
           .arguments = "[--list] [--all | ID ...] --out DIR [options]",
           .summary = "Reproduces the papers' tables and figures: each printed number beside ours, and a scorecard.",
           .options = {{"all", "", "run every experiment"},
                       {"list", "", "list the experiments"},
                       {"out", "DIR", "results folder: tables, figure data, scorecard.csv, manifest.json, figures"},
                       {"seed", "S", "random seed of every simulation (default 1)"},
                       threads_option,
                       {"validation", "DIR", "folder of foredraft validate, to add this machine to the report"},
                       {"no-figures", "", "only data: no figures, no report.html"}},
           .min_positional = 0,
           .max_positional = 1000,
           .examples = {"foredraft reproduce --all --out results/papers",
                        "foredraft reproduce leviathan-table1 leviathan-table2 --out results/leviathan"},
           .words = experiment_ids},
          run_reproduce};
}

}  // namespace foredraft::app
