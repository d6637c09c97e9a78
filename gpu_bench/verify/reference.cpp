// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "gpu_bench/verify/reference_row.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

ReferenceDraw draw_residual(const ReferenceRow& target, const ReferenceRow& draft, double uniform) {
  std::vector<double> weights(target.logs.size());
  double total = 0.0;
  for (std::size_t x = 0; x < weights.size(); ++x) {
    weights[x] = std::max(0.0, std::exp(target.logs[x]) - std::exp(draft.logs[x]));
    total += weights[x];
  }
  if (!(total > 0.0)) return reference_draw(target, uniform);
  ReferenceDraw drawn = reference_draw(weights, uniform);
  drawn.margin = std::min(drawn.margin, total);  // whether there is a residual at all
  return drawn;
}

}  // namespace

ReferenceTokens reference_rejection_sampling(const ReferenceRequest& request) {
  const auto vocabulary = static_cast<std::size_t>(request.vocabulary);
  const auto row = [&](std::span<const double> rows, std::size_t position) {
    return ReferenceRow(rows.subspan(position * vocabulary, vocabulary));
  };
  const auto end = std::find_if(request.drafts.begin(), request.drafts.end(),
                                [&](std::int32_t x) { return x < 0 || x >= request.vocabulary; });
  const auto drafts = static_cast<std::size_t>(end - request.drafts.begin());
  const auto uniform = [&](Purpose purpose, std::size_t index) {
    return draw_uniform(request.draws, purpose, request.request, static_cast<std::uint32_t>(index));
  };

  ReferenceTokens emitted{.tokens = {}, .fault = false, .margin = infinity};
  bool rejected = false;
  for (std::size_t i = 0; i <= drafts; ++i) {
    const ReferenceRow target = row(request.target_logits, i);
    emitted.fault = emitted.fault || target.fault;
    if (i == drafts) {
      if (rejected) break;
      const ReferenceDraw bonus = reference_draw(target, uniform(Purpose::bonus_token, i));
      emitted.tokens.push_back(bonus.token);
      emitted.margin = std::min(emitted.margin, bonus.margin);
      break;
    }
    const ReferenceRow draft = row(request.draft_logits, i);
    emitted.fault = emitted.fault || draft.fault;
    if (rejected) continue;  // further rows are read for their faults
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

}  // namespace foredraft::gpu_bench
