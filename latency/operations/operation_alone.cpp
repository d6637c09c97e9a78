// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/operation_alone.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "latency/operations/operation_accesses.hpp"

namespace foredraft::latency {
namespace {

std::string_view word_if(bool has, std::string_view word) { return has ? word : ""; }

struct ShapeText {
  std::string operator()(const Embed& o) const {
    return fmt::format("rows {} width {} vocabulary {}{}", o.rows, o.width, o.vocabulary,
                       word_if(o.positions != no_buffer, " positions"));
  }
  std::string operator()(const AddNormalise& o) const {
    return fmt::format("rows {} width {} {}{}{}", o.rows, o.width, o.norm == Norm::rms ? "rms" : "layer",
                       word_if(o.delta != no_buffer, " sum"), word_if(o.bias != no_buffer, " bias"));
  }
  std::string operator()(const Project& o) const {
    return fmt::format("rows {} outputs {} inputs {}{}{}", o.rows, o.outputs, o.inputs,
                       word_if(o.bias != no_buffer, " bias"), word_if(o.accumulate, " sum"));
  }
  std::string operator()(const StoreKeysValues& o) const {
    return fmt::format("batch {} tokens {} context {} capacity {} heads {} kv_heads {} head_dim {}{}", o.batch,
                       o.tokens, o.context, o.capacity, o.heads, o.kv_heads, o.head_dim, word_if(o.rotary, " rotary"));
  }
  std::string operator()(const Attend& o) const {
    return fmt::format("batch {} tokens {} length {} capacity {} heads {} kv_heads {} head_dim {} stride {}{}", o.batch,
                       o.tokens, o.length, o.capacity, o.heads, o.kv_heads, o.head_dim, o.query_stride,
                       word_if(o.causal, " causal"));
  }
  std::string operator()(const Activate& o) const {
    return fmt::format("rows {} width {} {}{}", o.rows, o.width, to_string(o.function), word_if(o.gated, " gated"));
  }
  std::string operator()(const PickToken& o) const {
    return fmt::format("rows {} vocabulary {}", o.rows, o.vocabulary);
  }
};

auto buffer_ids(Embed& o) { return std::array{&o.tokens, &o.table, &o.positions, &o.out}; }
auto buffer_ids(AddNormalise& o) { return std::array{&o.stream, &o.delta, &o.gain, &o.bias, &o.out}; }
auto buffer_ids(Project& o) { return std::array{&o.in, &o.weight, &o.bias, &o.out}; }
auto buffer_ids(StoreKeysValues& o) { return std::array{&o.packed, &o.keys, &o.values}; }
auto buffer_ids(Attend& o) { return std::array{&o.queries, &o.keys, &o.values, &o.out}; }
auto buffer_ids(Activate& o) { return std::array{&o.in, &o.out}; }
auto buffer_ids(PickToken& o) { return std::array{&o.logits, &o.out}; }

}  // namespace

std::string shape_text(const Operation& operation) { return std::visit(ShapeText{}, operation); }

std::vector<CountedOperation> distinct_operations(const Program& program) {
  std::vector<CountedOperation> distinct;
  std::map<std::pair<std::string_view, std::string>, std::size_t> places;
  for (const Operation& operation : program.operations) {
    const auto [place, is_new] = places.try_emplace({name_of(operation), shape_text(operation)}, distinct.size());
    if (is_new) distinct.push_back({operation, 0});
    ++distinct[place->second].count;
  }
  return distinct;
}

Program operation_alone(const Program& program, const Operation& operation) {
  Program alone;
  std::map<BufferId, BufferId> moved{{no_buffer, no_buffer}};
  for (const Access& access : accesses(operation)) {
    const auto [entry, is_new] = moved.try_emplace(access.buffer, static_cast<BufferId>(alone.buffers.size()));
    if (is_new) alone.buffers.push_back(program.buffers[static_cast<std::size_t>(access.buffer)]);
    Buffer& buffer = alone.buffers[static_cast<std::size_t>(entry->second)];
    if (access.read > 0 && buffer.kind == BufferKind::activation) {
      buffer.kind = BufferKind::input;
      buffer.scale = 1.0;
    }
    if (access.written > 0) alone.output = entry->second;
  }
  Operation renumbered = operation;
  std::visit(
      [&moved](auto& one) {
        for (BufferId* id : buffer_ids(one)) *id = moved.at(*id);
      },
      renumbered);
  alone.operations.push_back(renumbered);
  check_program(alone);
  return alone;
}

}  // namespace foredraft::latency
