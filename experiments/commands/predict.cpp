// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analytic/tokens/acceptance_definitions.hpp"
#include "analytic/tokens/drafter_acceptance.hpp"
#include "analytic/tokens/token_law.hpp"
#include "core/streams.hpp"
#include "experiments/cli/cost_options.hpp"
#include "experiments/cli/drafting_options.hpp"
#include "experiments/cli/exit_codes.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/commands/predict_from_profile.hpp"
#include "experiments/predict/prediction.hpp"
#include "experiments/predict/varying_prediction.hpp"
#include "experiments/sweep/drafting_law.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::int64_t longest_asked_draft = 1'000'000'000'000;

/// Exactly one of the ways to state acceptance.
void require_one_acceptance(CommandLine& line) {
  std::string given;
  int count = 0;
  for (const std::string_view name :
       {"alpha", "conditional", "marginal", "acceptance-length", "accuracies", "edit-rate"}) {
    if (!line.has(name)) continue;
    ++count;
    given = name;
  }
  if (count == 0) {
    line.require("alpha", "or --conditional, --marginal, --acceptance-length: how often drafts are accepted",
                 "e.g. --alpha 0.8");
  } else if (count > 1) {
    line.refuse(given, "given beside another", "acceptance is stated once",
                "keep one of --alpha, --conditional, --marginal, --acceptance-length, --accuracies, --edit-rate");
  }
}

std::vector<double> read_marginal(CommandLine& line) {
  if (const auto conditional = line.probabilities("conditional")) {
    return analytic::marginal_from_conditional(*conditional);
  }
  const auto marginal = line.probabilities("marginal");
  if (!marginal) return {};
  for (std::size_t i = 1; i < marginal->size(); ++i) {
    if ((*marginal)[i] <= (*marginal)[i - 1]) continue;
    line.refuse("marginal", fmt::format("rises from {} to {} at position {}", (*marginal)[i - 1], (*marginal)[i], i),
                "a marginal is P(this draft and all before it accepted)", "did you mean --conditional?");
    return {};
  }
  return *marginal;
}

void check_gamma(CommandLine& line, const Question& question) {
  if (!question.gamma) return;
  const std::int64_t gamma = *question.gamma;
  const auto entries = static_cast<std::int64_t>(question.marginal.size());
  if (gamma < min_gamma(question.convention)) {
    line.refuse("gamma", "invalid gamma=0", "must be at least 1 without a bonus token");
  } else if (entries > 0 && gamma > entries) {
    line.refuse("gamma", fmt::format("invalid gamma={}", gamma), fmt::format("the vector has {} entries", entries),
                "give more entries, or a smaller gamma");
  }
}

/// The alpha behind a measured acceptance length.
double invert_acceptance_length(CommandLine& line, const Question& question) {
  if (!question.gamma) {
    line.require("gamma", "an acceptance length says something about alpha only at the gamma it was measured at",
                 "add --gamma G");
    return 0.0;
  }
  const auto most = static_cast<double>(max_tokens(*question.gamma, question.convention));
  if (*question.gamma < 1 || *question.acceptance_length < 1.0 || *question.acceptance_length > most) {
    line.refuse("acceptance-length", fmt::format("invalid acceptance-length={}", *question.acceptance_length),
                fmt::format("must lie in [1, {}] at gamma {}", most, *question.gamma),
                "it counts the corrected or bonus token too");
    return 0.0;
  }
  return analytic::alpha_from_acceptance_length(*question.acceptance_length, *question.gamma, question.convention);
}

Question read_question(CommandLine& line) {
  require_one_acceptance(line);
  Question question{
      .alpha = line.real("alpha", 0.0, 1.0).value_or(0.0),
      .marginal = read_marginal(line),
      .acceptance_length = line.real("acceptance-length", 1.0, unlimited),
      .cost = {},
      .operations_ratio = line.real("operations-ratio", 0.0, unlimited),
      .convention = parse_convention(line.word("convention", {"bonus", "no_bonus"}).value_or("bonus")).value(),
      .drafting = Drafting::autoregressive,
      .gamma = line.integer("gamma", 0, longest_asked_draft)};
  check_gamma(line, question);
  if (question.acceptance_length) question.alpha = invert_acceptance_length(line, question);
  return question;
}

/// The drafter, the policy and the cost, in the words of a simulated point; the question learns its cost.
PointInputs read_point(CommandLine& line, Question& question) {
  PointInputs inputs;
  inputs.alpha = question.alpha;
  inputs.gamma = question.gamma.value_or(0);
  read_cost(line, inputs);
  if (inputs.cost == cost_registry().front().name) {
    line.require("c", "draft/target time of one step; or --step-ms, --draft-ms and --verify-ms", "e.g. --c 0.05");
  } else {
    question.measured = inputs.cost_values;
  }
  question.cost = decoding_cost(inputs).value_or(DecodingCost{});
  inputs.operations_ratio = question.operations_ratio;
  inputs.convention = question.convention;
  read_drafting(line, inputs);
  if (!question.marginal.empty()) {
    inputs.process = ProcessKind::positional;
    inputs.conditional = analytic::conditional_from_marginal(question.marginal);
    if (line.has("decay"))
      line.refuse("decay", "given beside a vector", "the vector says how acceptance falls", "remove one");
    if (inputs.policy.kind == PolicyKind::confidence_threshold) {
      line.refuse("policy", "confidence_threshold with a vector", "it draws the acceptance of each token itself",
                  "use --alpha");
    }
  }
  if (inputs.drafter == "input_copy") line.require("gamma", "the longest copy", "e.g. --gamma 100");
  return inputs;
}

/// The drafter's own acceptance in place of alpha.
void apply_drafter(const PointInputs& inputs, Question& question) {
  question.drafter = inputs.drafter;
  question.drafting = inputs.drafting;
  if (!inputs.head_accuracies.empty()) question.marginal = analytic::marginal_from_conditional(inputs.head_accuracies);
  const double decay = acceptance_decay(inputs);
  if (decay == 1.0) return;
  const std::int64_t drafts = std::max(question.gamma.value_or(0), analytic::last_useful_draft(question.alpha, decay));
  question.marginal = analytic::marginal_from_conditional(analytic::decaying_acceptance(question.alpha, decay, drafts));
  question.endless = true;
}

}  // namespace

CommandSpec predict_spec() {
  CommandSpec spec{
      .name = "predict",
      .arguments = "--alpha A --c C [--gamma G] [options]",
      .summary = "Tokens per iteration, speedup and the best draft length by closed form.",
      .options = {{"alpha", "A", "expected acceptance of a draft, in [0, 1]"},
                  {"conditional", "a1,a2,...", "or: acceptance of draft i given all before it accepted"},
                  {"marginal", "m1,m2,...", "or: draft i and all before it accepted, as engines log it"},
                  {"acceptance-length", "X", "or: measured tokens per iteration at --gamma, from which alpha follows"},
                  {"gamma", "G", "drafted tokens per iteration; without it the best; under a policy the most"},
                  {"operations-ratio", "R", "operations of one draft step over one target step"},
                  {"convention", "V", "bonus: 1 to gamma + 1 tokens (default); no_bonus: 1 to gamma"},
                  {"json", "", "one JSON document, schema foredraft.predict/1"}},
      .fewest_positional = 0,
      .most_positional = 0,
      .examples = {
          "foredraft predict --alpha 0.8 --gamma 5 --c 0.05 --operations-ratio 0.05",
          "foredraft predict --marginal 0.74,0.49,0.305 --c 0.19 --json",
          "foredraft predict --acceptance-length 2.5 --gamma 3 --c 0.05",
          "foredraft predict --alpha 0.9 --gamma 25 --drafter block --step-ms 9 --draft-ms 10 --verify-ms 9",
          "foredraft predict --alpha 0.8 --policy plus2_minus1 --gamma 50 --c 0.05",
          "foredraft predict --profile h200 --target llama-2-7b --draft sheared-llama-1.3b --alpha 0.7 --batch 1,64",
          "foredraft predict --drafter input_copy --edit-rate 0.05 --realign 2 --gamma 100 --c 0"}};
  const std::vector<OptionSpec> costs = cost_options();
  spec.options.insert(spec.options.begin() + 4, costs.begin(), costs.end());
  const std::vector<OptionSpec> profile = profile_options();
  spec.options.insert(spec.options.begin() + 4 + static_cast<std::ptrdiff_t>(costs.size()), profile.begin(),
                      profile.end());
  const std::vector<OptionSpec> drafting = drafting_options();
  spec.options.insert(spec.options.end() - 2, drafting.begin(), drafting.end());
  return spec;
}

int run_predict(const std::vector<std::string>& arguments) {
  CommandLine line(predict_spec(), arguments);
  if (line.wants_help()) {
    print_result(help_text(predict_spec()));
    return exit_done;
  }
  Question question = read_question(line);
  if (takes_profile(line)) return predict_from_profile(line, question);
  const PointInputs inputs = read_point(line, question);
  line.done();
  if (gamma_varies(inputs)) {
    print_result(line.has("json") ? varying_prediction_json(inputs).dump(2) + "\n" : varying_prediction_text(inputs));
    return exit_done;
  }
  apply_drafter(inputs, question);
  const Prediction prediction = predict(question);
  print_result(line.has("json") ? to_json(prediction).dump(2) + "\n" : to_text(prediction));
  return exit_done;
}

}  // namespace foredraft::experiments
