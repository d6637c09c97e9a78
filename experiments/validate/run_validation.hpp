#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/text/digest.hpp"
#include "experiments/validate/validation.hpp"

namespace foredraft::experiments {

inline constexpr std::string_view validation_schema = "foredraft.validation/1";

/// Runs loops and hands over all rows that are known whenever there are more.
using RunLoops =
    std::function<gpu_bench::LoopResult(const std::function<void(const std::vector<gpu_bench::LoopRow>&)>& keep)>;

/// Writes DIR/prediction.csv and its digest in DIR/manifest.json, both on the disk before `run` is called; then
/// DIR/validation.csv, written again with every new row; the manifest last, its state "complete" or "interrupted".
/// Throws InputError where the folder is there and not empty.
[[nodiscard]] gpu_bench::LoopResult run_validation(const std::string& folder, const FileDigest& profile,
                                                   const std::vector<std::string>& command_line,
                                                   const std::vector<CellPrediction>& predictions, const RunLoops& run);

}  // namespace foredraft::experiments
