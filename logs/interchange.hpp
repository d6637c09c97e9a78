// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "logs/observations_file.hpp"

/// Formats of other tools that are written as well as read: a new one is its function and its line in interchange.cpp.
namespace foredraft::logs {

struct Interchange {
  std::string_view name;     ///< of the format that reads it
  std::string_view summary;  ///< what is written
  /// The whole file. Throws InputError that names the log and what it lacks.
  std::string (*text)(std::span<const ObservedLog> logs);
};

/// All of them; the first, observations, holds everything.
[[nodiscard]] std::span<const Interchange> interchanges();

}  // namespace foredraft::logs
