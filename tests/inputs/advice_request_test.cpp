// SPDX-License-Identifier: Apache-2.0
// Requests for advice without a command line.
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/advice.hpp"
#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "inputs/advice_request.hpp"
#include "inputs/deployment.hpp"
#include "inputs/observed_acceptance.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"
#include "tests/support/temporary_folder.hpp"

namespace foredraft::inputs {
namespace {

std::vector<std::string> keys_of_problems(const AdviceRequest& request) {
  ProblemList problems("test");
  check(request, problems);
  std::vector<std::string> keys;
  for (const Problem& problem : problems.problems()) keys.push_back(problem.key);
  return keys;
}

std::vector<logs::ObservedLog> read_files(const std::vector<std::string>& paths, std::string_view format,
                                          OtherFiles others) {
  return read_logs(paths, format, others);
}

using Keys = std::vector<std::string>;

}  // namespace

TEST_CASE("a request for advice is checked as a whole, its deployment too") {
  CHECK(keys_of_problems({.logs = {"a.log"}}) == Keys{});
  CHECK(keys_of_problems({.engine = "vlm", .context = 0, .deployment = {.expert_skew = 0.0, .ignore_memory = true}}) ==
        Keys{"--context", "--expert-skew, --ignore-memory", "--for"});
  CHECK(keys_of_problems({.device = "h100", .profile = "h200", .target = "llama-3.1-8b"}) ==
        Keys{"--device", "--draft"});
  CHECK(keys_of_problems({.engine = "vllm", .device = "h100", .target = "t", .draft = "d"}) == Keys{});
}

TEST_CASE("the price of a GPU hour goes with the question, and the number of GPUs requires a price") {
  CHECK(keys_of_problems({.gpus = 4}) == Keys{"--gpus"});
  CHECK(keys_of_problems({.gpu_hour_price = 2.5, .gpus = 4}).empty());
  const tests::TemporaryFolder folder;
  tests::write_text(folder / "a.csv", "gamma,steps,accepted_at_1,iteration_ms\n1,5000,3000,12.5\n");
  const auto price_of = [&](std::optional<double> price, std::optional<std::int64_t> gpus) {
    return read_advice({.logs = {folder / "a.csv"}, .gpu_hour_price = price, .gpus = gpus}, read_files)
        .question.gpu_price;
  };
  CHECK_FALSE(price_of({}, {}));
  CHECK(price_of(2.5, {})->gpus == 1);
  CHECK(price_of(2.5, 8)->gpus == 8);
  CHECK(price_of(2.5, 8)->per_hour == 2.5);
}

TEST_CASE("each field of a request is stated by itself") {
  const AdviceRequest request{.target = "t", .batch = 1};
  std::string stated;
  for (const auto& field : advice_fields()) {
    if (is_stated(request, field)) stated += std::string(field.name) + " ";
  }
  CHECK(stated == "batch target ");
  const AskedDeployment deployment{.kv_format = latency::NumberFormat::fp8, .allow_vocabulary_mismatch = true};
  stated.clear();
  for (const auto& field : deployment_fields()) {
    if (is_stated(deployment, field)) stated += std::string(field.name) + " ";
  }
  CHECK(stated == "kv-format allow-vocabulary-mismatch ");
}

TEST_CASE("a device predicts the times of a request at the loads of its logs, else at the stated batch") {
  const tests::TemporaryFolder folder;
  const std::string head = "gamma,steps,accepted_at_1,accepted_at_2,iteration_ms";
  tests::write_text(folder / "known.csv", head + ",requests\n2,5000,3000,1500,12.5,4\n2,5000,3000,1500,20,16\n");
  tests::write_text(folder / "unknown.csv", head + "\n2,5000,3000,1500,12.5\n");
  const auto batches = [&](const std::string& file, std::optional<std::int64_t> batch) {
    const ReadAdvice read = read_advice(
        {.logs = {folder / file}, .device = "h100", .target = "llama-3.1-8b", .draft = "llama-3.2-1b", .batch = batch},
        read_files);
    CHECK(read.files.size() == 2);
    REQUIRE(read.question.predicted);
    std::vector<double> found;
    for (const answers::PredictedTime& at : read.question.predicted->times) {
      if (at.gamma == 1) found.push_back(at.batch);
      CHECK(at.iteration > at.plain);
    }
    return found;
  };
  CHECK(batches("known.csv", 8) == std::vector<double>{4.0, 16.0});
  CHECK(batches("unknown.csv", 8) == std::vector<double>{8.0});
  CHECK_THROWS_AS(batches("unknown.csv", std::nullopt), InputError);
}

TEST_CASE("a note beside the logs of a request is left out with a warning") {
  const tests::TemporaryFolder folder;
  tests::write_text(folder / "a.csv", "gamma,steps,accepted_at_1,accepted_at_2\n2,5000,3000,1500\n");
  tests::write_text(folder / "notes.txt", "Measured on Monday, one card.\n");
  const std::vector<std::string> both{folder / "notes.txt", folder / "a.csv"};
  const ReadAdvice read = read_advice({.logs = both}, read_files);
  REQUIRE(read.question.logs.size() == 1);
  CHECK(read.files.size() == 1);
  const auto& warnings = read.question.logs[0].contents.warnings;
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].code == "W18");
  CHECK_THAT(warnings[0].message, Catch::StartsWith("left out: ") && Catch::Contains("notes.txt: no line of a known"));
  // Alone, in a comparison, or as a file that is meant to be a log, it is an error.
  CHECK_THROWS_AS(read_logs(both, ""), InputError);
  CHECK_THROWS_AS(read_logs(both, "csv", OtherFiles::left_out), InputError);
  CHECK_THROWS_AS(read_advice({.logs = {folder / "notes.txt"}}, read_files), InputError);
  tests::write_text(folder / "cut.json", "{\"predicted_n\": 12, ");
  CHECK_THROWS_AS(read_advice({.logs = {folder / "a.csv", folder / "cut.json"}}, read_files), InputError);
}

TEST_CASE("runs of files that state no draft length have those of their names, if these tell them apart") {
  const tests::TemporaryFolder folder;
  const std::string counts = "prompt,tok/s,output tokens,drafted,accepted\na,50,512,501,261\n";
  tests::write_text(folder / "mtp9.csv", counts);
  const auto log_of = [&](const std::string& file, const std::string& text, const std::string& other = "mtp9.csv") {
    tests::write_text(folder / file, text);
    const ReadAdvice read = read_advice({.logs = {folder / file, folder / other}}, read_files);
    return read.question.logs.at(0).contents;
  };
  const auto run_in = [&](const std::string& file, const std::string& text) {
    return log_of(file, text).observations.at(0);
  };
  CHECK(run_in("nmax2.csv", counts + "c,50,512,501,262\n").gamma == 2);
  CHECK(run_in("nmax2.csv", counts + "b,50,500,400,300\n").gamma == 2);  // the counts of one row say so themselves
  CHECK(run_in("q4_mtp-3.csv", counts + "d").gamma == 3);
  CHECK(run_in("q4_mtp-3.csv", counts + "d").adaptive == true);  // 501 of at most 750
  CHECK_FALSE(run_in("k1.csv", counts + "d").gamma);             // more drafts than that
  CHECK_FALSE(run_in("k2_k4.csv", counts + "d").gamma);
  CHECK_FALSE(run_in("rank2.csv", counts + "d").gamma);
  CHECK(log_of("k2.csv", "gamma,steps,accepted_at_1,accepted_at_2\n2,5000,3000,1500\n").warnings.empty());
  CHECK(run_in("mtp3.csv", "config,tok/s,accept rate\nMTP,50,60%\n").acceptance_length == Approx(2.8));
  CHECK(run_in("k5.csv", "config,tok/s,accept rate\nMTP K=3,50,60%\n").gamma == 3);
  CHECK_FALSE(run_in("mtp2.csv", "config,tok/s,accept length\nMTP,50,3.4\n").gamma);
  // One length may be the number of a run.
  tests::write_text(folder / "other.csv", counts + "e");
  CHECK_FALSE(log_of("mtp3.csv", counts + "d", "other.csv").observations.at(0).gamma);
}

TEST_CASE("values that do not fit a profile of measured times or a target are rejected with the option's name") {
  const tests::TemporaryFolder folder;
  tests::write_text(folder / "a.csv", "gamma,steps,accepted_at_1,accepted_at_2,requests\n2,5000,3000,1500,8\n");
  AdviceRequest request{.logs = {folder / "a.csv"},
                        .profile = "h100-vllm-llama-3.1-8b",
                        .target = "llama-3.1-8b",
                        .draft = "eagle3-llama-3.1-8b",
                        .deployment = {.target_tp = 2}};
  CHECK_THROWS_WITH(read_advice(request, read_files), Catch::StartsWith("foredraft advise: --target-tp: not used"));
  request.deployment = {};
  CHECK(read_advice(request, read_files).question.predicted);
  request = {.logs = request.logs, .device = "h100", .target = "llama-3.1-8b", .draft = "qwen3-0.6b"};
  CHECK_THROWS_WITH(read_advice(request, read_files), Catch::StartsWith("foredraft advise: --draft: "));
  request.deployment.allow_vocabulary_mismatch = true;
  CHECK(read_advice(request, read_files).question.predicted);
}

}  // namespace foredraft::inputs
