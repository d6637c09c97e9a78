// SPDX-License-Identifier: Apache-2.0
#include "app/load_folder.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/predict/predict.hpp"
#include "core/command_line.hpp"
#include "core/table.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/temporary_folder.hpp"

/// The files that `predict --out` writes for a load.
namespace foredraft::app {
namespace {

using answers::AtLoad;
using answers::LoadPrediction;

/// Without speculation 20 ms per iteration at 2 clients, with one draft 16 ms per token; 8 clients overload it.
LoadPrediction two_lengths(std::int64_t clients) {
  LoadPrediction prediction{.question = {}, .engine = latency::no_engine(), .decoding = {}, .evidence = {}};
  prediction.decoding.device = "made up";
  prediction.decoding.cells.resize(1);
  prediction.evidence.interval_level = 0.9;
  answers::LoadQuestion& question = prediction.question;
  question.arrivals = {.kind = ArrivalKind::closed, .clients = clients};
  question.prompt.tokens = 1000.0;
  question.output.tokens = 100.0;
  const auto at = [&](std::int64_t gamma, double tokens, double iteration_us) {
    AtLoad length{.gamma = gamma, .tokens = tokens, .max_batch = 8};
    length.equilibrium.overloaded = clients == 8;
    length.equilibrium.iteration_us = iteration_us;
    length.equilibrium.requests_per_s = 1.5;
    length.equilibrium.shares = {.verification = 0.5, .drafting = 0.125, .prompts = 0.25, .engine = 0.125};
    return length;
  };
  prediction.lengths = {at(0, 1.0, 20'000.0), at(1, 1.5, 24'000.0)};
  prediction.lengths[1].speedup = answers::LoadSpeedup{.request = 1.25, .decode = 1.25};
  prediction.lengths[1].request_interval = {1.0, 1.5};
  prediction.best_latency = 1;
  return prediction;
}

std::vector<std::vector<std::string>> csv_rows(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  TextLines lines(text);
  while (lines.next()) {
    std::vector<std::string>& row = rows.emplace_back(1);
    for (const char letter : lines.line()) {
      if (letter == ',') {
        row.emplace_back();
      } else {
        row.back() += letter;
      }
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("a folder of a load has its answer, the parts of a token's time, and other loads in ascending order") {
  const tests::TemporaryFolder folder;
  const LoadPrediction asked = two_lengths(2);
  const std::vector<LoadPrediction> curve{two_lengths(8), two_lengths(1)};
  const std::vector<FileDigest> files{digest_text("sheet", "bytes")};
  {
    experiments::ResultFolder written(folder / "out", load_folder_kind(asked.question, files, false), {"foredraft"});
    write_load(written, asked, curve);
    written.complete();
  }
  CHECK(tests::content_of(folder / "out/load-time.csv") ==
        "load,unit,gamma,verification_ms,drafting_ms,prompts_ms,engine_ms,best\n"
        "2,concurrent requests,0,10,2.5,5,2.5,no\n"
        "2,concurrent requests,1,8,2,4,2,yes\n");
  const auto rows = csv_rows(tests::content_of(folder / "out/load-curves.csv"));
  REQUIRE(rows.size() == 1 + 3 * 2);
  const auto column = [&](std::size_t row, const std::string& name) {
    const auto at = std::ranges::find(rows.front(), name) - rows.front().begin();
    return rows.at(row).at(static_cast<std::size_t>(at));
  };
  for (std::size_t row = 1; row < rows.size(); ++row) {
    CAPTURE(row);
    CHECK(column(row, "load") == std::array{"1", "1", "2", "2", "8", "8"}.at(row - 1));
    CHECK(column(row, "asked") == (column(row, "load") == "2" ? "yes" : "no"));
    const bool answers = column(row, "load") != "8";
    CHECK(column(row, "output_tokens_per_s") == (answers ? "150" : ""));
    CHECK(column(row, "high") == (answers && column(row, "gamma") == "1" ? "1.5" : ""));
    CHECK(column(row, "interval_level") == "0.9");
  }
  CHECK(nlohmann::json::parse(tests::content_of(folder / "out/load.json")).at("concurrency") == 2);
  const auto manifest = nlohmann::json::parse(tests::content_of(folder / "out/manifest.json"));
  CHECK(manifest["schema"] == "foredraft.load_prediction/1");
  CHECK(manifest["load"]["load"] == 2.0);
  CHECK(manifest["valid"] == false);
  CHECK(manifest["outputs"].size() == 5);
  // Another load belongs to another folder.
  CHECK_THROWS_AS(
      experiments::ResultFolder(folder / "out", load_folder_kind(two_lengths(3).question, files, false), {"foredraft"}),
      InputError);
}

TEST_CASE("the command line of a load reports all missing and wrong values at once") {
  CommandLine line(predict_command().spec,
                   {"--target=llama-3.1-8b", "--alpha=1.5", "--prompt=0", "--engine=vlm", "--prefix-hit=2"});
  std::string problems;
  try {
    static_cast<void>(read_load(line));
  } catch (const InputError& error) {
    problems = error.what();
  }
  for (const char* problem : {"--alpha: ", "--draft: missing", "--device: missing", "--concurrency: missing",
                              "--prompt: ", "--output: missing", "--engine: ", "--prefix-hit: "}) {
    CHECK_THAT(problems, Catch::Contains(problem));
  }
}

}  // namespace foredraft::app
