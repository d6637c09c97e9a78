// SPDX-License-Identifier: Apache-2.0
#include "sim/token/token_simulation.hpp"

#include <fmt/format.h>
#include <limits>

#include "core/check.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/check_scenario.hpp"
#include "sim/token/fresh/fresh_simulator.hpp"
#include "sim/token/pooled/pooled_tables.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"
#include "sim/token/rows/row_operations.hpp"

namespace foredraft::sim {
namespace {

void check_temperature(double temperature) {
  constexpr double highest = 1e6;
  if (!(temperature == 0.0 || (temperature >= min_temperature && temperature <= highest))) {
    throw DomainError(
        fmt::format("invalid temperature={} (must be 0 or lie in [{}, {}])", temperature, min_temperature, highest));
  }
}

std::unique_ptr<Simulator> make_synthetic(const SyntheticModels& pair, const TokenSimulation& simulation,
                                          std::uint64_t seed, StopToken stop) {
  const IterationShape shape = checked_shape(simulation);
  std::unique_ptr<const VerificationRule> rule = make_rule(simulation.rule, pair.vocabulary);
  const SyntheticPool pool(pair, seed, stop);
  if (pair.contexts == Contexts::fresh) {
    return make_fresh_simulator(SyntheticTarget(pair.target, pair.parameter, pair.vocabulary),
                                {.distribution = pair.draft, .strength = pool.strength()}, std::move(rule),
                                simulation.temperature, shape, simulation.iterations);
  }
  PooledTables tables(pair.vocabulary, pair.pool, rule->candidates());
  std::vector<double> target(pool.vocabulary());
  std::vector<double> draft(pool.vocabulary());
  for (std::size_t k = 0; k < pool.contexts(); ++k) {
    stop.check();
    pool.target_distribution(k, simulation.temperature, target);
    pool.draft_distribution(k, pool.strength(), simulation.temperature, draft);
    tables.add(*rule, {.target = target, .draft = draft});
  }
  return make_pooled_simulator(std::move(tables), shape, simulation.iterations);
}

std::unique_ptr<Simulator> make_given(const GivenDistributions& given, const TokenSimulation& simulation) {
  const IterationShape shape = checked_shape(simulation);
  scenario::check_distributions(given);
  const auto vocabulary = std::ssize(given.target.front());
  PooledTables tables(vocabulary, std::ssize(given.target), make_rule(given, 0, simulation.rule)->candidates());
  for (std::size_t k = 0; k < given.target.size(); ++k) {
    std::vector<double> target = given.target[k];
    std::vector<double> draft = given.draft[k];
    apply_temperature(target, simulation.temperature);
    apply_temperature(draft, simulation.temperature);
    tables.add(*make_rule(given, k, simulation.rule), {.target = target, .draft = draft});
  }
  return make_pooled_simulator(std::move(tables), shape, simulation.iterations);
}

}  // namespace

IterationShape checked_shape(const TokenSimulation& simulation) {
  check_range("gamma", simulation.gamma, min_gamma(simulation.convention), max_token_gamma);
  return {.gamma = simulation.gamma, .convention = simulation.convention, .drafting = simulation.drafting};
}

std::unique_ptr<Simulator> make_token_simulator(TokenSimulation simulation, std::uint64_t seed, StopToken stop) {
  check_temperature(simulation.temperature);
  if (const auto* synthetic = std::get_if<SyntheticModels>(&simulation.models)) {
    return make_synthetic(*synthetic, simulation, seed, stop);
  }
  if (const auto* given = std::get_if<GivenDistributions>(&simulation.models)) return make_given(*given, simulation);
  if (std::holds_alternative<PromptLookupPair>(simulation.models)) return make_prompt_lookup_simulator(simulation);
  return make_ngram_simulator(simulation);
}

Tally TokenSimulator::run_block(const RunKey& key, std::uint64_t block) const {
  return tally_independent(shape_, run_(key, block, plan_.in_block(block), nullptr));
}

EmittedTokens TokenSimulator::emit_block(const RunKey& key, std::uint64_t block) const {
  EmittedTokens emitted(plan_.in_block(block));
  static_cast<void>(run_(key, block, emitted.size(), &emitted));
  return emitted;
}

double expected_acceptance(const Simulator& simulator) {
  const auto* token_simulator = dynamic_cast<const TokenSimulator*>(&simulator);
  return token_simulator == nullptr ? std::numeric_limits<double>::quiet_NaN() : token_simulator->expected_acceptance();
}

const std::vector<ModelEntry>& model_registry() {
  static const std::vector<ModelEntry> entries{
      {.name = "dirichlet", .summary = "synthetic: distributions drawn from a symmetric Dirichlet distribution"},
      {.name = "gaussian_logits", .summary = "synthetic: softmax of independent normal logits"},
      {.name = "ngram", .summary = "two n-gram models trained on text; the target writes, the drafter drafts"},
      {.name = "zipf", .summary = "synthetic: probabilities that fall as a power of the rank, ranks shuffled"},
  };
  return entries;
}

}  // namespace foredraft::sim
