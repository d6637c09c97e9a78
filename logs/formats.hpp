// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "logs/log_format.hpp"

/// The readers of all formats; that of observations files is in observations_file.hpp.
namespace foredraft::logs {

// lines of text
[[nodiscard]] LineFormat acceptance_table_format();
[[nodiscard]] LineFormat position_rates_format();
[[nodiscard]] LineFormat aisbench_format();
[[nodiscard]] LineFormat genai_perf_format();
[[nodiscard]] LineFormat guidellm_console_format();
[[nodiscard]] LineFormat key_values_format();
[[nodiscard]] LineFormat ktransformers_format();
[[nodiscard]] LineFormat lightllm_format();
[[nodiscard]] LineFormat llama_server_format();
[[nodiscard]] LineFormat llama_speculative_format();
[[nodiscard]] LineFormat llama_tables_format();
[[nodiscard]] LineFormat mlx_format();
[[nodiscard]] LineFormat prompt_console_format();
[[nodiscard]] LineFormat small_bench_format();
[[nodiscard]] LineFormat evalscope_console_format();
[[nodiscard]] LineFormat trtllm_iteration_log_format();
[[nodiscard]] LineFormat mtp_bench_format();
[[nodiscard]] LineFormat key_line_format();
[[nodiscard]] LineFormat atom_format();
[[nodiscard]] LineFormat llama_progress_format();
[[nodiscard]] LineFormat lmstudio_chat_format();
[[nodiscard]] LineFormat ollama_format();
[[nodiscard]] LineFormat omlx_format();
[[nodiscard]] LineFormat prometheus_format();
[[nodiscard]] LineFormat prose_format();
[[nodiscard]] LineFormat serving_console_format();
[[nodiscard]] LineFormat sglang_decode_format();
[[nodiscard]] LineFormat tgi_format();
[[nodiscard]] LineFormat trtllm_console_format();
[[nodiscard]] LineFormat vllm_metrics_format();
[[nodiscard]] LineFormat vllm_v0_format();

// JSON values and rows of tables
[[nodiscard]] JsonFormat acceptance_traces_format();
[[nodiscard]] JsonFormat aiperf_records_format();
[[nodiscard]] JsonFormat aiperf_run_format();
[[nodiscard]] JsonFormat answers_format();
[[nodiscard]] CsvFormat bench_csv_format();
[[nodiscard]] CsvFormat bench_table_format();
[[nodiscard]] JsonFormat benchmark_records_format();
[[nodiscard]] JsonFormat evalscope_format();
[[nodiscard]] TableFormat guidellm_csv_format();
[[nodiscard]] JsonFormat guidellm_format();
[[nodiscard]] JsonFormat ik_spec_bench_format();
[[nodiscard]] JsonFormat inference_perf_format();
[[nodiscard]] JsonFormat inferencex_format();
[[nodiscard]] JsonFormat llama_batched_bench_format();
[[nodiscard]] CsvFormat llama_bench_csv_format();
[[nodiscard]] CsvFormat llama_benchy_csv_format();
[[nodiscard]] JsonFormat llama_benchy_format();
[[nodiscard]] JsonFormat llama_bench_format();
[[nodiscard]] JsonFormat llamacpp_timings_format();
[[nodiscard]] LineFormat k6_format();
[[nodiscard]] LineFormat assisted_generation_format();
[[nodiscard]] JsonFormat lmstudio_format();
[[nodiscard]] JsonFormat kobold_perf_format();
[[nodiscard]] JsonFormat ollama_answers_format();
[[nodiscard]] CsvFormat own_csv_format();
[[nodiscard]] JsonFormat prometheus_range_format();
[[nodiscard]] JsonFormat request_metrics_format();
[[nodiscard]] JsonFormat sglang_bench_format();
[[nodiscard]] JsonFormat sglang_info_format();
[[nodiscard]] JsonFormat specdec_bench_format();
[[nodiscard]] JsonFormat specforge_format();
[[nodiscard]] JsonFormat speculation_profile_format();
[[nodiscard]] CsvFormat speculators_format();
[[nodiscard]] JsonFormat tabby_format();
[[nodiscard]] JsonFormat exllama_jobs_format();
[[nodiscard]] JsonFormat speed_bench_format();
[[nodiscard]] LineFormat speed_pair_format();
[[nodiscard]] TableFormat table_format();
[[nodiscard]] JsonFormat trtllm_bench_format();
[[nodiscard]] JsonFormat trtllm_iterations_format();
[[nodiscard]] JsonFormat vllm_bench_format();
[[nodiscard]] LineFormat vllm_latency_format();
[[nodiscard]] JsonFormat vllm_latency_json_format();

}  // namespace foredraft::logs
