// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "logs/formats.hpp"
#include "logs/record_fields.hpp"

/// `llama-batched-bench --output-format jsonl`: autoregressive decoding of several sequences at once.
namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

bool claims_llama_batched_bench(const Json& value) { return has_keys(value, {"pp", "tg", "pl", "n_kv", "t_tg"}); }

void read_llama_batched_bench(const Json& value, std::int64_t line, LogContents& contents) {
  const JsonFields row(value, line);
  const auto generated = static_cast<double>(row.required_count("tg"));
  const double decode_s = row.required_real("t_tg");
  if (generated <= 0.0 || decode_s <= 0.0) return;
  Observation observation{.line = line,
                          .span = Span::run,
                          .decoding = Decoding::plain,
                          .requests = static_cast<double>(row.required_count("pl"))};
  observation.times.duration_s = row.real("t");
  observation.times.output_tokens_per_s = row.real("speed_tg");
  observation.times.prompt_tokens_per_s = row.real("speed_pp");
  observation.times.iteration_ms = observation.times.tpot_ms = decode_s / generated * 1000.0;
  observation.stratum.output_tokens = generated;
  observation.stratum.context_tokens = static_cast<double>(row.required_count("pp")) + generated / 2.0;
  contents.observations.push_back(std::move(observation));
}

}  // namespace

LogFormat llama_batched_bench_format() {
  return {.name = "llama-batched-bench",
          .summary = "llama-batched-bench --output-format jsonl: decode steps by batch size",
          .engine = "llama.cpp",
          .gives = {"-", "-", "-", "iteration", "yes"},
          .reads = JsonFormat{"t_tg", claims_llama_batched_bench, read_llama_batched_bench}};
}

}  // namespace foredraft::logs
