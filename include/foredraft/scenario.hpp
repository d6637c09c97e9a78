// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "foredraft/acceptance.hpp"
#include "foredraft/cost.hpp"
#include "foredraft/drafter.hpp"
#include "foredraft/models.hpp"
#include "foredraft/policy.hpp"
#include "foredraft/server.hpp"
#include "foredraft/value.hpp"
#include "foredraft/verification_rule.hpp"
#include "foredraft/words.hpp"

#pragma GCC visibility push(default)

/// A scenario: the question that closed forms and simulation answer. It holds the drafter, the acceptance, the draft
/// length and the cost of each forward pass. Plain values; scenario/ checks which combinations are valid.
namespace foredraft {

/// Text in sequences of a fixed or geometrically distributed number of tokens; the last iteration of a sequence is cut
/// short. It still drafts gamma tokens because the drafter does not know where the text ends. Drafts after the end
/// count as drafted but not as tested, so that the acceptance per tested token stays unbiased.
struct SequenceLength {
  double tokens = 1.0;     ///< the length, or its mean; >= 1
  bool geometric = false;  ///< the sequence ends after every token with probability 1 / tokens
};

/// Simulates only which drafts are accepted.
struct ProcessFidelity {
  AcceptanceProcess acceptance = Iid{};
  Policy policy = ConstantGamma{};
  std::optional<SequenceLength> sequence_length = {};  ///< empty: one endless text
};

/// Maximum draft length in token fidelity, where every drafted token is drawn and stored.
inline constexpr std::int64_t max_token_gamma = 100'000;
/// Minimum temperature above 0; below it, powers of probabilities leave the range of a double.
inline constexpr double min_temperature = 1e-6;

/// Simulates distributions, drafted tokens and their verification. The rule uses p and q after temperature and
/// truncation, so a lossless rule emits the truncated p.
struct TokenFidelity {
  Rule rule = RejectionSampling{};
  double temperature = 1.0;  ///< of both models; 0: argmax, lowest index on ties
  Models models = SyntheticModels{};
  std::optional<double> draft_temperature = {};  ///< of the drafter; 0: argmax; empty: `temperature`
  Truncation truncation = {};                    ///< of the target
  Truncation draft_truncation = {};              ///< of the drafter
};

using Fidelity = std::variant<ProcessFidelity, TokenFidelity, Server>;

/// One question. The variants hold only the parameters that apply: a server has no policy, a trace no alpha.
struct Scenario {
  /// Builds a scenario from parameters named as in TOML: Scenario::from({{"alpha", 0.8}, {"gamma", 5}, {"c", 0.05}}).
  /// Reads the files that they name. Throws InputError, which lists all problems, one per line.
  [[nodiscard]] static Scenario from(const std::vector<Input>& inputs);

  Fidelity fidelity = ProcessFidelity{};
  std::int64_t gamma = 0;  ///< drafted tokens per iteration; the maximum if there is a policy
  Convention convention = Convention::bonus;
  Drafter drafter = AutoregressiveDrafter{};
  Cost cost = ConstantRatio{};
  std::optional<double> operations_ratio = {};  ///< operations of a draft step divided by operations of a target step
};

}  // namespace foredraft

#pragma GCC visibility pop
