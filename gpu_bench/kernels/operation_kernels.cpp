// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/kernels/operation_kernels.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace foredraft::gpu_bench {
namespace {

constexpr std::int64_t max_head_dim = std::int64_t{warp_lanes} * pack_elements;
constexpr std::int64_t min_keys_per_split = 32;
constexpr std::int64_t min_logits_per_split = 2048;
constexpr std::int64_t blocks_per_multiprocessor = 2;

// Attention on the matrix units, as an H200 ran it with heads of 64 and 128, groups of 1, 2 and 4 heads, 1 to 16
// tokens, batches 1 to 32 and contexts 512 to 8192.
constexpr std::int64_t min_matrix_rows = 2;  ///< one is as fast on the CUDA cores
/// Each tile of a key-value head reads its keys. Above so many for a block, that takes longer than larger tiles do.
constexpr std::int64_t max_keys_per_small_tile = 1024;
/// Merging a split takes as long as reading so many keys a split: length / s + 8 s is least at s = sqrt(length / 8).
constexpr double keys_per_merged_split = 8.0;

std::int64_t whole_parts(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

/// Splits each of `units` into enough parts to keep the device busy, none smaller than `smallest`.
unsigned splits_for(std::int64_t units, std::int64_t size, std::int64_t smallest, unsigned multiprocessors) {
  const std::int64_t wanted = whole_parts(blocks_per_multiprocessor * multiprocessors, units);
  return static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, size / smallest)));
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

AttendPlan plan_of(const latency::Attend& o, latency::DataType type, unsigned multiprocessors) {
  const std::int64_t rows = o.tokens * (o.heads / o.kv_heads);
  const auto tiles_of = [&](std::int64_t tile_rows) { return o.batch * o.kv_heads * whole_parts(rows, tile_rows); };
  const std::int64_t max_splits = std::max<std::int64_t>(1, o.length / min_keys_per_split);
  // As many blocks as run at once: those that have to wait would double the time.
  const auto plan = [&](unsigned row_tiles, unsigned tile_rows, unsigned at_once, std::int64_t most) {
    const std::int64_t tiles = tiles_of(tile_rows);
    const std::int64_t splits = std::clamp<std::int64_t>(std::int64_t{at_once} * multiprocessors / tiles, 1, most);
    return AttendPlan{row_tiles, tile_rows, static_cast<unsigned>(tiles), static_cast<unsigned>(splits)};
  };
  if (type != latency::DataType::fp32 && (o.head_dim == 64 || o.head_dim == 128) &&
      o.query_stride % pack_elements == 0 && rows >= min_matrix_rows) {
    const std::int64_t at_once = std::int64_t{attend_tiles_blocks_at_once} * multiprocessors;
    const auto reads_too_often = [&](std::int64_t tiles) {
      return tiles > at_once || tiles * o.length > at_once * max_keys_per_small_tile;
    };
    unsigned row_tiles = 1;
    std::int64_t tile_rows = matrix_rows;
    while (row_tiles < 4 && tile_rows < rows && reads_too_often(tiles_of(tile_rows))) {
      row_tiles *= 2;
      tile_rows *= 2;
    }
    const auto even = std::llround(std::sqrt(static_cast<double>(o.length) / keys_per_merged_split));
    return plan(row_tiles, row_tiles * matrix_rows, attend_tiles_blocks_at_once,
                std::clamp<std::int64_t>(even, 1, std::min<std::int64_t>(max_splits, attend_tiles_max_splits)));
  }
  for (const unsigned tile_rows : {8U, 4U}) {
    const bool occupies = 2 * tiles_of(tile_rows) * max_splits >= multiprocessors;
    if (occupies && 2 * rows > tile_rows) return plan(0, tile_rows, attend_blocks_at_once(tile_rows), max_splits);
  }
  return plan(0, 1, attend_blocks_at_once(1), max_splits);
}

unsigned splits_of(const latency::PickToken& operation, unsigned multiprocessors) {
  return splits_for(operation.rows, operation.vocabulary, min_logits_per_split, multiprocessors);
}

WorkspaceSize workspace_of(const latency::Operation& operation, latency::DataType type, unsigned multiprocessors) {
  if (const auto* o = std::get_if<latency::Attend>(&operation)) {
    const AttendPlan plan = plan_of(*o, type, multiprocessors);
    if (plan.splits == 1) return {};
    const auto head_dim = static_cast<unsigned>(o->head_dim);
    const unsigned floats = plan.row_tiles > 0 ? attend_tiles_partial_floats(plan.row_tiles, head_dim)
                                               : attend_partial_floats(plan.tile_rows, attend_lanes_log2(head_dim));
    return {.floats = std::int64_t{plan.tiles} * plan.splits * floats, .counters = plan.tiles};
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
