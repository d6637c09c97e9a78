#include "gpu_bench/verify/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace foredraft::gpu_bench {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool faulty(double logit) { return std::isnan(logit) || logit == infinity; }

double cleaned(double logit) {
  if (std::isnan(logit)) return -infinity;
  return std::min(logit, static_cast<double>(std::numeric_limits<float>::max()));
}

/// Logarithms of the probabilities of a row.
struct LogRow {
  std::vector<double> logs;
  bool fault;

  explicit LogRow(std::span<const double> logits) : fault(std::any_of(logits.begin(), logits.end(), faulty)) {
    logs.resize(logits.size());
    std::transform(logits.begin(), logits.end(), logs.begin(), cleaned);
    const double top = *std::max_element(logs.begin(), logs.end());
    if (top == -infinity) {
      fault = true;
      return;
    }
    double sum = 0.0;
    for (const double logit : logs) sum += std::exp(logit - top);
    for (double& log : logs) log = (log - top) - std::log(sum);
  }
};

struct Drawn {
  std::int32_t token;
  double margin;
};

/// Inverse CDF over rising tokens.
Drawn draw(const std::vector<double>& weights, double uniform) {
  double total = 0.0;
  for (const double weight : weights) total += weight;
  const double threshold = uniform * total;
  Drawn drawn{0, infinity};
  double before = 0.0;
  for (std::size_t x = 0; x < weights.size(); ++x) {
    const double after = before + weights[x];
    if (weights[x] > 0.0 && before <= threshold) {
      // To the left of the first possible token and to the right of the last there is nothing else to draw.
      const double to_left = before > 0.0 ? threshold - before : infinity;
      const double to_right = after < total ? after - threshold : infinity;
      drawn = {static_cast<std::int32_t>(x), std::min(to_left, to_right)};
    }
    before = after;
  }
  return drawn;
}

Drawn draw_residual(const LogRow& target, const LogRow& draft, double uniform) {
  std::vector<double> weights(target.logs.size());
  double total = 0.0;
  for (std::size_t x = 0; x < weights.size(); ++x) {
    weights[x] = std::max(0.0, std::exp(target.logs[x]) - std::exp(draft.logs[x]));
    total += weights[x];
  }
  const bool left = total > 0.0;
  if (!left) {
    for (std::size_t x = 0; x < weights.size(); ++x) weights[x] = std::exp(target.logs[x]);
  }
  Drawn drawn = draw(weights, uniform);
  if (left) drawn.margin = std::min(drawn.margin, total);  // whether there is a residual at all
  return drawn;
}

}  // namespace

ReferenceTokens reference_rejection_sampling(const ReferenceRequest& request) {
  const auto vocabulary = static_cast<std::size_t>(request.vocabulary);
  const auto row = [&](std::span<const double> rows, std::size_t position) {
    return LogRow(rows.subspan(position * vocabulary, vocabulary));
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
    const LogRow target = row(request.target_logits, i);
    emitted.fault = emitted.fault || target.fault;
    if (i == drafts) {
      if (rejected) break;
      std::vector<double> weights(vocabulary);
      std::transform(target.logs.begin(), target.logs.end(), weights.begin(), [](double log) { return std::exp(log); });
      const Drawn bonus = draw(weights, uniform(Purpose::bonus_token, i));
      emitted.tokens.push_back(bonus.token);
      emitted.margin = std::min(emitted.margin, bonus.margin);
      break;
    }
    const LogRow draft = row(request.draft_logits, i);
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
    const Drawn replacement = draw_residual(target, draft, uniform(Purpose::replacement, i));
    emitted.tokens.push_back(replacement.token);
    emitted.margin = std::min(emitted.margin, replacement.margin);
  }
  return emitted;
}

}  // namespace foredraft::gpu_bench
