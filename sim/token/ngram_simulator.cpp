// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "core/random_stream.hpp"
#include "scenario/drafters.hpp"
#include "sim/ngram/acceptance_study.hpp"
#include "sim/ngram/speculation.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/simulator.hpp"
#include "sim/token/models/model_pair.hpp"
#include "sim/token/token_simulator.hpp"

namespace foredraft::sim {
namespace {

constexpr std::uint64_t text_iterations_per_block = 1024;
/// Iterations of a text before the first counted one. They are needed because a prompt is any position of the text, but
/// iterations start more often after rejected drafts. 64 are enough for the default corpora; 8 still show a bias.
constexpr std::int64_t settling_iterations = 64;

/// `iterate(text, streams)` runs one iteration; prompts hold at least `window` tokens.
template <class Iterate>
std::unique_ptr<Simulator> make_block_of_text(const ngram::Speculation& models, const IterationShape& shape,
                                              std::uint64_t iterations, std::int64_t window, Iterate iterate) {
  const BlockPlan plan = plan_blocks("iterations", iterations, text_iterations_per_block, ngram::first_study_block);
  return make_block_simulator(plan, [=, target = models.target, choice = models.choice](
                                        const RunKey& key, std::uint64_t block, std::uint64_t count) {
    ngram::Prompts prompts(*target, RandomStream(key.seed, {Purpose::text, key.point, block}), window);
    ngram::SpeculationStreams streams(key.seed, key.point, block, key.stop);
    OutcomeCounts counts(shape);
    if (choice == ngram::Choice::greedy) {
      for (std::uint64_t done = 0; done < count;) {
        std::vector<ngram::Token> text = prompts.next();
        const std::size_t end = text.size() + static_cast<std::size_t>(ngram::Prompts::passage_tokens);
        for (; text.size() < end; ++done) counts.add(iterate(text, streams));
      }
    } else {
      std::vector<ngram::Token> text = prompts.next();
      for (std::int64_t i = 0; i < settling_iterations; ++i) static_cast<void>(iterate(text, streams));
      for (std::uint64_t i = 0; i < count; ++i) counts.add(iterate(text, streams));
    }
    counts.end_unit();
    return counts.tally();
  });
}

}  // namespace

std::unique_ptr<Simulator> make_text_simulator(const Scenario& scenario, std::uint64_t iterations) {
  const auto& token = std::get<TokenFidelity>(scenario.fidelity);
  const TrainedModels& trained = *std::get<NgramModels>(token.models).trained;
  const IterationShape shape{scenario.gamma, scenario.convention, scenario::drafting(scenario.drafter)};
  if (const auto* lookup = std::get_if<PromptLookup>(&scenario.drafter)) {
    const auto models =
        ngram::make_speculation(trained.target, ngram::ngram_drafter(trained.target), token.temperature, 0);
    return make_block_of_text(models, shape, iterations, lookup->window,
                              [models, shape, match = lookup->match, window = lookup->window](
                                  std::vector<ngram::Token>& text, ngram::SpeculationStreams& streams) {
                                return ngram::iterate_copied(*models.target, models.choice, match, window, shape.gamma,
                                                             shape.convention, text, streams);
                              });
  }
  const auto models = ngram::make_speculation(trained.target, trained.drafter.value(), token.temperature, shape.gamma);
  if (const auto* first = std::get_if<LookupFirst>(&scenario.drafter)) {
    return make_block_of_text(
        models, shape, iterations, first->window,
        [models, shape, lookup = *first](std::vector<ngram::Token>& text, ngram::SpeculationStreams& streams) {
          return ngram::iterate_lookup_first(models, lookup, shape.gamma, shape.convention, text, streams);
        });
  }
  if (const auto* staged = std::get_if<StagedLookup>(&scenario.drafter)) {
    return make_block_of_text(
        models, shape, iterations, staged->window,
        [models, shape, lookup = *staged](std::vector<ngram::Token>& text, ngram::SpeculationStreams& streams) {
          return ngram::iterate_staged_lookup(models, lookup, shape.gamma, shape.convention, text, streams);
        });
  }
  return make_block_of_text(models, shape, iterations, 0,
                            [models, shape](std::vector<ngram::Token>& text, ngram::SpeculationStreams& streams) {
                              return iteration_outcome(
                                  shape, ngram::iterate(models, shape.gamma, shape.convention, text, streams));
                            });
}

}  // namespace foredraft::sim
