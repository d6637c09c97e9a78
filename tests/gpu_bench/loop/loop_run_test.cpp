// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/loop/loop_run.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"
#include "gpu_bench/run/profile_folder.hpp"
#include "gpu_bench/verify/reference.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr std::int64_t test_vocabulary = 11;

LoopCell cell_of(std::int64_t gamma, double alpha, std::int64_t batch = 1) {
  return {.target = "target",
          .drafter = "drafter",
          .dtype = "fp32",
          .gamma = gamma,
          .alpha = alpha,
          .batch = batch,
          .context = 64};
}

/// A device with random logits, forced as described in loop_run.hpp, and verified by the reference of the rule. Its
/// clock advances by the stated times of steps.
struct MadeUpDevice {
  double plain_us = 1000.0;
  double iteration_us = 2000.0;
  double draft_us = 0.0;            ///< of an iteration, for each draft besides
  double setup_s = 0.0;             ///< of a cell, at each visit
  std::vector<double> slower = {};  ///< factor on the iterations of a cell's n-th visit; 1 after
  std::int64_t too_large = -1;      ///< batch that does not fit into memory
  std::int64_t interrupt_after = std::numeric_limits<std::int64_t>::max();  ///< iterations
  std::function<void(std::vector<std::int32_t>& tokens, std::vector<std::int32_t>& counts)> lie = {};

  double now_s = 0.0;
  std::int64_t iterations = 0;
  std::vector<LoopCell> visited = {};
  std::vector<std::vector<LoopRow>> kept = {};
  std::vector<std::string> said = {};
  std::vector<std::int32_t> drafts = {}, tokens = {}, counts = {};

  LoopResult run(const std::vector<LoopCell>& cells, double budget_s) {
    const LoopDevice device{.side_of = [this](const LoopCell& cell) { return side_of(cell); },
                            .now_s = [this] { return now_s; }};
    return run_loop(
        cells, budget_s, device, [this](const std::vector<LoopRow>& rows) { kept.push_back(rows); },
        [this](const std::string& line) { said.push_back(line); });
  }

  LoopSide side_of(const LoopCell& cell) {
    if (cell.batch == too_large) throw MemoryError("too little memory");
    const auto run = static_cast<std::size_t>(std::count(visited.begin(), visited.end(), cell));
    visited.push_back(cell);
    now_s += setup_s;
    return {.decode_step = [this] { return spent(plain_us); },
            .iterate =
                [this, cell,
                 us = (iteration_us + draft_us * static_cast<double>(cell.gamma)) *
                      (run < slower.size() ? slower[run] : 1.0)](std::span<const std::int32_t> wanted) {
                  if (++iterations > interrupt_after) throw Interrupted();
                  verify(cell, wanted);
                  if (lie) lie(tokens, counts);
                  return IterationTaken{.us = spent(us), .drafts = drafts, .tokens = tokens, .emitted_counts = counts};
                }};
  }

  double spent(double us) {
    now_s += 1e-6 * us;
    return us;
  }

  void verify(const LoopCell& cell, std::span<const std::int32_t> wanted) {
    constexpr double no_logit = -std::numeric_limits<double>::infinity();
    const auto vocabulary = static_cast<std::size_t>(test_vocabulary);
    drafts.clear();
    tokens.assign(static_cast<std::size_t>(cell.batch * (cell.gamma + 1)), -1);
    counts.clear();
    RandomStream words(17, {Purpose::test, 0, static_cast<std::uint64_t>(iterations)});
    for (std::int64_t b = 0; b < cell.batch; ++b) {
      const auto random_rows = [&](std::int64_t rows) {
        std::vector<double> logits(static_cast<std::size_t>(rows) * vocabulary);
        for (double& logit : logits) logit = 6.0 * words.uniform();
        return logits;
      };
      const std::vector<double> draft_logits = random_rows(cell.gamma);
      std::vector<double> target_logits = random_rows(cell.gamma + 1);
      std::vector<std::int32_t> own_drafts;
      for (std::int64_t i = 0; i < cell.gamma; ++i) {
        own_drafts.push_back(static_cast<std::int32_t>(words.uniform() * static_cast<double>(test_vocabulary)));
        const ForcedRow forced = forced_row(i, wanted[static_cast<std::size_t>(b)], cell.gamma);
        const std::int64_t first = i * test_vocabulary;
        if (forced != ForcedRow::own) {
          std::copy_n(draft_logits.begin() + first, vocabulary, target_logits.begin() + first);
        }
        if (forced == ForcedRow::copy_without_draft) {
          target_logits[static_cast<std::size_t>(first + own_drafts.back())] = no_logit;
        }
      }
      const ReferenceTokens emitted =
          reference_rejection_sampling({.target_logits = target_logits,
                                        .draft_logits = draft_logits,
                                        .drafts = own_drafts,
                                        .vocabulary = test_vocabulary,
                                        .draws = draw_stream(5, 0, static_cast<std::uint32_t>(iterations)),
                                        .request = static_cast<unsigned>(b)});
      std::copy(emitted.tokens.begin(), emitted.tokens.end(), tokens.begin() + b * (cell.gamma + 1));
      counts.push_back(static_cast<std::int32_t>(emitted.tokens.size()));
      drafts.insert(drafts.end(), own_drafts.begin(), own_drafts.end());
    }
  }
};

}  // namespace

TEST_CASE("the real rule accepts exactly the drafts that forced logits are made for") {
  // The loop rejects any other count and any token other than the drafts; hundreds of iterations pass its check.
  MadeUpDevice device;
  const std::vector<LoopCell> cells{cell_of(1, 0.5), cell_of(5, 0.8, 3), cell_of(7, 0.0), cell_of(4, 1.0, 2)};
  const LoopResult result = device.run(cells, 4.0);
  CHECK(result.end == MeasureEnd::done);
  CHECK(result.missing.empty());
  REQUIRE(result.rows.size() == 4);
  CHECK(device.iterations > 100);
  CHECK(result.rows[2].tokens_per_iteration == 1.0);
  CHECK(result.rows[3].tokens_per_iteration == 5.0);
  // 160 points of the sequence, at most five percent of one off at each of five bounds.
  CHECK(result.rows[1].tokens_per_iteration == Approx((1.0 - std::pow(0.8, 6)) / 0.2).margin(0.1));
}

TEST_CASE("a verifier that does not emit its forced tokens ends the run") {
  const auto run_with = [](auto lie) {
    MadeUpDevice device;
    device.lie = lie;
    static_cast<void>(device.run({cell_of(3, 0.5)}, 1.0));
  };
  using Tokens = std::vector<std::int32_t>;
  CHECK_THROWS_WITH(run_with([](Tokens&, Tokens& counts) { ++counts[0]; }), Catch::Contains("tokens, not"));
  CHECK_THROWS_WITH(run_with([](Tokens&, Tokens& counts) {
                      if (counts[0] > 1) --counts[0];
                    }),
                    Catch::Contains("tokens, not"));
  CHECK_THROWS_WITH(run_with([](Tokens& tokens, Tokens& counts) {
                      if (counts[0] > 1) ++tokens[0];
                    }),
                    Catch::Contains("tokens that differ from its drafts"));
  CHECK_THROWS_WITH(
      run_with([](Tokens& tokens, Tokens& counts) { tokens[static_cast<std::size_t>(counts[0] - 1)] = -1; }),
      Catch::Contains("no token after its drafts"));
  MadeUpDevice stubborn;
  stubborn.lie = [&](Tokens& tokens, Tokens& counts) {
    tokens[static_cast<std::size_t>(counts[0] - 1)] = stubborn.drafts[0];
  };
  CHECK_THROWS_WITH(stubborn.run({cell_of(1, 0.0)}, 1.0), Catch::Contains("emitted the draft that it rejected"));
}

TEST_CASE("every cell is run five times, some time apart") {
  MadeUpDevice device;
  device.slower = {1.0, 1.25, 1.25, 1.125, 1.0};
  const std::vector<LoopCell> cells{cell_of(2, 1.0), cell_of(4, 1.0)};
  const LoopResult result = device.run(cells, 5.0);
  REQUIRE(device.visited.size() == 10);
  for (std::size_t visit = 0; visit < 10; ++visit) CHECK(device.visited[visit] == cells[visit % 2]);
  CHECK(device.now_s <= 5.1);
  REQUIRE(result.rows.size() == 2);
  for (const LoopRow& row : result.rows) {
    // Of ten pairs two are equal, four differ by an eighth of an iteration (9 / 8 or 10 / 9), four by a quarter.
    REQUIRE(row.between_runs);
    CHECK(*row.between_runs == Approx(0.125));
    CHECK(row.plain.median_us == 1000.0);
    CHECK(row.iteration.median_us == 2250.0);
    CHECK(row.iteration.median_ci95_us.low == 2000.0);
    CHECK(row.iteration.median_ci95_us.high == 2500.0);
    CHECK(speedup(row) == Approx(row.tokens_per_iteration * 1000.0 / row.iteration.median_us));
    CHECK(tokens_per_s(row) == Approx(speedup(row) * plain_tokens_per_s(row)));
    const Interval interval = speedup_ci95(row);
    CHECK(interval.high - speedup(row) == Approx(speedup(row) * 250.0 / row.iteration.median_us));
    CHECK(speedup(row) - interval.low == Approx(interval.high - speedup(row)));
  }
  CHECK(device.kept.size() == 10);
  CHECK(device.kept.front().size() == 1);
  CHECK(!device.kept[1][0].between_runs);
  CHECK(*device.kept[2][0].between_runs == Approx(0.25));
  CHECK_THAT(device.said.front(), Catch::Contains("run 1 of 5, cell 1 of 2") && Catch::Contains("5 s left"));
}

TEST_CASE("cells with longer iterations get more of the time, and as many samples as others") {
  MadeUpDevice device;
  device.draft_us = 1000.0;
  const LoopResult result = device.run({cell_of(1, 0.5), cell_of(9, 0.5)}, 1.0);
  REQUIRE(result.rows.size() == 2);
  // In the first run, a fifth of the time, 19 iterations of 3 ms and 7 of 11 ms, then 9 and 11 a run.
  const auto few = static_cast<double>(result.rows[1].iteration.samples);
  const auto many = static_cast<double>(result.rows[0].iteration.samples);
  CHECK(many > 40.0);
  CHECK(few / many == Approx(1.0).margin(0.15));
  // Two a round; the last round is incomplete, and steps of equal time end after twenty.
  CHECK(static_cast<double>(result.rows[0].plain.samples) > 1.5 * many);
  CHECK(device.now_s <= 1.1);
}

TEST_CASE("two disturbed runs of five do not change the time of an iteration") {
  MadeUpDevice device;
  device.slower = {1.0, 3.0, 1.0, 2.0, 1.0};
  const LoopResult result = device.run({cell_of(2, 0.5)}, 5.0);
  REQUIRE(result.rows.size() == 1);
  CHECK(result.rows[0].iteration.median_us == 2000.0);
}

TEST_CASE("tokens per second are those of all sequences") {
  MadeUpDevice device;
  const LoopResult result = device.run({cell_of(2, 1.0, 4)}, 0.5);
  REQUIRE(result.rows.size() == 1);
  CHECK(plain_tokens_per_s(result.rows[0]) == Approx(4.0 / 1e-3));
  CHECK(tokens_per_s(result.rows[0]) == Approx(4.0 * 3.0 / 2e-3));
  CHECK(speedup(result.rows[0]) == Approx(1.5));
}

TEST_CASE("an interrupted loop keeps its rows and names what is missing") {
  const std::vector<LoopCell> cells{cell_of(2, 0.5), cell_of(3, 0.5), cell_of(4, 0.5)};
  MadeUpDevice device;
  static_cast<void>(device.run({cells[0]}, 100.0));
  const std::int64_t of_one_cell = device.iterations / 5;  // runs
  MadeUpDevice stopped;
  stopped.interrupt_after = of_one_cell + 1;
  const LoopResult result = stopped.run(cells, 100.0);
  CHECK(result.end == MeasureEnd::interrupted);
  REQUIRE(result.rows.size() == 1);
  CHECK(result.rows[0].cell == cells[0]);
  REQUIRE(result.missing.size() == 2);
  CHECK(result.missing[0].what == to_text(cells[1]));
  CHECK(result.missing[0].why == "the run was interrupted");
  REQUIRE(stopped.kept.size() == 1);
}

TEST_CASE("the time limit holds: no visit begins that would not fit, and the time left is correct") {
  // A visit takes half a second of setting up and 15 ms: a warm-up of 3 ms and four samples of a step and an iteration.
  const double visit_s = 0.515;
  std::vector<LoopCell> cells;
  for (const std::int64_t gamma : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) cells.push_back(cell_of(gamma, 0.5));
  MadeUpDevice device;
  device.setup_s = 0.5;
  const LoopResult result = device.run(cells, 8.0);
  CHECK(device.visited.size() == 15);
  CHECK(device.now_s <= 8.0);
  CHECK(device.now_s > 8.0 - visit_s);
  CHECK(result.rows.size() == 10);
  CHECK(result.missing.empty());
  CHECK(result.rows.front().between_runs);
  CHECK_FALSE(result.rows.back().between_runs);
  for (const std::string& line : device.said) {
    CAPTURE(line);
    CHECK_THAT(line, !Catch::Contains("; 0 s left"));
  }
  MadeUpDevice hurried;
  hurried.setup_s = 0.5;
  const LoopResult few = hurried.run(cells, 1.0);
  CHECK(few.end == MeasureEnd::done);
  CHECK(hurried.visited.size() == 2);
  CHECK(hurried.now_s <= 1.0 + visit_s);
  REQUIRE(few.missing.size() == 8);
  CHECK(few.missing.front().what == to_text(cells[2]));
  CHECK_THAT(few.missing.front().why, Catch::Contains("time limit") && Catch::Contains("--minutes"));
  MadeUpDevice late;
  late.setup_s = 0.5;
  CHECK(late.run(cells, 1e-3).rows.size() == 1);
}

TEST_CASE("a cell that does not fit into memory is named, the others are run") {
  MadeUpDevice device;
  device.too_large = 9;
  const LoopResult result = device.run({cell_of(2, 0.5, 9), cell_of(2, 0.5, 1)}, 0.5);
  REQUIRE(result.rows.size() == 1);
  CHECK(result.rows[0].cell.batch == 1);
  REQUIRE(result.missing.size() == 1);
  CHECK(result.missing[0].why == "too little memory");
}

TEST_CASE("an invalid cell is rejected before anything runs") {
  MadeUpDevice device;
  LoopCell no_drafting = cell_of(2, 0.5);
  no_drafting.drafting = latency::Role::encoder_pass;
  for (const LoopCell& cell : {cell_of(0, 0.5), cell_of(2, 1.5), cell_of(2, 0.5, 0), no_drafting}) {
    CHECK_THROWS_AS(device.run({cell_of(1, 0.5), cell}, 1.0), DomainError);
  }
  CHECK(device.visited.empty());
}

}  // namespace foredraft::gpu_bench
