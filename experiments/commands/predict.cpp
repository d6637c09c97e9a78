// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "analytic/tokens/acceptance_definitions.hpp"
#include "core/streams.hpp"
#include "experiments/cli/exit_codes.hpp"
#include "experiments/cli/scenario_options.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/commands/deployment_options.hpp"
#include "experiments/commands/predict_from_profile.hpp"
#include "experiments/predict/prediction.hpp"
#include "experiments/predict/varying_prediction.hpp"
#include "experiments/results/manifest.hpp"
#include "scenario/cost.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::int64_t longest_predicted_draft = 1'000'000'000'000;

/// Acceptance is stated in exactly one way; whether it is stated.
bool require_one_acceptance(CommandLine& line) {
  const std::vector<std::string_view> ways{"alpha",      "conditional", "marginal", "acceptance-length",
                                           "accuracies", "edit-rate"};
  const auto given = std::count_if(ways.begin(), ways.end(), [&](std::string_view way) { return line.has(way); });
  if (given == 0) {
    line.require("alpha", "or --conditional, --marginal, --acceptance-length: how often drafts are accepted",
                 "e.g. --alpha 0.8");
  } else if (given > 1) {
    line.refuse_any(ways, "more than one of them", "acceptance is stated once", "keep one");
    line.done();
  }
  return given == 1;
}

/// The alpha behind a measured acceptance length.
double invert_acceptance_length(CommandLine& line, const Question& question, Convention convention) {
  if (!question.gamma) {
    line.require("gamma", "an acceptance length says something about alpha only at the gamma it was measured at",
                 "add --gamma G");
    return 0.0;
  }
  const auto most = static_cast<double>(max_tokens(*question.gamma, convention));
  if (*question.gamma < 1 || *question.acceptance_length < 1.0 || *question.acceptance_length > most) {
    line.refuse("acceptance-length", fmt::format("invalid acceptance-length={}", *question.acceptance_length),
                fmt::format("must lie in [1, {}] at gamma {}", most, *question.gamma),
                "it counts the corrected or bonus token too");
    return 0.0;
  }
  return analytic::alpha_from_acceptance_length(*question.acceptance_length, *question.gamma, convention);
}

/// What the options say, beside what is `known` already. ProblemList go to the line.
Question read_question(CommandLine& line, const std::vector<StatedValue>& known) {
  const bool stated_acceptance = require_one_acceptance(line);
  Question question;
  question.gamma = line.integer("gamma", 0, longest_predicted_draft);
  question.acceptance_length = line.real("acceptance-length", 1.0, unlimited);
  // A scenario has a gamma that can be simulated; here it may be longer, or be sought.
  const auto longest = static_cast<std::int64_t>(scenario::find_parameter("gamma")->range.maximum);
  std::vector<StatedValue> stated = known;
  stated.push_back({"gamma", std::min(question.gamma.value_or(1), longest)});
  if (question.acceptance_length) {
    const auto convention = parse_convention(line.text("convention").value_or("")).value_or(Convention::bonus);
    stated.push_back({"alpha", invert_acceptance_length(line, question, convention)});
  }
  if (!stated_acceptance) stated.push_back({"alpha", std::nullopt});
  const std::optional<Scenario> scenario = read_scenario(line, stated);
  if (!scenario) return question;
  question.scenario = *scenario;
  question.scenario.gamma = question.gamma.value_or(0);
  auto* positional = std::get_if<Positional>(&std::get<ProcessFidelity>(question.scenario.fidelity).acceptance);
  if (positional != nullptr && line.has("marginal")) positional->marginal = line.probabilities("marginal").value();
  if (scenario::gamma_varies(question.scenario)) line.require("gamma", "the longest draft", "e.g. --gamma 20");
  return question;
}

}  // namespace

CommandSpec predict_spec() {
  return {
      .name = "predict",
      .arguments = "--alpha A --c C [--gamma G] [options]",
      .summary = "Tokens per iteration, speedup and the best draft length by closed form.",
      .options = {{"convention", "V", "bonus: 1 to gamma + 1 tokens (default); no_bonus: 1 to gamma"},
                  {"operations-ratio", "R", "operations of one draft step over one target step"},
                  {"json", "", "one JSON document, schema foredraft.predict/1"}},
      .fewest_positional = 0,
      .most_positional = 0,
      .examples =
          {"foredraft predict --alpha 0.8 --gamma 5 --c 0.05 --operations-ratio 0.05",
           "foredraft predict --marginal 0.74,0.49,0.305 --c 0.19 --json",
           "foredraft predict --acceptance-length 2.5 --gamma 3 --c 0.05",
           "foredraft predict --alpha 0.9 --gamma 25 --drafter block --step-ms 9 --draft-ms 10 --verify-ms 9",
           "foredraft predict --alpha 0.8 --policy plus2_minus1 --gamma 50 --c 0.05",
           "foredraft predict --device h100 --target llama-3.1-8b --draft llama-3.2-1b --alpha 0.7 --batch 1,64",
           "foredraft predict --drafter input_copy --edit-rate 0.05 --realign 2 --gamma 100 --c 0"},
      .groups = {{"acceptance and draft length",
                  {{"alpha", "A", "expected acceptance of a draft, in [0, 1]"},
                   {"conditional", "a1,a2,...", "or: acceptance of draft i given all before it accepted"},
                   {"marginal", "m1,m2,...", "or: draft i and all before it accepted, as engines log it"},
                   {"acceptance-length", "X", "or: measured tokens per iteration at --gamma, from which alpha follows"},
                   {"gamma", "G", "drafted tokens per iteration; without it the best; under a policy the most"}}},
                 cost_options(),
                 drafting_options(),
                 profile_options(),
                 deployment_options()}};
}

int run_predict(const std::vector<std::string>& arguments) {
  CommandLine line(predict_spec(), arguments);
  if (line.wants_help()) {
    print_result(help_text(predict_spec()));
    return exit_done;
  }
  const bool of_device = line.has("device") || line.has("profile") || line.has("steps-file");
  of_device ? line.convert("overhead-ms", "overhead-us", 1e3) : line.convert("overhead-us", "overhead-ms", 1e-3);
  const bool from_profile = takes_profile(line);
  const Question question =
      read_question(line, from_profile ? parameters_of_profiles(line) : std::vector<StatedValue>{});
  if (from_profile) return predict_from_profile(line, question);
  const Scenario& scenario = question.scenario;
  if (!states_times(line)) {
    line.require("c", "draft/target time of one step; or --step-ms, --draft-ms and --verify-ms", "e.g. --c 0.05");
  }
  line.done();
  if (scenario::gamma_varies(scenario)) {
    print_result(line.has("json") ? document_text(varying_prediction_json(scenario))
                                  : varying_prediction_text(scenario));
    return exit_done;
  }
  const analytic::Prediction prediction = analytic::predict(scenario, question.gamma);
  print_result(line.has("json") ? document_text(to_json(question, prediction)) : to_text(question, prediction));
  return exit_done;
}

}  // namespace foredraft::experiments
