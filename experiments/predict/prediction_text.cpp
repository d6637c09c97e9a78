// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/intervals.hpp"
#include "core/marginals.hpp"
#include "core/numbers.hpp"
#include "experiments/config/sweep_config.hpp"
#include "experiments/predict/prediction.hpp"
#include "experiments/predict/varying_prediction.hpp"
#include "experiments/text/json_values.hpp"
#include "experiments/text/table.hpp"
#include "scenario/cost.hpp"
#include "scenario/family.hpp"

namespace foredraft::experiments {
namespace {

using Json = nlohmann::ordered_json;

Json gamma_json(const std::optional<std::int64_t>& gamma) { return gamma ? Json(*gamma) : Json("unbounded"); }

}  // namespace

Json to_json(const Answered& answered) {
  const auto& [question, prediction] = answered;
  const Scenario& scenario = question.scenario;
  const AcceptanceProcess& acceptance = std::get<ProcessFidelity>(scenario.fidelity).acceptance;
  const analytic::AtGamma& asked = prediction.asked;
  Json json{{"schema", "foredraft.predict/1"},
            {"convention", to_string(scenario.convention)},
            {"drafter", scenario::name_of(scenario.drafter)}};
  const auto* iid = std::get_if<Iid>(&acceptance);
  if (prediction.marginal.empty() && iid == nullptr) {
    add_acceptance(acceptance, json);
  } else if (prediction.marginal.empty()) {
    json["alpha"] = iid->alpha;
    if (question.acceptance_length) json["acceptance_length"] = *question.acceptance_length;
    if (question.accepted_over_drafted) json["accepted_over_drafted"] = *question.accepted_over_drafted;
  } else {
    json["conditional"] = conditional_from_marginal(prediction.marginal);
    json["marginal"] = prediction.marginal;
  }
  json["c"] = scenario::decoding_cost(scenario).value().draft_pass;
  if (!std::holds_alternative<ConstantRatio>(scenario.cost)) json["cost"] = cost_json(scenario.cost);
  if (const double growth = scenario::verify_growth(scenario.cost); growth > 0.0) json["verify_growth"] = growth;
  json["operations_ratio"] = value_or_null(scenario.operations_ratio);
  json["gamma"] = gamma_json(asked.gamma);
  json["tokens_per_iteration"] = value_or_null(asked.tokens);
  json["tokens_variance"] = value_or_null(asked.variance);
  json["speedup"] = value_or_null(asked.speedup);
  json["operations_factor"] = value_or_null(asked.operations);
  json["memory_access_factor"] = value_or_null(asked.memory);
  json["best_gamma"] = gamma_json(prediction.best.gamma);
  json["best_speedup"] = value_or_null(prediction.best.speedup);
  json["real_gamma"] = value_or_null(prediction.real_gamma);
  json["oracle_speedup"] = value_or_null(prediction.oracle_speedup);
  if (question.observed) json["acceptance"] = observed_json(*question.observed, asked.gamma);
  return json;
}

Json to_json(std::span<const Answered> all) {
  Json json = to_json(all.front());
  json["cells"] = Json::array();
  for (const Answered& answered : all) {
    Json& cell = json["cells"].emplace_back(to_json(answered));
    cell.erase("schema");
  }
  return json;
}

void add_acceptance(const AcceptanceProcess& acceptance, Json& json) {
  const auto& member = entry_of(scenario::processes(), acceptance);
  json["process"] = member.name;
  constexpr std::string_view prefix = "process.";
  for (const auto& parameter : member.parameters) {
    if (const auto value = parameter.get(acceptance)) json[parameter.name.substr(prefix.size())] = to_json(*value);
  }
}

Json cost_json(const Cost& cost) {
  const auto& member = entry_of(scenario::costs(), cost);
  Json json{{"model", member.name}};
  for (const auto& parameter : member.parameters) {
    const auto value = parameter.get(cost);
    if (!value || value == parameter.default_value) continue;
    constexpr std::string_view prefix = "cost.";
    json[parameter.name.starts_with(prefix) ? parameter.name.substr(prefix.size()) : parameter.name] = to_json(*value);
  }
  return json;
}

namespace {

constexpr std::size_t label_width = 29;
constexpr std::size_t min_column_width = 11;

std::string fixed(const std::optional<double>& value, std::string_view suffix) {
  return value ? fmt::format("{:>7}{}", decimal_text(*value, 4), suffix) : "      -";
}

Drafting drafting_of(const Answered& answered) { return scenario::drafting(answered.question.scenario.drafter); }

const MeasuredTimes* measured_times(const Answered& answered) {
  return std::get_if<MeasuredTimes>(&answered.question.scenario.cost);
}

const AcceptanceProcess& acceptance_of(const Answered& answered) {
  return std::get<ProcessFidelity>(answered.question.scenario.fidelity).acceptance;
}

/// Of i.i.d. acceptance.
double alpha_of(const Answered& answered) { return std::get<Iid>(acceptance_of(answered)).alpha; }

/// Time of an iteration of the asked gamma in plain steps of the target.
double iteration_steps(const Answered& answered) {
  Scenario scenario = answered.question.scenario;
  scenario.gamma = *answered.prediction.asked.gamma;
  const DecodingCost cost = scenario::decoding_cost(scenario).value();
  const auto passes = static_cast<double>(draft_passes(scenario.gamma, drafting_of(answered)));
  return cost.iteration + passes * cost.draft_pass;
}

std::string headline(const Answered& answered) {
  const analytic::Prediction& prediction = answered.prediction;
  const analytic::AtGamma& asked = prediction.asked;
  const analytic::AtGamma& best = prediction.best;
  std::string text;
  if (!asked.gamma) {
    text =
        asked.speedup ? fmt::format("speedup {}x at most", decimal_text(*asked.speedup, 2)) : "speedup without limit";
    return text + ": longer drafts are always better; the best gamma is unbounded.";
  }
  text = fmt::format("speedup {}x: an iteration yields {} tokens and costs {} target steps.",
                     decimal_text(*asked.speedup, 2), decimal_text(*asked.tokens, 2),
                     decimal_text(iteration_steps(answered), 2));
  if (best.gamma == asked.gamma)
    return text + (*asked.gamma == 0 ? " Speculation does not pay." : " It is the best gamma.");
  if (!best.gamma) {
    return text + " Longer drafts are always better" +
           (best.speedup ? fmt::format(", up to {}x.", decimal_text(*best.speedup, 2)) : ".");
  }
  return text + fmt::format(" Best is gamma {}: {}x{}.", *best.gamma, decimal_text(*best.speedup, 2),
                            *best.gamma == 0 ? ", no speculation" : "");
}

std::string title(const analytic::AtGamma& at, bool best) {
  return fmt::format("gamma {}{}", at.gamma ? fmt::format("{}", *at.gamma) : "unbounded", best ? " (best)" : "");
}

std::string table(const Answered& answered) {
  const analytic::Prediction& prediction = answered.prediction;
  struct TableColumn {
    std::string title;
    const analytic::AtGamma* at;
  };
  const bool asked_is_best = prediction.asked.gamma == prediction.best.gamma;
  std::vector<TableColumn> columns{{title(prediction.asked, asked_is_best), &prediction.asked}};
  if (!asked_is_best) columns.push_back({title(prediction.best, true), &prediction.best});
  std::string text;
  const auto line = [&](std::string_view label, const auto& cell) {
    std::string row = fmt::format("{:<{}}", label, label_width);
    for (const TableColumn& column : columns) {
      row += fmt::format("{:<{}}", cell(column), std::max(min_column_width, column.title.size() + 2));
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  };
  line("", [](const TableColumn& column) { return column.title; });
  line("tokens per iteration", [](const TableColumn& column) { return fixed(column.at->tokens, ""); });
  line("  standard deviation", [](const TableColumn& column) {
    const auto& variance = column.at->variance;
    return fixed(variance ? std::optional(std::sqrt(*variance)) : std::nullopt, "");
  });
  line("  all drafts accepted", [](const TableColumn& column) {
    return column.at->all_accepted ? fmt::format("{:>5.1f} %", 100.0 * *column.at->all_accepted) : "      -";
  });
  line("speedup", [](const TableColumn& column) { return fixed(column.at->speedup, "x"); });
  if (answered.question.scenario.operations_ratio) {
    line("operations", [](const TableColumn& column) { return fixed(column.at->operations, "x"); });
  }
  line("target memory accesses", [](const TableColumn& column) { return fixed(column.at->memory, "x"); });
  return text;
}

std::string near_best_line(const Answered& answered) {
  const analytic::Prediction& prediction = answered.prediction;
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (prediction.near_best) {
    const auto& range = *prediction.near_best;
    add(range.first == range.last ? fmt::format("gamma {} alone within 1 %", range.first)
                                  : fmt::format("gamma {} to {} within 1 %", range.first, range.last));
  }
  if (prediction.real_gamma) add("real-valued optimum " + decimal_text(*prediction.real_gamma, 3));
  if (prediction.oracle_speedup) add(fmt::format("oracle {}x", decimal_text(*prediction.oracle_speedup, 4)));
  return text.empty() ? "" : "near best   " + text + "\n";
}

std::string break_even_line(const Answered& answered) {
  const Question& question = answered.question;
  const analytic::Prediction& prediction = answered.prediction;
  std::string at;
  if (prediction.break_even_alpha) at = fmt::format("alpha above {:.4f}", *prediction.break_even_alpha);
  if (prediction.break_even_c) {
    at += fmt::format("{}c below {}", at.empty() ? "" : ", or ", decimal_text(*prediction.break_even_c, 4));
  }
  std::string text = at.empty() ? "" : fmt::format("at gamma {}: {}", *prediction.asked.gamma, at);
  // S(1) > 1 iff alpha > c, and no longer draft pays where one does not. [Leviathan2023, Cor. 3.9]
  if (prediction.marginal.empty() && std::holds_alternative<Iid>(acceptance_of(answered)) &&
      scenario::verify_growth(question.scenario.cost) == 0.0 && measured_times(answered) == nullptr &&
      question.scenario.convention == Convention::bonus && drafting_of(answered) == Drafting::autoregressive) {
    text += (text.empty() ? "" : "; ") + std::string("at some gamma: alpha above c");
  }
  return text.empty() ? "" : "break even  " + text + "\n";
}

std::string bounds_line(const Answered& answered) {
  if (!answered.prediction.any_process) return "";
  const Question& question = answered.question;
  const analytic::Prediction& prediction = answered.prediction;
  const auto& bounds = *prediction.any_process;
  const double cost = iteration_steps(answered);
  const std::string mean = question.acceptance_length || question.accepted_over_drafted
                               ? fmt::format("{:.4f}", alpha_of(answered))
                               : number_text(alpha_of(answered));
  return fmt::format("any process acceptances of mean {}, however dependent: {} to {} tokens, {}x to {}x\n", mean,
                     decimal_text(bounds.low, 2), decimal_text(bounds.high, 2), decimal_text(bounds.low / cost, 2),
                     decimal_text(bounds.high / cost, 2));
}

/// `gamma` of all that the line is about; nothing: it differs, or has no end.
std::string assumptions_line(const Answered& answered, std::optional<std::int64_t> gamma) {
  const Question& question = answered.question;
  const analytic::Prediction& prediction = answered.prediction;
  std::string acceptance = acceptance_words(acceptance_of(answered));
  if (!prediction.marginal.empty())
    acceptance = fmt::format("acceptance by position, {} given", prediction.marginal.size());
  if (question.acceptance_length) {
    acceptance += fmt::format(" (alpha {:.4f} from {} tokens per iteration)", alpha_of(answered),
                              number_text(*question.acceptance_length));
  }
  if (question.accepted_over_drafted) {
    acceptance += fmt::format(" (alpha {:.4f} from {} of the drafted tokens accepted)", alpha_of(answered),
                              number_text(*question.accepted_over_drafted));
  }
  std::string verified = "all tokens of an iteration";
  if (gamma) {
    const std::int64_t tokens = max_tokens(*gamma, question.scenario.convention);
    verified = fmt::format("{} token{}", tokens, tokens == 1 ? "" : "s");
  }
  const double growth = scenario::verify_growth(question.scenario.cost);
  std::string cost = fmt::format("{} verified at the cost of one", verified);
  if (const MeasuredTimes* measured = measured_times(answered)) {
    cost = fmt::format("{} verified in {} ms whatever gamma, a decode step {} ms", verified,
                       number_text(measured->verify_ms), number_text(measured->step_ms));
    if (growth > 0.0) cost.replace(cost.find(" whatever gamma"), 15, "");
  }
  if (growth > 0.0) cost += fmt::format(",\n            each but the first adds {} decode steps", number_text(growth));
  if (std::holds_alternative<Runs>(acceptance_of(answered)))
    acceptance += ";\n           ";
  else
    acceptance += ";";
  return fmt::format("assumes     {} {} convention; {}\n", acceptance, to_string(question.scenario.convention), cost);
}

std::string log_table(const Answered& answered) {
  if (!answered.question.observed) return "";
  return "\n" + observed_text(*answered.question.observed, answered.prediction.asked.gamma);
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
    // What is fitted has digits without meaning.
    const auto* number = std::holds_alternative<Runs>(acceptance) ? std::get_if<double>(&*value) : nullptr;
    text += fmt::format(" {} {}", parameter.name.substr(prefix.size()),
                        number == nullptr ? scenario::to_text(*value) : fmt::format("{:.4g}", *number));
  }
  return text;
}

std::string to_text(const Answered& answered) {
  return answer_lines(headline(answered) + "\n\n" + table(answered) + "\n" + near_best_line(answered) +
                      break_even_line(answered) + bounds_line(answered) +
                      assumptions_line(answered, answered.prediction.asked.gamma) + log_table(answered));
}

std::string to_text(std::span<const Answered> all) {
  Table table{.caption = "",
              .columns = {{"alpha", Table::Align::right},
                          {"c", Table::Align::right},
                          {"gamma", Table::Align::right},
                          {"tokens per iteration", Table::Align::right},
                          {"speedup", Table::Align::right},
                          {"best gamma", Table::Align::right},
                          {"best speedup", Table::Align::right}},
              .rows = {}};
  const auto gamma_text = [](const std::optional<std::int64_t>& gamma) {
    return gamma ? fmt::format("{}", *gamma) : std::string("unbounded");
  };
  std::optional<std::int64_t> gamma = all.front().prediction.asked.gamma;
  Interval speedups{std::numeric_limits<double>::infinity(), 0.0};
  for (const Answered& answered : all) {
    const auto& [question, prediction] = answered;
    if (prediction.asked.gamma != gamma) gamma.reset();
    const double speedup = prediction.asked.speedup.value_or(std::numeric_limits<double>::infinity());
    speedups = {std::min(speedups.low, speedup), std::max(speedups.high, speedup)};
    table.rows.push_back(
        {number_text(alpha_of(answered)), number_text(scenario::decoding_cost(question.scenario).value().draft_pass),
         gamma_text(prediction.asked.gamma), fixed(prediction.asked.tokens, ""), fixed(prediction.asked.speedup, "x"),
         gamma_text(prediction.best.gamma), fixed(prediction.best.speedup, "x")});
  }
  return answer_lines(fmt::format("speedup {}x to {}x over {} combinations.\n\n", decimal_text(speedups.low, 2),
                                  decimal_text(speedups.high, 2), all.size()) +
                      to_text(table) + "\n" + assumptions_line(all.front(), gamma));
}

}  // namespace foredraft::experiments
