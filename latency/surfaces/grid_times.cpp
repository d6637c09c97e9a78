// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/grid_times.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "foredraft/errors.hpp"

namespace foredraft::latency {
namespace {

/// A thread-safe cache of numbers by key. Entries never change; numbers without a free slot are not cached.
class KeptNumbers {
 public:
  /// `key` > 0; `make` may be called more than once for it.
  template <class Make>
  double of(std::uint64_t key, const Make& make) {
    constexpr int max_steps = 16;
    std::size_t at = (key * 0x9e3779b97f4a7c15U) >> (64U - size_bits);
    for (int step = 0; step < max_steps; ++step, at = (at + 1) % entries_.size()) {
      Entry& entry = entries_[at];
      std::uint64_t holds = entry.key.load(std::memory_order_acquire);
      if (holds == 0 && entry.key.compare_exchange_strong(holds, key, std::memory_order_acq_rel)) holds = key;
      if (holds != key) continue;
      double number = entry.number.load(std::memory_order_relaxed);
      if (std::isnan(number)) {
        number = make();
        entry.number.store(number, std::memory_order_relaxed);
      }
      return number;
    }
    return make();
  }

 private:
  struct Entry {
    std::atomic<std::uint64_t> key = 0;
    std::atomic<double> number = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not computed yet
  };
  static constexpr unsigned size_bits = 15;
  std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << size_bits);
};

/// Contexts of the grid: all whole numbers up to 16, then eight equidistant ones per octave.
constexpr int exact_bits = 4;
constexpr int per_octave = 8;
constexpr double exact_contexts = 1 << exact_bits;

double context_at(int node) {
  if (node < 1 << exact_bits) return node;
  const int beyond = node - (1 << exact_bits);
  return std::ldexp(1.0 + static_cast<double>(beyond % per_octave) / per_octave, exact_bits + beyond / per_octave);
}

struct GridPlace {
  int node;      ///< the node below
  double share;  ///< weight of the next node
};

GridPlace place_of(double context) {
  double position = context;
  if (context >= exact_contexts) {
    const int octave = std::ilogb(context);
    position = exact_contexts + per_octave * (octave - exact_bits + std::ldexp(context, -octave) - 1.0);
  }
  const double below = std::floor(position);
  return {static_cast<int>(below), position - below};
}

enum class GridPass : std::uint64_t { target = 1, target_without_bonus = 2, drafter = 3 };

class GridTimes final : public ForwardPassTimes {
 public:
  explicit GridTimes(std::shared_ptr<const ForwardPassTimes> times) : times_(std::move(times)) {}

  [[nodiscard]] std::optional<DecodingCost> cost(const LookedUpTimes& asked, std::int64_t gamma,
                                                 Convention convention) const override {
    return times_->cost(asked, gamma, convention);
  }

  [[nodiscard]] double target_us(const StepShape& shape, Convention convention) const override {
    const auto exact = [&](const StepShape& one) { return times_->target_us(one, convention); };
    return on_grid(convention == Convention::bonus ? GridPass::target : GridPass::target_without_bonus, shape, exact);
  }

  void check_memory(const StepShape& shape) const override { times_->check_memory(shape); }

  [[nodiscard]] double drafter_us(const StepShape& shape) const override {
    return on_grid(GridPass::drafter, shape, [&](const StepShape& one) { return times_->drafter_us(one); });
  }

 private:
  template <class Exact>
  [[nodiscard]] double on_grid(GridPass pass, const StepShape& shape, const Exact& exact) const {
    constexpr std::int64_t max_count = (1 << 20) - 1;  // bits of the key
    constexpr double max_grid_context = 1e9;
    const bool kept = !shape.prompt && shape.chunk == 0 &&
                      std::clamp(shape.batch, std::int64_t{1}, max_count) == shape.batch &&
                      std::clamp(shape.tokens, std::int64_t{1}, max_count) == shape.tokens && shape.context >= 0.0 &&
                      shape.context <= max_grid_context;
    if (!kept) return exact(shape);
    // The context may be possible here even if it is not at the next node.
    constexpr double impossible = std::numeric_limits<double>::infinity();
    const auto at_node = [&](int node) {
      const std::uint64_t key = static_cast<std::uint64_t>(pass) << 56U | static_cast<std::uint64_t>(node) << 40U |
                                static_cast<std::uint64_t>(shape.tokens) << 20U |
                                static_cast<std::uint64_t>(shape.batch);
      return numbers_.of(key, [&] {
        try {
          return exact({.batch = shape.batch, .tokens = shape.tokens, .context = context_at(node)});
        } catch (const DomainError&) {
          return impossible;
        }
      });
    };
    const GridPlace place = place_of(shape.context);
    const double below = at_node(place.node);
    if (place.share == 0.0 && below < impossible) return below;
    const double above = at_node(place.node + 1);
    if (!(below < impossible && above < impossible)) return exact(shape);
    return below + place.share * (above - below);
  }

  std::shared_ptr<const ForwardPassTimes> times_;
  mutable KeptNumbers numbers_;
};

}  // namespace

std::shared_ptr<const ForwardPassTimes> grid_times(std::shared_ptr<const ForwardPassTimes> times) {
  return std::make_shared<GridTimes>(std::move(times));
}

}  // namespace foredraft::latency
