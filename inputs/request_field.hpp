// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/problems.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"

/// Tables of a request's fields by name, used for options of the program and for keywords of Python.
namespace foredraft::inputs {

template <class Request>
struct WholeNumber {
  std::optional<std::int64_t> Request::*member;
  std::int64_t minimum, maximum;
};

template <class Request>
struct RealNumber {
  std::optional<double> Request::*member;
  double minimum, maximum;
};

template <class Request>
struct RequestField {
  std::string_view name;  ///< option without dashes; keywords have underscores instead of hyphens
  std::variant<std::string Request::*, bool Request::*, std::optional<latency::NumberFormat> Request::*,
               std::optional<latency::WeightFormats> Request::*, WholeNumber<Request>, RealNumber<Request>>
      value;
};

/// True if the request has the field: a nonempty word, a switch that is on, any number.
template <class Request>
[[nodiscard]] bool is_stated(const Request& request, const RequestField<Request>& field) {
  const auto stated = [](const auto& value) {
    if constexpr (requires { value.has_value(); }) {
      return value.has_value();
    } else {
      return value != std::decay_t<decltype(value)>{};
    }
  };
  const auto of_member = [&](const auto& member) {
    if constexpr (requires { member.minimum; }) {
      return stated(request.*member.member);
    } else {
      return stated(request.*member);
    }
  };
  return std::visit(of_member, field.value);
}

/// Adds one problem for all of `fields` that the request has; its key lists them as options.
template <class Request>
void reject_stated(const Request& request, std::span<const RequestField<Request>> fields, Problem problem,
                   ProblemList& problems) {
  for (const RequestField<Request>& field : fields) {
    if (is_stated(request, field)) problem.key += fmt::format("{}--{}", problem.key.empty() ? "" : ", ", field.name);
  }
  if (!problem.key.empty()) problems.add(std::move(problem));
}

/// Adds a problem if a number of GPUs is given without their price.
inline void check_price(bool has_gpus, bool has_price, ProblemList& problems) {
  if (!has_gpus || has_price) return;
  problems.add({.key = "--gpus",
                .text = "given without --gpu-hour-price",
                .why = "it asks for the cost of tokens",
                .suggestion = "e.g. --gpu-hour-price 2.5"});
}

}  // namespace foredraft::inputs
