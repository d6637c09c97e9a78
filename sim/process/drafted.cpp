// SPDX-License-Identifier: Apache-2.0
#include "sim/process/drafted.hpp"

#include <fmt/format.h>
#include <cmath>

#include "foredraft/errors.hpp"
#include "scenario/registries.hpp"

namespace foredraft::sim {
namespace {

/// Puts the acceptance of a drafter into a process simulation.
class Draft {
 public:
  Draft(ProcessSimulation& simulation, std::string_view name) : simulation_(simulation), name_(name) {}

  void operator()(const AutoregressiveDrafter& /*drafter*/) const {}
  void operator()(const BlockDrafter& drafter) const { let_acceptance_decay(drafter.decay); }

  void operator()(const Heads& drafter) const {
    if (drafter.accuracies.empty()) {
      let_acceptance_decay(drafter.decay);
      return;
    }
    static_cast<void>(first_acceptance());
    if (drafter.decay != 1.0) {
      throw DomainError(fmt::format("invalid drafter.decay={} (must be 1 beside drafter.accuracies)", drafter.decay));
    }
    simulation_.process = Positional{drafter.accuracies};
  }

  void operator()(const InputCopy& drafter) const {
    static_cast<void>(first_acceptance());
    simulation_.process = Iid{1.0 - drafter.edit_rate};
    simulation_.policy = RealignAfterEdit{drafter.realign};
  }

  void operator()(const MlpSpeculator& drafter) const {
    let_acceptance_decay(std::pow(drafter.decay, 1.0 - drafter.recovery));
  }

  void operator()(const NgramDrafter& /*drafter*/) const { refuse_real_tokens(); }
  void operator()(const PromptLookup& /*drafter*/) const { refuse_real_tokens(); }

 private:
  [[noreturn]] void refuse_real_tokens() const {
    throw DomainError(
        fmt::format("invalid drafter={} (must be one of process fidelity: {} drafts real tokens)", name_, name_));
  }

  /// Requires an Iid process, the acceptance of whose first draft it returns.
  [[nodiscard]] double first_acceptance() const {
    if (const auto* iid = std::get_if<Iid>(&simulation_.process)) return iid->alpha;
    throw DomainError(
        fmt::format("invalid process for drafter {} (must be iid: the drafter says how acceptance goes on)", name_));
  }

  /// Replaces an Iid process by one whose acceptance falls by `factor` from each position to the next; leaves any
  /// process as it is for a factor of 1.
  void let_acceptance_decay(double factor) const {
    if (factor == 1.0) return;
    Positional falling;
    double acceptance = first_acceptance();
    for (std::int64_t i = 0; i < simulation_.gamma; ++i) {
      falling.conditional.push_back(acceptance);
      acceptance *= factor;
    }
    if (!falling.conditional.empty()) simulation_.process = std::move(falling);
  }

  ProcessSimulation& simulation_;
  std::string_view name_;
};

}  // namespace

ProcessSimulation drafted_by(const Drafter& drafter, ProcessSimulation simulation) {
  const scenario::DrafterMember& member = entry_of(scenario::drafters(), drafter);
  check_ranges(scenario::drafters(), drafter);
  if (member.charge == Drafting::free && !std::holds_alternative<ConstantGamma>(simulation.policy)) {
    throw DomainError(fmt::format("invalid policy for drafter {} (must be constant)", member.name));
  }
  simulation.drafting = member.charge;
  std::visit(Draft(simulation, member.name), drafter);
  return simulation;
}

}  // namespace foredraft::sim
