// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "logs/captions.hpp"

/// Names of the containers and pods that wrote the lines of a log: "bench-plain-1  | ", "[pod/bench-mtp-x2k4q/main] ".
namespace foredraft::logs {

/// Where the lines of another container begin.
struct ContainerLines {
  std::int64_t line = 0;
  std::string name = {};
};

/// Notes which container wrote which lines.
class Containers {
 public:
  /// The next line, as it was written.
  void add(std::string_view line);

  /// Makes the names of containers captions of their lines, if they name a run without speculation beside one with it,
  /// and say the same otherwise; not if lines of several alternate, as those of servers beside their clients do.
  void caption_runs(RunCaptions& captions) const;

 private:
  std::vector<ContainerLines> all_ = {};
  std::int64_t line_ = 0;
  bool too_many_ = false;
};

}  // namespace foredraft::logs
