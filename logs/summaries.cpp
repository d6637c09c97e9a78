// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/numbers.hpp"
#include "logs/acceptance.hpp"
#include "logs/arms.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"
#include "logs/stated_run.hpp"
#include "logs/table_cells.hpp"

/// Summaries of runs and answers described by a table of keys.
namespace foredraft::logs {
namespace {

constexpr double ms_of_s = 1000.0;

// ---- InferenceX: rows of results, aggregated over requests; times in seconds. Few have an acceptance.

constexpr std::array<StatedKey, 9> inferencex_keys{{
    {"conc", &StatedRun::concurrency},
    {"mean_tpot", &StatedRun::tpot_ms, ms_of_s},
    {"mean_ttft", &StatedRun::ttft_ms, ms_of_s},
    {"isl", &StatedRun::prompt_tokens},
    {"osl", &StatedRun::output_tokens},
    {"median_tpot", &StatedRun::tpot_ms, ms_of_s},
    {"median_ttft", &StatedRun::ttft_ms, ms_of_s},
    {"observed_tokens_per_step", &StatedRun::length},
    {"decode_round_tpot_ms", &StatedRun::iteration_ms},
}};

bool is_inferencex_row(const JsonValue& value) {
  constexpr std::array<const char*, 5> results{"mean_tpot", "median_tpot", "tput_per_gpu", "output_tput_per_gpu",
                                               "mean_intvty"};
  constexpr std::array<const char*, 6> others{"conc", "spec_decoding", "spec_method", "infmax_model_prefix", "isl",
                                              "osl"};
  if (!value.is_object()) return false;
  if (has_keys(value, {"request_metrics", "conc"})) return true;
  const bool nested = has_keys(value, {"metrics"}) && value.at("metrics").is_object();
  const auto result = keys_of(nested ? value.at("metrics") : value, results);
  return result > 0 && result + keys_of(value, others) >= 2;
}

/// GPUs of a server, for each of which its throughput is stated; nullopt for several nodes or disaggregated prefill.
std::optional<double> gpus_of(const JsonFields& row) {
  const auto set = [&](const char* key) { return row.has(key) && row.json().at(key).is_true(); };
  return set("disagg") || set("is_multinode") ? std::nullopt : row.real("tp");
}

/// The metrics of a replay of agents; times in seconds, throughput of all GPUs.
void read_replay(const JsonFields& metrics, StatedRun& run) {
  const auto mean = [&](const char* group, const char* name, const char* key, double unit) {
    const auto part = metrics.object(group);
    const auto value = part ? part->real_in(name, key) : std::nullopt;
    return value ? std::optional(*value * unit) : std::nullopt;
  };
  run.tpot_ms = mean("latency", "tpot", "mean", ms_of_s);
  run.ttft_ms = mean("latency", "ttft", "mean", ms_of_s);
  run.prompt_tokens = mean("tokens", "input", "mean", 1.0);
  run.output_tokens = mean("tokens", "output_actual", "mean", 1.0);
  run.output_tokens_per_s = mean("throughput", "output", "tokens_per_second", 1.0);
}

/// What drafts: the method, or whether one does: "mtp": "on".
std::optional<Arm> arm_of_inferencex(const JsonFields& row) {
  constexpr std::array<const char*, 6> keys{"spec_decoding", "spec_method", "mtp", "speculative", "spec", "use_mtp"};
  constexpr std::array<std::string_view, 5> none{"none", "false", "off", "no", ""};
  constexpr std::array<std::string_view, 3> some{"on", "true", "yes"};
  for (const char* key : keys) {
    const JsonValue* const value = row.json().find(key);
    if (value == nullptr || !(value->is_string() || value->is_boolean())) continue;
    const std::string method = value->is_string() ? in_lower_case(value->string())
                               : value->is_true() ? "true"
                                                  : "false";
    if (std::ranges::find(none, method) != none.end()) return Arm{.plain = true};
    Arm arm{.drafter = method, .speculative = true};
    if (std::ranges::find(some, method) != some.end()) arm.drafter.reset();
    if (!arm.drafter && std::string_view(key).ends_with("mtp")) arm.drafter = "mtp";
    return arm;
  }
  return std::nullopt;
}

void read_inferencex(const JsonFields& row, LogContents& contents) {
  const JsonFields results = row.has("metrics") ? row.required_object("metrics") : row;
  StatedRun run{.line = row.line()};
  read_stated(row, inferencex_keys, run);
  read_stated(results, inferencex_keys, run);
  if (run.tpot_ms && !results.has("mean_tpot")) warn_of_median("tpot", row.line(), contents);
  if (const auto replay = row.object("request_metrics")) read_replay(*replay, run);
  const auto gpus = gpus_of(row);
  const auto throughput = results.real("output_tput_per_gpu");
  if (gpus && throughput) run.output_tokens_per_s = *throughput * *gpus;
  const auto method = arm_of_inferencex(row);
  const Decoding decoding = !method ? Decoding::unknown : method->plain ? Decoding::plain : Decoding::speculative;
  note(contents.settings.target, row.text("model"));
  Observation observation = observation_of(run, decoding, contents);
  if (decoding == Decoding::speculative) observation.drafter = method->drafter;
  contents.observations.push_back(std::move(observation));
}

/// Runs that do not say whether they draft are those without it, beside others that all draft. `what`: their name.
void tell_silent_runs(std::span<Observation> rows, std::string_view what, LogContents& contents) {
  const auto has = [&](Decoding one) { return std::ranges::find(rows, one, &Observation::decoding) != rows.end(); };
  if (!has(Decoding::unknown) || !has(Decoding::speculative) || has(Decoding::plain)) return;
  for (Observation& one : rows) {
    if (one.decoding != Decoding::unknown) continue;
    one.decoding = Decoding::plain;
    set_iteration(one);
  }
  warn_once(contents, "W22", rows.front().line, fmt::format("{} = without speculation", what));
}

void read_inferencex_rows(const JsonValue& value, std::int64_t line, LogContents& contents) {
  const std::size_t before = contents.observations.size();
  read_each(value, line, contents, read_inferencex);
  tell_silent_runs(std::span(contents.observations).subspan(before), "rows that do not say what drafts", contents);
}

// ---- inference-perf: the summary of a run or of one of its stages; times in seconds. A rate is that of one stage.
// With a limit of concurrency the requested rate is not: it only has to keep that many requests waiting.

bool is_inference_perf(const JsonValue& value) {
  constexpr std::array<const char*, 3> sections{"load_summary", "failures", "benchmark_time_seconds"};
  constexpr std::array<const char*, 2> times{"time_per_output_token", "normalized_time_per_output_token"};
  const JsonValue* successes = value.find("successes");
  return keys_of(value, sections) > 0 && successes != nullptr && has_keys(*successes, {"latency"}) &&
         keys_of(successes->at("latency"), times) > 0;
}

void read_inference_perf(const JsonFields& report, LogContents& contents) {
  const JsonFields successes = report.required_object("successes");
  const JsonFields latency = successes.required_object("latency");
  const auto seconds = [&](const char* name) {
    auto value = latency.real_in(name, "mean");
    for (const char* key : {"median", "p50"}) {
      if (value) break;
      value = latency.real_in(name, key);
      if (value) warn_of_median(name, latency.line(), contents);
    }
    return value ? std::optional(*value * ms_of_s) : std::nullopt;
  };
  StatedRun run{.line = report.line(),
                .concurrency = report.real_in("load_summary", "concurrency"),
                .tpot_ms = seconds("time_per_output_token"),
                .ttft_ms = seconds("time_to_first_token"),
                .output_tokens_per_s = successes.real_in("throughput", "output_tokens_per_sec"),
                .duration_s = report.real("benchmark_time_seconds"),
                .served_requests_per_s = successes.real_in("throughput", "requests_per_sec"),
                .prompt_tokens = successes.real_in("prompt_len", "mean"),
                .output_tokens = successes.real_in("output_len", "mean"),
                .completed = successes.real("count"),
                .failed = report.real_in("failures", "count")};
  note(run.prompt_tokens, successes.real_in("prompt_tokens", "mean"));
  if (!run.concurrency) run.request_rate_per_s = report.real_in("load_summary", "requested_rate");
  contents.observations.push_back(observation_of(run, Decoding::unknown, contents));
}

// ---- LM Studio's REST API: answers with their `stats`, of llama.cpp or MLX; the drafts are counted there or in
// `usage`. An answer without them is one without speculation, unless it is of v1 of the API. Its SDK and its log spell
// the keys otherwise.

constexpr std::array<StatedKey, 21> lmstudio_keys{{
    {"tokens_per_second", &StatedRun::request_tokens_per_s},
    {"time_to_first_token", &StatedRun::ttft_ms, ms_of_s},
    {"time_to_first_token_seconds", &StatedRun::ttft_ms, ms_of_s},
    {"time_to_first_token_sec", &StatedRun::ttft_ms, ms_of_s},
    {"prompt_tokens", &StatedRun::prompt_tokens},
    {"input_tokens", &StatedRun::prompt_tokens},
    {"prompt_tokens_count", &StatedRun::prompt_tokens},
    {"completion_tokens", &StatedRun::output_tokens},
    {"total_output_tokens", &StatedRun::output_tokens},
    {"predicted_tokens_count", &StatedRun::output_tokens},
    {"total_draft_tokens_count", &StatedRun::drafted},
    {"accepted_draft_tokens_count", &StatedRun::accepted},
    {"generation_time", &StatedRun::duration_s},
    {"total_time_seconds", &StatedRun::duration_s},
    {"tokensPerSecond", &StatedRun::request_tokens_per_s},
    {"timeToFirstTokenSec", &StatedRun::ttft_ms, ms_of_s},
    {"promptTokensCount", &StatedRun::prompt_tokens},
    {"predictedTokensCount", &StatedRun::output_tokens},
    {"totalDraftTokensCount", &StatedRun::drafted},
    {"acceptedDraftTokensCount", &StatedRun::accepted},
    {"totalTimeSec", &StatedRun::duration_s},
}};

/// The statistics alone, as scripts print them: the SDK always has these.
bool is_lmstudio_stats(const JsonValue& value) {
  return has_keys(value, {"stopReason", "tokensPerSecond", "predictedTokensCount"}) ||
         has_keys(value, {"stop_reason", "tokens_per_second", "predicted_tokens_count"});
}

bool claims_lmstudio(const JsonValue& value) {
  constexpr std::array<const char*, 5> own{"tokens_per_second", "total_draft_tokens_count",
                                           "accepted_draft_tokens_count", "tokensPerSecond", "totalDraftTokensCount"};
  const auto holds = [&](const char* part) { return has_keys(value, {part}) ? keys_of(value.at(part), own) : 0; };
  return is_lmstudio_stats(value) || (holds("stats") + holds("usage") > 0 && has_keys(value, {"stats"}));
}

/// An answer that counts its drafts. Without drafts it is one without speculation. Throws RejectedRecord, at
/// `accepted_key`, if more was accepted than generated.
Observation answer_with_drafts(StatedRun run, std::string_view accepted_key, LogContents& contents) {
  const bool drafts = run.drafted.value_or(0.0) > 0.0;
  if (run.output_tokens && run.accepted && drafts) {
    if (*run.accepted > *run.output_tokens) {
      reject({.line = run.line,
              .key = std::string(accepted_key),
              .text = number_text(*run.accepted),
              .why = "more than the generated tokens"});
    }
  }
  Observation request = observation_of(run, drafts ? Decoding::speculative : Decoding::plain, contents);
  request.span = Span::request;
  return request;
}

void read_lmstudio(const JsonFields& answer, LogContents& contents) {
  StatedRun run{.line = answer.line()};
  for (const char* part : {"stats", "usage"}) {
    if (const auto fields = answer.object(part)) read_stated(*fields, lmstudio_keys, run);
  }
  const bool alone = is_lmstudio_stats(answer.json());
  if (alone) read_stated(answer, lmstudio_keys, run);
  const auto stats = alone ? std::optional(answer) : answer.object("stats");
  note(contents.settings.target, answer.text(answer.has("modelIdentifier") ? "modelIdentifier" : "model"));
  if (stats) note(contents.settings.draft, stats->text("draft_model"));
  if (stats) note(contents.settings.draft, stats->text("usedDraftModelKey"));
  Observation request = answer_with_drafts(run, "accepted_draft_tokens_count", contents);
  request.stratum.request = answer.text("id");
  if (!run.drafted && answer.has("model_instance_id")) request.decoding = Decoding::unknown;  // v1 counts no drafts
  contents.observations.push_back(std::move(request));
}

/// The line below an answer: "43.2 tok/sec • 812 tokens • 0.31s to first token • Accepted 512/771 draft tokens (66 %)".
class LmStudioChatReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    static const RE2 speed(R"(([\d.]+) tok/sec\W+([\d,]+) tokens(?:\W+([\d.]+) ?s to first token)?)", RE2::Latin1);
    static const RE2 drafts(R"(Accepted ([\d,]+) ?/ ?([\d,]+) draft tokens)", RE2::Latin1);
    const re2::StringPiece all = piece(text);
    std::array<std::string, 3> found;
    if (!RE2::PartialMatch(all, speed, &found[0], &found[1], &found[2])) return false;
    const auto value = [&](std::size_t i) {
      std::string_view rest = found.at(i);
      return take_number(rest);
    };
    StatedRun run{.line = number, .request_tokens_per_s = value(0), .output_tokens = value(1)};
    if (const auto seconds = value(2)) run.ttft_ms = *seconds * ms_of_s;
    if (RE2::PartialMatch(all, drafts, &found[0], &found[1])) {
      run.accepted = value(0);
      run.drafted = value(1);
    }
    Observation request = answer_with_drafts(run, "Accepted", contents);
    // Drafts are not shown before version 0.3.10, or if there were none.
    if (!run.drafted) request.decoding = Decoding::unknown;
    contents.observations.push_back(std::move(request));
    return true;
  }
};

// ---- TabbyAPI (exllamav3): the usage of an answer, with the drafts as OpenAI's predicted tokens.

constexpr std::array<StatedKey, 5> tabby_keys{{
    {"completion_tokens_per_sec", &StatedRun::request_tokens_per_s},
    {"completion_tokens", &StatedRun::output_tokens},
    {"completion_time", &StatedRun::duration_s},
    {"prompt_tokens", &StatedRun::prompt_tokens},
    {"prompt_time", &StatedRun::ttft_ms, ms_of_s},
}};

bool claims_tabby(const JsonValue& value) {
  const JsonValue* usage = value.find("usage");
  return usage != nullptr && has_keys(*usage, {"completion_tokens_per_sec"});
}

void read_tabby(const JsonFields& answer, LogContents& contents) {
  StatedRun run{.line = answer.line()};
  const JsonFields usage = answer.required_object("usage");
  read_stated(usage, tabby_keys, run);
  if (const auto details = usage.object("completion_tokens_details")) {
    run.accepted = details->real("accepted_prediction_tokens");
    const auto rejected = details->real("rejected_prediction_tokens");
    if (run.accepted && rejected) run.drafted = *run.accepted + *rejected;
  }
  note(contents.settings.target, answer.text("model"));
  Observation request = answer_with_drafts(run, "accepted_prediction_tokens", contents);
  // Versions before 2026-08 leave the drafts out.
  if (!run.drafted) request.decoding = Decoding::unknown;
  request.stratum.request = answer.text("id");
  contents.observations.push_back(std::move(request));
}

// ---- Results of jobs of ExLlamaV2's and ExLlamaV3's generators, as scripts save them: the last one of a job has its
// tokens and times. Drafts are counted only if a model drafts: not those of n-grams.

constexpr std::array<StatedKey, 4> exllama_keys{{
    {"prompt_tokens", &StatedRun::prompt_tokens},
    {"new_tokens", &StatedRun::output_tokens},
    {"time_prefill", &StatedRun::ttft_ms, ms_of_s},
    {"time_generate", &StatedRun::duration_s},
}};

void read_exllama(const JsonFields& job, LogContents& contents) {
  StatedRun run{.line = job.line()};
  read_stated(job, exllama_keys, run);
  const double after_first = run.output_tokens.value_or(0.0) - 1.0, seconds = run.duration_s.value_or(0.0);
  if (after_first < 1.0 || seconds <= 0.0) return;
  run.request_tokens_per_s = after_first / seconds;  // the time begins with the first token
  run.accepted = job.real("accepted_draft_tokens");
  const auto rejected = job.real("rejected_draft_tokens");
  if (run.accepted && rejected) run.drafted = *run.accepted + *rejected;
  Observation request = answer_with_drafts(run, "accepted_draft_tokens", contents);
  if (!run.drafted) request.decoding = Decoding::unknown;
  contents.observations.push_back(std::move(request));
}

void tell_exllama_jobs(LogContents& contents) {
  if (contents.format == "exllama-jobs") tell_silent_runs(contents.observations, "jobs that count no drafts", contents);
}

// ---- KoboldCpp's /api/extra/perf: the last answer, without drafts if it has no draft model.

constexpr std::array<StatedKey, 6> kobold_keys{{
    {"last_input_count", &StatedRun::prompt_tokens},
    {"last_process_time", &StatedRun::ttft_ms, 1000.0},
    {"last_token_count", &StatedRun::output_tokens},
    {"last_eval_time", &StatedRun::duration_s},
    {"last_draft_success", &StatedRun::accepted},
    {"last_draft_failed", &StatedRun::rejections},
}};

void read_kobold(const JsonFields& answer, LogContents& contents) {
  StatedRun run{.line = answer.line(), .concurrency = 1.0};
  read_stated(answer, kobold_keys, run);
  if (!(run.duration_s.value_or(0.0) > 0.0) || !run.output_tokens) return;
  if (!(run.accepted.value_or(0.0) + run.rejections.value_or(0.0) > 0.0)) run.accepted = run.rejections = std::nullopt;
  run.request_tokens_per_s = *run.output_tokens / *run.duration_s;
  Observation request = observation_of(run, Decoding::unknown, contents);
  request.span = Span::request;
  contents.observations.push_back(std::move(request));
}

// ---- Ollama's REST API: the last object of an answer has its tokens, and times in nanoseconds.

constexpr double s_of_ns = 1e-9;
constexpr std::array<StatedKey, 3> ollama_keys{{
    {"prompt_eval_count", &StatedRun::prompt_tokens},
    {"eval_count", &StatedRun::output_tokens},
    {"eval_duration", &StatedRun::duration_s, s_of_ns},
}};

constexpr const char* of_ollama = "ollama ";  ///< before the name of its model, until all answers are read

void read_ollama(const JsonFields& answer, LogContents& contents) {
  StatedRun run{.line = answer.line()};
  read_stated(answer, ollama_keys, run);
  if (!(run.duration_s.value_or(0.0) > 0.0) || !run.output_tokens) return;
  run.request_tokens_per_s = *run.output_tokens / *run.duration_s;
  note(contents.settings.target, answer.text("model"));
  Observation request = observation_of(run, Decoding::unknown, contents);
  request.span = Span::request;
  if (const auto model = answer.text("model")) request.stratum.category = of_ollama + *model;
  contents.observations.push_back(std::move(request));
}

/// Answers of a model whose name has words of a drafter behind that of its target draft, as those of `ollama run` do;
/// those of the other one do the opposite. Several targets are kept apart.
void tell_ollama_models(LogContents& contents) {
  std::map<std::string, bool> drafts;  // of each target, the one that is named so
  std::set<std::string> targets;
  std::string read_as;
  const auto model_of = [](const Observation& one) {
    const std::string category = one.stratum.category.value_or("");
    return category.starts_with(of_ollama) ? category.substr(std::string_view(of_ollama).size()) : std::string();
  };
  const auto named_arm = [](const std::string& model) {
    return model_without_drafter(model).size() < model.size() ? arm_in_text(model) : std::nullopt;
  };
  for (const Observation& one : contents.observations) {
    const std::string model = model_of(one), target = model_without_drafter(model);
    if (model.empty()) continue;
    targets.insert(target);
    const auto arm = named_arm(model);
    if (!arm || !drafts.try_emplace(target, !arm->plain).second) continue;
    read_as += fmt::format("{}\"{}\" {}", read_as.empty() ? "" : ", ", model, arm->plain ? "does not draft" : "drafts");
  }
  for (Observation& one : contents.observations) {
    const std::string model = model_of(one), target = model_without_drafter(model);
    if (model.empty()) continue;
    one.stratum.category = targets.size() > 1 ? std::optional(target) : std::nullopt;
    const auto named = drafts.find(target);
    if (named == drafts.end()) continue;
    const auto arm = named_arm(model);
    one.decoding = (arm ? !arm->plain : !named->second) ? Decoding::speculative : Decoding::plain;
    if (arm) note(one.drafter, arm->drafter);
    set_iteration(one);
  }
  if (!read_as.empty()) warn_once(contents, "W22", 0, "by the names of models: " + read_as);
}

}  // namespace

JsonFormat ollama_answers_format() {
  return {"eval_duration",
          [](const JsonValue& value) {
            return has_keys(value, {"eval_count", "eval_duration"});
          },
          of_object<read_ollama>, true, tell_ollama_models};
}

JsonFormat kobold_perf_format() {
  return {"last_eval_time",
          [](const JsonValue& value) {
            return has_keys(value, {"last_eval_time", "last_token_count"});
          },
          of_object<read_kobold>, true};
}

JsonFormat exllama_jobs_format() {
  return {"time_generate",
          [](const JsonValue& value) {
            return has_keys(value, {"new_tokens", "time_generate"});
          },
          of_object<read_exllama>, true, tell_exllama_jobs};
}

JsonFormat inferencex_format() {
  return {"(?:mean|median)_tpot|tput_per_gpu|mean_intvty|request_metrics", of_first<is_inferencex_row>,
          read_inferencex_rows, true};
}

JsonFormat inference_perf_format() {
  return {"time_per_output_token", is_inference_perf, of_object<read_inference_perf>, true};
}

LineFormat lmstudio_chat_format() { return lines_of<LmStudioChatReader>(R"(\d tok/sec\W+[\d,]+ tokens)"); }

JsonFormat tabby_format() { return {"completion_tokens_per_sec", claims_tabby, of_object<read_tabby>, true}; }

JsonFormat lmstudio_format() {
  return {"tokens_per_second|draft_tokens_count|tokensPerSecond|DraftTokensCount", claims_lmstudio,
          of_object<read_lmstudio>, true};
}

}  // namespace foredraft::logs
