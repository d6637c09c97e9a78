// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/config/sweep_config.hpp"
#include "experiments/inputs/inputs.hpp"

namespace foredraft::experiments {

/// The points of a sweep, one at a time: index -> scenario. Nothing grows with their number.
class Points {
 public:
  explicit Points(const SweepConfig& config);

  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// Position on each axis; the last axis varies fastest. index < count().
  [[nodiscard]] std::vector<std::size_t> coordinates(std::uint64_t index) const;

  /// What it names (traces, profiles, texts) is not attached: Inputs::attach.
  [[nodiscard]] Scenario scenario(std::uint64_t index) const;

  /// The CSV cells of the inputs, each with a comma behind it: one per axis, then one per fixed input. Empty for an
  /// input that this point does not use.
  void append_cells(std::uint64_t index, std::string& row) const;

  /// The names that go with append_cells.
  [[nodiscard]] std::vector<std::string> columns() const;

 private:
  /// Points that agree in every choice (fidelity, process, rule, ...), and so in what they use.
  struct Family {
    std::vector<bool> uses_axis;
    Scenario fixed;  ///< with the choices and the fixed inputs that they use
    std::string fixed_cells;
  };
  [[nodiscard]] Family family_of(const scenario::Usage& usage) const;
  [[nodiscard]] const Family& family(const std::vector<std::size_t>& place) const;

  const SweepConfig* config_;
  std::uint64_t count_;
  std::vector<std::vector<std::string>> axis_cells_;  ///< rendered once
  std::vector<std::size_t> strides_;                  ///< of each axis among the families; 0 where it is no choice
  std::vector<Family> families_;
};

/// Reads everything that the points name, and asks for the time of every point, so that one that nobody knows is
/// rejected here. Throws InputError, before anything is simulated.
void read_inputs(const SweepConfig& config, Inputs& inputs);

}  // namespace foredraft::experiments
