// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/kernels/operation_kernels.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace foredraft::gpu_bench {
namespace {

constexpr std::int64_t max_head_dim = std::int64_t{warp_lanes} * pack_elements;
constexpr std::int64_t min_keys_per_split = 32;
constexpr std::int64_t min_logits_per_split = 2048;
constexpr std::int64_t blocks_per_multiprocessor = 2;

std::int64_t whole_parts(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

/// Splits each of `units` into enough parts to keep the device busy, none smaller than `smallest`.
unsigned splits_for(std::int64_t units, std::int64_t size, std::int64_t smallest, unsigned multiprocessors) {
  const std::int64_t wanted = whole_parts(blocks_per_multiprocessor * multiprocessors, units);
  return static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, size / smallest)));
}

std::int64_t rows_of(const latency::Attend& o) { return o.tokens * (o.heads / o.kv_heads); }

std::int64_t tiles_of(const latency::Attend& o, std::int64_t tile_rows) {
  return o.batch * o.kv_heads * whole_parts(rows_of(o), tile_rows);
}

std::int64_t max_splits_of(const latency::Attend& o) {
  return std::max<std::int64_t>(1, o.length / min_keys_per_split);
}

bool all_packs(std::initializer_list<std::int64_t> sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size % pack_elements == 0; });
}

struct MovesPacks {
  bool operator()(const latency::Embed& o) const { return all_packs({o.width}); }
  bool operator()(const latency::AddNormalise& o) const { return all_packs({o.width}); }
  bool operator()(const latency::Project&) const { return false; }
  bool operator()(const latency::NormaliseHeads& o) const { return all_packs({o.head_dim}); }
  bool operator()(const latency::StoreKeysValues& o) const {
    return o.head_dim % (std::int64_t{2} * pack_elements) == 0;
  }
  bool operator()(const latency::Attend& o) const { return all_packs({o.head_dim, o.query_stride}); }
  bool operator()(const latency::Activate& o) const { return all_packs({o.width}); }
  bool operator()(const latency::PickToken& o) const { return all_packs({o.vocabulary}); }
};

}  // namespace

void check_kernel_limits(const latency::Operation& operation) {
  if (const auto* o = std::get_if<latency::Attend>(&operation); o != nullptr && o->head_dim > max_head_dim) {
    throw std::logic_error(fmt::format("attend: head_dim {} is above {}", o->head_dim, max_head_dim));
  }
  if (const auto* o = std::get_if<latency::StoreKeysValues>(&operation);
      o != nullptr && o->rotary && o->head_dim % 2 != 0) {
    throw std::logic_error(fmt::format("rotary positions need an even head_dim, not {}", o->head_dim));
  }
}

unsigned tile_rows_of(const latency::Attend& operation, unsigned multiprocessors) {
  for (const unsigned tile_rows : {8U, 4U}) {
    const bool occupies = 2 * tiles_of(operation, tile_rows) * max_splits_of(operation) >= multiprocessors;
    if (occupies && 2 * rows_of(operation) > tile_rows) return tile_rows;
  }
  return 1;
}

unsigned splits_of(const latency::Attend& operation, unsigned multiprocessors) {
  // As many blocks as run at once: those that have to wait would double the time.
  const unsigned tile_rows = tile_rows_of(operation, multiprocessors);
  const std::int64_t blocks = std::int64_t{attend_blocks_at_once(tile_rows)} * multiprocessors;
  return static_cast<unsigned>(
      std::clamp<std::int64_t>(blocks / tiles_of(operation, tile_rows), 1, max_splits_of(operation)));
}

unsigned splits_of(const latency::PickToken& operation, unsigned multiprocessors) {
  return splits_for(operation.rows, operation.vocabulary, min_logits_per_split, multiprocessors);
}

WorkspaceSize workspace_of(const latency::Operation& operation, unsigned multiprocessors) {
  if (const auto* o = std::get_if<latency::Attend>(&operation)) {
    const std::int64_t splits = splits_of(*o, multiprocessors);
    if (splits == 1) return {};
    const unsigned tile_rows = tile_rows_of(*o, multiprocessors);
    const std::int64_t tiles = tiles_of(*o, tile_rows);
    const unsigned lanes_log2 = attend_lanes_log2(static_cast<unsigned>(o->head_dim));
    return {.floats = tiles * splits * attend_partial_floats(tile_rows, lanes_log2), .counters = tiles};
  }
  if (const auto* o = std::get_if<latency::PickToken>(&operation)) {
    const std::int64_t splits = splits_of(*o, multiprocessors);
    if (splits == 1) return {};
    return {.floats = 2 * o->rows * splits, .counters = o->rows};
  }
  return {};
}

bool moves_packs(const latency::Operation& operation) { return std::visit(MovesPacks{}, operation); }

}  // namespace foredraft::gpu_bench
