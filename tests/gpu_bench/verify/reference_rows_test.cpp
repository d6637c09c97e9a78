// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/reference.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/random_stream.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

constexpr double no_mass = -std::numeric_limits<double>::infinity();

/// Three rows of four tokens: the most probable are 2, 0 (tied with 3) and 1.
const std::vector<double> three_rows{0.0, 1.0, 3.0, 2.0, 5.0, 1.0, 0.0, 5.0, 0.0, 4.0, 1.0, 1.0};

ReferenceRequest request_of(std::span<const std::int32_t> drafts, std::span<const double> rows = three_rows) {
  return {.target_logits = rows,
          .draft_logits = {},
          .drafts = drafts,
          .vocabulary = 4,
          .draws = draw_stream(3, 0, 0),
          .request = 0};
}

using Tokens = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("the greedy reference emits most probable tokens, of tied ones the first") {
  CHECK(reference_greedy_match(request_of(Tokens{2, 0})).tokens == Tokens{2, 0, 1});
  CHECK(reference_greedy_match(request_of(Tokens{2, 3})).tokens == Tokens{2, 0});
  CHECK(reference_greedy_match(request_of(Tokens{0, 0})).tokens == Tokens{2});
  CHECK(reference_greedy_match(request_of(Tokens{})).tokens == Tokens{2});
  CHECK(reference_greedy_match(request_of(Tokens{2, 4})).tokens == Tokens{2, 0});  // outside the vocabulary: no draft
  CHECK(reference_greedy_match(request_of(Tokens{2, 0})).margin > 1e300);
}

TEST_CASE("the top-beta reference accepts tied tokens of its rank, within the tolerance") {
  const auto tokens = [](const Tokens& drafts, const TopBeta& rule) {
    return reference_top_beta(request_of(drafts), rule).tokens;
  };
  CHECK(tokens({3, 3}, {.top_beta = 2, .tolerance = 1.0}) == Tokens{3, 3, 1});
  CHECK(tokens({3, 1}, {.top_beta = 2, .tolerance = 9.0}) == Tokens{3, 0});  // two are larger than token 1
  CHECK(tokens({3, 3}, {.top_beta = 2, .tolerance = 0.9}) == Tokens{2});
  CHECK(tokens({2, 3}, {.top_beta = 1, .tolerance = 9.0}) == Tokens{2, 0});
  const double p = std::exp(2.0) / (std::exp(0.0) + std::exp(1.0) + std::exp(2.0) + std::exp(3.0));
  CHECK(std::abs(reference_top_beta(request_of(Tokens{3}), {.top_beta = 2, .tolerance = 1.5}).margin - 0.5 * p) <
        foredraft::tests::few_ulp);
}

TEST_CASE("the typical-acceptance reference compares with exp(-entropy) below epsilon") {
  const std::vector<double> rows{std::log(0.5), std::log(0.25), std::log(0.25), no_mass, 0.0, 0.0, 0.0, 0.0};
  const double factor = std::exp(-1.5 * std::log(2.0));  // of an entropy of 1.5 bit
  const auto judged = [&rows](double epsilon, double delta) {
    return reference_typical_acceptance(request_of(Tokens{1}, rows), {.epsilon = epsilon, .delta = delta});
  };
  CHECK(judged(0.9, 0.24 / factor).tokens == Tokens{1, 0});
  CHECK(judged(0.9, 0.26 / factor).tokens == Tokens{0});
  CHECK(judged(0.24, 0.9 / factor).tokens == Tokens{1, 0});
  CHECK(std::abs(judged(0.9, 0.24 / factor).margin - 0.01) < foredraft::tests::few_ulp);
}

TEST_CASE("a tree's reference follows the first child that holds the token, and no further than there are children") {
  // The rows select 2, then token 0 at node 1 and token 1 at node 2; both children of the root hold 2.
  const std::vector<std::int32_t> parents{0, 0};
  const auto walked = [&parents](const Tokens& tokens) {
    return reference_tree_greedy({.target_logits = three_rows,
                                  .node_tokens = tokens,
                                  .parents = parents,
                                  .vocabulary = 4,
                                  .draws = draw_stream(3, 0, 0),
                                  .request = 0})
        .tokens;
  };
  CHECK(walked({no_token, 2, 2}) == Tokens{2, 0});
  CHECK(walked({no_token, 1, 2}) == Tokens{2, 1});
  CHECK(walked({no_token, 1, 3}) == Tokens{2});
}

TEST_CASE("the sampled tree's reference draws by inverse CDF, one draw a node") {
  const std::vector<double> rows{std::log(0.5), std::log(0.25), no_mass, std::log(0.25),
                                 std::log(0.2), std::log(0.3),  no_mass, std::log(0.5)};
  const auto inverse = [](double u, double first, double second) { return u < first ? 0 : u < first + second ? 1 : 3; };
  const std::vector<std::int32_t> parents{0};
  bool walked = false;
  for (unsigned request = 0; request < 20; ++request) {
    RandomStream stream(3, {.purpose = Purpose::replacement, .point = request, .block = 7});
    const double draw = stream.uniform();
    const std::int32_t root = inverse(draw, 0.5, 0.25);
    stream.seek(1);
    const std::int32_t after = inverse(stream.uniform(), 0.2, 0.3);
    const Tokens tokens{no_token, 1};
    const auto got = reference_tree_sampled({.target_logits = rows,
                                             .node_tokens = tokens,
                                             .parents = parents,
                                             .vocabulary = 4,
                                             .draws = draw_stream(3, 0, 7),
                                             .request = request});
    CHECK(got.tokens == (root == 1 ? Tokens{root, after} : Tokens{root}));
    if (root == 0) CHECK(std::abs(got.margin - (0.5 - draw)) < foredraft::tests::few_ulp);
    walked = walked || root == 1;
  }
  CHECK(walked);
}

}  // namespace foredraft::gpu_bench::tests
