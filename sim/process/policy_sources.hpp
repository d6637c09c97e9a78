// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/random_stream.hpp"
#include "foredraft/drafter.hpp"
#include "foredraft/policy.hpp"
#include "foredraft/words.hpp"
#include "sim/process/outcome_counts.hpp"

/// Single iterations with varying draft lengths. Each source implements `next(iteration, remaining)`, the outcome of
/// the next iteration of a text that has `remaining` more tokens; `restart(after_acceptance)`, which starts a text; and
/// `state()` < `states()`, which determines all later iterations. After `settling()` iterations the start has no
/// influence.
namespace foredraft::sim {

inline constexpr std::int64_t endless_tokens = std::numeric_limits<std::int64_t>::max();

[[nodiscard]] inline VaryingIteration varying_iteration(const IterationShape& shape, std::int64_t steps,
                                                        std::int64_t remaining) {
  return {shape.gamma, outcome_in_text(shape, steps, remaining)};
}

/// Sources of independent iterations.
class MemorylessSource {
 public:
  void restart(bool /*after_acceptance*/) {}
  [[nodiscard]] std::size_t state() const { return 0; }
  [[nodiscard]] std::size_t states() const { return 1; }
  [[nodiscard]] std::uint64_t settling() const { return 0; }
};

/// ConstantGamma with any stepper, for sequences.
template <class Stepper>
class ConstantSource {
 public:
  ConstantSource(const IterationShape& shape, bool is_chain, Stepper stepper)
      : shape_(shape),
        positions_(is_chain ? shape.max_tokens() : shape.gamma),
        is_chain_(is_chain),
        stepper_(std::move(stepper)) {}

  void restart(bool after_acceptance) { after_acceptance_ = after_acceptance; }

  [[nodiscard]] Outcome next(std::uint64_t iteration, std::int64_t remaining) {
    const std::int64_t steps = stepper_.accepted_steps(iteration, after_acceptance_, std::min(positions_, remaining));
    after_acceptance_ = is_chain_ && steps == positions_;
    return outcome_in_text(shape_, steps, remaining);
  }

 private:
  IterationShape shape_;
  std::int64_t positions_;
  bool is_chain_;
  Stepper stepper_;
  bool after_acceptance_ = false;
};

/// Plus2Minus1 with any stepper.
template <class Stepper>
class HeuristicSource {
 public:
  HeuristicSource(const IterationShape& longest, const Plus2Minus1& policy, bool is_chain, Stepper stepper)
      : shape_(longest),
        longest_(longest.gamma),
        start_(std::min(policy.start, longest.gamma)),
        is_chain_(is_chain),
        stepper_(std::move(stepper)) {
    restart(false);
  }

  void restart(bool after_acceptance) {
    shape_.gamma = start_;
    after_acceptance_ = after_acceptance;
  }

  [[nodiscard]] VaryingIteration next(std::uint64_t iteration, std::int64_t remaining) {
    const std::int64_t positions = is_chain_ ? shape_.max_tokens() : shape_.gamma;
    const std::int64_t steps = stepper_.accepted_steps(iteration, after_acceptance_, std::min(positions, remaining));
    const VaryingIteration result = varying_iteration(shape_, steps, remaining);
    after_acceptance_ = is_chain_ && steps == positions;
    shape_.gamma = result.outcome.accepted == shape_.gamma ? std::min(shape_.gamma + 2, longest_)
                                                           : std::max<std::int64_t>(shape_.gamma - 1, 1);
    return result;
  }

  [[nodiscard]] std::size_t state() const {
    return 2 * static_cast<std::size_t>(shape_.gamma) + (after_acceptance_ ? 1 : 0);
  }
  [[nodiscard]] std::size_t states() const { return 2 * static_cast<std::size_t>(longest_) + 2; }

  /// Enough iterations to get from any length to any other, twice.
  [[nodiscard]] std::uint64_t settling() const {
    constexpr std::uint64_t margin = 64;
    return 2 * static_cast<std::uint64_t>(longest_) + margin;
  }

 private:
  IterationShape shape_;
  std::int64_t longest_;
  std::int64_t start_;
  bool is_chain_;
  Stepper stepper_;
  bool after_acceptance_ = false;
};

/// InputCopy with a stepper that includes the position of the bonus token. After an edit, iterations draft nothing
/// until text and input are aligned again.
template <class Stepper>
class RealigningSource {
 public:
  RealigningSource(const IterationShape& shape, std::int64_t realign, Stepper stepper)
      : shape_(shape), realign_(realign), stepper_(std::move(stepper)) {}

  void restart(bool /*after_acceptance*/) { left_ = 0; }

  [[nodiscard]] VaryingIteration next(std::uint64_t iteration, std::int64_t remaining) {
    if (left_ > 0) {
      --left_;
      return {min_gamma(shape_.convention), {.tokens = 1, .accepted = 0, .tested = 0}};
    }
    const std::int64_t positions = std::min(shape_.max_tokens(), remaining);
    const std::int64_t steps = stepper_.accepted_steps(iteration, false, positions);
    if (steps < positions) left_ = realign_;
    return varying_iteration(shape_, steps, remaining);
  }

  [[nodiscard]] std::size_t state() const { return static_cast<std::size_t>(left_); }
  [[nodiscard]] std::size_t states() const { return static_cast<std::size_t>(realign_) + 1; }
  [[nodiscard]] std::uint64_t settling() const { return 0; }

 private:
  IterationShape shape_;
  std::int64_t realign_;
  Stepper stepper_;
  std::int64_t left_ = 0;
};

/// StagedDrafter with a stepper of the draft model's tokens. The inner drafts of a round are drawn one by one.
template <class Stepper>
class StagedSource : public MemorylessSource {
 public:
  StagedSource(const IterationShape& shape, const StagedDrafter& drafter, Stepper stepper, const RandomStream& inner)
      : shape_(shape), drafter_(drafter), stepper_(std::move(stepper)), inner_(inner) {}

  [[nodiscard]] VaryingIteration next(std::uint64_t iteration, std::int64_t remaining) {
    IterationShape shape = shape_;
    shape.gamma = 0;
    for (std::int64_t left = shape_.gamma; left > 0; left -= drafter_.inner_gamma + 1) {
      const std::int64_t inner_drafts = std::min(left - 1, drafter_.inner_gamma);
      std::int64_t accepted = 0;
      while (accepted < inner_drafts && inner_.uniform() < drafter_.inner_alpha) ++accepted;
      shape.gamma += accepted + 1;
    }
    return varying_iteration(shape, stepper_.accepted_steps(iteration, false, shape.gamma), remaining);
  }

 private:
  IterationShape shape_;
  StagedDrafter drafter_;
  Stepper stepper_;
  RandomStream inner_;
};

/// IndependentDrafts with a stepper of single drafts. Only the longest accepted one counts, so an iteration counts
/// gamma drafted tokens.
template <class Stepper>
class LongestSource : public MemorylessSource {
 public:
  LongestSource(const IterationShape& shape, std::int64_t drafts, Stepper stepper)
      : shape_(shape), drafts_(static_cast<std::uint64_t>(drafts)), stepper_(std::move(stepper)) {}

  [[nodiscard]] VaryingIteration next(std::uint64_t iteration, std::int64_t remaining) {
    std::int64_t longest = 0;
    for (std::uint64_t draft = 0; draft < drafts_; ++draft) {
      longest = std::max(longest, stepper_.accepted_steps(iteration * drafts_ + draft, false, shape_.gamma));
    }
    return varying_iteration(shape_, longest, remaining);
  }

 private:
  IterationShape shape_;
  std::uint64_t drafts_;
  Stepper stepper_;
};

}  // namespace foredraft::sim
