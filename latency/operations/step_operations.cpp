// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/step_operations.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/step_writer.hpp"

namespace foredraft::latency {
namespace {

/// Each of them `times` times.
std::vector<StepOperator> without_weights(const std::vector<WeightedOperator>& weighted, std::int64_t times) {
  std::vector<StepOperator> operators;
  operators.reserve(weighted.size());
  for (const WeightedOperator& one : weighted) {
    operators.push_back(one.step);
    operators.back().count *= static_cast<double>(times);
  }
  return operators;
}

void check_extents(const ForwardPassPoint& point, std::int64_t min_tokens) {
  check_range("batch", point.batch, 1, largest_extent);
  check_range("tokens", point.tokens, min_tokens, largest_extent);
  check_range("context", point.context, 0, largest_extent);
}

/// `positions`: those that the model has; 0: no limit.
void check_positions(const ModelShape& shape, const ForwardPassPoint& point, std::int64_t positions) {
  if (positions == 0 || point.context + point.tokens <= positions) return;
  throw DomainError(fmt::format("{}: context {} and {} new tokens exceed the {} positions of the model - ask for less",
                                shape.name, point.context, point.tokens, positions));
}

}  // namespace

ForwardPassOperations::ForwardPassOperations(ModelShape shape, Role role, const Deployment& deployment,
                                             std::int64_t source_length)
    : shape_(std::move(shape)), role_(role), deployment_(deployment) {
  check_deployment(shape_, deployment_);
  const bool encoder = shape_.architecture == Architecture::encoder_decoder;
  if (role_ == Role::encoder_pass && !encoder) throw DomainError("encoder_pass: " + shape_.name + " has no encoder");
  check_range("source_length", source_length, 0, encoder ? largest_extent : 0);
  if (source_length > 0) shape_.source_length = source_length;
}

std::int64_t ForwardPassOperations::passes(const ForwardPassPoint& point) const {
  return role_ == Role::autoregressive_drafting ? point.tokens : 1;
}

std::vector<StepOperator> ForwardPassOperations::operators(const ForwardPassPoint& point, std::int64_t pass) const {
  check(point);
  check_range("pass", pass, 0, passes(point) - 1);
  const bool block = shape_.head.block_size > 0;
  const StepPoint step{.batch = point.batch, .tokens = point.tokens, .context = point.context, .prompt = point.prompt};
  const auto written = [this](WrittenPass kind, const StepPoint& at, std::int64_t times = 1) {
    return without_weights(write_pass(kind, shape_, deployment_, at), times);
  };
  switch (role_) {
    case Role::decoder_pass:
      return written(block && !shape_.head.wide_attention ? WrittenPass::context : WrittenPass::decoder, step);
    case Role::autoregressive_drafting:
      return written(
          WrittenPass::drafting,
          {.batch = point.batch, .tokens = 1, .context = point.context + pass, .own_hidden_states = pass > 0});
    case Role::block_drafting:
      return written(WrittenPass::block_drafting,
                     block ? block_point(shape_.head, point.batch, point.tokens, point.context) : step);
    case Role::head_drafting:
      return written(WrittenPass::head_drafting, {.batch = point.batch}, point.tokens);
    case Role::encoder_pass:
      return written(WrittenPass::encoder, {.batch = point.batch, .tokens = shape_.source_length});
  }
  return {};
}

std::vector<StepOperator> ForwardPassOperations::mixed(const ForwardPassPoint& decoding,
                                                       ForwardPassPoint prompt) const {
  prompt.prompt = true;
  const std::vector<StepOperator> own = operators(decoding), of_prompt = operators(prompt);
  // Without a context, which products do not see, so that the tokens of all sequences exceed no model's positions.
  std::vector<StepOperator> all =
      operators({.batch = decoding.batch * decoding.tokens + prompt.batch * prompt.tokens, .tokens = 1, .context = 0});
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].kind == OperatorKind::attention) {
      all[i].bytes = own[i].bytes + of_prompt[i].bytes;
      all[i].flop = own[i].flop + of_prompt[i].flop;
      all[i].reread_bytes = own[i].reread_bytes + of_prompt[i].reread_bytes;
    } else if (all[i].part == StepPart::vocabulary) {
      all[i] = own[i];
    }
  }
  return all;
}

double operators_of_step(const ModelShape& shape, const Deployment& deployment) {
  const ForwardPassOperations step(shape, Role::decoder_pass, deployment);
  double count = 0.0;
  for (const StepOperator& one : step.operators({.batch = 1, .tokens = 1, .context = 1})) count += one.count;
  return count;
}

std::vector<StepOperator> equal_together(std::vector<StepOperator> operators) {
  auto end = operators.begin();
  for (const StepOperator& one : operators) {
    const auto same = std::find_if(operators.begin(), end, [&one](const StepOperator& other) {
      return other.kind == one.kind && other.compute == one.compute && other.bytes == one.bytes &&
             other.flop == one.flop && other.inputs == one.inputs && other.vector_flop == one.vector_flop &&
             other.reread_bytes == one.reread_bytes;
    });
    if (same == end) {
      *end++ = one;
    } else {
      same->count += one.count;
    }
  }
  operators.erase(end, operators.end());
  return operators;
}

double ForwardPassOperations::rows(const ForwardPassPoint& point) const {
  const bool all_at_once = role_ != Role::autoregressive_drafting && role_ != Role::head_drafting;
  return static_cast<double>(point.batch) * (all_at_once ? static_cast<double>(point.tokens) : 1.0);
}

Interval ForwardPassOperations::product_bytes() const {
  Interval range{std::numeric_limits<double>::max(), 0.0};
  for (const StepOperator& one : operators({.batch = 1, .tokens = 1, .context = 0})) {
    if (one.kind != OperatorKind::product) continue;
    range = {std::min(range.low, one.bytes), std::max(range.high, one.bytes)};
  }
  return range;
}

void ForwardPassOperations::check(const ForwardPassPoint& point) const {
  check_extents(point, role_ == Role::encoder_pass ? 0 : 1);
  if (role_ != Role::head_drafting && role_ != Role::encoder_pass) {
    check_positions(shape_, point, shape_.learned_positions);
  }
  check_positions(shape_, point, shape_.max_context);
  const std::int64_t most = max_drafts(shape_);
  const bool drafting = role_ == Role::block_drafting || role_ == Role::autoregressive_drafting;
  if (drafting && most > 0 && point.tokens > most) {
    throw DomainError(
        fmt::format("{}: drafts at most {} tokens, not {} ({}) - ask for less", shape_.name, most, point.tokens,
                    shape_.head.stages > 0 ? "a stage each" : fmt::format("block_size is {}", shape_.head.block_size)));
  }
}

double experts_read(const Experts& experts, double rows, double skew) {
  check_probability("skew", skew);
  if (!(rows >= 1.0)) throw DomainError(fmt::format("invalid rows={} (must be >= 1)", rows));
  const auto count = static_cast<double>(experts.count);
  const auto used = static_cast<double>(experts.per_token);
  // The same as count (1 - (1 - used / count)^rows), exact for one row.
  const double further = (count - used) * (1.0 - std::pow((count - used) / count, rows - 1.0));
  return used + (1.0 - skew) * further;
}

}  // namespace foredraft::latency
