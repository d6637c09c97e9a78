// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <cmath>
#include <nlohmann/json.hpp>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/record_fields.hpp"

/// Model-Optimizer's specdec_bench: `acceptance_rate.json` counts steps by emitted tokens, so position i has key i + 1;
/// `timing.json` has times in seconds, its quantiles as texts. Also `speculation_profile.json`.
namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

constexpr double same_average = 0.005;
constexpr double same_share = 1e-6;

/// From a histogram by emitted tokens: [j] steps that accepted j drafts.
std::vector<std::int64_t> accepted_histogram(const JsonFields& record, std::string_view key) {
  std::vector<std::int64_t> emitted = histogram_of(record, key);
  if (emitted.empty()) return emitted;
  if (emitted.front() != 0)
    record.reject(key, fmt::format("{} steps emit nothing", emitted.front()), "each emits a token");
  emitted.erase(emitted.begin());
  return emitted;
}

bool claims_specdec_bench(const Json& value) {
  return has_keys(value, {"Acceptance_Length_Histogram"}) || has_keys(value, {"Output TPS", "E2E Request Time"});
}

/// Positions of the joint rates; the first is the token that every step emits.
std::optional<std::int64_t> positions_of(const JsonFields& rates) {
  if (!rates.has("Joint_Acceptance_Rate")) return std::nullopt;
  const auto size = static_cast<std::int64_t>(rates.required_object("Joint_Acceptance_Rate").json().size());
  return size > 0 ? std::optional(size - 1) : std::nullopt;
}

void check_joint_rates(const JsonFields& rates, const AcceptanceCounts& counts, LogContents& contents) {
  if (!rates.has("Joint_Acceptance_Rate") || counts.steps == 0) return;
  const JsonFields joint = rates.required_object("Joint_Acceptance_Rate");
  for (std::size_t i = 0; i < counts.accepted_at.size(); ++i) {
    const auto printed = joint.real(std::to_string(i + 2));
    const double share = static_cast<double>(counts.accepted_at[i]) / static_cast<double>(counts.steps);
    if (printed && std::abs(*printed - share) > same_share) {
      return warn_once(contents, "W18", rates.line(), "Joint_Acceptance_Rate differs from that of the histogram");
    }
  }
}

void read_acceptance_rate(const JsonFields& rates, LogContents& contents) {
  Observation observation{.line = rates.line(), .span = Span::run, .decoding = Decoding::speculative};
  const auto histogram = accepted_histogram(rates, "Acceptance_Length_Histogram");
  AcceptanceCounts counts = counts_of_histogram(histogram, positions_of(rates), rates.line());
  observation.gamma = positions_of(rates);
  check_joint_rates(rates, counts, contents);
  check_mean_length(counts, rates.real("Average_AL"), rates.line(), contents);
  observation.acceptance = std::move(counts);
  contents.observations.push_back(std::move(observation));
}

std::optional<double> mean_ms(const JsonFields& timing, std::string_view key) {
  const auto mean_s = timing.real_in(key, "mean");
  return mean_s ? std::optional(*mean_s * 1000.0) : std::nullopt;
}

void read_timing(const JsonFields& timing, LogContents& contents) {
  Observation observation{.line = timing.line(), .span = Span::run};
  observation.times.output_tokens_per_s = timing.real("Output TPS");
  observation.times.ttft_ms = mean_ms(timing, "TTFT Time");
  observation.times.iteration_ms = mean_ms(timing, "Request Generation Step Time");
  observation.stratum.output_tokens = timing.real_in("Number of Output Tokens", "mean");
  contents.observations.push_back(std::move(observation));
}

void read_specdec_bench(const JsonFields& file, LogContents& contents) {
  if (file.has("Acceptance_Length_Histogram")) return read_acceptance_rate(file, contents);
  read_timing(file, contents);
}

bool claims_speculation_profile(const Json& value) {
  return has_keys(value, {"schema_version", "num_speculative_tokens", "acceptance_length_histogram"});
}

void read_speculation_profile(const JsonFields& profile, LogContents& contents) {
  note(contents.settings.method, profile.text("method"));
  note(contents.settings.target, profile.text("target_model"));
  note(contents.settings.draft, profile.text("draft_checkpoint"));
  Observation observation{.line = profile.line(),
                          .span = Span::run,
                          .decoding = Decoding::speculative,
                          .gamma = profile.count("num_speculative_tokens")};
  note(contents.settings.gamma, observation.gamma);
  observation.acceptance_length = profile.real("mean_accept_length");
  if (profile.has("acceptance_length_histogram")) {
    AcceptanceCounts counts = counts_of_histogram(accepted_histogram(profile, "acceptance_length_histogram"),
                                                  observation.gamma, profile.line());
    if (static_cast<std::int64_t>(counts.accepted_at.size()) > observation.gamma.value_or(INT64_MAX)) {
      profile.reject("acceptance_length_histogram", fmt::format("{} accepted drafts", counts.accepted_at.size()),
                     fmt::format("num_speculative_tokens is {}", *observation.gamma));
    }
    if (counts.steps > 0) {
      check_printed_length(counts, observation.acceptance_length, same_average, profile.line(), contents);
      observation.acceptance_length = std::nullopt;
      observation.acceptance = std::move(counts);
    }
  }
  contents.observations.push_back(std::move(observation));
}

}  // namespace

LogFormat specdec_bench_format() {
  return {.name = "specdec-bench",
          .summary = "Model-Optimizer specdec_bench: acceptance_rate.json and timing.json",
          .engine = "",
          .gives = {"yes", "yes", "yes", "iteration", "no"},
          .reads = JsonFormat{"Acceptance_Length_Histogram|Output TPS", claims_specdec_bench,
                              of_object<read_specdec_bench>}};
}

LogFormat speculation_profile_format() {
  return {.name = "speculation-profile",
          .summary = "Model-Optimizer speculation_profile.json: emitted tokens at one K",
          .engine = "",
          .gives = {"yes", "yes", "yes", "no", "no"},
          .reads = JsonFormat{"acceptance_length_histogram", claims_speculation_profile,
                              of_object<read_speculation_profile>}};
}

}  // namespace foredraft::logs
