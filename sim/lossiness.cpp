// SPDX-License-Identifier: Apache-2.0
#include "foredraft/lossiness.hpp"

#include <memory>

#include "foredraft/errors.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/check.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"
#include "sim/token/rows/row_operations.hpp"

namespace foredraft {
namespace {

/// The contexts of a scenario, with its temperature applied. Throws DomainError unless they are a finite pool.
GivenDistributions contexts_of(const TokenFidelity& token, std::uint64_t seed) {
  if (const auto* synthetic = std::get_if<SyntheticModels>(&token.models)) {
    return sim::written_out(sim::SyntheticPool(*synthetic, seed), token.temperature);
  }
  const auto* models = std::get_if<GivenModels>(&token.models);
  if (models == nullptr) {
    throw DomainError(
        "invalid models=ngram (must be synthetic or given for a loss: text has no finite pool of contexts)");
  }
  GivenDistributions given = *models->distributions;
  for (auto* rows : {&given.target, &given.draft}) {
    for (std::vector<double>& row : *rows) sim::apply_temperature(row, token.temperature);
  }
  return given;
}

/// Calls visit(rule, distributions) for every context, in order.
template <class Visit>
void each_context(const Scenario& scenario, std::uint64_t seed, const Visit& visit) {
  scenario::check_scenario(scenario);
  const auto* token = std::get_if<TokenFidelity>(&scenario.fidelity);
  if (token == nullptr) throw DomainError("invalid fidelity (must be token: others have no distributions)");
  const GivenDistributions given = contexts_of(*token, seed);
  for (std::size_t k = 0; k < given.target.size(); ++k) {
    visit(*sim::make_rule(given, k, token->rule),
          sim::PositionDistributions{.target = given.target[k], .draft = given.draft[k]});
  }
}

}  // namespace

Lossiness lossiness(const Scenario& scenario, std::uint64_t seed) {
  std::vector<sim::PositionLossiness> positions;
  each_context(scenario, seed, [&](const sim::VerificationRule& rule, const sim::PositionDistributions& distributions) {
    positions.push_back(sim::lossiness(rule, distributions));
  });
  return sim::mean_lossiness(positions);
}

std::vector<std::vector<double>> emitted_distributions(const Scenario& scenario, std::uint64_t seed) {
  std::vector<std::vector<double>> emitted;
  each_context(scenario, seed, [&](const sim::VerificationRule& rule, const sim::PositionDistributions& distributions) {
    emitted.push_back(sim::emitted_distribution(rule, distributions));
  });
  return emitted;
}

}  // namespace foredraft
