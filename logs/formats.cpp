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
      {"vllm-v0", "log of a vLLM server before V1: counters, stage times, engine lines", "vllm",
       Gives{"yes", "yes", "no", "iteration, drafting, verification", "yes"}, vllm_v0_format()},
      {"vllm", "log of a vLLM server (V1): metrics, engine and configuration lines", "vllm",
       Gives{"yes", "yes", "yes", "iteration", "yes"}, vllm_metrics_format()},
      {"sglang", "log of an SGLang server: decode lines, settings", "sglang",
       Gives{"(yes)", "yes", "no", "iteration", "yes"}, sglang_decode_format()},
      {"llama-server", "log of llama-server: times and drafts of each request, statistics", "llama.cpp",
       Gives{"(yes)", "yes", "(yes)", "iteration, drafting, tokens", "(yes)"}, llama_server_format()},
      {"llama-speculative", "console of llama-speculative and llama-speculative-simple", "llama.cpp",
       Gives{"yes", "yes", "no", "iteration, drafting", "1"}, llama_speculative_format()},
      {"llama-progress", "progress of llama-server's requests, without the times at their end", "llama.cpp",
       Gives{"(yes)", "no", "no", "tokens", "no"}, llama_progress_format()},
      {"mtp-bench", "console of mtp-bench.py: requests to a llama-server, with or without drafts", "llama.cpp",
       Gives{"no", "yes", "no", "iteration, tokens", "(yes)"}, mtp_bench_format()},
      {"prometheus", "/metrics of vLLM, llama.cpp, SGLang, TensorRT-LLM, Dynamo, mistral.rs; two: a window", "",
       Gives{"yes", "yes", "(yes)", "(iteration), tokens", "(yes)"}, prometheus_format()},
      {"bench-serving", "serving benchmarks of vLLM, SGLang, TensorRT-LLM, DFlash: their consoles, or parts", "",
       Gives{"(yes)", "yes", "(yes)", "iteration, tokens", "yes"}, serving_console_format()},
      {"trtllm-bench-console", "console of trtllm-bench", "tensorrt-llm", Gives{"no", "yes", "no", "tokens", "yes"},
       trtllm_console_format()},
      {"trtllm-iteration-log", "log of TensorRT-LLM (print_iter_log): batch and time of each iteration", "tensorrt-llm",
       Gives{"yes", "no", "no", "iteration", "yes"}, trtllm_iteration_log_format()},
      {"llama-tables", "tables of llama-bench, llama-batched-bench and llama-sweep-bench: decode steps", "llama.cpp",
       Gives{"-", "-", "-", "iteration", "yes"}, llama_tables_format()},
      {"genai-perf", "tables of GenAI-Perf and AIPerf: load and times of a run, speculative or not", "",
       Gives{"(yes)", "(yes)", "no", "(iteration), tokens", "yes"}, genai_perf_format()},
      {"guidellm-console", "console of GuideLLM: load and times of each benchmark, without acceptance", "",
       Gives{"no", "no", "no", "tokens", "yes"}, guidellm_console_format()},
      {"ollama", "ollama run --verbose, Ollama's log, KTransformers: tokens and speed of each answer", "",
       Gives{"no", "(yes)", "no", "tokens", "no"}, ollama_format()},
      {"ktransformers", "log of KTransformers' server: speed of each answer", "",
       Gives{"no", "no", "no", "tokens", "no"}, ktransformers_format()},
      {"mlx-lm", "consoles of mlx_lm.generate and mlx_lm.benchmark: tokens and speed", "",
       Gives{"no", "no", "no", "tokens", "(yes)"}, mlx_format()},
      {"omlx", "log of oMLX: rounds and accepted drafts of each answer, its speed", "",
       Gives{"yes", "yes", "no", "iteration, tokens", "no"}, omlx_format()},
      {"lmstudio-chat", "the line below an answer in LM Studio: speed, accepted drafts", "",
       Gives{"(yes)", "yes", "no", "iteration, tokens", "no"}, lmstudio_chat_format()},
      {"local-prompts", "llama-cli, LM Studio, KoboldCpp, TabbyAPI, mistral.rs: speed of each answer", "",
       Gives{"(yes)", "(yes)", "no", "(iteration), tokens", "no"}, prompt_console_format()},
      {"small-bench", "consoles of SGLang's send_one and bench_one_batch, vllm bench throughput", "",
       Gives{"no", "(yes)", "no", "(iteration), tokens", "(yes)"}, small_bench_format()},
      {"evalscope-console", "table of evalscope perf on the console: load, times, tokens of an iteration", "",
       Gives{"(yes)", "yes", "no", "iteration, tokens", "yes"}, evalscope_console_format()},
      {"aisbench", "tables of AISBench on the console: load and times of a run, without acceptance", "",
       Gives{"no", "no", "no", "tokens", "yes"}, aisbench_format()},
      {"key-line", "a line of a benchmark: rounds=34 generated=88 acceptance_rate=0.5", "",
       Gives{"(yes)", "yes", "no", "iteration, tokens", "no"}, key_line_format()},
      {"key-values", "lists such as num_drafts: 4816, as spec_decode.py of vLLM prints them", "",
       Gives{"yes", "yes", "(yes)", "no", "no"}, key_values_format()},
      {"acceptance-table", "acceptance length by K (YAML), with and without thinking, as in InferenceX", "",
       Gives{"yes", "yes", "no", "no", "no"}, acceptance_table_format()},
      {"prose", "text that names arms and their speeds: \"baseline: 31 tok/s\", if nothing else", "",
       Gives{"(yes)", "(yes)", "no", "tokens", "no"}, prose_format()},
      // JSON values and tables
      {"observations", "an observations file that foredraft import wrote, foredraft.observations/1", "",
       Gives{"(yes)", "yes", "(yes)", "(all)", "(yes)"}, observations_format()},
      {"prometheus-range", "a range query of Prometheus, a window a step; AIPerf's server metrics (JSON)", "",
       Gives{"yes", "yes", "(yes)", "(iteration), tokens", "(yes)"}, prometheus_range_format()},
      {"vllm-bench", "vllm bench serve --save-result: a run as JSON, speculative or not", "vllm",
       Gives{"(yes)", "yes", "yes", "iteration, tokens", "yes"}, vllm_bench_format()},
      {"sglang-bench", "sglang.bench_serving: a run as a line of JSON, speculative or not", "sglang",
       Gives{"yes", "yes", "no", "iteration, tokens", "yes"}, sglang_bench_format()},
      {"bench-serving-csv", "summary.csv of vllm bench sweep: a run of its client a row", "",
       Gives{"(yes)", "yes", "yes", "iteration, tokens", "yes"}, bench_csv_format()},
      {"sglang-info", "what an SGLang server says of itself: /server_info, /v1/loads (JSON)", "sglang",
       Gives{"(yes)", "yes", "no", "no", "(yes)"}, sglang_info_format()},
      {"request-metrics", "answers that count their own steps: vLLM, TensorRT-LLM, SGLang (JSON)", "",
       Gives{"(yes)", "yes", "yes", "no", "no"}, request_metrics_format()},
      {"trtllm-iterations", "TensorRT-LLM iteration statistics: batch, time and drafts of each", "tensorrt-llm",
       Gives{"yes", "yes", "no", "iteration, drafting", "yes"}, trtllm_iterations_format()},
      {"trtllm-bench", "trtllm-bench --report_json: a run with its decoding statistics", "tensorrt-llm",
       Gives{"(yes)", "yes", "no", "tokens", "yes"}, trtllm_bench_format()},
      {"llamacpp-timings", "llama-server answers with timings, and lists of such records", "llama.cpp",
       Gives{"(yes)", "yes", "no", "iteration, tokens", "no"}, llamacpp_timings_format()},
      {"speed-bench", "llama.cpp speed_bench.py --output: requests by category, or their means", "llama.cpp",
       Gives{"no", "(yes)", "no", "tokens", "yes"}, speed_bench_format()},
      {"llama-bench", "llama-bench -o json or jsonl: decode steps of one sequence by context", "llama.cpp",
       Gives{"-", "-", "-", "iteration", "1"}, llama_bench_format()},
      {"llama-bench-csv", "llama-bench -o csv: the same as a table", "llama.cpp",
       Gives{"-", "-", "-", "iteration", "1"}, llama_bench_csv_format()},
      {"llama-batched-bench", "llama-batched-bench --output-format jsonl: decode steps by batch size", "llama.cpp",
       Gives{"-", "-", "-", "iteration", "yes"}, llama_batched_bench_format()},
      {"ik-spec-bench", "ik_llama.cpp llama-spec-bench JSONL: positions and draft times", "ik_llama.cpp",
       Gives{"yes", "yes", "yes", "iteration, drafting", "1"}, ik_spec_bench_format()},
      {"specforge", "SpecForge dashboard JSON and bench_eagle3 results, by setting", "sglang",
       Gives{"(yes)", "yes", "no", "no", "yes"}, specforge_format()},
      {"aiperf-records", "aiperf profile_export.jsonl: requests with their accepted drafts", "",
       Gives{"yes", "yes", "yes", "tokens", "no"}, aiperf_records_format()},
      {"aiperf-run", "aiperf profile_export_aiperf.json: a run with its pooled histogram", "",
       Gives{"no", "yes", "yes", "tokens", "no"}, aiperf_run_format()},
      {"specdec-bench", "Model-Optimizer specdec_bench: acceptance_rate.json and timing.json", "",
       Gives{"yes", "yes", "yes", "iteration", "no"}, specdec_bench_format()},
      {"speculation-profile", "Model-Optimizer speculation_profile.json: emitted tokens at one K", "",
       Gives{"yes", "yes", "yes", "no", "no"}, speculation_profile_format()},
      {"speculators", "speculators acceptance.csv and perf_results.csv, by subset", "vllm",
       Gives{"yes", "yes", "yes", "tokens", "(yes)"}, speculators_format()},
      {"guidellm", "GuideLLM benchmarks as JSON: load and times, without acceptance", "",
       Gives{"no", "no", "no", "tokens", "yes"}, guidellm_format()},
      {"evalscope", "evalscope perf, benchmark_summary.json: load, times, tokens of an iteration", "",
       Gives{"(yes)", "yes", "no", "iteration, tokens", "yes"}, evalscope_format()},
      {"inferencex", "rows of results of InferenceX (JSON): load and times, without acceptance", "",
       Gives{"no", "no", "no", "tokens", "yes"}, inferencex_format()},
      {"lmstudio", "answers of LM Studio's REST API with their stats (JSON)", "",
       Gives{"(yes)", "yes", "no", "iteration, tokens", "no"}, lmstudio_format()},
      {"tabbyapi", "answers of TabbyAPI with their usage (JSON): speed, accepted drafts", "",
       Gives{"(yes)", "yes", "no", "iteration, tokens", "no"}, tabby_format()},
      {"ollama-answers", "answers of Ollama's REST API with their times (JSON)", "",
       Gives{"no", "no", "no", "tokens", "no"}, ollama_answers_format()},
      {"benchmark-records", "records of scripts: concurrency, num_speculative_tokens, measured (JSON)", "",
       Gives{"yes", "yes", "no", "iteration, tokens", "yes"}, benchmark_records_format()},
      {"answers", "answers of Spec-Bench, EAGLE and Medusa (JSONL): tokens, steps and time by question", "",
       Gives{"no", "yes", "(yes)", "iteration", "1"}, answers_format()},
      {"acceptance-traces", "recorded acceptance by text position (acc_len, JSONL)", "",
       Gives{"any", "yes", "yes", "no", "no"}, acceptance_traces_format()},
      {"bench-csv", "tables (CSV) of ds4-bench and of sweeps of EvalScope: speed by context or load", "",
       Gives{"no", "(yes)", "no", "tokens", "yes"}, bench_table_format()},
      {"csv", "a table of your own: gamma, steps, accepted_at_1, ..., iteration_ms", "",
       Gives{"(yes)", "(yes)", "(yes)", "(all)", "(yes)"}, own_csv_format()},
      {"table", "any table with headings such as K, tok/s, TPOT, acc, AL, concurrency", "",
       Gives{"(yes)", "(yes)", "(yes)", "(all)", "(yes)"}, table_format()},
  };
  return all;
}

}  // namespace foredraft::logs
