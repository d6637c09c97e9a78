// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "answers/advice_action.hpp"
#include "answers/advice_steps.hpp"
#include "answers/advice_words.hpp"

/// What acceptance alone tells, without a speedup.
namespace foredraft::answers {
namespace {

using Reason = analytic::FitProblem::Reason;

/// Of several drafters at one load of which only the acceptance is known: "eagle3 at K = 4 yields 2.82 tokens per
/// iteration, ngram at K = 4 1.55"; else empty.
std::string yields_text(const Advice& advice) {
  if (advice.curves.size() < 2 || advice.loads.size() != 1) return "";
  std::vector<std::string> texts;
  for (const LoggedRun& logged : advice.loads.front().logged) {
    const auto& tokens = advice.runs[logged.run].run.tokens;
    if (!tokens) continue;
    texts.push_back(fmt::format("{} {}{:.2f}{}", setting_name(logged, advice), texts.empty() ? "yields " : "",
                                tokens->mean, texts.empty() ? " tokens per iteration" : ""));
  }
  constexpr std::size_t several = 2, most = 4;  // of more the table tells more
  return texts.size() < several || texts.size() > most ? "" : fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::string yield_text(const Advice& advice) {
  std::vector<std::string> setting;
  if (advice.curves.size() > 1 && !advice.curve()->name.empty()) setting.push_back(advice.curve()->name);
  if (advice.gamma_observed) setting.push_back(fmt::format("K = {}", *advice.gamma_observed));
  if (setting.empty()) setting.emplace_back("Speculation");
  return fmt::format("{} yields {:.2f} tokens per iteration", fmt::join(setting, ", "), advice.tokens_observed->mean);
}

std::string problem_action(const analytic::FitProblem& problem, const Advice& advice) {
  if (problem.reason == Reason::all_accepted) {
    return "Acceptance is not known: every draft was accepted, as if only full drafts were counted. Log drafted "
           "tokens.";
  }
  if (problem.reason == Reason::rising) {
    return fmt::format("Acceptance is not known: position {} is accepted more often than the one before it.",
                       problem.position);
  }
  const std::string more =
      problem.more_steps_needed > 0.0 ? fmt::format("; about {:.0f} more give +-2 %", problem.more_steps_needed) : "";
  if (!advice.tokens_observed)
    return fmt::format("Acceptance is not known: {:.0f} verification steps are too few{}.", problem.steps, more);
  return fmt::format("{}, but {:.0f} verification steps are too few for advice{}.", yield_text(advice), problem.steps,
                     more);
}

std::string without_speedup(const Advice& advice) {
  if (const std::string yields = yields_text(advice); !yields.empty() && !too_uncertain(advice)) {
    return yields + ": each pays where its iteration takes fewer decode steps than that; no speedup was read.";
  }
  if (advice.loads.size() > 1) {
    constexpr std::size_t shown = 3;
    std::vector<std::string> texts;
    std::size_t more = 0;
    for (const LoadAdvice& load : advice.loads) {
      if (!load.tokens) continue;
      if (texts.size() == shown) {
        ++more;
        continue;
      }
      texts.push_back(
          fmt::format("{:.2f}{} at {}", load.tokens->mean, texts.empty() ? " tokens per iteration" : "", load.name));
    }
    if (more > 0) texts.push_back(fmt::format("{} more", more));
    const std::string setting = advice.gamma_observed ? fmt::format("K = {}", *advice.gamma_observed) : "Speculation";
    return fmt::format("{} yields {}: it pays where an iteration takes fewer decode steps.", setting,
                       fmt::join(texts, ", "));
  }
  if (too_uncertain(advice)) {
    const Interval range = normal_interval(*advice.tokens_observed);
    return fmt::format("{}, {}: {}.", yield_text(advice),
                       range.low < 1.0 ? fmt::format("1 to {:.2f}", range.high)  // each iteration emits a token
                                       : fmt::format("+- {:.2f}", range.high - advice.tokens_observed->mean),
                       has_few_windows(advice) ? "too few windows or requests for advice"
                       : runs_scatter(advice)  ? "its windows differ too much for advice"
                                               : "too few steps for advice");
  }
  return fmt::format("{}: it pays where an iteration takes less than {:.2f} decode steps; no speedup was read.",
                     yield_text(advice), advice.tokens_observed->mean);
}

}  // namespace foredraft::answers
