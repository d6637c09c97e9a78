// SPDX-License-Identifier: Apache-2.0
#include "app/predict/acceptance_options.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <string_view>
#include <utility>

#include "analytic/tokens/token_count.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/cost.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"

namespace foredraft::app {
namespace {

constexpr std::int64_t longest_predicted_draft = 1'000'000'000'000;

/// The ways to state an acceptance, except --process, which may be combined with one of them.
const std::vector<std::string_view> ways_of_acceptance{
    "alpha",      "conditional", "marginal",  "acceptance-length", "accepted-over-drafted",
    "accuracies", "edit-rate",   "acceptance"};

std::ptrdiff_t stated_acceptances(const CommandLine& line) {
  return std::ranges::count_if(ways_of_acceptance, [&](std::string_view way) { return line.has(way); });
}

/// Returns whether acceptance is stated. Reports a problem unless it is stated in exactly one way.
bool require_one_acceptance(CommandLine& line) {
  const auto given = stated_acceptances(line);
  if (given == 0 && line.has("process")) {
    if (line.text("process") == scenario::name_of(AcceptanceProcess(Trace{}))) {
      line.reject("process", "trace has no closed form", "it is replayed",
                  "use foredraft simulate with a configuration");
      line.done();
    }
    return true;
  }
  if (given == 0) {
    line.require("alpha", "or --conditional, --marginal, --acceptance-length: how often drafts are accepted",
                 "e.g. --alpha 0.8");
  } else if (given > 1) {
    line.reject_any(ways_of_acceptance, "more than one of them", "acceptance is stated once", "keep one");
    line.done();
  }
  return given == 1;
}

/// The alpha that explains a measured acceptance length.
double invert_acceptance_length(CommandLine& line, const answers::Question& question, Convention convention) {
  line.require("gamma", "alpha follows from an acceptance length only with the gamma at which it was measured",
               "add --gamma G");
  if (!question.gamma) return 0.0;
  const auto maximum = static_cast<double>(max_tokens(*question.gamma, convention));
  if (*question.gamma < 1 || *question.acceptance_length < 1.0 || *question.acceptance_length > maximum) {
    line.reject("acceptance-length", fmt::format("invalid acceptance-length={}", *question.acceptance_length),
                fmt::format("must lie in [1, {}] at gamma {}", maximum, *question.gamma),
                "it includes the corrected or bonus token");
    return 0.0;
  }
  return analytic::alpha_from_acceptance_length(*question.acceptance_length, *question.gamma, convention);
}

/// The alpha that explains a fraction of accepted drafts, which does not depend on the bonus token.
double invert_accepted_over_drafted(CommandLine& line, const answers::Question& question) {
  if (!question.gamma || *question.gamma < 1) {
    line.require("gamma", "alpha follows from this rate only with the gamma at which it was measured", "add --gamma G");
    return 0.0;
  }
  return analytic::alpha_from_acceptance_length(
      1.0 + static_cast<double>(*question.gamma) * *question.accepted_over_drafted, *question.gamma, Convention::bonus);
}

}  // namespace

OptionGroup acceptance_options() {
  OptionGroup group{
      "acceptance and draft length",
      {{"alpha", "A,...", "acceptance rate of a draft, in [0, 1]; a list gives one row per value"},
       {"acceptance-length", "X", "or: measured tokens per iteration at --gamma; alpha is computed from it"},
       {"accepted-over-drafted", "R", "or: accepted over drafted tokens at --gamma; alpha is computed from it"},
       {"acceptance-rate", "R", "the same, under the name that engines log"},
       {"acceptance", "FILE", "or: an engine log, or an observations file of foredraft import"},
       {"measured-speedup", "S", "find the alpha that explains it; with --alpha, the c; with both, the overhead"},
       {"gamma", "G", "drafted tokens per iteration (default: the best); with a policy or a device the maximum"}}};
  const auto add_before = [&group](std::string_view option, const std::vector<OptionSpec>& added) {
    group.options.insert(std::ranges::find(group.options, option, &OptionSpec::name), added.begin(), added.end());
  };
  add_before("acceptance-length", positional_options());
  add_before("measured-speedup", process_options());
  return group;
}

bool states_acceptance(const CommandLine& line) { return line.has("process") || stated_acceptances(line) > 0; }

answers::Question read_question(CommandLine& line, const OptionFamilies& read) {
  const bool stated_acceptance = require_one_acceptance(line);
  answers::Question question;
  question.gamma = line.integer("gamma", 0, longest_predicted_draft);
  question.acceptance_length = line.real("acceptance-length", 1.0, unlimited);
  question.accepted_over_drafted = line.real("accepted-over-drafted", 0.0, 1.0);
  // The gamma of a scenario is limited to what can be simulated. Here it may be larger, or the best one is sought.
  const auto longest = static_cast<std::int64_t>(scenario::find_parameter("gamma")->range.maximum);
  std::vector<StatedValue> stated{{"gamma", std::min(question.gamma.value_or(1), longest)}};
  if (question.acceptance_length) {
    const auto convention = parse_convention(line.text("convention").value_or("")).value_or(Convention::bonus);
    stated.push_back({"alpha", invert_acceptance_length(line, question, convention)});
  }
  if (question.accepted_over_drafted) stated.push_back({"alpha", invert_accepted_over_drafted(line, question)});
  if (!stated_acceptance) stated.push_back({"alpha", std::nullopt});
  if (const auto log = line.text("acceptance")) {
    line.reject_any({"process"}, "mutually exclusive with --acceptance", "the log determines the process",
                    "remove one");
    stated.push_back({"process", std::string(scenario::name_of(AcceptanceProcess(Observed{})))});
    stated.push_back({"process.file", *log});
  }
  const std::optional<Scenario> scenario = read_scenario(line, stated, read);
  if (!scenario) return question;
  question.scenario = *scenario;
  question.scenario.gamma = question.gamma.value_or(0);
  auto* positional = std::get_if<Positional>(&std::get<ProcessFidelity>(question.scenario.fidelity).acceptance);
  if (positional != nullptr && line.has("marginal")) positional->marginal = line.probabilities("marginal").value();
  if (scenario::gamma_varies(question.scenario)) line.require("gamma", "the longest draft", "e.g. --gamma 20");
  return question;
}

std::vector<CommandLine> combinations(CommandLine& line) {
  std::vector<CommandLine> lines{line};
  for (const char* option : {"alpha", "c"}) {
    const auto values = line.texts(option);
    if (!values || values->size() < 2) continue;
    std::vector<CommandLine> more;
    for (const CommandLine& one : lines) {
      for (const std::string& value : *values) more.emplace_back(one).replace(option, value);
    }
    lines = std::move(more);
  }
  if (lines.size() > 1 && line.has("acceptance")) {
    line.reject_any({"c"}, "a list", "a log needs one cost", "give one value");
    line.done();
  }
  return lines;
}

}  // namespace foredraft::app
