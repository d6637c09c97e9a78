// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "logs/formats.hpp"
#include "logs/serving_benchmark.hpp"

/// `sglang.bench_serving`: one JSON object per run, whose `accept_length` is the server's mean since its start.
namespace foredraft::logs {
namespace {

/// An inter-token latency within this factor of TPOT is that of tokens.
constexpr double per_token = 1.25;

bool claims_sglang_bench(const nlohmann::ordered_json& value) {
  return is_serving_benchmark(value) &&
         (value.contains("accept_length") || value.contains("server_info") || value.contains("sharegpt_output_len"));
}

/// The server's own settings in the same file.
void read_server_info(const JsonFields& run, Observation& observation, LogContents& contents) {
  if (!run.has("server_info")) return;
  const JsonFields server = *run.object("server_info");
  note(contents.settings.target, server.text("model_path"));
  note(contents.settings.draft, server.text("speculative_draft_model_path"));
  note(contents.settings.method, server.text("speculative_algorithm"));
  if (const auto version = server.text("version"); version && contents.version.empty()) contents.version = *version;
  // A tree drafts more tokens than its depth: none of its numbers is a draft length.
  if (server.count("speculative_eagle_topk").value_or(1) > 1) return;
  const auto steps = server.count("speculative_num_steps");
  note(contents.settings.gamma, steps);
  if (observation.decoding == Decoding::speculative) observation.gamma = steps;
}

/// The gaps between chunks are divided by their tokens, except in old versions, where they are iterations.
void read_iteration_time(const JsonFields& run, Observation& observation, LogContents& contents) {
  const auto itl_ms = run.real("mean_itl_ms");
  const auto tpot_ms = run.real("mean_tpot_ms");
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

void read_sglang_bench(const nlohmann::ordered_json& value, std::int64_t line, LogContents& contents) {
  const JsonFields run(value, line);
  Observation observation = serving_run(run, contents);
  const auto length = run.real("accept_length");
  observation.decoding = length ? Decoding::speculative : Decoding::plain;
  observation.acceptance_length = length;
  if (length && *length < 1.0) run.refuse("accept_length", run.json().at("accept_length").dump(), "must be at least 1");
  if (length) {
    warn_once(contents, "W02", line,
              "accept_length is the server's mean since its start, including other runs and warm-up");
  }
  read_server_info(run, observation, contents);
  read_iteration_time(run, observation, contents);
  contents.observations.push_back(std::move(observation));
}

}  // namespace

LogFormat sglang_bench_format() {
  return {.name = "sglang-bench",
          .summary = "sglang.bench_serving: a run as a line of JSON, speculative or not",
          .engine = "sglang",
          .gives = {"yes", "yes", "no", "iteration, tokens", "yes"},
          .reads = JsonFormat{"output_throughput", claims_sglang_bench, read_sglang_bench}};
}

}  // namespace foredraft::logs
