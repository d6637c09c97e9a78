// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "gpu_bench/verify/chain_path.hpp"
#include "sim/token/rules/verification_rule.hpp"
#include "tests/sim/token/named_rule.hpp"

/// The kernels that judge drafts by the target's row against the simulator's rules, which use no logits.
namespace foredraft::tests {
namespace {

constexpr std::size_t vocabulary = 24;
constexpr std::size_t requests = 90;

struct Judged {
  std::vector<float> target;  ///< [requests, 2, vocabulary]
  std::vector<std::int32_t> drafts;
};

Judged random_requests() {
  std::mt19937 engine(7);
  std::normal_distribution<float> normal(0.0F, 1.5F);
  std::uniform_int_distribution<std::int32_t> token(0, static_cast<std::int32_t>(vocabulary) - 1);
  Judged judged{.target = std::vector<float>(requests * 2 * vocabulary), .drafts = {}};
  for (float& logit : judged.target) logit = std::round(4.0F * normal(engine)) / 4.0F;  // with ties
  for (std::size_t b = 0; b < requests; ++b) {
    const auto row = judged.target.begin() + static_cast<std::ptrdiff_t>(2 * b * vocabulary);
    const auto best = std::max_element(row, row + vocabulary) - row;
    judged.drafts.push_back(b % 3 == 0 ? static_cast<std::int32_t>(best) : token(engine));
  }
  return judged;
}

std::vector<double> probabilities(const Judged& judged, std::size_t request) {
  std::vector<double> p;
  double sum = 0.0;
  for (std::size_t x = 0; x < vocabulary; ++x) {
    sum += p.emplace_back(std::exp(static_cast<double>(judged.target[2 * request * vocabulary + x])));
  }
  for (double& value : p) value /= sum;
  return p;
}

struct NarrowLauncher {
  template <class Kernel>
  void launch(Kernel kernel) {
    kernel.threads = 32;
    gpu_bench::run_on_host(kernel);
  }
};

/// The number of drafts that both accept; the kernel is `verify`.
template <class Verify>
int accepted_alike(const Judged& judged, const sim::VerificationRule& rule, const Verify& verify) {
  const std::vector<std::int32_t> draft_counts(requests, 1);
  std::vector<std::int32_t> tokens(requests * 2);
  std::vector<std::int32_t> emitted_counts(requests);
  std::vector<std::uint32_t> faults(requests);
  const gpu_bench::VerificationInput<float> input{.target_logits = judged.target.data(),
                                                  .draft_logits = nullptr,
                                                  .drafts = judged.drafts.data(),
                                                  .draft_counts = draft_counts.data(),
                                                  .batch = requests,
                                                  .gamma = 1,
                                                  .vocabulary = vocabulary,
                                                  .draws = gpu_bench::draw_stream(1, 0, 0)};
  const gpu_bench::VerificationOutput output{
      .tokens = tokens.data(), .emitted_counts = emitted_counts.data(), .faults = faults.data()};
  gpu_bench::WorkspaceCutter counted;
  gpu_bench::CountingLauncher counting;
  verify(input, output, counted, counting);
  std::vector<float> floats(static_cast<std::size_t>(counted.size().floats));
  std::vector<std::uint32_t> counters(static_cast<std::size_t>(counted.size().counters), 0);
  gpu_bench::WorkspaceCutter cutter({.floats = floats.data(), .counters = counters.data()});
  NarrowLauncher launcher;
  verify(input, output, cutter, launcher);
  int accepted = 0;
  for (std::size_t b = 0; b < requests; ++b) {
    const std::vector<double> p = probabilities(judged, b);
    const std::int32_t draft = judged.drafts[b];
    const sim::PositionDistributions distributions{.target = p, .draft = p};
    const sim::DraftedToken drafted{
        .token = draft, .target = p[static_cast<std::size_t>(draft)], .draft = p[static_cast<std::size_t>(draft)]};
    const bool accepts = rule.acceptance(drafted, rule.row_statistic(distributions)) == 1.0;
    std::vector<double> replacement(vocabulary);
    rule.replacement(distributions, replacement);
    INFO("request " << b);
    REQUIRE((emitted_counts[b] == 2) == accepts);
    REQUIRE((accepts ? tokens[2 * b] == draft : replacement[static_cast<std::size_t>(tokens[2 * b])] == 1.0));
    accepted += accepts ? 1 : 0;
  }
  return accepted;
}

}  // namespace

TEST_CASE("the kernel of top_beta decides as the simulator's rule does") {
  const Judged judged = random_requests();
  for (const TopBeta& rule : {TopBeta{.top_beta = 3, .tolerance = 1.1},
                              {.top_beta = 6, .tolerance = 1.6},
                              {.top_beta = 1, .tolerance = 2.0}}) {
    const auto of_simulator = foredraft::tests::make_named_rule(
        "top_beta", {{"top_beta", static_cast<double>(rule.top_beta)}, {"tolerance", rule.tolerance}});
    const int accepted = accepted_alike(judged, *of_simulator,
                                        [&rule](const auto& input, const auto& output, auto& cutter, auto& launcher) {
                                          gpu_bench::top_beta(rule, input, output, cutter, launcher);
                                        });
    CHECK(accepted > 25);
    CHECK(accepted < 65);
  }
}

TEST_CASE("the kernel of typical_acceptance decides as the simulator's rule does") {
  const Judged judged = random_requests();
  for (const TypicalAcceptance& rule :
       {TypicalAcceptance{.epsilon = 0.09}, {.epsilon = 0.09, .delta = 0.4}, {.epsilon = 0.04, .delta = 2.0}}) {
    const auto of_simulator =
        foredraft::tests::make_named_rule("typical_acceptance", {{"epsilon", rule.epsilon}, {"delta", rule.delta}});
    const int accepted = accepted_alike(judged, *of_simulator,
                                        [&rule](const auto& input, const auto& output, auto& cutter, auto& launcher) {
                                          gpu_bench::typical_acceptance(rule, input, output, cutter, launcher);
                                        });
    CHECK(accepted > 25);
    CHECK(accepted < 65);
  }
}

}  // namespace foredraft::tests
