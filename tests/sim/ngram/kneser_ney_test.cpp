// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>

#include "sim/ngram/model.hpp"
#include "tests/sim/ngram/generated_text.hpp"
#include "tests/sim/ngram/reference_model.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::ngram {
namespace {

using Documents = std::vector<std::vector<Token>>;
using tests::ReferenceModel;

Documents small_corpus() { return tests::generated_documents(tests::generated_vocabulary, 30, 1); }

std::vector<double> distribution(const Model& model, const std::vector<Token>& context) {
  std::vector<double> p(static_cast<std::size_t>(model.vocabulary()));
  model.distribution(context, p);
  return p;
}

/// All contexts of the training text, and as many random ones, most of them unseen: longer than the context of any
/// model, with ends of documents inside.
std::vector<std::vector<Token>> seen_and_random_contexts(const ReferenceModel& reference) {
  std::vector<std::vector<Token>> contexts(reference.contexts().begin(), reference.contexts().end());
  RandomStream random(5, {Purpose::test, 0, 0});
  for (std::size_t i = contexts.size(); i-- > 0;) {
    std::vector<Token> context(random.next_u32() % 8U);
    for (Token& token : context) token = static_cast<Token>(random.next_u32() % tests::generated_vocabulary);
    contexts.push_back(context);
  }
  return contexts;
}

}  // namespace

TEST_CASE("probabilities follow the definition, are positive and sum to one, in seen and unseen contexts", "[long]") {
  std::vector<Window> windows{head_window(2, 2),  head_window(3, 5),  head_window(5, 3),  head_window(2, max_heads),
                              stage_window(1, 3), stage_window(2, 2), stage_window(3, 4), stage_window(4, 2)};
  for (int order = 1; order <= max_order; ++order) windows.push_back(adjacent_window(order));
  for (const Window& window : windows) {
    const auto model = Model::train(small_corpus(), tests::generated_vocabulary, window);
    const ReferenceModel reference(small_corpus(), tests::generated_vocabulary, window);
    if (window.order() > 2) REQUIRE(reference.estimated_discounts(static_cast<std::size_t>(window.order())));
    double worst = 0.0;
    double worst_sum = 0.0;
    double smallest = 1.0;
    for (const auto& context : seen_and_random_contexts(reference)) {
      double sum = 0.0;
      for (Token token = 0; token < tests::generated_vocabulary; ++token) {
        const double p = model->probability(context, token);
        worst = std::max(worst, std::abs(p / reference.probability(context, token) - 1.0));
        smallest = std::min(smallest, p);
        sum += p;
      }
      worst_sum = std::max(worst_sum, std::abs(sum - 1.0));
    }
    CAPTURE(window.distances);
    CHECK(worst < tests::second_route);
    CHECK(worst_sum < tests::few_ulp);
    CHECK(smallest > 0.0);
  }
}

TEST_CASE("the window of a head skips the tokens between, that of a stage all but the nearest") {
  using Distances = std::vector<int>;
  CHECK(adjacent_window(4).distances == Distances{1, 2, 3});
  CHECK(head_window(4, 3).distances == Distances{3, 4, 5});
  CHECK(stage_window(4, 3).distances == Distances{1, 3, 4, 5});
  CHECK(stage_window(1, 3).distances == Distances{1});
  for (int order = 1; order < max_order; ++order) {
    CHECK(head_window(order, 1).distances == adjacent_window(order).distances);
    CHECK(stage_window(order, 1).distances == adjacent_window(order).distances);
    // At the second position a stage depends on all of the last tokens.
    CHECK(stage_window(order, 2).distances == adjacent_window(order + 1).distances);
  }
}

TEST_CASE("a head learns the token two positions back, across the end of a document, too") {
  // Text <end> 2 3 <end> 2 4 <end>: two places after 2 there is always <end>; two places after <end> there are 3 and 4.
  const auto model = Model::train(Documents{{2, 3}, {2, 4}}, 5, head_window(2, 2));
  CHECK(model->argmax(std::vector<Token>{2}) == end_of_document);
  CHECK(model->probability(std::vector<Token>{3}, 2) > model->probability(std::vector<Token>{3}, 4));
  CHECK(model->probability(std::vector<Token>{end_of_document}, 3) ==
        model->probability(std::vector<Token>{end_of_document}, 4));
}

TEST_CASE("a worked example: shorter contexts count predecessors, not occurrences") {
  // Text <end> 2 3 <end> 2 3 <end> 2 3 <end> 4 <end>; discounts 1/2, 1, 3/2 because the counts of counts do not allow
  // estimates.
  const Documents documents{{2, 3}, {2, 3}, {}, {2, 3}, {4}};
  const auto model = Model::train(documents, 5, 2);
  const std::vector<Token> nothing;
  // One predecessor each for 2, 3 and 4, two for <end>; a half of the mass goes to the uniform distribution.
  CHECK(model->probability(nothing, 0) == Approx(0.1).epsilon(tests::few_ulp));
  CHECK(model->probability(nothing, 1) == Approx(0.3).epsilon(tests::few_ulp));
  CHECK(model->probability(nothing, 2) == Approx(0.2).epsilon(tests::few_ulp));
  const std::vector<Token> begin{end_of_document};
  CHECK(model->probability(begin, 2) == Approx((3 - 1.5) / 4 + 0.5 * 0.2).epsilon(tests::few_ulp));
  CHECK(model->probability(begin, 4) == Approx((1 - 0.5) / 4 + 0.5 * 0.2).epsilon(tests::few_ulp));
  CHECK(model->probability(begin, 3) == Approx(0.5 * 0.2).epsilon(tests::few_ulp));
}

TEST_CASE("no context extends beyond the end of a document") {
  const auto model = Model::train(small_corpus(), tests::generated_vocabulary, 4);
  const std::vector<Token> begin{end_of_document};
  for (Token before = 2; before < tests::generated_vocabulary; ++before) {
    CHECK(distribution(*model, {before, before, end_of_document}) == distribution(*model, begin));
    CHECK(distribution(*model, {before, end_of_document, 3}) == distribution(*model, {end_of_document, 3}));
  }
  // Documents one by one, or in one sequence with the marker between them: the same model.
  std::vector<Token> joined{end_of_document};
  for (const auto& document : small_corpus()) {
    joined.insert(joined.end(), document.begin(), document.end());
    joined.push_back(end_of_document);
  }
  const auto again = Model::train(Documents{joined}, tests::generated_vocabulary, 4);
  for (const auto& context :
       seen_and_random_contexts(ReferenceModel(small_corpus(), tests::generated_vocabulary, adjacent_window(4)))) {
    REQUIRE(distribution(*again, context) == distribution(*model, context));
  }
}

TEST_CASE("the whole distribution has the bits of the single probabilities") {
  const auto model = Model::train(small_corpus(), tests::generated_vocabulary, max_order);
  for (const auto& context : seen_and_random_contexts(
           ReferenceModel(small_corpus(), tests::generated_vocabulary, adjacent_window(max_order)))) {
    std::vector<double> single;
    for (Token token = 0; token < tests::generated_vocabulary; ++token)
      single.push_back(model->probability(context, token));
    REQUIRE(distribution(*model, context) == single);
  }
}

TEST_CASE("argmax is the first of the most probable tokens in seen and unseen contexts of every order") {
  for (int order = 1; order <= max_order; ++order) {
    const auto model = Model::train(small_corpus(), tests::generated_vocabulary, order);
    for (const auto& context : seen_and_random_contexts(
             ReferenceModel(small_corpus(), tests::generated_vocabulary, adjacent_window(order)))) {
      const auto p = distribution(*model, context);
      REQUIRE(model->argmax(context) == std::max_element(p.begin(), p.end()) - p.begin());
    }
  }
}

TEST_CASE("argmax can be a token that never followed the context") {
  // 3 follows `x 2` for 37 tokens x, 5 follows `47 2` once: so rarely that the shorter context `2` decides. Because of
  // frequencies 1, 2, 3 and 4, the discounts can be estimated.
  Documents documents{{47, 2, 5}};
  for (Token x = 10; x < 47; ++x) {
    const int times = x < 40 ? 1 : (x < 44 ? 2 : (x < 46 ? 3 : 4));
    for (int i = 0; i < times; ++i) documents.push_back({x, 2, 3});
  }
  const auto model = Model::train(documents, 50, 3);
  CHECK(model->argmax(std::vector<Token>{47, 2}) == 3);
  const ReferenceModel reference(documents, 50, adjacent_window(3));
  for (const auto& context : reference.contexts()) {
    const auto p = distribution(*model, context);
    REQUIRE(model->argmax(context) == std::max_element(p.begin(), p.end()) - p.begin());
  }
}

TEST_CASE("argmax takes the lower token of two with equal counts, whichever came first") {
  for (const Documents& documents : {Documents{{2}, {3}}, Documents{{3}, {2}}}) {
    const auto model = Model::train(documents, 4, 3);
    const std::vector<Token> begin{end_of_document};
    REQUIRE(model->probability(begin, 2) == model->probability(begin, 3));
    CHECK(model->argmax(begin) == 2);
  }
}

TEST_CASE("sampled tokens follow the distribution in seen and unseen contexts") {
  // 30,000 draws per context detect an error of 0.02 in a probability of 0.25: about 50 units of chi-squared.
  const std::vector<std::vector<Token>> contexts{{}, {1}, {7}, {3, 4}, {1, 9, 9}, {0, 0, 0, 0}, {5, 1}};
  constexpr std::int64_t draws = 30'000;
  std::uint64_t stream = 0;
  for (const int order : {1, 2, 5}) {
    const auto model = Model::train(small_corpus(), tests::generated_vocabulary, order);
    for (const auto& context : contexts) {
      RandomStream random(11, {Purpose::test, 0, ++stream});
      std::vector<std::int64_t> observed(tests::generated_vocabulary, 0);
      for (std::int64_t i = 0; i < draws; ++i) ++observed[static_cast<std::size_t>(model->sample(context, random))];
      std::vector<double> expected = distribution(*model, context);
      for (double& e : expected) e *= static_cast<double>(draws);
      INFO("order " << order << " stream " << stream);
      CHECK(tests::chi_squared_p_value(observed, expected) > tests::level_of_one(3 * contexts.size()));
    }
  }
}

TEST_CASE("discounts follow the counts of counts, and are fixed if these do not allow it") {
  // t = 4, 2, 1, 1: Y = 1/2.
  const std::vector<std::uint32_t> counts{1, 1, 1, 1, 2, 2, 3, 4, 9};
  const Discounts discounts = estimate_discounts(counts);
  CHECK(discounts(1) == Approx(0.5).epsilon(tests::few_ulp));
  CHECK(discounts(2) == Approx(1.25).epsilon(tests::few_ulp));
  CHECK(discounts(3) == Approx(1.0).epsilon(tests::few_ulp));
  CHECK(discounts(4) == discounts(3));
  const std::array<double, 3> fixed{0.5, 1.0, 1.5};
  CHECK(estimate_discounts(std::vector<std::uint32_t>{1, 1, 2, 3, 9}).of == fixed);              // no 4
  CHECK(estimate_discounts(std::vector<std::uint32_t>{2, 2, 3, 4}).of == fixed);                 // no 1
  CHECK(estimate_discounts(std::vector<std::uint32_t>{1, 1, 1, 2, 3, 3, 3, 3, 4}).of == fixed);  // D_2 < 0
  CHECK(estimate_discounts({}).of == fixed);
}

TEST_CASE("training rejects what it cannot learn from, and names it") {
  const Documents good{{2, 3}};
  CHECK_THROWS_WITH(Model::train(good, 4, 0), Catch::Contains("order=0"));
  CHECK_THROWS_WITH(Model::train(good, 4, 6), Catch::Contains("order=6"));
  CHECK_THROWS_WITH(Model::train(good, 4, Window{{1, 2, 3, 4, 5}}), Catch::Contains("order=6"));
  CHECK_THROWS_WITH(Model::train(good, 4, Window{{2, 2}}), Catch::Contains("distances=2 2 (must increase from 1 on)"));
  CHECK_THROWS_WITH(Model::train(good, 4, Window{{0, 1}}), Catch::Contains("distances=0 1"));
  CHECK_THROWS_WITH(head_window(0, 1), Catch::Contains("order=0"));
  CHECK_THROWS_WITH(head_window(6, 1), Catch::Contains("order=6"));
  CHECK_THROWS_WITH(head_window(2, 0), Catch::Contains("position=0"));
  CHECK_THROWS_WITH(head_window(2, max_heads + 1), Catch::Contains("position=17"));
  CHECK_THROWS_WITH(stage_window(5, 1), Catch::Contains("order=5"));
  CHECK_THROWS_WITH(stage_window(2, 0), Catch::Contains("position=0"));
  CHECK_THROWS_WITH(Model::train(good, 3, 2), Catch::Contains("token=3"));
  CHECK_THROWS_WITH(Model::train(Documents{{-1}}, 3, 2), Catch::Contains("token=-1"));
  CHECK_THROWS_WITH(Model::train(Documents{}, 4, 2), Catch::Contains("corpus=empty"));
  CHECK_THROWS_WITH(Model::train(Documents{{}, {end_of_document}}, 4, 2), Catch::Contains("corpus=empty"));
}

}  // namespace foredraft::ngram
