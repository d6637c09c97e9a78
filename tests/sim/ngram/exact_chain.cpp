#include "tests/sim/ngram/exact_chain.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace foredraft::tests {
namespace {

using ngram::Token;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double sum(const std::vector<double>& a) { return std::accumulate(a.begin(), a.end(), 0.0); }

}  // namespace

ExactChain::ExactChain(const ngram::Model& target, const ngram::Model& draft)
    : target_(&target), draft_(&draft), size_(static_cast<std::size_t>(target.vocabulary())) {
  for (std::size_t c = 0; c < size_; ++c) {
    const std::array<Token, 1> context{static_cast<Token>(c)};
    Row p(size_);
    Row q(size_);
    target.distribution(context, p);
    draft.distribution(context, q);
    target_rows_.push_back(p);
    for (std::size_t x = 0; x < size_; ++x) {
      q[x] = std::min(p[x], q[x]);
      p[x] -= q[x];
    }
    accepted_.push_back(q);
    corrected_.push_back(p);
    beta_.push_back(sum(q));
  }
  stationary_ = stationary(target_rows_);
}

ExactChain::Row ExactChain::times(const Row& row, const Matrix& matrix) {
  Row result(row.size(), 0.0);
  for (std::size_t c = 0; c < row.size(); ++c) {
    for (std::size_t x = 0; x < row.size(); ++x) result[x] += row[c] * matrix[c][x];
  }
  return result;
}

ExactChain::Row ExactChain::stationary(const Matrix& matrix) {
  Row row(matrix.size(), 1.0 / static_cast<double>(matrix.size()));
  for (int i = 0; i < 20000; ++i) row = times(row, matrix);  // converges geometrically: every entry is positive
  return row;
}

double ExactChain::alpha() const { return dot(stationary_, beta_); }

double ExactChain::accept_after_acceptance() const { return dot(times(stationary_, accepted_), beta_) / alpha(); }

double ExactChain::accept_after_rejection() const {
  return dot(times(stationary_, corrected_), beta_) / (1.0 - alpha());
}

double ExactChain::tokens_per_iteration(std::int64_t gamma, Convention convention) const {
  // Row c of `next`: law of the last token after an iteration that began behind c. Row sums of accepted_^k: P(at least
  // k accepted).
  Matrix next(size_, Row(size_, 0.0));
  Row yield(size_, 0.0);
  for (std::size_t c = 0; c < size_; ++c) {
    Row reached(size_, 0.0);
    reached[c] = 1.0;
    for (std::int64_t k = 0; k < gamma; ++k) {
      const Row corrected = times(reached, corrected_);
      for (std::size_t x = 0; x < size_; ++x) next[c][x] += corrected[x];
      yield[c] += sum(reached);
      reached = times(reached, accepted_);
    }
    if (convention == Convention::bonus) {
      yield[c] += sum(reached);
      reached = times(reached, target_rows_);
    }
    for (std::size_t x = 0; x < size_; ++x) next[c][x] += reached[x];
  }
  return dot(stationary(next), yield);
}

double ExactChain::greedy_alpha(std::int64_t passage) const {
  double agreed = 0.0;
  for (std::size_t c = 0; c < size_; ++c) {
    std::vector<Token> text{static_cast<Token>(c)};
    for (std::int64_t i = 0; i < passage; ++i) {
      const Token wanted = target_->argmax(text);
      if (draft_->argmax(text) == wanted) agreed += stationary_[c];
      text.push_back(wanted);
    }
  }
  return agreed / static_cast<double>(passage);
}

double ExactChain::greedy_tokens_per_iteration(std::int64_t gamma, std::int64_t passage) const {
  double tokens = 0.0;
  double iterations = 0.0;
  for (std::size_t c = 0; c < size_; ++c) {
    std::vector<Token> text{static_cast<Token>(c)};
    while (static_cast<std::int64_t>(text.size()) < passage + 1) {
      std::int64_t agreed = 0;
      bool accepted = true;
      while (accepted && agreed < gamma) {
        accepted = draft_->argmax(text) == target_->argmax(text);
        text.push_back(target_->argmax(text));
        if (accepted) ++agreed;
      }
      if (accepted) text.push_back(target_->argmax(text));
      iterations += stationary_[c];
    }
    tokens += stationary_[c] * static_cast<double>(text.size() - 1);
  }
  return tokens / iterations;
}

}  // namespace foredraft::tests
