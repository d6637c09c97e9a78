// SPDX-License-Identifier: Apache-2.0
// The sigmoid verifier of gpu_bench/ against the simulator's rule sigmoid_approximation: from the same draws, the same
// tokens, except where fp32 cannot resolve a decision.
#include "sim/token/rules/verification_rule.hpp"
#include "tests/gpu_bench/verify/published_support.hpp"
#include "tests/sim/token/named_rule.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

/// The first weight whose running sum exceeds uniform * total, and the distance of the nearest boundary.
struct Inverted {
  std::int32_t token;
  double margin;
};

Inverted invert(const std::vector<double>& weights, double uniform) {
  double total = 0.0;
  for (const double weight : weights) total += weight;
  double before = 0.0;
  for (std::size_t x = 0; x < weights.size(); ++x) {
    const double after = before + weights[x] / total;
    if (uniform < after) return {static_cast<std::int32_t>(x), std::min(uniform - before, after - uniform)};
    before = after;
  }
  return {static_cast<std::int32_t>(weights.size()) - 1, 0.0};
}

std::vector<double> probabilities(const std::vector<float>& logits, std::size_t row, std::size_t vocabulary) {
  std::vector<double> distribution;
  for (std::size_t x = 0; x < vocabulary; ++x)
    distribution.push_back(std::exp(static_cast<double>(logits[row * vocabulary + x])));
  return distribution;
}

struct RuleTokens {
  std::vector<std::int32_t> tokens;
  double margin;
};

RuleTokens rule_tokens(const sim::VerificationRule& rule, const SigmoidScale& scale, const Batch<float>& one) {
  RuleTokens emitted{.tokens = {}, .margin = 1.0};
  const auto draw = [&](Purpose purpose, std::size_t index) {
    return draw_uniform(one.draws, purpose, 0, static_cast<std::uint32_t>(index));
  };
  const auto emit = [&](const Inverted& drawn) {
    emitted.tokens.push_back(drawn.token);
    emitted.margin = std::min(emitted.margin, drawn.margin);
  };
  const auto count = static_cast<std::size_t>(one.draft_counts[0]);
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<double> target = probabilities(one.target_logits, i, one.vocabulary);
    const std::vector<double> draft = probabilities(one.draft_logits, i, one.vocabulary);
    const auto x = static_cast<std::size_t>(one.drafts[i]);
    const double acceptance = rule.acceptance({.token = one.drafts[i], .target = target[x], .draft = draft[x]}, 0.0);
    const double coin = draw(Purpose::accept, i);
    emitted.margin = std::min(emitted.margin, std::abs(acceptance < 1.0 ? coin - acceptance : 1.0));
    if (coin < acceptance) {
      emitted.tokens.push_back(one.drafts[i]);
      continue;
    }
    std::vector<double> distribution(one.vocabulary);
    rule.replacement({.target = target, .draft = draft}, distribution);
    emit(invert(distribution, draw(Purpose::replacement, i)));
    return emitted;
  }
  // The rule draws this token from p; the kernel has no p, only the sigmas of its row.
  std::vector<double> sigmas;
  for (std::size_t x = 0; x < one.vocabulary; ++x) {
    const double logit = static_cast<double>(one.target_logits[count * one.vocabulary + x]);
    const double low = static_cast<double>(scale.low);
    sigmas.push_back(1.0 / (1.0 + std::exp(-(logit - low) / (static_cast<double>(scale.high) - low))));
  }
  emit(invert(sigmas, draw(Purpose::bonus_token, count)));
  return emitted;
}

/// Logarithms of probabilities, so that the rule's logits are the kernel's.
void subtract_log_sums(std::vector<float>& logits, std::size_t vocabulary) {
  for (std::size_t first = 0; first < logits.size(); first += vocabulary) {
    double sum = 0.0;
    for (std::size_t x = 0; x < vocabulary; ++x) sum += std::exp(static_cast<double>(logits[first + x]));
    for (std::size_t x = 0; x < vocabulary; ++x) logits[first + x] -= static_cast<float>(std::log(sum));
  }
}

}  // namespace

TEST_CASE("the sigmoid verifier takes the decisions of the rule sigmoid_approximation") {
  for (const SigmoidScale& scale :
       {SigmoidScale{-4.0F, 4.0F}, SigmoidScale{-30.0F, 0.0F}, SigmoidScale{-500.0F, 500.0F}}) {
    auto batch = random_batch<float>(40, 3, 9, 21);
    for (unsigned request = 0; request < batch.batch; ++request) {
      batch.draft_counts[request] = static_cast<std::int32_t>(request % 4);
    }
    subtract_log_sums(batch.target_logits, batch.vocabulary);
    subtract_log_sums(batch.draft_logits, batch.vocabulary);
    const auto rule = foredraft::tests::make_named_rule(
        "sigmoid_approximation",
        {{"scale_low", static_cast<double>(scale.low)}, {"scale_high", static_cast<double>(scale.high)}});
    const Emitted got = emitted_by_published(Published::wagner_sigmoid, batch, {}, scale);
    // A difference of sigmas is that of logits over the scale's width, while each is rounded as a number near 1.
    const double rounding = single_precision * static_cast<double>(scale.high - scale.low);
    std::size_t close = 0;
    for (unsigned request = 0; request < batch.batch; ++request) {
      const RuleTokens want = rule_tokens(*rule, scale, alone(batch, request));
      INFO("scale " << scale.low << " to " << scale.high << ", request " << request << ", margin " << want.margin);
      if (want.margin < rounding) {
        ++close;
      } else {
        CHECK(got.tokens_of(request) == want.tokens);
      }
    }
    CHECK(close <= 4);
  }
}

}  // namespace foredraft::gpu_bench::tests
