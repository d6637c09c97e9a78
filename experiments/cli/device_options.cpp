// SPDX-License-Identifier: Apache-2.0
#include "experiments/cli/device_options.hpp"

namespace foredraft::experiments {

bool names_device(CommandLine& line) {
  if (line.has("device") && line.has("profile")) {
    line.refuse("device", "given beside --profile", "times come from one device", "remove one");
  }
  return line.has("device") || line.has("profile");
}

std::string named_device(const CommandLine& line) {
  return line.has("device") ? line.text("device").value() : line.text("profile").value();
}

ReadProfile read_named_device(const CommandLine& line) {
  return line.has("device") ? read_device(named_device(line)) : read_profile(named_device(line));
}

}  // namespace foredraft::experiments
