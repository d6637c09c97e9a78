// SPDX-License-Identifier: Apache-2.0
#include "app/inventories.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "app/texts/inventory_texts.hpp"
#include "core/json_values.hpp"
#include "core/table.hpp"
#include "experiments/reproduce/registry.hpp"
#include "inputs/devices.hpp"
#include "inputs/read_model.hpp"
#include "latency/devices/device_registry.hpp"
#include "latency/engines/engines.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/model_bytes.hpp"
#include "logs/log_format.hpp"
#include "scenario/costs.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/methods.hpp"
#include "scenario/metrics.hpp"
#include "scenario/parameters.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"
#include "scenario/rules.hpp"
#include "sim/token/models/model_pair.hpp"

namespace foredraft::app {
namespace {

using Json = nlohmann::ordered_json;

Json named(const auto& name, const auto& summary) { return {{"name", name}, {"summary", summary}}; }

Json parameter_entry(const scenario::Parameter& parameter) {
  return {{"name", parameter.name},
          {"summary", parameter.summary},
          {"legal_values", scenario::legal_values(parameter)},
          {"default", parameter.default_value ? Json(scenario::to_text(*parameter.default_value)) : Json()}};
}

/// A member of a family, with its parameters.
Json member(const auto& entry) {
  Json parameters = list_json(entry.parameters, [](const auto& parameter) {
    scenario::Parameter own = *scenario::find_parameter(parameter.name);  // other members of the family may share it
    own.summary = parameter.summary;
    own.range = parameter.range;
    own.default_value = parameter.default_value();
    return parameter_entry(own);
  });
  return {{"name", entry.name}, {"summary", entry.summary}, {"source", entry.source}, {"parameters", parameters}};
}

Json members(const auto& registry) {
  return list_json(registry, [](const auto& entry) { return member(entry); });
}

Json range_json(const latency::Range& range) {
  return {{"low", range.low}, {"value", range.value}, {"high", range.high}};
}

Json drafter_entries() {
  return list_json(scenario::drafters(), [](const scenario::DrafterMember& drafter) {
    Json entry = member(drafter);
    entry["fidelities"] = Json::array();
    if (drafter.process) entry["fidelities"].push_back("process");
    if (drafter.token) entry["fidelities"].push_back("token");
    return entry;
  });
}

Json rule_entries() {
  return list_json(scenario::rules(), [](const scenario::RuleMember& rule) {
    Json entry = member(rule);
    entry["lossless"] = rule.lossless;
    return entry;
  });
}

Json method_entries() {
  return list_json(scenario::methods(), [](const scenario::Method& method) {
    return Json{{"name", method.name},
                {"summary", method.summary},
                {"aliases", method.aliases},
                {"wins", method.wins},
                {"source", method.source},
                {"exact", method.exact},
                {"request", word_or_null(std::string(method.request))},
                {"reason", word_or_null(std::string(method.reason))},
                {"members", method.members},
                {"compared", !std::holds_alternative<std::monostate>(method.compared)},
                {"needs_text", scenario::needs_text(method)},
                {"not_compared", word_or_null(std::string(method.not_compared))},
                {"if_named", word_or_null(std::string(method.if_named))}};
  });
}

Json format_entries() {
  return list_json(logs::formats(), [](const logs::LogFormat& format) {
    Json entry = named(format.name, format.summary);
    entry.update({{"gamma", format.gives.gamma},
                  {"length", format.gives.length},
                  {"positions", format.gives.positions},
                  {"times", format.gives.times},
                  {"batch", format.gives.batch}});
    return entry;
  });
}

Json metric_entries() {
  return list_json(scenario::result_columns(), [](const scenario::ResultColumn& column) {
    return Json{
        {"name", column.name}, {"summary", column.meaning}, {"unit", column.unit}, {"estimated", column.estimated}};
  });
}

Json device_entries() {
  return list_json(latency::device_registry(), [](const latency::DeviceSheet& sheet) {
    const latency::Limits& limits = sheet.profile.limits;
    return Json{{"name", sheet.name},
                {"summary", sheet.profile.device.name},
                {"aliases", sheet.aliases},
                {"memory_bytes", value_or_null(latency::capacity_bytes(sheet.profile.device))},
                {"memory_bandwidth_bytes_per_s", value_or_null(limits.memory_bandwidth_bytes_per_s.value)},
                {"matrix_peak_fp16_flop_per_s", value_or_null(limits.matrix_peak_fp16_flop_per_s.value)},
                {"matrix_peak_fp8_flop_per_s", value_or_null(limits.matrix_peak_fp8_flop_per_s.value)},
                {"matrix_peak_int8_flop_per_s", value_or_null(limits.matrix_peak_int8_flop_per_s.value)},
                {"matrix_peak_fp4_flop_per_s", value_or_null(limits.matrix_peak_fp4_flop_per_s.value)},
                {"link_bandwidth_bytes_per_s", value_or_null(limits.link_bandwidth_bytes_per_s.value)}};
  });
}

Json profile_entries() {
  return list_json(inputs::operators_rows(), [](const inputs::OperatorsRow& row) {
    return Json{{"name", row.name},
                {"summary", fmt::format("{} and {} on {} under {}", row.target, row.draft, row.device, row.engine)},
                {"device", row.device},
                {"engine", row.engine},
                {"target", row.target},
                {"draft", row.draft},
                {"batches", row.batches},
                {"contexts", row.contexts}};
  });
}

Json engine_entries() {
  return list_json(latency::engine_registry(), [](const latency::Engine& engine) {
    return Json{{"name", engine.name},
                {"summary", engine.summary},
                {"aliases", engine.aliases},
                {"asynchronous", engine.asynchronous},
                {"slot_by_slot", engine.slot_by_slot},
                {"prefill", latency::to_string(engine.prefill)},
                {"pass_tokens", engine.pass_tokens},
                {"graph_tokens", engine.graph_tokens},
                {"max_requests", engine.max_requests},
                {"host_us", range_json(engine.host_us)},
                {"host_request_us", range_json(engine.host_request_us)},
                {"draft_host_us", range_json(engine.draft_host_us)},
                {"draft_host_request_us", range_json(engine.draft_host_request_us)},
                {"eager_operator_us", range_json(engine.eager_operator_us)},
                {"source", engine.source}};
  });
}

Json model_pair_entries() {
  return list_json(sim::model_registry(), [](const auto& pair) { return named(pair.name, pair.summary); });
}

Json model_entries() {
  return list_json(latency::model_registry(), [](const latency::ModelShape& shape) {
    return Json{{"name", shape.name},
                {"summary", shape.summary},
                {"source", shape.source},
                {"encoder_layers", shape.encoder_layers},
                {"layers", shape.layers},
                {"d_model", shape.d_model},
                {"heads", shape.heads},
                {"kv_heads", shape.kv_heads},
                {"experts", shape.experts.count},
                {"experts_per_token", shape.experts.per_token},
                {"vocabulary", shape.vocabulary},
                {"parameters", latency::parameters(shape)},
                {"published_parameters", value_or_null(shape.published_parameters)},
                {"fp16_step_bytes", 2.0 * latency::step_parameters(shape)}};
  });
}

}  // namespace

const std::vector<Inventory>& inventories() {
  static const std::vector<Inventory> all{
      {"drafters", "what drafts tokens", drafter_entries},
      {"rules", "verification rules", rule_entries},
      {"policies", "draft-length policies", [] { return members(scenario::policies()); }},
      {.name = "methods",
       .summary = "methods of the field: how each is asked for, or why not",
       .entries = method_entries,
       .text = methods_text,
       .markdown = methods_markdown},
      {"processes", "acceptance processes", [] { return members(scenario::processes()); }},
      {"costs", "cost models", [] { return members(scenario::costs()); }},
      {.name = "models",
       .summary = "pairs of token models, and shapes of models for step times",
       .entries = model_entries,
       .text = models_text,
       .markdown = [] { return to_markdown(inputs::model_table()) + "\n" + to_markdown(inputs::model_source_table()); },
       .more = {"pairs", model_pair_entries}},
      {.name = "devices",
       .summary = "data sheets, and step times of engines",
       .entries = device_entries,
       .text = devices_text,
       .markdown = inputs::devices_markdown,
       .more = {"profiles", profile_entries}},
      {.name = "engines",
       .summary = "serving engines, with what they add to forward passes",
       .entries = engine_entries,
       .columns = {{"name", "engine"}, {"summary", "what it is"}, {"source", "source of its times"}},
       .text = engines_text},
      {"experiments", "tables and figures that reproduce computes",
       [] {
         return list_json(experiments::experiment_registry(),
                          [](const auto& entry) { return named(entry.id, entry.summary); });
       }},
      {"formats",
       "logs and results that advise, import and compare read",
       format_entries,
       {{"name", "format"},
        {"summary", "reads"},
        {"gamma", "gamma"},
        {"length", "length"},
        {"positions", "positions"},
        {"times", "times"},
        {"batch", "batch"}}},
      {"parameters",
       "keys of configurations, of which many are options too",
       [] { return list_json(scenario::parameters(), parameter_entry); },
       {{"name", "parameter"}, {"legal_values", "legal values"}, {"default", "default"}, {"summary", "meaning"}}},
      {"metrics",
       "columns of points.csv",
       metric_entries,
       {{"name", "column"}, {"unit", "unit"}, {"summary", "meaning"}, {"estimated", "how it is estimated"}}},
  };
  return all;
}

}  // namespace foredraft::app
