// SPDX-License-Identifier: Apache-2.0
#include "sim/process/process_simulation.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/check.hpp"
#include "scenario/registries.hpp"
#include "sim/process/simulators.hpp"

namespace foredraft::sim {
namespace {

/// Tallies have a few counters a position; 2^24 positions are a gigabyte. What memory bears: a sweep, which holds many
/// points at a time, asks for less.
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

  /// Where the ranges of the parameters say it all.
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

}  // namespace foredraft::sim
