// SPDX-License-Identifier: Apache-2.0
#include "sim/process/process_simulation.hpp"

#include <fmt/format.h>
#include <cmath>
#include <stdexcept>

#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "scenario/family.hpp"
#include "sim/process/simulators.hpp"

namespace foredraft::sim {
namespace {

/// Maximum gamma. Tallies have a few counters per position; 2^24 positions are a gigabyte. This is a limit of memory; a
/// sweep, which holds many points at a time, sets a lower one.
constexpr std::int64_t largest_gamma = std::int64_t{1} << 24U;

/// Keeps the lengths and the draws of a sequence far inside 64 bits.
constexpr double longest_sequence = 1e9;

/// Below it the log-odds of a Beta variate overflow.
constexpr double smallest_shape = 1e-300;

void check_shape(const char* name, double value) {
  check_positive(name, value);
  if (value < smallest_shape) {
    throw DomainError(fmt::format("invalid {}={} (must be at least {})", name, value, smallest_shape));
  }
}

void check_chain(double a, double b) {
  check_probability("a", a);
  check_probability("b", b);
  if (a < 1.0 || b > 0.0) return;
  throw DomainError(fmt::format("invalid b={} (must be above 0 when a is 1: the chain never leaves either state)", b));
}

void check_outcomes(const std::vector<std::vector<std::int8_t>>& sequences) {
  bool observed = false;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    if (sequences[i].empty()) throw DomainError(fmt::format("invalid trace[{}] (must have at least one outcome)", i));
    for (std::size_t j = 0; j < sequences[i].size(); ++j) {
      const std::int8_t outcome = sequences[i][j];
      if (outcome < -1 || outcome > 1) {
        throw DomainError(fmt::format("invalid trace[{}][{}]={} (must be 1 accepted, 0 rejected or -1 not observed)", i,
                                      j, static_cast<int>(outcome)));
      }
      observed = observed || outcome >= 0;
    }
  }
  if (!observed) throw DomainError("invalid trace (must have at least one observed outcome)");
}

struct CheckProcess {
  std::int64_t gamma;

  void operator()(const Iid& process) const { check_probability("alpha", process.alpha); }

  void operator()(const Positional& process) const {
    check_probabilities("conditional", process.conditional);
    const auto positions = static_cast<std::int64_t>(process.conditional.size());
    if (gamma > positions) {
      throw DomainError(fmt::format("invalid gamma={} (must be at most {}, the number of conditional acceptances)",
                                    gamma, positions));
    }
  }

  void operator()(const BetaMixture& process) const {
    check_shape("a", process.a);
    check_shape("b", process.b);
  }

  void operator()(const Markov& process) const { check_chain(process.a, process.b); }

  void operator()(const Runs& process) const {
    scenario::check_ranges(scenario::processes(), AcceptanceProcess(process));
    check_chain(process.a, process.b);
    check_range("gamma", gamma, 0, max_runs_gamma);
  }

  /// Nothing to check beyond the ranges of the parameters.
  template <class Process>
  void operator()(const Process& process) const {
    scenario::check_ranges(scenario::processes(), AcceptanceProcess(process));
  }

  void operator()(const Trace& process) const {
    const Recording* recording = process.recording.get();
    if (recording == nullptr || (recording->sequences.empty() && recording->accepted_from.empty())) {
      throw DomainError("invalid trace (must have at least one sequence)");
    }
    if (!recording->sequences.empty()) check_outcomes(recording->sequences);
    for (std::size_t i = 0; i < recording->accepted_from.size(); ++i) {
      const std::vector<std::int32_t>& sequence = recording->accepted_from[i];
      check_at_least(fmt::format("trace[{}] positions", i), static_cast<std::int64_t>(sequence.size()), 1);
      for (const std::int32_t accepted : sequence) check_at_least(fmt::format("trace[{}]", i), accepted, 0);
    }
  }
};

void check_sequence(const AcceptanceProcess& process, const SequenceLength& law) {
  if (std::holds_alternative<Trace>(process)) {
    throw DomainError("invalid sequence (must be absent: a trace brings its own sequences)");
  }
  if (std::holds_alternative<Runs>(process)) {
    throw DomainError("invalid sequence (must be absent: acceptance in runs is of an endless text)");
  }
  if (!(law.tokens >= 1.0 && law.tokens <= longest_sequence)) {
    throw DomainError(fmt::format("invalid tokens={} (must lie in 1 to {})", law.tokens, longest_sequence));
  }
  if (!law.geometric && law.tokens != std::floor(law.tokens)) {
    throw DomainError(fmt::format("invalid tokens={} (must be whole for sequences of fixed length)", law.tokens));
  }
}

}  // namespace

std::unique_ptr<Simulator> make_process_simulator(ProcessSimulation simulation) {
  check_range("gamma", simulation.gamma, min_gamma(simulation.convention), largest_gamma);
  std::visit(CheckProcess{simulation.gamma}, simulation.process);
  const IterationShape shape{simulation.gamma, simulation.convention, simulation.drafting};
  if (simulation.sequence) check_sequence(simulation.process, *simulation.sequence);
  if (std::holds_alternative<Runs>(simulation.process) && simulation.convention != Convention::bonus) {
    throw DomainError("invalid convention for acceptance in runs (must be bonus)");
  }
  if (!std::holds_alternative<ConstantGamma>(simulation.policy)) return make_policy_simulator(simulation);
  if (simulation.sequence) {
    return make_sequence_simulator(simulation.process, shape, *simulation.sequence, simulation.sequences,
                                   simulation.path);
  }
  if (const auto* trace = std::get_if<Trace>(&simulation.process)) return make_trace_simulator(trace->recording, shape);
  if (const auto* chain = std::get_if<Markov>(&simulation.process)) {
    return make_markov_simulator(*chain, shape, simulation.iterations, simulation.path);
  }
  if (const auto* runs = std::get_if<Runs>(&simulation.process)) {
    return make_runs_simulator(*runs, shape, simulation.iterations);
  }
  return make_independent_simulator(simulation.process, shape, simulation.iterations, simulation.path);
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

  void operator()(const NgramDrafter& /*drafter*/) const { refuse_real_tokens(); }
  void operator()(const PromptLookup& /*drafter*/) const { refuse_real_tokens(); }

 private:
  [[noreturn]] void refuse_real_tokens() const {
    throw DomainError(fmt::format(
        "invalid drafter={} (must be one that process fidelity supports: {} drafts real tokens)", name_, name_));
  }

  /// Requires an Iid process; returns the acceptance of its first draft.
  [[nodiscard]] double first_acceptance() const {
    if (const auto* iid = std::get_if<Iid>(&simulation_.process)) return iid->alpha;
    throw DomainError(
        fmt::format("invalid process for drafter {} (must be iid: the drafter determines later acceptances)", name_));
  }

  /// Replaces an Iid process by one whose acceptance falls by `factor` from each position to the next; leaves any
  /// process unchanged for a factor of 1.
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
