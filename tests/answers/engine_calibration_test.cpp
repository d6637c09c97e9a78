// SPDX-License-Identifier: Apache-2.0
#include "answers/engine_calibration.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "answers/profile_prediction.hpp"
#include "core/files.hpp"
#include "foredraft/drafter.hpp"
#include "foredraft/errors.hpp"
#include "latency/devices/device_registry.hpp"
#include "latency/engines/engines.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "logs/observations_file.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_program.hpp"

namespace foredraft::answers {
namespace {

constexpr double context = 1000.0;
constexpr double step = 1.15, host_us = 1500.0, host_request_us = 35.0, draft_host_us = 2200.0;

ProfileQuestion h100_pair() {
  ProfileQuestion pair{.target = "llama-3.1-8b", .draft = "llama-3.2-1b"};
  pair.ignore_memory = true;
  return pair;
}

const latency::Profile& h100() { return latency::find_device("h100")->profile; }

/// The log of an engine with the terms above: windows of 10 s at these batches.
logs::ObservedLog log_of(const std::string& file, const std::vector<std::int64_t>& batches, std::int64_t gamma,
                         double prompt_tokens_per_s = 0.0) {
  const ProfileQuestion pair = h100_pair();
  const auto times = latency::surface_times(h100(), "h100", timed_pair_of(pair, h100()), AutoregressiveDrafter{});
  logs::ObservedLog log{.file = file, .sha256 = std::string(64, '0'), .contents = {.format = "test", .engine = "vllm"}};
  std::int64_t line = 0;
  for (const std::int64_t batch : batches) {
    for (int window = 0; window < 4; ++window) {
      StepShape shape{.batch = batch, .tokens = gamma + 1, .context = context};
      double passes_us = times->target_us(shape, Convention::bonus);
      double beside_us = host_us + host_request_us * static_cast<double>(batch);
      if (gamma > 0) {
        const double iteration_us = attainable_of(pair, h100())->iteration_us.value;
        passes_us += static_cast<double>(gamma) * times->drafter_us({.batch = batch, .tokens = 1, .context = context}) -
                     iteration_us;
        beside_us += iteration_us + draft_host_us;
      }
      double us = step * passes_us + beside_us;
      if (prompt_tokens_per_s > 0.0) {
        shape.chunk = 1024;
        const double token_us = (times->target_us(shape, Convention::bonus) - passes_us) / 1024.0;
        us /= 1.0 - 1e-6 * step * prompt_tokens_per_s * token_us;
      }
      const double length = gamma > 0 ? 2.5 : 1.0;
      logs::Observation one{.line = ++line,
                            .decoding = gamma > 0 ? logs::Decoding::speculative : logs::Decoding::plain,
                            .requests = static_cast<double>(batch)};
      one.times.duration_s = 10.0;
      one.times.output_tokens_per_s = static_cast<double>(batch) * length * 1e6 / us;
      one.times.prompt_tokens_per_s = prompt_tokens_per_s;
      one.stratum.context_tokens = context;
      if (gamma > 0) {
        one.gamma = gamma;
        one.acceptance = logs::AcceptanceCounts{.steps = 1000, .drafted_tokens = 1000 * gamma, .accepted_tokens = 1500};
      }
      log.contents.observations.push_back(one);
    }
  }
  return log;
}

CalibrationQuestion asked(std::vector<logs::ObservedLog> logs) {
  return {.logs = std::move(logs), .pair = h100_pair(), .device = "h100", .name = "ours"};
}

}  // namespace

TEST_CASE("an engine's logs return its terms, and the rest is that of the engine they name") {
  const EngineCalibration calibration =
      calibrate_engine(asked({log_of("plain.log", {1, 8, 64}, 0), log_of("k3.log", {8}, 3)}), h100());
  const latency::Engine& engine = calibration.engine;
  CHECK(engine.step.value == Approx(step).epsilon(1e-4));
  CHECK(engine.host_us.value == Approx(host_us).epsilon(1e-4));
  CHECK(engine.host_request_us.value == Approx(host_request_us).epsilon(1e-4));
  CHECK(engine.draft_host_us.value == Approx(draft_host_us).epsilon(1e-4));
  CHECK(engine.draft_host_request_us == latency::Range{});
  // The first window of another load is not steady.
  CHECK(calibration.fit.windows == 14);
  CHECK(calibration.left_out == 2);
  CHECK(calibration.base == "vllm");
  CHECK(engine.name == "ours");
  CHECK_FALSE(engine.asynchronous);
  CHECK(engine.pass_tokens == latency::find_engine("vllm")->pass_tokens);
  CHECK(engine.eager_operator_us == latency::find_engine("vllm")->eager_operator_us);
  REQUIRE(calibration.terms.size() == 4);
  CHECK(calibration.terms[1].basis == "without speculation at 1, 8, 64 requests");
  CHECK(calibration.terms[3].basis == "with speculation at 8 requests");
  // Its file is read back unchanged.
  const latency::Engine again = latency::parse_engines(latency::engine_toml(engine), "ours.toml").front();
  CHECK(again.step == engine.step);
  CHECK(again.host_us == engine.host_us);
  CHECK(again.source == engine.source);
}

TEST_CASE("prompts that share iterations add no host time") {
  const EngineCalibration calibration =
      calibrate_engine(asked({log_of("idle.log", {1, 64}, 0), log_of("plain.log", {8}, 0, 3000.0)}), h100());
  CHECK(calibration.engine.host_us.value == Approx(host_us).epsilon(1e-3));
  CHECK(calibration.engine.step.value == Approx(step).epsilon(1e-3));
  CHECK(calibration.engine.host_request_us.value == Approx(host_request_us).epsilon(1e-2));
}

TEST_CASE("logs that do not separate an engine's terms are errors that say what to log") {
  CHECK_THROWS_MATCHES(calibrate_engine(asked({log_of("plain.log", {8}, 0), log_of("k3.log", {8, 64}, 3)}), h100()),
                       DomainError, Says("windows without speculation at one load, 8 requests"));
  CHECK_THROWS_MATCHES(calibrate_engine(asked({log_of("k3.log", {8, 64}, 3)}), h100()), DomainError,
                       Says("no windows without speculation"));
  CalibrationQuestion two_models = asked({log_of("plain.log", {1, 8}, 0), log_of("other.log", {64}, 0)});
  two_models.logs.front().contents.settings.target = "llama-3.1-8b";
  two_models.logs.back().contents.settings.target = "qwen3-8b";
  CHECK_THROWS_MATCHES(calibrate_engine(two_models, h100()), DomainError, Says("the logs are of several models"));
  CalibrationQuestion without = asked({log_of("plain.log", {1, 8}, 0), log_of("k3.log", {8}, 3)});
  without.drafts = false;
  CHECK_THROWS_MATCHES(calibrate_engine(without, h100()), DomainError, Says("k3.log: with speculation"));
}

TEST_CASE("calibrate --backend log writes an engine and does not overwrite one") {
  const tests::TemporaryFolder folder;
  tests::write_text(folder / "plain.json", logs::observations_text(std::vector{log_of("plain.log", {1, 8, 64}, 0)}));
  tests::write_text(folder / "k3.json", logs::observations_text(std::vector{log_of("k3.log", {8}, 3)}));
  const std::string command =
      "calibrate --backend log plain.json k3.json --device h100 --target llama-3.1-8b --draft "
      "llama-3.2-1b --out ours.toml";
  const tests::Outcome written = tests::foredraft(folder, command);
  CHECK(written.code == 0);
  CHECK_THAT(written.out, Catch::Contains("without speculation at 1, 8, 64 requests"));
  const std::vector<latency::Engine> engines = latency::parse_engines(read_file(folder / "ours.toml"), "ours.toml");
  REQUIRE(engines.size() == 1);
  CHECK(engines.front().name == "ours");
  CHECK(engines.front().host_us.value == Approx(host_us).epsilon(1e-4));
  const tests::Outcome again = tests::foredraft(folder, command);
  CHECK(again.code == 2);
  CHECK_THAT(again.err, Catch::Contains("ours.toml: exists and is not overwritten"));
  const tests::Outcome unknown = tests::foredraft(folder, command + "2 --engine vlm");
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, Catch::Contains("--engine: unknown engine"));
  CHECK(tests::foredraft(folder, "calibrate --backend log --out x.toml").code == 2);
}

}  // namespace foredraft::answers
