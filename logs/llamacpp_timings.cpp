// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"

/// Requests with llama-server's times.
namespace foredraft::logs {

// ---- llama-server's `timings` of a request: in its answer, in a list of records, or in scripts' runs of such lists,
// each with its method.

namespace {

using Json = nlohmann::ordered_json;

/// Whether an object has the times of one request.
bool is_llamacpp_request(const Json& value) { return has_keys(value, {"predicted_n", "predicted_ms"}); }

/// Steps follow from the tokens: each emits one that was not drafted, except that the first token comes from the
/// prompt. Without `draft_n` the request drafted nothing (`undrafted`); with 0 it is a speculative one.
Observation llamacpp_request(const JsonFields& timings, Decoding undrafted, LogContents& contents) {
  Observation observation{.line = timings.line(), .span = Span::request, .decoding = undrafted};
  const std::int64_t tokens = timings.required_count("predicted_n");
  const double decode_ms = timings.required_real("predicted_ms");
  const auto after_first = static_cast<double>(tokens - 1);
  if (tokens > 1) observation.times.tpot_ms = decode_ms / after_first;
  observation.times.ttft_ms = timings.real("prompt_ms");
  observation.stratum.output_tokens = static_cast<double>(tokens);
  if (const auto prompt = timings.count("prompt_n")) {
    observation.stratum.context_tokens = static_cast<double>(*prompt) +
                                         static_cast<double>(timings.count("cache_n").value_or(0)) +
                                         static_cast<double>(tokens) / 2.0;
  }
  const auto drafted = timings.count("draft_n");
  if (!drafted) {
    if (undrafted == Decoding::plain) observation.times.iteration_ms = observation.times.tpot_ms;
    return observation;
  }
  const std::int64_t accepted = timings.count("draft_n_accepted").value_or(0);
  if (accepted > 0 && accepted >= tokens) {
    timings.reject("draft_n_accepted", std::to_string(accepted), fmt::format("predicted_n is {}", tokens));
  }
  observation.decoding = Decoding::speculative;
  observation.acceptance = AcceptanceCounts{.steps = std::max<std::int64_t>(0, tokens - 1 - accepted),
                                            .drafted_tokens = drafted,
                                            .accepted_tokens = accepted,
                                            .steps_estimated = true};
  check_counts(*observation.acceptance, std::nullopt, timings.line(), contents);
  if (observation.acceptance->steps > 0) {
    observation.times.iteration_ms = decode_ms / static_cast<double>(observation.acceptance->steps);
  }
  return observation;
}

bool has_timings(const Json& value) { return has_keys(value, {"timings"}) && is_llamacpp_request(value.at("timings")); }

bool is_record(const Json& value) { return is_llamacpp_request(value) || has_timings(value); }

bool has_records(const Json& value) {
  const Json* record = first_entry(value, "records");
  return record != nullptr && is_record(*record);
}

bool has_runs(const Json& value) {
  const Json* run = first_entry(value, "runs");
  return run != nullptr && has_records(*run);
}

bool claims_llamacpp_timings(const Json& value) {
  if (value.is_array()) return !value.empty() && is_record(value.front());
  return is_record(value) || has_records(value) || has_runs(value);
}

void read_llamacpp_record(const JsonFields& record, Decoding undrafted, LogContents& contents) {
  const JsonFields timings = record.has("timings") ? record.required_object("timings") : record;
  Observation observation = llamacpp_request(timings, undrafted, contents);
  observation.stratum.request = record.text("id");
  observation.stratum.category = record.text("category");
  note(contents.settings.target, record.text("model"));
  if (record.has("generation_settings")) {
    const JsonFields settings = record.required_object("generation_settings");
    observation.stratum.temperature = settings.real("temperature");
    observation.stratum.top_p = settings.real("top_p");
    if (observation.decoding == Decoding::speculative) observation.gamma = settings.count("speculative.n_max");
  }
  contents.observations.push_back(std::move(observation));
}

void read_llamacpp_records(const JsonFields& run, LogContents& contents) {
  constexpr std::array<std::string_view, 5> plain_methods{"baseline", "plain", "none", "no_speculation", "vanilla"};
  const auto method = run.text("method");
  const bool plain = !method || std::find(plain_methods.begin(), plain_methods.end(), *method) != plain_methods.end();
  if (!plain) note(contents.settings.method, method);
  const std::size_t before = contents.observations.size();
  for (const JsonFields& record : run.objects("records")) {
    read_llamacpp_record(record, plain ? Decoding::plain : Decoding::unknown, contents);
  }
  for (std::size_t i = before; i < contents.observations.size(); ++i) {
    if (contents.observations[i].decoding != Decoding::unknown) continue;
    warn_once(contents, "W09", run.line(),
              fmt::format("the run \"{}\" logs no drafts: it counts neither as baseline nor as speculative", *method));
  }
}

void read_llamacpp_timings(const Json& value, std::int64_t line, LogContents& contents) {
  if (value.is_array()) {
    for (const Json& record : value) read_llamacpp_record(JsonFields(record, line), Decoding::plain, contents);
    return;
  }
  const JsonFields file(value, line);
  if (is_record(value)) return read_llamacpp_record(file, Decoding::plain, contents);
  if (file.has("meta")) {
    const JsonFields meta = file.required_object("meta");
    note(contents.settings.target, meta.text("target"));
    note(contents.settings.draft, meta.text("draft"));
  }
  if (!file.has("runs")) return read_llamacpp_records(file, contents);
  for (const JsonFields& run : file.objects("runs")) read_llamacpp_records(run, contents);
}

// ---- `speed_bench.py --output` of llama.cpp: requests with llama-server's times if the file has them, else means of
// each category, whose acceptance rate has no counts and is ignored.

bool claims_speed_bench(const Json& value) {
  return has_keys(value, {"config", "selected_samples", "summary", "results"});
}

bool timed(const JsonFields& result) {
  return is_llamacpp_request(result.json()) ||
         (result.has("timings") && is_llamacpp_request(result.json().at("timings")));
}

void read_speed_summary(const JsonFields& row, std::optional<double> requests, LogContents& contents) {
  const std::string category = row.text("category").value_or("");
  if (category == "overall") return;
  const auto rate = row.real("avg_pred_t/s");
  Observation observation{.line = row.line(), .span = Span::run, .requests = requests};
  if (rate && *rate > 0.0) observation.times.tpot_ms = 1000.0 / *rate;
  if (!category.empty()) observation.stratum.category = category;
  contents.observations.push_back(std::move(observation));
  warn_once(contents, "W10", row.line(), "means of rates by category, which are not the acceptance rate of all tokens");
}

void read_speed_bench(const JsonFields& file, LogContents& contents) {
  const auto requests = file.required_object("config").real("concurrency");
  bool any_timed = false;
  for (const JsonFields& result : file.objects("results")) {
    if (!timed(result)) continue;
    any_timed = true;
    const JsonFields timings = result.has("timings") ? result.required_object("timings") : result;
    Observation observation = llamacpp_request(timings, Decoding::plain, contents);
    observation.requests = requests;
    observation.stratum.category = result.text("category");
    contents.observations.push_back(std::move(observation));
  }
  if (any_timed) return;
  for (const JsonFields& row : file.objects("summary")) read_speed_summary(row, requests, contents);
}

}  // namespace

LogFormat llamacpp_timings_format() {
  return {.name = "llamacpp-timings",
          .summary = "llama-server answers with timings, and lists of such records",
          .engine = "llama.cpp",
          .gives = {"(yes)", "yes", "no", "iteration, tokens", "no"},
          .reads = JsonFormat{"predicted_ms", claims_llamacpp_timings, read_llamacpp_timings}};
}

LogFormat speed_bench_format() {
  return {.name = "speed-bench",
          .summary = "llama.cpp speed_bench.py --output: requests by category, or their means",
          .engine = "llama.cpp",
          .gives = {"no", "(yes)", "no", "tokens", "yes"},
          .reads = JsonFormat{"selected_samples", claims_speed_bench, of_object<read_speed_bench>}};
}

}  // namespace foredraft::logs
