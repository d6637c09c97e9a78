// SPDX-License-Identifier: Apache-2.0
// Prompt lookup before a draft model: the emitted distribution against the target's, yields against those of the model
// alone, and the passes that copies save.
#include <catch2/catch.hpp>
#include <functional>
#include <vector>

#include "sim/estimates.hpp"
#include "sim/ngram/speculation.hpp"
#include "sim/token/models/model_pair.hpp"
#include "tests/sim/ngram/exact_chain.hpp"
#include "tests/sim/ngram/generated_text.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/simulation.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::ngram {
namespace {

constexpr std::int64_t small_vocabulary = 6;

std::shared_ptr<const Model> model_of(std::int64_t vocabulary, int documents, std::uint64_t seed, int order) {
  return Model::train(tests::generated_documents(vocabulary, documents, seed), vocabulary, order);
}

/// A target and a drafter trained on little and other text, so that they differ everywhere.
Speculation small_pair(double temperature, std::int64_t gamma) {
  return make_speculation(model_of(small_vocabulary, 40, 1, 3), ngram_drafter(model_of(small_vocabulary, 3, 2, 2)),
                          temperature, gamma);
}

using Iterate = std::function<sim::VaryingIteration(const Speculation&, std::int64_t, Convention, std::vector<Token>&,
                                                    SpeculationStreams&)>;

Iterate by(const LookupFirst& lookup) {
  return [lookup](const auto& models, std::int64_t gamma, Convention convention, auto& text, auto& streams) {
    return iterate_lookup_first(models, lookup, gamma, convention, text, streams);
  };
}
Iterate by(const StagedLookup& lookup) {
  return [lookup](const auto& models, std::int64_t gamma, Convention convention, auto& text, auto& streams) {
    return iterate_staged_lookup(models, lookup, gamma, convention, text, streams);
  };
}

struct CascadeCase {
  const char* name;
  Iterate iterate;
  std::int64_t gamma;
  Convention convention;
};

std::vector<CascadeCase> cases() {
  const LookupFirst first{.match = 3, .least = 2, .window = 64};
  const StagedLookup staged{.copies = 2, .match = 3, .window = 64};
  return {{"lookup_first", by(first), 1, Convention::bonus},    {"lookup_first", by(first), 4, Convention::bonus},
          {"lookup_first", by(first), 3, Convention::no_bonus}, {"staged_lookup", by(staged), 1, Convention::bonus},
          {"staged_lookup", by(staged), 4, Convention::bonus},  {"staged_lookup", by(staged), 3, Convention::no_bonus}};
}

constexpr std::size_t index_of(Token x, Token y, Token z) {
  return static_cast<std::size_t>((x * small_vocabulary + y) * small_vocabulary + z);
}

/// Expected number of each triple of tokens after the prompt in `trials` texts of the model by itself.
std::vector<double> triples_of(const Model& model, const std::vector<Token>& prompt, double trials) {
  std::vector<double> expected(small_vocabulary * small_vocabulary * small_vocabulary);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto tokens = static_cast<Token>(i);
    std::vector<Token> text = prompt;
    double p = trials;
    for (const Token token : {tokens / 36, tokens / 6 % 6, tokens % 6}) {
      p *= model.probability(text, token);
      text.push_back(token);
    }
    expected[i] = p;
  }
  return expected;
}

tests::Simulation cascade_run(const foredraft::Drafter& drafter, double temperature, std::int64_t gamma,
                              std::uint64_t iterations) {
  const std::int64_t vocabulary = tests::generated_vocabulary;
  const NgramModels models{
      .trained = std::make_shared<const TrainedModels>(TrainedModels{
          .target = model_of(vocabulary, 100, 1, 2), .drafter = ngram_drafter(model_of(vocabulary, 4, 2, 2))})};
  return {.scenario = {.fidelity = TokenFidelity{.temperature = temperature, .models = models},
                       .gamma = gamma,
                       .drafter = drafter},
          .plan = {.iterations = iterations}};
}

sim::Tally tally_of(const tests::Simulation& simulation) {
  return sim::run(*tests::simulator_of(simulation), {.seed = 1, .point = 0}, 2);
}

}  // namespace

TEST_CASE("a copy needs a long enough suffix of the text") {
  const std::vector<Token> text{1, 2, 3, 4, 2, 5, 1, 2};
  CHECK(look_up(text, 3, 2, 2) == std::vector<Token>{3, 4});
  CHECK(look_up(text, 3, 2, 3).empty());
  CHECK(look_up(std::vector<Token>{3, 2, 5, 1, 2}, 3, 2, 2).empty());
  CHECK(look_up(std::vector<Token>{3, 2, 5, 1, 2}, 3, 2, 1) == std::vector<Token>{5, 1});
}

TEST_CASE("copies before a model keep the target's joint distribution of three tokens", "[long]") {
  // 30,000 texts for each prompt, with likely and unlikely copies. The smallest detected defect moves 3 % of the mass
  // of the second token to one of probability 0.2.
  constexpr std::int64_t trials = 30'000;
  const std::vector<std::vector<Token>> prompts{{2, 3, 4, 2, 5, 3, 2, 3, 5, 4, 2, 3}, {2, 4, 5, 3, 2, 5}};
  std::uint64_t block = 0;
  for (const CascadeCase& tried : cases()) {
    const Speculation models = small_pair(1.0, tried.gamma);
    for (const std::vector<Token>& prompt : prompts) {
      SpeculationStreams streams(3, 0, ++block);
      std::vector<std::int64_t> observed(small_vocabulary * small_vocabulary * small_vocabulary, 0);
      for (std::int64_t i = 0; i < trials; ++i) {
        std::vector<Token> text = prompt;
        while (text.size() < prompt.size() + 3) {
          tried.iterate(models, tried.gamma, tried.convention, text, streams);
        }
        const Token* emitted = text.data() + prompt.size();
        ++observed[index_of(emitted[0], emitted[1], emitted[2])];
      }
      INFO(tried.name << ", gamma " << tried.gamma << ", " << to_string(tried.convention) << ", block " << block);
      const auto expected = triples_of(*models.target, prompt, static_cast<double>(trials));
      CHECK(tests::chi_squared_p_value(observed, expected) > tests::level_of_one(12));
    }
  }
}

TEST_CASE("greedy text of copies before a model is the target's greedy text") {
  for (const CascadeCase& tried : cases()) {
    const Speculation models = small_pair(0.0, tried.gamma);
    SpeculationStreams streams(3, 0, 0);
    std::vector<Token> text{2, 3, 4, 2};
    std::vector<Token> plain = text;
    std::int64_t emitted = 0;
    while (text.size() < 80) {
      const sim::VaryingIteration done = tried.iterate(models, tried.gamma, tried.convention, text, streams);
      emitted += done.outcome.tokens;
      CHECK(done.outcome.accepted <= done.outcome.tested);
      CHECK(done.outcome.tested <= done.gamma);
      CHECK(done.passes.value() <= tried.gamma);
    }
    while (plain.size() < text.size()) plain.push_back(models.target->argmax(plain));
    INFO(tried.name << ", gamma " << tried.gamma);
    CHECK(text == plain);
    CHECK(emitted == static_cast<std::int64_t>(text.size()) - 4);
  }
}

TEST_CASE("copying a model's tokens before it yields its own tokens, in fewer passes") {
  // 100,000 iterations: a standard error of about 0.004 tokens.
  const tests::Simulation staged = cascade_run(StagedLookup{.copies = 3, .match = 3, .window = 64}, 1.0, 5, 100'000);
  const auto& models = std::get<NgramModels>(std::get<TokenFidelity>(staged.scenario.fidelity).models).trained;
  const double alone = tests::exact_iterations(*models->target, *models->drafter, 5, Convention::bonus).tokens;
  const sim::Tally tally = tally_of(staged);
  const Estimate tokens = sim::tokens_per_iteration(tally);
  INFO(tokens.mean << " +- " << tokens.standard_error << ", alone " << alone);
  tests::check_estimate(tokens, alone);
  const double passes = sim::ratio(tally, sim::draft_passes, sim::iterations).mean;
  CHECK(passes < 4.5);
  CHECK(passes > 5.0 / 4.0);
  CHECK(tally.units.sum(sim::drafted) == 5 * tally.units.sum(sim::iterations));
}

TEST_CASE("a run with copies before a model is conserved, and is charged only the model's passes") {
  for (const double temperature : {1.0, 0.0}) {
    for (const foredraft::Drafter& drafter :
         {foredraft::Drafter(LookupFirst{.match = 3, .least = 2, .window = 64}),
          foredraft::Drafter(StagedLookup{.copies = 4, .match = 3, .window = 64})}) {
      const tests::Simulation simulation = cascade_run(drafter, temperature, 6, 5'000);
      const sim::Tally tally = tally_of(simulation);
      sim::check_conservation(tally);
      CHECK(tally == sim::run(*tests::simulator_of(simulation), {.seed = 1, .point = 0}, 3));
      const auto passes = tally.units.sum(sim::draft_passes);
      const auto iterations = tally.units.sum(sim::iterations);
      CHECK(passes > 0);
      CHECK(passes < 6 * iterations);
      const double tokens = sim::tokens_per_iteration(tally).mean;
      const double steps = 1.0 + 0.5 * static_cast<double>(passes) / static_cast<double>(iterations);
      CHECK(sim::speedup(tally, constant_ratio(0.5)).mean == Approx(tokens / steps).epsilon(tests::second_route));
    }
  }
}

TEST_CASE("without a long enough suffix to copy only the model drafts") {
  // 64 equal tokens in a row do not occur.
  const LookupFirst never{.match = 64, .least = 64, .window = 64};
  const sim::Tally copied = tally_of(cascade_run(never, 1.0, 4, 3'000));
  CHECK(copied.units.sum(sim::draft_passes) == 4 * copied.units.sum(sim::iterations));
}

}  // namespace foredraft::ngram
