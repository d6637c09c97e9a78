// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/ngram/generated_text.hpp"

namespace foredraft::tests {
namespace {

using ngram::Token;

Token any_token(RandomStream& random, Token low, Token high) {
  return low + static_cast<Token>(random.uniform() * (high - low + 1));
}

Token successor(Token before, Token last, Token vocabulary, RandomStream& random) {
  const double u = random.uniform();
  if (u >= 0.95) return any_token(random, 2, vocabulary - 1);
  const Token rank = u < 0.6 ? 0 : (u < 0.85 ? 1 : 2);
  return 2 + (5 * before + 3 * last + 7 * rank) % (vocabulary - 2);
}

}  // namespace

std::vector<std::vector<Token>> generated_documents(std::int64_t vocabulary, std::int64_t count, std::uint64_t seed) {
  RandomStream random(seed, {Purpose::test, 1, 0});
  std::vector<std::vector<Token>> documents(static_cast<std::size_t>(count));
  for (auto& document : documents) {
    Token before = 0;
    Token last = 1;
    do {
      const Token next = successor(before, last, static_cast<Token>(vocabulary), random);
      document.push_back(next);
      before = last;
      last = next;
    } while (random.uniform() >= 1.0 / 40.0);
  }
  return documents;
}

std::vector<std::vector<Token>> two_regime_documents(std::int64_t count, std::uint64_t seed) {
  RandomStream random(seed, {Purpose::test, 2, 0});
  std::vector<std::vector<Token>> documents(static_cast<std::size_t>(count));
  bool predictable = true;
  Token last = 2;
  for (auto& document : documents) {
    for (int i = 0; i < 2000; ++i) {
      if (random.uniform() < 1.0 / 200.0) predictable = !predictable;
      last = predictable ? 2 + (last - 1) % 5 : any_token(random, 7, 11);
      document.push_back(last);
    }
  }
  return documents;
}

}  // namespace foredraft::tests
