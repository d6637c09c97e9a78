// SPDX-License-Identifier: Apache-2.0
#include "sim/process/threshold.hpp"

#include <cmath>
#include <stdexcept>
#include <variant>

namespace foredraft::sim {
namespace {

constexpr unsigned fraction_bits = 127;
constexpr unsigned threshold_bits = 80;
constexpr int mantissa_bits = 53;

/// floor(value * factor) for value <= 2^127 and factor in [0, 1].
Uint128 scaled(Uint128 value, double factor) {
  if (factor <= 0.0) return 0;
  if (factor >= 1.0) return value;
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);  // in [0.5, 1), exponent <= 0
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, mantissa_bits));
  const auto shift = static_cast<unsigned>(mantissa_bits - exponent);

  // The product has up to 180 bits: `upper` holds those from bit 64 on, `lower` the 64 below.
  const Uint128 low_product = Uint128{static_cast<std::uint64_t>(value)} * mantissa;
  const Uint128 upper = (value >> 64U) * mantissa + (low_product >> 64U);
  const auto lower = static_cast<std::uint64_t>(low_product);
  if (shift < 64) return upper << (64 - shift) | lower >> shift;
  return shift - 64 < 128 ? upper >> (shift - 64) : Uint128{0};
}

}  // namespace

void Thresholds::reserve(std::size_t size) {
  high.reserve(size);
  low.reserve(size);
}

void Thresholds::push_back(const Threshold& threshold) {
  high.push_back(threshold.high);
  low.push_back(threshold.low);
}

void FixedProbability::multiply(double probability, double complement) {
  value_ = complement < probability ? value_ - scaled(value_, complement) : scaled(value_, probability);
}

Threshold FixedProbability::threshold() const {
  constexpr unsigned dropped = fraction_bits - threshold_bits;
  const Uint128 rounded = (value_ + (Uint128{1} << (dropped - 1))) >> dropped;
  return {static_cast<std::uint32_t>(rounded >> 64U), static_cast<std::uint64_t>(rounded)};
}

Threshold threshold_of(double probability, double complement) {
  FixedProbability product;
  product.multiply(probability, complement);
  return product.threshold();
}

namespace {

/// A probability and its complement; the smaller one has full relative accuracy.
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
