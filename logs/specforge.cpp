// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "logs/formats.hpp"
#include "logs/record_fields.hpp"

/// SpecForge: the dashboard's JSON of all models and sets, and the output of bench_eagle3 for one draft model. Each has
/// batch size, depth, tree and acceptance length; rows without speculation have depth 0 or a name that says so.
namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

const Json* first_of(const Json& list) { return list.is_array() && !list.empty() ? &list.front() : nullptr; }

bool is_setting(const Json* setting) {
  return setting != nullptr && has_keys(*setting, {"batch_size", "steps", "topk", "num_draft_tokens", "metrics"});
}

bool is_dashboard_model(const Json& sets) {
  if (!sets.is_object() || sets.empty() || !sets.front().is_object()) return false;
  const Json& set = sets.front();
  return set.contains("results") && is_setting(first_of(set.at("results")));
}

bool is_eagle3_run(const Json& value) {
  return value.is_object() && value.contains("model") &&
         std::any_of(value.begin(), value.end(), [](const Json& set) { return is_setting(first_of(set)); });
}

bool claims_specforge(const Json& value) {
  return value.is_object() && !value.empty() && (is_dashboard_model(value.front()) || is_eagle3_run(value));
}

/// "Wihtout EAGLE3" is the spelling in the files.
bool names_plain(const std::string& name) { return name.starts_with("Wihtout") || name.starts_with("Without"); }

/// The dashboard repeats its run without speculation beside every setting.
bool is_repeated(const LogContents& contents, const Observation& plain) {
  return std::any_of(contents.observations.begin(), contents.observations.end(), [&](const Observation& other) {
    return other.decoding == Decoding::plain && other.stratum == plain.stratum && other.requests == plain.requests &&
           other.times.output_tokens_per_s == plain.times.output_tokens_per_s;
  });
}

void read_specforge_metric(const JsonFields& setting, const JsonFields& metric, const std::string& category,
                           LogContents& contents) {
  const auto steps = setting.count("steps");
  const auto length = metric.real("accept_length");
  const std::string name = metric.text("Name").value_or("");
  const bool plain = names_plain(name) || steps == 0;
  Observation observation{.line = metric.line(),
                          .span = Span::run,
                          .decoding = plain ? Decoding::plain : Decoding::speculative,
                          .requests = setting.real("batch_size")};
  observation.times.output_tokens_per_s = metric.real("output_throughput");
  observation.times.duration_s = metric.real("latency");
  observation.stratum.category = category;
  if (plain) {
    if (!is_repeated(contents, observation)) contents.observations.push_back(std::move(observation));
    return;
  }
  // A tree drafts more tokens than its depth: neither is a draft length.
  if (setting.count("topk").value_or(1) == 1) observation.gamma = steps;
  observation.acceptance_length = length;
  if (length && *length < 1.0) metric.refuse("accept_length", std::to_string(*length), "must be at least 1");
  if (!name.empty()) note(contents.settings.draft, std::optional(name));
  contents.observations.push_back(std::move(observation));
}

void read_specforge_setting(const JsonFields& setting, const std::string& category, LogContents& contents) {
  for (const JsonFields& metric : setting.objects("metrics")) {
    read_specforge_metric(setting, metric, category, contents);
  }
}

void read_specforge(const Json& value, std::int64_t line, LogContents& contents) {
  const JsonFields file(value, line);
  if (is_eagle3_run(value)) {
    note(contents.settings.draft, file.text("model"));
    for (const auto& set : value.items()) {
      if (!set.value().is_array()) continue;
      for (const JsonFields& setting : file.objects(set.key())) read_specforge_setting(setting, set.key(), contents);
    }
    return;
  }
  const bool several = value.size() > 1;
  for (const auto& model : value.items()) {
    const JsonFields sets = file.required_object(model.key());
    if (!several) note(contents.settings.target, std::optional(model.key()));
    for (const auto& set : sets.json().items()) {
      // Keeps runs of several models apart, as different kinds of prompts.
      const std::string category = several ? model.key() + " " + set.key() : set.key();
      for (const JsonFields& setting : sets.required_object(set.key()).objects("results")) {
        read_specforge_setting(setting, category, contents);
      }
    }
  }
}

}  // namespace

LogFormat specforge_format() {
  return {.name = "specforge",
          .summary = "SpecForge dashboard JSON and bench_eagle3 results, by setting",
          .engine = "sglang",
          .gives = {"(yes)", "yes", "no", "no", "yes"},
          .reads = JsonFormat{"num_draft_tokens", claims_specforge, read_specforge}};
}

}  // namespace foredraft::logs
