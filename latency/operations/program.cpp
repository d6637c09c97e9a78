// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/program.hpp"

#include <fmt/format.h>
#include <set>
#include <stdexcept>

#include "latency/operations/operation_accesses.hpp"

namespace foredraft::latency {
namespace {

[[noreturn]] void refuse(const std::string& problem) { throw std::logic_error("program: " + problem); }

void check_sizes(const Buffer& buffer) {
  if (buffer.elements <= 0) refuse(fmt::format("buffer \"{}\" has {} elements", buffer.name, buffer.elements));
  if (buffer.kind == BufferKind::tokens && buffer.vocabulary <= 0) {
    refuse(fmt::format("tokens \"{}\" have no vocabulary", buffer.name));
  }
}

void check_access(const Program& program, const Access& access, std::string_view operation,
                  const std::vector<bool>& written) {
  if (access.buffer < 0 || access.buffer >= static_cast<BufferId>(program.buffers.size())) {
    refuse(fmt::format("{} names buffer {} of {}", operation, access.buffer, program.buffers.size()));
  }
  const Buffer& buffer = program.buffers[static_cast<std::size_t>(access.buffer)];
  if (access.extent > buffer.elements || access.extent <= 0) {
    refuse(fmt::format("{} reaches element {} of \"{}\", which has {}", operation, access.extent, buffer.name,
                       buffer.elements));
  }
  if (access.token_ids != (buffer.kind == BufferKind::tokens)) {
    refuse(fmt::format("{} takes \"{}\" for what it is not", operation, buffer.name));
  }
  if (access.written > 0 && buffer.kind == BufferKind::weight) {
    refuse(fmt::format("{} writes the weight \"{}\"", operation, buffer.name));
  }
  if (access.read > 0 && buffer.kind == BufferKind::activation && !written[static_cast<std::size_t>(access.buffer)]) {
    refuse(fmt::format("{} reads \"{}\", which nothing wrote", operation, buffer.name));
  }
}

void check_attention(const Attend& attend) {
  if (attend.heads % attend.kv_heads != 0) refuse("attend: kv_heads do not divide heads");
  if (attend.length > attend.capacity) refuse("attend: reads beyond the cache's capacity");
  if (attend.causal && attend.tokens > attend.length) refuse("attend: a causal query that sees no key");
  if (attend.query_stride < attend.heads * attend.head_dim) refuse("attend: queries overlap");
}

void check_store(const StoreKeysValues& store) {
  if (store.context + store.tokens > store.capacity) refuse("store_keys_values: writes beyond the cache's capacity");
  if (store.rotary && store.head_dim % 2 != 0) refuse("store_keys_values: rotary heads of odd size");
}

void check_embed(const Program& program, const Embed& embed) {
  if (program.buffers[static_cast<std::size_t>(embed.tokens)].vocabulary > embed.vocabulary) {
    refuse("embed: token ids beyond the table");
  }
  if (embed.rows % embed.tokens_per_sequence != 0) refuse("embed: rows are no whole number of sequences");
}

void check_operation(const Program& program, const Operation& operation) {
  if (const auto* attend = std::get_if<Attend>(&operation)) check_attention(*attend);
  if (const auto* store = std::get_if<StoreKeysValues>(&operation)) check_store(*store);
  if (const auto* embed = std::get_if<Embed>(&operation)) check_embed(program, *embed);
}

}  // namespace

std::string_view to_string(DataType type) {
  switch (type) {
    case DataType::fp16:
      return "fp16";
    case DataType::bf16:
      return "bf16";
    case DataType::fp32:
      break;
  }
  return "fp32";
}

std::int64_t bytes_of(DataType type) { return type == DataType::fp32 ? 4 : 2; }

std::string_view name_of(const Operation& operation) {
  struct Names {
    std::string_view operator()(const Embed&) const { return "embed"; }
    std::string_view operator()(const AddNormalise&) const { return "add_normalise"; }
    std::string_view operator()(const Project&) const { return "project"; }
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
    if (!names.insert(buffer.name).second) refuse(fmt::format("two buffers \"{}\"", buffer.name));
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
  if (program.output < 0 || program.output >= static_cast<BufferId>(program.buffers.size())) refuse("no output");
}

}  // namespace foredraft::latency
