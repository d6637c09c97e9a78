// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/random_stream.hpp"
#include "foredraft/drafter.hpp"
#include "foredraft/models.hpp"

/// Contexts of n-gram models: the preceding tokens, or tokens with gaps between them.
namespace foredraft::ngram {

/// Maximum position that a head or a stage predicts.
inline constexpr int max_heads = max_ngram_heads;

/// Positions of the tokens of a context.
struct Window {
  /// [k]: places from the predicted token back to the context's k-th nearest token; from 1 on, strictly increasing.
  std::vector<int> distances;

  [[nodiscard]] int order() const { return static_cast<int>(distances.size()) + 1; }
};

/// The last order - 1 tokens: an n-gram model. Throws DomainError on an order outside 1 .. max_order.
[[nodiscard]] Window adjacent_window(int order);

/// The window of a head for the token `position` >= 1 places after the last of the order - 1 tokens that it sees: a
/// skip-gram [Stern2018; Cai2024]. Throws DomainError for an order outside 1 .. max_order or a position outside 1 ..
/// max_heads.
[[nodiscard]] Window head_window(int order, int position);

/// The window of a stage: the window of the head for its position and, from position 2 on, the token immediately before
/// the predicted one [Wertheimer2024]. Throws DomainError as head_window, and for order max_order.
[[nodiscard]] Window stage_window(int order, int position);

/// Throws DomainError for more than max_order - 1 distances and for distances that do not increase from 1 on.
void check_window(const Window& window);

// ---- n-gram language models: interpolated modified Kneser-Ney [Kneser1995; Chen1999] up to order 5, trained on text.

using Token = std::int32_t;

/// The token of every word outside the vocabulary.
inline constexpr Token unknown_word = 0;
/// Separates documents; no context extends past it. New text starts with the context {end_of_document}.
inline constexpr Token end_of_document = 1;

/// Maximum n-gram order; a model looks at no more than max_order - 1 tokens of context.
inline constexpr int max_order = max_ngram_order;

/// A vocabulary: words and their token ids. Tokenization works on bytes, independent of the locale:
/// - a word is a maximal run of ASCII letters, ASCII digits and bytes >= 0x80 (UTF-8 letters stay whole);
/// - every other visible ASCII character, including the underscore, is one token;
/// - a run of whitespace and control characters is one newline token if it contains a line feed, else only a separator.
///
/// Case is kept. Words outside the `limit` most frequent become <unk>.
class Vocabulary {
 public:
  /// The `limit` >= 2 tokens: unknown_word, end_of_document, then the most frequent ones; ties in byte order.
  static Vocabulary build(std::span<const std::string> texts, std::int64_t limit);

  /// Tokens of one document, without end_of_document.
  [[nodiscard]] std::vector<Token> encode(std::string_view text) const;
  /// The token's text; "<unk>" and "<end>" for the first two. Throws DomainError outside 0 .. size() - 1.
  [[nodiscard]] std::string_view word(Token token) const;
  [[nodiscard]] std::int64_t size() const;

 private:
  struct Data;
  explicit Vocabulary(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

struct ContextCounts;

/// An n-gram model. For every context, seen or not, p(token | context) is positive and sums to one over the vocabulary.
///
/// A context of k tokens, at most the last order - 1 and none before the last end_of_document, has
///
///     p(w | c) = max(0, n(c w) - D(n(c w))) / n(c) + b(c) p(w | c without its oldest token),   n(c) = sum_w n(c w),
///
/// b(c) = sum_w D(n(c w)) / n(c), and p(w) = max(0, n(w) - D) / n + b / V at the bottom; an unseen context has the
/// probabilities of its longest seen suffix. n is the count in the training text for contexts of order - 1 tokens and
/// for those that begin with end_of_document. For all others it is the number of different tokens that precede `c w`.
/// D has three values for each context length, from counts of counts [Chen1999, Sec. 3].
///
/// With a window that skips tokens, `c w` are the tokens at the window's distances in the concatenated text of all
/// documents; skipped tokens may include an end_of_document. The text is preceded by end_of_document tokens.
///
/// Immutable and thread-safe.
class Model {
 public:
  /// Trains on token sequences, one per document. Empty ones are ignored; an end_of_document inside one splits it.
  /// order in 1 .. max_order. Throws DomainError for an empty corpus, more than 2^29 tokens, a token outside 0 ..
  /// vocabulary - 1, or a vocabulary outside 2 .. 2^30.
  static std::shared_ptr<const Model> train(std::span<const std::vector<Token>> documents, std::int64_t vocabulary,
                                            int order);
  /// The same for contexts of `window`. Also throws DomainError as check_window.
  static std::shared_ptr<const Model> train(std::span<const std::vector<Token>> documents, std::int64_t vocabulary,
                                            const Window& window);

  Model(const ContextCounts& counts, std::int64_t vocabulary, int order);

  [[nodiscard]] int order() const { return order_; }
  [[nodiscard]] std::int64_t vocabulary() const { return static_cast<std::int64_t>(root_probability_.size()); }

  /// p(token | last order - 1 tokens of the window), the nearest last; token in 0 .. vocabulary() - 1. Shorter contexts
  /// are allowed; an empty context means that earlier tokens are unknown.
  [[nodiscard]] double probability(std::span<const Token> context, Token token) const;

  /// A token drawn from p(. | context).
  [[nodiscard]] Token sample(std::span<const Token> context, RandomStream& random) const;

  /// The most probable token; lowest index on ties.
  [[nodiscard]] Token argmax(std::span<const Token> context) const;

  /// The whole distribution; `out` has vocabulary() entries. Gives the same bits as probability().
  void distribution(std::span<const Token> context, std::span<double> out) const;

 private:
  /// A context. Its children and entries end where those of the next node begin.
  struct Node {
    std::uint32_t first_child;
    std::uint32_t first_entry;
    Token best;      ///< the most probable token
    double total;    ///< n(c)
    double backoff;  ///< b(c)
  };

  /// The known suffixes of a context, beginning with the empty one.
  struct Path {
    std::array<std::uint32_t, max_order> node;
    std::size_t length;
  };

  void set_nodes(const ContextCounts& counts);
  void add_shorter_contexts(const ContextCounts& counts);
  void set_best_tokens(const ContextCounts& counts);
  [[nodiscard]] Path path(std::span<const Token> context) const;

  int order_;
  std::vector<Node> nodes_;                ///< numbered as in ContextCounts, with one extra node at the end
  std::vector<std::uint32_t> root_child_;  ///< [token]: the context of only this token; 0 if there is none
  std::vector<Token> oldest_;              ///< per node: the token it adds to its parent
  std::vector<Token> token_;               ///< per entry
  std::vector<double> cumulative_;         ///< per entry: sum of n(c w) - D(n(c w)) of the node up to here
  std::vector<double> probability_;        ///< per entry: p(w | c), including the contribution of shorter contexts
  std::vector<double> root_probability_;   ///< [token]: p(token)
};

/// Discounts of modified Kneser-Ney for counts of 1, 2, and 3 or more.
struct Discounts {
  std::array<double, 3> of;  ///< 0 < of[i] < i + 1

  [[nodiscard]] double operator()(std::uint32_t count) const { return of[count < 3 ? count - 1 : 2]; }
};

/// D_i = i - (i + 1) Y t_{i+1} / t_i, Y = t_1 / (t_1 + 2 t_2), t_i the number of counts that equal i [Chen1999, Sec.
/// 3]. If t_1 .. t_4 do not allow it (one is zero, or a D_i is out of range: tiny texts, or texts whose rare words a
/// vocabulary limit has removed), the discounts are 1/2, 1 and 3/2, which leave every token some probability.
[[nodiscard]] Discounts estimate_discounts(std::span<const std::uint32_t> counts);

}  // namespace foredraft::ngram
