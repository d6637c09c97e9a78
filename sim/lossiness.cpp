// SPDX-License-Identifier: Apache-2.0
#include "foredraft/lossiness.hpp"

#include <fmt/format.h>
#include <cmath>
#include <iterator>
#include <memory>
#include <vector>

#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/check.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"
#include "sim/token/pooled/text_contexts.hpp"

namespace foredraft {
namespace {

/// The contexts of a scenario, with temperature and truncation applied. Throws DomainError unless they are a finite
/// pool.
GivenDistributions contexts_of(const TokenFidelity& token, std::uint64_t seed) {
  const sim::TokenSampling sampling = sim::sampling_of(token);
  if (const auto* synthetic = std::get_if<SyntheticModels>(&token.models)) {
    return sim::written_out(sim::SyntheticPool(*synthetic, seed), sampling);
  }
  const auto* models = std::get_if<GivenModels>(&token.models);
  if (models == nullptr) {
    throw DomainError(
        "invalid models=ngram (must be synthetic or given for a loss: text has no finite pool of contexts)");
  }
  return sim::as_drawn(*models->distributions, sampling);
}

/// The contexts of a scenario, each with its rule.
class PoolContexts {
 public:
  PoolContexts(const Scenario& scenario, std::uint64_t seed) {
    scenario::check_scenario(scenario);
    const auto* token = std::get_if<TokenFidelity>(&scenario.fidelity);
    if (token == nullptr) throw DomainError("invalid fidelity (must be token: others have no distributions)");
    given_ = contexts_of(*token, seed);
    for (std::size_t k = 0; k < size(); ++k) rules_.push_back(sim::make_rule(given_, k, token->rule));
  }

  [[nodiscard]] std::size_t size() const { return given_.target.size(); }
  [[nodiscard]] const sim::VerificationRule& rule(std::size_t k) const { return *rules_[k]; }
  [[nodiscard]] sim::PositionDistributions distributions(std::size_t k) const {
    return {.target = given_.target[k], .draft = given_.draft[k]};
  }

 private:
  GivenDistributions given_;
  std::vector<std::unique_ptr<const sim::VerificationRule>> rules_;
};

/// Throws DomainError unless the joint distribution of so many tokens can be enumerated.
void check_joint(const PoolContexts& contexts, std::int64_t tokens) {
  check_range("tokens", tokens, 1, max_joint_tokens);
  if (tokens == 1) return;
  if (contexts.rule(0).verifies_blocks()) {
    throw DomainError(fmt::format(
        "invalid tokens={} (must be 1 for block_verification, which leaves all joint distributions unchanged)",
        tokens));
  }
  const auto vocabulary = std::ssize(contexts.distributions(0).target);
  if (std::pow(static_cast<double>(vocabulary), static_cast<double>(tokens)) <= double{max_joint_outcomes}) return;
  throw DomainError(
      fmt::format("invalid tokens={} (must have at most {} outcomes, has {}^{}; use a smaller vocabulary)", tokens,
                  max_joint_outcomes, vocabulary, tokens));
}

}  // namespace

Lossiness lossiness(const Scenario& scenario, std::uint64_t seed, std::int64_t tokens) {
  const PoolContexts contexts(scenario, seed);
  check_joint(contexts, tokens);
  std::vector<sim::PositionLossiness> positions;
  for (std::size_t k = 0; k < contexts.size(); ++k) {
    sim::PositionLossiness& loss = positions.emplace_back(sim::lossiness(contexts.rule(k), contexts.distributions(k)));
    if (tokens == 1) continue;
    std::vector<sim::ContextRule> successive;
    for (std::size_t t = 0; t < static_cast<std::size_t>(tokens); ++t) {
      const std::size_t context = (k + t) % contexts.size();
      successive.push_back({.rule = &contexts.rule(context), .distributions = contexts.distributions(context)});
    }
    loss.joint_total_variation = sim::joint_total_variation(successive, scenario.gamma, scenario.convention);
  }
  return sim::mean_lossiness(positions);
}

std::vector<std::vector<double>> emitted_distributions(const Scenario& scenario, std::uint64_t seed) {
  const PoolContexts contexts(scenario, seed);
  std::vector<std::vector<double>> emitted;
  for (std::size_t k = 0; k < contexts.size(); ++k) {
    emitted.push_back(sim::emitted_distribution(contexts.rule(k), contexts.distributions(k)));
  }
  return emitted;
}

}  // namespace foredraft
