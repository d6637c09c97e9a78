// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/ngram/model.hpp"

namespace foredraft::tests {

/// The vocabulary of most generated documents.
constexpr std::int64_t generated_vocabulary = 12;

/// Documents from a second-order Markov source over tokens 2 .. vocabulary - 1: each pair of tokens has three frequent
/// successors (60, 25 and 10 %), the rest is uniform. About 40 tokens per document.
[[nodiscard]] std::vector<std::vector<ngram::Token>> generated_documents(std::int64_t vocabulary, std::int64_t count,
                                                                         std::uint64_t seed);

/// Documents that alternate between a predictable regime (tokens 2 .. 6 in turn) and an unpredictable one (7 .. 11 at
/// random), switching with probability 1 / 200 per token. Uses generated_vocabulary.
[[nodiscard]] std::vector<std::vector<ngram::Token>> two_regime_documents(std::int64_t count, std::uint64_t seed);

}  // namespace foredraft::tests
