// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/program.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "latency/operations/counts.hpp"

namespace foredraft::latency {
namespace {

[[noreturn]] void reject(const std::string& problem) { throw std::logic_error("program: " + problem); }

void check_sizes(const Buffer& buffer) {
  if (buffer.elements <= 0) reject(fmt::format("buffer \"{}\" has {} elements", buffer.name, buffer.elements));
  if (buffer.kind == BufferKind::tokens && buffer.vocabulary <= 0) {
    reject(fmt::format("tokens \"{}\" have no vocabulary", buffer.name));
  }
}

void check_access(const Program& program, const Access& access, std::string_view operation,
                  const std::vector<bool>& written) {
  if (access.buffer < 0 || access.buffer >= static_cast<BufferId>(program.buffers.size())) {
    reject(fmt::format("{} names buffer {} of {}", operation, access.buffer, program.buffers.size()));
  }
  const Buffer& buffer = program.buffers[static_cast<std::size_t>(access.buffer)];
  if (access.extent > buffer.elements || access.extent <= 0) {
    reject(fmt::format("{} reaches element {} of \"{}\", which has {}", operation, access.extent, buffer.name,
                       buffer.elements));
  }
  if (access.token_ids != (buffer.kind == BufferKind::tokens)) {
    reject(fmt::format("{} uses \"{}\" as the wrong kind of buffer", operation, buffer.name));
  }
  if (access.written > 0 && buffer.kind == BufferKind::weight) {
    reject(fmt::format("{} writes the weight \"{}\"", operation, buffer.name));
  }
  if (access.read > 0 && buffer.kind == BufferKind::activation && !written[static_cast<std::size_t>(access.buffer)]) {
    reject(fmt::format("{} reads \"{}\", which nothing wrote", operation, buffer.name));
  }
}

void check_attention(const Attend& attend) {
  if (attend.heads % attend.kv_heads != 0) reject("attend: kv_heads do not divide heads");
  if (attend.length > attend.capacity) reject("attend: reads beyond the cache's capacity");
  if (attend.causal && attend.tokens > attend.length) reject("attend: a causal query that sees no key");
  if (attend.query_stride < attend.heads * attend.head_dim) reject("attend: queries overlap");
}

void check_store(const StoreKeysValues& store) {
  if (store.context + store.tokens > store.capacity) reject("store_keys_values: writes beyond the cache's capacity");
  if (store.rotary && store.head_dim % 2 != 0) reject("store_keys_values: rotary heads of odd size");
}

void check_embed(const Program& program, const Embed& embed) {
  if (program.buffers[static_cast<std::size_t>(embed.tokens)].vocabulary > embed.vocabulary) {
    reject("embed: token ids beyond the table");
  }
  if (embed.rows % embed.tokens_per_sequence != 0) reject("embed: rows are no whole number of sequences");
}

void check_operation(const Program& program, const Operation& operation) {
  if (const auto* attend = std::get_if<Attend>(&operation)) check_attention(*attend);
  if (const auto* store = std::get_if<StoreKeysValues>(&operation)) check_store(*store);
  if (const auto* embed = std::get_if<Embed>(&operation)) check_embed(program, *embed);
}

}  // namespace

std::int64_t bytes_of(DataType type) { return type == DataType::fp32 ? 4 : 2; }

DataType data_type_of(std::string_view name) {
  if (const auto type = value_of<DataType>(name)) return *type;
  throw DomainError(fmt::format("unknown dtype {} (not supported here) - known: fp16, bf16, fp32", name));
}

std::string_view name_of(const Operation& operation) {
  struct Names {
    std::string_view operator()(const Embed&) const { return "embed"; }
    std::string_view operator()(const AddNormalise&) const { return "add_normalise"; }
    std::string_view operator()(const Project&) const { return "project"; }
    std::string_view operator()(const NormaliseHeads&) const { return "normalise_heads"; }
    std::string_view operator()(const StoreKeysValues&) const { return "store_keys_values"; }
    std::string_view operator()(const Attend&) const { return "attend"; }
    std::string_view operator()(const Activate&) const { return "activate"; }
    std::string_view operator()(const PickToken&) const { return "pick_token"; }
  };
  return std::visit(Names{}, operation);
}

void check_program(const Program& program) {
  std::set<std::string_view> names;
  for (const Buffer& buffer : program.buffers) {
    check_sizes(buffer);
    if (!names.insert(buffer.name).second) reject(fmt::format("two buffers \"{}\"", buffer.name));
  }
  std::vector<bool> written(program.buffers.size(), false);
  for (const Operation& operation : program.operations) {
    const std::vector<Access> all = accesses(operation);
    for (const Access& access : all) check_access(program, access, name_of(operation), written);
    check_operation(program, operation);
    for (const Access& access : all) {
      if (access.written > 0) written[static_cast<std::size_t>(access.buffer)] = true;
    }
  }
  if (program.output < 0 || program.output >= static_cast<BufferId>(program.buffers.size())) reject("no output");
}

BufferId ProgramBuilder::find_or_add(Buffer buffer) {
  const auto known = std::find_if(program_.buffers.begin(), program_.buffers.end(),
                                  [&buffer](const Buffer& other) { return other.name == buffer.name; });
  const auto id = static_cast<BufferId>(known - program_.buffers.begin());
  if (known == program_.buffers.end()) {
    program_.buffers.push_back(std::move(buffer));
  } else {
    FOREDRAFT_EXPECT(known->kind == buffer.kind && known->elements == buffer.elements);
  }
  return id;
}

BufferId ProgramBuilder::weight(const std::string& name, std::int64_t elements, double scale) {
  return find_or_add({name, BufferKind::weight, elements, scale, 0});
}

BufferId ProgramBuilder::cache(const std::string& name, std::int64_t elements) {
  return find_or_add({name, BufferKind::cache, elements, 1.0, 0});
}

BufferId ProgramBuilder::activation(const std::string& name, std::int64_t elements) {
  return find_or_add({name, BufferKind::activation, elements, 0.0, 0});
}

BufferId ProgramBuilder::tokens(const std::string& name, std::int64_t elements, std::int64_t vocabulary) {
  return find_or_add({name, BufferKind::tokens, elements, 0.0, vocabulary});
}

Program ProgramBuilder::finish(BufferId output) {
  program_.output = output;
  check_program(program_);
  return std::exchange(program_, {});
}

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
  std::string operator()(const NormaliseHeads& o) const {
    return fmt::format("rows {} heads {} kv_heads {} head_dim {}", o.rows, o.heads, o.kv_heads, o.head_dim);
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
auto buffer_ids(NormaliseHeads& o) { return std::array{&o.packed, &o.query_gain, &o.key_gain}; }
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
