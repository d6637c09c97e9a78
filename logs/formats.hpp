// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "logs/log_format.hpp"

/// The readers of all formats; that of observations files is in observations_file.hpp.
namespace foredraft::logs {

// lines of text
[[nodiscard]] LogFormat acceptance_table_format();
[[nodiscard]] LogFormat genai_perf_format();
[[nodiscard]] LogFormat guidellm_console_format();
[[nodiscard]] LogFormat key_values_format();
[[nodiscard]] LogFormat ktransformers_format();
[[nodiscard]] LogFormat llama_server_format();
[[nodiscard]] LogFormat llama_speculative_format();
[[nodiscard]] LogFormat llama_tables_format();
[[nodiscard]] LogFormat mlx_format();
[[nodiscard]] LogFormat prompt_console_format();
[[nodiscard]] LogFormat small_bench_format();
[[nodiscard]] LogFormat evalscope_console_format();
[[nodiscard]] LogFormat trtllm_iteration_log_format();
[[nodiscard]] LogFormat mtp_bench_format();
[[nodiscard]] LogFormat ollama_format();
[[nodiscard]] LogFormat prometheus_format();
[[nodiscard]] LogFormat serving_console_format();
[[nodiscard]] LogFormat sglang_decode_format();
[[nodiscard]] LogFormat trtllm_console_format();
[[nodiscard]] LogFormat vllm_metrics_format();
[[nodiscard]] LogFormat vllm_v0_format();

// JSON values and rows of tables
[[nodiscard]] LogFormat acceptance_traces_format();
[[nodiscard]] LogFormat aiperf_records_format();
[[nodiscard]] LogFormat aiperf_run_format();
[[nodiscard]] LogFormat answers_format();
[[nodiscard]] LogFormat benchmark_records_format();
[[nodiscard]] LogFormat evalscope_format();
[[nodiscard]] LogFormat guidellm_format();
[[nodiscard]] LogFormat ik_spec_bench_format();
[[nodiscard]] LogFormat inferencex_format();
[[nodiscard]] LogFormat llama_batched_bench_format();
[[nodiscard]] LogFormat llama_bench_csv_format();
[[nodiscard]] LogFormat llama_bench_format();
[[nodiscard]] LogFormat llamacpp_timings_format();
[[nodiscard]] LogFormat lmstudio_format();
[[nodiscard]] LogFormat ollama_answers_format();
[[nodiscard]] LogFormat own_csv_format();
[[nodiscard]] LogFormat prometheus_range_format();
[[nodiscard]] LogFormat request_metrics_format();
[[nodiscard]] LogFormat sglang_bench_format();
[[nodiscard]] LogFormat specdec_bench_format();
[[nodiscard]] LogFormat specforge_format();
[[nodiscard]] LogFormat speculation_profile_format();
[[nodiscard]] LogFormat speculators_format();
[[nodiscard]] LogFormat speed_bench_format();
[[nodiscard]] LogFormat table_format();
[[nodiscard]] LogFormat trtllm_bench_format();
[[nodiscard]] LogFormat trtllm_iterations_format();
[[nodiscard]] LogFormat vllm_bench_format();

}  // namespace foredraft::logs
