// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "analytic/answer/answer.hpp"
#include "core/digest.hpp"
#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/point.hpp"
#include "experiments/sweep/run_sweep.hpp"
#include "experiments/sweep/sweep_folder.hpp"
#include "tests/experiments/compare_points.hpp"
#include "tests/experiments/config_testing.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;

/// 24 points of several blocks each.
SweepConfig small_sweep() {
  return tests::config_of(
      "[axes]\nalpha = [0.3, 0.9]\ngamma = [1, 4, 7]\nc = [0.05, 0.2]\noperations_ratio = [0.0, 0.1]\n"
      "[simulation]\niterations = 200000\nseed = 11\n");
}

std::string run(const SweepConfig& config, const std::string& folder, unsigned threads,
                std::optional<Shard> shard = std::nullopt) {
  run_sweep(config, folder, {.threads = threads, .shard = shard});
  return tests::content_of(points_path(folder));
}

/// A finished folder whose points.csv is truncated to its first `bytes` bytes, as after an interruption.
void cut(const std::string& whole, const std::string& folder, std::size_t bytes) {
  fs::remove_all(folder);
  fs::create_directory(folder);
  StoredManifest manifest = read_manifest(whole);
  manifest.state = "running";
  manifest.outputs.clear();
  tests::write_text(manifest_path(folder), to_text(manifest));
  tests::write_text(points_path(folder), tests::content_of(points_path(whole)).substr(0, bytes));
}

}  // namespace

TEST_CASE("points are numbered with the last axis fastest, each combination once") {
  const SweepConfig config = tests::config_of("[axes]\nalpha = [0.1, 0.2]\ngamma = [1, 2, 3]\nc = [0.5, 0.25]\n");
  const Points points(config);
  REQUIRE(points.count() == 12);
  CHECK(points.coordinates(0) == std::vector<std::size_t>{0, 0, 0});
  CHECK(points.coordinates(1) == std::vector<std::size_t>{0, 0, 1});
  CHECK(points.coordinates(2) == std::vector<std::size_t>{0, 1, 0});
  CHECK(points.coordinates(11) == std::vector<std::size_t>{1, 2, 1});
  std::set<std::vector<std::size_t>> all;
  for (std::uint64_t i = 0; i < 12; ++i) all.insert(points.coordinates(i));
  CHECK(all.size() == 12);
  const Scenario scenario = points.scenario(8);
  CHECK(std::get<Iid>(std::get<ProcessFidelity>(scenario.fidelity).acceptance).alpha == 0.2);
  CHECK(scenario.gamma == 2);
  CHECK(std::get<ConstantRatio>(scenario.cost).c == 0.5);
  std::string cells;
  points.append_cells(8, cells);
  CHECK(cells == "0.2,2,0.5,process,bonus,autoregressive,iid,");
}

TEST_CASE("a row shows the inputs that its point uses and leaves the others empty, for axes and fixed values") {
  const std::string text =
      "[axes]\nprocess = [\"iid\", \"markov\"]\nalpha = [0.5, 0.8]\n\"process.a\" = [0.6, 0.9]\n"
      "[fixed]\ngamma = 3\n\"process.b\" = 0.3\n[simulation]\niterations = 2000\nseed = 1\n"
      "[[figure]]\nid = \"f\"\nx = \"alpha\"\ny = \"tokens_per_iteration\"\nseries = \"process.a\"\n"
      "panel = \"process\"\n";
  const SweepConfig config = tests::config_of(text);
  const Points points(config);
  const auto cells_of = [&](std::uint64_t index) {
    std::string cells;
    points.append_cells(index, cells);
    return cells;
  };
  CHECK(cells_of(1) == "iid,0.5,,process,3,bonus,autoregressive,,");
  CHECK(cells_of(6) == "markov,,0.6,process,3,bonus,autoregressive,0.3,");
  const auto acceptance_of = [&](std::uint64_t index) {
    return std::get<ProcessFidelity>(points.scenario(index).fidelity).acceptance;
  };
  CHECK(std::get<Iid>(acceptance_of(1)).alpha == 0.5);
  CHECK(std::get<Markov>(acceptance_of(6)).a == 0.6);
  CHECK(std::get<Markov>(acceptance_of(6)).b == 0.3);
  const tests::TemporaryFolder folder;
  const std::string whole = run(config, folder / "whole", 1);
  cut(folder / "whole", folder / "cut", whole.find("\n5,") + 3);
  CHECK(run(config, folder / "cut", 1) == whole);
  // A figure must show every point.
  CHECK_THAT(tests::content_of(folder / "whole/f.csv"),
             Catch::Contains("\niid,0.6,0.5,") && Catch::Contains("\niid,0.9,0.8,"));
}

TEST_CASE("shards cover all points once, in order, in sizes that differ by one at most") {
  for (const std::uint64_t points : {1U, 7U, 12U, 100U}) {
    for (const std::uint64_t count : {1U, 2U, 3U, 7U}) {
      if (count > points) {
        CHECK_THROWS_AS(range_of(points, Shard{1, count}), InputError);
        continue;
      }
      std::uint64_t next = 0;
      for (std::uint64_t shard = 1; shard <= count; ++shard) {
        const PointRange range = range_of(points, Shard{shard, count});
        CHECK(range.first == next);
        CHECK(range.last - range.first >= points / count);
        CHECK(range.last - range.first <= points / count + 1);
        next = range.last;
      }
      CHECK(next == points);
    }
  }
}

TEST_CASE("1, 2 and 7 threads give the same bytes, and so do 3 merged shards") {
  const tests::TemporaryFolder folder;
  const SweepConfig config = small_sweep();
  const std::string one = run(config, folder / "one", 1);
  CHECK(std::count(one.begin(), one.end(), '\n') == 25);
  CHECK(run(config, folder / "two", 2) == one);
  CHECK(run(config, folder / "seven", 7) == one);
  std::string merged = sweep_of(config).header;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const std::string part = run(config, folder / ("part" + std::to_string(i)), 2, Shard{i, 3});
    REQUIRE(part.starts_with(sweep_of(config).header));
    merged += part.substr(sweep_of(config).header.size());
  }
  CHECK(merged == one);
}

TEST_CASE("a run cut at any byte resumes to the same bytes") {
  const tests::TemporaryFolder folder;
  const SweepConfig config = tests::config_of(
      "[axes]\nalpha = [0.3, 0.9]\ngamma = [1, 4, 7]\n[fixed]\nc = 0.1\n[simulation]\niterations = 1000\nseed = 3\n");
  const std::string whole = run(config, folder / "whole", 1);
  const std::size_t header = sweep_of(config).header.size();
  std::set<std::size_t> places{0, 1, header - 1, header, header + 1, whole.size() - 1, whole.size()};
  for (std::size_t place = 0; place < whole.size(); place += 97) places.insert(place);
  for (std::size_t at = whole.find('\n'); at != std::string::npos; at = whole.find('\n', at + 1)) {
    places.insert({at, at + 1});  // before and after every line end
  }
  for (const std::size_t place : places) {
    CAPTURE(place);
    cut(folder / "whole", folder / "cut", place);
    REQUIRE(run(config, folder / "cut", 1) == whole);
    REQUIRE(read_manifest(folder / "cut").state == "complete");
  }
}

TEST_CASE("resuming computes only what is missing") {
  const tests::TemporaryFolder folder;
  const SweepConfig config = small_sweep();
  const std::string whole = run(config, folder / "whole", 2);
  std::size_t third = 0;
  for (int i = 0; i < 4; ++i) third = whole.find('\n', third) + 1;  // header and three rows
  cut(folder / "whole", folder / "cut", third + 5);
  {
    const SweepOutcome outcome = run_sweep(config, folder / "cut", {.threads = 2});
    CHECK(outcome.result.resumed == 3);
    CHECK_FALSE(outcome.result.already_complete);
    // While the outcome exists, no other run has the folder.
    CHECK_THROWS_WITH(run_sweep(config, folder / "cut", {.threads = 2}), Catch::Contains("another run is writing it"));
  }
  CHECK(tests::content_of(points_path(folder / "cut")) == whole);
  CHECK(run_sweep(config, folder / "cut", {.threads = 2}).result.already_complete);
}

TEST_CASE("a stop leaves whole rows, and the same command resumes") {
  const tests::TemporaryFolder folder;
  const SweepConfig config = small_sweep();
  const std::atomic<bool> stop{true};
  CHECK_THROWS_AS(run_sweep(config, folder / "a", {.threads = 2, .stop = &stop}), Interrupted);
  CHECK(read_manifest(folder / "a").state == "running");
  CHECK(run(config, folder / "a", 2) == run(config, folder / "b", 1));
}

TEST_CASE("results of another configuration, shard or version, and damaged rows are rejected untouched") {
  const tests::TemporaryFolder folder;
  const SweepConfig config = tests::config_of("[axes]\nalpha = [0.3, 0.9]\n[fixed]\ngamma = 2\n");
  const std::string whole = run(config, folder / "a", 1);
  const SweepConfig other = tests::config_of("[axes]\nalpha = [0.3, 0.8]\n[fixed]\ngamma = 2\n");
  CHECK_THROWS_WITH(run_sweep(other, folder / "a", {.threads = 1}),
                    Catch::Contains("holds results of another configuration") &&
                        Catch::EndsWith("differs in axes.alpha - use another --out"));
  CHECK_THROWS_WITH(run_sweep(config, folder / "a", {.threads = 1, .shard = Shard{1, 2}}),
                    Catch::Contains("holds results of the whole sweep, not shard 1/2"));
  CHECK(tests::content_of(points_path(folder / "a")) == whole);

  StoredManifest other_version = read_manifest(folder / "a");
  other_version.version = "9.9.9";
  other_version.program["version"] = "9.9.9";
  tests::write_text(manifest_path(folder / "a"), to_text(other_version));
  CHECK_THROWS_WITH(run_sweep(config, folder / "a", {.threads = 1}), Catch::Contains("version 9.9.9"));

  run(config, folder / "c", 1);
  cut(folder / "c", folder / "b", whole.size());
  std::string damaged = whole;
  damaged[whole.find("\n0,") + 1] = '7';
  tests::write_text(points_path(folder / "b"), damaged);
  CHECK_THROWS_WITH(run_sweep(config, folder / "b", {.threads = 1}),
                    Catch::Contains("points.csv:2: damaged row (point 0 expected)"));
}

TEST_CASE("a changed or removed points.csv of a complete run is rejected, and so are rows of other inputs") {
  const tests::TemporaryFolder folder;
  const SweepConfig config = tests::config_of("[axes]\nalpha = [0.3, 0.9]\ngamma = [1, 2]\nc = [0.1]\n");
  const std::string whole = run(config, folder / "a", 1);
  cut(folder / "a", folder / "b", whole.size());
  std::string changed = whole;
  changed.replace(whole.find("\n2,0.9,") + 3, 3, "0.8");
  tests::write_text(points_path(folder / "a"), changed);
  CHECK_THROWS_WITH(run_sweep(config, folder / "a", {.threads = 1}),
                    Catch::Contains("points.csv: was changed or removed"));
  CHECK(tests::content_of(points_path(folder / "a")) == changed);
  fs::remove(points_path(folder / "a"));
  CHECK_THROWS_AS(run_sweep(config, folder / "a", {.threads = 1}), InputError);

  tests::write_text(points_path(folder / "b"), changed);
  CHECK_THROWS_WITH(run_sweep(config, folder / "b", {.threads = 1}),
                    Catch::Contains("points.csv:4: damaged row (point 2 expected)"));
  tests::write_text(points_path(folder / "b"), "mine");
  CHECK_THROWS_WITH(run_sweep(config, folder / "b", {.threads = 1}),
                    Catch::Contains("points.csv:1: has other columns"));
  CHECK(tests::content_of(points_path(folder / "b")) == "mine");
  std::string wide = whole;
  wide.insert(wide.find('\n', wide.find("\n1,") + 1), ",7");
  tests::write_text(points_path(folder / "b"), wide);
  CHECK_THROWS_WITH(run_sweep(config, folder / "b", {.threads = 1}),
                    Catch::Contains("points.csv:3: damaged row (point 1 expected)"));
}

TEST_CASE("a manifest that contradicts itself is rejected as input") {
  const tests::TemporaryFolder folder;
  run(tests::config_of("[axes]\nalpha = [0.3, 0.9]\n[fixed]\ngamma = 2\n"), folder / "a", 1);
  const std::string text = tests::content_of(manifest_path(folder / "a"));
  const auto check_rejected = [&](const std::string& before, const std::string& after, const std::string& why) {
    std::string changed = text;
    changed.replace(changed.find(before), before.size(), after);
    CAPTURE(after);
    CHECK_THROWS_AS(parse_manifest(changed, "m"), InputError);
    CHECK_THROWS_WITH(parse_manifest(changed, "m"),
                      Catch::StartsWith("m: no manifest of this program (") && Catch::Contains(why));
  };
  check_rejected("\"shard\": null", "\"shard\": {\"index\": 0, \"count\": 2}", "its shard is not a shard of its sweep");
  check_rejected("\"shard\": null", "\"shard\": {\"index\": 3, \"count\": 2}", "its shard is not a shard of its sweep");
  check_rejected("\"shard\": null", "\"shard\": {\"index\": 1, \"count\": 3}", "its shard is not a shard of its sweep");
  check_rejected("\"foredraft.sweep_result/1\"", "5", "schema 5, this program reads");
  check_rejected("\"path\": \"points.csv\"", "\"path\": \"other.csv\"", "complete without points.csv");
  check_rejected("\"path\": \"summary.md\"", "\"path\": \"../summary.md\"", "an output is not a file of its folder");
  check_rejected("\"path\": \"summary.md\"", "\"path\": \"/dev/zero\"", "an output is not a file of its folder");
  check_rejected("\"seed\": null", "\"seed\": 7", "its seed is inconsistent with the rest");
  check_rejected("\"points\": 2", "\"points\": 3", "its points is inconsistent with the rest");
  check_rejected("\"version\": \"", "\"version\": \"9", "its version is inconsistent with the rest");
  check_rejected("\"state\": \"complete\"", "\"state\": \"done\"", "its state is not running or complete");
  check_rejected("\"shard\": null", "\"shard\": {\"index\": 1, \"count\": -1}",
                 "invalid count=-1, must be a whole number from 0 to 18446744073709551615");
  check_rejected("\"shard\": null", "\"shard\": {\"index\": 1.5, \"count\": 2}", "invalid index=1.5");
  check_rejected("\"bytes\": ", "\"bytes\": -", "invalid bytes=-");
}

TEST_CASE("a point that cannot be prepared fails the run by name, and a missing corpus is bad input") {
  const tests::TemporaryFolder folder;
  const std::string plan = "[simulation]\niterations = 100\nseed = 1\n";
  const SweepConfig unreachable = tests::config_of(
      "[axes]\n\"models.alpha\" = [0.8, 0.01]\n[fixed]\nfidelity = \"token\"\ngamma = 2\n"
      "models = { vocabulary = 50, draft = \"temperature\", pool = 4 }\n" +
      plan);
  CHECK_THROWS_AS(run_sweep(unreachable, folder / "a", {.threads = 1}), RunError);
  CHECK_THROWS_WITH(run_sweep(unreachable, folder / "a", {.threads = 1}),
                    Catch::Contains(": axes.models.alpha: point 1 (models.alpha 0.01): invalid alpha=0.01"));
  const SweepConfig without_text = tests::config_of(
      "[fixed]\nfidelity = \"token\"\ngamma = 2\nmodels = { kind = \"ngram\", corpus = \"nowhere\" }\n" + plan);
  CHECK_THROWS_AS(run_sweep(without_text, folder / "b", {.threads = 1}), InputError);
  CHECK_THROWS_WITH(run_sweep(without_text, folder / "b", {.threads = 1}),
                    Catch::StartsWith("models.corpus: nowhere: invalid corpus=nowhere"));
  CHECK_FALSE(fs::exists(folder / "b"));
}

TEST_CASE("a folder with other files is rejected, an empty or unfinished one is accepted") {
  const tests::TemporaryFolder folder;
  const SweepConfig config = tests::config_of("[fixed]\nalpha = 0.5\ngamma = 2\n");
  fs::create_directory(folder / "foreign");
  tests::write_text(folder / "foreign/notes.txt", "mine");
  CHECK_THROWS_WITH(run_sweep(config, folder / "foreign", {.threads = 1}),
                    Catch::Contains("holds notes.txt and no manifest.json"));
  fs::create_directory(folder / "points_only");
  tests::write_text(folder / "points_only/points.csv", "mine");
  CHECK_THROWS_AS(run_sweep(config, folder / "points_only", {.threads = 1}), InputError);
  CHECK(tests::content_of(folder / "points_only/points.csv") == "mine");
  fs::create_directory(folder / "empty");
  CHECK_NOTHROW(run_sweep(config, folder / "empty", {.threads = 1}));
  fs::create_directory(folder / "half_born");
  tests::write_text(folder / "half_born/.foredraft-tmp-0123456789abcdef", "{");
  tests::write_text(folder / "half_born/.foredraft-lock", "");
  CHECK_NOTHROW(run_sweep(config, folder / "half_born", {.threads = 1}));
  CHECK_FALSE(fs::exists(folder / "half_born/.foredraft-tmp-0123456789abcdef"));
  tests::write_text(folder / "file", "mine");
  CHECK_THROWS_WITH(run_sweep(config, folder / "file", {.threads = 1}), Catch::Contains("is a file"));
}

TEST_CASE("two runs do not write one folder at the same time") {
  const tests::TemporaryFolder folder;
  const SweepConfig config = tests::config_of("[fixed]\nalpha = 0.5\ngamma = 2\n");
  run(config, folder / "a", 1);
  cut(folder / "a", folder / "b", 10);
  const WriteLock held = WriteLock::of_folder(folder / "b");
  CHECK_THROWS_WITH(run_sweep(config, folder / "b", {.threads = 1}), Catch::Contains("another run is writing it"));
}

TEST_CASE("the manifest states what was run and the digests of what it wrote") {
  const tests::TemporaryFolder folder;
  const SweepConfig config = tests::config_of(
      "[axes]\ngamma = [1, 2]\nalpha = [0.3, 0.9]\nc = [0.1]\n[simulation]\niterations = 1000\nseed = 3\n"
      "[[figure]]\nid = \"f\"\nx = \"gamma\"\ny = \"speedup\"\nseries = \"alpha\"\n");
  run(config, folder / "a", 2);
  const auto json = nlohmann::json::parse(tests::content_of(manifest_path(folder / "a")));
  CHECK(json["schema"] == "foredraft.sweep_result/1");
  CHECK(json["state"] == "complete");
  CHECK(json["config_hash"] == config_hash(config));
  CHECK(json["seed"] == 3);
  CHECK(json["points"] == 4);
  CHECK(json["shard"].is_null());
  for (const char* key : {"version", "commit", "changes", "compiler", "flags", "host"})
    CHECK(json["program"].contains(key));
  std::set<std::string> names;
  for (const auto& file : json["outputs"]) {
    names.insert(file["path"].get<std::string>());
    CHECK(file["sha256"] == digest_file(folder / ("a/" + file["path"].get<std::string>())).sha256);
  }
  CHECK(names == std::set<std::string>{"points.csv", "summary.md", "summary.tex", "f.csv", "f.figure.json"});
  const auto figure = nlohmann::json::parse(tests::content_of(folder / "a/f.figure.json"));
  CHECK(figure["schema"] == "foredraft.figure/1");
  CHECK(figure["panel"].is_null());
  CHECK(figure["series"] == "alpha");
  const std::string data = tests::content_of(folder / "a/f.csv");
  CHECK(data.starts_with("alpha,gamma,analytic_speedup,simulated_speedup,simulated_speedup_standard_error\n0.3,1,"));
  CHECK(std::count(data.begin(), data.end(), '\n') == 5);
}

TEST_CASE("the data of a figure of two quantities hold both and the axis between them") {
  const tests::TemporaryFolder folder;
  const SweepConfig config = tests::config_of(
      "[axes]\nalpha = [0.3, 0.6]\ngamma = [1, 2]\n[fixed]\nc = 0.1\n[[figure]]\nid = \"f\"\n"
      "x = \"tokens_per_iteration\"\ny = \"speedup\"\nseries = \"alpha\"\nalong = \"gamma\"\n");
  run(config, folder / "a", 1);
  const std::string data = tests::content_of(folder / "a/f.csv");
  CHECK(
      data.starts_with("alpha,gamma,analytic_tokens_per_iteration,simulated_tokens_per_iteration,"
                       "simulated_tokens_per_iteration_standard_error,analytic_speedup,simulated_speedup,"
                       "simulated_speedup_standard_error\n0.3,1,1.3,,,1.18"));
  const auto figure = nlohmann::json::parse(tests::content_of(folder / "a/f.figure.json"));
  CHECK(figure["along"] == "gamma");
  CHECK(figure["labels"]["tokens_per_iteration"] == "tokens per iteration");
  CHECK(figure["units"]["tokens_per_iteration"] == "tokens");
  CHECK(figure["labels"].contains("gamma"));
}

TEST_CASE("closed form alone leaves the simulated columns out") {
  const SweepConfig config = tests::config_of("[fixed]\nalpha = 0.5\ngamma = 2\nc = 0.1\n");
  CHECK(sweep_of(config).header ==
        "index,fidelity,gamma,convention,drafter,c,process,alpha,analytic_tokens_per_iteration,"
        "analytic_tokens_variance,analytic_speedup,analytic_memory_access_factor,analytic_per_token,"
        "analytic_accepted_over_drafted,analytic_best_gamma,analytic_best_speedup\n");
}

TEST_CASE("each process is answered by its own closed form, and a trace by none") {
  const auto answer = [](AcceptanceProcess acceptance) {
    return analytic::answer(
        {.fidelity = ProcessFidelity{.acceptance = std::move(acceptance)}, .gamma = 2, .cost = ConstantRatio{0.5}});
  };
  CHECK(answer(Iid{0.5}).tokens_per_iteration == 1.75);  // 1 + 1/2 + 1/4
  CHECK(answer(Iid{0.5}).speedup == 1.75 / 2.0);         // two drafts at 0.5
  CHECK(answer(Iid{0.5}).accepted_over_drafted == 0.375);
  CHECK(answer(Positional{{0.5, 0.25}}).tokens_per_iteration == 1.625);  // 1 + 1/2 + 1/8
  // E[alpha^k] = 1/(k+1)
  CHECK(answer(BetaMixture{1.0, 1.0}).tokens_per_iteration == Approx(1.0 + 1.0 / 2 + 1.0 / 3).epsilon(tests::few_ulp));
  // [1 + b/(1-a)] / [1 + b a^2 / (1 - a^3)] = 1.5 / (1 + 0.0625 / 0.875)
  CHECK(answer(Markov{0.5, 0.25}).tokens_per_iteration == Approx(1.4).epsilon(tests::few_ulp));
  CHECK(std::isnan(answer(Trace{}).tokens_per_iteration));
  const Scenario real_tokens{.fidelity = TokenFidelity{}, .gamma = 2};
  CHECK(std::isnan(analytic::answer(real_tokens).tokens_per_iteration));
  CHECK(analytic::answer(real_tokens, 0.5).tokens_per_iteration == 1.75);
}

TEST_CASE("finite sequences are answered by the renewal sum, and dependent iterations not at all") {
  const auto answer = [](AcceptanceProcess acceptance) {
    return analytic::answer({.fidelity = ProcessFidelity{.acceptance = std::move(acceptance),
                                                         .sequence_length = SequenceLength{.tokens = 2.0}},
                             .gamma = 1});
  };
  // X is 1 or 2 with 1/2 each: E[N(1)] = 1, E[N(2)] = 1 + 1/2 = 3/2.
  CHECK(answer(Iid{0.5}).tokens_per_iteration == Approx(2.0 / 1.5).epsilon(tests::few_ulp));
  CHECK(std::isnan(answer(Iid{0.5}).tokens_variance));
  CHECK(std::isnan(answer(Markov{0.5, 0.25}).tokens_per_iteration));
}

TEST_CASE("the agreement bound is Sidak's: 4.03 for 180 deviations, 2.58 for one, wider for few units") {
  Agreement agreement;
  for (int i = 0; i < 180; ++i) agreement.add(i == 90 ? -3.5 : 0.1, 1'000'000);
  CHECK(agreement.largest == 3.5);
  // Two-sided normal quantiles of (1 - 0.99^(1/180)) and of 0.01, from tables.
  CHECK(agreement_bound(agreement) == Approx(4.03).margin(0.005));
  Agreement one;
  one.add(1.0, 1'000'000);
  CHECK(agreement_bound(one) == Approx(2.576).margin(0.0005));
  Agreement few;
  few.add(1.0, 31);
  CHECK(agreement_bound(few) == Approx(2.750).margin(0.0005));  // Student's t, 30 degrees of freedom
  Agreement fewer;
  fewer.add(1.0, 5);
  CHECK_THAT(to_text(fewer), Catch::Contains("not judged"));
}

// 1e6 iterations: 5 standard errors are about 0.4 % of tokens per iteration, so a dropped bonus token, alpha squared or
// one draft too few at any of these points is detected.
TEST_CASE("closed form and simulation agree over a sweep of every process") {
  const std::string plan = "[simulation]\niterations = 1000000\nseed = 5\n";
  for (const std::string& sweep :
       {"[axes]\nalpha = [0.3, 0.9]\nconvention = [\"bonus\", \"no_bonus\"]\n[fixed]\ngamma = 4\n" + plan,
        "[axes]\ngamma = [1, 3]\n[fixed]\nprocess = \"positional\"\n\"process.marginal\" = [0.8, 0.5, 0.1]\n" + plan,
        "[axes]\ngamma = [1, 6]\n[fixed]\nprocess = \"beta_mixture\"\n\"process.a\" = 3\n\"process.b\" = 1.5\n" + plan,
        "[axes]\ngamma = [1, 6]\n[fixed]\nprocess = \"markov\"\n\"process.a\" = 0.9\n\"process.b\" = 0.3\n" + plan,
        std::string("[axes]\nend_of_sequence = [\"fixed\", \"geometric\"]\n[fixed]\nalpha = 0.8\ngamma = 5\n"
                    "sequence_length = 27\n[simulation]\nsequences = 20000\nseed = 5\n")}) {
    CAPTURE(sweep);
    CHECK(tests::compare_points(tests::config_of(sweep)) >= 2);
  }
}

}  // namespace foredraft::experiments
