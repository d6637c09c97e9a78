// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <cmath>
#include <string_view>

#include "analytic/answer/answer.hpp"
#include "answers/inverse.hpp"
#include "answers/prediction.hpp"
#include "app/texts/texts.hpp"
#include "core/numbers.hpp"
#include "core/readable.hpp"
#include "core/table.hpp"
#include "scenario/drafters.hpp"
#include "scenario/metrics.hpp"
#include "scenario/policies.hpp"

namespace foredraft::app {
namespace {

using analytic::AcceptanceFit;
using analytic::TokensAtGamma;
using answers::FittedAcceptance;
using answers::InverseAnswer;
using answers::InverseQuestion;
using answers::Sought;

std::string measured_words(const answers::InverseQuestion& question) {
  return question.is_length ? fmt::format("{} tokens per iteration", question.measured.text)
                            : fmt::format("a speedup of {}x", question.measured.text);
}

std::string cost_unit(answers::Sought sought) { return sought == answers::Sought::alpha ? "" : " decode steps"; }

std::string bound_sentence(const answers::InverseQuestion& question, const answers::InverseAnswer& answer) {
  const bool above = question.measured.value > answer.high;
  const std::string_view unit = question.is_length ? " tokens" : "x";
  if (question.sought == answers::Sought::alpha) {
    return fmt::format("No acceptance explains {}: alpha {} gives {}{} at gamma {}.", measured_words(question),
                       above ? "1" : "0", decimal_text(above ? answer.high : answer.low, 4), unit,
                       question.scenario.gamma);
  }
  return fmt::format("No {} explains {}: without any it is {}x at gamma {}.", answers::name_of(question.sought),
                     measured_words(question), decimal_text(answer.high, 4), question.scenario.gamma);
}

/// "acceptance by position" for heads whose accuracies replace the process.
std::string varying_acceptance_words(const Scenario& scenario) {
  const AcceptanceProcess& acceptance = std::get<ProcessFidelity>(scenario.fidelity).acceptance;
  return std::holds_alternative<Iid>(acceptance) ? "acceptance by position" : acceptance_words(acceptance);
}

std::string what_drafts(const Scenario& scenario) {
  if (scenario::draft_length_varies(scenario.drafter)) {
    return fmt::format("drafter {}", scenario::name_of(scenario.drafter));
  }
  return fmt::format("policy {}", scenario::name_of(std::get<ProcessFidelity>(scenario.fidelity).policy));
}

/// Warnings about the fit.
std::string doubts_of(const AcceptanceFit& fit) {
  std::string text;
  if (fit.interval_is_lower_bound) {
    text += "one window or request: steps depend on each other, so the intervals are too narrow\n";
  }
  if (fit.text_changed) text += "the draft lengths cannot come from one text: they differ in more than their length\n";
  if (fit.collapsed_position) {
    text += fmt::format("acceptance collapses at position {}: a fault or a limit of the drafter\n",
                        *fit.collapsed_position);
  }
  return text;
}

}  // namespace

std::string to_text(const answers::InverseQuestion& question) {
  const answers::InverseAnswer answer = answers::invert(question);
  std::string text;
  if (answer.value) {
    text = fmt::format("{} {}{} explains {} at gamma {}.\n", answers::name_of(question.sought),
                       decimal_text(*answer.value, 4), cost_unit(question.sought), measured_words(question),
                       question.scenario.gamma);
  } else {
    text = bound_sentence(question, answer) + "\n";
  }
  if (answer.interval) {
    const auto [low, high] = question.measured.rounding;
    text += fmt::format("\nrounding    {} stands for {} to {}: {} {} to {}{}\n", question.measured.text,
                        short_number_text(low), short_number_text(high), answers::name_of(question.sought),
                        decimal_text(answer.interval->low, 4), decimal_text(answer.interval->high, 4),
                        cost_unit(question.sought));
  }
  const AcceptanceProcess& acceptance = std::get<ProcessFidelity>(question.scenario.fidelity).acceptance;
  return text + fmt::format("{}assumes     {}; {} convention\n", answer.interval ? "" : "\n",
                            acceptance_words(acceptance), to_string(question.scenario.convention));
}

std::string varying_prediction_text(const Scenario& scenario) {
  const ClosedForm answer = analytic::answer(scenario);
  std::string text = fmt::format("speedup {}x: an iteration drafts {} tokens and yields {} under {}.",
                                 decimal_text(answer.speedup, 2), decimal_text(answer.mean_gamma, 2),
                                 decimal_text(answer.tokens_per_iteration, 2), what_drafts(scenario));
  if (std::holds_alternative<StagedDrafter>(scenario.drafter) && !std::isnan(answer.best_gamma)) {
    text += std::isinf(answer.best_gamma)
                ? " Without the inner drafter longer drafts are always better."
                : fmt::format(" Without the inner drafter the best gamma is {}: {}x.",
                              static_cast<std::int64_t>(answer.best_gamma), decimal_text(answer.best_speedup, 2));
  } else if (!std::isnan(answer.best_gamma)) {
    text += std::isinf(answer.best_gamma)
                ? " Longer constant drafts are always better."
                : fmt::format(" The best constant gamma is {}: {}x.", static_cast<std::int64_t>(answer.best_gamma),
                              decimal_text(answer.best_speedup, 2));
  }
  text += "\n\n";
  for (double ClosedForm::*quantity : {&ClosedForm::tokens_per_iteration, &ClosedForm::mean_gamma, &ClosedForm::speedup,
                                       &ClosedForm::operations_factor, &ClosedForm::memory_access_factor,
                                       &ClosedForm::per_token, &ClosedForm::accepted_over_drafted,
                                       &ClosedForm::optimal_speedup, &ClosedForm::oracle_speedup, &ClosedForm::loss}) {
    if (std::isnan(answer.*quantity)) continue;
    for (const scenario::Metric& metric : scenario::metrics()) {
      if (metric.closed_form == quantity)
        text += fmt::format("{:<40} {:>8}\n", metric.label, decimal_text(answer.*quantity, 4));
    }
  }
  text += fmt::format(
      "\nassumes     {}; at most {} drafts; {} convention; all tokens of an iteration verified at "
      "the cost of one\n",
      std::holds_alternative<InputCopy>(scenario.drafter) ? "independent edits"
      : answers::iid_of(scenario) != nullptr              ? "i.i.d. acceptance"
                                                          : varying_acceptance_words(scenario),
      scenario.gamma, to_string(scenario.convention));
  return answer_lines(text);
}

std::string observed_text(const answers::FittedAcceptance& observed, std::optional<std::int64_t> asked) {
  using enum Table::Align;
  const AcceptanceFit& fit = observed.fit;
  Table table{.caption = {},
              .columns = {{"gamma", right}, {"tokens per iteration", right}, {"95 % interval", left}, {"", left}},
              .rows = {}};
  for (const TokensAtGamma& tokens : answers::tokens_by_gamma(fit, asked)) {
    table.rows.push_back({fmt::format("{}", tokens.gamma), decimal_text(tokens.value, 4),
                          fmt::format("{} to {}", decimal_text(tokens.low, 3), decimal_text(tokens.high, 3)),
                          tokens.source == TokensAtGamma::Source::observed ? "logged"
                          : tokens.extrapolated                            ? "extrapolated"
                                                                           : ""});
  }
  constexpr std::size_t name_width = 40;
  const auto [gammas, steps] = answers::logged_steps(fit);
  return fmt::format("acceptance of {}: {} verification steps at gamma {}\n\n",
                     readable(observed.file.path, name_width), short_number_text(steps), fmt::join(gammas, ", ")) +
         to_text(table) + doubts_of(fit);
}

}  // namespace foredraft::app
