// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/reference.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/check.hpp"

namespace foredraft::gpu_bench {

void check_rule(const TopBeta& rule) {
  check_at_least("top_beta", rule.top_beta, 1);
  if (rule.judged) throw DomainError("invalid judged=true (kernels judge by the target's likelihoods)");
  check_nonnegative("tolerance", rule.tolerance);
}

void check_rule(const TypicalAcceptance& rule) {
  if (!(rule.epsilon > 0.0 && rule.epsilon < 1.0)) {
    throw DomainError(fmt::format("invalid epsilon={} (must be in (0, 1))", rule.epsilon));
  }
  check_nonnegative("delta", rule.delta);
}

double delta_of(const TypicalAcceptance& rule) { return rule.delta > 0.0 ? rule.delta : std::sqrt(rule.epsilon); }

namespace {

/// Also the margin of a decision that rounding cannot change.
constexpr double infinity = std::numeric_limits<double>::infinity();

bool faulty(double logit) { return std::isnan(logit) || logit == infinity; }

double cleaned(double logit) {
  if (std::isnan(logit)) return -infinity;
  return std::min(logit, static_cast<double>(std::numeric_limits<float>::max()));
}

}  // namespace

ReferenceRow::ReferenceRow(std::span<const double> stored) : logits(stored.size()), logs(stored.size(), -infinity) {
  std::transform(stored.begin(), stored.end(), logits.begin(), cleaned);
  const auto largest = std::max_element(logits.begin(), logits.end());
  top = static_cast<std::size_t>(largest - logits.begin());
  empty = *largest == -infinity;
  fault = empty || std::any_of(stored.begin(), stored.end(), faulty);
  if (empty) return;
  double sum = 0.0;
  for (const double logit : logits) sum += std::exp(logit - *largest);
  std::transform(logits.begin(), logits.end(), logs.begin(),
                 [&](double logit) { return (logit - *largest) - std::log(sum); });
}

ReferenceDraw reference_draw(const std::vector<double>& weights, double uniform) {
  double total = 0.0;
  for (const double weight : weights) total += weight;
  const double threshold = uniform * total;
  ReferenceDraw drawn{0, infinity};
  double before = 0.0;
  for (std::size_t x = 0; x < weights.size(); ++x) {
    const double after = before + weights[x];
    if (weights[x] > 0.0 && before <= threshold) {
      // Before the first possible token and after the last there is nothing else to sample.
      const double to_left = before > 0.0 ? threshold - before : infinity;
      const double to_right = after < total ? after - threshold : infinity;
      drawn = {static_cast<std::int32_t>(x), std::min(to_left, to_right)};
    }
    before = after;
  }
  return drawn;
}

ReferenceDraw reference_draw(const ReferenceRow& row, double uniform) {
  std::vector<double> weights(row.logs.size());
  std::transform(row.logs.begin(), row.logs.end(), weights.begin(), [](double log) { return std::exp(log); });
  return reference_draw(weights, uniform);
}

namespace {

ReferenceRow row_of(std::span<const double> rows, std::size_t index, std::int64_t vocabulary) {
  const auto size = static_cast<std::size_t>(vocabulary);
  return ReferenceRow(rows.subspan(index * size, size));
}

struct Judgement {
  bool accepted;
  double margin = infinity;
};

/// Walks along the drafts of a request; judge(row, draft) decides on a draft within the vocabulary.
template <class Judge>
ReferenceTokens walk_chain(const ReferenceRequest& request, const Judge& judge) {
  ReferenceTokens out{.tokens = {}, .fault = false, .margin = infinity};
  bool walking = true;
  for (std::size_t position = 0; position <= request.drafts.size(); ++position) {
    const ReferenceRow row = row_of(request.target_logits, position, request.vocabulary);
    out.fault = out.fault || row.fault;
    const std::int32_t draft = position < request.drafts.size() ? request.drafts[position] : no_token;
    const bool drafted = draft >= 0 && draft < request.vocabulary;
    if (walking) {
      const Judgement judgement = drafted && !row.empty ? judge(row, draft) : Judgement{.accepted = false};
      out.margin = std::min(out.margin, judgement.margin);
      walking = judgement.accepted;
      out.tokens.push_back(walking ? draft : static_cast<std::int32_t>(row.top));
    }
    if (!drafted) break;
  }
  return out;
}

/// Walks from each node to its first child with the token that choose(row, node) returns; ends where there is none.
template <class Choose>
ReferenceTokens walk_tree(const ReferenceTree& tree, const Choose& choose) {
  ReferenceTokens out{.tokens = {}, .fault = false, .margin = infinity};
  std::int32_t node = 0;
  while (node != no_node) {
    const ReferenceRow row = row_of(tree.target_logits, static_cast<std::size_t>(node), tree.vocabulary);
    out.fault = out.fault || row.fault;
    const ReferenceDraw chosen = choose(row, static_cast<std::uint32_t>(node));
    out.tokens.push_back(chosen.token);
    out.margin = std::min(out.margin, chosen.margin);
    const std::int32_t parent = node;
    node = no_node;
    if (row.empty) break;
    for (std::size_t child = 1; child <= tree.parents.size() && node == no_node; ++child) {
      const bool holds = tree.parents[child - 1] == parent && tree.node_tokens[child] == chosen.token;
      if (holds) node = static_cast<std::int32_t>(child);
    }
  }
  return out;
}

}  // namespace

ReferenceTokens reference_greedy_match(const ReferenceRequest& request) {
  return walk_chain(request, [](const ReferenceRow& row, std::int32_t draft) {
    return Judgement{.accepted = static_cast<std::size_t>(draft) == row.top};
  });
}

ReferenceTokens reference_top_beta(const ReferenceRequest& request, const TopBeta& rule) {
  if (rule.top_beta == 1 || rule.tolerance == 0.0) return reference_greedy_match(request);
  return walk_chain(request, [&rule](const ReferenceRow& row, std::int32_t draft) {
    const double own = row.logits[static_cast<std::size_t>(draft)];
    const auto larger = std::count_if(row.logits.begin(), row.logits.end(), [own](double z) { return z > own; });
    if (larger >= rule.top_beta || own == -infinity) return Judgement{.accepted = false};
    const double slack = rule.tolerance - (row.logits[row.top] - own);
    return Judgement{.accepted = slack >= 0.0,
                     .margin = std::abs(slack) * std::exp(row.logs[static_cast<std::size_t>(draft)])};
  });
}

ReferenceTokens reference_typical_acceptance(const ReferenceRequest& request, const TypicalAcceptance& rule) {
  return walk_chain(request, [&rule](const ReferenceRow& row, std::int32_t draft) {
    double entropy = 0.0;
    for (const double log : row.logs) entropy -= log > -infinity ? std::exp(log) * log : 0.0;
    const double threshold = std::min(rule.epsilon, delta_of(rule) * std::exp(-entropy));
    const double own = std::exp(row.logs[static_cast<std::size_t>(draft)]);
    return Judgement{.accepted = own > threshold, .margin = std::abs(own - threshold)};
  });
}

ReferenceTokens reference_tree_greedy(const ReferenceTree& tree) {
  return walk_tree(tree, [](const ReferenceRow& row, std::uint32_t /*node*/) {
    return ReferenceDraw{.token = static_cast<std::int32_t>(row.top), .margin = infinity};
  });
}

ReferenceTokens reference_tree_sampled(const ReferenceTree& tree) {
  return walk_tree(tree, [&tree](const ReferenceRow& row, std::uint32_t node) {
    return reference_draw(row, draw_uniform(tree.draws, Purpose::replacement, tree.request, node));
  });
}

namespace {

ReferenceDraw draw_residual(const ReferenceRow& target, const ReferenceRow& draft, double uniform) {
  std::vector<double> weights(target.logs.size());
  double total = 0.0;
  for (std::size_t x = 0; x < weights.size(); ++x) {
    weights[x] = std::max(0.0, std::exp(target.logs[x]) - std::exp(draft.logs[x]));
    total += weights[x];
  }
  if (!(total > 0.0)) return reference_draw(target, uniform);
  ReferenceDraw drawn = reference_draw(weights, uniform);
  drawn.margin = std::min(drawn.margin, total);  // rounding may also leave no residual at all
  return drawn;
}

}  // namespace

ReferenceTokens reference_rejection_sampling(const ReferenceRequest& request) {
  const auto end = std::find_if(request.drafts.begin(), request.drafts.end(),
                                [&](std::int32_t x) { return x < 0 || x >= request.vocabulary; });
  const auto drafts = static_cast<std::size_t>(end - request.drafts.begin());
  const auto uniform = [&](Purpose purpose, std::size_t index) {
    return draw_uniform(request.draws, purpose, request.request, static_cast<std::uint32_t>(index));
  };

  ReferenceTokens emitted{.tokens = {}, .fault = false, .margin = infinity};
  bool rejected = false;
  for (std::size_t i = 0; i <= drafts; ++i) {
    const ReferenceRow target = row_of(request.target_logits, i, request.vocabulary);
    emitted.fault = emitted.fault || target.fault;
    if (i == drafts) {
      if (rejected) break;
      const ReferenceDraw bonus = reference_draw(target, uniform(Purpose::bonus_token, i));
      emitted.tokens.push_back(bonus.token);
      emitted.margin = std::min(emitted.margin, bonus.margin);
      break;
    }
    const ReferenceRow draft = row_of(request.draft_logits, i, request.vocabulary);
    emitted.fault = emitted.fault || draft.fault;
    if (rejected) continue;  // further rows are only checked for faults
    const auto x = static_cast<std::size_t>(request.drafts[i]);
    const bool possible = target.logs[x] > -infinity;
    const double ratio = possible ? std::exp(target.logs[x] - draft.logs[x]) : 0.0;
    const double coin = uniform(Purpose::accept, i);
    if (possible) emitted.margin = std::min(emitted.margin, std::abs(coin - ratio));
    if (coin < ratio) {
      emitted.tokens.push_back(request.drafts[i]);
      continue;
    }
    rejected = true;
    const ReferenceDraw replacement = draw_residual(target, draft, uniform(Purpose::replacement, i));
    emitted.tokens.push_back(replacement.token);
    emitted.margin = std::min(emitted.margin, replacement.margin);
  }
  return emitted;
}

TreeShape::TreeShape(std::span<const std::int32_t> parents)
    : parents_(parents.begin(), parents.end()),
      first_children_(parents.size() + 1, no_node),
      next_siblings_(parents.size() + 1, no_node) {
  check_range("nodes", nodes(), 0, max_nodes);
  std::vector<std::int64_t> depths(parents.size() + 1, 0);
  for (std::size_t node = 1; node <= parents.size(); ++node) {
    const std::int32_t parent = parents[node - 1];
    check_range(fmt::format("parent of node {}", node), parent, 0, static_cast<std::int64_t>(node) - 1);
    depths[node] = depths[static_cast<std::size_t>(parent)] + 1;
  }
  depth_ = *std::max_element(depths.begin(), depths.end());
  for (std::size_t node = parents.size(); node > 0; --node) {  // backwards, so that the lowest ends up first
    const auto parent = static_cast<std::size_t>(parents[node - 1]);
    next_siblings_[node] = first_children_[parent];
    first_children_[parent] = static_cast<std::int32_t>(node);
  }
}

TreeShape binary_tree(std::int64_t nodes) {
  std::vector<std::int32_t> parents;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(nodes); ++i) parents.push_back(i / 2);
  return TreeShape(parents);
}

}  // namespace foredraft::gpu_bench
