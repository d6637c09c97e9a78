// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/parameter_building.hpp"
#include "sim/drafter/drafter_registry.hpp"

namespace foredraft::experiments::building {
namespace {

/// In process fidelity a drafter's parameters say how often its drafts are accepted; those of a drafter of token
/// fidelity alone say how it drafts.
Used with_drafter(const sim::DrafterEntry& drafter) {
  return [name = std::string(drafter.name), where = drafter.process ? process : token](const Usage& usage) {
    return where(usage) && usage.takes("drafter", name);
  };
}
Used with_policy(std::string name) {
  return [name = std::move(name)](const Usage& usage) { return process(usage) && usage.takes("policy", name); };
}

Parameter drafter_parameter(const sim::DrafterParameter& entry, Used used) {
  const std::string name(entry.name);
  const auto assign = [name](PointInputs& to, const Value& value) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    to.drafter_parameters[name] = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
  };
  const auto make = entry.whole ? integer : real;
  Parameter result =
      make("drafter." + name, entry.minimum, entry.maximum, std::string(entry.summary), std::move(used), assign);
  if (!entry.default_value) return mandatory(std::move(result));
  if (entry.whole) return with_default(std::move(result), static_cast<std::int64_t>(*entry.default_value));
  return with_default(std::move(result), *entry.default_value);
}

}  // namespace

void add_drafter_parameters(std::vector<Parameter>& table) {
  for (const sim::DrafterEntry& drafter : sim::drafter_registry()) {
    const Used of_this_drafter = with_drafter(drafter);
    for (const sim::DrafterParameter& entry : drafter.parameters) {
      Parameter parameter = drafter_parameter(entry, of_this_drafter);
      // Acceptance that does not fall was all there was once.
      if (entry.name == "decay") parameter.implied = true;
      add_shared(table, std::move(parameter));
    }
  }
  table.push_back(typed("drafter.accuracies", ValueType::reals,
                        "heads: [i] head i right given that all before it were, instead of alpha and drafter.decay",
                        with_drafter(*sim::find_drafter("heads")),
                        store<std::vector<double>>(&PointInputs::head_accuracies)));
}

void add_policy_parameters(std::vector<Parameter>& table) {
  const std::vector<std::string> names{"constant", "plus2_minus1", "confidence_threshold", "optimal_stopping"};
  table.push_back(
      implied(choice("policy", names, "how long drafts are, gamma at most; foredraft list policies", process,
                     store_word<PolicyKind>(names, [](PointInputs& to, PolicyKind kind) { to.policy.kind = kind; }))));
  table.back().aliases = {{"heuristic", "plus2_minus1"}};
  table.push_back(with_default(
      integer("policy.start", 1, 1e4,
              "plus2_minus1: drafts of a text's first iteration, or gamma where that is less; the long run forgets it",
              with_policy("plus2_minus1"), store<std::int64_t>(&PolicyInputs::start)),
      std::int64_t{5}));
  table.push_back(mandatory(real("policy.threshold", 0, 1,
                                 "confidence_threshold: drafting stops behind a token of confidence below it",
                                 with_policy("confidence_threshold"), store<double>(&PolicyInputs::threshold))));
  table.push_back(mandatory(
      real("policy.concentration", 1e-6, 1e9,
           "confidence_threshold: s of the law Beta(alpha s, (1 - alpha) s) of a token's acceptance; large: all alike",
           with_policy("confidence_threshold"), store<double>(&PolicyInputs::concentration))));
  table.push_back(with_default(
      real("policy.bias", 1e-3, 1e3,
           "confidence_threshold: confidence is acceptance to this power; 1 calibrated, below 1 overconfident",
           with_policy("confidence_threshold"), store<double>(&PolicyInputs::bias)),
      1.0));
}

}  // namespace foredraft::experiments::building
