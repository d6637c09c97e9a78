// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/calibration_texts.hpp"
#include "foredraft/errors.hpp"
#include "gpu_bench/cpu/measure_cpu.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/profile/profile.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tiny_profile.hpp"

/// `foredraft calibrate` as a user runs it, with models that any machine measures quickly. No time is asserted.
namespace foredraft::tests {
namespace {

struct Calibrated {
  int code;
  std::string out;
  std::string err;
};

Calibrated calibrate(const TemporaryFolder& folder, const std::string& arguments, const std::string& environment = "") {
  const std::string command = "cd " + folder.path() + " && " + environment + " " FOREDRAFT_PROGRAM " calibrate " +
                              arguments + " > stdout 2> stderr";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(folder / "stdout"), content_of(folder / "stderr")};
}

const std::string tiny_run = "--target tiny-target --draft tiny-drafter --batch 1 --context 8 --threads 1 ";

}  // namespace

TEST_CASE("a calibration reports which predictions its profile does not cover") {
  const auto pairs = gpu_bench::pairs_of(latency::model_registry(), {"tiny-target", "tiny-drafter"});
  latency::Profile profile = tiny_profile({1, 4}, {128});
  CHECK_THAT(
      app::calibration_text(profile, pairs),
      Catch::EndsWith("serves    foredraft predict with --batch 1,4 and --context 128, and what lies between: too "
                      "little was measured to\n          reach further - calibrate into another file, with the "
                      "--batch and --context that you ask for\n"));
  profile.fits.emplace_back();
  CHECK_THAT(app::calibration_text(profile, pairs), !Catch::Contains("serves "));
  for (latency::StepRow& row : profile.steps) row.timing.summary.samples = 0;
  CHECK_THAT(
      app::calibration_text(profile, pairs),
      Catch::EndsWith("serves    no prediction yet: no pass of a model was measured - give it more --minutes\n"));
}

TEST_CASE("noise that the user has accepted is reported without advice") {
  CHECK(app::noise_message("too noisy", "end other programs", false) ==
        "too noisy - end other programs, or accept it with --accept-noise");
  CHECK(app::noise_message("too noisy", "end other programs", true) == "too noisy");
}

TEST_CASE("a profile of the requested pair is complete, is shown as a table, and is not overwritten") {
  const TemporaryFolder folder;
  const std::vector<gpu_bench::PlannedPair> pairs =
      gpu_bench::pairs_of(latency::model_registry(), {"tiny-target", "tiny-drafter"});
  const gpu_bench::PlanGrid grid{.dtypes = {"fp32"}, .batches = {1}, .contexts = {8}, .launch = latency::Launch::eager};
  gpu_bench::CpuRequest request{.path = folder / "cpu.json",
                                .identity = {},
                                .budget_s = 0.0,
                                .models = latency::model_registry(),
                                .plan = gpu_bench::plan_grid(pairs, grid),
                                .verifications = gpu_bench::plan_sampling(pairs, latency::model_registry(), grid),
                                .threads = 1,
                                .facts = gpu_bench::cpu_facts()};
  request.identity.commit = "of this test";
  // A cold pass of a small model reads through five times this: seconds if a server reports the cache of all its cores.
  request.facts.last_cache_bytes = std::int64_t{1} << 20U;
  const std::atomic<bool> interrupted = false;
  // A machine under load needs more time; the next run continues where the last one ended.
  for (const double budget_s : {1.0, 4.0, 16.0, 64.0}) {
    request.budget_s = budget_s;
    if (gpu_bench::measure_cpu(request, interrupted, [](const std::string&) {}).profile.complete()) break;
  }
  const latency::Profile profile = latency::read_profile(folder / "cpu.json");
  CHECK_THAT(app::calibration_text(profile, pairs),
             Catch::Contains("with 1 thread") && Catch::Contains("tiny-drafter") && Catch::Contains("v(3)") &&
                 Catch::Contains("13 rows measured twice") && Catch::Contains("13 measured, 4 verifications\n") &&
                 Catch::Contains("sampling  vocabulary 4096, batch 1: a token drawn in"));
  CHECK(profile.source == latency::Source::measured);
  CHECK(profile.complete());
  CHECK(profile.aa_test);
  CHECK(profile.steps.size() == 13);         // 9 of the target, 2 of the drafter, 2 drafts
  CHECK(profile.verifications.size() == 4);  // a draw, and gamma 1, 4 and 8
  CHECK_FALSE(profile.kernels.empty());
  CHECK_FALSE(profile.limits.matrix_peak_fp16_flop_per_s.value);
  CHECK_FALSE(profile.identity.commit.empty());
  for (const latency::StepRow& row : profile.steps) {
    CHECK(row.cell.dtype == "fp32");
    CHECK(row.cell.context == 8);
    CHECK(row.timing.summary.samples > 0);
  }

  const std::string before = content_of(folder / "cpu.json");
  const Calibrated again = calibrate(folder, tiny_run + "--out cpu.json");
  CHECK(again.code == 2);
  CHECK_THAT(again.err, Catch::Contains("cpu.json: holds a finished profile of"));
  CHECK(content_of(folder / "cpu.json") == before);
}

TEST_CASE("calibrate reports what it had no time for, and writes a profile that names it") {
  const TemporaryFolder folder;
  const Calibrated short_of_time = calibrate(folder, tiny_run + "--minutes 0.001 --out cpu.json");
  INFO(short_of_time.err);
  REQUIRE(short_of_time.code == 0);
  CHECK_THAT(short_of_time.out, Catch::Contains("with 1 thread") && Catch::Contains("noise     not known") &&
                                    Catch::Contains("parts missing; the same command continues"));
  const latency::Profile profile = latency::read_profile(folder / "cpu.json");
  CHECK_FALSE(profile.complete());
  CHECK_THAT(profile.device.name, Catch::Contains("1 thread"));
  CHECK_FALSE(profile.identity.commit.empty());
}

TEST_CASE("an interrupted calibration leaves a valid profile, which the same machine continues and another does not") {
  const TemporaryFolder folder;
  const std::string long_run = "--target tiny-target --draft tiny-drafter --batch 1,2 --context 8,16 --minutes 60 ";
  const Calibrated interrupted =
      calibrate(folder, long_run + "--threads 1 --out cpu.json", "timeout --foreground --preserve-status -s INT 1.5");
  INFO(interrupted.err);
  REQUIRE(interrupted.code == 130);
  CHECK(interrupted.out.empty());
  CHECK_THAT(interrupted.err, Catch::Contains("cpu.json holds the completed measurements; the same command continues"));
  const latency::Profile profile = latency::read_profile(folder / "cpu.json");
  CHECK_FALSE(profile.complete());
  CHECK(profile.missing.back().what == "rows measured a second time (A/A)");

  const std::string before = content_of(folder / "cpu.json");
  const Calibrated other = calibrate(folder, long_run + "--threads 2 --out cpu.json");
  CHECK(other.code == 2);
  CHECK_THAT(other.err, Catch::Contains("another machine, number of threads or version"));
  CHECK(content_of(folder / "cpu.json") == before);
}

TEST_CASE("calibrate rejects what it cannot measure or must not overwrite, with exit code 2 and nothing written") {
  const TemporaryFolder folder;
  const auto rejected = [&](const std::string& arguments, const std::string& environment = "") {
    const Calibrated outcome = calibrate(folder, arguments, environment);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK_FALSE(std::filesystem::exists(folder / "cpu.json"));
    return outcome.err;
  };
  CHECK_THAT(rejected(""), Catch::Contains("--out: missing"));
  CHECK_THAT(rejected("--out cpu.json --target t5-base --draft t5-smal"), Catch::Contains("did you mean t5-small?"));
  write_text(folder / "mine.json", "{\"schema\": \"something else\"}");
  CHECK_THAT(rejected("--out mine.json"), Catch::Contains("not a profile; it is not overwritten"));
  CHECK(content_of(folder / "mine.json") == "{\"schema\": \"something else\"}");
}

TEST_CASE("calibrate --backend cuda starts foredraft-gpu from the PATH, and says if it was not found") {
  const TemporaryFolder folder;
  // A link in an empty folder, so that only the PATH is searched.
  std::filesystem::create_directory(folder / "alone");
  std::filesystem::copy_file(FOREDRAFT_PROGRAM, folder / "alone/foredraft");
  const auto run = [&](const std::string& arguments, const std::string& path) {
    const std::string command =
        "cd " + folder.path() + " && PATH=" + path + " alone/foredraft calibrate " + arguments + " > stdout 2> stderr";
    const int status = std::system(command.c_str());
    return Calibrated{WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(folder / "stdout"),
                      content_of(folder / "stderr")};
  };
  const Calibrated nowhere = run("--backend cuda --out gpu.json", "/nowhere");
  CHECK(nowhere.code == 2);
  CHECK_THAT(nowhere.err, Catch::Contains("foredraft-gpu is neither beside this program"));

  std::filesystem::create_directory(folder / "bin");
  write_text(folder / "bin/foredraft-gpu", "#!/bin/sh\necho \"$*\" > called\necho no device >&2\nexit 2\n");
  std::filesystem::permissions(folder / "bin/foredraft-gpu", std::filesystem::perms::owner_all);
  const Calibrated rejected = run("--backend cuda --target t5-base --draft t5-small --batch 1,8 --quick --out gpu.json",
                                  folder / "bin" + ":/usr/bin:/bin");
  CHECK(rejected.code == 2);
  CHECK_THAT(rejected.err, Catch::Contains("no device") && Catch::Contains("foredraft-gpu could not run"));
  CHECK(content_of(folder / "called") ==
        "measure --out gpu.json.measured --minutes 2 --models t5-base,t5-small --batch 1,8 --quick\n");
  CHECK_FALSE(std::filesystem::exists(folder / "gpu.json"));
}

TEST_CASE("a model whose passes cannot be run is rejected before anything is measured") {
  CHECK_THROWS_MATCHES(gpu_bench::pairs_of(latency::model_registry(), {"qwen3-30b-a3b", "tiny-drafter"}), DomainError,
                       Says("qwen3-30b-a3b: cannot be measured"));
  CHECK_THROWS_AS(gpu_bench::pairs_of(latency::model_registry(), {"llama-3.1-8b", "eagle3-llama-3.1-8b"}), DomainError);
}

}  // namespace foredraft::tests
