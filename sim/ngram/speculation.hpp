// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/random_stream.hpp"
#include "core/stop.hpp"
#include "foredraft/words.hpp"
#include "sim/ngram/drafter.hpp"
#include "sim/ngram/model.hpp"

/// Speculative decoding of one text, token by token [Leviathan2023, Alg. 1].
namespace foredraft::ngram {

/// How tokens are chosen from a distribution.
enum class Choice {
  sample,  ///< temperature 1: drawn; drafts are verified by rejection sampling
  greedy,  ///< temperature 0: the most probable, lowest index on ties; drafts are compared with it
};

struct Speculation {
  std::shared_ptr<const Model> target;
  Drafter drafter;
  Choice choice;
};

/// Checked models: all there, one vocabulary, enough of them for `gamma` drafts, temperature 0 or 1. Throws
/// DomainError: other temperatures would need the whole distribution at every token.
[[nodiscard]] Speculation make_speculation(std::shared_ptr<const Model> target, Drafter drafter, double temperature,
                                           std::int64_t gamma);

/// The random numbers of one text, and who may end it. Greedy decoding draws none.
struct SpeculationStreams {
  RandomStream draft;
  RandomStream accept;
  RandomStream replacement;
  RandomStream bonus;
  StopMeter stop;

  SpeculationStreams(std::uint64_t seed, std::uint64_t point, std::uint64_t block, StopToken token = {});

  /// Before each token that a model is asked for, about a microsecond. Throws Interrupted when stopped.
  void next_token() { stop.spend(100); }
};

/// Draft `index` (from 0) of an iteration; `text` ends with the `index` drafts in front of it.
[[nodiscard]] Token draft_token(const Speculation& models, std::span<const Token> text, std::size_t index,
                                SpeculationStreams& streams);

/// What the verifier emits for a drafted token: that token where accepted, else the target's correction.
struct Verified {
  Token token;
  bool accepted;
};

/// Accepts the drafted x with probability min(1, p(x) / q(x)), q the law it was drawn from; a correction has the law
/// max(0, p - q) / sum max(0, p - q). Greedy: accepts the target's choice alone. `drafted` must come from draft_token
/// with the same text and index.
[[nodiscard]] Verified verify_token(const Speculation& models, std::span<const Token> text, std::size_t index,
                                    Token drafted, SpeculationStreams& streams);

/// One iteration: drafts `gamma` tokens, verifies them and appends to `text` what is emitted. Returns the number of
/// accepted drafts.
std::int64_t iterate(const Speculation& models, std::int64_t gamma, Convention convention, std::vector<Token>& text,
                     SpeculationStreams& streams);

}  // namespace foredraft::ngram
