#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/random_stream.hpp"

/// n-gram language models: interpolated modified Kneser-Ney [Kneser1995, Chen1999] up to order 5, trained on text.
namespace foredraft::ngram {

using Token = std::int32_t;

/// Fixed tokenisation, documented in docs/model.md: maximal runs of letters and digits, single other visible characters,
/// newline runs; words outside the `limit` most frequent become <unk>.
class Vocabulary {
 public:
  /// The most frequent tokens of the texts, ties in byte order; index 0 is <unk>. limit >= 2.
  static Vocabulary build(std::span<const std::string> texts, std::int64_t limit);

  [[nodiscard]] std::vector<Token> encode(std::string_view text) const;
  [[nodiscard]] std::string_view word(Token token) const;
  [[nodiscard]] std::int64_t size() const;

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

/// p(token | context) that sums to one over the vocabulary for every context, seen or not.
class Model {
 public:
  /// Trains on token sequences (one per document). order in 1..5. Throws DomainError on an empty corpus.
  static std::shared_ptr<const Model> train(std::span<const std::vector<Token>> documents, std::int64_t vocabulary,
                                            int order);

  virtual ~Model() = default;
  [[nodiscard]] virtual int order() const = 0;
  [[nodiscard]] virtual std::int64_t vocabulary() const = 0;

  /// p(token | last order-1 tokens of context). Shorter contexts are fine.
  [[nodiscard]] virtual double probability(std::span<const Token> context, Token token) const = 0;

  /// A token drawn from p(. | context).
  [[nodiscard]] virtual Token sample(std::span<const Token> context, RandomStream& random) const = 0;

  /// The most probable token; lowest index on ties.
  [[nodiscard]] virtual Token argmax(std::span<const Token> context) const = 0;

  /// The whole distribution; `out` has vocabulary() entries.
  virtual void distribution(std::span<const Token> context, std::span<double> out) const = 0;

 protected:
  Model() = default;
};

}  // namespace foredraft::ngram
