// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <nlohmann/json.hpp>

#include "answers/comparison.hpp"
#include "core/json_values.hpp"
#include "logs/document_fields.hpp"

namespace foredraft::answers {
namespace {

using Document = nlohmann::ordered_json;

Document log_json(const ComparedLog& log) {
  return {{"name", log.name},
          {"file", log.file},
          {"format", log.format},
          {"engine", word_or_null(log.engine)},
          {"engine_version", word_or_null(log.version)},
          {"baseline", log.is_baseline}};
}

Document measured_json(const MeasuredMetric& measured) {
  return {{"metric", measured.metric},
          {"value", measured.estimate.value},
          {"ci95", interval_json(known_interval(measured.estimate))},
          {"clusters", measured.clusters},
          {"cluster", logs::encoded(measured.span)},
          {"assumed", is_assumed(measured.estimate)}};
}

Document run_json(const RunEstimates& run, const ComparedCost& cost) {
  return {{"name", run.name},
          {"log", run.log},
          {"gamma", value_or_null(run.run.setting.gamma)},
          {"batch", value_or_null(run.run.requests)},
          {"context", value_or_null(run.run.context_tokens)},
          {"category", value_or_null(run.run.load.category)},
          {"request_rate_per_s", value_or_null(run.run.load.request_rate_per_s)},
          {"verification_steps", run.run.steps},
          {"cost_per_million_output_tokens", value_or_null(cost.own)},
          {"plain_cost_per_million_output_tokens", value_or_null(cost.plain)},
          {"metrics", list_json(run.measured, measured_json)},
          {"unknown", list_json(run.unknown, [](const auto& one) -> Document {
             return {{"metric", one.first}, {"why", one.second}};
           })}};
}

Document difference_json(const MetricDifference& one) {
  return {{"metric", one.metric},
          {"reference", one.reference},
          {"candidate", one.candidate},
          {"difference", one.difference},
          {"difference_ci95", interval_json(one.difference_ci95)},
          {"ratio", finite_json(one.ratio)},
          {"ratio_ci95", interval_json(one.ratio_ci95)},
          {"smallest_detectable", finite_json(one.smallest_detectable)},
          {"shown", one.shown},
          {"paired", one.paired}};
}

Document compared_json(const RunComparison& compared, const Comparison& comparison) {
  return {{"reference", comparison.runs[compared.reference].name},
          {"candidate", comparison.runs[compared.candidate].name},
          {"metrics", list_json(compared.metrics, difference_json)}};
}

Document not_compared_json(const NotCompared& one, const Comparison& comparison) {
  return {{"reference", one.reference ? Document(comparison.runs[*one.reference].name) : Document(nullptr)},
          {"candidate", comparison.runs[one.candidate].name},
          {"why", one.why}};
}

Document ranked_json(const Ranked& one, const Comparison& comparison) {
  return {{"run", comparison.runs[one.run].name},
          {"group", one.group},
          {"metric", one.metric},
          {"place", one.place},
          {"tied", one.tied}};
}

Document verdict_json(const RequirementVerdict& verdict) {
  return {{"require", verdict.requirement.text},
          {"run", verdict.run},
          {"relative_to", word_or_null(verdict.reference)},
          {"outcome", outcome_word(verdict.outcome)},
          {"value", value_or_null(verdict.value)},
          {"ci95", interval_json(verdict.ci95)},
          {"why", word_or_null(verdict.why)}};
}

}  // namespace

nlohmann::ordered_json to_json(const Comparison& comparison) {
  Document runs = Document::array();
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    runs.push_back(run_json(comparison.runs[i], comparison.costs.empty() ? ComparedCost{} : comparison.costs[i]));
  }
  const auto& price = comparison.gpu_price;
  const auto with = [&](const auto& one_json) { return [&](const auto& one) { return one_json(one, comparison); }; };
  return {
      {"schema", "foredraft.compare/1"},
      {"answer", comparison.answer},
      {"logs", list_json(comparison.logs, log_json)},
      {"gpu_hour_price", price ? Document(price->per_hour) : Document(nullptr)},
      {"gpus", price ? Document(price->gpus) : Document(nullptr)},
      {"runs", runs},
      {"comparisons", list_json(comparison.compared, with(compared_json))},
      {"not_compared", list_json(comparison.not_compared, with(not_compared_json))},
      {"ranking", list_json(comparison.ranking, with(ranked_json))},
      {"requirements", list_json(comparison.verdicts, verdict_json)},
      {"requirements_met", comparison.verdicts.empty() ? Document(nullptr) : Document(comparison.meets_requirements())},
      {"warnings", warnings_json(comparison.warnings)}};
}

}  // namespace foredraft::answers
