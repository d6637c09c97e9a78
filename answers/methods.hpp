// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "foredraft/methods.hpp"

/// The comparison of methods as JSON and CSV.
namespace foredraft::answers {

/// Schema foredraft.methods/1.
[[nodiscard]] nlohmann::ordered_json to_json(const MethodsAnswer& answer);

/// A row for each method at each temperature: the data of the figure.
[[nodiscard]] std::string methods_csv(const MethodsAnswer& answer);

}  // namespace foredraft::answers
