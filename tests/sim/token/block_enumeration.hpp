// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/token/distribution/block_verification.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/verification_rule.hpp"

/// The tokens emitted under block verification, by enumeration of every sequence of drafts.
namespace foredraft::tests {

/// A token and the context in which it was drawn.
struct PlacedToken {
  std::size_t context;
  std::size_t token;
  bool operator==(const PlacedToken&) const = default;
};
using PlacedTokens = std::vector<PlacedToken>;

/// A context that a position may have.
struct PossibleContext {
  std::size_t context;
  double probability;
  sim::PositionDistributions distributions;
};

/// `contexts(tokens before)` returns the contexts that the next position may have, as a range of PossibleContext. Calls
/// `visit(tokens, probability)` for everything that an iteration of `gamma` drafts may emit, with a bonus token; the
/// same tokens may come several times.
template <class Contexts, class Visit>
class BlockEnumeration {
 public:
  BlockEnumeration(std::size_t gamma, const Contexts& contexts, const Visit& visit)
      : gamma_(gamma), contexts_(contexts), visit_(visit) {}

  void run() { position(1.0, 1.0); }

 private:
  /// A prefix, the probability that it is the longest accepted one so far, and the distribution of the next token.
  struct Kept {
    double probability;
    PossibleContext next;
    double ratio;
  };

  void position(double drawn, double ratio) {
    if (drafts_.size() == gamma_) return end(drawn, ratio);
    for (const PossibleContext& next : contexts_(drafts_)) {
      const std::vector<Kept> before = kept_;
      const double h =
          drafts_.empty() ? 1.0 : sim::block_acceptance(ratio, sim::block_residual_mass(ratio, next.distributions));
      for (Kept& kept : kept_) kept.probability *= 1.0 - h;
      kept_.push_back({h, next, ratio});
      for (std::size_t x = 0; x < next.distributions.draft.size(); ++x) {
        const double q = next.distributions.draft[x];
        if (!(q > 0.0)) continue;
        drafts_.push_back({next.context, x});
        position(drawn * next.probability * q, sim::block_ratio(ratio, next.distributions.target[x], q));
        drafts_.pop_back();
      }
      kept_ = before;
    }
  }

  void end(double drawn, double ratio) {
    for (std::size_t i = 0; i < gamma_; ++i) {
      const Kept& kept = kept_[i];
      const double probability = drawn * (1.0 - ratio) * kept.probability;
      if (!(probability > 0.0)) continue;
      std::vector<double> residual(kept.next.distributions.target.size());
      for (std::size_t x = 0; x < residual.size(); ++x) {
        residual[x] = std::max(0.0, kept.ratio * kept.next.distributions.target[x] - kept.next.distributions.draft[x]);
      }
      sim::normalize(residual);
      emit(i, kept.next, residual, probability);
    }
    if (!(ratio > 0.0)) return;
    for (const PossibleContext& next : contexts_(drafts_)) {
      emit(gamma_, next, next.distributions.target, drawn * ratio * next.probability);
    }
  }

  template <class Row>
  void emit(std::size_t drafts, const PossibleContext& next, const Row& row, double probability) {
    PlacedTokens tokens(drafts_.begin(), drafts_.begin() + static_cast<std::ptrdiff_t>(drafts));
    tokens.push_back({next.context, 0});
    for (std::size_t x = 0; x < row.size(); ++x) {
      if (!(row[x] > 0.0)) continue;
      tokens.back().token = x;
      visit_(tokens, probability * row[x]);
    }
  }

  std::size_t gamma_;
  const Contexts& contexts_;
  const Visit& visit_;
  PlacedTokens drafts_;
  std::vector<Kept> kept_;
};

template <class Contexts, class Visit>
void enumerate_block(std::size_t gamma, const Contexts& contexts, const Visit& visit) {
  BlockEnumeration<Contexts, Visit>(gamma, contexts, visit).run();
}

/// The contexts of given distributions, each with the same probability after any tokens.
inline std::vector<PossibleContext> pool_of(const GivenDistributions& given) {
  std::vector<PossibleContext> pool;
  for (std::size_t k = 0; k < given.target.size(); ++k) {
    pool.push_back({.context = k,
                    .probability = 1.0 / static_cast<double>(given.target.size()),
                    .distributions = {.target = given.target[k], .draft = given.draft[k]}});
  }
  return pool;
}

/// Expected tokens of an iteration of block verification.
template <class Contexts>
double expected_block_tokens(std::size_t gamma, const Contexts& contexts) {
  double tokens = 0.0;
  enumerate_block(gamma, contexts, [&](const PlacedTokens& emitted, double probability) {
    tokens += probability * static_cast<double>(emitted.size());
  });
  return tokens;
}

}  // namespace foredraft::tests
