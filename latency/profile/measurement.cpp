// SPDX-License-Identifier: Apache-2.0
#include "latency/profile/measurement.hpp"

namespace foredraft::latency {

std::string_view to_string(Stopped reason) {
  switch (reason) {
    case Stopped::stable:
      return "stable";
    case Stopped::out_of_time:
      return "out_of_time";
    case Stopped::most_samples:
      return "most_samples";
  }
  return "";
}

}  // namespace foredraft::latency
