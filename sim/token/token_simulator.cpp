// SPDX-License-Identifier: Apache-2.0
#include "sim/token/token_simulator.hpp"

#include <cstddef>
#include <variant>

#include "scenario/drafters.hpp"
#include "sim/token/fresh/fresh_simulator.hpp"
#include "sim/token/models/model_pair.hpp"
#include "sim/token/pooled/pooled_tables.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"
#include "sim/token/rows/row_operations.hpp"

namespace foredraft::sim {
namespace {

std::unique_ptr<Simulator> make_synthetic(const SyntheticModels& pair, const TokenFidelity& token,
                                          const IterationShape& shape, const SimulationPlan& plan, StopToken stop) {
  std::unique_ptr<const VerificationRule> rule = make_rule(token.rule);
  const SyntheticPool pool(pair, plan.seed, stop);
  if (pair.contexts == Contexts::fresh) {
    return make_fresh_simulator(SyntheticTarget(pair.target, pair.parameter, pair.vocabulary),
                                {.distribution = pair.draft, .strength = pool.strength()}, std::move(rule),
                                token.temperature, shape, plan.iterations);
  }
  PooledTables tables(pair.vocabulary, pair.pool, rule->candidates(), rule->verifies_blocks());
  std::vector<double> target(pool.vocabulary());
  std::vector<double> draft(pool.vocabulary());
  for (std::size_t k = 0; k < pool.contexts(); ++k) {
    stop.check();
    pool.target_distribution(k, token.temperature, target);
    pool.draft_distribution(k, pool.strength(), token.temperature, draft);
    tables.add(*rule, {.target = target, .draft = draft});
  }
  return make_pooled_simulator(std::move(tables), shape, plan.iterations);
}

std::unique_ptr<Simulator> make_given(const GivenDistributions& given, const TokenFidelity& token,
                                      const IterationShape& shape, std::uint64_t iterations) {
  const auto vocabulary = std::ssize(given.target.front());
  const auto rule = make_rule(given, 0, token.rule);
  PooledTables tables(vocabulary, std::ssize(given.target), rule->candidates(), rule->verifies_blocks());
  for (std::size_t k = 0; k < given.target.size(); ++k) {
    std::vector<double> target = given.target[k];
    std::vector<double> draft = given.draft[k];
    apply_temperature(target, token.temperature);
    apply_temperature(draft, token.temperature);
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
