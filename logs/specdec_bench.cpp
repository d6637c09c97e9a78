// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/numbers.hpp"
#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/record_fields.hpp"

/// Model-Optimizer's specdec_bench: `acceptance_rate.json` counts steps by emitted tokens, so position i has key i + 1;
/// `timing.json` has times in seconds, its quantiles as texts. Also `speculation_profile.json`.
namespace foredraft::logs {
namespace {

/// Maximum error of a printed mean, and of a rate printed with all digits.
constexpr double same_average = 0.005;
constexpr double same_share = 1e-6;

/// [j]: steps that accepted j drafts, from a histogram by emitted tokens. Rejects steps that emit nothing.
std::vector<std::int64_t> accepted_histogram(const JsonFields& record, std::string_view key) {
  std::vector<std::int64_t> emitted = histogram_of(record, key);
  if (emitted.empty()) return emitted;
  if (emitted.front() != 0)
    record.reject(key, fmt::format("{} steps emit nothing", emitted.front()), "each emits a token");
  emitted.erase(emitted.begin());
  return emitted;
}

/// Keys of the two files, which may be in one; the histogram or any two identify them.
constexpr std::array<const char*, 5> rate_keys{"Acceptance_Length_Histogram", "Request_AL", "Average_AL",
                                               "Conditional_Acceptance_Rate", "Joint_Acceptance_Rate"};
constexpr std::array<const char*, 7> timing_keys{"Output TPS",
                                                 "Output TPS/gpu",
                                                 "E2E Request Time",
                                                 "TTFT Time",
                                                 "Request Generation Step Time",
                                                 "Request Generation Tokens Per Second",
                                                 "Number of Output Tokens"};
constexpr std::string_view specdec_anchor =
    "Acceptance_Length_Histogram|Request_AL|Average_AL|(?:Conditional|Joint)_Acceptance_Rate|Output TPS"
    "|(?:E2E Request|TTFT|Request Generation Step) Time|Request Generation Tokens Per Second|Number of Output Tokens";

bool claims_specdec_bench(const JsonValue& value) {
  return has_keys(value, {"Acceptance_Length_Histogram"}) ||
         keys_of(value, rate_keys) + keys_of(value, timing_keys) >= 2;
}

/// Number of draft positions with rates: key 1 is the token that every step emits. Nullopt without rates.
std::optional<std::int64_t> positions_of(const JsonFields& file) {
  auto rates = file.object("Joint_Acceptance_Rate");
  if (!rates) rates = file.object("Conditional_Acceptance_Rate");
  std::int64_t tokens = 0;
  if (rates) {
    for (const JsonValue& rate : rates->json()) tokens = std::max(tokens, parse_integer(rate.key()).value_or(0));
  }
  return tokens > 0 ? std::optional(std::min(tokens, max_positions) - 1) : std::nullopt;
}

/// Tokens per step: the sum of joint rates, which are products of the conditional ones. Nullopt if one is missing.
std::optional<double> length_of_rates(const JsonFields& file) {
  const auto joint = file.object("Joint_Acceptance_Rate");
  const auto rates = joint ? joint : file.object("Conditional_Acceptance_Rate");
  const auto positions = positions_of(file);
  if (!rates || !positions) return std::nullopt;
  double length = 1.0;
  double reached = 1.0;  // fraction of the steps with this many tokens
  for (std::int64_t tokens = 2; tokens <= *positions + 1; ++tokens) {
    const std::string key = std::to_string(tokens);
    const auto rate = rates->real(key);
    if (!rate) return std::nullopt;
    const double most = joint ? reached : 1.0;
    if (*rate > most) rates->reject(key, number_text(*rate), fmt::format("must be at most {}", number_text(most)));
    reached = joint ? *rate : reached * *rate;
    length += reached;
  }
  return length;
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

/// Counts, if there is a histogram; else a length, from the rates or as the mean of requests (W10).
void read_acceptance_rate(const JsonFields& file, Observation& observation, LogContents& contents) {
  observation.decoding = Decoding::speculative;
  observation.gamma = positions_of(file);
  const auto mean = file.length("Average_AL");
  if (file.has("Acceptance_Length_Histogram")) {
    const auto histogram = accepted_histogram(file, "Acceptance_Length_Histogram");
    AcceptanceCounts counts = counts_of_histogram(histogram, observation.gamma, file.line());
    // A document that was cut off has fewer rates than its histogram has lengths.
    if (observation.gamma)
      observation.gamma = std::max<std::int64_t>(*observation.gamma, std::ssize(counts.accepted_at));
    check_joint_rates(file, counts, contents);
    check_mean_length(counts, mean, file.line(), contents);
    observation.acceptance = std::move(counts);
    return;
  }
  observation.acceptance_length = length_of_rates(file);
  if (observation.acceptance_length || !mean) return;
  if (observation.gamma && *mean > static_cast<double>(*observation.gamma + 1)) {
    file.reject("Average_AL", number_text(*mean), fmt::format("{} drafts have rates", *observation.gamma));
  }
  observation.acceptance_length = mean;
  warn_once(contents, "W10", file.line(), "Average_AL is a mean of requests: there are no counts");
}

std::optional<double> mean_ms(const JsonFields& timing, std::string_view key) {
  const auto mean_s = timing.real_in(key, "mean");
  return mean_s ? std::optional(*mean_s * 1000.0) : std::nullopt;
}

void read_specdec_bench(const JsonFields& file, LogContents& contents) {
  Observation observation{.line = file.line(), .span = Span::run};
  const auto there = [&](const char* key) { return file.has(key); };
  if (std::ranges::any_of(rate_keys, there)) read_acceptance_rate(file, observation, contents);
  observation.times.output_tokens_per_s = file.real("Output TPS");
  observation.times.ttft_ms = mean_ms(file, "TTFT Time");
  observation.times.iteration_ms = mean_ms(file, "Request Generation Step Time");
  observation.stratum.output_tokens = file.real_in("Number of Output Tokens", "mean");
  contents.observations.push_back(std::move(observation));
}

/// Any two keys identify a profile, if one is of its acceptance.
bool claims_speculation_profile(const JsonValue& value) {
  constexpr std::array<const char*, 2> lengths{"acceptance_length_histogram", "mean_accept_length"};
  constexpr std::array<const char*, 4> others{"schema_version", "num_speculative_tokens", "target_model",
                                              "draft_checkpoint"};
  const auto known = keys_of(value, lengths);
  return known > 0 && known + keys_of(value, others) >= 2;
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
  observation.acceptance_length = profile.length("mean_accept_length");
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
  if (observation.gamma && observation.acceptance_length.value_or(1.0) > static_cast<double>(*observation.gamma + 1)) {
    profile.reject("mean_accept_length", number_text(*observation.acceptance_length),
                   fmt::format("num_speculative_tokens is {}", *observation.gamma));
  }
  contents.observations.push_back(std::move(observation));
}

}  // namespace

JsonFormat specdec_bench_format() { return {specdec_anchor, claims_specdec_bench, of_object<read_specdec_bench>}; }

JsonFormat speculation_profile_format() {
  return {"acceptance_length_histogram|mean_accept_length", claims_speculation_profile,
          of_object<read_speculation_profile>};
}

}  // namespace foredraft::logs
