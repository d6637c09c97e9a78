// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/measure/measure.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::gpu_bench {
namespace {

/// A simulated device and clock: nothing waits, and the disturbances of the timings are known.
class Bench {
 public:
  explicit Bench(std::uint64_t block) : random_(7, {.purpose = Purpose::test, .point = 1, .block = block}) {}

  [[nodiscard]] std::function<double()> clock() {
    return [this] { return now_s_; };
  }

  /// An arm of `us` with uniform noise of +- `noise` of it; `disturb` turns (time, call number) into a sample.
  using Disturb = std::function<Sample(double us, std::int64_t call)>;
  [[nodiscard]] Arm arm(std::string name, double us, double noise, Disturb disturb = {}) {
    const auto calls = std::make_shared<std::int64_t>(0);
    return {.name = name, .run = [this, name, us, noise, disturb = std::move(disturb), calls] {
              const double plain = us * (1.0 + noise * (2.0 * random_.uniform() - 1.0));
              const Sample sample = disturb ? disturb(plain, *calls) : Sample{.us = plain, .clock_mhz = 0.0};
              ++*calls;
              called.push_back(name);
              now_s_ += 1e-6 * sample.us;
              return sample;
            }};
  }

  [[nodiscard]] double now_s() const { return now_s_; }
  [[nodiscard]] double uniform() { return random_.uniform(); }

  std::vector<std::string> called;

 private:
  RandomStream random_;
  double now_s_ = 5.0;
};

/// Enough time, so that only the maximum number of samples ends the measurement.
latency::Protocol exactly(std::int64_t samples) {
  return {.relative_spread = 1e-12, .fewest_samples = samples, .most_samples = samples, .budget_s = 1e9};
}

constexpr latency::Protocol default_protocol{.budget_s = 1e9};

}  // namespace

TEST_CASE("an arm ends when its median is known well enough, a noisy one later than a quiet one") {
  Bench bench(1);
  const auto measured =
      measure({bench.arm("quiet", 50.0, 0.001), bench.arm("noisy", 80.0, 0.2)}, default_protocol, bench.clock());
  REQUIRE(measured.size() == 2);
  for (const latency::Measurement& arm : measured) {
    CHECK(arm.stopped == latency::Stopped::stable);
    CHECK(latency::relative_spread(arm.summary) <= default_protocol.relative_spread);
    CHECK(arm.summary.samples == static_cast<std::int64_t>(arm.samples_us.size()));
  }
  CHECK(measured[0].name == "quiet");
  CHECK(measured[0].summary.samples == default_protocol.fewest_samples);
  CHECK(measured[1].summary.samples > 10 * default_protocol.fewest_samples);
  CHECK(measured[1].summary.median_ci95_us.low <= 80.0);
  CHECK(measured[1].summary.median_ci95_us.high >= 80.0);
}

TEST_CASE("the interval of an arm that stopped by itself covers the true median as often as stated") {
  constexpr int repetitions = 1000;
  constexpr double tail =
      0.02;  // exponential tail relative to the minimum time: about 65 samples until the median is known
  const double median = 100.0 * (1.0 + tail * std::log(2.0));
  int covered = 0;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    Bench bench(1000 + static_cast<std::uint64_t>(repetition));
    const auto skewed = [&bench](double us, std::int64_t /*call*/) {
      return Sample{.us = us * (1.0 - tail * std::log1p(-bench.uniform())), .clock_mhz = 0.0};
    };
    const latency::Measurement arm =
        measure({bench.arm("a", 100.0, 0.0, skewed)}, default_protocol, bench.clock()).front();
    REQUIRE(arm.stopped == latency::Stopped::stable);
    const Interval interval = arm.summary.median_ci95_us;
    covered += interval.low <= median && median <= interval.high ? 1 : 0;
  }
  // Stopping at a narrow interval could favor wrong ones. Detects a coverage below 0.91.
  const double standard_error = std::sqrt(0.95 * 0.05 / repetitions);
  CHECK(static_cast<double>(covered) / repetitions > 0.95 - tests::standard_errors * standard_error);
}

TEST_CASE("a drift common to all arms cancels in their ratio, which it would not in sequence") {
  constexpr std::int64_t samples = 400;
  const auto run = [](bool interleaved) {
    Bench bench(2);
    // The time grows by half until the end: the whole takes 2 * 400 * 150 us.
    const auto slower_by_time = [&bench](double us, std::int64_t /*call*/) {
      return Sample{.us = us * (1.0 + 0.5 * (bench.now_s() - 5.0) / 0.12), .clock_mhz = 0.0};
    };
    const Arm small = bench.arm("small", 100.0, 0.01, slower_by_time);
    const Arm large = bench.arm("large", 200.0, 0.01, slower_by_time);
    if (interleaved) {
      const auto both = measure({small, large}, exactly(samples), bench.clock());
      return both[1].summary.median_us / both[0].summary.median_us;
    }
    const auto first = measure({small}, exactly(samples), bench.clock());
    const auto second = measure({large}, exactly(samples), bench.clock());
    return second[0].summary.median_us / first[0].summary.median_us;
  };
  // Within a round the drift moves by 0.5 / 400; the noise of a median is 0.01 / sqrt(400). Ten times either is 1 %.
  constexpr double shared_drift_remainder = 0.01;
  CHECK(run(true) == Approx(2.0).epsilon(shared_drift_remainder));
  CHECK(run(false) > 2.0 * (1.0 + 10.0 * shared_drift_remainder));
}

TEST_CASE("one sample in ten twenty times too long moves the mean, not the median") {
  Bench bench(3);
  const auto with_outliers = [&bench](double us, std::int64_t /*call*/) {
    return Sample{.us = bench.uniform() < 0.1 ? 20.0 * us : us, .clock_mhz = 0.0};
  };
  const latency::Measurement arm =
      measure({bench.arm("a", 100.0, 0.01, with_outliers)}, exactly(1000), bench.clock()).front();
  // A tenth of outliers above puts the median at the 5 / 9 quantile of the rest: + 0.0011 of uniform noise of +- 0.01.
  CHECK(arm.summary.median_us == Approx(100.0).epsilon(0.003));
  CHECK(arm.summary.mean_us > 200.0);
}

TEST_CASE("samples at a low clock are dropped and counted, those of an unknown clock stay") {
  Bench bench(4);
  const auto every_fourth_throttled = [](double us, std::int64_t call) {
    return call % 4 == 3 ? Sample{.us = 2.0 * us, .clock_mhz = 950.0} : Sample{.us = us, .clock_mhz = 1900.0};
  };
  const auto measured =
      measure({bench.arm("throttled", 100.0, 0.001, every_fourth_throttled), bench.arm("no clock", 30.0, 0.001)},
              exactly(100), bench.clock());
  CHECK(measured[0].throttled == 25);
  CHECK(measured[0].summary.samples == 75);
  CHECK(measured[0].summary.p95_us < 101.0);
  CHECK(measured[0].clock_mhz == 1900.0);
  CHECK(measured[0].stopped == latency::Stopped::most_samples);
  CHECK(measured[1].throttled == 0);
  CHECK(measured[1].summary.samples == 100);
  CHECK(measured[1].clock_mhz == 0.0);
}

TEST_CASE("a clock that rises late discards the samples before it") {
  Bench bench(5);
  const auto slow_start = [](double us, std::int64_t call) {
    return call < 30 ? Sample{.us = 2.0 * us, .clock_mhz = 1000.0} : Sample{.us = us, .clock_mhz = 1800.0};
  };
  latency::Protocol protocol = exactly(100);
  protocol.warm_up = 0;
  const latency::Measurement arm = measure({bench.arm("a", 10.0, 0.001, slow_start)}, protocol, bench.clock()).front();
  CHECK(arm.throttled == 30);
  CHECK(arm.summary.samples == 70);
}

TEST_CASE("throttled samples do not count towards the minimum for a stable median") {
  Bench bench(6);
  const auto mostly_throttled = [](double us, std::int64_t call) {
    return call % 10 == 0 ? Sample{.us = us, .clock_mhz = 2000.0} : Sample{.us = us, .clock_mhz = 500.0};
  };
  const latency::Measurement arm =
      measure({bench.arm("a", 10.0, 0.0001, mostly_throttled)}, default_protocol, bench.clock()).front();
  CHECK(arm.stopped == latency::Stopped::stable);
  CHECK(arm.summary.samples >= default_protocol.fewest_samples);
  CHECK(arm.throttled > 8 * default_protocol.fewest_samples);
}

TEST_CASE("the time limit ends the measurement and is reported") {
  Bench bench(7);
  latency::Protocol protocol = default_protocol;
  protocol.budget_s = 0.01;
  const auto measured =
      measure({bench.arm("short", 100.0, 0.5), bench.arm("long", 300.0, 0.5)}, protocol, bench.clock());
  CHECK(measured[0].stopped == latency::Stopped::out_of_time);
  CHECK(measured[1].stopped == latency::Stopped::out_of_time);
  CHECK(measured[0].summary.samples > 0);
  CHECK(bench.now_s() <= 5.0 + protocol.budget_s + 450e-6);  // at most the call in progress
  protocol.budget_s = 1e-7;
  const auto late = measure({bench.arm("late", 100.0, 0.0), bench.arm("later", 100.0, 0.0)}, protocol, bench.clock());
  for (const latency::Measurement& arm : late) {
    CHECK(arm.stopped == latency::Stopped::out_of_time);
    CHECK(arm.summary.samples == 1);
  }
}

TEST_CASE("noise that never settles ends at the maximum number of samples") {
  Bench bench(8);
  latency::Protocol protocol = default_protocol;
  protocol.most_samples = 64;
  const latency::Measurement arm = measure({bench.arm("a", 10.0, 0.9)}, protocol, bench.clock()).front();
  CHECK(arm.stopped == latency::Stopped::most_samples);
  CHECK(arm.summary.samples == 64);
}

TEST_CASE("warm-up calls do not count") {
  Bench bench(9);
  const auto cold_start = [](double us, std::int64_t call) {
    return Sample{.us = call < 3 ? 1000.0 * us : us, .clock_mhz = 0.0};
  };
  const latency::Measurement arm =
      measure({bench.arm("a", 10.0, 0.001, cold_start)}, exactly(50), bench.clock()).front();
  CHECK(arm.summary.samples == 50);
  CHECK(*std::max_element(arm.samples_us.begin(), arm.samples_us.end()) < 11.0);
}

TEST_CASE("the order of the arms follows the seed and puts each first equally often") {
  const auto order = [](std::uint64_t seed) {
    Bench bench(10);
    latency::Protocol protocol = exactly(1000);
    protocol.warm_up = 0;
    protocol.seed = seed;
    static_cast<void>(measure({bench.arm("a", 10.0, 0.1), bench.arm("b", 10.0, 0.1)}, protocol, bench.clock()));
    return bench.called;
  };
  const std::vector<std::string> calls = order(1);
  CHECK(calls == order(1));
  CHECK(calls != order(2));
  std::int64_t first = 0;
  for (std::size_t round = 0; round < calls.size(); round += 2) {
    CHECK(calls[round] != calls[round + 1]);
    first += calls[round] == "a" ? 1 : 0;
  }
  // 1,000 fair coins: 500 +- 5 * 15.8.
  CHECK(std::abs(first - 500) < 80);
}

TEST_CASE("an arm with more weight has several samples per round") {
  Bench bench(13);
  std::vector<Arm> arms{bench.arm("plain", 10.0, 0.1), bench.arm("verify", 10.0, 0.1)};
  arms[0].samples_a_round = 3;
  latency::Protocol protocol = default_protocol;
  protocol.budget_s = 400e-6;
  const std::vector<latency::Measurement> measured = measure(arms, protocol, bench.clock());
  const auto samples = [&measured](std::size_t arm) { return measured[arm].summary.samples; };
  CHECK(samples(1) >= 5);
  CHECK(std::abs(samples(0) - 3 * samples(1)) <= 3);  // the last round is incomplete
  const auto counted = bench.called.begin() + 2 * protocol.warm_up;
  for (std::int64_t round = 0; round + 1 < samples(1); ++round) {
    CHECK(std::count(counted + 4 * round, counted + 4 * (round + 1), "plain") == 3);
  }
  arms[1].samples_a_round = 0;
  CHECK_THROWS_WITH(measure(arms, protocol, bench.clock()), Catch::Contains("samples_a_round of verify"));
}

TEST_CASE("an exception of an arm passes through, and impossible times are rejected by name") {
  Bench bench(11);
  const Arm lost{.name = "lost", .run = []() -> Sample { throw std::runtime_error("device lost"); }};
  CHECK_THROWS_WITH(measure({bench.arm("a", 10.0, 0.1), lost}, default_protocol, bench.clock()), "device lost");
  const Arm nothing{.name = "empty", .run = [] { return Sample{.us = 0.0, .clock_mhz = 0.0}; }};
  CHECK_THROWS_WITH(measure({nothing}, default_protocol, bench.clock()), Catch::Contains("time of empty in us"));
  CHECK_THROWS_WITH(measure({}, default_protocol, bench.clock()), "no arms to measure");
  latency::Protocol protocol = default_protocol;
  protocol.most_samples = 1;
  CHECK_THROWS_AS(measure({bench.arm("a", 10.0, 0.1)}, protocol, bench.clock()), DomainError);
}

TEST_CASE("two measurements of the same arms are valid, a tenth slower the second time not") {
  Bench bench(12);
  const auto twice = [&bench](double slower) {
    std::vector<Arm> first;
    std::vector<Arm> second;
    for (int i = 1; i <= 20; ++i) {
      const std::string name = std::to_string(i);
      first.push_back(bench.arm(name, 10.0 * i, 0.05));
      second.push_back(bench.arm(name, 10.0 * i * slower, 0.05));
    }
    return aa_test(measure(first, default_protocol, bench.clock()), measure(second, default_protocol, bench.clock()));
  };
  const latency::AgainstItself same = twice(1.0);
  CHECK(same.pairs == 20);
  CHECK(same.valid());
  CHECK(same.median_difference <= 2.0 * default_protocol.relative_spread);
  const latency::AgainstItself slower = twice(1.1);
  CHECK_FALSE(slower.valid());
  CHECK(slower.median_difference == Approx(0.1).margin(2.0 * default_protocol.relative_spread));
}

TEST_CASE("an A/A run without pairs gives no result, one of other arms is rejected") {
  CHECK_FALSE(aa_test({}, {}).valid());
  latency::Measurement timed{.name = "a", .summary = {.samples = 6, .median_us = 2.0}, .samples_us = {}};
  const latency::Measurement not_timed{.name = "a", .summary = {}, .samples_us = {}};
  CHECK(aa_test({timed}, {not_timed}).pairs == 0);
  latency::Measurement other = timed;
  other.name = "b";
  CHECK_THROWS_AS(aa_test({timed}, {other}), DomainError);
  CHECK_THROWS_AS(aa_test({timed}, {}), DomainError);
}

}  // namespace foredraft::gpu_bench
