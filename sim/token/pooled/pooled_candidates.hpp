// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/token/law/residual_mass.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim {

/// What recursive rejection has to look up, over a pool of contexts, behind the rejection of a first candidate.
class PooledCandidates {
 public:
  /// p and q of a token, side by side.
  struct Pair {
    double target;
    double draft;
  };

  /// scheme.count >= 2.
  explicit PooledCandidates(const CandidateScheme& scheme) : scheme_(scheme) {}

  /// Memory for each token of each context.
  [[nodiscard]] static std::int64_t bytes_per_entry(const CandidateScheme& scheme);

  /// Appends the next context.
  void add(const PositionLaws& laws);

  [[nodiscard]] const CandidateScheme& scheme() const { return scheme_; }

  /// Row-major: token x of context k lies at k * vocabulary + x.
  [[nodiscard]] const std::vector<Pair>& pairs() const { return pairs_; }

  /// m(1), the mass of a context's first residual.
  [[nodiscard]] double first_mass(std::size_t context) const { return first_mass_[context]; }

  /// m(c) of a context, where c is reached behind `rejections`, 2 to scheme.count - 1, of them. With replacement c is
  /// the same for every position, so its mass is known beforehand.
  [[nodiscard]] double mass(std::size_t context, std::size_t rejections, double c) const {
    return masses_.empty() ? steps_[context * (static_cast<std::size_t>(scheme_.count) - 2) + rejections - 2]
                           : masses_[context](c);
  }
  /// Asks for what mass() will read.
  void prefetch_mass(std::size_t context, double c) const {
    if (!masses_.empty()) masses_[context].prefetch(c);
  }

 private:
  CandidateScheme scheme_;
  std::vector<Pair> pairs_;
  std::vector<double> first_mass_;
  std::vector<double> steps_;         ///< with replacement: the masses behind 2, 3, ... rejections of each context
  std::vector<ResidualMass> masses_;  ///< without: one for each context
};

}  // namespace foredraft::sim
