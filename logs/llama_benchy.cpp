// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/record_fields.hpp"
#include "logs/stated_run.hpp"

/// The files of llama-benchy, which measures a server that may speculate.
namespace foredraft::logs {
namespace {

bool is_benchy_run(const JsonValue& value) {
  constexpr std::array<const char*, 6> keys{"tg_throughput", "tg_req_throughput", "response_size",
                                            "prompt_size",   "context_size",      "is_context_prefill_phase"};
  return keys_of(value, keys) >= 3;
}

/// A report, or one of its runs.
bool claims_benchy(const JsonValue& value) {
  const JsonValue* run = first_entry(value, "benchmarks");
  return is_benchy_run(run != nullptr ? *run : value);
}

/// The throughput of a request is left out where it is the only one.
void read_benchy_run(const JsonFields& fields, LogContents& contents) {
  StatedRun run{.line = fields.line(),
                .concurrency = fields.real("concurrency"),
                .ttft_ms = fields.real_in("e2e_ttft", "mean"),
                .output_tokens_per_s = fields.real_in("tg_throughput", "mean"),
                .request_tokens_per_s = fields.real_in("tg_req_throughput", "mean"),
                .output_tokens = fields.real("response_size")};
  if (!run.output_tokens_per_s && !run.request_tokens_per_s) return;
  if (run.concurrency == 1.0) note(run.request_tokens_per_s, run.output_tokens_per_s);
  run.prompt_tokens = fields.real("context_size").value_or(0.0) + fields.real("prompt_size").value_or(0.0);
  contents.observations.push_back(observation_of(run, Decoding::unknown, contents));
}

void read_benchy(const JsonFields& file, LogContents& contents) {
  note(contents.settings.target, file.text("model"));
  if (!file.has("benchmarks")) return read_benchy_run(file, contents);
  for (const JsonFields& run : file.objects("benchmarks")) read_benchy_run(run, contents);
}

/// A row of a test: "pp2048 @ d4096 (c4)" of prompts, "tg128 (c4)" of output.
void read_benchy_row(const CsvFields& row, LogContents& contents) {
  const std::string test = row.text("test_name").value_or("");
  if (!test.starts_with("tg")) return;
  std::string_view rest = std::string_view(test).substr(2);
  StatedRun run{.line = row.line(),
                .concurrency = number_after(test, "(c").value_or(1.0),
                .output_tokens_per_s = row.real("t_s_mean"),
                .request_tokens_per_s = row.real("t_s_req_mean"),
                .output_tokens = take_number(rest)};
  if (run.concurrency == 1.0) note(run.request_tokens_per_s, run.output_tokens_per_s);
  note(contents.settings.target, row.text("model"));
  contents.observations.push_back(observation_of(run, Decoding::unknown, contents));
  // The prompt behind it is that of another row.
  if (const auto depth = number_after(test, "@ d"); depth.value_or(0.0) > 0.0)
    contents.observations.back().stratum.category = fmt::format("depth {}", *depth);
}

}  // namespace

JsonFormat llama_benchy_format() {
  return {"tg_(?:req_)?throughput|response_size", claims_benchy, of_object<read_benchy>};
}

CsvFormat llama_benchy_csv_format() {
  return {"t_s_mean",
          [](std::span<const std::string> columns) {
            return has_columns(columns, {"test_name", "t_s_mean"});
          },
          read_benchy_row};
}

}  // namespace foredraft::logs
