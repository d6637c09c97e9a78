// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// Heads of two rows, of groups of columns, and of what a change brought.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;

}  // namespace

TEST_CASE("a column of ratios beside arms is no arm and refuses nothing") {
  for (const std::string ratio : {"MTP over plain", "MTP versus plain", "plain vs. MTP", "MTP relative to plain"}) {
    CAPTURE(ratio);
    const auto runs = posted_runs(
        "Decode, tok/s\n\n| prompt | plain | MTP | " + ratio +
            " | duration (s) |\n|---|---|---|---|---|\n| code | 20 | 31 | 1.55 | 9 |\n| chat | 20 | 27 | 1.35 | 8 |\n",
        "table");
    REQUIRE(runs.size() == 4);
    CHECK(std::ranges::count(runs, Decoding::plain, &logs::Observation::decoding) == 2);
  }
}

TEST_CASE("the upper row of a head may be its title") {
  const std::string rows =
      "BS 4 | plain | EAGLE 2 | EAGLE 3 | | E2 over plain\n"
      "k=1 | 10 | 8 | 7.5 | | 1.25\nk=2 | 10 | 7 | 6 | | 1.43\nbest k | | 2 | 2 | |\n";
  for (const std::string title : {" | TPOT (ms) | | | | \n-- | -- | -- | -- | -- | --\n",
                                  "| | TPOT (ms) | | | | |\n|---|---|---|---|---|---|\n"}) {
    CAPTURE(title);
    const auto contents = read_log("How fast?\n\n" + title + rows);
    auto runs = contents.observations;
    REQUIRE(runs.size() == 6);
    CHECK(std::ranges::all_of(runs, [](const auto& one) { return one.concurrency == 4.0; }));
    std::ranges::stable_sort(runs, {}, [](const auto& one) { return one.times.tpot_ms.value_or(0.0); });
    CHECK(runs.front().times.tpot_ms == 6.0);
    CHECK(runs.front().gamma == 2);
    CHECK(runs.front().drafter == "eagle3");
    CHECK(runs.back().decoding == Decoding::plain);
    CHECK((title.front() == '|' || warns(contents, "W18")));
  }
}

TEST_CASE("metrics of several data sets are those of each") {
  const std::string apart =
      "| method | Foo tok/s | Foo AL | Bar tok/s | Bar AL |\n|---|---|---|---|---|\n"
      "| vanilla | 20 | 1 | 25 | 1 |\n| EAGLE | 30 | 2.5 | 35 | 2.2 |\n";
  const std::string joined =
      "| method | Foo | | Bar | |\n|---|---|---|---|---|\n| | tok/s | AL | tok/s | AL |\n"
      "| vanilla | 20 | 1 | 25 | 1 |\n| EAGLE | 30 | 2.5 | 35 | 2.2 |\n";
  for (const std::string& text : {apart, joined}) {
    CAPTURE(text);
    const auto runs = posted_runs(text, "table");
    REQUIRE(runs.size() == 4);
    CHECK(runs[0].stratum.category == "Foo");
    CHECK(runs[3].stratum.category == "Bar");
    CHECK(runs[3].acceptance_length == 2.2);
    CHECK(runs[3].times.tpot_ms == near(1000.0 / 35.0));
  }
  // The mean of all is enough; in brackets, too.
  const auto mean = posted_runs(
      "| method | tok/s (Foo) | tok/s (Bar) | tok/s (Avg) |\n|---|---|---|---|\n| off | 20 | 25 | 22.5 |\n"
      "| MTP | 30 | 35 | 32.5 |\n",
      "table");
  REQUIRE(mean.size() == 2);
  CHECK(mean[1].times.tpot_ms == near(1000.0 / 32.5));
  // Statistics and versions are no data sets.
  const auto versions = posted_runs("| method | old tok/s | new tok/s |\n|---|---|---|\n| off | 20 | 25 |\n", "table");
  REQUIRE(versions.size() == 1);
  CHECK_FALSE(versions.front().stratum.category);
}

TEST_CASE("of times of parts of an answer the ones are read that speedups agree with") {
  const std::string ruling = "|---|---|---|---|\n";
  const auto whole = posted_runs("| setup | Decode (ms) | Total (ms) | Speedup |\n" + ruling +
                                     "| baseline | 900 | 1000 | 1.0x |\n| L8+VL SD | 600 | 700 | 1.43x |\n",
                                 "table");
  REQUIRE(whole.size() == 2);
  CHECK(whole[0].decoding == Decoding::plain);
  CHECK(whole[1].times.tpot_ms == 700.0);
  // Without them a time may be of anything.
  const auto alone = posted_runs("| setup | Decode (ms) | Total (ms) | acceptance |\n" + ruling +
                                     "| baseline | 900 | 1000 | - |\n| MTP | 600 | 700 | 0.6 |\n",
                                 "table");
  CHECK(std::ranges::none_of(alone, [](const auto& one) { return one.times.tpot_ms.has_value(); }));
  CHECK_FALSE(problem("| setup | Decode (ms) | Total (ms) | Speedup |\n" + ruling +
                      "| baseline | 900 | 1000 | 1.0x |\n| MTP | 600 | 700 | 1.9x |\n")
                  .empty());
}

TEST_CASE("before and after of what a drafter brings are both arms") {
  const std::string ruling = "|---|---|---|---|\n";
  for (const std::string& text :
       std::vector<std::string>{"| target | drafter | before | after |\n" + ruling +
                                    "| 9B | 0.3B | 4 tok/s | 6 tok/s |\n| 2B | 0.3B | 9 tok/s | no gain |\n",
                                "Enabling MTP on one box:\n\n| model | before (tok/s) | after (tok/s) | note |\n" +
                                    ruling + "| 9B | 4 | 6 | x |\n| 2B | 9 | | y |\n"}) {
    CAPTURE(text);
    const auto contents = read_log(text);
    CHECK(warns(contents, "W22"));
    CHECK(std::ranges::count(contents.observations, Decoding::plain, &logs::Observation::decoding) == 2);
    const auto drafts = std::ranges::find(contents.observations, Decoding::speculative, &logs::Observation::decoding);
    REQUIRE(drafts != contents.observations.end());
    CHECK(drafts->times.tpot_ms == near(1000.0 / 6.0));
  }
  // Of something else, or of what drafts already.
  for (const std::string other : {"Numbers:", "With the faster kernel for MTP:"}) {
    CAPTURE(other);
    CHECK_FALSE(
        problem(other + "\n\n| model | before (tok/s) | after (tok/s) |\n|---|---|---|\n| 9B | 4 | 6 |\n").empty());
  }
}

TEST_CASE("below arms, rows of acceptance are of the arm that drafts, and those of other metrics and gains of none") {
  const auto read = [](const std::string& head, const std::string& arms, const std::string& metrics) {
    return read_log("Output tok/s, batch 1\n\n" + head + "|---|---|---|\n" + arms + metrics);
  };
  const std::string kinds = "| | code | essays |\n", loads = "| | bs=1 | bs=4 |\n";
  const std::string plain = "| baseline | 20 | 21 |\n", one = "| MTP K=3 | 40 | 30 |\n";
  const std::string others = "| TTFT (ms) | 90 | 95 |\n| speedup | 2.00 | 1.43 |\n";
  for (const std::string& head : {kinds, loads}) {
    CAPTURE(head);
    const LogContents found = read(head, plain + one, "| mean acceptance length | 2.8 | 2.2 |\n" + others);
    REQUIRE(found.observations.size() == 4);
    for (const auto& run : found.observations) {
      const bool drafts = run.decoding == Decoding::speculative;
      CHECK(run.gamma.has_value() == drafts);
      CHECK(run.acceptance_length.has_value() == drafts);
      if (drafts) CHECK(run.acceptance_length == (*run.times.tpot_ms == near(25.0) ? 2.8 : 2.2));
    }
    CHECK(warns(found, "W18"));
  }
  // The rate with K; the arm that a metric names; of two arms that draft, no metric that names none.
  CHECK(read(kinds, plain + one, "| acceptance rate | 60% | 40% |\n").observations.back().acceptance_length ==
        near(2.2));
  const std::string two = one + "| MTP K=1 | 33 | 28 |\n";
  const auto lengths = [&](const std::string& metric) {
    std::set<std::int64_t> with;
    const LogContents found = read(kinds, plain + two, metric);
    CHECK(found.observations.size() == 6);
    for (const auto& run : found.observations)
      if (run.acceptance_length) with.insert(run.gamma.value_or(0));
    return with;
  };
  CHECK(lengths("| acceptance length (k=3) | 2.8 | 2.2 |\n") == std::set<std::int64_t>{3});
  CHECK(lengths("| AL, K=1 | 1.8 | 1.6 |\n| AL, K=3 | 2.8 | 2.2 |\n") == std::set<std::int64_t>{1, 3});
  CHECK(lengths("| acceptance length | 2.8 | 2.2 |\n").empty());
  // The heading above the names may be what all cells measure.
  const LogContents named = read_log("| tok/s | code | essays |\n|---|---|---|\n" + plain + one +
                                     "| AL | 2.8 | 2.2 |\n| TTFT (ms) | 90 | 95 |\n");
  REQUIRE(named.observations.size() == 4);
  CHECK(named.observations.front().decoding == Decoding::plain);
  CHECK(named.observations.front().times.tpot_ms == near(50.0));
}

TEST_CASE("queries of Prometheus as headings are what they measure, moments are no durations") {
  const auto rate = [](const std::string& metric) { return "rate(vllm:" + metric + "_total{job=\"a\"}[5m])"; };
  const std::string accepted = rate("spec_decode_num_accepted_tokens"), drafts = rate("spec_decode_num_drafts");
  const std::string all = rate("spec_decode_num_draft_tokens"),
                    speed = "sum by (job) (" + rate("generation_tokens") + ")";
  const auto exported = [&](const std::string& of_length, const std::string& of_rate, const std::string& values) {
    const auto quoted = [](std::string text) {
      for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
      return '"' + text + '"';
    };
    const std::string head = "\"Time\"," + quoted(of_length) + "," + quoted(of_rate) + "," + quoted(speed) +
                             ",\"sum(vllm:num_requests_running)\"\n";
    const LogContents contents =
        read_log(head + "2026-05-06 10:00:00," + values + ",800,8\n1778061660000," + values + ",800,8\n");
    REQUIRE(contents.observations.size() == 2);
    CHECK_FALSE(contents.observations[1].times.duration_s);
    return contents.observations[0];
  };
  const auto first = exported("1 + sum(" + accepted + ") / sum(" + drafts + ")", accepted + " / " + all, "2.2,0.6");
  CHECK(first.acceptance_length == near(2.2));
  CHECK(first.gamma == 2);
  CHECK(first.times.output_tokens_per_s == 800.0);
  CHECK(first.concurrency == 8.0);
  CHECK(exported(accepted + "/" + drafts + " + 1", "100 * (" + accepted + " / " + all + ")", "2.2,60").gamma == 2);
  CHECK(exported(accepted + " / " + drafts, all + " / " + drafts, "1.2,2").acceptance_length == near(2.2));
  // Tokens of five minutes are no speed, quantiles no mean.
  CHECK(problem("Time,\"increase(vllm:generation_tokens_total[5m])\",vllm:num_requests_running\n2026-05-06 "
                "10:00:00,9000,8\n") != "");
}

}  // namespace foredraft::tests
