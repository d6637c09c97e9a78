// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "answers/inverse.hpp"
#include "answers/prediction.hpp"
#include "app/texts/texts.hpp"
#include "core/intervals.hpp"
#include "core/numbers.hpp"
#include "core/table.hpp"
#include "scenario/cost.hpp"
#include "scenario/costs.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/processes.hpp"

namespace foredraft::app {
namespace {

using answers::Answered;
using answers::Question;

std::string gamma_or_unbounded(const std::optional<std::int64_t>& gamma) {
  return gamma ? fmt::format("{}", *gamma) : "unbounded";
}

constexpr std::size_t prediction_label_width = 29;
constexpr std::size_t min_column_width = 11;

std::string fixed(const std::optional<double>& value, std::string_view suffix) {
  return value ? fmt::format("{:>7}{}", decimal_text(*value, 4), suffix) : "      -";
}

Drafting drafting_of(const answers::Answered& answered) {
  return scenario::drafting(answered.question.scenario.drafter);
}

const MeasuredTimes* measured_times(const answers::Answered& answered) {
  return std::get_if<MeasuredTimes>(&answered.question.scenario.cost);
}

/// Precondition: i.i.d. acceptance.
double alpha_of(const answers::Answered& answered) { return std::get<Iid>(answered.question.acceptance()).alpha; }

/// Iteration time at the gamma of the question, in decode steps of the target.
double asked_steps(const answers::Answered& answered) {
  Scenario scenario = answered.question.scenario;
  scenario.gamma = *answered.prediction.asked.gamma;
  return answers::iteration_steps(scenario);
}

std::string headline(const answers::Answered& answered) {
  const analytic::AtGamma& asked = answered.prediction.asked;
  const analytic::AtGamma& best = answered.prediction.best;
  if (!asked.gamma) {
    return (asked.speedup ? fmt::format("speedup {}x at most", decimal_text(*asked.speedup, 2))
                          : "speedup without limit") +
           ": longer drafts are always better; the best gamma is unbounded.";
  }
  const std::string text = fmt::format("speedup {}x: an iteration yields {} tokens and costs {} target steps.",
                                       decimal_text(*asked.speedup, 2), decimal_text(*asked.tokens, 2),
                                       decimal_text(asked_steps(answered), 2));
  if (best.gamma == asked.gamma)
    return text + (*asked.gamma == 0 ? " Speculation does not pay." : " It is the best gamma.");
  if (!best.gamma) {
    return text + " Longer drafts are always better" +
           (best.speedup ? fmt::format(", up to {}x.", decimal_text(*best.speedup, 2)) : ".");
  }
  return text + fmt::format(" Best is gamma {}: {}x{}.", *best.gamma, decimal_text(*best.speedup, 2),
                            *best.gamma == 0 ? ", no speculation" : "");
}

std::string table(const answers::Answered& answered) {
  using analytic::AtGamma;
  const auto& [question, prediction] = answered;
  const auto& best = prediction.best.gamma;
  std::vector<const AtGamma*> columns{&prediction.asked};
  if (prediction.asked.gamma != best) columns.push_back(&prediction.best);
  const auto title = [&](const AtGamma& at) {
    return fmt::format("gamma {}{}", gamma_or_unbounded(at.gamma), at.gamma == best ? " (best)" : "");
  };
  std::string text;
  const auto line = [&](std::string_view label, const auto& cell) {
    std::string row = fmt::format("{:<{}}", label, prediction_label_width);
    for (const AtGamma* at : columns) {
      row += fmt::format("{:<{}}", cell(*at), std::max(min_column_width, title(*at).size() + 2));
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  };
  line("", title);
  line("tokens per iteration", [](const AtGamma& at) { return fixed(at.tokens, ""); });
  line("  standard deviation", [](const AtGamma& at) {
    return fixed(at.variance ? std::optional(std::sqrt(*at.variance)) : std::nullopt, "");
  });
  line("  all drafts accepted", [](const AtGamma& at) {
    return at.all_accepted ? fmt::format("{:>5.1f} %", 100.0 * *at.all_accepted) : "      -";
  });
  line("speedup", [](const AtGamma& at) { return fixed(at.speedup, "x"); });
  if (question.scenario.operations_ratio) {
    line("operations", [](const AtGamma& at) { return fixed(at.operations, "x"); });
  }
  line("target memory accesses", [](const AtGamma& at) { return fixed(at.memory, "x"); });
  return text;
}

std::string near_best_line(const answers::Answered& answered) {
  const analytic::Prediction& prediction = answered.prediction;
  std::vector<std::string> parts;
  if (prediction.near_best) {
    const auto& [first, last] = *prediction.near_best;
    parts.push_back(first == last ? fmt::format("gamma {} alone within 1 %", first)
                                  : fmt::format("gamma {} to {} within 1 %", first, last));
  }
  if (prediction.real_gamma) parts.push_back("real-valued optimum " + decimal_text(*prediction.real_gamma, 3));
  if (prediction.oracle_speedup) parts.push_back("oracle " + decimal_text(*prediction.oracle_speedup, 4) + "x");
  return parts.empty() ? "" : fmt::format("near best   {}\n", fmt::join(parts, "; "));
}

std::string break_even_line(const answers::Answered& answered) {
  const answers::Question& question = answered.question;
  const analytic::Prediction& prediction = answered.prediction;
  std::string at;
  if (prediction.break_even_alpha) at = fmt::format("alpha above {:.4f}", *prediction.break_even_alpha);
  if (prediction.break_even_c) {
    at += fmt::format("{}c below {}", at.empty() ? "" : ", or ", decimal_text(*prediction.break_even_c, 4));
  }
  std::string text = at.empty() ? "" : fmt::format("at gamma {}: {}", *prediction.asked.gamma, at);
  // S(1) > 1 iff alpha > c. If one draft does not pay, longer drafts do not either. [Leviathan2023, Cor. 3.9]
  const Drafter& drafter = question.scenario.drafter;
  const bool one_by_one =
      !std::holds_alternative<HorizontalCascade>(drafter) && !std::holds_alternative<IndependentDrafts>(drafter);
  if (one_by_one && prediction.marginal.empty() && std::holds_alternative<Iid>(answered.question.acceptance()) &&
      scenario::verify_growth(question.scenario.cost) == 0.0 && measured_times(answered) == nullptr &&
      question.scenario.convention == Convention::bonus && drafting_of(answered) == Drafting::autoregressive) {
    text += (text.empty() ? "" : "; ") + std::string("at some gamma: alpha above c");
  }
  return text.empty() ? "" : "break even  " + text + "\n";
}

std::string bounds_line(const answers::Answered& answered) {
  if (!answered.prediction.any_process) return "";
  const answers::Question& question = answered.question;
  const analytic::Prediction& prediction = answered.prediction;
  const auto& bounds = *prediction.any_process;
  const double cost = asked_steps(answered);
  const std::string mean = question.acceptance_length || question.accepted_over_drafted
                               ? fmt::format("{:.4f}", alpha_of(answered))
                               : short_number_text(alpha_of(answered));
  return fmt::format("any process acceptances of mean {}, however dependent: {} to {} tokens, {}x to {}x\n", mean,
                     decimal_text(bounds.low, 2), decimal_text(bounds.high, 2), decimal_text(bounds.low / cost, 2),
                     decimal_text(bounds.high / cost, 2));
}

/// `gamma`: the same for all answers; empty: it differs or is unbounded.
std::string assumptions_line(const answers::Answered& answered, std::optional<std::int64_t> gamma) {
  const answers::Question& question = answered.question;
  const analytic::Prediction& prediction = answered.prediction;
  std::string acceptance = acceptance_words(answered.question.acceptance());
  if (!prediction.marginal.empty())
    acceptance = fmt::format("acceptance by position, {} given", prediction.marginal.size());
  if (question.acceptance_length) {
    acceptance += fmt::format(" (alpha {:.4f} from {} tokens per iteration)", alpha_of(answered),
                              short_number_text(*question.acceptance_length));
  }
  if (question.accepted_over_drafted) {
    acceptance += fmt::format(" (alpha {:.4f} from {} of the drafted tokens accepted)", alpha_of(answered),
                              short_number_text(*question.accepted_over_drafted));
  }
  std::string verified = "all tokens of an iteration";
  if (gamma) {
    const auto* several = std::get_if<IndependentDrafts>(&question.scenario.drafter);
    const std::int64_t drafted = *gamma * (several == nullptr ? 1 : several->drafts);
    const std::int64_t tokens = max_tokens(drafted, question.scenario.convention);
    verified = fmt::format("{} token{}", tokens, tokens == 1 ? "" : "s");
  }
  const double growth = scenario::verify_growth(question.scenario.cost);
  std::string cost = fmt::format("{} verified at the cost of one", verified);
  if (const MeasuredTimes* measured = measured_times(answered)) {
    cost = fmt::format("{} verified in {} ms whatever gamma, a decode step {} ms", verified,
                       short_number_text(measured->verify_ms), short_number_text(measured->step_ms));
    if (growth > 0.0) cost.replace(cost.find(" whatever gamma"), 15, "");
  }
  if (growth > 0.0)
    cost += fmt::format(",\n            each but the first adds {} decode steps", short_number_text(growth));
  // The parameters of process "runs" fill a line.
  const std::string_view between =
      std::holds_alternative<Runs>(answered.question.acceptance()) ? ";\n            " : "; ";
  return fmt::format("assumes     {}{}{} convention; {}\n", acceptance, between,
                     to_string(question.scenario.convention), cost);
}

}  // namespace

std::string acceptance_words(const AcceptanceProcess& acceptance) {
  if (std::holds_alternative<Iid>(acceptance)) return "i.i.d. acceptance";
  if (std::holds_alternative<Positional>(acceptance)) return "acceptance by position";
  const auto& member = entry_of(scenario::processes(), acceptance);
  std::string text = fmt::format("acceptance {}", member.name);
  constexpr std::string_view prefix = "process.";
  for (const auto& parameter : member.parameters) {
    const auto value = parameter.get(acceptance);
    if (!value) continue;
    const auto* number = std::get_if<double>(&*value);
    text += fmt::format(" {} {}", parameter.name.substr(prefix.size()),
                        number == nullptr ? scenario::to_text(*value) : brief_number_text(*number));
  }
  return text;
}

std::string to_text(const answers::Answered& answered) {
  const auto& gamma = answered.prediction.asked.gamma;
  std::string text = headline(answered) + "\n\n" + table(answered) + "\n" + near_best_line(answered) +
                     break_even_line(answered) + bounds_line(answered) + assumptions_line(answered, gamma);
  if (answered.question.observed) text += "\n" + observed_text(*answered.question.observed, gamma);
  return answer_lines(text);
}

std::string to_text(std::span<const answers::Answered> all) {
  Table table;
  for (const char* title : {"alpha", "c", "gamma", "tokens per iteration", "speedup", "best gamma", "best speedup"}) {
    table.columns.push_back({title, Table::Align::right});
  }
  std::optional<std::int64_t> gamma = all.front().prediction.asked.gamma;
  Interval speedups{std::numeric_limits<double>::infinity(), 0.0};
  for (const answers::Answered& answered : all) {
    const auto& [question, prediction] = answered;
    if (prediction.asked.gamma != gamma) gamma.reset();
    const double speedup = prediction.asked.speedup.value_or(std::numeric_limits<double>::infinity());
    speedups = {std::min(speedups.low, speedup), std::max(speedups.high, speedup)};
    table.rows.push_back({short_number_text(alpha_of(answered)),
                          short_number_text(scenario::draft_step(question.scenario).value()),
                          gamma_or_unbounded(prediction.asked.gamma), fixed(prediction.asked.tokens, ""),
                          fixed(prediction.asked.speedup, "x"), gamma_or_unbounded(prediction.best.gamma),
                          fixed(prediction.best.speedup, "x")});
  }
  return answer_lines(fmt::format("speedup {}x to {}x over {} combinations.\n\n", decimal_text(speedups.low, 2),
                                  decimal_text(speedups.high, 2), all.size()) +
                      to_text(table) + "\n" + assumptions_line(all.front(), gamma));
}

}  // namespace foredraft::app
