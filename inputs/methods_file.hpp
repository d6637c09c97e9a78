// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "foredraft/methods.hpp"

/// A configuration of `foredraft methods`.
namespace foredraft::inputs {

struct MethodsFile {
  MethodsQuestion question = {};  ///< what is not stated has its default; no times of verification
  std::optional<std::int64_t> positions = {};
  std::optional<double> verify_growth = {};
};

/// Keys: schema ("foredraft.methods/1"), methods, temperature, gamma, c, verify_growth, positions, width, servers,
/// iterations, seed, and of a synthetic pair models.target, models.parameter, models.vocabulary, models.draft,
/// models.alpha, models.pool. Throws InputError `file:line: key: ...` with every problem.
[[nodiscard]] MethodsFile parse_methods_file(std::string_view text, const std::string& file);

}  // namespace foredraft::inputs
