// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analytic/tokens/varying_gamma.hpp"
#include "foredraft/words.hpp"

/// Input-guided decoding: the draft is the rest of the input, and after each edit the text is written one token at a
/// time until both run side by side again [Sun2021; Xia2023, App. G.2]. Derivation in docs/model.md.
namespace foredraft::analytic {

/// Every token that could be copied is an edit with this probability, independently of all others. A position that a
/// bonus token passes counts like any other.
struct InputCopy {
  double edit_rate;      ///< in [0, 1]
  std::int64_t realign;  ///< tokens written one by one after each edit, >= 0
};

/// Endless text: tokens (1 + e r) / (1/G + e r) an iteration, G = (1 - (1-e)^n) / e, n = max_tokens(gamma, convention).
/// A realigning iteration drafts min_gamma(convention) tokens.
[[nodiscard]] VaryingYield input_copy(const InputCopy& copy, std::int64_t gamma, Convention convention);

/// Expected iterations (target calls) of a text of `length` >= 0 tokens, by renewal; O(length).
[[nodiscard]] double input_copy_iterations(const InputCopy& copy, std::int64_t gamma, Convention convention,
                                           std::int64_t length);

/// The same for lengths of a geometric law of this mean >= 1.
[[nodiscard]] double input_copy_iterations_geometric(const InputCopy& copy, std::int64_t gamma, Convention convention,
                                                     double mean_length);

/// The published count for a text of so many edits and drafts without limit, 1 + edits (1 + realign)
/// [Xia2023, App. G.2]: exact while no edit, and no realigning behind one, meets the end of the text.
[[nodiscard]] double input_copy_published_calls(double edits, std::int64_t realign);

}  // namespace foredraft::analytic
