// SPDX-License-Identifier: Apache-2.0
// Drafts copied from the text: the search against a search of all places, the emitted distribution against the
// target's, and the cost.
#include "sim/ngram/speculation.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "sim/estimates.hpp"
#include "sim/token/models/model_pair.hpp"
#include "tests/sim/ngram/generated_text.hpp"
#include "tests/support/simulation.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::ngram {
namespace {

constexpr std::int64_t copied_vocabulary = 6;

std::shared_ptr<const Model> writer(std::int64_t vocabulary = copied_vocabulary) {
  return Model::train(tests::generated_documents(vocabulary, 40, 1), vocabulary, 3);
}

/// The longest match by trying every length from the longest down and every place from the last one back.
std::vector<Token> by_all_places(const std::vector<Token>& text, std::int64_t match, std::int64_t gamma) {
  const auto size = static_cast<std::int64_t>(text.size());
  for (std::int64_t length = std::min(match, size - 1); length >= 1; --length) {
    for (std::int64_t start = size - 1 - length; start >= 0; --start) {
      bool equal = true;
      for (std::int64_t i = 0; i < length; ++i) {
        equal = equal && text[static_cast<std::size_t>(start + i)] == text[static_cast<std::size_t>(size - length + i)];
      }
      if (!equal) continue;
      const auto first = text.begin() + start + length;
      return {first, first + std::min(gamma, size - start - length)};
    }
  }
  return {};
}

tests::Simulation lookup_run(double temperature, std::int64_t gamma, Convention convention, std::uint64_t iterations) {
  const NgramModels models{.trained = std::make_shared<const TrainedModels>(
                               TrainedModels{.target = writer(tests::generated_vocabulary), .drafter = {}})};
  return {.scenario = {.fidelity = TokenFidelity{.temperature = temperature, .models = models},
                       .gamma = gamma,
                       .convention = convention,
                       .drafter = PromptLookup{.match = 3, .window = 64}},
          .plan = {.iterations = iterations}};
}

}  // namespace

TEST_CASE("a copy continues the last earlier occurrence of the longest suffix of the text") {
  CHECK(look_up(std::vector<Token>{1, 2, 3, 1, 2, 4, 1, 2}, 2, 5) == std::vector<Token>{4, 1, 2});
  CHECK(look_up(std::vector<Token>{9, 1, 2, 3, 8, 1, 2, 4, 9, 1, 2}, 3, 1) == std::vector<Token>{3});
  CHECK(look_up(std::vector<Token>{1, 2, 3}, 3, 5).empty());
  CHECK(look_up(std::vector<Token>{}, 3, 5).empty());
  CHECK(look_up(std::vector<Token>{1}, 3, 5).empty());
  CHECK(look_up(std::vector<Token>{7, 7, 7}, 2, 5) == std::vector<Token>{7});
  RandomStream random(5, {.purpose = Purpose::test, .point = 0, .block = 0});
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<Token> text(random.next_u32() % 24);
    for (Token& token : text) token = static_cast<Token>(random.next_u32() % 3);
    const auto match = static_cast<std::int64_t>(1 + random.next_u32() % 5);
    const auto gamma = static_cast<std::int64_t>(random.next_u32() % 6);
    CAPTURE(text, match, gamma);
    CHECK(look_up(text, match, gamma) == by_all_places(text, match, gamma));
  }
}

TEST_CASE("a copy is searched only in the last tokens of the window") {
  // The last token of the text is also its first one, and no other.
  const auto target = writer();
  for (std::int64_t size = 3; size <= 6; ++size) {
    for (std::int64_t window = 2; window <= size; ++window) {
      std::vector<Token> text(static_cast<std::size_t>(size), 2);
      std::iota(text.begin(), text.end(), Token{1});
      text.front() = text.back() = 0;
      SpeculationStreams streams(1, 0, 0);
      CAPTURE(size, window);
      const sim::VaryingIteration done =
          iterate_copied(*target, Choice::greedy, 3, window, 2, Convention::bonus, text, streams);
      CHECK(done.gamma == (window == size ? 2 : 0));
    }
  }
}

TEST_CASE("text of copied drafts has the target's own joint distribution of three tokens") {
  // 30,000 texts for each prompt, with likely and unlikely copies. The smallest detected defect moves 3 % of the mass
  // of the second token to one of probability 0.2.
  constexpr std::int64_t trials = 30'000;
  const auto target = writer();
  const std::vector<Token> prompt{2, 3, 4, 2, 5, 3, 2, 3, 5, 4, 2, 3};
  std::uint64_t block = 0;
  for (const auto& [gamma, convention] :
       {std::pair{1, Convention::bonus}, std::pair{4, Convention::bonus}, std::pair{3, Convention::no_bonus}}) {
    SpeculationStreams streams(3, 0, ++block);
    std::vector<std::int64_t> observed(copied_vocabulary * copied_vocabulary * copied_vocabulary, 0);
    for (std::int64_t i = 0; i < trials; ++i) {
      std::vector<Token> text = prompt;
      while (text.size() < prompt.size() + 3) {
        iterate_copied(*target, Choice::sample, 3, 64, gamma, convention, text, streams);
      }
      const Token* emitted = text.data() + prompt.size();
      ++observed[static_cast<std::size_t>((emitted[0] * copied_vocabulary + emitted[1]) * copied_vocabulary +
                                          emitted[2])];
    }
    std::vector<double> expected;
    for (Token x = 0; x < copied_vocabulary; ++x) {
      for (Token y = 0; y < copied_vocabulary; ++y) {
        for (Token z = 0; z < copied_vocabulary; ++z) {
          std::vector<Token> text = prompt;
          double p = static_cast<double>(trials);
          for (const Token token : {x, y, z}) {
            p *= target->probability(text, token);
            text.push_back(token);
          }
          expected.push_back(p);
        }
      }
    }
    CHECK(tests::chi_squared_p_value(observed, expected) > tests::level_of_one(3));
  }
}

TEST_CASE("greedy text of copied drafts is the text of plain greedy decoding") {
  const auto target = writer(tests::generated_vocabulary);
  for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
    SpeculationStreams streams(3, 0, 0);
    std::vector<Token> copied{2, 3, 4, 2};
    std::vector<Token> plain = copied;
    std::int64_t accepted = 0;
    std::int64_t emitted = 0;
    while (copied.size() < 80) {
      const sim::VaryingIteration done = iterate_copied(*target, Choice::greedy, 3, 64, 5, convention, copied, streams);
      accepted += done.outcome.accepted;
      emitted += done.outcome.tokens;
      CHECK(done.outcome.accepted <= done.outcome.tested);
      CHECK(done.outcome.tested <= done.gamma);
    }
    while (plain.size() < copied.size()) plain.push_back(target->argmax(plain));
    CHECK(copied == plain);
    CHECK(emitted == static_cast<std::int64_t>(copied.size()) - 4);
    CHECK(accepted > 20);  // greedy text of a small model soon repeats itself
  }
}

TEST_CASE("a run of copied drafts is conserved, costs no pass and depends only on its key") {
  for (const double temperature : {1.0, 0.0}) {
    for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
      const auto simulator = tests::simulator_of(lookup_run(temperature, 6, convention, 5'000));
      const sim::Tally tally = sim::run(*simulator, {.seed = 1, .point = 0}, 1);
      sim::check_conservation(tally);
      CHECK(tally == sim::run(*simulator, {.seed = 1, .point = 0}, 3));
      CHECK_FALSE(tally == sim::run(*simulator, {.seed = 2, .point = 0}, 1));
      CHECK(tally.units.sum(sim::draft_passes) == 0);
      CHECK(tally.units.count() == 5);
      const double tokens = sim::tokens_per_iteration(tally).mean;
      CHECK(sim::speedup(tally, constant_ratio(0.5)).mean == tokens);
      CHECK(tokens > (temperature == 0.0 ? 2.5 : 1.2));
      CHECK(tally.units.sum(sim::drafted) < 6 * tally.units.sum(sim::iterations));
    }
  }
}

TEST_CASE("acceptance of the first copied token is the target's probability of it, averaged over the text") {
  // The same texts without random verification: at each iteration the probability p of the first copy.
  const auto target = writer(tests::generated_vocabulary);
  const sim::Tally tally = sim::run(*tests::simulator_of(lookup_run(1.0, 1, Convention::bonus, 60'000)), {8, 0}, 2);
  std::vector<Token> text{end_of_document};
  RandomStream random(9, {.purpose = Purpose::test, .point = 0, .block = 0});
  SpeculationStreams streams(10, 0, 0);
  for (int i = 0; i < 1000; ++i) text.push_back(target->sample(text, random));
  double chance = 0.0;
  double squares = 0.0;
  int looked_up = 0;
  for (int i = 0; i < 60'000; ++i) {
    const auto copy = look_up(std::span<const Token>(text).last(64), 3, 1);
    if (!copy.empty()) {
      const double p = target->probability(text, copy.front());
      chance += p;
      squares += p * p;
      ++looked_up;
    }
    iterate_copied(*target, Choice::sample, 3, 64, 1, Convention::bonus, text, streams);
  }
  const double mean = chance / looked_up;
  // Successive iterations share their text, so the variance is allowed to be four times that of independent ones.
  const double error = 2.0 * std::sqrt((squares / looked_up - mean * mean) / looked_up);
  const Estimate seen = sim::acceptance(tally).per_token;
  INFO("seen " << seen.mean << " +- " << seen.standard_error << ", expected " << mean << " +- " << error);
  CHECK(std::abs(seen.mean - mean) < tests::standard_errors * std::hypot(seen.standard_error, error));
}

}  // namespace foredraft::ngram
