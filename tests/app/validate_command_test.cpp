// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "app/validation.hpp"
#include "gpu_bench/loop/loop_table.hpp"
#include "inputs/devices.hpp"
#include "latency/profile/profile.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tiny_profile.hpp"

/// `foredraft validate` as a user runs it, in cases without a loop of this program.
namespace foredraft::tests {
namespace {

struct ValidateOutcome {
  int code;
  std::string out;
  std::string err;
};

ValidateOutcome validate(const TemporaryFolder& folder, const std::string& arguments,
                         const std::string& program = FOREDRAFT_PROGRAM) {
  const std::string command =
      "cd " + folder.path() + " && " + program + " validate " + arguments + " --no-figures > stdout 2> stderr";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(folder / "stdout"), content_of(folder / "stderr")};
}

std::string rejected_validation(const TemporaryFolder& folder, const std::string& arguments) {
  const ValidateOutcome outcome = validate(folder, arguments + " --out new");
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  CHECK_FALSE(std::filesystem::exists(folder / "new"));
  return outcome.err;
}

}  // namespace

TEST_CASE("speedups of an engine are compared with a shipped device's, and unmeasured values are empty cells") {
  const TemporaryFolder folder;
  write_text(folder / "speedups.csv",
             "# of an engine\nspeedup,target,draft,gamma,alpha,batch,context\n"
             "2.5,qwen1.5-7b,qwen1.5-0.5b,4,0.8,1,512\n1.25,qwen1.5-7b,qwen1.5-0.5b,2,0.6,8,512\n");
  const ValidateOutcome outcome = validate(folder, "--profile h200 --against speedups.csv --out engine");
  CHECK(outcome.err == "");
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("Speedups of 2 cells of an engine were predicted to") &&
                              Catch::Contains("in the measurements and not in the predictions"));
  CHECK_THAT(outcome.out, !Catch::Contains("between runs"));
  const std::string csv = content_of(folder / "engine/validation.csv");
  CHECK_THAT(csv, Catch::Contains("qwen1.5-7b,qwen1.5-0.5b,autoregressive,fp16,4,0.8,1,512,") &&
                      Catch::Contains(",2.5,,,,") && Catch::Contains(",1.25,,,,"));
  CHECK_THAT(content_of(folder / "engine/prediction.csv"), Catch::Contains("fp16,2,0.6,8,512,"));
  CHECK_THAT(content_of(folder / "engine/manifest.json"),
             Catch::Contains("\"measured_by\": \"user\"") && Catch::Contains("\"valid\": true") &&
                 Catch::Contains("\"complete\"") && Catch::Contains("speedups.csv"));

  const ValidateOutcome again = validate(folder, "--profile h200 --against speedups.csv --out engine");
  CHECK(again.code == 2);
  CHECK_THAT(again.err, Catch::Contains("engine: is there and not empty"));
  CHECK(content_of(folder / "engine/validation.csv") == csv);
  write_text(folder / "8.csv",
             "speedup,target,draft,gamma,alpha,batch,context\n1.4,qwen1.5-7b,qwen1.5-0.5b,4,0.8,8,512\n");
  const ValidateOutcome ignoring = validate(folder, "--against 8.csv --out batches --profile " FOREDRAFT_SOURCE
                                                    "/gpu_bench/data/h200/batches/qwen1.5-7b/profile.json");
  CHECK(ignoring.code == 0);
  CHECK_THAT(ignoring.err, Catch::Contains("24 of 32 rows of verifications are ignored"));
}

TEST_CASE("a row gives acceptance in one of four ways, which predict the same") {
  const latency::Profile profile = inputs::read_profile("h200").profile;
  const std::string rows =
      "target,draft,gamma,alpha,acceptance_length,conditional,marginal,batch,context,speedup\n"
      "qwen1.5-7b,qwen1.5-0.5b,2,0.8,,,,1,512,1.5\nqwen1.5-7b,qwen1.5-0.5b,2,,2.44,,,2,512,1.5\n"
      "qwen1.5-7b,qwen1.5-0.5b,2,,,0.8 80%,,4,512,1.5\nqwen1.5-7b,qwen1.5-0.5b,2,,,,0.8 0.64 0.1,8,512,1.5\n";
  const app::PredictedSpeedups found = app::predict_speedups(rows, "s.csv", profile);
  REQUIRE(found.predictions.size() == 4);
  for (const answers::CellPrediction& one : found.predictions)
    CHECK(one.tokens_per_iteration == Approx(2.44).epsilon(1e-12));
  const auto said = [&](const std::string& cells) {
    return rejection([&] {
      return app::predict_speedups(
          "target,draft,gamma,alpha,acceptance_length,conditional,marginal,batch,context,"
          "speedup\nqwen1.5-7b,qwen1.5-0.5b,2," +
              cells + ",1,512,1.5\n",
          "s.csv", profile);
    });
  };
  CHECK_THAT(said(",,,"), Catch::Contains("s.csv:2: alpha: missing"));
  CHECK_THAT(said("0.8,,0.8 0.8,"), Catch::Contains("alpha: mutually exclusive with conditional"));
  CHECK_THAT(said(",3.5,,"), Catch::Contains("acceptance_length: invalid acceptance_length=3.5"));
  CHECK_THAT(said(",,0.8,"), Catch::Contains("conditional: has 1 entries"));
  CHECK_THAT(said(",,0.8 1.8,"), Catch::Contains("conditional: invalid entry \"1.8\""));
  CHECK_THAT(said(",,,0.5 0.7"), Catch::Contains("marginal: rises"));
}

TEST_CASE("all problems of a file of speedups are reported at once, by line") {
  const TemporaryFolder folder;
  const std::string header = "target,draft,drafter,gamma,alpha,batch,context,speedup\n";
  const std::string good = "qwen1.5-7b,qwen1.5-0.5b,,4,0.8,1,512,2.5\n";
  write_text(folder / "bad.csv", header + good + good + "qwen1.5-7b,qwen1.5-0.5b,heds,0,1.5,1,512,-1\n" +
                                     "qwen1.5-7,qwen1.5-0.5b,,4,0.8,1,512,2.5\n" +
                                     "qwen1.5-7b,qwen1.5-0.5b,heads,4,0.8,1,512,2.5\n" + "a,b\n");
  const std::string said = rejected_validation(folder, "--profile h200 --against bad.csv");
  for (const char* part : {"bad.csv:3: qwen1.5-7b from qwen1.5-0.5b", "given twice", "bad.csv:4: drafter: unknown",
                           "bad.csv:4: gamma: invalid gamma=\"0\"", "bad.csv:4: alpha: invalid alpha=\"1.5\"",
                           "bad.csv:4: speedup: invalid speedup=\"-1\"", "bad.csv:5: ", "did you mean qwen1.5-7b?",
                           "bad.csv:6: draft: invalid draft=\"qwen1.5-0.5b\"", "bad.csv:7: 2 cells"}) {
    CHECK_THAT(said, Catch::Contains(part));
  }
  write_text(folder / "empty.csv", header);
  CHECK_THAT(rejected_validation(folder, "--profile h200 --against empty.csv"), Catch::Contains("holds no speedup"));
  write_text(folder / "other.csv", "target,draft,gamma,gamma,alpha,batch,context,tokens_per_s\n" + good);
  CHECK_THAT(rejected_validation(folder, "--profile h200 --against other.csv"),
             Catch::Contains("other.csv:1: column gamma missing or duplicate") &&
                 Catch::Contains("column speedup missing") && Catch::Contains("tokens_per_s: unknown column") &&
                 !Catch::Contains("other.csv:2"));
  CHECK_THAT(rejected_validation(folder, "--profile h200 --against nowhere.csv"), Catch::Contains("nowhere.csv"));
}

TEST_CASE("validate rejects a CPU's profile that is not of this machine") {
  const TemporaryFolder folder;
  write_text(folder / "cpu.json", latency::to_json(tiny_profile({1, 4}, {128, 512})));
  CHECK_THAT(rejected_validation(folder, "--profile cpu.json --target tiny-target --draft tiny-drafter"),
             Catch::Contains("cpu.json: is a profile of made up, and this is "));
}

namespace {

/// A fake foredraft-gpu with a device "made up" that answers with rows.csv of the folder, and the program that finds
/// it.
class GpuStandIn {
 public:
  explicit GpuStandIn(const TemporaryFolder& folder, const std::string& loop) : folder_(folder) {
    std::filesystem::create_directory(folder / "alone");
    // In an empty folder, so that only the PATH is searched.
    std::filesystem::copy_file(FOREDRAFT_PROGRAM, folder / "alone/foredraft");
    std::filesystem::create_directory(folder / "bin");
    write_text(folder / "bin/foredraft-gpu",
               "#!/bin/sh\necho \"$*\" >> called\nif [ $1 = facts ]; then\n"
               "  [ \"$2 $3\" = '--device made up' ] || exit 2\nelse\n" +
                   loop + "\nfi\n");
    std::filesystem::permissions(folder / "bin/foredraft-gpu", std::filesystem::perms::owner_all);
    profile_.identity.cuda_runtime = "12.4";
    write_profile("made up");
  }

  void write_profile(const std::string& device) {
    profile_.device.name = device;
    write_text(folder_ / "gpu.json", latency::to_json(profile_));
  }

  [[nodiscard]] ValidateOutcome run(const std::string& arguments, const std::string& path) const {
    return validate(folder_, "--profile gpu.json --target tiny-target --draft tiny-drafter " + arguments,
                    "PATH=" + path + " alone/foredraft");
  }
  [[nodiscard]] ValidateOutcome run(const std::string& arguments) const {
    return run(arguments, folder_ / "bin" + ":/usr/bin:/bin");
  }

 private:
  const TemporaryFolder& folder_;
  latency::Profile profile_ = tiny_profile({1, 4}, {128, 512});
};

gpu_bench::LoopRow row_of_gpu(std::int64_t gamma) {
  gpu_bench::LoopRow row;
  row.cell = {.target = "tiny-target", .drafter = "tiny-drafter", .dtype = "fp32"};
  row.cell.gamma = gamma;
  row.cell.alpha = 0.7;
  row.cell.batch = 2;
  row.cell.context = 256;
  row.plain = {.samples = 9, .median_us = 1000.0, .median_ci95_us = {990.0, 1010.0}};
  row.iteration = {.samples = 9, .median_us = 2000.0, .median_ci95_us = {1980.0, 2020.0}};
  row.tokens_per_iteration = 2.5;
  row.between_runs = 0.01;
  return row;
}

}  // namespace

TEST_CASE("the loops of a GPU's profile are run by foredraft-gpu, and a cell that it leaves out is named") {
  const TemporaryFolder folder;
  const GpuStandIn gpu(folder, "  [ -e new/prediction.csv ] && cp rows.csv \"$5\"");
  write_text(folder / "rows.csv", gpu_bench::loop_rows_csv({row_of_gpu(2)}));
  const ValidateOutcome outcome = gpu.run("--gamma 2,5 --batch 2 --context 256 --minutes 3 --out new");
  CHECK(outcome.err == "");
  REQUIRE(outcome.code == 0);
  CHECK(content_of(folder / "called") ==
        "facts --device made up\nloop --cells new/cells.csv --out new/rows.csv --minutes 3\n");
  CHECK(content_of(folder / "new/cells.csv") == gpu_bench::loop_cells_csv({row_of_gpu(2).cell, row_of_gpu(5).cell}));
  // 2.5 tokens in two plain steps' time.
  CHECK_THAT(content_of(folder / "new/validation.csv"),
             Catch::Contains("fp32,2,0.7,2,256,") && Catch::Contains(",1.25,"));
  CHECK_THAT(outcome.out, Catch::Contains("Speedups of 1 decoding loops") &&
                              Catch::Contains("gamma 5 alpha 0.7 batch 2 context 256: foredraft-gpu could not run it"));
  CHECK_THAT(content_of(folder / "new/manifest.json"), Catch::Contains("\"measured_by\": \"loop\""));
}

TEST_CASE("a GPU that fails or is interrupted keeps the prediction, and the exit code says which") {
  for (const auto& [ending, code] : {std::pair{"exit 130", 130}, {"exit 2", 1}, {"exit 1", 1}, {"kill -KILL $$", 1}}) {
    const TemporaryFolder folder;
    const GpuStandIn gpu(folder, std::string("  cp rows.csv \"$5\"; ") + ending);
    write_text(folder / "rows.csv", gpu_bench::loop_rows_csv({row_of_gpu(2)}));
    const ValidateOutcome outcome = gpu.run("--gamma 2,5 --batch 2 --context 256 --out new");
    INFO(ending);
    CHECK(outcome.code == code);
    CHECK(std::filesystem::exists(folder / "new/prediction.csv"));
    CHECK(std::filesystem::exists(folder / "new/validation.csv") == (code == 130));
    CHECK_THAT(outcome.err, Catch::Contains(code == 130 ? "holds 1 of 2 cells" : "completed measurements are in new"));
  }
}

TEST_CASE("a profile of another GPU and a missing foredraft-gpu are rejected with nothing written") {
  const TemporaryFolder folder;
  GpuStandIn gpu(folder, "  exit 1");
  const auto rejected = [&](const ValidateOutcome& outcome) {
    CHECK(outcome.code == 2);
    CHECK_FALSE(std::filesystem::exists(folder / "new"));
    return outcome.err;
  };
  CHECK_THAT(rejected(gpu.run("--out new", "/nowhere")),
             Catch::Contains("foredraft-gpu is neither beside this program"));
  CHECK_THAT(rejected(gpu.run("--out new --threads 2")), Catch::Contains("no --threads to choose"));
  gpu.write_profile("another");
  CHECK_THAT(rejected(gpu.run("--out new")), Catch::Contains("gpu.json: was measured on a GPU"));
}

}  // namespace foredraft::tests
