// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "answers/advice.hpp"

/// Observations made by hand: counts without noise, so that what follows is exact.
namespace foredraft::tests {

/// A window of `steps` steps that accept as if each draft were accepted with probability `alpha`.
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

/// Each observation five times, with times 1 % above and below.
inline logs::ObservedLog log_of(const std::vector<logs::Observation>& windows, const std::string& name = "a.log") {
  logs::ObservedLog log{.file = name, .sha256 = name, .contents = {}};
  log.contents.engine = "vllm";
  for (const logs::Observation& window : windows) {
    for (const double factor : {0.99, 1.01, 1.0, 0.99, 1.01}) {
      logs::Observation one = window;
      if (one.times.iteration_ms) *one.times.iteration_ms *= factor;
      if (one.times.tpot_ms) *one.times.tpot_ms *= factor;
      log.contents.observations.push_back(one);
    }
  }
  return log;
}

inline answers::Advice advice_of(const std::vector<logs::Observation>& windows) {
  return answers::advise({.logs = {log_of(windows)}});
}

inline bool warns(const answers::Advice& advice, std::string_view code) {
  return std::any_of(advice.warnings.begin(), advice.warnings.end(),
                     [&](const logs::LogWarning& one) { return one.code == code; });
}

inline bool names(const answers::Advice& advice, std::string_view cause) {
  return std::find(advice.causes.begin(), advice.causes.end(), cause) != advice.causes.end();
}

}  // namespace foredraft::tests
