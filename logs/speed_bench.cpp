// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "logs/formats.hpp"
#include "logs/llamacpp_request.hpp"

/// `speed_bench.py --output` of llama.cpp: requests with llama-server's times if the file has them, else means of each
/// category, whose acceptance rate has no counts and is ignored.
namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

bool claims_speed_bench(const Json& value) {
  return has_keys(value, {"config", "selected_samples", "summary", "results"});
}

bool timed(const JsonFields& result) {
  return is_llamacpp_request(result.json()) ||
         (result.has("timings") && is_llamacpp_request(result.json().at("timings")));
}

void read_speed_summary(const JsonFields& row, std::optional<double> requests, LogContents& contents) {
  const std::string category = row.text("category").value_or("");
  if (category == "overall") return;
  const auto rate = row.real("avg_pred_t/s");
  Observation observation{.line = row.line(), .span = Span::run, .requests = requests};
  if (rate && *rate > 0.0) observation.times.tpot_ms = 1000.0 / *rate;
  if (!category.empty()) observation.stratum.category = category;
  contents.observations.push_back(std::move(observation));
  warn_once(contents, "W10", row.line(), "means of rates by category, which are not the acceptance rate of all tokens");
}

void read_speed_bench(const Json& value, std::int64_t line, LogContents& contents) {
  const JsonFields file(value, line);
  const auto requests = file.required_object("config").real("concurrency");
  bool any_timed = false;
  for (const JsonFields& result : file.objects("results")) {
    if (!timed(result)) continue;
    any_timed = true;
    const JsonFields timings = result.has("timings") ? result.required_object("timings") : result;
    Observation observation = llamacpp_request(timings, Decoding::plain, contents);
    observation.requests = requests;
    observation.stratum.category = result.text("category");
    contents.observations.push_back(std::move(observation));
  }
  if (any_timed) return;
  for (const JsonFields& row : file.objects("summary")) read_speed_summary(row, requests, contents);
}

}  // namespace

LogFormat speed_bench_format() {
  return {.name = "speed-bench",
          .summary = "llama.cpp speed_bench.py --output: requests by category, or their means",
          .engine = "llama.cpp",
          .gives = {"no", "(yes)", "no", "tokens", "yes"},
          .reads = JsonFormat{"selected_samples", claims_speed_bench, read_speed_bench}};
}

}  // namespace foredraft::logs
