// SPDX-License-Identifier: Apache-2.0
#include "sim/token/ngram_simulator.hpp"

#include <vector>

#include "core/check.hpp"
#include "scenario/registries.hpp"
#include "sim/block_plan.hpp"
#include "sim/ngram/acceptance_study.hpp"
#include "sim/ngram/prompts.hpp"
#include "sim/ngram/speculation.hpp"
#include "sim/process/outcome_counts.hpp"

namespace foredraft::sim {
namespace {

constexpr std::uint64_t ngram_iterations_per_block = 1024;
/// Iterations of a text before the first counted one: a prompt is any place of the text, but iterations begin more
/// often where drafts are rejected. 64 are enough on the default corpora, where 8 still show.
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

  /// Returns the iterations.
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

}  // namespace foredraft::sim
