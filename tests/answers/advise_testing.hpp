// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "answers/advice.hpp"

/// Observations made by hand: counts without noise, so that results are exact.
namespace foredraft::tests {

/// Medians of draws whose errors are a percent.
inline constexpr double of_draws = 5e-3;
/// Windows of 1,000 steps round shares of steps to a thousandth, in three positions.
inline constexpr double counts_rounding = 2e-3;

/// A window of `steps` steps with the expected counts of acceptance probability `alpha`.
inline logs::Observation speculative(std::int64_t gamma, double requests, double iteration_ms, double alpha,
                                     std::int64_t steps = 1000) {
  logs::Observation window{.span = logs::Span::window, .decoding = logs::Decoding::speculative, .gamma = gamma};
  logs::AcceptanceCounts counts{.steps = steps, .drafted_tokens = steps * gamma, .accepted_tokens = 0};
  for (std::int64_t i = 1; i <= gamma; ++i) {
    counts.accepted_at.push_back(std::llround(static_cast<double>(steps) * std::pow(alpha, i)));
    *counts.accepted_tokens += counts.accepted_at.back();
  }
  window.acceptance = counts;
  window.requests = requests;
  window.times.iteration_ms = iteration_ms;
  return window;
}

inline logs::Observation plain(double requests, double tpot_ms) {
  logs::Observation window{.span = logs::Span::window, .decoding = logs::Decoding::plain};
  window.requests = requests;
  window.times.tpot_ms = tpot_ms;
  return window;
}

/// `more` steps that accept as many drafts more at each position, unless it accepts none or all.
inline void accept_more(std::int64_t more, logs::AcceptanceCounts& counts) {
  for (std::int64_t& accepted : counts.accepted_at) {
    if (accepted <= 1 || accepted >= counts.steps) continue;
    accepted += more;
    *counts.accepted_tokens += more;
  }
}

/// Each observation eight times, with times alternating 1 % above and below, and one accepting step less and more.
inline logs::ObservedLog log_of(const std::vector<logs::Observation>& windows, const std::string& name = "a.log") {
  constexpr double change = 0.01;
  logs::ObservedLog log{.file = name, .sha256 = name, .contents = {}};
  log.contents.engine = "vllm";
  for (const logs::Observation& window : windows) {
    for (int i = 0; i < 8; ++i) {
      logs::Observation one = window;
      const int sign = i % 2 == 0 ? -1 : 1;
      if (one.times.iteration_ms) *one.times.iteration_ms *= 1.0 + change * sign;
      if (one.times.tpot_ms) *one.times.tpot_ms *= 1.0 + change * sign;
      if (one.acceptance) accept_more(-sign, *one.acceptance);
      log.contents.observations.push_back(one);
    }
  }
  return log;
}

/// Each observation once.
inline logs::ObservedLog log_as_is(const std::vector<logs::Observation>& observations,
                                   const std::string& name = "a.log") {
  logs::ObservedLog log = log_of({}, name);
  log.contents.observations = observations;
  return log;
}

inline answers::Advice advice_of(const std::vector<logs::Observation>& windows) {
  return answers::advise({.logs = {log_of(windows)}});
}

/// The values at a draft length of the first curve, at a load; nullptr: unknown.
inline const answers::SpeedupRow* row_at(const answers::LoadAdvice& load, std::int64_t gamma) {
  const auto found = std::ranges::find(load.by_gamma, gamma, &answers::SpeedupRow::gamma);
  return found == load.by_gamma.end() ? nullptr : &*found;
}

inline bool names(const answers::Advice& advice, std::string_view cause) {
  return std::find(advice.causes.begin(), advice.causes.end(), cause) != advice.causes.end();
}

inline const answers::Recommendation& choice_of(const answers::Advice& advice) {
  REQUIRE(advice.recommendation);
  return *advice.recommendation;
}

/// The iteration time at which a window has this speedup over `plain_ms`.
inline logs::Observation with_speedup(std::int64_t gamma, double requests, double speedup, double plain_ms,
                                      double alpha = 0.8) {
  logs::Observation window = speculative(gamma, requests, 1.0, alpha);
  const double tokens = 1.0 + static_cast<double>(*window.acceptance->accepted_tokens) / 1000.0;
  window.times.iteration_ms = tokens * plain_ms / speedup;
  return window;
}

/// One load generator's run.
inline logs::Observation whole(logs::Observation run) {
  run.span = logs::Span::run;
  return run;
}

}  // namespace foredraft::tests
