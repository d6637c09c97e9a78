// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/decoding_cost.hpp"
#include "core/words.hpp"
#include "experiments/cost/cost_registry.hpp"
#include "sim/system/serving_simulation.hpp"
#include "sim/token/models/model_pair.hpp"
#include "sim/token/token_simulation.hpp"

namespace foredraft::experiments {

enum class Fidelity { process, token, system };
enum class PolicyKind { constant, plus2_minus1, confidence_threshold, optimal_stopping };
enum class ProcessKind { iid, positional, beta_mixture, markov, trace };

/// How the two models of a token simulation are made.
struct ModelInputs {
  bool ngram = false;
  sim::TargetLaw target = sim::TargetLaw::gaussian_logits;
  double parameter = 0.0;  ///< of the target law
  std::int64_t vocabulary = 0;
  sim::DraftLaw draft = sim::DraftLaw::noise;
  double alpha = 0.0;
  std::int64_t pool = 0;
  std::vector<std::string> corpus;  ///< "prose", "code" or files
  std::int64_t target_order = 0;
  std::int64_t draft_order = 0;
};

/// How long drafts are; gamma is the longest.
struct PolicyInputs {
  PolicyKind kind = PolicyKind::constant;
  std::int64_t start = 0;
  double threshold = 0.0;
  double concentration = 0.0;
  double bias = 1.0;
};

/// A server and its requests.
struct ServingInputs {
  sim::Batching batching = sim::Batching::continuous;
  std::int64_t max_batch = 1;
  std::vector<sim::GammaRange> gamma_schedule;  ///< empty: gamma whatever the batch
  sim::ArrivalLaw arrivals{.kind = sim::ArrivalKind::poisson};
  sim::LengthLaw prompt{.tokens = 0.0};
  sim::LengthLaw output{.tokens = 1.0};
  sim::RooflineStep target_step;
  sim::RooflineStep drafter_step;
  std::optional<double> latency_goal_us;
};

/// All inputs of one point, resolved. What a point does not use keeps its initial value;
/// config/parameter_table.cpp says how the rest is filled.
struct PointInputs {
  Fidelity fidelity = Fidelity::process;
  Convention convention = Convention::bonus;
  std::string drafter = "autoregressive";            ///< a name of sim::drafter_registry() ...
  Drafting drafting = Drafting::autoregressive;      ///< ... and what it is charged
  std::map<std::string, double> drafter_parameters;  ///< of any drafter of the sweep
  std::vector<double> head_accuracies;               ///< of heads; may be empty
  PolicyInputs policy;
  std::int64_t gamma = 0;
  std::string cost = "constant_ratio";     ///< a name of cost_registry() ...
  CostValues cost_values;                  ///< ... and the parameters of any cost model of the sweep
  CostTexts cost_texts;                    ///< likewise: devices and models
  std::optional<double> operations_ratio;  ///< c-hat
  // process fidelity
  ProcessKind process = ProcessKind::iid;
  double alpha = 0.0;
  double process_a = 0.0;
  double process_b = 0.0;
  std::vector<double> conditional;  ///< positional; from marginals where those were given
  std::string trace_file;
  std::int64_t recorded_gamma = 0;        ///< of a trace of accepted counts; 0: not given
  std::optional<double> sequence_length;  ///< tokens; absent: one endless text
  bool geometric_length = false;
  // token fidelity
  std::string rule;
  std::map<std::string, double> rule_parameters;
  double temperature = 1.0;
  sim::Contexts contexts = sim::Contexts::pooled;
  ModelInputs models;
  // system fidelity, beside alpha
  ServingInputs serving;
};

/// What a cost depends on beyond numbers of its own; refers into `inputs`.
[[nodiscard]] inline CostSetting cost_setting(const PointInputs& inputs) {
  return {.texts = inputs.cost_texts,
          .drafter = inputs.drafter,
          .drafting = inputs.drafting,
          .convention = inputs.convention,
          .gamma = inputs.gamma};
}

/// What decoding costs at this point; nothing where that was not given, and of a server, whose batches vary.
[[nodiscard]] inline std::optional<DecodingCost> decoding_cost(const PointInputs& inputs) {
  if (inputs.fidelity == Fidelity::system) return std::nullopt;
  return decoding_cost(inputs.cost, inputs.cost_values, cost_setting(inputs));
}

}  // namespace foredraft::experiments
