// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/words.hpp"
#include "sim/process/process_simulation.hpp"

/// The drafters, one file each: what each is charged, and in process fidelity which drafts of it are accepted.
namespace foredraft::sim {

/// A parameter of a drafter; a sweep axis `drafter.<name>`.
struct DrafterParameter {
  std::string_view name;
  std::optional<double> default_value;  ///< nothing: must be given
  double minimum;
  double maximum;
  bool whole;  ///< takes whole numbers alone
  std::string_view summary;
};

/// One line of the inventory of drafters.
struct DrafterEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  Drafting cost;  ///< per iteration, in passes of c target steps
  std::vector<DrafterParameter> parameters;
  bool process;  ///< drafts in process fidelity ...
  bool token;    ///< ... and in token fidelity ...
  bool text;     ///< ... where it drafts text of n-gram models alone
};

/// Every drafter, sorted by name.
[[nodiscard]] const std::vector<DrafterEntry>& drafter_registry();

/// Null for an unknown name.
[[nodiscard]] const DrafterEntry* find_drafter(std::string_view name);

/// What a drafter is told.
struct DrafterSettings {
  std::map<std::string, double> parameters;  ///< by the names of its entry; missing ones: the default
  std::vector<double> accuracies;            ///< heads: [i] acceptance of head i given all before it; may be empty
};

/// The simulation with the drafter's acceptance, cost and, for input_copy, its policy in place: an Iid process gives
/// the acceptance of the first draft. Throws DomainError on an unknown drafter or parameter, a value outside its range,
/// a drafter of token fidelity alone, and a process or policy that the drafter does not go with.
[[nodiscard]] ProcessSimulation drafted_by(std::string_view drafter, const DrafterSettings& settings,
                                           ProcessSimulation simulation);

}  // namespace foredraft::sim
