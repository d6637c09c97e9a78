// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/text/digest.hpp"
#include "experiments/validate/validation.hpp"

namespace foredraft::experiments {

inline constexpr std::string_view validation_schema = "foredraft.validation/1";

/// What the manifest of a validation says of it, besides its files.
struct ValidationInputs {
  std::vector<FileDigest> files;  ///< the profile first
  MeasuredBy measured_by = MeasuredBy::loop;
  bool valid = true;                      ///< the profile's own verdict on its A/A run; true where it has none
  std::vector<std::string> command_line;  ///< the program's name first
};

using KeepCells = std::function<void(const std::vector<MeasuredCell>&)>;

/// Measures, and hands over all cells that are known whenever there are more.
using Measure = std::function<Measurement(const KeepCells& keep)>;

/// Writes DIR/prediction.csv and its digest in DIR/manifest.json, both on the disk before `measure` is called; then
/// DIR/validation.csv, written again with every new row; the manifest last, its state "complete" or "interrupted".
/// Throws InputError where the folder is there and not empty.
[[nodiscard]] Measurement run_validation(const std::string& folder, const ValidationInputs& inputs,
                                         const std::vector<CellPrediction>& predictions, const Measure& measure);

}  // namespace foredraft::experiments
