// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/test_batch.hpp"

#include <cmath>
#include <span>
#include <stdexcept>

#include "core/random_stream.hpp"
#include "gpu_bench/kernels/test_programs.hpp"
#include "gpu_bench/verify/reference.hpp"
#include "latency/operations/reference.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr float bell_deviation = 147.8F;

/// Rounding error of a probability that a verifier computes. Verifiers that store their probabilities round them to the
/// storage type a few times; the others keep single precision.
double rounding_of(Verifier verifier, latency::DataType type) {
  constexpr double arithmetic = 1e-5;  // including device exponentials
  const bool rounds = entry_of(verifier).waits_for_host && type != latency::DataType::fp32;
  return rounds ? allowed_error(type) : arithmetic;
}

}  // namespace

TestBatch test_batch(const VerificationShape& shape, latency::DataType type, std::uint64_t seed) {
  const std::int64_t rows = shape.batch * (shape.gamma + 1);
  TestBatch made{.shape = shape,
                 .draws = draw_stream(seed, 0, 0),
                 .target_logits = {},
                 .draft_logits = {},
                 .drafts = std::vector<std::int32_t>(static_cast<std::size_t>(shape.batch * shape.gamma), no_token),
                 .draft_counts = {},
                 .node_tokens = std::vector<std::int32_t>(static_cast<std::size_t>(rows), 0)};
  RandomStream target(seed, {Purpose::logits, 0, 0});
  RandomStream noise(seed, {Purpose::draft_logits, 0, 0});
  RandomStream token(seed, {Purpose::draft_token, 0, 0});
  const auto bell = [](RandomStream& stream, float deviation) {
    return deviation / bell_deviation * static_cast<float>(latency::bell_from_word(stream.next_u32()));
  };
  const auto vocabulary = static_cast<std::size_t>(shape.vocabulary);
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    const std::int64_t count = b % (shape.gamma + 1);
    made.draft_counts.push_back(static_cast<std::int32_t>(count));
    for (std::int64_t i = 0; i <= shape.gamma; ++i) {
      for (std::size_t x = 0; x < vocabulary; ++x) {
        const auto logit = static_cast<double>(bell(target, 2.0F));
        made.target_logits.push_back(latency::rounded_to(logit, type));
        if (i < shape.gamma) {
          made.draft_logits.push_back(latency::rounded_to(logit + static_cast<double>(bell(noise, 0.7F)), type));
        }
      }
      if (i == shape.gamma) continue;
      std::vector<double> weights;
      for (const double logit : std::span(made.draft_logits).last(vocabulary)) weights.push_back(std::exp(logit));
      const std::int32_t draft = reference_draw(weights, token.uniform()).token;
      const auto at = static_cast<std::size_t>(b * shape.gamma + i);
      if (i < count) made.drafts[at] = draft;
      made.node_tokens[static_cast<std::size_t>(b * (shape.gamma + 1) + i + 1)] = draft;
    }
  }
  return made;
}

ExpectedTokens expected_tokens(Verifier verifier, const TestBatch& batch, std::int64_t request,
                               latency::DataType type) {
  const auto vocabulary = static_cast<std::size_t>(batch.shape.vocabulary);
  const auto gamma = static_cast<std::size_t>(batch.shape.gamma);
  const auto b = static_cast<std::size_t>(request);
  const auto count = static_cast<std::size_t>(batch.draft_counts[b]);
  const std::span<const double> target(batch.target_logits);
  const std::span<const double> rows = target.subspan(b * (gamma + 1) * vocabulary, (gamma + 1) * vocabulary);
  const ReferenceRequest chain{
      .target_logits = rows.first((count + 1) * vocabulary),
      .draft_logits = std::span(batch.draft_logits).subspan(b * gamma * vocabulary, count * vocabulary),
      .drafts = std::span(batch.drafts).subspan(b * gamma, count),
      .vocabulary = batch.shape.vocabulary,
      .draws = batch.draws,
      .request = static_cast<unsigned>(request)};
  const TreeShape shape = binary_tree(batch.shape.gamma);
  const ReferenceTree tree{.target_logits = rows,
                           .node_tokens = std::span(batch.node_tokens).subspan(b * (gamma + 1), gamma + 1),
                           .parents = shape.parents(),
                           .vocabulary = batch.shape.vocabulary,
                           .draws = batch.draws,
                           .request = static_cast<unsigned>(request)};
  const auto expected = [&](const ReferenceTokens& reference) {
    return ExpectedTokens{.tokens = reference.tokens, .may_differ = reference.margin < rounding_of(verifier, type)};
  };
  switch (verifier) {
    case Verifier::fused_exact:
    case Verifier::fused_exact_two_launches:
    case Verifier::hf_reference:
    case Verifier::wagner_exact:
      return expected(reference_rejection_sampling(chain));
    case Verifier::greedy_match:
      return expected(reference_greedy_match(chain));
    case Verifier::top_beta:
      return expected(reference_top_beta(chain, TopBeta{}));
    case Verifier::typical_acceptance:
      return expected(reference_typical_acceptance(chain, TypicalAcceptance{}));
    case Verifier::tree_greedy:
      return expected(reference_tree_greedy(tree));
    case Verifier::tree_sampled:
      return expected(reference_tree_sampled(tree));
    case Verifier::wagner_sigmoid:
      break;
  }
  throw std::logic_error("no reference for this verifier");
}

}  // namespace foredraft::gpu_bench
