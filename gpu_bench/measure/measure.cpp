// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/measure/measure.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/check.hpp"
#include "core/random_stream.hpp"

namespace foredraft::gpu_bench {

std::optional<std::int64_t> copies_for_cold(double bytes, double cache_bytes) {
  constexpr double caches_between = 5.0;
  constexpr double max_copies = 2000.0;
  check_nonnegative("bytes", bytes);
  check_nonnegative("cache_bytes", cache_bytes);
  const double wanted_bytes = caches_between * cache_bytes;
  if (bytes >= wanted_bytes) return 1;
  const double copies = 1.0 + std::ceil(wanted_bytes / bytes);
  if (!(copies <= max_copies)) return std::nullopt;
  return static_cast<std::int64_t>(copies);
}

int calls_per_sample(double us_per_call, int rotated) {
  constexpr double shortest_sample_us = 100.0;
  constexpr double max_calls = 1000.0;
  const double wanted = std::clamp(std::ceil(shortest_sample_us / std::max(us_per_call, 0.01)), 1.0, max_calls);
  return (std::max(static_cast<int>(wanted), rotated) + rotated - 1) / rotated * rotated;
}

namespace {

void check_protocol(const std::vector<Arm>& arms, const latency::Protocol& protocol) {
  if (arms.empty()) throw DomainError("no arms to measure");
  check_positive("relative_spread", protocol.relative_spread);
  check_at_least("fewest_samples", protocol.fewest_samples, 1);
  check_at_least("most_samples", protocol.most_samples, protocol.fewest_samples);
  check_positive("budget_s", protocol.budget_s);
  check_probability("throttled_below", protocol.throttled_below);
  check_at_least("warm_up", protocol.warm_up, 0);
  for (const Arm& arm : arms) check_at_least("samples_a_round of " + arm.name, arm.samples_a_round, 1);
}

struct Progress {
  std::vector<Sample> taken = {};
  std::size_t next_look = 0;  ///< number of samples at which the spread is checked again
  std::optional<latency::Stopped> stopped = {};
};

struct Unthrottled {
  std::vector<double> us;
  std::vector<double> clocks_mhz;
};

/// The fastest clock may come late, so earlier samples are checked again each time.
Unthrottled unthrottled(const std::vector<Sample>& taken, double slowest_mhz) {
  Unthrottled kept;
  for (const Sample& sample : taken) {
    const bool clock_known = sample.clock_mhz > 0.0;
    if (clock_known && sample.clock_mhz < slowest_mhz) continue;
    kept.us.push_back(sample.us);
    if (clock_known) kept.clocks_mhz.push_back(sample.clock_mhz);
  }
  return kept;
}

std::vector<std::size_t> shuffled(std::vector<std::size_t> order, RandomStream& random) {
  for (std::size_t last = order.size(); last > 1; --last) {
    const auto pick = static_cast<std::size_t>(random.uniform() * static_cast<double>(last));
    std::swap(order[last - 1], order[pick]);
  }
  return order;
}

class Rounds {
 public:
  Rounds(const std::vector<Arm>& arms, const latency::Protocol& protocol, const std::function<double()>& now_s)
      : arms_(arms),
        protocol_(protocol),
        now_s_(now_s),
        end_s_(now_s() + protocol.budget_s),
        order_(protocol.seed, {.purpose = Purpose::measuring_order, .point = 0, .block = 0}),
        progress_(arms.size()) {
    for (Progress& arm : progress_) arm.next_look = static_cast<std::size_t>(protocol.fewest_samples);
  }

  void run() {
    warm_up();
    while (one_round()) {
    }
    for (Progress& arm : progress_) {
      if (!arm.stopped) arm.stopped = latency::Stopped::out_of_time;
    }
  }

  [[nodiscard]] latency::Measurement measurement(std::size_t arm) const {
    const Progress& progress = progress_[arm];
    Unthrottled kept = unthrottled(progress.taken, slowest_mhz());
    latency::Measurement result{.name = arms_[arm].name,
                                .summary = {},
                                .samples_us = std::move(kept.us),
                                .throttled = 0,
                                .clock_mhz = 0.0,
                                .stopped = progress.stopped.value()};
    result.throttled = static_cast<std::int64_t>(progress.taken.size() - result.samples_us.size());
    if (!result.samples_us.empty()) result.summary = latency::summarise(result.samples_us);
    if (!kept.clocks_mhz.empty()) {
      std::sort(kept.clocks_mhz.begin(), kept.clocks_mhz.end());
      result.clock_mhz = latency::percentile(kept.clocks_mhz, 0.5);
    }
    return result;
  }

 private:
  [[nodiscard]] bool time_is_up() const { return now_s_() >= end_s_; }
  [[nodiscard]] double slowest_mhz() const { return protocol_.throttled_below * fastest_mhz_; }

  void warm_up() {
    for (std::int64_t call = 0; call < protocol_.warm_up; ++call) {
      for (const Arm& arm : arms_) {
        if (time_is_up()) return;
        static_cast<void>(arm.run());
      }
    }
  }

  /// Returns false if every arm is done, or the time is up.
  bool one_round() {
    std::vector<std::size_t> turns;
    for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
      if (!progress_[arm].stopped) turns.insert(turns.end(), static_cast<std::size_t>(arms_[arm].samples_a_round), arm);
    }
    for (const std::size_t arm : shuffled(turns, order_)) {
      if (first_round_done_ && time_is_up()) return false;
      take(arm);
    }
    first_round_done_ = true;
    for (Progress& arm : progress_) {
      if (!arm.stopped) look(arm);
    }
    return !turns.empty();
  }

  void take(std::size_t arm) {
    const Sample sample = arms_[arm].run();
    check_positive(fmt::format("time of {} in us", arms_[arm].name), sample.us);
    check_nonnegative(fmt::format("clock of {} in MHz", arms_[arm].name), sample.clock_mhz);
    fastest_mhz_ = std::max(fastest_mhz_, sample.clock_mhz);
    progress_[arm].taken.push_back(sample);
  }

  /// A check sorts all samples, so there are a tenth more samples between two checks.
  void look(Progress& arm) {
    const std::size_t taken = arm.taken.size();
    const bool full = taken >= static_cast<std::size_t>(protocol_.most_samples);
    if (!full && taken < arm.next_look) return;
    arm.next_look = taken + std::max<std::size_t>(1, taken / 10);
    const Unthrottled kept = unthrottled(arm.taken, slowest_mhz());
    if (kept.us.size() >= static_cast<std::size_t>(protocol_.fewest_samples) &&
        latency::relative_spread(latency::summarise(kept.us)) <= protocol_.relative_spread) {
      arm.stopped = latency::Stopped::stable;
    } else if (full) {
      arm.stopped = latency::Stopped::most_samples;
    }
  }

  const std::vector<Arm>& arms_;
  const latency::Protocol& protocol_;
  const std::function<double()>& now_s_;
  double end_s_;
  RandomStream order_;
  std::vector<Progress> progress_;
  bool first_round_done_ = false;
  double fastest_mhz_ = 0.0;
};

}  // namespace

std::vector<latency::Measurement> measure(const std::vector<Arm>& arms, const latency::Protocol& protocol,
                                          const std::function<double()>& now_s) {
  check_protocol(arms, protocol);
  Rounds rounds(arms, protocol, now_s);
  rounds.run();
  std::vector<latency::Measurement> measurements;
  for (std::size_t arm = 0; arm < arms.size(); ++arm) measurements.push_back(rounds.measurement(arm));
  return measurements;
}

latency::AgainstItself aa_test(const std::vector<latency::Measurement>& first,
                               const std::vector<latency::Measurement>& second) {
  const auto same_name = [](const latency::Measurement& a, const latency::Measurement& b) { return a.name == b.name; };
  if (!std::equal(first.begin(), first.end(), second.begin(), second.end(), same_name)) {
    throw DomainError("the two measurements do not have the same arms in the same order");
  }
  std::vector<double> differences;
  for (std::size_t arm = 0; arm < first.size(); ++arm) {
    if (first[arm].summary.samples == 0 || second[arm].summary.samples == 0) continue;
    differences.push_back(std::abs(second[arm].summary.median_us / first[arm].summary.median_us - 1.0));
  }
  if (differences.empty()) return {};
  std::sort(differences.begin(), differences.end());
  return {.pairs = static_cast<std::int64_t>(differences.size()),
          .median_difference = latency::percentile(differences, 0.5),
          .p95_difference = latency::percentile(differences, 0.95)};
}

}  // namespace foredraft::gpu_bench
