// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <span>
#include <stdexcept>

#include "gpu_bench/kernels/attend.hpp"
#include "gpu_bench/kernels/attend_tiles.hpp"
#include "gpu_bench/kernels/elementwise.hpp"
#include "gpu_bench/kernels/fill.hpp"
#include "gpu_bench/kernels/reduce.hpp"
#include "gpu_bench/kernels/storage.hpp"
#include "latency/operations/program.hpp"
#include "latency/operations/reference.hpp"

/// Kernel and parameters for each operation of a program; the same on the device and on the host.
namespace foredraft::gpu_bench {

/// Calls use.operator()<Storage>() with the storage of a type: Half, Bfloat16 or float.
template <class Use>
auto with_storage(latency::DataType type, const Use& use) {
  switch (type) {
    case latency::DataType::fp16:
      return use.template operator()<Half>();
    case latency::DataType::bf16:
      return use.template operator()<Bfloat16>();
    case latency::DataType::fp32:
      break;
  }
  return use.template operator()<float>();
}

/// The type of a storage.
template <class Storage>
inline constexpr latency::DataType type_of = latency::DataType::fp32;
template <>
inline constexpr latency::DataType type_of<Half> = latency::DataType::fp16;
template <>
inline constexpr latency::DataType type_of<Bfloat16> = latency::DataType::bf16;

/// Memory and launch configuration of kernels.
struct KernelContext {
  std::span<void* const> buffers;  ///< by BufferId, each at a multiple of 16 bytes
  Workspace workspace;
  unsigned multiprocessors;
};

/// Throws std::logic_error for head sizes above 256, the maximum of Attend, and for odd rotary ones.
void check_kernel_limits(const latency::Operation& operation);

/// How a device runs attention.
struct AttendPlan {
  unsigned row_tiles;  ///< of 16 rows that a block multiplies on the matrix units: 1, 2 or 4; 0: on the CUDA cores
  unsigned tile_rows;  ///< rows for which a block shares its keys: 16 row_tiles, or 1, 4 or 8 on the CUDA cores
  unsigned tiles;      ///< of all sequences and key-value heads
  unsigned splits;     ///< blocks that share the keys of a tile; enough to occupy every multiprocessor
};
/// `type`: of the storage; fp32 runs on the CUDA cores.
[[nodiscard]] AttendPlan plan_of(const latency::Attend& operation, latency::DataType type, unsigned multiprocessors);

/// Blocks that share a row of logits.
[[nodiscard]] unsigned splits_of(const latency::PickToken& operation, unsigned multiprocessors);

/// Workspace of an operation; a program takes the maximum over its operations.
[[nodiscard]] WorkspaceSize workspace_of(const latency::Operation& operation, latency::DataType type,
                                         unsigned multiprocessors);

/// Whether all rows of an operation start at multiples of a pack, so that it can move packs.
[[nodiscard]] bool moves_packs(const latency::Operation& operation);

namespace detail {

template <class Storage>
[[nodiscard]] Storage* at(const KernelContext& context, latency::BufferId id) {
  return id == latency::no_buffer ? nullptr : static_cast<Storage*>(context.buffers[static_cast<std::size_t>(id)]);
}

template <class Storage, unsigned width, class Use>
void use_kernel(const latency::Embed& o, const KernelContext& c, const Use& use) {
  use(EmbedKernel<Storage, width>{.tokens = at<std::int32_t>(c, o.tokens),
                                  .table = at<Storage>(c, o.table),
                                  .positions = at<Storage>(c, o.positions),
                                  .out = at<Storage>(c, o.out),
                                  .rows = static_cast<unsigned>(o.rows),
                                  .width = static_cast<unsigned>(o.width),
                                  .tokens_per_sequence = static_cast<unsigned>(o.tokens_per_sequence),
                                  .first_position = static_cast<unsigned>(o.first_position)});
}

template <class Storage, unsigned width, class Use>
void use_kernel(const latency::AddNormalise& o, const KernelContext& c, const Use& use) {
  use(AddNormaliseKernel<Storage, width>{.stream = at<Storage>(c, o.stream),
                                         .delta = at<Storage>(c, o.delta),
                                         .gain = at<Storage>(c, o.gain),
                                         .bias = at<Storage>(c, o.bias),
                                         .out = at<Storage>(c, o.out),
                                         .rows = static_cast<unsigned>(o.rows),
                                         .width = static_cast<unsigned>(o.width),
                                         .epsilon = static_cast<float>(latency::norm_epsilon),
                                         .subtract_mean = o.norm == latency::Norm::layer});
}

template <class Storage, unsigned width, class Use>
void use_kernel(const latency::NormaliseHeads& o, const KernelContext& c, const Use& use) {
  use(NormaliseHeadsKernel<Storage, width>{.packed = at<Storage>(c, o.packed),
                                           .query_gain = at<Storage>(c, o.query_gain),
                                           .key_gain = at<Storage>(c, o.key_gain),
                                           .rows = static_cast<unsigned>(o.rows),
                                           .heads = static_cast<unsigned>(o.heads),
                                           .kv_heads = static_cast<unsigned>(o.kv_heads),
                                           .head_dim = static_cast<unsigned>(o.head_dim),
                                           .epsilon = static_cast<float>(latency::norm_epsilon)});
}

template <class Storage, unsigned width, class Use>
void use_kernel(const latency::StoreKeysValues& o, const KernelContext& c, const Use& use) {
  use(StoreKeysValuesKernel<Storage, width>{.packed = at<Storage>(c, o.packed),
                                            .keys = at<Storage>(c, o.keys),
                                            .values = at<Storage>(c, o.values),
                                            .batch = static_cast<unsigned>(o.batch),
                                            .tokens = static_cast<unsigned>(o.tokens),
                                            .context = static_cast<unsigned>(o.context),
                                            .capacity = o.capacity,
                                            .heads = static_cast<unsigned>(o.heads),
                                            .kv_heads = static_cast<unsigned>(o.kv_heads),
                                            .head_dim = static_cast<unsigned>(o.head_dim),
                                            .rotary = o.rotary,
                                            .rotary_log2_base = static_cast<float>(std::log2(latency::rotary_base))});
}

template <class Storage>
[[nodiscard]] AttendCall<Storage> attend_call(const latency::Attend& o, const AttendPlan& plan,
                                              const KernelContext& c) {
  return {
      .queries = at<Storage>(c, o.queries),
      .keys = at<Storage>(c, o.keys),
      .values = at<Storage>(c, o.values),
      .out = at<Storage>(c, o.out),
      .partials = c.workspace.floats,
      .counters = c.workspace.counters,
      .batch = static_cast<unsigned>(o.batch),
      .tokens = static_cast<unsigned>(o.tokens),
      .length = static_cast<unsigned>(o.length),
      .capacity = o.capacity,
      .kv_heads = static_cast<unsigned>(o.kv_heads),
      .group_heads = static_cast<unsigned>(o.heads / o.kv_heads),
      .tiles = plan.tiles / static_cast<unsigned>(o.batch * o.kv_heads),
      .head_dim = static_cast<unsigned>(o.head_dim),
      .query_stride = o.query_stride,
      .causal = o.causal,
      .splits = plan.splits,
      .keys_a_split = divide_up(static_cast<unsigned>(o.length), plan.splits),
      .log2_scale = static_cast<float>(1.4426950408889634 / std::sqrt(static_cast<double>(o.head_dim)))};  // log2(e)
}

/// Calls use(number), a compile-time number: `value`, which must be one of `numbers`.
template <unsigned... numbers, class Use>
void with_one_of(unsigned value, const Use& use) {
  (..., (value == numbers ? use(std::integral_constant<unsigned, numbers>{}) : void()));
}

template <class Storage, unsigned width, class Use>
void use_kernel(const latency::Attend& o, const KernelContext& c, const Use& use) {
  const AttendPlan plan = plan_of(o, type_of<Storage>, c.multiprocessors);
  const AttendCall<Storage> call = attend_call<Storage>(o, plan, c);
  if constexpr (sizeof(Storage) == 2 && width == pack_elements) {
    if (plan.row_tiles > 0) {
      return with_one_of<64, 128>(call.head_dim, [&](auto head_dim) {
        with_one_of<1, 2, 4>(plan.row_tiles,
                             [&](auto tiles) { use(AttendTilesKernel<Storage, head_dim(), tiles()>{.call = call}); });
      });
    }
  }
  with_one_of<1, 4, 8>(plan.tile_rows, [&](auto rows) {
    use(AttendKernel<Storage, width, rows()>{.call = call, .lanes_log2 = attend_lanes_log2(call.head_dim)});
  });
}

template <class Storage, unsigned width, class Use>
void use_kernel(const latency::Activate& o, const KernelContext& c, const Use& use) {
  use(ActivateKernel<Storage, width>{.in = at<Storage>(c, o.in),
                                     .out = at<Storage>(c, o.out),
                                     .rows = static_cast<unsigned>(o.rows),
                                     .width = static_cast<unsigned>(o.width),
                                     .function = o.function,
                                     .gated = o.gated});
}

template <class Storage, unsigned width, class Use>
void use_kernel(const latency::PickToken& o, const KernelContext& c, const Use& use) {
  const unsigned splits = splits_of(o, c.multiprocessors);
  use(PickTokenKernel<Storage, width>{
      .logits = at<Storage>(c, o.logits),
      .out = at<std::int32_t>(c, o.out),
      .best_logits = c.workspace.floats,
      .best_tokens = reinterpret_cast<std::uint32_t*>(c.workspace.floats + o.rows * splits),
      .counters = c.workspace.counters,
      .rows = static_cast<unsigned>(o.rows),
      .vocabulary = static_cast<unsigned>(o.vocabulary),
      .splits = splits});
}

template <class Storage, unsigned width, class Use>
void use_kernel(const latency::Project&, const KernelContext&, const Use&) {
  throw std::logic_error("a projection has no kernel of its own");
}

}  // namespace detail

/// Calls use(kernel) with the kernel of any operation except a projection.
template <class Storage, class Use>
void with_kernel(const latency::Operation& operation, const KernelContext& context, const Use& use) {
  check_kernel_limits(operation);
  std::visit(
      [&](const auto& o) {
        if (moves_packs(operation)) {
          detail::use_kernel<Storage, pack_elements>(o, context, use);
        } else {
          detail::use_kernel<Storage, 1>(o, context, use);
        }
      },
      operation);
}

/// Calls use(kernel) with the kernel that fills a buffer before a pass.
template <class Storage, class Use>
void with_content_kernel(const latency::Buffer& buffer, void* memory, std::uint64_t seed, const Use& use) {
  const auto fill = [&](const auto& element) {
    use(FillKernel<std::decay_t<decltype(element)>>{
        .stream = content_stream(buffer, seed), .elements = buffer.elements, .element = element});
  };
  auto* out = static_cast<Storage*>(memory);
  switch (buffer.kind) {
    case latency::BufferKind::activation:
      return fill(PoisonElement<Storage>{.out = out});
    case latency::BufferKind::tokens:
      return fill(TokenElement{.out = static_cast<std::int32_t*>(memory), .vocabulary = buffer.vocabulary});
    case latency::BufferKind::weight:
    case latency::BufferKind::cache:
    case latency::BufferKind::input:
      return fill(BellElement<Storage>{.out = out, .factor = latency::content_factor(buffer.scale)});
  }
}

}  // namespace foredraft::gpu_bench
