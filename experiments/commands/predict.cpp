#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "analytic/acceptance_definitions.hpp"
#include "analytic/token_law.hpp"
#include "experiments/cli/exit_codes.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/predict/prediction.hpp"

namespace foredraft::experiments {
namespace {

constexpr double unlimited = std::numeric_limits<double>::max();
constexpr std::int64_t longest_draft = 1'000'000'000'000;

/// Exactly one of the four ways to state acceptance.
void require_one_acceptance(CommandLine& line) {
  std::string given;
  int count = 0;
  for (const std::string_view name : {"alpha", "conditional", "marginal", "acceptance-length"}) {
    if (!line.has(name)) continue;
    ++count;
    given = name;
  }
  if (count == 0) {
    line.require("alpha", "or --conditional, --marginal, --acceptance-length: how often drafts are accepted",
                 "e.g. --alpha 0.8");
  } else if (count > 1) {
    line.refuse(given, "given beside another", "acceptance is stated once",
                "keep one of --alpha, --conditional, --marginal, --acceptance-length");
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
  line.require("c", "draft/target time of one step", "e.g. --c 0.05");
  Question question{
      .alpha = line.real("alpha", 0.0, 1.0).value_or(0.0),
      .marginal = read_marginal(line),
      .acceptance_length = line.real("acceptance-length", 1.0, unlimited),
      .c = line.real("c", 0.0, unlimited).value_or(0.0),
      .operations_ratio = line.real("operations-ratio", 0.0, unlimited),
      .convention = parse_convention(line.word("convention", {"bonus", "no_bonus"}).value_or("bonus")).value(),
      .drafting = parse_drafting(line.word("drafter", {"autoregressive", "block"}).value_or("autoregressive")).value(),
      .gamma = line.integer("gamma", 0, longest_draft)};
  check_gamma(line, question);
  if (question.acceptance_length) question.alpha = invert_acceptance_length(line, question);
  return question;
}

}  // namespace

CommandSpec predict_spec() {
  return {
      .name = "predict",
      .arguments = "--alpha A --c C [--gamma G] [options]",
      .summary = "Tokens per iteration, speedup and the best draft length by closed form.",
      .options = {{"alpha", "A", "expected acceptance of a draft, in [0, 1]"},
                  {"conditional", "a1,a2,...", "or: acceptance of draft i given all before it accepted"},
                  {"marginal", "m1,m2,...", "or: draft i and all before it accepted, as engines log it"},
                  {"acceptance-length", "X", "or: measured tokens per iteration at --gamma, from which alpha follows"},
                  {"c", "C", "draft/target time of one step"},
                  {"gamma", "G", "drafted tokens per iteration; without it the best"},
                  {"operations-ratio", "R", "operations of one draft step over one target step"},
                  {"drafter", "D", "autoregressive: drafting costs gamma * c (default); block: c"},
                  {"convention", "V", "bonus: 1 to gamma + 1 tokens (default); no_bonus: 1 to gamma"},
                  {"json", "", "one JSON document, schema foredraft.predict/1"}},
      .fewest_positional = 0,
      .most_positional = 0,
      .examples = {"foredraft predict --alpha 0.8 --gamma 5 --c 0.05 --operations-ratio 0.05",
                   "foredraft predict --marginal 0.74,0.49,0.305 --c 0.19 --json",
                   "foredraft predict --acceptance-length 2.5 --gamma 3 --c 0.05"}};
}

int run_predict(const std::vector<std::string>& arguments) {
  CommandLine line(predict_spec(), arguments);
  if (line.wants_help()) {
    fmt::print("{}", help_text(predict_spec()));
    return exit_done;
  }
  const Question question = read_question(line);
  line.done();
  const Prediction prediction = predict(question);
  fmt::print("{}", line.has("json") ? to_json(prediction).dump(2) + "\n" : to_text(prediction));
  return exit_done;
}

}  // namespace foredraft::experiments
