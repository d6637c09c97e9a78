// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/parallel.hpp"

namespace foredraft::experiments {

/// A successfully repeated run: all bytes are equal.
struct RepeatedRun {
  std::uint64_t points;  ///< number of repeated points
  std::string hash;      ///< hash of the configuration: 64 hexadecimal digits
  std::string version;   ///< version of the program of the original run
};

struct RepeatOptions {
  unsigned threads = 0;                                                     ///< 0: one per hardware thread
  std::function<void(double finished, std::uint64_t total)> progress = {};  ///< called often and from any thread
  StopToken stop = {};
  bool talk = false;  ///< print progress, and a note about another version, on stderr
};

/// Repeats the complete run of a results folder and compares every row of points.csv and the digests of inputs and
/// outputs. Writes nothing. Throws InputError for a folder without a complete run, RunError, which names the first
/// difference, and Interrupted.
[[nodiscard]] RepeatedRun repeat_run(const std::string& folder, const RepeatOptions& options);

}  // namespace foredraft::experiments
