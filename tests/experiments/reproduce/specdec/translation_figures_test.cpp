// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "experiments/reproduce/registry.hpp"
#include "experiments/reproduce/specdec/translation.hpp"
#include "tests/experiments/reproduce/reproduced.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {
namespace {

/// Closed forms use the mean context, simulations the actual one: with 28 tokens neither matters compared with the
/// weights.
constexpr double context_error = 0.01;

const ExperimentResult& batch_latencies() {
  static const ExperimentResult result = tests::reproduced("emnlp-figure5");
  return result;
}

double row_value(const ExperimentResult& result, const std::string& row, const std::string& column) {
  for (const ScorecardRow& one : result.rows) {
    if (one.row == row && one.column == column) return one.ours.value();
  }
  throw std::logic_error("no row " + row + ", " + column);
}

std::string at_batch(std::int64_t batch) { return "speedup over beam search at batch " + std::to_string(batch); }

}  // namespace

TEST_CASE("program times reproduce the printed speedups at batch 1") {
  CHECK(row_value(batch_latencies(), "device and program, SpecDec, own pace", at_batch(1)) == Approx(5.1));
  CHECK(row_value(batch_latencies(), "device and program, SpecDec, lockstep", at_batch(1)) == Approx(5.1));
  const ExperimentResult devices = tests::reproduced("iclr-figure5");
  for (const std::string device : {"P100", "V100", "A100"}) {
    CHECK(row_value(devices, "device and program, " + device, at_batch(1)) == Approx(4.5));
  }
  CHECK(static_cast<double>(translation_tokens()) / own_pace_iterations(translation_alpha(8.23), 1) == Approx(8.23));
}

TEST_CASE("batches of sentences served one after the other take the time of the closed forms of both paces") {
  int simulated = 0;
  for (const auto& line : tests::data_lines(batch_latencies())) {
    if (line.at(5).empty()) continue;
    ++simulated;
    CAPTURE(line.at(0), line.at(1), line.at(2));
    const double form = std::stod(line.at(4));
    CHECK(std::abs(std::stod(line.at(5)) - form) <=
          tests::standard_errors * std::stod(line.at(6)) + context_error * form);
  }
  CHECK(simulated == 2 * 2 * 9);
}

TEST_CASE("a step of the target on a P100 reads the decoder's weights and the vocabulary once, at 4 bytes per number") {
  const TranslationDevice device("p100", "specdec-drafter-12-2");
  // Attention to itself 4 d^2, queries and outputs of that to the source 2 d^2, feed-forward 8 d^2; d = 512.
  const double weights = 6.0 * 14.0 * 512.0 * 512.0 + 512.0 * 37'000.0;
  const double reading_ms = 1e3 * 4.0 * weights / 720e9;
  const double step_ms = device.plain(1, 1, 0).step_ms;
  CHECK(step_ms > reading_ms);
  CHECK(step_ms < 1.03 * reading_ms);  // plus biases, activations and the source's keys and values
  // Five beams of 64 sentences are compute bound: 2 operations per weight and row at 10.6 TFLOP/s.
  const double computing_ms = 1e3 * 2.0 * weights * 320.0 / 10.6e12;
  CHECK(device.plain(64, 5, 0).step_ms > computing_ms);
  CHECK(device.plain(64, 5, 0).step_ms < 1.25 * computing_ms);  // every beam reads keys and values of the source
}

TEST_CASE(
    "SpecDec's gain vanishes with the batch: early on the device alone, later with the program, immediately in "
    "lockstep") {
  const auto own = [](const std::string& clock, std::int64_t batch) {
    return row_value(batch_latencies(), clock + ", SpecDec, own pace", at_batch(batch));
  };
  CHECK(own("device alone", 1) > 3.0);
  CHECK(own("device alone", 32) < 1.0);
  CHECK(own("device and program", 32) > 2.0);
  CHECK(own("device and program", 128) < 1.0);
  CHECK(row_value(batch_latencies(), "device and program, SpecDec, lockstep", at_batch(32)) < 1.0);
  const ExperimentResult devices = tests::reproduced("iclr-figure5");
  const auto of = [&](const std::string& device) {
    return row_value(devices, "device and program, " + device, at_batch(128));
  };
  CHECK(of("P100") < of("V100"));
  CHECK(of("V100") < of("A100"));
}

}  // namespace foredraft::experiments
