// SPDX-License-Identifier: Apache-2.0
#include "sim/ngram/prompts.hpp"

namespace foredraft::ngram {

Prompts::Prompts(const Model& target, const RandomStream& random) : target_(&target), random_(random) {
  extend(opening_tokens);
}

std::vector<Token> Prompts::next() {
  text_.erase(text_.begin(), text_.end() - (max_order - 1));
  std::vector<Token> prompt = text_;
  extend(passage_tokens);
  return prompt;
}

void Prompts::extend(std::int64_t tokens) {
  for (std::int64_t i = 0; i < tokens; ++i) text_.push_back(target_->sample(text_, random_));
}

}  // namespace foredraft::ngram
