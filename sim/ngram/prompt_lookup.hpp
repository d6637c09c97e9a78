// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "foredraft/words.hpp"
#include "sim/ngram/speculation.hpp"

/// Drafts copied from the text itself [Saxena2023; Yang2023]. A copy is a point mass: q(x) = 1 for the copied token.
namespace foredraft::ngram {

/// Where the text goes on as it did before: the longest end of it, of at most `match` >= 1 tokens, that occurs earlier
/// too; of several places the last one. Returns up to `gamma` tokens that followed there; none where not even the last
/// token occurs earlier.
[[nodiscard]] std::vector<Token> look_up(std::span<const Token> text, std::int64_t match, std::int64_t gamma);

/// What an iteration of copied drafts did.
struct CopiedIteration {
  std::int64_t drafted;
  std::int64_t tested;
  std::int64_t accepted;
  std::int64_t emitted;
};

/// One iteration: looks through the last `window` tokens, drafts at most `gamma`, verifies and appends to `text` what
/// is emitted. A copied x is accepted with probability p(x); a correction has the law p without x. Nothing found: one
/// token of the target; without a bonus token that counts as one draft nobody tested.
CopiedIteration iterate_copied(const Model& target, Choice choice, std::int64_t match, std::int64_t window,
                               std::int64_t gamma, Convention convention, std::vector<Token>& text,
                               SpeculationStreams& streams);

}  // namespace foredraft::ngram
