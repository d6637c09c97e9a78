// SPDX-License-Identifier: Apache-2.0
// The relaxed rules: worked values, limits, monotonicity.
#include <catch2/catch.hpp>
#include <cmath>

#include "core/numbers.hpp"
#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"
#include "sim/estimates.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/token_simulator.hpp"
#include "tests/sim/token/named_rule.hpp"
#include "tests/sim/token/tables.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

using RuleSettings = std::map<std::string, double>;

/// Random rows of 2 to 30 tokens, some without mass, p with ties.
std::vector<std::pair<std::vector<double>, std::vector<double>>> random_distributions() {
  std::vector<std::pair<std::vector<double>, std::vector<double>>> rows;
  RandomStream random(6, {.purpose = Purpose::test, .point = 0, .block = 0});
  const auto row = [&random](std::size_t size) {
    std::vector<double> distribution(size);
    for (double& entry : distribution) entry = std::floor(8.0 * std::pow(random.uniform(), 2.0));
    distribution.front() += 0.5;
    normalize(distribution);
    return distribution;
  };
  for (std::size_t size = 2; size <= 30; ++size) {
    std::vector<double> p = row(size);
    rows.emplace_back(std::move(p), row(size));
  }
  return rows;
}

double acceptance_of(const std::string& rule, const RuleSettings& settings, const std::vector<double>& p,
                     const std::vector<double>& q) {
  return acceptance_probability(*tests::make_named_rule(rule, settings), {.target = p, .draft = q});
}

std::vector<double> distribution_of(const std::string& rule, const RuleSettings& settings, const std::vector<double>& p,
                                    const std::vector<double>& q) {
  return emitted_distribution(*tests::make_named_rule(rule, settings), {.target = p, .draft = q});
}

/// acceptance(x) of one token.
double verdict(const std::string& rule, const RuleSettings& settings, const std::vector<double>& p,
               const std::vector<double>& q, std::size_t x) {
  const auto made = tests::make_named_rule(rule, settings);
  return made->acceptance({.token = static_cast<Token>(x), .target = p[x], .draft = q[x]},
                          made->row_statistic({.target = p, .draft = q}));
}

/// For each token, 1 if it is accepted with certainty.
std::string certain(const std::string& rule, const RuleSettings& settings, const std::vector<double>& p,
                    const std::vector<double>& q) {
  std::string marks;
  for (std::size_t x = 0; x < p.size(); ++x) marks += verdict(rule, settings, p, q, x) == 1.0 ? '1' : '0';
  return marks;
}

/// Whether acceptance never falls along a list of settings, on every row.
void check_rising(const std::string& rule, const std::vector<RuleSettings>& settings) {
  for (const auto& [p, q] : random_distributions()) {
    double before = 0.0;
    for (const RuleSettings& setting : settings) {
      const double acceptance = acceptance_of(rule, setting, p, q);
      CHECK(acceptance >= before - tests::few_ulp);
      before = acceptance;
    }
  }
}

void check_same_rule(const std::string& rule, const RuleSettings& settings, const std::string& other) {
  for (const auto& [p, q] : random_distributions()) {
    CHECK(acceptance_of(rule, settings, p, q) == acceptance_of(other, {}, p, q));
    CHECK(distribution_of(rule, settings, p, q) == distribution_of(other, {}, p, q));
  }
}

}  // namespace

TEST_CASE("by hand: lenient accepts with min(1, p / (l q)) and draws from either residual") {
  const std::vector<double> p{0.2, 0.5, 0.3};
  const std::vector<double> q{0.8, 0.1, 0.1};
  CHECK(verdict("lenient", {{"lenience", 0.5}}, p, q, 0) == Approx(0.5).epsilon(tests::few_ulp));
  CHECK(verdict("lenient", {{"lenience", 0.2}}, p, q, 0) == 1.0);
  std::vector<double> residual(3);
  tests::make_named_rule("lenient", {{"lenience", 0.5}})->replacement({.target = p, .draft = q}, residual);
  CHECK(residual[1] == Approx(0.45 / 0.7).epsilon(tests::few_ulp));  // (0, .5 - .05, .3 - .05)
  tests::make_named_rule("lenient", {{"lenience", 0.5}, {"residual", 0.0}})
      ->replacement({.target = p, .draft = q}, residual);
  CHECK(residual[1] == Approx(0.4 / 0.6).epsilon(tests::few_ulp));  // (0, .5 - .1, .3 - .1)
  CHECK(verdict("lenient", {{"lenience", 1e-320}}, {0.0, 1.0}, {1e-5, 1.0 - 1e-5}, 0) == 0.0);
}

TEST_CASE("lenience 1 is rejection_sampling, less accepts more, and nothing is emitted above p / l") {
  check_rising("lenient", {{{"lenience", 1.0}}, {{"lenience", 0.7}}, {{"lenience", 0.3}}, {{"lenience", 1e-9}}});
  for (const auto& [p, q] : random_distributions()) {
    CHECK(acceptance_of("lenient", {{"lenience", 1.0}}, p, q) == acceptance_of("rejection_sampling", {}, p, q));
    double in_support = 0.0;
    for (std::size_t x = 0; x < p.size(); ++x) in_support += p[x] > 0.0 ? q[x] : 0.0;
    CHECK(acceptance_of("lenient", {{"lenience", 1e-9}}, p, q) == Approx(in_support).epsilon(tests::few_ulp));
    for (const double residual : {0.0, 1.0}) {
      const auto exact = distribution_of("lenient", {{"lenience", 1.0}, {"residual", residual}}, p, q);
      for (const double l : {0.9, 0.5, 0.1}) {
        const auto emitted = distribution_of("lenient", {{"lenience", l}, {"residual", residual}}, p, q);
        for (std::size_t x = 0; x < p.size(); ++x) CHECK(emitted[x] <= p[x] / l + tests::few_ulp);
      }
      for (std::size_t x = 0; x < p.size(); ++x) CHECK(exact[x] == Approx(p[x]).margin(tests::few_ulp));
    }
  }
}

TEST_CASE("top_beta accepts within rank and gap: by hand") {
  // Gaps to the top: 0, ln 2 = 0.69, ln 4 = 1.39, ln 5 = 1.61.
  const std::vector<double> p{0.10, 0.40, 0.20, 0.08, 0.22};
  const std::vector<double> q{0.2, 0.2, 0.2, 0.2, 0.2};
  const auto accepted = [&](double beta, double tolerance) {
    return certain("top_beta", {{"top_beta", beta}, {"tolerance", tolerance}}, p, q);
  };
  CHECK(accepted(2, 10.0) == "01001");
  CHECK(accepted(3, 10.0) == "01101");
  CHECK(accepted(3, 0.65) == "01001");
  CHECK(accepted(3, 0.70) == "01101");
  CHECK(accepted(5, 1.40) == "11101");
  CHECK(accepted(5, 1000.0) == "11111");
  CHECK(accepted(1, 1000.0) == "01000");
  CHECK(accepted(5, 0.0) == "01000");
  // A rejection emits the top token: 0.2 of the mass of q is accepted at tokens 1, 2 and 4, the rest becomes token 1.
  const auto emitted = distribution_of("top_beta", {{"top_beta", 3.0}, {"tolerance", 0.70}}, p, q);
  CHECK(emitted[1] == Approx(0.6).epsilon(tests::few_ulp));
  CHECK(emitted[2] == Approx(0.2).epsilon(tests::few_ulp));
  CHECK(emitted[0] == 0.0);
}

TEST_CASE("top_beta with beta 1 or tolerance 0 is greedy_match, ties included, and grows in both") {
  check_same_rule("top_beta", {{"top_beta", 1.0}, {"tolerance", 100.0}}, "greedy_match");
  check_same_rule("top_beta", {{"top_beta", 2.0}, {"tolerance", 0.0}}, "greedy_match");
  for (const double judged : {0.0, 1.0}) {
    std::vector<RuleSettings> by_beta;
    std::vector<RuleSettings> by_tolerance;
    for (const double beta : {1.0, 2.0, 3.0, 10.0}) {
      by_beta.push_back({{"top_beta", beta}, {"tolerance", 2.0}, {"judged", judged}});
    }
    for (const double tolerance : {0.0, 0.1, 0.5, 2.0, 1000.0}) {
      by_tolerance.push_back({{"top_beta", 3.0}, {"tolerance", tolerance}, {"judged", judged}});
    }
    check_rising("top_beta", by_beta);
    check_rising("top_beta", by_tolerance);
  }
  // All tokens tied at rank beta are within it; so are those tied at the top, unless only the greedy token is right.
  const std::vector<double> p{0.1, 0.3, 0.3, 0.3};
  const std::vector<double> q(4, 0.25);
  CHECK(acceptance_of("top_beta", {{"top_beta", 2.0}, {"tolerance", 1.0}}, p, q) == 0.75);
  CHECK(verdict("top_beta", {{"top_beta", 1.0}}, p, q, 1) == 1.0);
  CHECK(verdict("top_beta", {{"top_beta", 1.0}}, p, q, 2) == 0.0);
}

TEST_CASE("top_beta never accepts what the target cannot emit, unless it judges by the drafter") {
  const std::vector<double> p{0.7, 0.3, 0.0};
  const std::vector<double> q{0.1, 0.1, 0.8};
  const RuleSettings wide{{"top_beta", 3.0}, {"tolerance", 1000.0}};
  CHECK(verdict("top_beta", wide, p, q, 2) == 0.0);
  // By the drafter: q(x) >= p(rank 2) = 0.3 and ln 0.7 - ln q(x) <= 1, that is q(x) >= 0.2575.
  const RuleSettings drafter{{"top_beta", 2.0}, {"tolerance", 1.0}, {"judged", 1.0}};
  CHECK(verdict("top_beta", drafter, p, q, 2) == 1.0);
  CHECK(verdict("top_beta", drafter, p, q, 0) == 0.0);
}

TEST_CASE("typical_acceptance requires min(epsilon, delta exp(-H)): by hand") {
  // H = ln 4 for four equal tokens: delta / 4 = 0.1 below epsilon 0.3. Zeros add nothing to H.
  const std::vector<double> flat{0.25, 0.25, 0.25, 0.25, 0.0};
  const std::vector<double> q(5, 0.2);
  CHECK(acceptance_of("typical_acceptance", {{"epsilon", 0.3}, {"delta", 0.4}}, flat, q) == Approx(0.8));
  CHECK(acceptance_of("typical_acceptance", {{"epsilon", 0.3}, {"delta", 1.1}}, flat, q) == 0.0);  // 0.275
  CHECK(acceptance_of("typical_acceptance", {{"epsilon", 0.2}, {"delta", 1.1}}, flat, q) == Approx(0.8));
  // H of (1/2, 1/4, 1/4) is 1.5 ln 2: delta 1 demands 2^-1.5 = 0.354.
  const std::vector<double> p{0.25, 0.5, 0.25};
  CHECK(verdict("typical_acceptance", {{"epsilon", 0.9}, {"delta", 1.0}}, p, {0.3, 0.3, 0.4}, 1) == 1.0);
  CHECK(verdict("typical_acceptance", {{"epsilon", 0.9}, {"delta", 1.0}}, p, {0.3, 0.3, 0.4}, 0) == 0.0);
  CHECK(verdict("typical_acceptance", {{"epsilon", 0.9}, {"delta", 0.70}}, p, {0.3, 0.3, 0.4}, 0) == 1.0);  // 0.2475
  CHECK(verdict("typical_acceptance", {{"epsilon", 0.25}, {"delta", 1.0}}, p, {0.3, 0.3, 0.4}, 0) == 0.0);  // p > only
  // delta 0 stands for the root of epsilon: 0.7746 * 0.354 = 0.274 above 1/4, 0.6325 * 0.354 = 0.224 below.
  CHECK(verdict("typical_acceptance", {{"epsilon", 0.6}}, p, {0.3, 0.3, 0.4}, 0) == 0.0);
  CHECK(verdict("typical_acceptance", {{"epsilon", 0.4}}, p, {0.3, 0.3, 0.4}, 0) == 1.0);
  CHECK(distribution_of("typical_acceptance", {{"epsilon", 0.9}, {"delta", 1.0}}, p, {0.3, 0.3, 0.4})[1] ==
        Approx(1.0));
}

TEST_CASE("typical_acceptance falls with epsilon and is greedy_match at temperature 0") {
  check_rising("typical_acceptance",
               {{{"epsilon", 0.99}}, {{"epsilon", 0.5}}, {{"epsilon", 0.1}}, {{"epsilon", 1e-6}}});
  check_rising(
      "typical_acceptance",
      {{{"epsilon", 0.5}, {"delta", 5.0}}, {{"epsilon", 0.5}, {"delta", 0.5}}, {{"epsilon", 0.5}, {"delta", 0.01}}});
  for (auto [p, q] : random_distributions()) {
    apply_temperature(p, 0.0);
    for (const double epsilon : {1e-6, 0.5, 0.999}) {
      CHECK(distribution_of("typical_acceptance", {{"epsilon", epsilon}}, p, q) ==
            distribution_of("greedy_match", {}, p, q));
      CHECK(acceptance_of("typical_acceptance", {{"epsilon", epsilon}}, p, q) ==
            acceptance_of("greedy_match", {}, p, q));
    }
  }
}

TEST_CASE("cascades by hand: they emit the target's token if they defer to it, else the drafter's") {
  // max p = 0.5, max q = 0.6, TV = 0.3.
  const std::vector<double> p{0.5, 0.3, 0.2};
  const std::vector<double> q{0.6, 0.0, 0.4};
  const auto deferred = [&](const std::string& rule, double margin) {
    const std::vector<double> emitted = distribution_of(rule, {{"margin", margin}}, p, q);
    for (std::size_t x = 0; x < p.size(); ++x) {
      const double expected = emitted[1] > 0.0 ? p[x] : q[x];
      CHECK(emitted[x] == Approx(expected).margin(tests::few_ulp));
    }
    return emitted[1] > 0.0;
  };
  CHECK(deferred("cascade_chow", 0.39));  // 0.6 < 1 - 0.39
  CHECK_FALSE(deferred("cascade_chow", 0.41));
  CHECK(deferred("cascade_diff", -0.11));  // 0.6 < 0.5 + 0.11
  CHECK_FALSE(deferred("cascade_diff", -0.09));
  CHECK(deferred("cascade_opt", -0.34));  // 0.6 < 0.5 + 0.34 * 0.3 = 0.602
  CHECK_FALSE(deferred("cascade_opt", -0.33));
  CHECK(verdict("cascade_chow", {{"margin", 0.41}}, p, q, 2) == 1.0);
  CHECK(verdict("cascade_chow", {{"margin", 0.39}}, p, q, 2) == Approx(0.5).epsilon(tests::few_ulp));
}

TEST_CASE("a cascade of margin -1 is rejection_sampling, and a larger margin never accepts less") {
  for (const char* rule : {"cascade_chow", "cascade_diff"}) {
    for (const auto& [p, q] : random_distributions()) {
      CHECK(acceptance_of(rule, {{"margin", -1.0}}, p, q) == acceptance_of("rejection_sampling", {}, p, q));
      const std::vector<double> emitted = distribution_of(rule, {{"margin", -1.0}}, p, q);
      for (std::size_t x = 0; x < p.size(); ++x) CHECK(emitted[x] == Approx(p[x]).margin(tests::few_ulp));
    }
    check_rising(rule, {{{"margin", -1.0}}, {{"margin", 0.0}}, {{"margin", 0.3}}, {{"margin", 1.0}}});
  }
  check_rising("cascade_opt", {{{"margin", -9.0}}, {{"margin", 0.0}}, {{"margin", 0.5}}, {{"margin", 1000.0}}});
  for (const auto& [p, q] : random_distributions()) {
    CHECK(acceptance_of("cascade_chow", {{"margin", 1.0}}, p, q) == Approx(1.0).epsilon(tests::few_ulp));
    CHECK(acceptance_of("cascade_diff", {{"margin", 1.0}}, p, q) == Approx(1.0).epsilon(tests::few_ulp));
  }
}

TEST_CASE("top_n_delta accepts within rank and gap: by hand") {
  const std::vector<double> p{0.10, 0.40, 0.20, 0.08, 0.22};
  const std::vector<double> q(5, 0.2);
  const auto accepted = [&](double n, double delta) {
    return certain("top_n_delta", {{"relaxed_topk", n}, {"relaxed_delta", delta}}, p, q);
  };
  CHECK(accepted(2, 1.0) == "01001");
  CHECK(accepted(3, 1.0) == "01101");
  CHECK(accepted(3, 0.19) == "01001");
  CHECK(accepted(5, 0.31) == "11101");
  CHECK(accepted(5, 1.0) == "11111");
  CHECK(accepted(5, 0.0) == "01000");
  CHECK(accepted(1, 1.0) == "01000");
  check_same_rule("top_n_delta", {{"relaxed_topk", 1.0}}, "greedy_match");
  CHECK(distribution_of("top_n_delta", {{"relaxed_topk", 2.0}, {"relaxed_delta", 1.0}}, p, q)[1] ==
        Approx(0.8).epsilon(tests::few_ulp));
  CHECK(verdict("top_n_delta", {{"relaxed_topk", 3.0}, {"relaxed_delta", 1.0}}, {0.7, 0.3, 0.0}, {0.1, 0.1, 0.8}, 2) ==
        0.0);
}

TEST_CASE("sglang_thresholds by hand: it uses only p, is lossless at 1 and 1, and accepts more below") {
  const std::vector<double> p{0.5, 0.3, 0.2, 0.0};
  const std::vector<double> q{0.1, 0.2, 0.6, 0.1};
  const auto at = [](double single, double cumulated) {
    return RuleSettings{{"threshold_single", single}, {"threshold_acc", cumulated}};
  };
  CHECK(verdict("sglang_thresholds", at(1.0, 1.0), p, q, 1) == 0.3);
  CHECK(verdict("sglang_thresholds", at(0.3, 1.0), p, q, 1) == 1.0);
  CHECK(verdict("sglang_thresholds", at(0.4, 0.6), p, q, 1) == Approx(0.5).epsilon(tests::few_ulp));
  CHECK(verdict("sglang_thresholds", at(1.0, 0.25), p, q, 1) == 1.0);
  // The rejected token is left out: of q = (0, 1) all of p / (1 - p(1)) is left, token 0.
  CHECK(distribution_of("sglang_thresholds", at(1.0, 1.0), {0.75, 0.25}, {0.0, 1.0})[0] == Approx(0.75));
  for (const auto& [target, draft] : random_distributions()) {
    const std::vector<double> emitted = distribution_of("sglang_thresholds", at(1.0, 1.0), target, draft);
    for (std::size_t x = 0; x < target.size(); ++x) CHECK(emitted[x] == Approx(target[x]).margin(tests::few_ulp));
    // The replacement is a mixture over rejected tokens, each of which is never its own replacement.
    std::vector<double> by_token(target.size(), 0.0);
    for (std::size_t x = 0; x < target.size(); ++x) {
      const double accepted = std::min(1.0, target[x] / 0.6);
      by_token[x] += draft[x] * accepted;
      for (std::size_t y = 0; y < target.size(); ++y) {
        if (y != x && target[x] < 1.0) by_token[y] += draft[x] * (1.0 - accepted) * target[y] / (1.0 - target[x]);
      }
    }
    const std::vector<double> relaxed = distribution_of("sglang_thresholds", at(1.0, 0.6), target, draft);
    for (std::size_t x = 0; x < target.size(); ++x)
      CHECK(relaxed[x] == Approx(by_token[x]).margin(tests::second_route));
  }
  check_rising("sglang_thresholds", {at(1.0, 1.0), at(1.0, 0.5), at(0.4, 0.5), at(0.4, 0.1), at(0.0, 0.1)});
}

TEST_CASE("accept_all emits the drafter's own distribution") {
  for (const auto& [p, q] : random_distributions()) {
    CHECK(acceptance_of("accept_all", {}, p, q) == Approx(1.0).epsilon(tests::few_ulp));
    const auto emitted = distribution_of("accept_all", {}, p, q);
    for (std::size_t x = 0; x < p.size(); ++x) CHECK(emitted[x] == Approx(q[x]).margin(tests::few_ulp));
  }
}

TEST_CASE("sigmoid_approximation compares sigmoids of scaled logits: by hand") {
  // sigma((z + 1) / 2) with z = ln p + ln 4: p = (1/4, 3/4) gives z = (0, ln 3), q the other way round.
  const std::vector<double> p{0.25, 0.75};
  const std::vector<double> q{0.75, 0.25};
  const RuleSettings settings{{"scale_low", -1.0}, {"scale_high", 1.0}, {"logit_shift", std::log(4.0)}};
  const double low = 1.0 / (1.0 + std::exp(-0.5));
  const double high = 1.0 / (1.0 + std::exp(-0.5 * (std::log(3.0) + 1.0)));
  CHECK(verdict("sigmoid_approximation", settings, p, q, 0) == Approx(low / high).epsilon(tests::few_ulp));
  CHECK(verdict("sigmoid_approximation", settings, p, q, 1) == 1.0);
  CHECK(distribution_of("sigmoid_approximation", settings, p, q)[0] ==
        Approx(0.75 * low / high).epsilon(tests::few_ulp));
  CHECK(verdict("sigmoid_approximation", settings, {0.0, 1.0}, q, 0) == 0.0);
}

TEST_CASE("a narrow sigmoid far below zero is rejection_sampling, a wide one accepts everything") {
  // For large negative t, sigma(t) = e^t; with b - a = 1 it is p times a constant, which ratios and residuals lose.
  const RuleSettings narrow{{"scale_low", 30.0}, {"scale_high", 31.0}};
  const RuleSettings wide{{"scale_low", -1e6}, {"scale_high", 1e6}};
  for (const auto& [p, q] : random_distributions()) {
    const auto emitted = distribution_of("sigmoid_approximation", narrow, p, q);
    for (std::size_t x = 0; x < p.size(); ++x) CHECK(emitted[x] == Approx(p[x]).margin(tests::second_route));
    double in_support = 0.0;
    for (std::size_t x = 0; x < p.size(); ++x) in_support += p[x] > 0.0 ? q[x] : 0.0;
    CHECK(acceptance_of("sigmoid_approximation", wide, p, q) == Approx(in_support).epsilon(1e-5));
  }
}

TEST_CASE("sigmoids in 32 and in 16 bits are those of 64 bits to the precision of the format") {
  RuleSettings settings{{"scale_low", -2.0}, {"scale_high", 2.0}, {"logit_shift", 3.0}};
  bool differs = false;
  for (const auto& [p, q] : random_distributions()) {
    settings["bits"] = 64.0;
    const double exact = acceptance_of("sigmoid_approximation", settings, p, q);
    settings["bits"] = 32.0;
    CHECK(acceptance_of("sigmoid_approximation", settings, p, q) == Approx(exact).epsilon(tests::single_precision));
    differs = differs || acceptance_of("sigmoid_approximation", settings, p, q) != exact;
    settings["bits"] = 16.0;
    CHECK(acceptance_of("sigmoid_approximation", settings, p, q) == Approx(exact).epsilon(3e-3));
  }
  CHECK(differs);
  // Halves by hand: ln 0.7 = -0.35667 rounds to -0.356689..., a ratio of such numbers is a multiple of 2^-11 near 1.
  settings["bits"] = 16.0;
  const double ratio = verdict("sigmoid_approximation", settings, {0.3, 0.7}, {0.31, 0.69}, 0);
  CHECK(ratio == round_to_half(ratio));
  CHECK((ratio > 0.98 && ratio < 1.0));
}

TEST_CASE("in 16 bits a wide scale makes all sigmoids equal, so everything is accepted and no residual remains") {
  // Halves near a = -30,000 are 16 apart: z - a is the same for all logits here.
  const RuleSettings settings{{"scale_low", -30'000.0}, {"scale_high", 30'000.0}, {"bits", 16.0}};
  const std::vector<double> p{0.9, 0.06, 0.04};
  const std::vector<double> q{0.1, 0.5, 0.4};
  CHECK(acceptance_of("sigmoid_approximation", settings, p, q) == 1.0);
  std::vector<double> residual(3);
  tests::make_named_rule("sigmoid_approximation", settings)->replacement({.target = p, .draft = q}, residual);
  CHECK(residual == p);
}

TEST_CASE("scaling constants out of order, beyond the format or of an odd width are rejected") {
  const auto rejected = [](const RuleSettings& settings, const std::string& message) {
    CHECK_THROWS_WITH(tests::make_named_rule("sigmoid_approximation", settings), Catch::StartsWith(message));
    CHECK_THROWS_AS(tests::make_named_rule("sigmoid_approximation", settings), DomainError);
  };
  rejected({{"scale_low", 10.0}}, "invalid rule.scale_low=10 (must be below rule.scale_high=10 in 64 bits)");
  rejected({{"scale_low", 1000.1}, {"scale_high", 1000.2}, {"bits", 16.0}},
           "invalid rule.scale_low=1000.1 (must be below rule.scale_high=1000.2 in 16 bits)");
  rejected({{"scale_low", -1e5}, {"bits", 16.0}},
           "invalid rule.scale_low=-100000 (must lie within 65504 of 0 in 16 bits)");
  rejected({{"scale_high", 1e5}, {"bits", 16.0}},
           "invalid rule.scale_high=100000 (must lie within 65504 of 0 in 16 bits)");
  rejected({{"bits", 24.0}}, "invalid rule.bits=24 (must be 16, 32 or 64)");
}

// 20,000 iterations of two contexts: a standard error of at most 0.003.
TEST_CASE("over a grid of parameters, limits included, every rule is simulated with the acceptance of its formulas") {
  const std::vector<std::pair<std::string, std::vector<RuleSettings>>> grid{
      {"lenient", {{{"lenience", 1e-300}}, {{"lenience", 0.25}}, {{"lenience", 0.75}}, {{"lenience", 1.0}}}},
      {"top_beta",
       {{{"top_beta", 1.0}, {"tolerance", 1000.0}},
        {{"top_beta", 5.0}, {"tolerance", 0.0}},
        {{"top_beta", 5.0}, {"tolerance", 1000.0}},
        {{"top_beta", 2.0}, {"tolerance", 1.0}},
        {{"top_beta", 5.0}, {"tolerance", 0.5}, {"judged", 1.0}}}},
      {"typical_acceptance",
       {{{"epsilon", 1e-300}}, {{"epsilon", 0.15}}, {{"epsilon", 0.6}, {"delta", 0.4}}, {{"epsilon", 1 - 1e-16}}}},
      {"sigmoid_approximation",
       {{{"scale_low", -1e6}, {"scale_high", 1e6}},
        {{"scale_low", 30.0}, {"scale_high", 31.0}},
        {{"scale_low", -1.0}, {"scale_high", 1.0}, {"bits", 16.0}},
        {{"scale_low", -1.0}, {"scale_high", 1.0}, {"bits", 32.0}, {"logit_shift", -1e6}}}},
      {"accept_all", {{}}},
      {"cascade_chow", {{{"margin", -1.0}}, {{"margin", 0.55}}, {{"margin", 1.0}}}},
      {"cascade_diff", {{{"margin", -1.0}}, {{"margin", 0.0}}, {{"margin", 1.0}}}},
      {"cascade_opt", {{{"margin", -1000.0}}, {{"margin", 0.1}}, {{"margin", 1000.0}}}},
      {"k_seq", {{{"candidates", 1.0}}, {{"candidates", 3.0}}, {{"candidates", 1024.0}}}},
      {"sglang_thresholds",
       {{{"threshold_single", 1.0}}, {{"threshold_single", 0.0}}, {{"threshold_single", 1.0}, {"threshold_acc", 0.3}}}},
      {"top_n_delta", {{{"relaxed_topk", 1.0}}, {{"relaxed_topk", 3.0}, {"relaxed_delta", 0.15}}}}};
  const SyntheticModels pair = tests::small_pair();
  for (const auto& [rule, settings] : grid) {
    for (const RuleSettings& setting : settings) {
      for (const Models& models : {Models{tests::given(tests::three_contexts())}, Models{pair}}) {
        CAPTURE(rule, setting);
        tests::Simulation simulation = tests::simulation_of(models, 3, 20'000);
        simulation.token().rule = scenario::make_rule(rule, setting);
        const auto simulator = tests::simulator_of(simulation, 5);
        const double simulated = acceptance(run(*simulator, {.seed = 8, .point = 0}, 1)).per_token.mean;
        const double expected = expected_acceptance(*simulator);
        // Each iteration tests at least one draft.
        const double error = std::sqrt(std::max(0.0, expected * (1.0 - expected)) / 20'000);
        CHECK(std::abs(simulated - expected) <= tests::standard_errors * error + tests::second_route);
      }
    }
  }
}

}  // namespace foredraft::sim
