// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "logs/arms.hpp"
#include "tests/logs/logs_testing.hpp"

/// Lines of a server's log that load or enable a drafter between its answers.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

/// An answer in TabbyAPI's log, with the drafts that it counts.
std::string answer_of_tabby(const std::string& speed, const std::string& drafts = "") {
  return "2026-05-06 12:00:40 INFO:     Metrics (ID: 0a): 200 tokens generated in 9.0 seconds (Queue: 0.0 s, Process: "
         "0 cached tokens and 300 new tokens at 1000.00 T/s, Generate: " +
         speed + " T/s, Context: 300 tokens" + drafts + ")\n";
}

const std::string of_drafts_counted = ", Draft: 110 / 180 tokens accepted (61.11%)";

std::vector<Observation> around(const std::string& line, const std::string& drafts = "") {
  return read_log(answer_of_tabby("25.00") + line + "\n" + answer_of_tabby("40.00", drafts)).observations;
}

const std::string stamp = "2026-05-06 12:05:00 INFO:     ";

}  // namespace

TEST_CASE("answers before a line that loads or enables a drafter are plain, those after it draft") {
  for (const char* words :
       {"Loading draft model: /models/small", "Loaded the drafter /models/small", "Enabling speculative decoding",
        "mtp_enabled=True", "settings of big: {'top_k': 3, 'dflash_enabled': True}", "MTP head loaded from big",
        "vlm_mtp_enabled: true", "EAGLE-3 speculative decoding is now enabled", "Prompt lookup decoding enabled"}) {
    INFO(words);
    const auto runs = around(stamp + words);
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[1].decoding == Decoding::speculative);
  }
  for (const char* words : {"mtp_enabled=False", "Unloaded the draft model", "Speculative decoding disabled"}) {
    INFO(words);
    const auto runs = around(stamp + words);
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::speculative);
    CHECK(runs[1].decoding == Decoding::plain);
  }
}

TEST_CASE("lines that switch no drafts, or stand in a text, say nothing of answers") {
  for (const std::string& line :
       {stamp + "Could not load: no draft model loaded", stamp + "smtp_enabled=True", stamp + "prefix cache enabled",
        stamp + "MTP metrics enabled", stamp + "Failed loading draft model small",
        stamp + "speculative decoding needs KV offloading to be disabled",
        std::string("then I had speculative decoding enabled")}) {
    INFO(line);
    const auto runs = around(line);
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::unknown);
    CHECK(runs[1].decoding == Decoding::unknown);
  }
}

TEST_CASE("a line that loads a drafter states the draft length") {
  for (const char* words : {"Loading draft: small, draft_num_tokens: 3", "MTP enabled (num_draft_tokens=3)",
                            "Speculative decoding enabled, num_speculative_tokens=3"}) {
    INFO(words);
    const auto runs = around(stamp + words, of_drafts_counted);
    REQUIRE(runs.size() == 2);
    CHECK(runs[1].gamma == 3);
    CHECK_FALSE(runs[0].gamma);
  }
}

TEST_CASE("a server that starts again with a drafter was plain before if only then its answers count drafts") {
  const std::string start = stamp + "Loading model: /models/big\n", draft = stamp + "Loading draft model: small\n";
  const auto of_first = [](const std::string& log) { return read_log(log).observations.at(0).decoding; };
  const std::string plain = answer_of_tabby("25.00"), drafted = answer_of_tabby("40.00", of_drafts_counted);
  for (const std::string& again : {start + draft, draft + start}) {
    CHECK(of_first(plain + again + drafted) == Decoding::plain);
    CHECK(of_first(plain + again + answer_of_tabby("40.00")) == Decoding::unknown);
    CHECK(of_first(plain + again + drafted + plain) == Decoding::unknown);
    CHECK(of_first(start + plain + again + answer_of_tabby("40.00")) == Decoding::plain);
  }
  // Without the drafter again: an answer without drafts is of a server without one.
  const auto back = read_log(start + draft + drafted + start + plain).observations;
  REQUIRE(back.size() == 2);
  CHECK(back[1].decoding == Decoding::plain);
  // A server that drafts counts the drafts of each answer: one without found nothing to draft.
  const auto none = read_log(start + plain + start + draft + drafted + plain).observations;
  REQUIRE(none.size() == 3);
  CHECK(none[0].decoding == Decoding::plain);
  CHECK(none[2].decoding == Decoding::unknown);
  const LogContents read = read_log(plain + draft + drafted);
  REQUIRE(warns(read, "W22"));
  CHECK(read.warnings.front().message == "lines of the server read as: before line 2 does not draft");
  CHECK_FALSE(warns(read_log(start + plain), "W22"));
  // A server of which no line switches drafts: its command line says more.
  const std::string command = "$ python -m tabby.server --model big\n";
  const auto commands =
      read_log(start + command + plain + replaced(command, "big", "big --draft-model small") + answer_of_tabby("40.00"))
          .observations;
  REQUIRE(commands.size() == 2);
  CHECK(commands[0].decoding == Decoding::plain);
}

TEST_CASE("a number of draft tokens is no draft length where it counts the known token") {
  const auto table = [](const std::string& speed) { return "\n\n| c | tok/s |\n|---|---|\n| 1 | " + speed + " |\n\n"; };
  for (const auto& run :
       read_log("no spec:" + table("40") + "now with num-steps 2 (num-draft-tokens 3):" + table("60")).observations)
    CHECK(run.gamma != 3);
  CHECK_FALSE(logs::arm_in_text("num-steps is now 2 (num-draft-tokens 3)").value_or(logs::Arm{}).gamma);
  CHECK_FALSE(around(stamp + "Enabling MTP, speculative_num_draft_tokens=4").at(1).gamma);
}

TEST_CASE("windows below a command that drafts speculate, though none prints its drafts") {
  const auto window = [](const std::string& speed) {
    return "2026-03-04 09:10:20,100 - lmdeploy - INFO - loggers.py:90 - DP: 0, Avg prompt throughput: 0.0 tokens/s, "
           "Avg generation throughput: " +
           speed + " tokens/s, Running: 2 reqs, Waiting: 0 reqs, GPU KV cache usage: 2.0%, \n";
  };
  const std::string serve = "$ lmdeploy serve api_server big --speculative-algorithm eagle ";
  const auto runs = read_log(serve + "--speculative-num-draft-tokens 4\n" + window("90.0")).observations;
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].gamma == 4);
  CHECK(runs[0].drafter == "eagle");
  CHECK_FALSE(runs[0].times.iteration_ms);  // was a token each
  CHECK(read_log(window("90.0")).observations.at(0).decoding == Decoding::plain);
  const auto both =
      read_log("$ lmdeploy serve api_server big\n" + window("50.0") + serve + "\n" + window("90.0")).observations;
  REQUIRE(both.size() == 2);
  CHECK(both[0].decoding == Decoding::plain);
  CHECK(both[0].times.iteration_ms);
  CHECK(both[1].decoding == Decoding::speculative);
  // One of SGLang that counts drafts elsewhere drafted nothing here.
  const auto batch = [](const std::string& length) {
    return "[2026-03-04 09:10:20] Decode batch. #running-req: 2, #token: 900, token usage: 0.01, " + length +
           "gen throughput (token/s): 90.00, #queue-req: 0\n";
  };
  const std::string launch = "python -m sglang.launch_server --speculative-algorithm EAGLE\n";
  CHECK(read_log(launch + batch("")).observations.at(0).decoding == Decoding::speculative);
  const auto some = read_log(launch + batch("accept len: 2.50, ") + batch("")).observations;
  REQUIRE(some.size() == 2);
  CHECK(some[1].decoding == Decoding::plain);
}

TEST_CASE("TGI's launcher says whether its requests draft") {
  const auto run = [](const std::string& option, const std::string& time) {
    return "text-generation-launcher --model-id big" + option +
           "\nINFO generate{total_time=\"4.0s\" time_per_token=\"" + time +
           "ms\"}: text_generation_router::server: Success\n";
  };
  const auto runs = posted_runs(run("", "20.0") + run(" --speculate 2", "15.0"), "tgi");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].gamma == 2);
  // In the words of a caption, too.
  const auto below = [&](const std::string& caption) {
    const std::string request = run("", "15.0");
    return read_log("# plain:\n" + request.substr(request.find('\n') + 1) + caption + "\n" +
                    request.substr(request.find('\n') + 1))
        .observations.at(1);
  };
  for (const std::string caption : {"# same with --speculate 2 (medusa)", "now `--speculate=2`:"}) {
    CHECK(below(caption).decoding == Decoding::speculative);
    CHECK(below(caption).gamma == 2);
  }
}

}  // namespace foredraft::tests
