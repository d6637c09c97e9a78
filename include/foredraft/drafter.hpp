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

/// A smaller model that drafts token by token: gamma forward passes. [Leviathan2023, Alg. 1]
struct AutoregressiveDrafter {};

/// One parallel forward pass drafts the whole block. [Xia2023, Sec. 3.1]
struct BlockDrafter {
  double decay = 1.0;  ///< acceptance of a draft divided by that of the one before it, all earlier drafts accepted
};

/// Heads on the target, one per draft position; none sees the tokens of the others. [Stern2018; Cai2024]
struct Heads {
  double decay = 1.0;
  std::vector<double> accuracies = {};  ///< [i]: P(head i is right | all before it were); replaces alpha and decay
};

/// Copies the rest of the input. [Sun2021; Xia2023, App. G.2]
struct InputCopy {
  double edit_rate = 0.0;    ///< probability that the next token differs from the input's
  std::int64_t realign = 0;  ///< tokens generated one by one after each edit
};

/// Small stages run one after another; each reads the token of the previous one. [Wertheimer2024]
struct MlpSpeculator {
  double decay = 1.0;
  double recovery =
      0.5;  ///< how much of the decay the previous token compensates: the decay becomes decay^(1 - recovery)
};

/// An n-gram model of the same text that drafts token by token. [Leviathan2023, Sec. 4.3]
struct NgramDrafter {};

/// Copies what followed the last occurrence of the longest matching suffix of the text. [Saxena2023; Yang2023]
struct PromptLookup {
  std::int64_t match = 3;      ///< maximum length of the matched suffix, 1 to 64 tokens
  std::int64_t window = 1024;  ///< tokens of prompt and text that are searched, 16 to 65,536
};

using Drafter =
    std::variant<AutoregressiveDrafter, BlockDrafter, Heads, InputCopy, MlpSpeculator, NgramDrafter, PromptLookup>;

}  // namespace foredraft

#pragma GCC visibility pop
