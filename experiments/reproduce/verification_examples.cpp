// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "experiments/reproduce/formula.hpp"
#include "experiments/reproduce/registry.hpp"
#include "experiments/reproduce/table_account.hpp"
#include "foredraft/models.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "scenario/rules.hpp"
#include "sim/estimates.hpp"
#include "sim/simulate.hpp"
#include "sim/token/distribution/block_verification.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::experiments {
namespace {

/// Two tokens, the same in every context [Sun2025, Sec. 2].
const std::vector<double> example_target{1.0 / 3.0, 2.0 / 3.0};
const std::vector<double> example_draft{2.0 / 3.0, 1.0 / 3.0};

/// Mean accepted drafts of two: with block verification, and with a rule that uses both joint distributions, which
/// accepts a block of each length with probability sum min(P, Q).
void block_example(TableAccount& account, const ExperimentSettings&) {
  double token = 0.0;
  double block = 0.0;
  double joint = 0.0;
  for (const std::size_t first : {0U, 1U}) {
    const double p = example_target[first];
    const double q = example_draft[first];
    const double ratio = sim::block_ratio(1.0, p, q);
    const double mass = sim::block_residual_mass(ratio, {.target = example_target, .draft = example_draft});
    const double one = sim::block_acceptance(ratio, mass);
    token += std::min(p, q);
    joint += std::min(p, q);
    for (const std::size_t second : {0U, 1U}) {
      const double both = sim::block_ratio(ratio, example_target[second], example_draft[second]);
      block += q * example_draft[second] * (2.0 * both + (1.0 - both) * one);
      joint += std::min(p * example_target[second], q * example_draft[second]);
    }
  }
  account.define("token", token + token * token);
  account.define("block", block);
  account.define("joint", joint);
}

/// Token gain of block verification on a synthetic pair with the printed acceptance, by draft length.
void block_lengths(TableAccount& account, const ExperimentSettings& settings) {
  const SyntheticModels pair{.target = TargetDistribution::gaussian_logits,
                             .parameter = 10.0,
                             .vocabulary = 1000,
                             .draft = DraftDistribution::noise,
                             .alpha = account.value("alpha", 0)};
  std::uint64_t point = 0;
  const auto tokens = [&](const Rule& rule, std::int64_t gamma) {
    const auto simulator = sim::make_simulator(
        {.fidelity = TokenFidelity{.rule = rule, .models = pair}, .gamma = gamma}, {.iterations = 200'000});
    const sim::RunKey key{.seed = settings.seed, .point = point++, .stop = settings.stop};
    return sim::tokens_per_iteration(sim::run(*simulator, key, settings.threads)).mean;
  };
  std::map<std::int64_t, double> gains;
  for (std::size_t row = 0; row < account.published().size(); ++row) {
    const std::int64_t gamma = account.published().count(row, "gamma");
    gains[gamma] = tokens(scenario::make_rule("block_verification", {}), gamma) /
                   tokens(scenario::make_rule("rejection_sampling", {}), gamma);
  }
  account.define("synthetic_gain", [gains](const Cells& at) { return gains.at(at.table().count(at.row(), "gamma")); });
}

}  // namespace

ExperimentCodes verification_examples() {
  return {{"block-rule-example", block_example}, {"block-rule-lengths", block_lengths}};
}

}  // namespace foredraft::experiments
