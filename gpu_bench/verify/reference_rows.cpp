// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/reference_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu_bench/verify/reference_row.hpp"
#include "gpu_bench/verify/tree_shape.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();  // margin of what rounding cannot turn

ReferenceRow row_of(std::span<const double> rows, std::size_t index, std::int64_t vocabulary) {
  const auto size = static_cast<std::size_t>(vocabulary);
  return ReferenceRow(rows.subspan(index * size, size));
}

struct Judgement {
  bool accepted;
  double margin = never;
};

/// Walks along the drafts of a request; judge(row, draft) says what becomes of a draft of the vocabulary.
template <class Judge>
ReferenceTokens walk_chain(const ReferenceRequest& request, const Judge& judge) {
  ReferenceTokens out{.tokens = {}, .fault = false, .margin = never};
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

/// Walks from the root to the first child that holds what choose(row, node) gives.
template <class Choose>
ReferenceTokens walk_tree(const ReferenceTree& tree, const Choose& choose) {
  ReferenceTokens out{.tokens = {}, .fault = false, .margin = never};
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
  if (rule.beta == 1 || rule.tolerance == 0.0) return reference_greedy_match(request);
  return walk_chain(request, [&rule](const ReferenceRow& row, std::int32_t draft) {
    const double own = row.logits[static_cast<std::size_t>(draft)];
    const auto larger = std::count_if(row.logits.begin(), row.logits.end(), [own](double z) { return z > own; });
    if (larger >= rule.beta || own == -never) return Judgement{.accepted = false};
    const double slack = rule.tolerance - (row.logits[row.top] - own);
    return Judgement{.accepted = slack >= 0.0,
                     .margin = std::abs(slack) * std::exp(row.logs[static_cast<std::size_t>(draft)])};
  });
}

ReferenceTokens reference_typical_acceptance(const ReferenceRequest& request, const TypicalAcceptance& rule) {
  return walk_chain(request, [&rule](const ReferenceRow& row, std::int32_t draft) {
    double entropy = 0.0;
    for (const double log : row.logs) entropy -= log > -never ? std::exp(log) * log : 0.0;
    const double threshold = std::min(rule.epsilon, rule.delta * std::exp(-entropy));
    const double own = std::exp(row.logs[static_cast<std::size_t>(draft)]);
    return Judgement{.accepted = own > threshold, .margin = std::abs(own - threshold)};
  });
}

ReferenceTokens reference_tree_greedy(const ReferenceTree& tree) {
  return walk_tree(tree, [](const ReferenceRow& row, std::uint32_t /*node*/) {
    return ReferenceDraw{.token = static_cast<std::int32_t>(row.top), .margin = never};
  });
}

ReferenceTokens reference_tree_sampled(const ReferenceTree& tree) {
  return walk_tree(tree, [&tree](const ReferenceRow& row, std::uint32_t node) {
    return reference_draw(row, draw_uniform(tree.draws, Purpose::replacement, tree.request, node));
  });
}

}  // namespace foredraft::gpu_bench
