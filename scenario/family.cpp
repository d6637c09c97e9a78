// SPDX-License-Identifier: Apache-2.0
#include "scenario/family.hpp"

#include <fmt/format.h>

namespace foredraft::scenario {

DomainError unknown_member(std::string_view family, std::string_view name, const std::vector<std::string>& known) {
  return DomainError(fmt::format("invalid {}={} (must be one of {})", family, name, fmt::join(known, ", ")));
}

DomainError unknown_parameter(const std::string& key, double number, std::string_view name) {
  return DomainError(fmt::format("invalid {}={} (must be a parameter of {})", key, number, name));
}

DomainError missing_parameter(const std::string& key, std::string_view name) {
  return DomainError(fmt::format("invalid {} (must be given for {})", key, name));
}

}  // namespace foredraft::scenario
