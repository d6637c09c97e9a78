// SPDX-License-Identifier: Apache-2.0
#include "logs/interchange.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/json_values.hpp"
#include "core/readable.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/version.hpp"
#include "logs/acceptance.hpp"
#include "logs/line_fields.hpp"

namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

std::string written(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

[[noreturn]] void reject_log(const ObservedLog& log, std::string_view what, std::string_view why) {
  throw InputError(fmt::format("{}: {} ({})", readable(log.file), what, why));
}

/// [j]: steps that accepted exactly j drafts; empty if steps or positions were not counted, or only as rounded rates.
std::vector<std::int64_t> histogram_by_accepted(const AcceptanceCounts& counts) {
  if (counts.accepted_at.empty() || counts.accepted_at_rounding > 0.0 || counts.steps_estimated) return {};
  std::vector<std::int64_t> histogram;
  std::int64_t reached = counts.steps;
  for (const std::int64_t at : counts.accepted_at) {
    const std::int64_t next = std::min(at, reached);  // a log in the middle of a step may have one more
    histogram.push_back(reached - next);
    reached = next;
  }
  histogram.push_back(reached);
  return histogram;
}

// ---- aiperf

Json aiperf_metrics(const Observation& request) {
  Json metrics = Json::object();
  const auto add = [&](const char* name, const std::optional<double>& value, const char* unit) {
    if (value) metrics[name] = {{"value", *value}, {"unit", unit}};
  };
  add("time_to_first_token", request.times.ttft_ms, "ms");
  add("inter_token_latency", request.times.tpot_ms, "ms");
  add("output_sequence_length", request.stratum.output_tokens, "tokens");
  if (request.stratum.context_tokens && request.stratum.output_tokens) {
    add("input_sequence_length", *request.stratum.context_tokens - *request.stratum.output_tokens / 2.0, "tokens");
  }
  return metrics;
}

Json aiperf_acceptance(const AcceptanceCounts& counts, const std::vector<std::int64_t>& histogram,
                       const Observation& request, const std::string& engine) {
  Json by_accepted = Json::object();
  for (std::size_t j = 0; j < histogram.size(); ++j) {
    if (histogram[j] > 0) by_accepted[std::to_string(j)] = histogram[j];
  }
  Json rate = nullptr;
  if (counts.accepted_tokens && counts.drafted_tokens.value_or(0) > 0) {
    rate = static_cast<double>(*counts.accepted_tokens) / static_cast<double>(*counts.drafted_tokens);
  }
  return {{"engine", engine == "tensorrt-llm" ? "trtllm" : engine},
          {"mean_acceptance_length", value_or_null(tokens_per_step(counts))},
          {"draft_acceptance_rate", rate},
          {"acceptance_histogram", by_accepted},
          {"num_accepted_draft_tokens", value_or_null(counts.accepted_tokens)},
          {"num_draft_tokens", value_or_null(counts.drafted_tokens)},
          {"num_spec_steps", counts.steps},
          {"num_spec_tokens", value_or_null(request.gamma)}};
}

std::string aiperf_text(std::span<const ObservedLog> logs) {
  std::string text;
  for (const ObservedLog& log : logs) {
    std::size_t requests = 0;
    for (const Observation& one : log.contents.observations) {
      if (one.span != Span::request) continue;
      Json record{
          {"metadata", {{"x_request_id", value_or_null(one.stratum.request)}, {"benchmark_phase", "profiling"}}},
          {"metrics", aiperf_metrics(one)}};
      if (one.acceptance) {
        const auto histogram = histogram_by_accepted(*one.acceptance);
        if (histogram.empty()) {
          reject_log(log, "no histogram of accepted drafts by request", "positions were not counted");
        }
        record["spec_decode_acceptance"] = aiperf_acceptance(*one.acceptance, histogram, one, log.contents.engine);
      }
      record["error"] = nullptr;
      text += written(record, -1);
      ++requests;
    }
    if (requests == 0) reject_log(log, "no requests", "an aiperf record is one request; this log has windows or runs");
  }
  return text;
}

// ---- speculation_profile.json

/// Counts of all logs, from observations of the finest span of each: the others contain the same steps.
struct PooledSteps {
  std::optional<std::int64_t> gamma = {};
  std::vector<std::int64_t> histogram = {};
  double tokens = 0.0;  ///< that these steps emitted

  void add(const ObservedLog& log) {
    for (const Span span : {Span::request, Span::window, Span::run}) {
      bool found = false;
      for (const Observation& one : log.contents.observations) {
        if (one.span != span || !one.acceptance || one.acceptance->steps == 0) continue;
        found = true;
        add(log, one);
      }
      if (found) return;
    }
    reject_log(log, "no verification steps were counted", "a speculation profile needs acceptance");
  }

 private:
  void add(const ObservedLog& log, const Observation& one) {
    if (!one.gamma)
      reject_log(log, "the draft length is not known", "a speculation profile has one num_speculative_tokens");
    if (gamma && *gamma != *one.gamma) {
      reject_log(log, fmt::format("draft lengths {} and {}", *gamma, *one.gamma),
                 "a speculation profile has one num_speculative_tokens: write one for each");
    }
    if (*one.gamma > max_positions)
      reject_log(log, fmt::format("draft length {}", *one.gamma), fmt::format("must be at most {}", max_positions));
    gamma = one.gamma;
    const auto more = histogram_by_accepted(*one.acceptance);
    if (more.empty()) reject_log(log, "no histogram of accepted drafts", "positions were not counted");
    histogram.resize(std::max(histogram.size(), more.size()), 0);
    for (std::size_t j = 0; j < more.size(); ++j) {
      histogram[j] += more[j];
      tokens += static_cast<double>(more[j]) * static_cast<double>(j + 1);
    }
    if (tokens > static_cast<double>(max_logged_count))
      reject_log(log, fmt::format("{:.3g} tokens", tokens), "must add up to at most 2^53");
  }
};

std::string speculation_profile_text(std::span<const ObservedLog> logs) {
  PooledSteps pooled;
  for (const ObservedLog& log : logs) pooled.add(log);
  const auto gamma = static_cast<std::size_t>(*pooled.gamma);
  pooled.histogram.resize(std::max(pooled.histogram.size(), gamma + 1), 0);
  const AcceptanceCounts counts = counts_of_histogram(pooled.histogram, pooled.gamma, 0);
  Json conditional = Json::array();
  Json marginal = Json::array();
  Json by_emitted = Json::object();
  std::int64_t before = counts.steps;
  for (const std::int64_t accepted : counts.accepted_at) {
    conditional.push_back(before > 0 ? static_cast<double>(accepted) / static_cast<double>(before) : 0.0);
    marginal.push_back(static_cast<double>(accepted) / static_cast<double>(counts.steps));
    before = accepted;
  }
  for (std::size_t j = 0; j < pooled.histogram.size(); ++j) {
    if (pooled.histogram[j] > 0) by_emitted[std::to_string(j + 1)] = pooled.histogram[j];
  }
  const EngineSettings& settings = logs.front().contents.settings;
  const std::string producer =
      fmt::format("foredraft {}.{}.{}{}", version_major, version_minor, version_patch, version_suffix);
  return written({{"schema_version", "1.0"},
                  {"measured", true},
                  {"producer", producer},
                  {"method", value_or_null(settings.method)},
                  {"draft_checkpoint", value_or_null(settings.draft)},
                  {"target_model", value_or_null(settings.target)},
                  {"num_speculative_tokens", *pooled.gamma},
                  {"conditional_accept_rates", conditional},
                  {"marginal_accept_rates", marginal},
                  {"mean_accept_length", value_or_null(tokens_per_step(counts))},
                  {"acceptance_length_histogram", by_emitted}},
                 1);
}

constexpr std::array<Interchange, 3> all_interchanges{{
    {"observations", "everything that was read, foredraft.observations/1", observations_text},
    {"aiperf-records", "a record a request with its acceptance, as aiperf writes them", aiperf_text},
    {"speculation-profile", "emitted tokens at one K, as Model-Optimizer writes them", speculation_profile_text},
}};

}  // namespace

std::span<const Interchange> interchanges() { return all_interchanges; }

}  // namespace foredraft::logs
