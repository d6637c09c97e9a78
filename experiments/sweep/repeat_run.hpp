// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/parallel.hpp"

namespace foredraft::experiments {

/// A run that was repeated, every byte of which agrees.
struct RepeatedRun {
  std::uint64_t points;  ///< that were computed again
  std::string hash;      ///< of the configuration: 64 hexadecimal digits
  std::string version;   ///< of the program that made the run
};

struct RepeatOptions {
  unsigned threads = 0;                                                     ///< 0: one per hardware thread
  std::function<void(double finished, std::uint64_t total)> progress = {};  ///< often and from any thread
  StopToken stop = {};
  bool talk = false;  ///< a note on another version and the progress on stderr
};

/// Repeats the complete run of a results folder and compares every row of points.csv, the digests of inputs and those
/// of all outputs. Writes nothing. Throws InputError for a folder without a complete run, RunError that names the first
/// difference, Interrupted.
[[nodiscard]] RepeatedRun repeat_run(const std::string& folder, const RepeatOptions& options);

}  // namespace foredraft::experiments
