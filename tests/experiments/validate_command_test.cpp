#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "tests/experiments/temporary_folder.hpp"

/// `foredraft validate` as a user meets it, where no loop runs.
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

std::string refused_validation(const TemporaryFolder& folder, const std::string& arguments) {
  const ValidateOutcome outcome = validate(folder, arguments + " --out new");
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  CHECK_FALSE(std::filesystem::exists(folder / "new"));
  return outcome.err;
}

}  // namespace

TEST_CASE("speedups of an engine are compared with a shipped device's, and what nobody measured is an empty cell") {
  const TemporaryFolder folder;
  write_text(folder / "speedups.csv",
             "# of an engine\nspeedup,target,draft,gamma,alpha,batch,context\n"
             "2.5,qwen1.5-7b,qwen1.5-0.5b,4,0.8,1,512\n1.25,qwen1.5-7b,qwen1.5-0.5b,2,0.6,8,512\n");
  const ValidateOutcome outcome = validate(folder, "--profile h200 --against speedups.csv --out engine");
  CHECK(outcome.err == "");
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("Speedups of 2 cells of an engine were predicted to") &&
                              Catch::Contains("overheads are in the measured numbers and not in the prediction"));
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
}

TEST_CASE("everything that is wrong with a file of speedups is said at once, by line") {
  const TemporaryFolder folder;
  const std::string header = "target,draft,drafter,gamma,alpha,batch,context,speedup\n";
  const std::string good = "qwen1.5-7b,qwen1.5-0.5b,,4,0.8,1,512,2.5\n";
  write_text(folder / "bad.csv", header + good + good + "qwen1.5-7b,qwen1.5-0.5b,heds,0,1.5,1,512,-1\n" +
                                     "qwen1.5-7,qwen1.5-0.5b,,4,0.8,1,512,2.5\n" +
                                     "qwen1.5-7b,qwen1.5-0.5b,heads,4,0.8,1,512,2.5\n" + "a,b\n");
  const std::string said = refused_validation(folder, "--profile h200 --against bad.csv");
  for (const char* part : {"bad.csv:3: qwen1.5-7b from qwen1.5-0.5b", "given twice", "bad.csv:4: drafter: unknown",
                           "bad.csv:4: gamma: invalid gamma=\"0\"", "bad.csv:4: alpha: invalid alpha=\"1.5\"",
                           "bad.csv:4: speedup: invalid speedup=\"-1\"", "bad.csv:5: ", "did you mean qwen1.5-7b?",
                           "bad.csv:6: draft: invalid draft=\"qwen1.5-0.5b\"", "bad.csv:7: 2 cells"}) {
    CHECK_THAT(said, Catch::Contains(part));
  }
  write_text(folder / "empty.csv", header);
  CHECK_THAT(refused_validation(folder, "--profile h200 --against empty.csv"), Catch::Contains("holds no speedup"));
  write_text(folder / "other.csv", "target,draft,gamma,gamma,alpha,batch,context,tokens_per_s\n" + good);
  CHECK_THAT(refused_validation(folder, "--profile h200 --against other.csv"),
             Catch::Contains("other.csv:1: column gamma missing or there twice") &&
                 Catch::Contains("column speedup missing") && Catch::Contains("tokens_per_s: unknown column") &&
                 !Catch::Contains("other.csv:2"));
  CHECK_THAT(refused_validation(folder, "--profile h200 --against nowhere.csv"), Catch::Contains("nowhere.csv"));
}

TEST_CASE("options of the loop are refused beside --against, all of them") {
  const TemporaryFolder folder;
  const std::string said = refused_validation(
      folder, "--profile h200 --against s.csv --gamma 2 --alpha 0.5 --batch 1 --context 8 --minutes 1 --threads 1");
  for (const char* option : {"--gamma", "--alpha", "--batch", "--context", "--minutes", "--threads"}) {
    CHECK_THAT(said, Catch::Contains(std::string(option) + ": given beside --against"));
  }
}

TEST_CASE("validate runs no loop for a profile that is not of this machine or not there") {
  const TemporaryFolder folder;
  CHECK_THAT(refused_validation(folder, "--profile h200"), Catch::Contains("its times were not measured here"));
  CHECK_THAT(refused_validation(folder, "--profile cpu.json"),
             Catch::Contains("cpu.json: neither a file nor a shipped device"));
  CHECK_THAT(refused_validation(folder, ""), Catch::Contains("--profile: missing"));
}

}  // namespace foredraft::tests
