// SPDX-License-Identifier: Apache-2.0
#include "sim/ngram/speculation.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <tuple>

#include "tests/sim/ngram/generated_text.hpp"
#include "tests/support/statistics.hpp"

namespace foredraft::ngram {
namespace {

constexpr std::int64_t enumerated_vocabulary = 6;

std::shared_ptr<const Model> target_of(int order) {
  return Model::train(tests::generated_documents(enumerated_vocabulary, 40, 1), enumerated_vocabulary, order);
}

/// Trained on little and other text, so that it differs from the target everywhere.
std::shared_ptr<const Model> drafter_of(int order) {
  return Model::train(tests::generated_documents(enumerated_vocabulary, 3, 2), enumerated_vocabulary, order);
}

Drafter heads_of(int order, int count) {
  std::vector<std::shared_ptr<const Model>> models;
  const auto documents = tests::generated_documents(enumerated_vocabulary, 3, 2);
  for (int i = 1; i <= count; ++i)
    models.push_back(Model::train(documents, enumerated_vocabulary, head_window(order, i)));
  return heads(models);
}

Drafter stages_of(int order, int count) {
  std::vector<std::shared_ptr<const Model>> models;
  const auto documents = tests::generated_documents(enumerated_vocabulary, 3, 2);
  for (int i = 1; i <= count; ++i)
    models.push_back(Model::train(documents, enumerated_vocabulary, stage_window(order, i)));
  return stages(models);
}

/// The first `count` tokens after `context` that speculative decoding emits, by as many iterations as it takes.
std::vector<Token> speculated(const Speculation& models, std::int64_t gamma, Convention convention,
                              const std::vector<Token>& context, std::size_t count, SpeculationStreams& streams) {
  std::vector<Token> text = context;
  while (text.size() < context.size() + count) iterate(models, gamma, convention, text, streams);
  return {text.begin() + static_cast<std::ptrdiff_t>(context.size()),
          text.begin() + static_cast<std::ptrdiff_t>(context.size() + count)};
}

/// Expected number of each triple of tokens after `context` in `trials` texts of the model by itself.
std::vector<double> expected_triples(const Model& model, const std::vector<Token>& context, double trials) {
  std::vector<double> expected;
  for (Token x = 0; x < enumerated_vocabulary; ++x) {
    for (Token y = 0; y < enumerated_vocabulary; ++y) {
      for (Token z = 0; z < enumerated_vocabulary; ++z) {
        std::vector<Token> text = context;
        double p = trials;
        for (const Token token : {x, y, z}) {
          p *= model.probability(text, token);
          text.push_back(token);
        }
        expected.push_back(p);
      }
    }
  }
  return expected;
}

}  // namespace

TEST_CASE("speculative decoding emits triples of tokens with the target's own joint distribution", "[long]") {
  // 30,000 texts each. The smallest detected defect moves 3 % of the mass of the second token to one of probability
  // 0.2: about 130 units of chi-squared.
  constexpr std::int64_t trials = 30'000;
  const auto target = target_of(3);
  const std::vector<std::vector<Token>> contexts{{end_of_document}, {2, 4}, {5, 3}};
  const std::vector<std::tuple<Drafter, std::int64_t, Convention>> cases{
      {ngram_drafter(drafter_of(1)), 1, Convention::bonus},
      {ngram_drafter(drafter_of(1)), 3, Convention::bonus},
      {ngram_drafter(drafter_of(2)), 1, Convention::bonus},
      {ngram_drafter(drafter_of(2)), 2, Convention::bonus},
      {ngram_drafter(drafter_of(2)), 4, Convention::no_bonus},
      {ngram_drafter(drafter_of(2)), 1, Convention::no_bonus},
      {heads_of(2, 3), 3, Convention::bonus},
      {heads_of(3, 4), 4, Convention::no_bonus},
      {stages_of(1, 3), 3, Convention::no_bonus},
      {stages_of(2, 3), 3, Convention::bonus}};
  std::uint64_t block = 0;
  for (const auto& [drafter, gamma, convention] : cases) {
    const Speculation models = make_speculation(target, drafter, 1.0, gamma);
    for (const auto& context : contexts) {
      SpeculationStreams streams(3, 0, ++block);
      std::vector<std::int64_t> observed(enumerated_vocabulary * enumerated_vocabulary * enumerated_vocabulary, 0);
      for (std::int64_t i = 0; i < trials; ++i) {
        const auto emitted = speculated(models, gamma, convention, context, 3, streams);
        ++observed[static_cast<std::size_t>((emitted[0] * enumerated_vocabulary + emitted[1]) * enumerated_vocabulary +
                                            emitted[2])];
      }
      INFO("sight " << static_cast<int>(drafter.sight) << ", gamma " << gamma << ", " << to_string(convention)
                    << ", case " << block);
      const auto expected = expected_triples(*target, context, static_cast<double>(trials));
      CHECK(tests::chi_squared_p_value(observed, expected) > tests::level_of_one(cases.size() * contexts.size()));
    }
  }
}

TEST_CASE("an iteration accepts the drafts that it keeps and adds one token of the target") {
  const auto target = target_of(3);
  const auto draft = drafter_of(2);
  SpeculationStreams streams(3, 1, 0);
  const Speculation models = make_speculation(target, ngram_drafter(draft), 1.0, 3);
  std::vector<Token> text{end_of_document};
  std::vector<std::int64_t> accepted_counts(4, 0);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t before = text.size();
    const std::int64_t accepted = iterate(models, 3, Convention::bonus, text, streams);
    REQUIRE(text.size() == before + static_cast<std::size_t>(accepted) + 1);
    ++accepted_counts[static_cast<std::size_t>(accepted)];
  }
  for (const std::int64_t count : accepted_counts) CHECK(count > 0);
  std::vector<Token> without_bonus{end_of_document};
  const Speculation itself = make_speculation(target, ngram_drafter(target), 1.0, 3);
  CHECK(iterate(itself, 3, Convention::no_bonus, without_bonus, streams) == 3);
  CHECK(without_bonus.size() == 4);
  CHECK(iterate(itself, 0, Convention::bonus, without_bonus, streams) == 0);
  CHECK(without_bonus.size() == 5);
}

TEST_CASE("drafts, verifications, corrections and bonus tokens of every text read separate random numbers") {
  std::set<std::uint64_t> first_words;
  for (const std::uint64_t point : {0U, 1U}) {
    for (const std::uint64_t block : {0U, 1U}) {
      SpeculationStreams streams(3, point, block);
      for (RandomStream* stream : {&streams.draft, &streams.accept, &streams.replacement, &streams.bonus}) {
        first_words.insert(stream->next_u64());
      }
    }
  }
  CHECK(first_words.size() == 16);
}

TEST_CASE("at temperature 0 the emitted text is the target's greedy text, token for token") {
  const auto target = target_of(4);
  RandomStream random(4, {Purpose::test, 0, 0});
  for (const Drafter& drafter : {ngram_drafter(drafter_of(1)), ngram_drafter(drafter_of(2)),
                                 ngram_drafter(drafter_of(3)), heads_of(2, 5), stages_of(2, 5)}) {
    const Speculation models = make_speculation(target, drafter, 0.0, 5);
    SpeculationStreams streams(3, 2, 0);
    std::int64_t accepted = 0;
    std::int64_t drafted = 0;
    for (int prompt = 0; prompt < 50; ++prompt) {
      std::vector<Token> text{end_of_document};
      for (int i = 0; i < 10; ++i) text.push_back(target->sample(text, random));
      std::vector<Token> greedy = text;
      const std::int64_t gamma = 1 + prompt % 5;
      for (int i = 0; i < 8; ++i) {
        accepted += iterate(models, gamma, Convention::bonus, text, streams);
        drafted += gamma;
      }
      while (greedy.size() < text.size()) greedy.push_back(target->argmax(greedy));
      REQUIRE(text == greedy);
    }
    CHECK(accepted > 0);
    CHECK(accepted < drafted);
  }
}

TEST_CASE("a drafter equal to the target is always accepted") {
  const auto target = target_of(4);
  for (const double temperature : {0.0, 1.0}) {
    const Speculation models = make_speculation(target, ngram_drafter(target), temperature, 4);
    SpeculationStreams streams(3, 3, 0);
    std::vector<Token> text{end_of_document};
    for (int i = 0; i < 500; ++i) REQUIRE(iterate(models, 4, Convention::bonus, text, streams) == 4);
  }
}

TEST_CASE("a drafter is rejected without a model for each draft or with one of another vocabulary") {
  const auto target = target_of(2);
  CHECK_THROWS_WITH(make_speculation(target, heads_of(2, 3), 1.0, 4),
                    Catch::Contains("gamma=4 (must be at most the number of models that draft, 3)"));
  CHECK_THROWS_WITH(make_speculation(target, stages_of(2, 1), 1.0, 2), Catch::Contains("gamma=2"));
  CHECK_THROWS_WITH(make_speculation(target, heads({}), 1.0, 0), Catch::Contains("gamma=0"));
  CHECK_THROWS_WITH(make_speculation(target, heads({target, nullptr}), 1.0, 2), Catch::Contains("models=null"));
  const auto other = Model::train(tests::generated_documents(7, 3, 2), 7, head_window(2, 2));
  CHECK_THROWS_WITH(make_speculation(target, stages({target, other}), 1.0, 2), Catch::Contains("draft.vocabulary=7"));
}

}  // namespace foredraft::ngram
