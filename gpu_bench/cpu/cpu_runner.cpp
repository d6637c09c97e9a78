// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/cpu_runner.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "gpu_bench/cpu/vector_kernels.hpp"
#include "latency/operations/reference.hpp"

namespace foredraft::gpu_bench {
namespace {

/// Queries whose scores are adjacent: they share the keys, and their scores stay in the cache.
constexpr std::int64_t query_block = 16;
/// Minimum number of elements per thread: a cache line, so that no two threads write to the same one.
constexpr std::int64_t line_floats = 16;

std::span<float> row_of(float* matrix, std::int64_t row, std::int64_t width) {
  return {matrix + row * width, static_cast<std::size_t>(width)};
}

/// The part of an operation that one thread computes.
class ThreadPart {
 public:
  ThreadPart(const std::vector<void*>& addresses, std::vector<float>& scratch, unsigned thread, unsigned threads)
      : addresses_(addresses), scratch_(scratch), thread_(thread), threads_(threads) {}

  void operator()(const latency::Embed& o) const {
    const std::int32_t* tokens = tokens_of(o.tokens);
    const Share share = share_of(o.rows, thread_, threads_);
    for (std::int64_t row = share.begin; row < share.end; ++row) {
      const std::span<float> out = row_of(at(o.out), row, o.width);
      std::ranges::copy(row_of(at(o.table), tokens[row], o.width), out.begin());
      if (o.positions == latency::no_buffer) continue;
      const std::int64_t position = o.first_position + row % o.tokens_per_sequence;
      const std::span<float> added = row_of(at(o.positions), position, o.width);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += added[i];
    }
  }

  void operator()(const latency::AddNormalise& o) const {
    const Share share = share_of(o.rows, thread_, threads_);
    for (std::int64_t row = share.begin; row < share.end; ++row) {
      add_normalise(o.norm, row_of(at(o.stream), row, o.width),
                    o.delta == latency::no_buffer ? nullptr : at(o.delta) + row * o.width, at(o.gain), at(o.bias),
                    at(o.out) + row * o.width);
    }
  }

  void operator()(const latency::Project& o) const {
    const Share share = share_of(o.outputs, thread_, threads_, line_floats);
    if (share.begin == share.end) return;
    multiply({.in = at(o.in),
              .in_stride = o.inputs,
              .weight = at(o.weight) + share.begin * o.inputs,
              .weight_stride = o.inputs,
              .bias = o.bias == latency::no_buffer ? nullptr : at(o.bias) + share.begin,
              .out = at(o.out) + share.begin,
              .out_stride = o.outputs,
              .rows = o.rows,
              .outputs = share.end - share.begin,
              .inputs = o.inputs,
              .accumulate = o.accumulate});
  }

  void operator()(const latency::NormaliseHeads& o) const {
    const std::int64_t normed = o.heads + o.kv_heads;
    const Share share = share_of(o.rows * normed, thread_, threads_);
    for (std::int64_t head = share.begin; head < share.end; ++head) {
      const std::int64_t place = head / normed * (normed + o.kv_heads) + head % normed;
      const std::span<float> values = row_of(at(o.packed), place, o.head_dim);
      add_normalise(latency::Norm::rms, values, nullptr, at(head % normed < o.heads ? o.query_gain : o.key_gain),
                    nullptr, values.data());
    }
  }

  void operator()(const latency::StoreKeysValues& o) const {
    const std::int64_t entry = o.kv_heads * o.head_dim;
    const std::int64_t queries = o.heads * o.head_dim;
    const Share share = share_of(o.batch * o.tokens, thread_, threads_);
    for (std::int64_t row = share.begin; row < share.end; ++row) {
      const std::int64_t position = o.context + row % o.tokens;
      const std::int64_t target = (row / o.tokens * o.capacity + position) * entry;
      float* packed = at(o.packed) + row * (queries + 2 * entry);
      float* keys = at(o.keys) + target;
      std::copy_n(packed + queries, entry, keys);
      std::copy_n(packed + queries + entry, entry, at(o.values) + target);
      if (!o.rotary) continue;
      rotate(packed, o.heads, o.head_dim, position);
      rotate(keys, o.kv_heads, o.head_dim, position);
    }
  }

  void operator()(const latency::Attend& o) const {
    const float scale = 1.0F / std::sqrt(static_cast<float>(o.head_dim));
    const std::int64_t stride = o.kv_heads * o.head_dim;
    const Share share = share_of(o.batch * o.heads, thread_, threads_);
    for (std::int64_t unit = share.begin; unit < share.end; ++unit) {
      const std::int64_t sequence = unit / o.heads;
      const std::int64_t head = unit % o.heads;
      const std::int64_t first_key = (sequence * o.capacity * o.kv_heads + head / (o.heads / o.kv_heads)) * o.head_dim;
      for (std::int64_t first = 0; first < o.tokens; first += query_block) {
        const std::int64_t count = std::min(query_block, o.tokens - first);
        const std::int64_t row = sequence * o.tokens + first;
        multiply({.in = at(o.queries) + row * o.query_stride + head * o.head_dim,
                  .in_stride = o.query_stride,
                  .weight = at(o.keys) + first_key,
                  .weight_stride = stride,
                  .bias = nullptr,
                  .out = scratch_.data(),
                  .out_stride = o.length,
                  .rows = count,
                  .outputs = o.length,
                  .inputs = o.head_dim,
                  .accumulate = false});
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t seen = o.causal ? o.length - o.tokens + first + i + 1 : o.length;
          const std::span<float> scores = row_of(scratch_.data(), i, o.length).first(static_cast<std::size_t>(seen));
          softmax(scale, scores);
          weighted_sum(scores, at(o.values) + first_key, stride,
                       row_of(at(o.out), (row + i) * o.heads + head, o.head_dim));
        }
      }
    }
  }

  void operator()(const latency::Activate& o) const {
    const Share share = share_of(o.width, thread_, threads_, line_floats);
    const auto width = static_cast<std::size_t>(share.end - share.begin);
    for (std::int64_t row = 0; row < o.rows; ++row) {
      const float* in = at(o.in) + row * (o.gated ? 2 * o.width : o.width) + share.begin;
      activate(o.function, {in, width}, o.gated ? in + o.width : nullptr,
               {at(o.out) + row * o.width + share.begin, width});
    }
  }

  void operator()(const latency::PickToken& o) const {
    const Share share = share_of(o.rows, thread_, threads_);
    for (std::int64_t row = share.begin; row < share.end; ++row) {
      const std::span<float> logits = row_of(at(o.logits), row, o.vocabulary);
      tokens_of(o.out)[row] = static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
    }
  }

 private:
  /// Null for no_buffer.
  [[nodiscard]] float* at(latency::BufferId id) const {
    return id == latency::no_buffer ? nullptr : static_cast<float*>(addresses_[static_cast<std::size_t>(id)]);
  }
  [[nodiscard]] std::int32_t* tokens_of(latency::BufferId id) const {
    return static_cast<std::int32_t*>(addresses_[static_cast<std::size_t>(id)]);
  }

  /// Rotates the pairs (i, i + half) of each head by the angles of its position.
  static void rotate(float* values, std::int64_t heads, std::int64_t head_dim, std::int64_t position) {
    const std::int64_t half = head_dim / 2;
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle =
          static_cast<double>(position) *
          std::pow(latency::rotary_base, -2.0 * static_cast<double>(i) / static_cast<double>(head_dim));
      const auto cosine = static_cast<float>(std::cos(angle));
      const auto sine = static_cast<float>(std::sin(angle));
      for (std::int64_t head = 0; head < heads; ++head) {
        float& first = values[head * head_dim + i];
        float& second = values[head * head_dim + i + half];
        const float turned = first * cosine - second * sine;
        second = first * sine + second * cosine;
        first = turned;
      }
    }
  }

  const std::vector<void*>& addresses_;
  std::vector<float>& scratch_;
  unsigned thread_;
  unsigned threads_;
};

std::int64_t scratch_floats(const latency::Program& program) {
  std::int64_t maximum = 0;
  for (const latency::Operation& operation : program.operations) {
    if (const auto* o = std::get_if<latency::Attend>(&operation)) {
      maximum = std::max(maximum, std::min(query_block, o->tokens) * o->length);
    }
  }
  return maximum;
}

}  // namespace

CpuRunner::CpuRunner(const latency::Program& program, std::span<HostPool> pools, ThreadTeam& team)
    : program_(program), team_(&team) {
  latency::check_program(program_);
  for (HostPool& pool : pools) {
    std::vector<void*>& addresses = addresses_.emplace_back();
    for (const latency::Buffer& buffer : program_.buffers) {
      const bool own = buffer.kind == latency::BufferKind::weight || buffer.kind == latency::BufferKind::cache;
      addresses.push_back((own ? pool : pools.front()).address_of(buffer));
    }
  }
  scratch_.assign(team.size(), std::vector<float>(static_cast<std::size_t>(scratch_floats(program_))));
}

void CpuRunner::run(int set) {
  const std::vector<void*>& addresses = addresses_[static_cast<std::size_t>(set)];
  team_->run([&](unsigned thread) {
    const ThreadPart part(addresses, scratch_[thread], thread, team_->size());
    for (const latency::Operation& operation : program_.operations) {
      std::visit(part, operation);
      team_->meet();
    }
  });
}

std::vector<double> CpuRunner::read(latency::BufferId id, int set) const {
  const latency::Buffer& buffer = program_.buffers[static_cast<std::size_t>(id)];
  const void* memory = address(id, set);
  const auto count = static_cast<std::size_t>(buffer.elements);
  if (buffer.kind == latency::BufferKind::tokens) {
    const std::span tokens(static_cast<const std::int32_t*>(memory), count);
    return {tokens.begin(), tokens.end()};
  }
  const std::span values(static_cast<const float*>(memory), count);
  return {values.begin(), values.end()};
}

}  // namespace foredraft::gpu_bench
