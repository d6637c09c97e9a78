// SPDX-License-Identifier: Apache-2.0
#include "experiments/compare/comparison.hpp"

#include <nlohmann/json.hpp>

#include "core/streams.hpp"
#include "experiments/cli/progress.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/inputs/observed_acceptance.hpp"
#include "experiments/results/manifest.hpp"

namespace foredraft::experiments {
namespace {

std::vector<Requirement> read_requirements(CommandLine& line) {
  std::vector<Requirement> requirements;
  for (const std::string& text : line.all("require")) {
    auto parsed = parse_requirement(text, "--require");
    if (auto* problem = std::get_if<Problem>(&parsed)) {
      line.problems().add(std::move(*problem));
    } else {
      requirements.push_back(std::get<Requirement>(std::move(parsed)));
    }
  }
  return requirements;
}

/// All in one, so that no two may hold the same bytes.
ComparisonQuestion read_question(const CommandLine& line, std::vector<Requirement> requirements) {
  std::vector<std::string> paths = line.positional();
  if (const auto plain = line.texts("plain")) paths.insert(paths.end(), plain->begin(), plain->end());
  std::vector<logs::ObservedLog> logs = read_logs_with_progress(paths, "");
  ComparisonQuestion question{.reference = std::move(logs.front()), .requirements = std::move(requirements)};
  const std::size_t compared = line.positional().size();
  if (compared > 1) question.candidate = std::move(logs[1]);
  for (std::size_t i = compared; i < logs.size(); ++i) question.plain.push_back(std::move(logs[i]));
  return question;
}

}  // namespace

CommandSpec compare_spec() {
  return {
      .name = "compare",
      .arguments = "A [B] [--plain LOG,...] [--require 'METRIC>=X']... [--json]",
      .summary = "Compares two engine logs, or the runs of one: acceptance, times and speedup.",
      .options = {{"plain", "LOG,...", "logs of the same load without speculation, required for a speedup"},
                  {.name = "require",
                   .value = "R",
                   .summary = "METRIC>=X (or >, <=, <) of every run of B, without B of A; may be repeated",
                   .repeatable = true},
                  {"json", "", "one JSON document, schema foredraft.compare/1"}},
      .min_positional = 1,
      .max_positional = 2,
      .examples = {"foredraft compare old.log new.log", "foredraft compare eagle.json ngram.json --plain plain.json",
                   "foredraft compare new.log --require 'acceptance_length>=2.3'"},
      .notes =
          "METRIC: acceptance_length, iteration_ms, tpot_ms, speedup, output_tokens_per_s, marginal[1] (of the\n"
          "first draft), marginal[2], ... A requirement is met where all of the 95 % interval meets it.\n"
          "exit code 1: one is not met or not shown, or nothing can be compared\n"};
}

int run_compare(const std::vector<std::string>& arguments) {
  CommandLine line(compare_spec(), arguments);
  std::vector<Requirement> requirements = read_requirements(line);
  line.done();
  const Comparison comparison = compare(read_question(line, std::move(requirements)));
  print_result(line.has("json") ? document_text(to_json(comparison)) : to_text(comparison));
  return comparison.concludes() && comparison.meets_requirements() ? exit_done : exit_failed;
}

}  // namespace foredraft::experiments
