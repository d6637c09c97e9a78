// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/pass_request.hpp"

#include <fmt/format.h>

#include "core/check.hpp"

namespace foredraft::latency {
namespace {

/// Far beyond what any device holds, so that products of three counts stay whole numbers of 64 bits.
constexpr std::int64_t largest_count = 1'000'000;

}  // namespace

void check_request(const ModelShape& shape, const PassRequest& request, std::int64_t last_position) {
  check_shape(shape);
  check_range("tokens", request.tokens, 1, largest_count);
  check_range("batch", request.batch, 1, largest_count);
  check_range("context", request.context, 0, largest_count);
  check_range("source_length", request.source_length, 0, largest_count);
  if (request.source_length > 0 && shape.architecture != Architecture::encoder_decoder) {
    throw DomainError(
        fmt::format("invalid source_length={} (must be 0: {} has no encoder)", request.source_length, shape.name));
  }
  if (const auto reason = why_not_runnable(shape)) {
    throw DomainError(
        fmt::format("{}: passes of it cannot be run ({}) - predict them from a data sheet", shape.name, *reason));
  }
  if (shape.window.layers > 0 && last_position > shape.window.tokens) {
    throw DomainError(
        fmt::format("invalid context={} (must leave room for the pass: {} positions are needed, windows of {} see {}, "
                    "and what lies beyond them is not run)",
                    request.context, last_position, shape.name, shape.window.tokens));
  }
  if (shape.positions == Positions::learned && last_position > shape.learned_positions) {
    throw DomainError(
        fmt::format("invalid context={} (must leave room for the pass: {} positions are needed, {} has {})",
                    request.context, last_position, shape.name, shape.learned_positions));
  }
}

void check_drafting(const ModelShape& shape, const PassRequest& request, std::int64_t gamma) {
  check_range("gamma", gamma, 1, largest_count);
  check_range("tokens", request.tokens, 1, 1);
  check_request(shape, request, request.context + gamma);
}

std::int64_t source_length(const ModelShape& shape, const PassRequest& request) {
  return request.source_length > 0 ? request.source_length : shape.source_length;
}

}  // namespace foredraft::latency
