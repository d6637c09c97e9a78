// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "core/check.hpp"
#include "scenario/drafters.hpp"
#include "scenario/rules.hpp"
#include "sim/ngram/acceptance_study.hpp"
#include "sim/ngram/speculation.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/simulator.hpp"
#include "sim/token/token_simulation.hpp"

namespace foredraft::sim {
namespace {

constexpr std::uint64_t text_iterations_per_block = 1024;
/// Iterations of a text before the first counted one: a prompt is any position of the text, but iterations begin more
/// often after rejected drafts. 64 suffice on the default corpora, where a bias is still visible with 8.
constexpr std::int64_t settling_iterations = 64;

/// `iterate(text, streams)` runs one iteration; prompts hold at least `window` tokens.
template <class Iterate>
std::unique_ptr<Simulator> make_text_simulator(const TokenSimulation& simulation,
                                               const std::shared_ptr<const ngram::Model>& target, ngram::Choice choice,
                                               std::int64_t window, Iterate iterate) {
  const BlockPlan plan =
      plan_blocks("iterations", simulation.iterations, text_iterations_per_block, ngram::first_study_block);
  scenario::check_text_rule(simulation.rule, simulation.temperature);
  const IterationShape shape = checked_shape(simulation);
  return make_block_simulator(plan, [=](const RunKey& key, std::uint64_t block, std::uint64_t iterations) {
    ngram::Prompts prompts(*target, RandomStream(key.seed, {Purpose::text, key.point, block}), window);
    ngram::SpeculationStreams streams(key.seed, key.point, block, key.stop);
    OutcomeCounts counts(shape);
    if (choice == ngram::Choice::greedy) {
      for (std::uint64_t done = 0; done < iterations;) {
        std::vector<ngram::Token> text = prompts.next();
        const std::size_t end = text.size() + static_cast<std::size_t>(ngram::Prompts::passage_tokens);
        for (; text.size() < end; ++done) counts.add(iterate(text, streams));
      }
    } else {
      std::vector<ngram::Token> text = prompts.next();
      for (std::int64_t i = 0; i < settling_iterations; ++i) static_cast<void>(iterate(text, streams));
      for (std::uint64_t i = 0; i < iterations; ++i) counts.add(iterate(text, streams));
    }
    counts.end_unit();
    return counts.tally();
  });
}

}  // namespace

std::unique_ptr<Simulator> make_ngram_simulator(const TokenSimulation& simulation) {
  const auto* pair = std::get_if<NgramPair>(&simulation.models);
  if (pair == nullptr) throw DomainError("invalid models=other (must be an n-gram pair)");
  const auto models = ngram::make_speculation(pair->target, pair->drafter, simulation.temperature, simulation.gamma);
  const IterationShape shape{simulation.gamma, simulation.convention, simulation.drafting};
  return make_text_simulator(simulation, models.target, models.choice, 0,
                             [models, shape](std::vector<ngram::Token>& text, ngram::SpeculationStreams& streams) {
                               return iteration_outcome(
                                   shape, ngram::iterate(models, shape.gamma, shape.convention, text, streams));
                             });
}

std::unique_ptr<Simulator> make_prompt_lookup_simulator(const TokenSimulation& simulation) {
  const auto* pair = std::get_if<PromptLookupPair>(&simulation.models);
  if (pair == nullptr) throw DomainError("invalid models=other (must be a text for prompt lookup)");
  const auto& [target, lookup] = *pair;
  check_ranges(scenario::drafters(), Drafter(lookup));
  const ngram::Choice choice =
      ngram::make_speculation(target, ngram::ngram_drafter(target), simulation.temperature, 0).choice;
  TokenSimulation copying = simulation;
  copying.drafting = Drafting::free;
  return make_text_simulator(
      copying, target, choice, lookup.window,
      [target = target, lookup = lookup, choice, gamma = simulation.gamma, convention = simulation.convention](
          std::vector<ngram::Token>& text, ngram::SpeculationStreams& streams) -> VaryingIteration {
        const auto copied =
            ngram::iterate_copied(*target, choice, lookup.match, lookup.window, gamma, convention, text, streams);
        return {copied.drafted, {.tokens = copied.emitted, .accepted = copied.accepted, .tested = copied.tested}};
      });
}

}  // namespace foredraft::sim
