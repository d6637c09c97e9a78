// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "logs/observations_file.hpp"

/// Formats that can be written as well as read. A new one needs a function and a line in interchange.cpp.
namespace foredraft::logs {

struct Interchange {
  std::string_view name;     ///< of the LogFormat that reads it
  std::string_view summary;  ///< what is written
  /// The contents of the file. Throws InputError that names the log and what it lacks.
  std::string (*text)(std::span<const ObservedLog> logs);
};

/// All of them; the first, observations, preserves everything.
[[nodiscard]] std::span<const Interchange> interchanges();

}  // namespace foredraft::logs
