// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/operation_accesses.hpp"

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

void list_accesses(const StoreKeysValues& store, AccessList& list) {
  const std::int64_t rows = store.batch * store.tokens;
  const std::int64_t queries = rows * store.heads * store.head_dim;
  const std::int64_t entries = rows * store.kv_heads * store.head_dim;
  const std::int64_t capacity = store.batch * store.capacity * store.kv_heads * store.head_dim;
  // Without rotation the queries stay where they are.
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

}  // namespace foredraft::latency
