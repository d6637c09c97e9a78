// SPDX-License-Identifier: Apache-2.0
#include "sim/token/token_simulator.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "scenario/drafters.hpp"
#include "sim/token/fresh/fresh_simulator.hpp"
#include "sim/token/models/model_pair.hpp"
#include "sim/token/pooled/pooled_tables.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"
#include "sim/token/rows/row_operations.hpp"

namespace foredraft::sim {
namespace {

/// Empty tables with the memory that the rule needs.
PooledTables empty_tables(std::int64_t vocabulary, std::int64_t contexts, const VerificationRule& rule,
                          const IterationShape& shape) {
  std::vector<std::int64_t> counts = candidate_counts(rule, std::max<std::int64_t>(shape.gamma, 1));
  CandidateScheme widest = rule.candidates(1);
  widest.count = *std::ranges::max_element(counts);
  return {vocabulary, contexts, widest, rule.verifies_blocks(), std::move(counts)};
}

std::unique_ptr<Simulator> make_synthetic(const SyntheticModels& pair, const TokenFidelity& token,
                                          const IterationShape& shape, const SimulationPlan& plan, StopToken stop) {
  std::unique_ptr<const VerificationRule> rule = make_rule(token.rule);
  const SyntheticPool pool(pair, plan.seed, stop);
  const TokenSampling sampling = sampling_of(token);
  if (pair.contexts == Contexts::fresh) {
    return make_fresh_simulator(SyntheticTarget(pair.target, pair.parameter, pair.vocabulary),
                                {.distribution = pair.draft, .strength = pool.strength()}, std::move(rule), sampling,
                                shape, plan.iterations);
  }
  PooledTables tables = empty_tables(pair.vocabulary, pair.pool, *rule, shape);
  std::vector<double> target(pool.vocabulary());
  std::vector<double> draft(pool.vocabulary());
  for (std::size_t k = 0; k < pool.contexts(); ++k) {
    stop.check();
    pool.distributions(k, sampling, target, draft);
    tables.add(*rule, {.target = target, .draft = draft});
  }
  return make_pooled_simulator(std::move(tables), shape, plan.iterations);
}

std::unique_ptr<Simulator> make_given(const GivenDistributions& given, const TokenFidelity& token,
                                      const IterationShape& shape, std::uint64_t iterations) {
  const auto vocabulary = std::ssize(given.target.front());
  const auto rule = make_rule(given, 0, token.rule);
  PooledTables tables = empty_tables(vocabulary, std::ssize(given.target), *rule, shape);
  const TokenSampling sampling = sampling_of(token);
  for (std::size_t k = 0; k < given.target.size(); ++k) {
    std::vector<double> target = given.target[k];
    std::vector<double> draft = given.draft[k];
    apply_sampling(target, sampling.target);
    apply_sampling(draft, sampling.draft);
    tables.add(*make_rule(given, k, token.rule), {.target = target, .draft = draft});
  }
  return make_pooled_simulator(std::move(tables), shape, iterations);
}

}  // namespace

std::unique_ptr<Simulator> make_token_simulator(const Scenario& scenario, const SimulationPlan& plan, StopToken stop) {
  const auto& token = std::get<TokenFidelity>(scenario.fidelity);
  const IterationShape shape{scenario.gamma, scenario.convention, scenario::drafting(scenario.drafter)};
  if (const auto* synthetic = std::get_if<SyntheticModels>(&token.models)) {
    return make_synthetic(*synthetic, token, shape, plan, stop);
  }
  if (const auto* given = std::get_if<GivenModels>(&token.models)) {
    return make_given(*given->distributions, token, shape, plan.iterations);
  }
  return make_text_simulator(scenario, plan.iterations);
}

Tally TokenSimulator::run_block(const RunKey& key, std::uint64_t block) const {
  return tally_independent(shape_, run_(key, block, plan_.in_block(block), nullptr));
}

EmittedTokens TokenSimulator::emit_block(const RunKey& key, std::uint64_t block) const {
  EmittedTokens emitted(plan_.in_block(block));
  static_cast<void>(run_(key, block, emitted.size(), &emitted));
  return emitted;
}

PoolAcceptance exact_acceptance(const Simulator& simulator) {
  const auto* token_simulator = dynamic_cast<const TokenSimulator*>(&simulator);
  return token_simulator == nullptr ? PoolAcceptance{} : token_simulator->acceptance();
}

}  // namespace foredraft::sim
