// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <vector>

#include "core/random_stream.hpp"
#include "gpu_bench/verify/fused_exact.hpp"
#include "gpu_bench/verify/reference.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/verification_rule.hpp"
#include "tests/sim/token/named_rule.hpp"

namespace foredraft {
namespace {

constexpr std::uint64_t seed_of_requests = 424242;
constexpr unsigned requests = 96;
constexpr unsigned gamma_of_requests = 3;
constexpr unsigned vocabulary_of_requests = 48;

/// Single precision may round a decision this close to its boundary the other way.
constexpr double rounding_of_kernels = 3e-6;

struct Requests {
  std::vector<float> target;
  std::vector<float> draft;
  std::vector<std::int32_t> drafts;
};

double draw(Purpose purpose, unsigned request, std::uint64_t index) {
  RandomStream words(seed_of_requests, {.purpose = purpose, .point = request, .block = 0});
  words.seek(index);
  return words.uniform();
}

std::vector<double> distribution_of(const std::vector<float>& rows, std::size_t row) {
  const auto first = rows.begin() + static_cast<std::ptrdiff_t>(row * vocabulary_of_requests);
  const std::vector<double> logits(first, first + vocabulary_of_requests);
  std::vector<double> distribution(vocabulary_of_requests);
  sim::softmax(logits, 1.0, distribution);
  return distribution;
}

std::int32_t drawn(const std::vector<double>& distribution, double u) {
  const double total[] = {sim::row_sum(distribution)};
  return static_cast<std::int32_t>(sim::draw_by_inversion<double>(distribution, total, total[0], u));
}

Requests made_up_requests() {
  Requests made;
  RandomStream words(seed_of_requests, {.purpose = Purpose::logits, .point = 0, .block = 0});
  const auto logit = [&words](double spread) { return static_cast<float>(spread * (words.uniform() - 0.5)); };
  for (unsigned row = 0; row < requests * (gamma_of_requests + 1) * vocabulary_of_requests; ++row) {
    made.target.push_back(logit(8.0));
  }
  for (unsigned b = 0; b < requests; ++b) {
    for (unsigned i = 0; i < gamma_of_requests; ++i) {
      const std::size_t target_row = std::size_t{b} * (gamma_of_requests + 1) + i;
      for (unsigned x = 0; x < vocabulary_of_requests; ++x) {
        made.draft.push_back(made.target[target_row * vocabulary_of_requests + x] + logit(3.0));
      }
      made.drafts.push_back(drawn(distribution_of(made.draft, made.drafts.size()), draw(Purpose::draft_token, b, i)));
    }
  }
  return made;
}

/// The tokens of the simulator's rule for request b.
std::vector<std::int32_t> emitted_by_rule(const sim::VerificationRule& rule, const Requests& made, unsigned b) {
  std::vector<std::int32_t> tokens;
  std::vector<double> distribution(vocabulary_of_requests);
  for (unsigned i = 0; i < gamma_of_requests; ++i) {
    const std::vector<double> target = distribution_of(made.target, std::size_t{b} * (gamma_of_requests + 1) + i);
    const std::vector<double> draft = distribution_of(made.draft, std::size_t{b} * gamma_of_requests + i);
    const std::int32_t token = made.drafts[b * gamma_of_requests + i];
    const auto x = static_cast<std::size_t>(token);
    const double acceptance = rule.acceptance({.token = token, .target = target[x], .draft = draft[x]}, 0.0);
    if (draw(Purpose::accept, b, i) < acceptance) {
      tokens.push_back(token);
      continue;
    }
    rule.replacement({.target = target, .draft = draft}, distribution);
    tokens.push_back(drawn(distribution, draw(Purpose::replacement, b, i)));
    return tokens;
  }
  rule.bonus(distribution_of(made.target, std::size_t{b} * (gamma_of_requests + 1) + gamma_of_requests), distribution);
  tokens.push_back(drawn(distribution, draw(Purpose::bonus_token, b, gamma_of_requests)));
  return tokens;
}

double margin_of(const Requests& made, const gpu_bench::DrawStream& draws, unsigned b) {
  const auto rows = [](const std::vector<float>& of, std::size_t first, std::size_t count) {
    const auto begin = of.begin() + static_cast<std::ptrdiff_t>(first * vocabulary_of_requests);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(count * vocabulary_of_requests));
  };
  const auto target = rows(made.target, std::size_t{b} * (gamma_of_requests + 1), gamma_of_requests + 1);
  const auto draft = rows(made.draft, std::size_t{b} * gamma_of_requests, gamma_of_requests);
  return gpu_bench::reference_rejection_sampling(
             {.target_logits = target,
              .draft_logits = draft,
              .drafts = std::span(made.drafts).subspan(std::size_t{b} * gamma_of_requests, gamma_of_requests),
              .vocabulary = vocabulary_of_requests,
              .draws = draws,
              .request = b})
      .margin;
}

}  // namespace

TEST_CASE("the fused kernel takes the decisions of the simulator's rejection sampling from the same draws") {
  const Requests made = made_up_requests();
  const std::vector<std::int32_t> counts(requests, gamma_of_requests);
  const gpu_bench::DrawStream draws = gpu_bench::draw_stream(seed_of_requests, 0, 0);
  std::vector<std::int32_t> tokens(std::size_t{requests} * (gamma_of_requests + 1));
  std::vector<std::int32_t> emitted_counts(requests);
  std::vector<std::uint32_t> faults(requests);
  const gpu_bench::VerificationInput<float> input{.target_logits = made.target.data(),
                                                  .draft_logits = made.draft.data(),
                                                  .drafts = made.drafts.data(),
                                                  .draft_counts = counts.data(),
                                                  .batch = requests,
                                                  .gamma = gamma_of_requests,
                                                  .vocabulary = vocabulary_of_requests,
                                                  .draws = draws};
  const gpu_bench::VerificationOutput output{
      .tokens = tokens.data(), .emitted_counts = emitted_counts.data(), .faults = faults.data()};
  gpu_bench::WorkspaceCutter counted;
  gpu_bench::CountingLauncher counting;
  gpu_bench::fused_exact<gpu_bench::chunk_tokens>(input, output, counted, counting);
  std::vector<float> floats(static_cast<std::size_t>(counted.size().floats));
  std::vector<std::uint32_t> counters(static_cast<std::size_t>(counted.size().counters), 0);
  gpu_bench::WorkspaceCutter cutter({.floats = floats.data(), .counters = counters.data()});
  gpu_bench::HostLauncher launcher;
  gpu_bench::fused_exact<gpu_bench::chunk_tokens>(input, output, cutter, launcher, 32);

  const auto rule = foredraft::tests::make_named_rule("rejection_sampling", {});
  unsigned rejections = 0;
  for (unsigned b = 0; b < requests; ++b) {
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(std::size_t{b} * (gamma_of_requests + 1));
    const std::vector<std::int32_t> got(first, first + emitted_counts[b]);
    if (margin_of(made, draws, b) >= rounding_of_kernels) CHECK(got == emitted_by_rule(*rule, made, b));
    if (got.size() <= gamma_of_requests) ++rejections;
  }
  // Both rejections and full acceptance occur.
  CHECK(rejections > requests / 4);
  CHECK(rejections < requests);
}

}  // namespace foredraft
