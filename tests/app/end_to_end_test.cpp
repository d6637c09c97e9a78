// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

/// The built program as a user runs it: exit codes, stdout and stderr, files.
namespace foredraft::tests {
namespace {

namespace fs = std::filesystem;

const std::string sweep_text =
    "schema = \"foredraft.sweep/1\"\n[axes]\nalpha = [0.5, 0.9]\ngamma = [1, 3]\nc = [0.1]\n"
    "[simulation]\niterations = 20000\nseed = 1\n"
    "[[figure]]\nid = \"speed\"\nx = \"gamma\"\ny = \"speedup\"\nseries = \"alpha\"\n";

}  // namespace

TEST_CASE("results and help go to stdout, messages to stderr") {
  const TemporaryFolder folder;
  const Outcome help = foredraft(folder, "--help");
  CHECK(help.code == 0);
  CHECK_THAT(help.out, Catch::Contains("usage: foredraft COMMAND") && Catch::Contains("predict"));
  CHECK(help.err.empty());
  for (const char* command : {"predict", "simulate", "sweep", "merge", "check", "reproduce", "plot", "list"}) {
    const Outcome one = foredraft(folder, std::string(command) + " --help");
    CHECK(one.code == 0);
    CHECK_THAT(one.out, Catch::StartsWith("usage: foredraft " + std::string(command)));
  }
  CHECK_THAT(foredraft(folder, "--version").out, Catch::StartsWith("foredraft "));
}

TEST_CASE("bad usage exits with 2, says what to do on stderr and leaves stdout empty") {
  const TemporaryFolder folder;
  for (const char* arguments :
       {"", "predct --alpha 0.8", "predict --alpha 1.5 --c 0.1", "simulate missing.toml", "sweep missing.toml --out x",
        "sweep --out x", "merge --out x", "check nowhere", "plot nowhere", "list ruls"}) {
    CAPTURE(arguments);
    const Outcome outcome = foredraft(folder, arguments);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK_FALSE(outcome.err.empty());
    CHECK_FALSE(fs::exists(folder / "x"));
  }
  CHECK_THAT(foredraft(folder, "predct").err, Catch::Contains("did you mean predict?"));
  CHECK_THAT(foredraft(folder, "predict --marginal 0.5,0.6 --c 0.1").err,
             Catch::Contains("did you mean --conditional?"));
  CHECK_THAT(foredraft(folder, "predict --acceptance-length 2.5 --c 0.1").err, Catch::Contains("add --gamma G"));
}

TEST_CASE("with --json an error is a document on stdout that follows its schema") {
  const TemporaryFolder folder;
  write_text(folder / "o.jsonl", "{\"iter\": 1, \"iterLatencyMS\": 9, \"inflightBatchingStats\": {}}\n");
  const auto schema = nlohmann::json::parse(content_of(FOREDRAFT_SOURCE "/docs/schemas/error.schema.json"));
  const auto ends = [&](const std::string& arguments, int code) {
    CAPTURE(arguments);
    const Outcome outcome = foredraft(folder, arguments);
    CHECK(outcome.code == code);
    const auto document = nlohmann::ordered_json::parse(outcome.out, nullptr, false);
    REQUIRE(document.is_object());
    CHECK(document.at("schema") == schema.at("properties").at("schema").at("const"));
    CHECK(document.at("exit_code") == code);
    CHECK(document.at("error").get<std::string>() + "\n" == outcome.err);
    std::vector<std::string> keys;
    for (const auto& entry : document.items()) keys.push_back(entry.key());
    CHECK(keys == schema.at("required").get<std::vector<std::string>>());
  };
  ends("predict --alpha 1.5 --c -1 --json", 2);
  ends("import absent --json", 2);
  ends("import o.jsonl --json", 1);
  ends("simulate missing.toml --json", 2);
  ends("predct --json", 2);
  CHECK(foredraft(folder, "import -- --json").out.empty());
  CHECK(foredraft(folder, "predict --alpha 1.5 --c 0.1").out.empty());
}

TEST_CASE("predict and simulate print one JSON document, the same bytes every time") {
  const TemporaryFolder folder;
  // (2.5 - 1) of 3 drafted tokens.
  for (const char* option : {"--acceptance-rate 0.5", "--accepted-over-drafted 50%"}) {
    const Outcome rate = foredraft(folder, std::string("predict --gamma 3 --c 0.05 --json ") + option);
    CHECK_THAT(rate.out,
               Catch::Contains("\"accepted_over_drafted\": 0.5,") && Catch::Contains("\"tokens_per_iteration\": 2.5,"));
  }
  CHECK_THAT(foredraft(folder, "predict --gamma 3 --c 0.05 --acceptance-rate 0.5").out,
             Catch::Contains("from 0.5 of the drafted tokens accepted"));
  CHECK_THAT(foredraft(folder, "predict --c 0.05 --acceptance-rate 0.5").err, Catch::Contains("--gamma: missing"));
  // Consequences of the missing device are not reported.
  const Outcome no_device = foredraft(folder, "predict --request-rate 5");
  CHECK(std::count(no_device.err.begin(), no_device.err.end(), '\n') == 1);
  const Outcome predicted = foredraft(folder, "predict --acceptance-length 2.5 --gamma 3 --c 0.05 --json");
  CHECK(predicted.code == 0);
  CHECK(predicted.err.empty());
  const auto prediction = nlohmann::json::parse(predicted.out);
  CHECK(prediction["tokens_per_iteration"].get<double>() == Approx(2.5).epsilon(1e-12));

  const std::string simulate = "simulate --alpha 0.8 --gamma 5 --c 0.05 --iterations 1e5 --seed 1 --json";
  const Outcome simulated = foredraft(folder, simulate);
  CHECK(simulated.code == 0);
  const auto json = nlohmann::json::parse(simulated.out);
  CHECK(json["iterations"] == 100000);
  CHECK(json["seed"] == 1);
  for (const char* quantity : {"tokens_per_iteration", "speedup"}) {
    const auto& estimate = json[quantity];
    CHECK(estimate["standard_error"].get<double>() > 0.0);
    REQUIRE(estimate["ci95"].size() == 2);
    CHECK(estimate["ci95"][0].get<double>() < estimate["mean"].get<double>());
    CHECK(estimate["mean"].get<double>() < estimate["ci95"][1].get<double>());
  }
  for (const char* key : {"per_token", "accepted_over_drafted"}) CHECK(json["acceptance"][key].is_number());
  CHECK(json["acceptance"]["conditional"].size() == 5);
  CHECK(json["acceptance"]["marginal"].size() == 5);
  CHECK(foredraft(folder, simulate + " --threads 1").out == simulated.out);
  CHECK(foredraft(folder, simulate + " --threads 7").out == simulated.out);
  CHECK(foredraft(folder, "simulate --alpha 0.8 --gamma 5 --iterations 1e5 --seed 2 --json").out != simulated.out);
  const auto without_c =
      nlohmann::json::parse(foredraft(folder, "simulate --alpha 0.8 --gamma 5 --iterations 1e4 --seed 1 --json").out);
  CHECK(without_c["speedup"].is_null());
}

TEST_CASE("simulate takes the processes of predict, by the same options") {
  const TemporaryFolder folder;
  const std::string run = " --gamma 3 --c 0.05 --iterations 1e5 --seed 1 --json";
  for (const char* process :
       {"--process markov --a 0.9 --b 0.5", "--process markov --mean 0.79 --correlation 0.3",
        "--process beta_mixture --a 3 --b 1.2", "--process runs --a 0.9 --b 0.6 --spread 1 --rho 1.5",
        "--marginal 0.8,0.6,0.5", "--conditional 0.8,0.75,0.7"}) {
    CAPTURE(process);
    const Outcome simulated = foredraft(folder, "simulate " + std::string(process) + run);
    INFO(simulated.err);
    REQUIRE(simulated.code == 0);
    const Outcome predicted = foredraft(folder, "predict " + std::string(process) + " --gamma 3 --c 0.05 --json");
    REQUIRE(predicted.code == 0);
    const auto json = nlohmann::json::parse(simulated.out);
    const auto& tokens = json["tokens_per_iteration"];
    const double closed_form = nlohmann::json::parse(predicted.out)["tokens_per_iteration"].get<double>();
    CHECK(json["analytic"]["tokens_per_iteration"].get<double>() == closed_form);
    CHECK(std::abs(tokens["mean"].get<double>() - closed_form) < 5.0 * tokens["standard_error"].get<double>());
  }
  const Outcome twice = foredraft(folder, "simulate --acceptance x.log --process markov --gamma 3 --iterations 1e3");
  CHECK(twice.code == 2);
  CHECK_THAT(twice.err, Catch::Contains("--process: mutually exclusive with --acceptance"));
  const Outcome trace = foredraft(folder, "simulate --process trace --gamma 3 --iterations 1e3");
  CHECK(trace.code == 2);
  CHECK_THAT(trace.err, Catch::Contains("--process: trace without its file"));
}

TEST_CASE("simulate takes one point from a configuration and rejects axes") {
  const TemporaryFolder folder;
  write_text(folder / "one.toml",
             "schema = \"foredraft.sweep/1\"\n[fixed]\nprocess = \"markov\"\n\"process.a\" = 0.9\n\"process.b\" = 0.4\n"
             "gamma = 4\n[simulation]\niterations = 10000\nseed = 1\n");
  CHECK(foredraft(folder, "simulate one.toml").code == 0);
  CHECK(foredraft(folder, "simulate one.toml --seed 2").code == 2);
  write_text(folder / "axes.toml", sweep_text);
  const Outcome rejected = foredraft(folder, "simulate axes.toml");
  CHECK(rejected.code == 2);
  CHECK_THAT(rejected.err, Catch::Contains("axes.toml:3: axes: simulate runs one point"));
}

TEST_CASE("sweep, check, and a second sweep of the same folder") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", sweep_text);
  const Outcome first = foredraft(folder, "sweep s.toml --out results/a --no-figures");
  REQUIRE(first.code == 0);
  CHECK_THAT(first.out, Catch::StartsWith("4 points: 2 alpha x 2 gamma x 1 c; 20000 iterations each; seed 1; bonus "
                                          "convention; config ") &&
                            Catch::Contains("best gamma of the sweep") && Catch::Contains("agreement   largest of 4") &&
                            Catch::Contains("wrote       points.csv  manifest.json") &&
                            Catch::Contains("rerun       foredraft check results/a"));
  CHECK_THAT(first.err, Catch::StartsWith("plan        4 points, 8e+04 iterations"));
  const std::string points = content_of(folder / "results/a/points.csv");

  const Outcome again = foredraft(folder, "sweep s.toml --out results/a --no-figures");
  CHECK(again.code == 0);
  CHECK(again.out == first.out);
  CHECK_THAT(again.err, Catch::Contains("results/a is complete: nothing to do"));
  CHECK(content_of(folder / "results/a/points.csv") == points);

  const Outcome checked = foredraft(folder, "check results/a --threads 7");
  CHECK(checked.code == 0);
  CHECK_THAT(checked.out, Catch::Contains("4 points repeated, every byte and every digest agrees"));
}

TEST_CASE("check finds an edited cell and names its row and column, a missing row, and an edited figure file") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", sweep_text);
  REQUIRE(foredraft(folder, "sweep s.toml --out a --no-figures").code == 0);
  const std::string points = content_of(folder / "a/points.csv");
  std::string edited = points;
  const std::size_t row = edited.find("\n2,") + 1;
  edited.replace(edited.find("20000", row), 5, "20001");
  write_text(folder / "a/points.csv", edited);
  const Outcome found = foredraft(folder, "check a");
  CHECK(found.code == 1);
  CHECK(found.out.empty());
  CHECK_THAT(
      found.err,
      Catch::Contains("a/points.csv:4: simulated_iterations: the file says 20001, the repeated run 20000 (point 2)"));
  write_text(folder / "a/points.csv", points.substr(0, row));
  CHECK_THAT(foredraft(folder, "check a").err, Catch::Contains("points.csv:4: row missing"));
  write_text(folder / "a/points.csv", points + "4,0.9\n");
  CHECK_THAT(foredraft(folder, "check a").err, Catch::Contains("points.csv:6: "));
  write_text(folder / "a/points.csv", points);
  CHECK(foredraft(folder, "check a").code == 0);
  write_text(folder / "a/speed.csv", "alpha\n");
  CHECK(foredraft(folder, "check a").code == 1);
}

TEST_CASE("three merged shards are the run without shards, and missing, doubled and foreign shards are rejected") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", sweep_text);
  REQUIRE(foredraft(folder, "sweep s.toml --out whole --no-figures").code == 0);
  for (const std::string i : {"1", "2", "3"}) {
    REQUIRE(foredraft(folder, "sweep s.toml --out part" + i + " --shard " + i + "/3").code == 0);
    CHECK(foredraft(folder, "check part" + i).code == 0);
  }
  const Outcome missing = foredraft(folder, "merge part1 part3 --out m");
  CHECK(missing.code == 2);
  CHECK_THAT(missing.err, Catch::Contains("shard 2/3 is missing"));
  CHECK_THAT(foredraft(folder, "merge part1 part2 part2 part3 --out m").err, Catch::Contains("shard 2/3 given twice"));
  REQUIRE(foredraft(folder, "sweep s.toml --out half --shard 2/2").code == 0);
  CHECK_THAT(foredraft(folder, "merge part1 half part3 --out m").err,
             Catch::Contains("half: one of 2 shards") && Catch::Contains("shard 2/3 is missing"));
  std::string reseeded = sweep_text;
  reseeded.replace(reseeded.find("seed = 1"), 8, "seed = 2");
  write_text(folder / "t.toml", reseeded);
  REQUIRE(foredraft(folder, "sweep t.toml --out other --shard 2/3").code == 0);
  CHECK_THAT(foredraft(folder, "merge part1 other whole --out m").err,
             Catch::Contains("other: another configuration") && Catch::Contains("whole: no shard"));
  CHECK(foredraft(folder, "merge whole part2 part3 --out m").code == 2);
  CHECK_THAT(foredraft(folder, "merge part3 part1 part2 --out part1").err,
             Catch::Contains("part1: holds results of shard 1/3, not the whole sweep"));
  CHECK_FALSE(fs::exists(folder / "m"));
  REQUIRE(foredraft(folder, "merge part3 part1 part2 --out m --no-figures").code == 0);
  CHECK(content_of(folder / "m/points.csv") == content_of(folder / "whole/points.csv"));
  CHECK(content_of(folder / "m/summary.md") == content_of(folder / "whole/summary.md"));
  CHECK(foredraft(folder, "check m").code == 0);
  std::string edited = content_of(folder / "part2/points.csv");
  edited[edited.size() - 2] = edited[edited.size() - 2] == '1' ? '2' : '1';
  write_text(folder / "part2/points.csv", edited);
  CHECK_THAT(foredraft(folder, "merge part1 part2 part3 --out n").err,
             Catch::Contains("points.csv was changed or removed"));
}

TEST_CASE("merging into an unfinished sweep keeps the rows that are there and appends the rest") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml",
             "schema = \"foredraft.sweep/1\"\n[axes]\nalpha = { from = 0.01, to = 0.4, step = 0.01 }\ngamma = [1, 3]\n"
             "[simulation]\niterations = 1000\nseed = 1\n");
  REQUIRE(foredraft(folder, "sweep s.toml --out whole").code == 0);
  const std::string whole = content_of(folder / "whole/points.csv");
  for (const std::string i : {"1", "2"}) {
    REQUIRE(foredraft(folder, "sweep s.toml --out part" + i + " --shard " + i + "/2").code == 0);
  }
  std::string running = content_of(folder / "whole/manifest.json");
  running.replace(running.find("\"complete\""), 10, "\"running\"");
  const auto interrupted = [&](const std::string& points) {
    fs::remove_all(folder / "m");
    fs::create_directory(folder / "m");
    write_text(folder / "m/manifest.json", running);
    write_text(folder / "m/points.csv", points);
  };
  const std::size_t sixty_rows = whole.find("\n60,") + 1;
  interrupted(whole.substr(0, sixty_rows));
  // No file may grow beyond 16 blocks of 512 bytes, fewer than needed, as on a full disk. The rows remain.
  REQUIRE(sixty_rows > std::size_t{16} * 512);
  const Outcome full = foredraft(folder, "merge part1 part2 --out m", "ulimit -f 16; trap '' XFSZ;");
  CHECK(full.code == 1);
  CHECK_THAT(full.err, Catch::Contains("m/points.csv: cannot be written (File too large)"));
  CHECK(content_of(folder / "m/points.csv") == whole.substr(0, sixty_rows));
  for (const std::size_t bytes : {std::size_t{0}, sixty_rows, sixty_rows + 5, whole.size()}) {
    CAPTURE(bytes);
    interrupted(whole.substr(0, bytes));
    REQUIRE(foredraft(folder, "merge part1 part2 --out m").code == 0);
    CHECK(content_of(folder / "m/points.csv") == whole);
    CHECK(foredraft(folder, "check m").code == 0);
  }
  std::string other = whole.substr(0, sixty_rows);
  other[other.size() - 2] = other[other.size() - 2] == '1' ? '2' : '1';
  interrupted(other);
  const Outcome rejected = foredraft(folder, "merge part1 part2 --out m");
  CHECK(rejected.code == 2);
  CHECK_THAT(rejected.err, Catch::Contains("m/points.csv: holds other rows than the shards - use another --out"));
  CHECK(content_of(folder / "m/points.csv") == other);
}

TEST_CASE("the output folder of another configuration and a full disk end in a clear error") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", sweep_text);
  REQUIRE(foredraft(folder, "sweep s.toml --out a --no-figures").code == 0);
  std::string other = sweep_text;
  other.replace(other.find("seed = 1"), 8, "seed = 2");
  write_text(folder / "t.toml", other);
  const Outcome rejected = foredraft(folder, "sweep t.toml --out a");
  CHECK(rejected.code == 2);
  CHECK_THAT(rejected.err, Catch::Contains("differs in simulation.seed") && Catch::Contains("use another --out"));
  CHECK(foredraft(folder, "check a").code == 0);
  // A file may not grow beyond 4 blocks of 512 bytes, which simulates a full disk.
  const Outcome full = foredraft(folder, "sweep s.toml --out b --no-figures", "ulimit -f 4; trap '' XFSZ;");
  CHECK(full.code == 1);
  CHECK_THAT(full.err, Catch::Contains("cannot be written (File too large)"));
  REQUIRE(foredraft(folder, "sweep s.toml --out b --no-figures").code == 0);
  CHECK(content_of(folder / "b/points.csv") == content_of(folder / "a/points.csv"));
  const Outcome unwritable = foredraft(folder, "reproduce leviathan-table2 --out c", "ulimit -f 1; trap '' XFSZ;");
  CHECK(unwritable.code == 2);
  CHECK_THAT(unwritable.err, Catch::Contains("c/manifest.json: cannot be written (File too large)"));
}

TEST_CASE("a name that is not valid UTF-8 is still a name") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", sweep_text);
  CHECK(foredraft(folder, "sweep s.toml --no-figures --out \"$(printf 'caf\\351')\"").code == 0);
  CHECK(foredraft(folder, "check \"$(printf 'caf\\351')\"").code == 0);
}

TEST_CASE("files that a configuration names are searched in its folder, then in the working directory") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "sub");
  write_text(folder / "sub/c.toml",
             "schema = \"foredraft.sweep/1\"\n[axes]\ngamma = [1, 2]\n[fixed]\nprocess = \"trace\"\n"
             "\"process.file\" = \"t.csv\"\n[simulation]\nseed = 1\n");
  const Outcome neither = foredraft(folder, "sweep sub/c.toml --out none --no-figures");
  CHECK(neither.code == 2);
  CHECK_THAT(neither.err, Catch::StartsWith("sub/t.csv: cannot be read"));

  write_text(folder / "t.csv", "sequence,outcome\n0,1\n0,0\n0,0\n");
  const Outcome elsewhere = foredraft(folder, "sweep sub/c.toml --out elsewhere --no-figures");
  CHECK(elsewhere.code == 0);
  CHECK_THAT(elsewhere.err,
             Catch::StartsWith("note: t.csv: read from the working directory; there is no sub/t.csv next to "
                               "the configuration\n"));
  CHECK_THAT(content_of(folder / "elsewhere/manifest.json"), Catch::Contains("\"path\": \"t.csv\""));

  write_text(folder / "sub/t.csv", "sequence,outcome\n0,1\n0,1\n0,1\n0,0\n");
  const Outcome beside = foredraft(folder, "sweep sub/c.toml --out beside --no-figures");
  CHECK(beside.code == 0);
  CHECK_THAT(beside.err, !Catch::Contains("note:"));
  CHECK_THAT(content_of(folder / "beside/manifest.json"),
             Catch::Contains("\"config_folder\": \"sub\"") && Catch::Contains("\"path\": \"sub/t.csv\""));
  CHECK(foredraft(folder, "check beside").code == 0);
  CHECK(foredraft(folder, "sweep c.toml --out here --no-figures", "env -C sub").code == 0);
  CHECK(content_of(folder / "sub/here/points.csv") == content_of(folder / "beside/points.csv"));
}

TEST_CASE("draft lengths beyond a recorded one are reported as extrapolated") {
  const TemporaryFolder folder;
  const auto config = [](const char* gammas) {
    return std::string("schema = \"foredraft.sweep/1\"\n[axes]\ngamma = ") + gammas +
           "\n[fixed]\nprocess = \"trace\"\n\"process.file\" = \"t.csv\"\n\"process.recorded_gamma\" = 3\n"
           "[simulation]\nseed = 1\n";
  };
  write_text(folder / "t.csv", "sequence,accepted\n0,3\n0,1\n0,2\n");
  write_text(folder / "short.toml", config("[1, 3]"));
  write_text(folder / "long.toml", config("[1, 4]"));
  CHECK_THAT(foredraft(folder, "sweep short.toml --out a --no-figures").err, !Catch::Contains("extrapolated"));
  CHECK_THAT(foredraft(folder, "sweep long.toml --out b --no-figures").err,
             Catch::Contains("note: t.csv: recorded at gamma 3; longer drafts are extrapolated: "));
}

TEST_CASE("an interrupted sweep exits with 130 and says how to continue") {
  const TemporaryFolder folder;
  write_text(folder / "long.toml",
             "schema = \"foredraft.sweep/1\"\n[axes]\ngamma = { from = 1, to = 400 }\n[fixed]\nalpha = 0.9\n"
             "[simulation]\niterations = 100000000\nseed = 1\npath = \"reference\"\n");
  const Outcome outcome = foredraft(folder, "sweep long.toml --out a", "timeout --foreground --signal=INT 2");
  // Without --foreground timeout signals its child and then its group: if the first signal is handled before the second
  // one arrives, the program ends immediately. timeout passes the signal on and reports 124; the program's own code
  // needs --preserve-status.
  CHECK(outcome.code == 124);
  const Outcome preserved =
      foredraft(folder, "sweep long.toml --out a", "timeout --foreground --preserve-status --signal=TERM 2");
  CHECK(preserved.code == 130);
  CHECK_THAT(preserved.err,
             Catch::EndsWith("\ninterrupted; completed results are saved. Run the same command again to resume a "
                             "sweep; other commands start over.\n"));
  CHECK(preserved.out.empty());
}

TEST_CASE("figures are drawn after the data, and missing figures are no failure") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", sweep_text);
  fs::create_directory(folder / "plots");
  write_text(folder / "plots/plot.py",
             "import pathlib, sys\nassert (pathlib.Path(sys.argv[1]) / 'speed.csv').exists()\n"
             "(pathlib.Path(sys.argv[1]) / 'speed.pdf').write_text('x')\nprint('drawn')\n");
  const Outcome drawn = foredraft(folder, "sweep s.toml --out a", "FOREDRAFT_PLOTS=plots");
  CHECK(drawn.code == 0);
  CHECK(drawn.out.find("drawn") == std::string::npos);  // the script's output is not a result
  CHECK(fs::exists(folder / "a/speed.csv"));
  if (drawn.err.find("no Python with matplotlib") == std::string::npos) {
    CHECK_THAT(drawn.out, Catch::Contains("speed.{pdf,csv}"));
  }
  const Outcome without = foredraft(folder, "sweep s.toml --out b", "FOREDRAFT_PLOTS=nowhere");
  CHECK(without.code == 0);
  CHECK_THAT(without.err, Catch::Contains("no figures"));
  CHECK(foredraft(folder, "plot b", "FOREDRAFT_PLOTS=nowhere").code == 1);
  const Outcome no_results = foredraft(folder, "plot plots");
  CHECK(no_results.code == 2);
  CHECK_THAT(no_results.err, Catch::Contains("plots: holds no manifest.json"));
}

TEST_CASE("a figure added to a finished sweep is drawn without computing a point again") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", sweep_text);
  REQUIRE(foredraft(folder, "sweep s.toml --out a --no-figures").code == 0);
  fs::create_directory(folder / "plots");
  write_text(folder / "plots/plot.py",
             "import pathlib, sys\n(pathlib.Path(sys.argv[1]) / 'other.pdf').write_text('x')\n");
  std::string renamed = sweep_text;
  renamed.replace(renamed.find("id = \"speed\""), 12, "id = \"other\"");
  write_text(folder / "s.toml", renamed);
  const Outcome again = foredraft(folder, "sweep s.toml --out a", "FOREDRAFT_PLOTS=plots");
  CHECK(again.code == 0);
  CHECK_THAT(again.err, Catch::StartsWith("a is complete: the figures are drawn again\n"));
  CHECK(fs::exists(folder / "a/other.csv"));
  if (again.err.find("no Python with matplotlib") == std::string::npos) CHECK(fs::exists(folder / "a/other.pdf"));
}

TEST_CASE("a prediction from a device goes into a folder if one is given, and stdout does not change") {
  const TemporaryFolder folder;
  const std::string question =
      "predict --profile h200 --target llama-2-7b --draft sheared-llama-1.3b --alpha 0.7 --batch 1,8";
  const std::string without_figures = "FOREDRAFT_PLOTS=nowhere";
  const Outcome alone = foredraft(folder, question);
  const Outcome kept = foredraft(folder, question + " --out a", without_figures);
  CHECK(kept.code == 0);
  CHECK(kept.out == alone.out);
  CHECK_THAT(kept.err, Catch::Contains("no decision map: it needs two batches and two contexts"));
  const auto manifest = nlohmann::json::parse(content_of(folder / "a/manifest.json"));
  CHECK(manifest["inputs"].at(0)["path"] == "h200");
  CHECK(manifest["outputs"].size() == 5);
  CHECK(foredraft(folder, question + " --context 128,512 --out b --json", without_figures).err.find("map") ==
        std::string::npos);
  CHECK(fs::exists(folder / "b/decision-map.csv"));
  const Outcome other = foredraft(folder, question + " --overhead-us 3 --out a", without_figures);
  CHECK(other.code == 2);
  CHECK_THAT(other.err, Catch::Contains("its overhead_us is 0.0, now 3.0"));
  CHECK(foredraft(folder, "predict --alpha 0.7 --c 0.1 --out c").code == 2);
  CHECK(foredraft(folder, question + " --context 100000000 --out c").code == 2);
  CHECK_FALSE(fs::exists(folder / "c"));
}

TEST_CASE("a reproduction includes a validation with its origin, and draws it") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "v");
  const std::string cells =
      "target,drafter,gamma,predicted_speedup,predicted_low,predicted_high,measured_speedup,measured_low,measured_high,"
      "signed_error,between_runs\nt,d,3,1.5,1.4,1.6,1.6,1.5,1.7,-0.0625,0.02\n";
  write_text(folder / "v/validation.csv", cells);
  CHECK(foredraft(folder, "reproduce leviathan-table1 --out a --validation v --no-figures").code == 2);
  CHECK_FALSE(fs::exists(folder / "a"));
  write_text(folder / "v/manifest.json", R"({"schema": "foredraft.validation/1", "valid": false})");
  const Outcome taken = foredraft(folder, "reproduce leviathan-table1 --out a --validation v");
  CHECK(taken.code == 0);
  CHECK(content_of(folder / "a/validation.csv") == cells);
  CHECK(content_of(folder / "a/validation.json") == content_of(folder / "v/manifest.json"));
  const auto manifest = nlohmann::json::parse(content_of(folder / "a/manifest.json"));
  CHECK(manifest["inputs"].back()["path"] == "v/manifest.json");
  if (taken.err.find("no figures") == std::string::npos) {
    CHECK(fs::exists(folder / "a/validation.pdf"));
    CHECK_THAT(content_of(folder / "a/report.html"), Catch::Contains("noisy"));
  }
}

TEST_CASE("a reproduction with figures only has a report, without a printed cell to score") {
  const TemporaryFolder folder;
  const Outcome traced = foredraft(folder, "reproduce leviathan-figure5 --out a");
  CHECK(traced.code == 0);
  if (traced.err.find("no figures") == std::string::npos) CHECK(fs::exists(folder / "a/report.html"));
}

}  // namespace foredraft::tests
