// SPDX-License-Identifier: Apache-2.0
#include "logs/formats.hpp"

#include <algorithm>
#include <utility>

#include "logs/observations_file.hpp"

/// The registry of formats.
namespace foredraft::logs {

RejectedRecord::RejectedRecord(std::vector<Problem> problems)
    : InputError("invalid record"), problems_(std::move(problems)) {}

void reject(Problem problem) { throw RejectedRecord({std::move(problem)}); }

void warn_once(LogContents& contents, std::string_view code, std::int64_t line, std::string message) {
  const bool said = std::any_of(contents.warnings.begin(), contents.warnings.end(),
                                [code](const LogWarning& warning) { return warning.code == code; });
  if (!said) contents.warnings.push_back({.code = std::string(code), .line = line, .message = std::move(message)});
}

std::span<const LogFormat> formats() {
  static const std::vector<LogFormat> all = {
      // lines of servers and consoles
      vllm_v0_format(),
      vllm_metrics_format(),
      sglang_decode_format(),
      llama_server_format(),
      llama_speculative_format(),
      mtp_bench_format(),
      prometheus_format(),
      serving_console_format(),
      trtllm_console_format(),
      trtllm_iteration_log_format(),
      llama_tables_format(),
      genai_perf_format(),
      guidellm_console_format(),
      ollama_format(),
      ktransformers_format(),
      mlx_format(),
      prompt_console_format(),
      small_bench_format(),
      evalscope_console_format(),
      key_values_format(),
      acceptance_table_format(),
      // JSON values and tables
      observations_format(),
      prometheus_range_format(),
      vllm_bench_format(),
      sglang_bench_format(),
      request_metrics_format(),
      trtllm_iterations_format(),
      trtllm_bench_format(),
      llamacpp_timings_format(),
      speed_bench_format(),
      llama_bench_format(),
      llama_bench_csv_format(),
      llama_batched_bench_format(),
      ik_spec_bench_format(),
      specforge_format(),
      aiperf_records_format(),
      aiperf_run_format(),
      specdec_bench_format(),
      speculation_profile_format(),
      speculators_format(),
      guidellm_format(),
      evalscope_format(),
      inferencex_format(),
      lmstudio_format(),
      ollama_answers_format(),
      benchmark_records_format(),
      answers_format(),
      acceptance_traces_format(),
      own_csv_format(),
      table_format(),
  };
  return all;
}

}  // namespace foredraft::logs
