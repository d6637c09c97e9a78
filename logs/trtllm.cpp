// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "core/numbers.hpp"
#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/record_fields.hpp"
#include "logs/stated_run.hpp"

/// Formats of TensorRT-LLM.
namespace foredraft::logs {

// ---- TensorRT-LLM's statistics of iterations (`enable_iter_perf_stats`): batch, time, drafts and the fraction of
// drafting time of each. Skips copies of other ranks, iterations that also run prompts, the first ones and idle ones.

namespace {

constexpr std::int64_t warm_up_iterations = 10;

/// Any two keys identify an iteration, if one is its time or its statistics.
bool is_trtllm_iteration(const JsonValue& value) {
  constexpr std::array<const char*, 3> own{"iterLatencyMS", "inflightBatchingStats", "specDecodingStats"};
  constexpr std::array<const char*, 3> others{"iter", "numActiveRequests", "numQueuedRequests"};
  const auto known = keys_of(value, own);
  return known > 0 && known + keys_of(value, others) >= 2;
}

/// 0 steps mean that nothing was drafted in this iteration (gamma 0), not that the server does not speculate.
void read_trtllm_drafts(const JsonFields& drafts, Observation& observation, LogContents& contents) {
  const auto steps = drafts.count("numRequestsWithDraftTokens");
  const auto length = drafts.real("acceptanceLength");
  observation.decoding = Decoding::speculative;
  if (steps == 0) {
    observation.gamma = 0;
    return;
  }
  const auto share = drafts.real("draftOverhead");
  if (share && observation.times.iteration_ms) observation.times.draft_ms = *share * *observation.times.iteration_ms;
  if (!steps) {
    if (length.value_or(0.0) >= 1.0) observation.acceptance_length = length;
    return;
  }
  AcceptanceCounts counts{.steps = *steps,
                          .drafted_tokens = drafts.count("numDraftTokens"),
                          .accepted_tokens = drafts.count("numAcceptedTokens")};
  observation.gamma = steady_gamma(counts);
  check_counts(counts, observation.gamma, drafts.line(), contents);
  check_printed_length(counts, length, two_digits, drafts.line(), contents);
  observation.acceptance = std::move(counts);
}

void read_trtllm_iteration(const JsonFields& iteration, LogContents& contents) {
  if (iteration.count("rank").value_or(0) > 0 || iteration.count("attentionDpRank").value_or(0) > 0) return;
  if (iteration.count("iter").value_or(warm_up_iterations) < warm_up_iterations) return;
  const auto batch = iteration.object("inflightBatchingStats");
  const auto prompts = batch ? batch->count("numContextRequests") : std::nullopt;
  const auto requests = batch ? batch->count("numGenRequests") : std::nullopt;
  if (prompts.value_or(0) > 0) {
    return warn_once(contents, "W12", iteration.line(), "ignored iterations that also run prompts");
  }
  if (requests == 0) return;
  // A row without statistics of drafts is plain decoding; for a part of a row this is unknown.
  const bool complete = iteration.json().contains("specDecodingStats") || (batch && iteration.has("iter"));
  Observation observation{.line = iteration.line(),
                          .span = Span::window,
                          .decoding = complete ? Decoding::plain : Decoding::unknown,
                          .waiting = iteration.real("numQueuedRequests")};
  if (requests) observation.requests = static_cast<double>(*requests);
  const auto iteration_ms = iteration.real("iterLatencyMS");
  if (iteration_ms && prompts) {
    observation.times.iteration_ms = iteration_ms;
    observation.times.duration_s = *iteration_ms / 1000.0;
  } else if (iteration_ms) {
    warn_once(contents, "W12", iteration.line(),
              "ignored times of iterations without numContextRequests: prompts may be in them");
  }
  if (const auto drafts = iteration.object("specDecodingStats")) read_trtllm_drafts(*drafts, observation, contents);
  contents.observations.push_back(std::move(observation));
}

// ---- The lines of `print_iter_log`: batch, time and tokens of each iteration, without accepted drafts.

class TrtllmIterationLogReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    const auto iteration = count_after(text, "iter = ");
    const auto requests = count_after(text, "num_scheduled_requests: ");
    const auto prompts = count_after(text, "'num_ctx_requests': ");
    const auto tokens = count_after(text, "'num_generation_tokens': ");
    if (!iteration || !requests || !prompts || !tokens) return false;
    if (count_after(text, "global_rank = ").value_or(0) > 0 || *iteration < warm_up_iterations) return true;
    if (*prompts > 0) {
      warn_once(contents, "W12", number, "ignored iterations that also run prompts");
      return true;
    }
    if (*requests == 0 || *tokens < *requests || *tokens % *requests != 0) return true;
    Observation observation{.line = number,
                            .span = Span::window,
                            .decoding = *tokens == *requests ? Decoding::plain : Decoding::speculative,
                            .requests = static_cast<double>(*requests)};
    if (*tokens > *requests) observation.gamma = *tokens / *requests - 1;
    observation.times.iteration_ms = number_after(text, "host_step_time = ", "ms");
    if (observation.times.iteration_ms) observation.times.duration_s = *observation.times.iteration_ms / 1000.0;
    contents.observations.push_back(std::move(observation));
    return true;
  }
};

// ---- `trtllm-bench --report_json`: means over requests. Counts are a mean times the number of requests; steps are the
// output tokens that were not drafted.

/// A section of a report and its metrics. Each metric counts as a key of the report, and so does a section without any.
struct ReportSection {
  const char* name;
  std::array<const char*, 4> metrics;
};
constexpr std::array<ReportSection, 4> report_sections{{
    {"request_info", {"num_requests", "avg_num_concurrent_requests", "avg_input_length", "avg_output_length"}},
    {"performance",
     {"system_output_throughput_tok_s", "output_throughput_per_user_tok_s", "request_throughput_req_s",
      "total_latency_ms"}},
    {"streaming_metrics", {"avg_tpot_ms", "avg_ttft_ms", "token_output_speed_tok_s", "tpot_percentiles"}},
    {"decoding_stats",
     {"num_draft_tokens_percentiles", "num_accepted_draft_tokens_percentiles", "draft_acceptance_rate_percentiles",
      "acceptance_length_percentiles"}},
}};
constexpr std::string_view report_anchor =
    "request_info|streaming_metrics|decoding_stats|system_output_throughput_tok_s|output_throughput_per_user_tok_s"
    "|request_throughput_req_s";

/// Any two keys identify a report, one of them at least a metric.
bool claims_trtllm_bench(const JsonValue& value) {
  if (!value.is_object()) return false;
  std::ptrdiff_t metrics = 0;
  std::ptrdiff_t keys = value.contains("engine") ? 1 : 0;
  for (const ReportSection& section : report_sections) {
    if (!value.contains(section.name)) continue;
    const std::ptrdiff_t known = keys_of(value.at(section.name), section.metrics);
    metrics += known;
    keys += std::max<std::ptrdiff_t>(known, 1);
  }
  return metrics > 0 && keys >= 2;
}

/// Without the numbers of requests and of their tokens there are no counts, only the printed length.
void read_trtllm_decoding(const JsonFields& stats, std::optional<std::int64_t> requests,
                          std::optional<double> request_tokens, Observation& observation, LogContents& contents) {
  observation.decoding = Decoding::speculative;
  note(contents.settings.method, stats.text("mode"));
  const auto drafted = stats.real_in("num_draft_tokens_percentiles", "average");
  const auto accepted = stats.real_in("num_accepted_draft_tokens_percentiles", "average");
  const auto lengths = stats.object("acceptance_length_percentiles");
  const auto length = lengths ? lengths->length("average") : std::nullopt;
  if (!drafted || !accepted || !requests || !request_tokens) {
    observation.acceptance_length = length;
    if (length) {
      warn_once(contents, "W10", stats.line(), "the acceptance length is a mean of requests: there are no counts");
    }
    return;
  }
  if (*accepted > *request_tokens) {
    stats.reject("num_accepted_draft_tokens_percentiles.average", number_text(*accepted),
                 fmt::format("avg_output_length is {}", number_text(*request_tokens)));
  }
  const auto rounded = [](double number) { return whole(std::round(number)).value_or(max_logged_count); };
  const auto number = static_cast<double>(*requests);
  AcceptanceCounts counts{.steps = rounded(*request_tokens * number - *accepted * number),
                          .drafted_tokens = rounded(*drafted * number),
                          .accepted_tokens = rounded(*accepted * number),
                          .steps_estimated = true};
  check_counts(counts, std::nullopt, stats.line(), contents);
  check_mean_length(counts, length, stats.line(), contents);
  observation.acceptance = std::move(counts);
}

void read_trtllm_bench(const JsonFields& report, LogContents& contents) {
  if (const auto engine = report.object("engine")) {
    note(contents.settings.target, engine->text("model"));
    if (const auto version = engine->text("version"); version && contents.version.empty()) contents.version = *version;
  }
  // A report without decoding statistics is a run without speculation; for a part of a report this is unknown.
  const bool complete = report.has("engine") && report.has("request_info") && report.has("performance");
  Observation observation{.line = report.line(),
                          .span = Span::run,
                          .decoding = complete ? Decoding::plain : Decoding::unknown,
                          .requests = report.real_in("request_info", "avg_num_concurrent_requests")};
  observation.times.output_tokens_per_s = report.real_in("performance", "system_output_throughput_tok_s");
  if (const auto total_ms = report.real_in("performance", "total_latency_ms")) {
    observation.times.duration_s = *total_ms / 1000.0;
  }
  observation.times.tpot_ms = report.real_in("streaming_metrics", "avg_tpot_ms");
  observation.times.ttft_ms = report.real_in("streaming_metrics", "avg_ttft_ms");
  const auto output = report.real_in("request_info", "avg_output_length");
  set_lengths(report.real_in("request_info", "avg_input_length"), output, observation.stratum);
  if (const auto stats = report.object("decoding_stats")) {
    const auto load = report.object("request_info");
    read_trtllm_decoding(*stats, load ? load->count("num_requests") : std::nullopt, output, observation, contents);
  }
  contents.observations.push_back(std::move(observation));
}

// ---- Console output of trtllm-bench.

constexpr std::string_view trtllm_anchor =
    R"(^[ \t]*(?:(?:Number of concurrent requests|Average Input Length \(tokens\)|Average Output Length \(tokens\))"
    R"(|Total Output Throughput \(tokens/sec\)|Total Latency \(ms\)|Average time-to-first-token \[TTFT\] \(ms\))"
    R"(|Average time-per-output-token \[TPOT\] \(ms\)):|\[(?:A[LR]|DAR)\] [A-Z0-9]+ *:|= (?:DECODING STATISTICS|DATASET DETAILS)))";

constexpr std::string_view decoding_heading = "= DECODING STATISTICS";
/// The end of a console, after the decoding statistics; also printed before the benchmark.
constexpr std::string_view last_heading = "= DATASET DETAILS";
constexpr std::string_view tokens_per_s = "Total Output Throughput (tokens/sec)";
constexpr std::string_view concurrency_line = "Number of concurrent requests";

class TrtllmConsoleReader final : public BlockReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    for (const std::string_view heading : {decoding_heading, last_heading}) {
      if (!trimmed(text).starts_with(heading)) continue;
      const auto mode = text_after(text, "(", ")");
      if (mode && heading == decoding_heading) contents.settings.method = std::string(*mode);
      if (block().has(tokens_per_s)) add(heading, "", number, contents);
      return true;
    }
    return BlockReader::line(text, number, contents);
  }

 private:
  void read(const KeyValueBlock& block, LogContents& contents) override;
};

void TrtllmConsoleReader::read(const KeyValueBlock& block, LogContents& contents) {
  const auto throughput = block.real(tokens_per_s);
  auto length = block.real("[AL] AVERAGE");
  // Older versions call the same quotient, tokens per iteration, an acceptance rate: a true rate is below 1.
  if (const auto older = block.real("[AR] AVERAGE"); older && *older >= 1.0) note(length, older);
  if (!throughput && !length) return;
  Observation run{.line = block.line(), .span = Span::run};
  // The statistics may be cut off, and versions that print no concurrency have none.
  const bool without = block.has(last_heading) && block.has(concurrency_line);
  const bool drafts = length || block.has(decoding_heading);
  run.decoding = drafts ? Decoding::speculative : without ? Decoding::plain : Decoding::unknown;
  run.acceptance_length = length;
  // The mean rate of the drafts, which tells their number, is printed since the length has its name.
  const auto rate = block.real("[DAR] AVERAGE");
  if (length && rate) run.gamma = whole(gamma_of_rate(*length, *rate));
  run.requests = block.real(concurrency_line);
  const auto latency_ms = block.real("Total Latency (ms)");
  run.times = {.duration_s = latency_ms ? std::optional(*latency_ms / 1000.0) : std::nullopt,
               .output_tokens_per_s = throughput,
               .tpot_ms = block.real("Average time-per-output-token [TPOT] (ms)"),
               .ttft_ms = block.real("Average time-to-first-token [TTFT] (ms)")};
  set_lengths(block.real("Average Input Length (tokens)"), block.real("Average Output Length (tokens)"), run.stratum);
  if (length) {
    warn_once(contents, "W10", block.line(),
              "the acceptance length is an unweighted mean over requests: no counts are printed");
  }
  contents.observations.push_back(std::move(run));
}

}  // namespace

JsonFormat trtllm_iterations_format() {
  return {"iterLatencyMS|inflightBatchingStats|specDecodingStats", of_first<is_trtllm_iteration>,
          of_each<read_trtllm_iteration>};
}

LineFormat trtllm_iteration_log_format() {
  return lines_of<TrtllmIterationLogReader>(R"(\biter = \d+, .*num_scheduled_requests: )");
}

JsonFormat trtllm_bench_format() { return {report_anchor, claims_trtllm_bench, of_object<read_trtllm_bench>}; }

LineFormat trtllm_console_format() { return lines_of<TrtllmConsoleReader>(trtllm_anchor); }

}  // namespace foredraft::logs
