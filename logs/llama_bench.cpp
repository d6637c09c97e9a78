// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "logs/formats.hpp"
#include "logs/record_fields.hpp"

/// `llama-bench -o json|jsonl|csv`: never speculative. A test with only n_gen decodes one sequence, one with only
/// n_prompt is a prefill; with both it is a mixture from which neither follows.
namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

template <typename Fields>
void read_llama_bench_test(const Fields& test, LogContents& contents) {
  note(contents.settings.target, test.text("model_filename"));
  if (const auto build = test.text("build_number"); build && contents.version.empty()) contents.version = "b" + *build;
  const std::int64_t prompt = test.count("n_prompt").value_or(0);
  const std::int64_t generated = test.count("n_gen").value_or(0);
  const auto tokens_per_s = test.real("avg_ts");
  if (!tokens_per_s || *tokens_per_s <= 0.0) return;
  if (prompt > 0 && generated > 0) {
    return warn_once(contents, "W12", test.line(), "ignored tests that time prefill and decoding together");
  }
  Observation observation{.line = test.line(), .span = Span::run, .decoding = Decoding::plain, .requests = 1.0};
  const double depth = test.real("n_depth").value_or(0.0);
  if (generated > 0) {
    observation.times.output_tokens_per_s = tokens_per_s;
    observation.times.iteration_ms = observation.times.tpot_ms = 1000.0 / *tokens_per_s;
    observation.stratum.output_tokens = static_cast<double>(generated);
    observation.stratum.context_tokens = depth + static_cast<double>(generated) / 2.0;
  } else {
    observation.times.prompt_tokens_per_s = tokens_per_s;
    observation.stratum.context_tokens = depth + static_cast<double>(prompt) / 2.0;
  }
  contents.observations.push_back(std::move(observation));
}

bool is_llama_bench_test(const Json& value) { return has_keys(value, {"n_prompt", "n_gen", "avg_ts", "build_number"}); }

bool claims_llama_bench(const Json& value) {
  return value.is_array() ? !value.empty() && is_llama_bench_test(value.front()) : is_llama_bench_test(value);
}

void read_llama_bench(const Json& value, std::int64_t line, LogContents& contents) {
  if (!value.is_array()) return read_llama_bench_test(JsonFields(value, line), contents);
  for (const Json& test : value) read_llama_bench_test(JsonFields(test, line), contents);
}

bool claims_llama_bench_csv(std::span<const std::string> columns) {
  const auto has = [&](std::string_view name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  return has("n_prompt") && has("n_gen") && has("avg_ts");
}

void read_llama_bench_row(std::span<const std::string> columns, std::span<const std::string> cells, std::int64_t line,
                          LogContents& contents) {
  read_llama_bench_test(CsvFields(columns, cells, line), contents);
}

}  // namespace

LogFormat llama_bench_format() {
  return {.name = "llama-bench",
          .summary = "llama-bench -o json or jsonl: decode steps of one sequence by context",
          .engine = "llama.cpp",
          .gives = {"-", "-", "-", "iteration", "1"},
          .reads = JsonFormat{"avg_ts", claims_llama_bench, read_llama_bench}};
}

LogFormat llama_bench_csv_format() {
  return {.name = "llama-bench-csv",
          .summary = "llama-bench -o csv: the same as a table",
          .engine = "llama.cpp",
          .gives = {"-", "-", "-", "iteration", "1"},
          .reads = CsvFormat{"avg_ts", claims_llama_bench_csv, read_llama_bench_row}};
}

}  // namespace foredraft::logs
