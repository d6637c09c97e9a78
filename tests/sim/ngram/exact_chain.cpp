// SPDX-License-Identifier: Apache-2.0
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

using Row = std::vector<double>;
using Matrix = std::vector<Row>;

Row times(const Row& row, const Matrix& matrix) {
  Row result(row.size(), 0.0);
  for (std::size_t c = 0; c < row.size(); ++c) {
    for (std::size_t x = 0; x < row.size(); ++x) result[x] += row[c] * matrix[c][x];
  }
  return result;
}

Row stationary(const Matrix& matrix) {
  Row row(matrix.size(), 1.0 / static_cast<double>(matrix.size()));
  for (int i = 0; i < 20000; ++i) row = times(row, matrix);  // converges geometrically: every entry is positive
  return row;
}

/// Distribution of draft i (from 0) after the emitted token c and, if i > 0, the accepted draft y.
Row draft_distribution(const ngram::Drafter& drafter, std::size_t i, std::size_t c, std::size_t y) {
  const auto emitted = static_cast<Token>(c);
  const auto before = static_cast<Token>(y);
  std::vector<Token> seen{emitted};
  if (i > 0 && drafter.sight == ngram::Sight::all) seen = {before};
  if (i > 0 && drafter.sight == ngram::Sight::previous) seen = {emitted, before};
  const ngram::Model& model = *drafter.models[drafter.sight == ngram::Sight::all ? 0 : i];
  Row q(static_cast<std::size_t>(model.vocabulary()));
  model.distribution(seen, q);
  return q;
}

}  // namespace

ExactIterations exact_iterations(const ngram::Model& target, const ngram::Drafter& drafter, std::int64_t gamma,
                                 Convention convention) {
  const auto size = static_cast<std::size_t>(target.vocabulary());
  const auto drafts = static_cast<std::size_t>(gamma);
  Matrix target_rows(size, Row(size));
  for (std::size_t c = 0; c < size; ++c) target.distribution(std::array{static_cast<Token>(c)}, target_rows[c]);
  // Row c of `next`: distribution of the last token after an iteration that began after c; of `reached`: [i] all of i
  // drafts accepted.
  Matrix next(size, Row(size, 0.0));
  Matrix reached(drafts + 1, Row(size, 0.0));
  for (std::size_t c = 0; c < size; ++c) {
    Row last(size, 0.0);  // the last token, all drafts so far accepted
    last[c] = 1.0;
    for (std::size_t i = 0; i < drafts; ++i) {
      reached[i][c] = sum(last);
      Row accepted(size, 0.0);
      for (std::size_t y = 0; y < size; ++y) {
        const Row q = draft_distribution(drafter, i, c, y);
        for (std::size_t x = 0; x < size; ++x) {
          const double both = std::min(target_rows[y][x], q[x]);
          accepted[x] += last[y] * both;
          next[c][x] += last[y] * (target_rows[y][x] - both);
        }
      }
      last = accepted;
    }
    reached[drafts][c] = sum(last);
    if (convention == Convention::bonus) last = times(last, target_rows);
    for (std::size_t x = 0; x < size; ++x) next[c][x] += last[x];
  }
  const Row start = stationary(next);
  ExactIterations exact{0.0, {}};
  for (std::size_t i = 0; i < drafts; ++i) {
    exact.tokens += dot(start, reached[i]);
    exact.conditional.push_back(dot(start, reached[i + 1]) / dot(start, reached[i]));
  }
  if (convention == Convention::bonus) exact.tokens += dot(start, reached[drafts]);
  return exact;
}

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

double ExactChain::alpha() const { return dot(stationary_, beta_); }

double ExactChain::alpha_after(int places, const std::function<Row(Token, Token)>& draft_distribution) const {
  double alpha = 0.0;
  for (std::size_t c = 0; c < size_; ++c) {
    Row last(size_, 0.0);
    last[c] = stationary_[c];
    for (int i = 0; i < places; ++i) last = times(last, target_rows_);
    for (std::size_t y = 0; y < size_; ++y) {
      const Row q = draft_distribution(static_cast<Token>(c), static_cast<Token>(y));
      for (std::size_t x = 0; x < size_; ++x) alpha += last[y] * std::min(target_rows_[y][x], q[x]);
    }
  }
  return alpha;
}

double ExactChain::accept_after_acceptance() const { return dot(times(stationary_, accepted_), beta_) / alpha(); }

double ExactChain::accept_after_rejection() const {
  return dot(times(stationary_, corrected_), beta_) / (1.0 - alpha());
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
