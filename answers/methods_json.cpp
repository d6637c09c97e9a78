// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

#include "answers/methods.hpp"
#include "core/csv.hpp"
#include "core/intervals.hpp"
#include "core/json_values.hpp"
#include "foredraft/methods.hpp"

namespace foredraft::answers {
namespace {

using Json = nlohmann::ordered_json;

Json estimate_or_null(const Estimate& estimate) {
  if (std::isnan(estimate.mean)) return nullptr;
  return {{"mean", finite_json(estimate.mean)},
          {"standard_error", finite_json(estimate.standard_error)},
          {"ci95", interval_json(normal_interval(estimate))}};
}

std::optional<double> known(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }

std::optional<Estimate> known(const Estimate& estimate) {
  return std::isnan(estimate.mean) ? std::nullopt : std::optional(estimate);
}

Json pair_json(const SyntheticModels& models) {
  return {{"kind", "synthetic"}, {"alpha", models.alpha}, {"vocabulary", models.vocabulary}, {"pool", models.pool}};
}

Json pair_json(const NgramModels& models, std::int64_t pool) {
  return {{"kind", "ngram"},
          {"corpus", models.corpus},
          {"vocabulary", models.vocabulary},
          {"target_order", models.target_order},
          {"draft_order", models.draft_order},
          {"pool", pool}};
}

Json pairs_json(const MethodsAnswer& answer) {
  Json pairs = Json::array();
  auto first = answer.acceptances.begin();
  for (const MethodsPair& pair : answer.question.pairs) {
    Json entry{{"name", pair.name}};
    const auto* text = std::get_if<NgramModels>(&pair.models);
    entry.update(text != nullptr ? pair_json(*text, pair.pool) : pair_json(std::get<SyntheticModels>(pair.models)));
    const auto last = first + std::ssize(answer.question.temperatures);
    entry["acceptances"] = std::vector<double>(first, last);
    first = last;
    pairs.push_back(std::move(entry));
  }
  return pairs;
}

/// Fields of the pairs: at the top for a single pair without a name, else in an array.
Json models_json(const MethodsAnswer& answer) {
  const MethodsQuestion& question = answer.question;
  Json json{{"schema", "foredraft.methods/1"}};
  if (question.pairs.empty()) {
    json.update({{"alpha", question.models.alpha},
                 {"vocabulary", question.models.vocabulary},
                 {"pool", question.models.pool},
                 {"temperatures", question.temperatures},
                 {"acceptances", answer.acceptances}});
  } else {
    json.update({{"pairs", pairs_json(answer)}, {"temperatures", question.temperatures}});
  }
  return json;
}

Json row_json(const MethodRow& row) {
  Json json = Json::object();
  if (!row.pair.empty()) json["pair"] = row.pair;
  json.update({{"method", row.method},
               {"temperature", row.temperature},
               {"setting", row.setting},
               {"gamma", row.gamma},
               {"positions", row.positions},
               {"tokens_per_iteration", estimate_or_null(row.tokens_per_iteration)},
               {"iteration_cost", finite_json(row.iteration_cost)},
               {"speedup", estimate_or_null(row.speedup)},
               {"closed_form", finite_json(row.closed_form)},
               {"deviation_in_se", finite_json(row.deviation_in_se)},
               {"exact", row.exact},
               {"loss", finite_json(row.loss)},
               {"bound", finite_json(row.bound)}});
  for (const auto& [name, value] : row.parameters) json["parameters"].push_back({{"name", name}, {"value", value}});
  return json;
}

}  // namespace

Json to_json(const MethodsAnswer& answer) {
  const MethodsQuestion& question = answer.question;
  Json json = models_json(answer);
  json.update({{"gamma", value_or_null(question.gamma)},
               {"c", question.price.c},
               {"verification", question.price.verification},
               {"times", word_or_null(question.price.times)},
               {"width", question.width},
               {"servers", question.servers},
               {"iterations", question.iterations},
               {"seed", question.seed},
               {"rows", Json::array()}});
  for (const MethodRow& row : answer.rows) json["rows"].push_back(row_json(row));
  return json;
}

std::string methods_csv(const MethodsAnswer& answer) {
  const bool named = !answer.question.pairs.empty();
  std::vector<std::string> header{"temperature",
                                  "method",
                                  "setting",
                                  "gamma",
                                  "positions",
                                  "tokens_per_iteration",
                                  "tokens_per_iteration_standard_error",
                                  "iteration_cost",
                                  "speedup",
                                  "speedup_standard_error",
                                  "closed_form",
                                  "exact",
                                  "loss",
                                  "bound"};
  if (named) header.insert(header.begin(), "pair");
  DataText data(header);
  for (const MethodRow& row : answer.rows) {
    data.row();
    if (named) data.cell(row.pair);
    data.cell(row.temperature)
        .cell(row.method)
        .cell(row.setting)
        .cell(static_cast<double>(row.gamma))
        .cell(static_cast<double>(row.positions))
        .cell(known(row.tokens_per_iteration))
        .cell(known(row.iteration_cost))
        .cell(known(row.speedup))
        .cell(known(row.closed_form))
        .cell(row.exact ? 1.0 : 0.0)
        .cell(row.loss)
        .cell(known(row.bound));
  }
  return data.csv();
}

}  // namespace foredraft::answers
