// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/intervals.hpp"
#include "experiments/config/metrics.hpp"
#include "experiments/config/sweep_config.hpp"
#include "experiments/sweep/resources.hpp"
#include "sim/simulator.hpp"

/// What is known about one point: a closed form and a simulation for each quantity, where they exist.
namespace foredraft::experiments {

/// +infinity stands for unbounded.
using AnalyticAnswer = std::array<std::optional<double>, metric_count>;

struct SimulatedAnswer {
  std::array<std::optional<Estimate>, metric_count> estimates;
  std::uint64_t iterations = 0;
  std::uint64_t units = 0;  ///< independent units behind the standard errors
};

/// Closed forms from analytic/. `pool_acceptance` is the exact acceptance of a token simulation with pooled contexts,
/// where iterations are i.i.d.; NaN otherwise.
[[nodiscard]] AnalyticAnswer analytic_answer(const PointInputs& inputs, double pool_acceptance);

/// A prepared simulation of one point.
[[nodiscard]] std::unique_ptr<sim::Simulator> make_simulator(const PointInputs& inputs, const SimulationPlan& plan,
                                                             Resources& resources);

/// The pool_acceptance of analytic_answer for a simulator of make_simulator.
[[nodiscard]] double pool_acceptance(const PointInputs& inputs, const sim::Simulator& simulator);

[[nodiscard]] SimulatedAnswer simulated_answer(const PointInputs& inputs, const sim::Tally& tally);

/// (simulated - analytic) / standard error of a metric; 0 where both agree to round-off; always finite. Nothing where
/// one of the three is missing, or where no unit of the simulation differs from another: its standard error of 0 says
/// nothing then. Where the closed form has a variance of tokens, tokens per iteration are compared in that case by the
/// standard error that it implies, and the other metrics where it implies none: docs/metrics.md.
[[nodiscard]] std::optional<double> deviation_in_se(const AnalyticAnswer& analytic, const SimulatedAnswer& simulated,
                                                    std::size_t metric);

/// The parts of the above that a server answers.
[[nodiscard]] AnalyticAnswer serving_answer(const PointInputs& inputs);
[[nodiscard]] std::unique_ptr<sim::Simulator> make_server(const PointInputs& inputs, const SimulationPlan& plan);
/// Asks for the times of the smallest and largest passes of a server. Throws DomainError where one is not known.
void ask_extreme_passes(const PointInputs& inputs);
void add_serving_estimates(const PointInputs& inputs, const sim::ServingTally& tally, SimulatedAnswer& answer);

/// Columns of points.csv behind the inputs.
[[nodiscard]] std::vector<std::string> answer_columns(const SweepConfig& config);

/// The cells that go with answer_columns, commas between, without a line end. `simulated` is null without simulation.
void append_answer(const SweepConfig& config, const AnalyticAnswer& analytic, const SimulatedAnswer* simulated,
                   std::string& row);

}  // namespace foredraft::experiments
