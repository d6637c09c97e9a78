// SPDX-License-Identifier: Apache-2.0
#include "sim/token/distribution/emitted_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "core/check.hpp"
#include "sim/token/distribution/candidate_acceptance.hpp"
#include "sim/token/rows/row_operations.hpp"

namespace foredraft::sim {

ResidualMass::ResidualMass(const PositionLaws& laws) {
  FOREDRAFT_EXPECT(laws.target.size() == laws.draft.size());
  bends_.reserve(laws.draft.size());
  for (std::size_t x = 0; x < laws.draft.size(); ++x) {
    const double ratio = laws.target[x] / laws.draft[x];  // NaN for 0/0: such a token never counts
    if (std::isinf(ratio)) never_drafted_ += laws.target[x];
    if (std::isfinite(ratio)) bends_.push_back({.ratio = ratio, .mass = 0.0, .slope = laws.draft[x]});
  }
  std::sort(bends_.begin(), bends_.end(), [](const Bend& a, const Bend& b) { return a.ratio > b.ratio; });
  const Bend* before = nullptr;
  for (Bend& bend : bends_) {
    bend.mass = before == nullptr ? never_drafted_ : before->mass + (before->ratio - bend.ratio) * before->slope;
    if (before != nullptr) bend.slope += before->slope;
    before = &bend;
  }
  constexpr std::size_t bends_a_slice = 4;
  first_.assign(bends_.size() / bends_a_slice + 4, 0);
  for (const Bend& bend : bends_) ++first_[slice(bend.ratio) + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
}

double ResidualMass::operator()(double c) const {
  const std::size_t s = slice(c);
  const auto below = std::partition_point(bends_.begin() + first_[s], bends_.begin() + first_[s + 1],
                                          [c](const Bend& bend) { return bend.ratio > c; });
  if (below == bends_.begin()) return never_drafted_;
  const Bend& bend = *(below - 1);
  return bend.mass + (bend.ratio - c) * bend.slope;
}

namespace {

/// sum q a and sum q (1 - a), each from nonnegative terms, so that neither is 1 minus the other with its round-off.
struct TestedMass {
  double accepted;
  double rejected;
};

/// q(x) a(x) for every token, written to `distribution`, and the sums.
TestedMass tested_mass(const VerificationRule& rule, const PositionLaws& laws, std::vector<double>& law) {
  FOREDRAFT_EXPECT(laws.target.size() == laws.draft.size());
  const double statistic = rule.uses_row_statistic() ? rule.row_statistic(laws) : 0.0;
  law.assign(laws.draft.size(), 0.0);
  TestedMass mass{.accepted = 0.0, .rejected = 0.0};
  for (std::size_t x = 0; x < law.size(); ++x) {
    if (!(laws.draft[x] > 0.0)) continue;  // never drafted: a(x) is not defined there
    const double acceptance =
        rule.acceptance({.token = static_cast<Token>(x), .target = laws.target[x], .draft = laws.draft[x]}, statistic);
    law[x] = laws.draft[x] * acceptance;
    mass.accepted += law[x];
    mass.rejected += laws.draft[x] * (1.0 - acceptance);
  }
  return mass;
}

}  // namespace

double acceptance_probability(const VerificationRule& rule, const PositionLaws& laws) {
  if (rule.candidates().count > 1) return candidate_acceptance(laws, rule.candidates());
  std::vector<double> law;
  return tested_mass(rule, laws, law).accepted;
}

std::vector<double> emitted_distribution(const VerificationRule& rule, const PositionLaws& laws) {
  std::vector<double> law;
  const double rejected = tested_mass(rule, laws, law).rejected;
  std::vector<double> replacement(law.size());
  rule.replacement(laws, replacement);
  for (std::size_t x = 0; x < law.size(); ++x) law[x] += rejected * replacement[x];
  return law;
}

namespace {

/// sum e ln(e / p) - e + p: the same number, as both sum to 1, in nonnegative terms, which preserves the digits of a
/// small divergence.
double kl_divergence(std::span<const double> e, std::span<const double> p) {
  double sum = 0.0;
  for (std::size_t x = 0; x < e.size(); ++x) {
    if (e[x] > 0.0 && !(p[x] > 0.0)) return std::numeric_limits<double>::infinity();
    const double difference = e[x] - p[x];
    if (difference == 0.0) continue;
    const double ratio = difference / p[x];
    const double log_ratio = std::isfinite(ratio) ? std::log1p(ratio) : std::log(e[x]) - std::log(p[x]);
    sum += e[x] > 0.0 ? e[x] * log_ratio - difference : p[x];
  }
  return std::max(0.0, sum);
}

Estimate mean_of(std::span<const PositionLossiness> positions, double PositionLossiness::*member) {
  const auto n = static_cast<double>(positions.size());
  double sum = 0.0;
  for (const PositionLossiness& position : positions) sum += position.*member;
  const double mean = sum / n;
  double squares = 0.0;
  for (const PositionLossiness& position : positions) squares += std::pow(position.*member - mean, 2);
  return {.mean = mean, .standard_error = std::sqrt(squares / (n - 1.0) / n)};
}

}  // namespace

PositionLossiness lossiness(const VerificationRule& rule, const PositionLaws& laws) {
  const std::vector<double> emitted = emitted_distribution(rule, laws);
  const double acceptance = acceptance_probability(rule, laws);
  const std::size_t top = row_argmax(laws.target);
  const double largest = *std::max_element(emitted.begin(), emitted.end());
  constexpr double round_off = 1e-12;  // a tie of p stays one in e up to round-off
  return {.acceptance = acceptance,
          .acceptance_gain = acceptance - overlap(laws.target, laws.draft),
          .total_variation = 1.0 - overlap(emitted, laws.target),
          .kl_divergence = kl_divergence(emitted, laws.target),
          .top1_agreement = emitted[top] >= largest * (1.0 - round_off) ? 1.0 : 0.0,
          .top1_probability = emitted[top]};
}

Lossiness mean_lossiness(std::span<const PositionLossiness> positions) {
  check_at_least("positions", std::ssize(positions), 1);
  return {.acceptance = mean_of(positions, &PositionLossiness::acceptance),
          .acceptance_gain = mean_of(positions, &PositionLossiness::acceptance_gain),
          .total_variation = mean_of(positions, &PositionLossiness::total_variation),
          .kl_divergence = mean_of(positions, &PositionLossiness::kl_divergence),
          .top1_agreement = mean_of(positions, &PositionLossiness::top1_agreement),
          .top1_probability = mean_of(positions, &PositionLossiness::top1_probability)};
}

}  // namespace foredraft::sim
