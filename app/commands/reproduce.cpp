// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/commands/commands.hpp"
#include "app/scripts.hpp"
#include "core/digest.hpp"
#include "core/files.hpp"
#include "core/problems.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "core/table.hpp"
#include "experiments/reproduce/registry.hpp"
#include "experiments/results/manifest.hpp"
#include "experiments/sweep/point.hpp"
#include "foredraft/errors.hpp"

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

/// The experiments that were asked for, in the order of the registry. Throws InputError with every unknown name.
std::vector<experiments::ExperimentEntry> selection(const std::vector<std::string>& wanted, bool all) {
  const std::vector<std::string> known = experiment_ids();
  ProblemList problems("foredraft reproduce");
  for (const std::string& id : wanted) {
    if (std::ranges::find(known, id) == known.end()) {
      problems.add({.key = id, .text = "unknown experiment", .suggestion = suggestion_for(id, known, "experiments")});
    }
  }
  if (wanted.empty() && !all) {
    problems.add({.text = "no experiment named",
                  .suggestion = "--all, or some of: " + fmt::format("{}", fmt::join(known, ", "))});
  }
  problems.raise();
  std::vector<experiments::ExperimentEntry> chosen;
  std::ranges::copy_if(experiments::experiment_registry(), std::back_inserter(chosen),
                       [&](const experiments::ExperimentEntry& entry) {
                         return all || std::ranges::find(wanted, entry.id) != wanted.end();
                       });
  return chosen;
}

/// An argument out of its domain is the user's mistake elsewhere; here, after a manifest was written, the run failed.
experiments::ExperimentResult run_experiment(const experiments::ExperimentEntry& entry,
                                             const experiments::ExperimentSettings& settings) {
  try {
    return entry.run(settings);
  } catch (const DomainError& error) {
    throw RunError(fmt::format("foredraft reproduce: {}: {}", entry.id, error.what()));
  }
}

/// What a folder of `reproduce` is: these experiments at this seed.
experiments::ResultFolder::Kind reproduction_kind(const std::vector<experiments::ExperimentEntry>& experiments,
                                                  std::uint64_t seed) {
  nlohmann::ordered_json ids = nlohmann::ordered_json::array();
  nlohmann::ordered_json summaries = nlohmann::ordered_json::object();
  for (const experiments::ExperimentEntry& experiment : experiments) {
    ids.push_back(experiment.id);
    summaries[experiment.id] = experiment.summary;
  }
  return {.schema = "foredraft.reproduction/1",
          .content = {{"experiments", ids}, {"seed", seed}},
          .notes = {{"summaries", summaries}}};
}

/// Writes the artifacts of one experiment and remembers its inputs.
void add_result(experiments::ResultFolder& folder, const experiments::ExperimentResult& result) {
  for (const experiments::Artifact& artifact : result.artifacts) folder.write(artifact.name, artifact.content);
  for (const FileDigest& file : result.inputs) folder.add_input(file);
}

/// What `validate` left in a folder, as the artifacts of an experiment. Throws InputError where it left nothing.
experiments::ExperimentResult validation_of(const std::string& folder) {
  experiments::ExperimentResult result;
  for (const auto& [from, to] : {std::pair{"validation.csv", "validation.csv"}, {"manifest.json", "validation.json"}}) {
    const std::string path = (std::filesystem::path(folder) / from).string();
    result.artifacts.push_back({to, read_result_file(path)});
    result.inputs.push_back(digest_text(path, result.artifacts.back().content));
  }
  return result;
}

/// "manifest.json  leviathan-table1.{csv,tex,md}  scorecard.csv", or only the number of many.
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
  const auto chosen = selection(line.positional(), line.has("all"));
  std::optional<experiments::ExperimentResult> validation;
  if (const auto measured = line.text("validation")) validation = validation_of(*measured);

  const std::atomic<bool>& stop = catch_interrupts(default_patience);
  experiments::ResultFolder folder(line.text("out").value(), reproduction_kind(chosen, seed), line.words(), threads);
  const experiments::ExperimentSettings settings{
      .seed = seed, .threads = threads, .note = [](std::string_view text) { say("  {}", text); }, .stop = &stop};
  std::vector<experiments::ScorecardRow> rows;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (stop) throw Interrupted();
    say("[{}/{}] {}: {}", i + 1, chosen.size(), chosen[i].id, chosen[i].summary);
    const experiments::ExperimentResult result =
        in_phase(std::string(chosen[i].id), [&] { return run_experiment(chosen[i], settings); });
    add_result(folder, result);
    rows.insert(rows.end(), result.rows.begin(), result.rows.end());
    print_result(fmt::format("{:<18} {}\n", chosen[i].id, result.text));
  }
  if (stop) throw Interrupted();
  if (validation) add_result(folder, *validation);
  folder.write("scorecard.csv", to_csv(rows));
  folder.complete();
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
