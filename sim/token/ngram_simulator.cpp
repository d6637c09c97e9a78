// SPDX-License-Identifier: Apache-2.0
#include "sim/token/ngram_simulator.hpp"

#include <vector>

#include "core/check.hpp"
#include "scenario/family.hpp"
#include "sim/ngram/acceptance_study.hpp"
#include "sim/ngram/speculation.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {
namespace {

constexpr std::uint64_t ngram_iterations_per_block = 1024;
/// Iterations of a text before the first counted one: a prompt is any position of the text, but iterations begin more
/// often after rejected drafts. 64 suffice on the default corpora, where a bias is still visible with 8.
constexpr std::int64_t settling_iterations = 64;

ngram::Speculation models_of(const TokenSimulation& simulation) {
  const auto* pair = std::get_if<NgramPair>(&simulation.models);
  if (pair == nullptr) throw DomainError("invalid models=other (must be an n-gram pair)");
  return ngram::make_speculation(pair->target, pair->drafter, simulation.temperature, simulation.gamma);
}

class NgramSimulator final : public Simulator {
 public:
  explicit NgramSimulator(const TokenSimulation& simulation)
      : models_(models_of(simulation)),
        shape_{simulation.gamma, simulation.convention, simulation.drafting},
        plan_(plan_blocks("iterations", simulation.iterations, ngram_iterations_per_block, ngram::first_study_block)) {
    scenario::check_text_rule(simulation.rule, simulation.temperature);
    check_range("gamma", shape_.gamma, min_gamma(shape_.convention), max_token_gamma);
  }

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    ngram::Prompts prompts(*models_.target, RandomStream(key.seed, {Purpose::text, key.point, block}));
    ngram::SpeculationStreams streams(key.seed, key.point, block, key.stop);
    const std::uint64_t count = plan_.in_block(block);
    OutcomeCounts counts(shape_);
    if (models_.choice == ngram::Choice::greedy) {
      for (std::uint64_t done = 0; done < count;) done += add_greedy_text(prompts.next(), streams, counts);
    } else {
      std::vector<ngram::Token> text = prompts.next();
      for (std::int64_t i = 0; i < settling_iterations; ++i) static_cast<void>(iterate(text, streams));
      for (std::uint64_t i = 0; i < count; ++i) counts.add(iterate(text, streams));
    }
    counts.end_unit();
    return counts.tally();
  }

 private:
  [[nodiscard]] Outcome iterate(std::vector<ngram::Token>& text, ngram::SpeculationStreams& streams) const {
    return iteration_outcome(shape_, ngram::iterate(models_, shape_.gamma, shape_.convention, text, streams));
  }

  /// Returns the number of iterations.
  std::uint64_t add_greedy_text(std::vector<ngram::Token> text, ngram::SpeculationStreams& streams,
                                OutcomeCounts& counts) const {
    const std::size_t end = text.size() + static_cast<std::size_t>(ngram::Prompts::passage_tokens);
    std::uint64_t iterations_done = 0;
    for (; text.size() < end; ++iterations_done) counts.add(iterate(text, streams));
    return iterations_done;
  }

  ngram::Speculation models_;
  IterationShape shape_;
  BlockPlan plan_;
};

}  // namespace

std::unique_ptr<Simulator> make_ngram_simulator(const TokenSimulation& simulation) {
  return std::make_unique<NgramSimulator>(simulation);
}

namespace {

constexpr std::uint64_t copied_iterations_per_block = 1024;
/// Iterations before the first counted one, as for an n-gram pair.
constexpr std::int64_t copied_settling_iterations = 64;

const PromptLookupPair& lookup_of(const TokenSimulation& simulation) {
  const auto* pair = std::get_if<PromptLookupPair>(&simulation.models);
  if (pair == nullptr) throw DomainError("invalid models=other (must be a text for prompt lookup)");
  check_ranges(scenario::drafters(), Drafter(pair->lookup));
  return *pair;
}

class PromptLookupSimulator final : public Simulator {
 public:
  explicit PromptLookupSimulator(const TokenSimulation& simulation)
      : pair_(lookup_of(simulation)),
        choice_(ngram::make_speculation(pair_.target, ngram::ngram_drafter(pair_.target), simulation.temperature, 0)
                    .choice),
        shape_{simulation.gamma, simulation.convention, Drafting::free},
        plan_(plan_blocks("iterations", simulation.iterations, copied_iterations_per_block, ngram::first_study_block)) {
    scenario::check_text_rule(simulation.rule, simulation.temperature);
    check_range("gamma", shape_.gamma, min_gamma(shape_.convention), max_token_gamma);
  }

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    RandomStream random(key.seed, {Purpose::text, key.point, block});
    ngram::SpeculationStreams streams(key.seed, key.point, block, key.stop);
    std::vector<ngram::Token> text{ngram::end_of_document};
    write(ngram::Prompts::opening_tokens + pair_.lookup.window, text, random);
    const auto count = static_cast<std::int64_t>(plan_.in_block(block));
    VaryingCounts counts(shape_);
    if (choice_ == ngram::Choice::greedy) {
      for (std::int64_t done = 0; done < count;) {
        done += add_greedy_passage(text, streams, counts);
        write(ngram::Prompts::passage_tokens, text, random);
      }
    } else {
      for (std::int64_t i = 0; i < copied_settling_iterations; ++i) static_cast<void>(iterate(text, streams));
      for (std::int64_t i = 0; i < count; ++i) counts.add(iterate(text, streams));
    }
    counts.end_unit();
    return counts.tally();
  }

 private:
  void write(std::int64_t tokens, std::vector<ngram::Token>& text, RandomStream& random) const {
    for (std::int64_t i = 0; i < tokens; ++i) text.push_back(pair_.target->sample(text, random));
  }

  [[nodiscard]] VaryingIteration iterate(std::vector<ngram::Token>& text, ngram::SpeculationStreams& streams) const {
    const ngram::CopiedIteration copied =
        ngram::iterate_copied(*pair_.target, choice_, pair_.lookup.match, pair_.lookup.window, shape_.gamma,
                              shape_.convention, text, streams);
    return {copied.drafted, {.tokens = copied.emitted, .accepted = copied.accepted, .tested = copied.tested}};
  }

  /// Continues from the text as a prompt, which is not changed; returns the number of iterations.
  std::int64_t add_greedy_passage(const std::vector<ngram::Token>& prompt, ngram::SpeculationStreams& streams,
                                  VaryingCounts& counts) const {
    std::vector<ngram::Token> text(prompt.end() - static_cast<std::ptrdiff_t>(pair_.lookup.window), prompt.end());
    const std::size_t end = text.size() + static_cast<std::size_t>(ngram::Prompts::passage_tokens);
    std::int64_t iterations_done = 0;
    for (; text.size() < end; ++iterations_done) counts.add(iterate(text, streams));
    return iterations_done;
  }

  PromptLookupPair pair_;  ///< keeps the model alive
  ngram::Choice choice_;
  IterationShape shape_;
  BlockPlan plan_;
};

}  // namespace

std::unique_ptr<Simulator> make_prompt_lookup_simulator(const TokenSimulation& simulation) {
  return std::make_unique<PromptLookupSimulator>(simulation);
}

}  // namespace foredraft::sim
