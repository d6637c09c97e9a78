// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/random_stream.hpp"
#include "sim/ngram/model.hpp"

namespace foredraft::ngram {

/// Where counted text begins: at places along a text that the target draws by itself at temperature 1. They are met as
/// often as in the target's own output, and greedy decoding, which soon repeats itself, starts afresh at each.
class Prompts {
 public:
  /// Tokens in front of the first prompt: far enough from the beginning of a document.
  static constexpr std::int64_t opening_tokens = 512;
  /// Tokens from one prompt to the next, and the length of a greedy text.
  static constexpr std::int64_t passage_tokens = 64;

  Prompts(const Model& target, const RandomStream& random);

  /// The next prompt: the last max_order - 1 tokens before it.
  [[nodiscard]] std::vector<Token> next();

 private:
  void extend(std::int64_t tokens);

  const Model* target_;
  RandomStream random_;
  std::vector<Token> text_{end_of_document};
};

}  // namespace foredraft::ngram
