// SPDX-License-Identifier: Apache-2.0
#include "sim/process/process_thresholds.hpp"

#include <stdexcept>

namespace foredraft::sim {
namespace {

/// A probability and its complement, each to full relative accuracy where it is the smaller.
struct Odds {
  double accept;
  double reject;
};

Odds from_probability(double accept) { return {accept, 1.0 - accept}; }

struct AcceptanceAt {
  std::size_t position;
  bool after_acceptance;

  Odds operator()(const Iid& process) const { return from_probability(process.alpha); }

  Odds operator()(const Positional& process) const { return from_probability(process.conditional[position]); }

  Odds operator()(const BetaMixture& process) const {
    const double a = process.a + static_cast<double>(position);
    return {1.0 / (1.0 + process.b / a), 1.0 / (1.0 + a / process.b)};
  }

  Odds operator()(const Markov& process) const {
    return from_probability(position == 0 && !after_acceptance ? process.b : process.a);
  }

  Odds operator()(const Observed& /*process*/) const { throw std::logic_error("the log was not read"); }

  Odds operator()(const Runs& /*process*/) const { throw std::logic_error("runs have memory beyond one token"); }

  Odds operator()(const Trace& /*process*/) const { throw std::logic_error("a trace has no acceptance probability"); }
};

}  // namespace

Thresholds acceptance_thresholds(const AcceptanceProcess& process, std::int64_t positions, bool after_acceptance) {
  Thresholds thresholds;
  thresholds.reserve(static_cast<std::size_t>(positions));
  for (std::size_t k = 0; k < static_cast<std::size_t>(positions); ++k) {
    const Odds odds = std::visit(AcceptanceAt{k, after_acceptance}, process);
    thresholds.push_back(threshold_of(odds.accept, odds.reject));
  }
  return thresholds;
}

Thresholds survival_thresholds(const AcceptanceProcess& process, std::int64_t positions, bool after_acceptance) {
  Thresholds thresholds;
  thresholds.reserve(static_cast<std::size_t>(positions));
  FixedProbability survival;
  for (std::size_t k = 0; k < static_cast<std::size_t>(positions); ++k) {
    const Odds odds = std::visit(AcceptanceAt{k, after_acceptance}, process);
    survival.multiply(odds.accept, odds.reject);
    thresholds.push_back(survival.threshold());
  }
  return thresholds;
}

}  // namespace foredraft::sim
