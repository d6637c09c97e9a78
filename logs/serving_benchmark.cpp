// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/numbers.hpp"
#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/headings.hpp"
#include "logs/line_fields.hpp"
#include "logs/record_fields.hpp"
#include "logs/serving_runs.hpp"
#include "logs/sglang_options.hpp"
#include "logs/stated_run.hpp"

/// The load generators of vLLM and SGLang: one JSON object per run.
namespace foredraft::logs {
namespace {

/// A number, or nullopt: "inf" means an unlimited request rate.
std::optional<double> request_rate(const JsonFields& run) {
  const JsonValue* found = run.json().find("request_rate");
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return run.real("request_rate");
}

/// Mean number of requests in the batch, without waiting ones: by Little's law, unless the load generator held a fixed
/// concurrency.
std::optional<double> requests_at_once(const JsonFields& run, const Observation& observation) {
  const auto held = observation.concurrency;
  if (held && !observation.times.request_rate_per_s) return held;
  const auto latency_ms = run.has("mean_e2el_ms") ? run.real("mean_e2el_ms") : run.real("mean_e2e_latency_ms");
  const auto ttft_ms = observation.times.ttft_ms;
  const auto completed = observation.completed_requests;
  const auto duration_s = observation.times.duration_s;
  if (latency_ms && ttft_ms && completed && duration_s && *duration_s > 0.0 && *latency_ms > *ttft_ms) {
    return static_cast<double>(*completed) * (*latency_ms - *ttft_ms) / 1000.0 / *duration_s;
  }
  if (const auto decoding = decoding_requests(observation.times)) return decoding;
  return run.has("concurrency") ? run.real("concurrency") : held;
}

/// Keys of a run of a load generator; any two of them identify it, if one is of its times or drafts.
constexpr std::array<const char*, 8> time_keys{"output_throughput", "request_throughput", "mean_tpot_ms",
                                               "median_tpot_ms",    "mean_itl_ms",        "median_itl_ms",
                                               "mean_ttft_ms",      "median_ttft_ms"};
constexpr std::array<const char*, 9> load_keys{"request_rate",       "max_concurrency",     "burstiness",
                                               "tokenizer_id",       "completed",           "duration",
                                               "total_input_tokens", "total_output_tokens", "num_prompts"};
constexpr std::array<const char*, 6> vllm_keys{
    "spec_decode_num_drafts",      "spec_decode_acceptance_length", "spec_decode_draft_tokens",
    "spec_decode_accepted_tokens", "spec_decode_acceptance_rate",   "spec_decode_per_position_acceptance_rates"};
/// A file with one of these is complete: without counts of drafts its run is one without speculation.
constexpr std::array<const char*, 4> server_keys{"request_rate", "tokenizer_id", "burstiness", "num_prompts"};
constexpr std::array<const char*, 5> sglang_keys{"accept_length", "server_info", "sharegpt_output_len",
                                                 "mean_e2e_latency_ms", "total_output_tokens_retokenized"};
constexpr std::string_view run_anchor =
    "output_throughput|request_throughput|(?:mean|median)_(?:tpot|itl|ttft)_ms|spec_decode_(?:num_drafts|acceptance_)";

/// Whether a key is that of the draft length of the server, from the client's `--metadata` or a sweep.
bool tells_gamma(std::string_view key) {
  constexpr std::array<std::string_view, 3> names{"num_speculative_tokens", "num_spec_tokens", "spec_tokens"};
  return key == "speculative_tokens" ||
         std::ranges::any_of(names, [&](std::string_view name) { return key.ends_with(name); });
}

/// The meaning of a key that clients do not write, as a heading has it.
Meaning meaning_of_other(std::string_view key) {
  const bool of_client = tells_gamma(key) || std::ranges::find(vllm_keys, key) != vllm_keys.end() ||
                         std::ranges::find(sglang_keys, key) != sglang_keys.end();
  return of_client ? Meaning::ignored : column_of(key).meaning;
}

/// Metrics that are objects with a unit are those of other tools under the same names.
bool is_serving_benchmark(const JsonValue& value) {
  if (!value.is_object()) return false;
  const auto is_metric = [&](const char* key) { return has_keys(value, {key}) && value.at(key).is_object(); };
  if (std::ranges::any_of(time_keys, is_metric)) return false;
  // Without "accept_len" or "num_drafts" of a script, the client's keys would read as those of runs without
  // speculation.
  for (const JsonValue& one : value)
    if (is_acceptance(meaning_of_other(one.key()))) return false;
  const auto times = keys_of(value, time_keys);
  const auto drafts = keys_of(value, vllm_keys);
  const auto others = keys_of(value, load_keys);
  return (times > 0 || drafts > 0) && times + drafts + others >= 2;
}

/// The mean of a latency; its median, with a warning (W20), if there is no mean.
std::optional<double> latency_ms(const JsonFields& run, const std::string& name, LogContents& contents) {
  if (const auto mean = run.real(fmt::format("mean_{}_ms", name))) return mean;
  const auto median = run.real(fmt::format("median_{}_ms", name));
  if (median) warn_of_median(name, run.line(), contents);
  return median;
}

Observation serving_run(const JsonFields& run, LogContents& contents) {
  Observation observation{.line = run.line(), .span = Span::run, .concurrency = run.real("max_concurrency")};
  ObservedTimes& times = observation.times;
  times.duration_s = run.real("duration");
  times.output_tokens_per_s = run.real("output_throughput");
  times.tpot_ms = latency_ms(run, "tpot", contents);
  times.ttft_ms = latency_ms(run, "ttft", contents);
  times.request_rate_per_s = request_rate(run);
  times.served_requests_per_s = run.real("request_throughput");
  observation.completed_requests = run.count("completed");
  observation.failed_requests = run.count("failed");
  const auto sent = run.count("num_prompts");
  if (!observation.failed_requests && sent && observation.completed_requests && *sent > *observation.completed_requests)
    observation.failed_requests = *sent - *observation.completed_requests;
  set_offer(sent, observation);
  observation.requests = requests_at_once(run, observation);
  const auto prompt_tokens = run.count("total_input_tokens");
  const auto output_tokens = run.count("total_output_tokens");
  if (prompt_tokens && times.duration_s && *times.duration_s > 0.0) {
    times.prompt_tokens_per_s = static_cast<double>(*prompt_tokens) / *times.duration_s;
  }
  if (output_tokens && observation.completed_requests.value_or(0) > 0) {
    const auto requests = static_cast<double>(*observation.completed_requests);
    observation.stratum.output_tokens = static_cast<double>(*output_tokens) / requests;
    if (prompt_tokens) {
      observation.stratum.context_tokens =
          (static_cast<double>(*prompt_tokens) + static_cast<double>(*output_tokens) / 2.0) / requests;
    }
  }
  warn_of_arrival_rate(times.request_rate_per_s, times.served_requests_per_s, run.line(), contents);
  return observation;
}

/// The entries of the list `key`, one for each of `count` requests; nullopt for an entry that is not a number of at
/// least 0.
std::vector<std::optional<double>> entries_of(const JsonFields& run, const char* key, std::size_t count) {
  std::vector<std::optional<double>> entries;
  const JsonValue* list = run.json().find(key);
  if (list != nullptr && list->is_array()) {
    for (const JsonValue& entry : *list) {
      const double value = entry.is_number() ? entry.number() : -1.0;
      entries.push_back(std::isfinite(value) && value >= 0.0 ? std::optional(value) : std::nullopt);
    }
  }
  entries.resize(count);
  return entries;
}

/// The sum of a list of numbers; nullopt if it is none, or not positive.
std::optional<double> sum_of_list(const JsonValue& list) {
  if (!list.is_array() || list.empty()) return std::nullopt;
  double sum = 0.0;
  for (const auto& entry : list) {
    if (!entry.is_number()) return std::nullopt;
    sum += entry.number();
  }
  return std::isfinite(sum) && sum > 0.0 ? std::optional(sum) : std::nullopt;
}

/// The single requests of --save-detailed (vLLM) and --output-details (SGLang): the gaps between the chunks of each,
/// in seconds, add up to the time after its first token.
void add_requests(const JsonFields& run, const Observation& whole, LogContents& contents) {
  const JsonValue* gaps = run.json().find("itls");
  if (gaps == nullptr || !gaps->is_array()) return;
  const std::size_t count = gaps->size();
  const auto output = entries_of(run, "output_lens", count);
  const auto input = entries_of(run, "input_lens", count);
  const auto first_s = entries_of(run, "ttfts", count);
  std::size_t requests = 0;
  for (const JsonValue& of_request : *gaps) {
    const std::size_t i = requests++;
    const auto decode_s = sum_of_list(of_request);
    const double tokens = output[i].value_or(0.0);
    if (!decode_s || tokens < 2.0) continue;
    Observation request{.line = whole.line,
                        .span = Span::request,
                        .decoding = whole.decoding,
                        .gamma = whole.gamma,
                        .adaptive = whole.adaptive,
                        .requests = whole.requests,
                        .concurrency = whole.concurrency,
                        .offered_requests = whole.offered_requests};
    request.times = {.duration_s = decode_s,
                     .tpot_ms = 1000.0 * *decode_s / (tokens - 1.0),
                     .request_rate_per_s = whole.times.request_rate_per_s};
    if (first_s[i]) request.times.ttft_ms = 1000.0 * *first_s[i];
    request.stratum = whole.stratum;
    request.stratum.request = std::to_string(i);
    set_lengths(input[i], tokens, request.stratum);
    contents.observations.push_back(std::move(request));
  }
}

void add_run(const JsonFields& run, Observation observation, LogContents& contents) {
  check_failures(observation, contents);
  contents.observations.push_back(observation);
  add_requests(run, observation, contents);
}

// ---- `vllm bench serve --save-result`: the acceptance rate in percent, those of positions as fractions; absent
// without speculation. ITL is the time between chunks: that of an iteration.

bool claims_vllm_bench(const JsonValue& value) {
  return is_serving_benchmark(value) && (keys_of(value, vllm_keys) > 0 || keys_of(value, sglang_keys) == 0);
}

void read_vllm_acceptance(const JsonFields& run, Observation& observation, LogContents& contents) {
  observation.decoding = Decoding::speculative;
  if (!run.has("spec_decode_num_drafts")) {
    observation.acceptance_length = run.length("spec_decode_acceptance_length");
    const auto percent = run.real("spec_decode_acceptance_rate");
    if (observation.acceptance_length && percent)
      observation.gamma = whole(gamma_of_rate(*observation.acceptance_length, *percent / 100.0));
    return;
  }
  AcceptanceCounts counts{.steps = run.required_count("spec_decode_num_drafts"),
                          .drafted_tokens = run.count("spec_decode_draft_tokens"),
                          .accepted_tokens = run.count("spec_decode_accepted_tokens")};
  set_positions(counts, run.reals("spec_decode_per_position_acceptance_rates"), std::nullopt, std::nullopt, run.line());
  observation.gamma = counts.accepted_at.empty() ? steady_gamma(counts)
                                                 : std::optional(static_cast<std::int64_t>(counts.accepted_at.size()));
  check_counts(counts, observation.gamma, run.line(), contents);
  check_printed_length(counts, run.real("spec_decode_acceptance_length"), two_digits, run.line(), contents);
  if (!chunks_agree(run.real("mean_itl_ms"), run.real("mean_tpot_ms"), counts)) {
    set_generated_tokens(counts, later_tokens(run.count("total_output_tokens"), observation.completed_requests));
  }
  if (!counts.generated_tokens && drafts_vary(counts, observation.gamma)) observation.adaptive = true;
  observation.acceptance = std::move(counts);
}

/// Mean tokens of a chunk from medians, which a few preempted requests do not change.
std::optional<double> tokens_per_chunk(const JsonFields& run) {
  const auto chunk_ms = run.real("median_itl_ms");
  const auto token_ms = run.real("median_tpot_ms");
  if (!chunk_ms || !token_ms || *token_ms <= 0.0) return std::nullopt;
  return *chunk_ms / *token_ms;
}

std::optional<std::int64_t> told_gamma(const JsonFields& run) {
  for (const JsonValue& value : run.json()) {
    const std::string key = value.key();
    if (tells_gamma(key) && (value.is_number() || (value.is_string() && parse_real(value.string()))))
      return run.count(key);
  }
  return std::nullopt;
}

void read_vllm_bench(const JsonFields& run, LogContents& contents) {
  Observation observation = serving_run(run, contents);
  note(contents.settings.target, run.text("model_id"));
  observation.times.iteration_ms = latency_ms(run, "itl", contents);
  const auto tokens = tokens_per_chunk(run);
  if (std::ranges::any_of(vllm_keys, [&](const char* key) { return run.has(key); })) {
    read_vllm_acceptance(run, observation, contents);
    // Chunks of an n-gram drafter's steps without a draft hold one token: the mean is over all steps.
    const auto length =
        observation.acceptance ? tokens_per_iteration(*observation.acceptance) : observation.acceptance_length;
    if (tokens && *tokens < per_chunk * length.value_or(1.0)) {
      observation.times.iteration_ms = std::nullopt;
      warn_once(contents, "W07", run.line(),
                "the inter-token latency is not that of iterations: chunks hold about one token");
    }
  } else if (const auto gamma = told_gamma(run); gamma && *gamma <= max_positions) {
    observation.decoding = *gamma > 0 ? Decoding::speculative : Decoding::plain;
    if (*gamma > 0) observation.gamma = gamma;
  } else if (tokens && *tokens > plain_tokens) {
    warn_once(contents, "W09", run.line(),
              "a run without acceptance counts whose chunks hold several tokens: it may be speculative");
  } else if (tokens || std::ranges::any_of(server_keys, [&](const char* key) { return run.json().contains(key); })) {
    observation.decoding = Decoding::plain;
  }
  add_run(run, std::move(observation), contents);
}

// ---- `sglang.bench_serving`: one JSON object per run, whose `accept_length` is the server's mean since its start.

/// An ITL within this factor of TPOT is that of tokens; of TPOT times the acceptance length, of iterations.
constexpr double per_token = 1.25;

bool claims_sglang_bench(const JsonValue& value) {
  return is_serving_benchmark(value) && keys_of(value, sglang_keys) > 0;
}

/// The settings that a server reports.
void read_server_info(const JsonFields& server, Observation& observation, LogContents& contents) {
  note(contents.settings.target, server.text("model_path"));
  note(contents.settings.draft, server.text("speculative_draft_model_path"));
  note(contents.settings.method, server.text("speculative_algorithm"));
  if (const auto version = server.text("version"); version && contents.version.empty()) contents.version = *version;
  // A tree drafts more tokens than its depth: none of its numbers is a draft length.
  const auto steps = server.count("speculative_num_steps"), width = server.count("speculative_eagle_topk");
  if (observation.decoding == Decoding::speculative)
    observation.tree = tree_of_sizes(steps, width, server.count("speculative_num_draft_tokens"));
  if (width.value_or(1) > 1) return;
  note(contents.settings.gamma, steps);
  if (steps && observation.decoding == Decoding::speculative) observation.gamma = steps;
}

/// The gaps between chunks are divided by their tokens, except in old versions, where they are iterations.
void read_iteration_time(const JsonFields& run, Observation& observation, LogContents& contents) {
  const auto itl_ms = latency_ms(run, "itl", contents);
  const auto tpot_ms = observation.times.tpot_ms;
  if (!itl_ms || !tpot_ms || *tpot_ms <= 0.0) return;
  const double length = observation.acceptance_length.value_or(1.0);
  const double tokens = *itl_ms / *tpot_ms;
  if (tokens < per_token && tokens > 1.0 / per_token) {
    observation.times.iteration_ms = *itl_ms * length;
  } else if (tokens < per_token * length && tokens > length / per_token) {
    observation.times.iteration_ms = *itl_ms;
  } else {
    warn_once(contents, "W07", run.line(), "the inter-token latency is neither that of tokens nor that of iterations");
  }
}

void read_sglang_bench(const JsonFields& run, LogContents& contents) {
  Observation observation = serving_run(run, contents);
  const auto length = run.length("accept_length");
  observation.decoding = length ? Decoding::speculative : Decoding::plain;
  observation.acceptance_length = length;
  if (length) {
    warn_once(contents, "W02", run.line(),
              "accept_length is the server's mean since its start, including other runs and warm-up");
  }
  if (const auto server = run.object("server_info")) read_server_info(*server, observation, contents);
  read_iteration_time(run, observation, contents);
  add_run(run, std::move(observation), contents);
}

// ---- A table of such runs, as `vllm bench sweep` writes it (summary.csv): a key a column.

/// Columns "k" and "spec_method" tell so, too. So would those of a table that somebody picked from its results, which
/// leaves out how many requests completed.
bool is_of_draft(std::string_view column) {
  const Meaning meaning = meaning_of_other(column);
  return is_acceptance(meaning) || meaning == Meaning::gamma || meaning == Meaning::name;
}

bool claims_bench_csv(std::span<const std::string> columns) {
  return has_columns(columns, {"completed"}) && std::ranges::none_of(columns, is_of_draft) &&
         std::ranges::count_if(time_keys, [&](std::string_view key) { return has_columns(columns, {key}); }) >= 2;
}

/// Reads the row as the object that the client would have written: a cell is a number, a list "[...]" or a text. Leaves
/// out empty cells, nan, and inf (an unlimited rate).
void read_bench_row(const CsvFields& row, LogContents& contents) {
  const auto plain_text = [](std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' '; }, ' ');
    return text;
  };
  std::string object;
  for (const std::string& column : row.columns()) {
    const auto cell = row.text(column);
    const auto number = cell ? parse_real(*cell) : std::nullopt;
    if (!cell || *cell == "inf" || *cell == "nan") continue;
    object += fmt::format("{}\"{}\": ", object.empty() ? "{" : ", ", plain_text(column));
    object += number ? number_text(*number) : cell->starts_with('[') ? *cell : fmt::format("\"{}\"", plain_text(*cell));
  }
  object += "}";
  JsonDocument document;
  if (!document.read(object) || !document.value().is_object()) return;
  const JsonFields run(document.value(), row.line());
  return keys_of(document.value(), sglang_keys) > 0 ? read_sglang_bench(run, contents) : read_vllm_bench(run, contents);
}

// ---- The state that an SGLang server reports: /server_info (before 2025-12 /get_server_info) with means since its
// start, /v1/loads with those of its last batches. Each rank of data parallelism has an entry.

/// The key of the list with an entry for each rank.
const char* ranks_key(const JsonValue& value) {
  return value.is_object() && value.contains("loads") ? "loads" : "internal_states";
}

bool claims_sglang_info(const JsonValue& value) {
  const JsonValue* rank = first_entry(value, ranks_key(value));
  return rank != nullptr && (has_keys(*rank, {"avg_spec_accept_length"}) || has_keys(*rank, {"speculative"}));
}

void read_sglang_info(const JsonFields& server, LogContents& contents) {
  for (const JsonFields& rank : server.objects(ranks_key(server.json()))) {
    const auto batches = rank.object("speculative");
    const auto length = batches ? batches->real("accept_length") : rank.real("avg_spec_accept_length");
    if (!length || !(*length >= 1.0)) continue;
    Observation observation{.line = rank.line(),
                            .span = Span::run,
                            .decoding = Decoding::speculative,
                            .acceptance_length = length,
                            .requests = rank.real("num_running_reqs")};
    const auto rate = batches ? batches->real("accept_rate") : std::nullopt;
    if (rate) observation.gamma = whole(gamma_of_rate(*length, *rate));
    if (observation.requests.value_or(0.0) > 0.0) observation.times.output_tokens_per_s = rank.real("gen_throughput");
    read_server_info(server, observation, contents);
    warn_once(contents, "W02", rank.line(),
              batches ? "the acceptance length is that of the last batches only"
                      : "the acceptance length is the server's mean since its start, including warm-up and all loads");
    contents.observations.push_back(std::move(observation));
  }
}

}  // namespace

JsonFormat sglang_info_format() {
  return {"internal_states|accept_length", claims_sglang_info, of_object<read_sglang_info>};
}

CsvFormat bench_csv_format() { return {run_anchor, claims_bench_csv, read_bench_row}; }

JsonFormat vllm_bench_format() { return {run_anchor, claims_vllm_bench, of_object<read_vllm_bench>, true}; }

JsonFormat sglang_bench_format() { return {run_anchor, claims_sglang_bench, of_object<read_sglang_bench>, true}; }

}  // namespace foredraft::logs
