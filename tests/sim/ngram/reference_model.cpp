// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/ngram/reference_model.hpp"

#include <algorithm>

namespace foredraft::tests {
namespace {

using ngram::Token;
using Ngram = ReferenceModel::Ngram;

std::array<double, 4> estimate(const std::map<Ngram, double>& counts, std::size_t length, bool& estimated) {
  std::map<int, double> t;
  for (const auto& [gram, count] : counts) {
    if (gram.size() == length) t[static_cast<int>(count)] += 1.0;
  }
  estimated = t[1] > 0 && t[2] > 0 && t[3] > 0 && t[4] > 0;
  if (estimated) {
    const double y = t[1] / (t[1] + 2 * t[2]);
    const std::array<double, 4> d{0, 1 - 2 * y * t[2] / t[1], 2 - 3 * y * t[3] / t[2], 3 - 4 * y * t[4] / t[3]};
    if (d[1] > 0 && d[2] > 0 && d[3] > 0 && d[1] < 1 && d[2] < 2 && d[3] < 3) return d;
    estimated = false;
  }
  return {0, 0.5, 1, 1.5};
}

}  // namespace

ReferenceModel::ReferenceModel(const std::vector<std::vector<Token>>& documents, std::int64_t vocabulary,
                               const ngram::Window& window)
    : vocabulary_(vocabulary), order_(window.distances.size() + 1) {
  Ngram text{1};
  for (const auto& document : documents) {
    text.insert(text.end(), document.begin(), document.end());
    text.push_back(1);
  }
  std::map<Ngram, double> raw;
  for (std::size_t end = 1; end < text.size(); ++end) {
    Ngram gram{text[end]};
    raw[gram] += 1.0;
    for (const int distance : window.distances) {
      const auto back = static_cast<std::size_t>(distance);
      gram.insert(gram.begin(), back <= end ? text[end - back] : 1);
      raw[gram] += 1.0;
      if (gram.front() == 1) break;
    }
  }
  std::map<Ngram, std::set<Token>> predecessors;
  for (const auto& [gram, count] : raw) predecessors[{gram.begin() + 1, gram.end()}].insert(gram.front());
  for (const auto& [gram, count] : raw) {
    const bool in_text = gram.size() == order_ || (gram.size() >= 2 && gram.front() == 1);
    counts_[gram] = in_text ? count : static_cast<double>(predecessors[gram].size());
    contexts_.insert({gram.begin(), gram.end() - 1});
  }
  for (std::size_t length = 1; length <= order_; ++length) {
    discounts_[length] = estimate(counts_, length, estimated_[length]);
  }
}

double ReferenceModel::probability(Ngram context, Token token) const {
  for (std::size_t i = context.size(); i-- > 0;) {
    if (context[i] == 1) {
      context.erase(context.begin(), context.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  }
  while (context.size() > order_ - 1) context.erase(context.begin());
  return interpolated(context, token);
}

double ReferenceModel::interpolated(const Ngram& context, Token token) const {
  const double below = context.empty() ? 1.0 / static_cast<double>(vocabulary_)
                                       : interpolated({context.begin() + 1, context.end()}, token);
  if (!contexts_.contains(context)) return below;
  const auto& discount = discounts_.at(context.size() + 1);
  double total = 0.0;
  double taken = 0.0;
  double own = 0.0;
  for (Token w = 0; w < vocabulary_; ++w) {
    Ngram gram = context;
    gram.push_back(w);
    const auto found = counts_.find(gram);
    if (found == counts_.end()) continue;
    const double d = discount.at(static_cast<std::size_t>(std::min(found->second, 3.0)));
    total += found->second;
    taken += d;
    if (w == token) own = found->second - d;
  }
  return own / total + taken / total * below;
}

}  // namespace foredraft::tests
