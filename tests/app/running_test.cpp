// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

/// Failures, long runs and interrupts of the built program.
namespace foredraft::tests {
namespace {

std::string sweep_of(const std::string& simulation, const std::string& axes, const std::string& fixed) {
  return "schema = \"foredraft.sweep/1\"\n[axes]\n" + axes + "\n[simulation]\nseed = 1\n" + simulation + "\n[fixed]\n" +
         fixed + "\n";
}

constexpr const char* server =
    "fidelity = \"system\"\nalpha = 0.7\nmax_batch = 1\noutput_tokens = 100\ndrafter_step.weights_ms = 1\n";

}  // namespace

TEST_CASE("what cannot run is rejected by key before anything is written") {
  struct Case {
    std::string simulation;
    std::string axes;
    std::string fixed;
    std::string named;
  };
  const std::string mixture = "process = \"beta_mixture\"\nc = 0.1\n";
  const std::string text = "fidelity = \"token\"\nmodels.kind = \"ngram\"\n";
  const std::vector<Case> cases{
      {"iterations = 100", "\"process.a\" = [1, 1e101]", mixture + "gamma = 2\n\"process.b\" = 1",
       "s.toml:3: axes.process.a: "},
      {"iterations = 100", "\"process.b\" = [1e-101]", mixture + "gamma = 2\n\"process.a\" = 1",
       "s.toml:3: axes.process.b: "},
      {"iterations = 1_000_000_000_000_000", "gamma = [1]", "alpha = 0.5",
       "s.toml:6: simulation.iterations: invalid iterations="},
      {"sequences = 1_000_000_000_000_000", "gamma = [1]", "alpha = 0.5\nsequence_length = 1e9",
       "s.toml:6: simulation.sequences: invalid sequences="},
      {"iterations = 100", "rule = [\"rejection_sampling\", \"lenient\"]", text + "gamma = 1",
       "s.toml:3: axes.rule: invalid rule=lenient"},
      {"iterations = 100", "gamma = [1]", text + "rule = \"greedy_match\"",
       "s.toml:10: fixed.rule: invalid rule=greedy_match"},
      {"iterations = 100", "temperature = [0, 0.5, 1]", text + "gamma = 1",
       "s.toml:3: axes.temperature: invalid temperature=0.5"},
      {"sequences = 1", "gamma = [4]",
       "drafter = \"input_copy\"\n\"drafter.edit_rate\" = 0.1\n\"drafter.realign\" = 1\nsequence_length = 1e9\nc = 0",
       "s.toml:11: fixed.sequence_length: invalid sequence_length=1000000000"},
      {"requests = 1000", "gamma = [0]",
       std::string(server) + "\"arrivals.rate_per_s\" = 1\ntarget_step = { weights_ms = 1e9, launch_ms = 1e9 }",
       "fixed.target_step.weights_ms: a pass of 2e+09 ms"},
      {"requests = 1000", "gamma = [0]",
       std::string(server) + "\"arrivals.rate_per_s\" = 1e-8\ntarget_step.weights_ms = 1",
       "fixed.arrivals.rate_per_s: the requests of a replica take about"},
      {"requests = 1000", "gamma = [0]",
       std::string(server) + "\"arrivals.rate_per_s\" = 1\ntarget_step.weights_ms = 1e8",
       "fixed.target_step.weights_ms: the passes of a replica take about"},
      {"requests = 10_000_000", "gamma = [0]",
       std::string(server) + "\"arrivals.rate_per_s\" = 1000\ntarget_step.weights_ms = 1",
       "fixed.arrivals.rate_per_s: requests come faster than they are served"},
  };
  for (const Case& bad : cases) {
    const TemporaryFolder folder;
    write_text(folder / "s.toml", sweep_of(bad.simulation, bad.axes, bad.fixed));
    const Outcome outcome = foredraft(folder, "sweep s.toml --out a", "timeout -k 5 60");
    INFO(bad.named << "\n" << outcome.err);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, Catch::Contains(bad.named));
    CHECK_FALSE(std::filesystem::exists(folder / "a"));
  }
}

TEST_CASE("a rule that accepts every draft runs, even if its distribution's sum is rounded") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml",
             sweep_of("iterations = 1000", "gamma = [4]",
                      "fidelity = \"token\"\nrule = \"accept_all\"\nc = 0.05\n"
                      "models = {target=\"zipf\",vocabulary=2000,draft=\"noise\",alpha=0.8,pool=64}"));
  const Outcome outcome = foredraft(folder, "sweep s.toml --out a --no-figures");
  INFO(outcome.err);
  CHECK(outcome.code == 0);
}

TEST_CASE("acceptance by position works with gamma 0, and a gamma beyond it is reported first") {
  const TemporaryFolder folder;
  const std::string by_position = "process = \"positional\"\n\"process.marginal\" = [0.8, 0.5]\nc = 0.1";
  for (const char* gammas : {"gamma = [0, 1, 2]", "gamma = [2, 1, 0]"}) {
    write_text(folder / "s.toml", sweep_of("iterations = 1000", gammas, by_position));
    const Outcome outcome = foredraft(folder, "sweep s.toml --no-figures --out " + std::string(gammas).substr(9, 1));
    INFO(outcome.err);
    CHECK(outcome.code == 0);
  }
  write_text(folder / "s.toml", sweep_of("iterations = 1000", "gamma = [0, 1, 3]", by_position));
  const Outcome beyond = foredraft(folder, "sweep s.toml --no-figures --out beyond");
  CHECK(beyond.code == 2);
  CHECK_THAT(beyond.err, Catch::Contains("s.toml:") && Catch::Contains("invalid gamma=3"));
  CHECK_FALSE(std::filesystem::exists(folder / "beyond"));
}

TEST_CASE("decaying drafts work with gamma 0") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", sweep_of("iterations = 1000", "gamma = [0, 1, 2]",
                                         "drafter = \"block\"\n\"drafter.decay\" = 0.9\nalpha = 0.8\nc = 0.05"));
  for (const char* closed_form : {"", "closed"}) {
    if (*closed_form != '\0') {
      write_text(folder / "s.toml",
                 "schema = \"foredraft.sweep/1\"\n[axes]\ngamma = [0, 1, 2]\n[fixed]\ndrafter = \"block\"\n"
                 "\"drafter.decay\" = 0.9\nalpha = 0.8\nc = 0.05\n");
    }
    const Outcome outcome = foredraft(folder, std::string("sweep s.toml --no-figures --out a") + closed_form);
    INFO(outcome.err);
    CHECK(outcome.code == 0);
  }
}

TEST_CASE("a point that fails during the run is named with its key, and the rows before it are kept") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", sweep_of("iterations = 1000", "\"models.alpha\" = [0.9, 0.8, 0.001]",
                                         "fidelity = \"token\"\ngamma = 2\n"
                                         "models = {target=\"zipf\",vocabulary=200,draft=\"mixing\",pool=6}"));
  for (const char* there : {"3 points", "1 point (2 of 3 are done)"}) {
    const Outcome outcome = foredraft(folder, "sweep s.toml --out a --threads 1");
    INFO(outcome.err);
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, Catch::Contains(there));
    CHECK_THAT(outcome.err,
               Catch::Contains("s.toml:3: axes.models.alpha: point 2 (models.alpha 0.001): invalid alpha=0.001"));
    const std::string rows = content_of(folder / "a/points.csv");
    CHECK(std::count(rows.begin(), rows.end(), '\n') == 3);
  }
}

// A signal is answered within a second. The bound here is ten, because the machine may be busy with other tests; the
// runs themselves would take more than an hour. `timeout` kills a process that is still running then, with code 137.
TEST_CASE("long commands show progress and end at an interrupt", "[long]") {
  const TemporaryFolder folder;
  write_text(folder / "drafts.toml",
             sweep_of("sequences = 100000", "gamma = [1_000_000]", "alpha = 0.999999\nc = 0.1\nsequence_length = 1e6"));
  write_text(folder / "text.toml",
             sweep_of("sequences = 1000", "gamma = [3]", "alpha = 0.5\nc = 0.1\nsequence_length = 1e9"));
  write_text(folder / "closed.toml",
             "schema = \"foredraft.sweep/1\"\n[axes]\ngamma = [100_000]\n[fixed]\nalpha = 0.5\nc = 0.1\n"
             "sequence_length = 1e8\n");
  write_text(folder / "crowd.toml",
             sweep_of("requests = 100_000", "gamma = [0]",
                      std::string(server) + "\"arrivals.rate_per_s\" = 1e8\ntarget_step.weights_ms = 1"));
  write_text(
      folder / "pool.toml",
      sweep_of(
          "iterations = 1_000_000_000", "gamma = [4]",
          "fidelity = \"token\"\nmodels = {target=\"zipf\",vocabulary=30000,draft=\"noise\",alpha=0.8,pool=1000}"));
  struct Case {
    std::string arguments;
    std::string said;
  };
  const std::vector<Case> cases{
      {"sweep drafts.toml --out a", "0/1 points"},
      {"sweep text.toml --out b", "0/1 points"},
      {"sweep closed.toml --out c", "0/1 points"},
      {"sweep crowd.toml --out d", "0/1 points"},
      {"sweep pool.toml --out e", "0/1 points"},
      {"simulate --alpha 0.8 --gamma 5 --iterations 1e12 --seed 1", "iterations/s"},
  };
  for (const Case& lengthy : cases) {
    const Outcome outcome =
        foredraft(folder, lengthy.arguments, "timeout --foreground --preserve-status --signal=INT -k 10 5");
    INFO(lengthy.arguments << "\n" << outcome.err);
    CHECK(outcome.code == 130);
    CHECK_THAT(outcome.err, Catch::Contains(lengthy.said) && Catch::Contains("interrupted; "));
    CHECK(outcome.out.empty());
  }
  for (const char* reads : {"advise -", "compare - -", "import -"}) {
    CAPTURE(reads);
    CHECK_THAT(foredraft(folder, reads, "sleep 2.5 |").err, Catch::StartsWith("  ...  MB: 2 s so far\n"));
  }
  // Like `timeout` without --foreground: to the program and to its group.
  const Outcome twice = foredraft(
      folder, "sweep drafts.toml --out twice",
      R"(timeout -k 10 60 bash -c '"$@" & sleep 3; kill -TERM $!; sleep 0.02; kill -TERM $!; wait $!' twice)");
  INFO(twice.err);
  CHECK(twice.code == 130);
  CHECK_THAT(twice.err, Catch::Contains("\ninterrupted; completed results are saved. Run the same command again to "
                                        "resume a sweep; other commands start over.\n"));
}

}  // namespace foredraft::tests
