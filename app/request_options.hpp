// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>

#include "core/command_line.hpp"
#include "inputs/read_model.hpp"
#include "inputs/request_field.hpp"
#include "latency/models/storage.hpp"

namespace foredraft::app {

/// Reads the options named by the fields into the request. Problems of their values go to the line.
template <class Request>
void read_fields(CommandLine& line, std::span<const inputs::RequestField<Request>> fields, Request& request) {
  for (const inputs::RequestField<Request>& field : fields) {
    const auto read = [&](const auto& to) {
      using To = std::decay_t<decltype(to)>;
      if constexpr (std::is_same_v<To, inputs::WholeNumber<Request>>) {
        request.*to.member = line.integer(field.name, to.minimum, to.maximum);
      } else if constexpr (std::is_same_v<To, inputs::RealNumber<Request>>) {
        request.*to.member = line.real(field.name, to.minimum, to.maximum);
      } else if constexpr (std::is_same_v<To, bool Request::*>) {
        request.*to = line.has(field.name);
      } else if constexpr (std::is_same_v<To, std::string Request::*>) {
        request.*to = line.text(field.name).value_or("");
      } else if (const auto word = line.text(field.name)) {
        request.*to = latency::format_named<typename std::decay_t<decltype(request.*to)>::value_type>(*word);
        if (!(request.*to)) {
          line.reject(field.name, fmt::format("unknown format \"{}\"", *word), "", inputs::format_suggestion(*word));
        }
      }
    };
    std::visit(read, field.value);
  }
}

}  // namespace foredraft::app
