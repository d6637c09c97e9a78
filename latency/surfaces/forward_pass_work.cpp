// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/forward_pass_work.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>

#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "latency/operations/counts.hpp"
#include "latency/operations/forward_passes.hpp"

namespace foredraft::latency {
namespace {

WorkKind kind_of(const Operation& operation) {
  if (std::holds_alternative<Project>(operation)) return WorkKind::project;
  return std::holds_alternative<Attend>(operation) ? WorkKind::attend : WorkKind::other;
}

double inputs_of(const Operation& operation) {
  const auto* project = std::get_if<Project>(&operation);
  return project == nullptr ? 0.0 : static_cast<double>(project->inputs);
}

/// Forward differences of f(tokens) from values at 1, 2, 3, in place; of f(batch) and f(context) from two values.
template <typename Values>
void to_differences(Values& values) {
  for (std::size_t i = 0; i < values.size(); i += 4) {
    values[i + 1] -= values[i];
    values[i + 3] -= values[i + 2];
    values[i + 2] -= values[i];
    values[i + 3] -= values[i + 1];
  }
  for (std::size_t j = 0; j < 4; ++j) {
    values[8 + j] += values[j] - 2.0 * values[4 + j];
    values[4 + j] -= values[j];
  }
}

}  // namespace

ForwardPassWork::ForwardPassWork(const ModelShape& shape, Role role, DataType type, std::int64_t source_length)
    : role_(role),
      positions_(shape.positions == Positions::learned && role != Role::head_drafting && role != Role::encoder_pass
                     ? shape.learned_positions
                     : 0) {
  const bool one_by_one = role == Role::autoregressive_drafting || role == Role::head_drafting;
  for (std::size_t sample = 0; sample < basis_size; ++sample) {
    // One draft, or head, is counted and multiplied by gamma.
    const std::int64_t tokens = one_by_one ? 1 : 1 + static_cast<std::int64_t>(sample / 4);
    const Cell cell{.model = shape.name,
                    .role = role,
                    .dtype = {},
                    .batch = 1 + static_cast<std::int64_t>(sample % 2),
                    .tokens = tokens,
                    .context = static_cast<std::int64_t>(sample / 2 % 2),
                    .source_length = source_length};
    const Program program = program_of(shape, cell);
    if (sample == 0) {
      for (const Operation& operation : program.operations) {
        terms_.push_back({kind_of(operation), inputs_of(operation), 1.0, {}, {}});
      }
    }
    FOREDRAFT_EXPECT(program.operations.size() == terms_.size());
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      const Work work = work_of(program.operations[i], type);
      terms_[i].bytes[sample] = work.read_bytes + work.written_bytes;
      terms_[i].flop[sample] = work.flop;
    }
  }
  std::vector<Term> different;
  for (Term& term : terms_) {
    to_differences(term.bytes);
    to_differences(term.flop);
    const auto found =
        std::find_if(different.begin(), different.end(), [&](const Term& other) { return other.same(term); });
    if (found == different.end()) {
      different.push_back(term);
    } else {
      found->count += 1.0;
    }
  }
  terms_ = std::move(different);
  min_product_bytes_ = std::numeric_limits<double>::max();
  for (const Term& term : terms_) {
    if (term.kind != WorkKind::project) continue;
    min_product_bytes_ = std::min(min_product_bytes_, term.bytes[0]);
    max_product_bytes_ = std::max(max_product_bytes_, term.bytes[0]);
  }
}

double ForwardPassWork::rows(const ForwardPassPoint& point) const {
  const bool one_by_one = role_ == Role::autoregressive_drafting || role_ == Role::head_drafting;
  return static_cast<double>(point.batch) * (one_by_one ? 1.0 : static_cast<double>(point.tokens));
}

void ForwardPassWork::check(const ForwardPassPoint& point) const {
  check_at_least("batch", point.batch, 1);
  check_at_least("tokens", point.tokens, role_ == Role::encoder_pass ? 0 : 1);
  check_at_least("context", point.context, 0);
  if (positions_ > 0 && point.context + point.tokens > positions_) {
    throw DomainError(fmt::format("invalid context={} (with {} tokens more than the {} positions that the model has)",
                                  point.context, point.tokens, positions_));
  }
}

Program program_of(const ModelShape& shape, const Cell& cell) {
  const ForwardPassRequest pass{
      .tokens = cell.tokens, .batch = cell.batch, .context = cell.context, .source_length = cell.source_length};
  ForwardPassRequest start = pass;  // drafting begins with one token
  start.tokens = 1;
  switch (cell.role) {
    case Role::decoder_pass:
      return decoder_pass(shape, pass);
    case Role::autoregressive_drafting:
      return autoregressive_drafting(shape, start, cell.tokens);
    case Role::block_drafting:
      return block_drafting(shape, start, cell.tokens);
    case Role::head_drafting:
      return head_drafting(shape, start, cell.tokens);
    case Role::encoder_pass:
      return encoder_pass(shape, start);
  }
  throw DomainError(fmt::format("no pass for {}", to_text(cell)));
}

DataType data_type_of(std::string_view name) {
  if (const auto type = value_of<DataType>(name)) return *type;
  throw DomainError(fmt::format("unknown dtype {} (not supported here) - known: fp16, bf16, fp32", name));
}

}  // namespace foredraft::latency
