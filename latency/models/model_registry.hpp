// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "latency/models/model_shape.hpp"

namespace foredraft::latency {

/// The shipped shapes: every table of latency/models/*.toml, compiled in, sorted by name.
[[nodiscard]] const std::vector<ModelShape>& model_registry();

/// Shapes of a user's TOML file. Throws DomainError with one line a problem, `file:line: key: problem (why) -
/// suggestion`, all at once: unknown keys, missing or impossible numbers, and what stands elsewhere (formats, tensor
/// parallelism), named as such.
[[nodiscard]] std::vector<ModelShape> read_models(const std::string& path);

/// The same from text; `name` stands in messages.
[[nodiscard]] std::vector<ModelShape> parse_models(std::string_view text, const std::string& name);

/// Throws DomainError for an unknown name, with the nearest known one.
[[nodiscard]] const ModelShape& find_model(const std::vector<ModelShape>& models, std::string_view name);

}  // namespace foredraft::latency
