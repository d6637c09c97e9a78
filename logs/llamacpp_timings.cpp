// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/headings.hpp"

/// JSON with llama-server's times of requests.
namespace foredraft::logs {

// ---- llama-server's `timings` of a request: in its answer, in a list of records, or in scripts' runs of such lists,
// each with its method.

namespace {

/// True if an object has the times of one request, or its drafts and no speed of its own: `predicted_n` and any other
/// of these keys.
bool is_llamacpp_request(const JsonValue& value) {
  constexpr std::array<const char*, 5> times{"predicted_ms", "predicted_per_token_ms", "predicted_per_second",
                                             "prompt_n", "prompt_ms"};
  constexpr std::array<const char*, 2> drafts{"draft_n", "draft_n_accepted"};
  if (!has_keys(value, {"predicted_n"})) return false;
  const auto is_speed = [](const JsonValue& one) { return is_speed_or_time(column_of(one.key()).meaning); };
  return keys_of(value, times) > 0 ||
         (keys_of(value, drafts) > 0 && std::none_of(value.begin(), value.end(), is_speed));
}

/// Sets counts and the time of an iteration of a request that generated `after_first` tokens in `decode_ms`, without
/// those that come with prompts. Each step emits one that was not drafted. mlx-vlm counts its steps as rounds, and also
/// drafts that its target accepted after the end of the text.
void set_drafts(const JsonFields& timings, std::int64_t after_first, std::optional<double> decode_ms,
                Observation& observation, LogContents& contents) {
  const auto drafted = timings.count("draft_n");
  const auto accepted = drafted == 0 ? 0 : timings.count("draft_n_accepted");
  if (!accepted) return;
  const auto rounds = timings.count("draft_rounds");
  if (!rounds && *accepted > after_first && *accepted > 0) {
    timings.reject("draft_n_accepted", std::to_string(*accepted),
                   fmt::format("{} tokens were generated after the prompt's", after_first));
  }
  observation.acceptance =
      AcceptanceCounts{.steps = rounds.value_or(std::max<std::int64_t>(0, after_first - *accepted)),
                       .drafted_tokens = drafted,
                       .accepted_tokens = accepted,
                       .steps_estimated = !rounds};
  if (rounds) observation.gamma = steady_gamma(*observation.acceptance);
  check_counts(*observation.acceptance, std::nullopt, timings.line(), contents);
  if (decode_ms && observation.acceptance->steps > 0) {
    observation.times.iteration_ms = *decode_ms / static_cast<double>(observation.acceptance->steps);
  }
}

/// Time of all tokens of a request: as stated, or from its time per token or tokens per second.
std::optional<double> decode_ms_of(const JsonFields& timings, double tokens) {
  if (const auto ms = timings.real("predicted_ms")) return ms;
  if (const auto ms = timings.real("predicted_per_token_ms")) return *ms * tokens;
  const auto rate = timings.real("predicted_per_second");
  return rate && *rate > 0.0 ? std::optional(1000.0 * tokens / *rate) : std::nullopt;
}

/// A request from its times. Its decoding is speculative if it has `draft_n`, even 0; else it is `undrafted`. The first
/// token comes from the prompt.
Observation llamacpp_request(const JsonFields& timings, Decoding undrafted, LogContents& contents) {
  const bool drafts = timings.has("draft_n");
  Observation observation{
      .line = timings.line(), .span = Span::request, .decoding = drafts ? Decoding::speculative : undrafted};
  observation.times.ttft_ms = timings.real("prompt_ms");
  const auto tokens = timings.count("predicted_n");
  if (!tokens) return observation;
  const auto output = static_cast<double>(*tokens);
  const auto decode_ms = decode_ms_of(timings, output);
  if (decode_ms && *tokens > 1) observation.times.tpot_ms = *decode_ms / (output - 1.0);
  observation.stratum.output_tokens = output;
  if (const auto prompt = timings.count("prompt_n")) {
    observation.stratum.context_tokens =
        static_cast<double>(*prompt) + static_cast<double>(timings.count("cache_n").value_or(0)) + output / 2.0;
  }
  if (drafts) {
    set_drafts(timings, *tokens - 1, decode_ms, observation, contents);
  } else if (undrafted == Decoding::plain) {
    observation.times.iteration_ms = observation.times.tpot_ms;
  }
  return observation;
}

bool has_timings(const JsonValue& value) {
  return has_keys(value, {"timings"}) && is_llamacpp_request(value.at("timings"));
}

bool is_record(const JsonValue& value) { return is_llamacpp_request(value) || has_timings(value); }

/// The key of the requests of a run: `records`, or `results` beside the `aggregate` of mtp-bench.py.
const char* key_of_records(const JsonValue& value) { return has_keys(value, {"aggregate"}) ? "results" : "records"; }

bool has_records(const JsonValue& value) {
  const JsonValue* record = first_entry(value, key_of_records(value));
  return record != nullptr && is_record(*record);
}

bool has_runs(const JsonValue& value) {
  const JsonValue* run = first_entry(value, "runs");
  return run != nullptr && has_records(*run);
}

bool claims_llamacpp_timings(const JsonValue& value) {
  if (value.is_array()) return !value.empty() && is_record(value.front());
  return is_record(value) || has_records(value) || has_runs(value);
}

/// Notes the engine of an answer, if it tells: servers on MLX have llama-server's times, but count rounds, or name
/// their models so.
void note_engine_of_timings(const JsonFields& timings, const std::optional<std::string>& model, LogContents& contents) {
  static const RE2 mlx(R"re((?i)(?:^|[^a-z])mlx(?:[^a-z]|$))re");
  if (timings.has("draft_rounds") || timings.has("draft_kind") || (model && RE2::PartialMatch(*model, mlx))) {
    contents.engine = "mlx";
  } else if (timings.has("draft_n")) {
    contents.engine = "llama.cpp";
  }
}

void read_llamacpp_record(const JsonFields& record, Decoding undrafted, LogContents& contents) {
  const JsonFields timings = record.has("timings") ? record.required_object("timings") : record;
  Observation observation = llamacpp_request(timings, undrafted, contents);
  observation.stratum.request = record.has("id") ? record.text("id") : record.text("name");
  observation.stratum.category = record.text("category");
  note(contents.settings.target, record.text("model"));
  note_engine_of_timings(timings, record.text("model"), contents);
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
  for (const JsonFields& record : run.objects(key_of_records(run.json()))) {
    read_llamacpp_record(record, plain ? Decoding::plain : Decoding::unknown, contents);
  }
  for (std::size_t i = before; i < contents.observations.size(); ++i) {
    if (contents.observations[i].decoding != Decoding::unknown) continue;
    warn_once(contents, "W09", run.line(),
              fmt::format("the run \"{}\" logs no drafts: it counts neither as baseline nor as speculative", *method));
  }
}

void read_llamacpp_timings(const JsonValue& value, std::int64_t line, LogContents& contents) {
  if (value.is_array()) {
    for (const JsonValue& record : value) read_llamacpp_record(JsonFields(record, line), Decoding::plain, contents);
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
// each category, whose acceptance rate has no steps and is ignored.

constexpr std::string_view speed_anchor = "(?:selected|completed|failed)_samples|avg_pred_t[/_]s";

/// Any two keys identify a file, if one is of samples or its summary has speeds.
bool claims_speed_bench(const JsonValue& value) {
  constexpr std::array<const char*, 3> samples{"selected_samples", "completed_samples", "failed_samples"};
  constexpr std::array<const char*, 3> others{"config", "summary", "results"};
  const JsonValue* row = first_entry(value, "summary");
  const bool speeds = row != nullptr && (has_keys(*row, {"avg_pred_t_s"}) || has_keys(*row, {"avg_pred_t/s"}));
  const auto own = keys_of(value, samples);
  return (own > 0 || speeds) && own + keys_of(value, others) >= 2;
}

/// The request of a result: from llama-server's times in it or in its `timings`, or from sums over its turns, each of
/// which has its first token from its prompt. Nullopt if it failed or has no times.
std::optional<Observation> speed_request(const JsonFields& result, Decoding undrafted, LogContents& contents) {
  if (!result.flag("ok").value_or(true)) return std::nullopt;
  if (result.has("timings") && is_llamacpp_request(result.json().at("timings"))) {
    return llamacpp_request(result.required_object("timings"), Decoding::plain, contents);
  }
  if (is_llamacpp_request(result.json())) return llamacpp_request(result, Decoding::plain, contents);
  const auto tokens = result.count("completion_tokens");
  const auto turns = result.count("turns");
  const auto decode_ms = result.real("predicted_ms");
  if (!tokens || !turns || !decode_ms || *turns < 1 || *tokens <= *turns || *decode_ms <= 0.0) return std::nullopt;
  Observation observation{.line = result.line(), .span = Span::request, .decoding = undrafted};
  const std::int64_t after_first = *tokens - *turns;
  observation.times.tpot_ms = *decode_ms / static_cast<double>(after_first);
  const auto answer = static_cast<double>(*tokens) / static_cast<double>(*turns);
  const auto prompt = result.count("prompt_tokens");
  set_lengths(prompt ? std::optional(static_cast<double>(*prompt) / static_cast<double>(*turns)) : std::nullopt, answer,
              observation.stratum);
  if (*turns == 1) observation.times.ttft_ms = result.real("prompt_ms");
  if (undrafted == Decoding::plain) {
    observation.times.iteration_ms = observation.times.tpot_ms;
  } else if (result.has("draft_n")) {
    observation.decoding = Decoding::speculative;
    set_drafts(result, after_first, *decode_ms, observation, contents);
  }
  return observation;
}

void read_speed_summary(const JsonFields& row, std::optional<double> requests, LogContents& contents) {
  const auto rate = row.has("avg_pred_t_s") ? row.real("avg_pred_t_s") : row.real("avg_pred_t/s");
  Observation observation{.line = row.line(), .span = Span::run, .requests = requests};
  if (rate && *rate > 0.0) observation.times.tpot_ms = 1000.0 / *rate;
  if (const auto category = row.text("category"); category && !category->empty() && *category != "overall") {
    observation.stratum.category = category;
  }
  contents.observations.push_back(std::move(observation));
  warn_once(contents, "W10", row.line(), "means of rates by category, which are not the acceptance rate of all tokens");
}

/// The decoding of requests without drafts: without speculation speed_bench.py writes counts of 0, so a file whose
/// counts are all 0 is plain. Unknown if another has drafts, or if there are no counts.
Decoding undrafted_in(std::span<const JsonFields> results) {
  const auto drafts = [](const JsonFields& result) { return result.count("draft_n"); };
  if (std::ranges::any_of(results, [&](const auto& result) { return drafts(result).value_or(0) > 0; }))
    return Decoding::unknown;
  return std::ranges::any_of(results, [&](const auto& result) { return drafts(result) == 0; }) ? Decoding::plain
                                                                                               : Decoding::unknown;
}

void read_speed_bench(const JsonFields& file, LogContents& contents) {
  const auto requests = file.real_in("config", "concurrency");
  Observation whole{.line = file.line(),
                    .completed_requests = file.count("completed_samples"),
                    .failed_requests = file.count("failed_samples")};
  check_failures(whole, contents);
  const std::vector<JsonFields> results = file.objects("results");
  const Decoding undrafted = undrafted_in(results);
  const std::size_t before = contents.observations.size();
  for (const JsonFields& result : results) {
    auto observation = speed_request(result, undrafted, contents);
    if (!observation) continue;
    observation->requests = requests;
    observation->stratum.category = result.text("category");
    contents.observations.push_back(std::move(*observation));
  }
  if (contents.observations.size() > before) return;
  const std::vector<JsonFields> rows = file.objects("summary");
  for (const JsonFields& row : rows) {
    if (rows.size() == 1 || row.text("category") != "overall") read_speed_summary(row, requests, contents);
  }
}

}  // namespace

JsonFormat llamacpp_timings_format() {
  return {"predicted_n", claims_llamacpp_timings, read_llamacpp_timings, false, [](LogContents& contents) {
            if (contents.engine.empty()) contents.engine = "llama.cpp";
          }};
}

JsonFormat speed_bench_format() { return {speed_anchor, claims_speed_bench, of_object<read_speed_bench>}; }

}  // namespace foredraft::logs
