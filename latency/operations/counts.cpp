// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/counts.hpp"

#include <algorithm>
#include <numeric>

namespace foredraft::latency {
namespace {

class AccessList {
 public:
  void read(BufferId buffer, std::int64_t elements) { add({buffer, elements, elements, 0, false}); }
  void write(BufferId buffer, std::int64_t elements) { add({buffer, elements, 0, elements, false}); }
  void change(BufferId buffer, std::int64_t elements) { add({buffer, elements, elements, elements, false}); }
  void add(const Access& access) {
    if (access.buffer != no_buffer) list_.push_back(access);
  }
  [[nodiscard]] std::vector<Access> take() && { return std::move(list_); }

 private:
  std::vector<Access> list_;
};

void list_accesses(const Embed& embed, AccessList& list) {
  const std::int64_t values = embed.rows * embed.width;
  list.add({embed.tokens, embed.rows, embed.rows, 0, true});
  list.add({embed.table, embed.vocabulary * embed.width, values, 0, false});
  const std::int64_t positions = embed.tokens_per_sequence * embed.width;
  list.add({embed.positions, embed.first_position * embed.width + positions, positions, 0, false});
  list.write(embed.out, values);
}

void list_accesses(const AddNormalise& norm, AccessList& list) {
  const std::int64_t values = norm.rows * norm.width;
  if (norm.delta == no_buffer) {
    list.read(norm.stream, values);
  } else {
    list.change(norm.stream, values);
    list.read(norm.delta, values);
  }
  list.read(norm.gain, norm.width);
  list.read(norm.bias, norm.width);
  list.write(norm.out, values);
}

void list_accesses(const Project& project, AccessList& list) {
  const std::int64_t values = project.rows * project.outputs;
  list.read(project.in, project.rows * project.inputs);
  list.read(project.weight, project.outputs * project.inputs);
  list.read(project.bias, project.outputs);
  if (project.accumulate) {
    list.change(project.out, values);
  } else {
    list.write(project.out, values);
  }
}

void list_accesses(const NormaliseHeads& norm, AccessList& list) {
  const std::int64_t values = norm.rows * norm.kv_heads * norm.head_dim;
  const std::int64_t normed = norm.rows * norm.heads * norm.head_dim + values;
  list.add({norm.packed, normed + values, normed, normed, false});
  list.read(norm.query_gain, norm.head_dim);
  list.read(norm.key_gain, norm.head_dim);
}

void list_accesses(const StoreKeysValues& store, AccessList& list) {
  const std::int64_t rows = store.batch * store.tokens;
  const std::int64_t queries = rows * store.heads * store.head_dim;
  const std::int64_t entries = rows * store.kv_heads * store.head_dim;
  const std::int64_t capacity = store.batch * store.capacity * store.kv_heads * store.head_dim;
  // Without rotation the queries are not accessed.
  list.add({store.packed, queries + 2 * entries, 2 * entries + (store.rotary ? queries : 0), store.rotary ? queries : 0,
            false});
  list.add({store.keys, capacity, 0, entries, false});
  list.add({store.values, capacity, 0, entries, false});
}

void list_accesses(const Attend& attend, AccessList& list) {
  const std::int64_t rows = attend.batch * attend.tokens;
  const std::int64_t values = rows * attend.heads * attend.head_dim;
  const std::int64_t last_query = (rows - 1) * attend.query_stride + attend.heads * attend.head_dim;
  const std::int64_t entries = attend.batch * attend.length * attend.kv_heads * attend.head_dim;
  list.add({attend.queries, last_query, values, 0, false});
  list.add({attend.keys, cache_elements(attend), entries, 0, false});
  list.add({attend.values, cache_elements(attend), entries, 0, false});
  list.write(attend.out, values);
}

void list_accesses(const Activate& activate, AccessList& list) {
  const std::int64_t values = activate.rows * activate.width;
  list.read(activate.in, activate.gated ? 2 * values : values);
  list.write(activate.out, values);
}

void list_accesses(const PickToken& pick, AccessList& list) {
  list.read(pick.logits, pick.rows * pick.vocabulary);
  list.add({pick.out, pick.rows, 0, pick.rows, true});
}

}  // namespace

std::vector<Access> accesses(const Operation& operation) {
  AccessList list;
  std::visit([&list](const auto& one) { list_accesses(one, list); }, operation);
  return std::move(list).take();
}

std::int64_t cache_elements(const Attend& attend) {
  return attend.batch * attend.capacity * attend.kv_heads * attend.head_dim;
}

std::int64_t attended_pairs(const Attend& attend) {
  const std::int64_t hidden = attend.causal ? attend.tokens * (attend.tokens - 1) / 2 : 0;
  return attend.batch * attend.heads * (attend.tokens * attend.length - hidden);
}

namespace {

constexpr std::int64_t token_bytes = 4;

std::int64_t flop_of(const Embed& embed) { return embed.positions == no_buffer ? 0 : embed.rows * embed.width; }

std::int64_t flop_of(const AddNormalise& norm) {
  const std::int64_t one =
      (norm.norm == Norm::rms ? 4 : 7) + (norm.delta == no_buffer ? 0 : 1) + (norm.bias == no_buffer ? 0 : 1);
  return one * norm.rows * norm.width;
}

std::int64_t flop_of(const Project& project) {
  const std::int64_t bias = project.bias == no_buffer ? 0 : 1;
  return project.rows * project.outputs * (2 * project.inputs + bias);
}

std::int64_t flop_of(const NormaliseHeads& norm) {
  return 4 * norm.rows * (norm.heads + norm.kv_heads) * norm.head_dim;
}

std::int64_t flop_of(const StoreKeysValues& store) {
  return store.rotary ? 3 * store.batch * store.tokens * (store.heads + store.kv_heads) * store.head_dim : 0;
}

/// Scores and weighted sums, each a multiply-add per element of a head.
std::int64_t flop_of(const Attend& attend) { return 4 * attended_pairs(attend) * attend.head_dim; }

std::int64_t flop_of(const Activate& activate) { return (activate.gated ? 2 : 1) * activate.rows * activate.width; }

std::int64_t flop_of(const PickToken&) { return 0; }

}  // namespace

Work& Work::operator+=(const Work& other) {
  read_bytes += other.read_bytes;
  written_bytes += other.written_bytes;
  flop += other.flop;
  return *this;
}

Work work_of(const Operation& operation, DataType type) {
  Work work;
  for (const Access& access : accesses(operation)) {
    const auto bytes = static_cast<double>(access.token_ids ? token_bytes : bytes_of(type));
    work.read_bytes += bytes * static_cast<double>(access.read);
    work.written_bytes += bytes * static_cast<double>(access.written);
  }
  work.flop = static_cast<double>(std::visit([](const auto& one) { return flop_of(one); }, operation));
  return work;
}

Work work_of(const Program& program, DataType type) {
  Work work;
  for (const Operation& operation : program.operations) work += work_of(operation, type);
  return work;
}

double memory_bytes(const Program& program, DataType type) {
  double bytes = 0.0;
  for (const Buffer& buffer : program.buffers) {
    const std::int64_t one = buffer.kind == BufferKind::tokens ? token_bytes : bytes_of(type);
    bytes += static_cast<double>(one) * static_cast<double>(buffer.elements);
  }
  return bytes;
}

double streamed_bytes(const Program& program, DataType type) {
  std::vector<std::int64_t> elements(program.buffers.size(), 0);
  for (const Operation& operation : program.operations) {
    for (const Access& access : accesses(operation)) {
      const auto place = static_cast<std::size_t>(access.buffer);
      const BufferKind kind = program.buffers[place].kind;
      if (kind != BufferKind::weight && kind != BufferKind::cache) continue;
      elements[place] = std::max({elements[place], access.read, access.written});
    }
  }
  return static_cast<double>(bytes_of(type) * std::accumulate(elements.begin(), elements.end(), std::int64_t{0}));
}

}  // namespace foredraft::latency
