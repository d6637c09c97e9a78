// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

/// Drafters: where drafts come from, what they cost, how their acceptance falls with the position.
namespace foredraft {

/// Maximum number of drafted tokens that have a head or stage of their own.
inline constexpr int max_ngram_heads = 16;

/// Maximum draft length of a staged drafter.
inline constexpr std::int64_t max_staged_gamma = 4096;
/// Maximum number of independent drafts of an iteration.
inline constexpr std::int64_t max_independent_drafts = 4096;

/// A smaller model that drafts token by token: gamma forward passes. [Leviathan2023, Alg. 1]
struct AutoregressiveDrafter {};

/// One parallel forward pass drafts the whole block. [Xia2023, Sec. 3.1]
struct BlockDrafter {
  double decay = 1.0;  ///< conditional acceptance probability at a position divided by that at the previous one
};

/// Heads on the target, one per draft position. No head sees the tokens of another. [Stern2018; Cai2024]
struct Heads {
  double decay = 1.0;
  std::vector<double> accuracies = {};  ///< [i]: P(head i is right | all before it were); replaces alpha and decay
};

/// Different drafters at different positions, such as smaller models for later drafts. [Chen2023cascade]
struct HorizontalCascade {
  std::vector<double> costs = {};  ///< [i]: time of draft i divided by the time c; at least gamma entries
};

/// Several drafts of gamma tokens each, verified in one forward pass of drafts * gamma + 1 tokens (without a bonus
/// token drafts * gamma); the longest accepted one is kept. They are accepted independently. With c = 0 this is
/// lookahead decoding. [Fu2024]
struct IndependentDrafts {
  std::int64_t drafts = 2;  ///< 1 to max_independent_drafts
};

/// Copies the rest of the input. [Sun2021; Xia2023, App. G.2]
struct InputCopy {
  double edit_rate = 0.0;    ///< probability that the next token differs from the input's
  std::int64_t realign = 0;  ///< tokens generated one by one after each edit
};

/// Copies like PromptLookup if a suffix of at least `least` tokens matches; otherwise an n-gram model drafts.
/// [Hu2025sam]
struct LookupFirst {
  std::int64_t match = 3;      ///< maximum length of the matched suffix, 1 to 64 tokens
  std::int64_t least = 2;      ///< minimum length of the matched suffix, 1 to match
  std::int64_t window = 1024;  ///< tokens of prompt and text that are searched, 16 to 65,536
};

/// Small stages that run in sequence; each reads the token of the previous one. [Wertheimer2024]
struct MlpSpeculator {
  double decay = 1.0;
  double recovery = 0.5;  ///< effect of reading the previous token: the decay becomes decay^(1 - recovery)
};

/// An n-gram model of the same text that drafts token by token. [Leviathan2023, Sec. 4.3]
struct NgramDrafter {};

/// Copies what followed the last occurrence of the longest matching suffix of the text. [Saxena2023; Yang2023]
struct PromptLookup {
  std::int64_t match = 3;      ///< maximum length of the matched suffix, 1 to 64 tokens
  std::int64_t window = 1024;  ///< tokens of prompt and text that are searched, 16 to 65,536
};

/// A draft model that itself decodes speculatively: in each round an inner drafter proposes tokens and the draft model
/// verifies them, which adds 1 to inner_gamma + 1 tokens to the draft. A draft takes
/// ceil(gamma / (inner_gamma + 1)) rounds; the last one proposes fewer tokens if gamma is not a multiple of
/// inner_gamma + 1. [Spector2023; Chen2023cascade]
struct StagedDrafter {
  std::int64_t inner_gamma = 0;  ///< k: drafts of the inner drafter in a round, 0 to max_staged_gamma; 0: none
  double inner_alpha = 0.0;      ///< acceptance rate of an inner draft by the draft model, in [0, 1]
  double inner_c = 0.0;          ///< time of an inner draft step divided by the time c of a draft step, >= 0
};

/// An n-gram model that drafts gamma tokens. In each pass it verifies up to `copies` tokens that were copied like in
/// PromptLookup. [Spector2023; Chen2023cascade]
struct StagedLookup {
  std::int64_t copies = 4;     ///< maximum copied tokens verified in one pass of the model, 1 to 4096
  std::int64_t match = 3;      ///< maximum length of the matched suffix, 1 to 64 tokens
  std::int64_t window = 1024;  ///< tokens of prompt, text and draft that are searched, 16 to 65,536
};

using Drafter =
    std::variant<AutoregressiveDrafter, BlockDrafter, Heads, HorizontalCascade, IndependentDrafts, InputCopy,
                 LookupFirst, MlpSpeculator, NgramDrafter, PromptLookup, StagedDrafter, StagedLookup>;

}  // namespace foredraft

#pragma GCC visibility pop
