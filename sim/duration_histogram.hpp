// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace foredraft::sim {

/// Durations counted in buckets of equal relative width: 128 to each doubling, exact below 256 ns. Memory is bounded
/// (7,296 buckets hold any duration) and merging is addition.
class DurationHistogram {
 public:
  /// Half the width of a bucket, relative to the durations in it: how far a quantile may be off.
  static constexpr double resolution = 1.0 / 256.0;

  /// duration_ns >= 0.
  void add(std::int64_t duration_ns);
  void merge(const DurationHistogram& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// The smallest duration that at least the share `level` in (0, 1] of all do not exceed, to the middle of its bucket;
  /// 0 when empty. In ns.
  [[nodiscard]] std::int64_t quantile(double level) const;

  bool operator==(const DurationHistogram&) const = default;

 private:
  std::vector<std::uint64_t> counts_;  // up to the longest seen
  std::uint64_t count_ = 0;
};

}  // namespace foredraft::sim
