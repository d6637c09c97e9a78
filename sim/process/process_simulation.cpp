// SPDX-License-Identifier: Apache-2.0
#include "sim/process/process_simulation.hpp"

#include <fmt/format.h>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"
#include "sim/process/simulators.hpp"

namespace foredraft::sim {
namespace {

/// Maximum gamma. Tallies have a few counters per position; 2^24 positions are a gigabyte. This is a limit of memory; a
/// sweep, which holds many points at a time, sets a lower one.
constexpr std::int64_t largest_gamma = std::int64_t{1} << 24U;

/// Keeps the lengths and the draws of a sequence far inside 64 bits.
constexpr double longest_sequence = 1e9;

void check_chain(double a, double b) {
  if (a < 1.0 || b > 0.0) return;
  throw DomainError(fmt::format("invalid b={} (must be above 0 when a is 1: the chain never leaves either state)", b));
}

void check_recording(const Recording& recording) {
  bool observed = recording.sequences.empty();
  for (std::size_t i = 0; i < recording.sequences.size(); ++i) {
    const std::vector<std::int8_t>& sequence = recording.sequences[i];
    if (sequence.empty()) throw DomainError(fmt::format("invalid trace[{}] (must have at least one outcome)", i));
    for (std::size_t j = 0; j < sequence.size(); ++j) {
      const std::int8_t outcome = sequence[j];
      if (outcome < -1 || outcome > 1) {
        throw DomainError(fmt::format("invalid trace[{}][{}]={} (must be 1 accepted, 0 rejected or -1 not observed)", i,
                                      j, static_cast<int>(outcome)));
      }
      observed = observed || outcome >= 0;
    }
  }
  if (!observed) throw DomainError("invalid trace (must have at least one observed outcome)");
  for (std::size_t i = 0; i < recording.accepted_from.size(); ++i) {
    const std::vector<std::int32_t>& sequence = recording.accepted_from[i];
    check_at_least(fmt::format("trace[{}] positions", i), static_cast<std::int64_t>(sequence.size()), 1);
    for (const std::int32_t accepted : sequence) check_at_least(fmt::format("trace[{}]", i), accepted, 0);
  }
}

void check_process(const AcceptanceProcess& process, std::int64_t gamma) {
  scenario::check_acceptance(process, gamma);
  if (const auto* positional = std::get_if<Positional>(&process)) {
    check_probabilities("conditional", positional->conditional);
  } else if (const auto* chain = std::get_if<Markov>(&process)) {
    check_chain(chain->a, chain->b);
  } else if (const auto* runs = std::get_if<Runs>(&process)) {
    check_chain(runs->a, runs->b);
    check_range("gamma", gamma, 0, max_runs_gamma);
  } else if (const auto* trace = std::get_if<Trace>(&process)) {
    const Recording* recording = trace->recording.get();
    if (recording == nullptr || (recording->sequences.empty() && recording->accepted_from.empty())) {
      throw DomainError("invalid trace (must have at least one sequence)");
    }
    check_recording(*recording);
  }
}

void check_sequence(const AcceptanceProcess& process, const SequenceLength& distribution) {
  if (std::holds_alternative<Trace>(process)) {
    throw DomainError("invalid sequence (must be absent: a trace brings its own sequences)");
  }
  if (std::holds_alternative<Runs>(process)) {
    throw DomainError("invalid sequence (must be absent: acceptance in runs is of an endless text)");
  }
  if (!(distribution.tokens >= 1.0 && distribution.tokens <= longest_sequence)) {
    throw DomainError(fmt::format("invalid tokens={} (must lie in 1 to {})", distribution.tokens, longest_sequence));
  }
  if (!distribution.geometric && distribution.tokens != std::floor(distribution.tokens)) {
    throw DomainError(
        fmt::format("invalid tokens={} (must be whole for sequences of fixed length)", distribution.tokens));
  }
}

}  // namespace

std::unique_ptr<Simulator> make_process_simulator(ProcessSimulation simulation) {
  check_range("gamma", simulation.gamma, min_gamma(simulation.convention), largest_gamma);
  check_process(simulation.process, simulation.gamma);
  if (simulation.sequence) check_sequence(simulation.process, *simulation.sequence);
  if (std::holds_alternative<Runs>(simulation.process) && simulation.convention != Convention::bonus) {
    throw DomainError("invalid convention for acceptance in runs (must be bonus)");
  }
  if (!std::holds_alternative<ConstantGamma>(simulation.policy)) return make_policy_simulator(simulation);
  return make_constant_simulator(simulation);
}

std::vector<std::int8_t> trace_from_accepted_counts(const std::vector<std::int64_t>& accepted, std::int64_t gamma,
                                                    Convention convention) {
  check_range("gamma", gamma, min_gamma(convention), largest_gamma);
  if (accepted.empty()) throw DomainError("invalid accepted (must have at least one entry)");
  std::vector<std::int8_t> outcomes;
  for (std::size_t i = 0; i < accepted.size(); ++i) {
    check_range(fmt::format("accepted[{}]", i), accepted[i], 0, gamma);
    outcomes.insert(outcomes.end(), static_cast<std::size_t>(accepted[i]), std::int8_t{1});
    if (accepted[i] < gamma) {
      outcomes.push_back(0);
    } else if (convention == Convention::bonus) {
      outcomes.push_back(-1);
    }
  }
  return outcomes;
}

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
      throw DomainError(fmt::format("invalid drafter.decay={} (must be 1 with drafter.accuracies)", drafter.decay));
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

  void operator()(const NgramDrafter& /*drafter*/) const { reject_real_tokens(); }
  void operator()(const PromptLookup& /*drafter*/) const { reject_real_tokens(); }

 private:
  [[noreturn]] void reject_real_tokens() const {
    throw DomainError(fmt::format(
        "invalid drafter={} (must be one that process fidelity supports: {} drafts real tokens)", name_, name_));
  }

  /// Requires an Iid process; returns the acceptance of its first draft.
  [[nodiscard]] double first_acceptance() const {
    if (const auto* iid = std::get_if<Iid>(&simulation_.process)) return iid->alpha;
    throw DomainError(
        fmt::format("invalid process for drafter {} (must be iid: the drafter determines later acceptances)", name_));
  }

  /// Replaces an Iid process by one whose acceptance falls by `factor` per position; a factor of 1 changes nothing.
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

namespace {

/// A probability and its complement, the smaller one to full relative accuracy.
struct Odds {
  double accept;
  double reject;
};

Odds from_probability(double accept) { return {accept, 1.0 - accept}; }

struct AcceptanceAt {
  std::size_t position;
  bool after_acceptance;

  Odds operator()(const Iid& process) const { return from_probability(process.alpha); }

  Odds operator()(const Positional& process) const { return from_probability(process.conditional[position]); }

  Odds operator()(const BetaMixture& process) const {
    const double a = process.a + static_cast<double>(position);
    return {1.0 / (1.0 + process.b / a), 1.0 / (1.0 + a / process.b)};
  }

  Odds operator()(const Markov& process) const {
    return from_probability(position == 0 && !after_acceptance ? process.b : process.a);
  }

  Odds operator()(const Observed& /*process*/) const { throw std::logic_error("the log was not read"); }

  Odds operator()(const Runs& /*process*/) const { throw std::logic_error("runs have memory beyond one token"); }

  Odds operator()(const Trace& /*process*/) const { throw std::logic_error("a trace has no acceptance probability"); }
};

}  // namespace

Thresholds acceptance_thresholds(const AcceptanceProcess& process, std::int64_t positions, bool after_acceptance) {
  Thresholds thresholds;
  thresholds.reserve(static_cast<std::size_t>(positions));
  for (std::size_t k = 0; k < static_cast<std::size_t>(positions); ++k) {
    const Odds odds = std::visit(AcceptanceAt{k, after_acceptance}, process);
    thresholds.push_back(threshold_of(odds.accept, odds.reject));
  }
  return thresholds;
}

Thresholds survival_thresholds(const AcceptanceProcess& process, std::int64_t positions, bool after_acceptance) {
  Thresholds thresholds;
  thresholds.reserve(static_cast<std::size_t>(positions));
  FixedProbability survival;
  for (std::size_t k = 0; k < static_cast<std::size_t>(positions); ++k) {
    const Odds odds = std::visit(AcceptanceAt{k, after_acceptance}, process);
    survival.multiply(odds.accept, odds.reject);
    thresholds.push_back(survival.threshold());
  }
  return thresholds;
}

}  // namespace foredraft::sim
