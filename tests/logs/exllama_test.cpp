// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include "tests/logs/logs_testing.hpp"

/// What ExLlamaV2 and ExLlamaV3 print, and what scripts save of their results.
namespace foredraft::tests {

using logs::Decoding;
using logs::LogContents;

TEST_CASE("ExLlamaV2's chat: the share of drafted tokens is that of the output, the other that of the drafts") {
  const auto runs = posted_runs(
      "$ python examples/chat.py -m /models/large -pt\n"
      "\x1b[38;2;150;150;150m(Response: 300 tokens, 20.00 tokens/second)\x1b[0m\n\n"
      "$ python examples/chat.py -m /models/large -dm /models/small -pt\n"
      "(Response: 300 tokens, 40.00 tokens/second, SD eff. 60.00%, SD acc. 50.10%)\n",
      "local-prompts");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.tpot_ms == near(50.0));
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].acceptance->steps == 120);
  CHECK(runs[1].acceptance->steps_estimated);
  CHECK(runs[1].acceptance->accepted_tokens == 180);
  CHECK(runs[1].acceptance->drafted_tokens == 360);
  CHECK(runs[1].gamma == 3);
  CHECK(runs[1].times.tpot_ms == near(25.0));
  CHECK(runs[1].times.iteration_ms == near(62.5));
  const auto ends_early =
      posted_runs("(Response: 300 tokens, 40.00 tokens/second, SD eff. 60.00%, SD acc. 40.00%)\n", "local-prompts");
  CHECK_FALSE(ends_early.at(0).gamma);
  CHECK(ends_early.at(0).acceptance->drafted_tokens == 450);
}

TEST_CASE("ExLlamaV2's chat with the tokens of the context: the option is the most that a model drafts at once") {
  const std::string start = "$ python examples/chat.py -m /models/large -mode chatml -pt ";
  const std::string line = "(Context: 90 tokens, response: 300 tokens, ";
  for (const std::string length : {"-dn 6", "--draft_n_tokens 6"}) {
    const auto runs = posted_runs(start + "\n" + line + "20.00 tokens/second)\n\n" + start + "-dm /models/small " +
                                      length + "\n" + line + "40.00 tokens/second, SD eff.  60.00%, SD acc.  50.10%)\n",
                                  "local-prompts");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].times.tpot_ms == near(50.0));
    CHECK(runs[0].stratum.output_tokens == 300.0);
    CHECK(runs[1].decoding == Decoding::speculative);
    CHECK(runs[1].acceptance->steps == 120);
    CHECK(runs[1].gamma == 3);  // counted: every draft had so many
  }
  const auto early = posted_runs(
      start + "-dm /models/small -dn 6\n" + line + "40.00 tokens/second, SD eff.  60.00%, SD acc.  40.00%)\n",
      "local-prompts");
  CHECK(early.at(0).gamma == 6);
  CHECK(early.at(0).adaptive == true);
  // Drafts that are longer are of another run.
  CHECK_FALSE(
      posted_runs(start + "-dm /models/small -dn 2\n" + line + "40.00 tokens/second, SD eff. 60.00%, SD acc. 40.00%)\n",
                  "local-prompts")
          .at(0)
          .gamma);
}

TEST_CASE("jobs of ExLlama's generators: drafts are accepted and rejected ones, and the time begins with a token") {
  const std::string plain =
      R"({"job": 3, "eos": true, "eos_reason": "stop_token", "prompt_tokens": 90, "new_tokens": 201, )"
      R"("cached_tokens": 0, "time_enqueued": 0.01, "time_prefill": 0.4, "time_generate": 10.0)";
  const std::string drafts =
      replaced(plain, "10.0", "5.0") + ", \"accepted_draft_tokens\": 101, \"rejected_draft_tokens\": ";
  const auto runs = posted_runs(drafts + "99}\n" + drafts + "99}\n", "exllama-jobs");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].gamma == 2);
  CHECK(runs[0].acceptance->steps == 100);
  CHECK(runs[0].acceptance->accepted_tokens == 101);
  CHECK(runs[0].acceptance->drafted_tokens == 200);
  CHECK(runs[0].times.tpot_ms == near(25.0));
  CHECK(runs[0].times.ttft_ms == near(400.0));
  CHECK_FALSE(posted_runs(drafts + "88}\n", "exllama-jobs").at(0).gamma);
  // Printed by Python, in a list of a script, or as parts of its records.
  CHECK(posted_runs("{'model': 'lab/m', 'jobs': [" + drafts + "99}, " + drafts + "99}]}\n", "exllama-jobs").size() ==
        2);
  // Drafts of n-grams are not counted: only beside others a job without drafts is plain.
  CHECK(posted_runs(plain + "}\n" + plain + "}\n", "exllama-jobs").at(0).decoding == Decoding::unknown);
  const LogContents both = read_log(plain + "}\n" + drafts + "99}\n");
  CHECK(both.observations.at(0).decoding == Decoding::plain);
  CHECK(both.observations.at(0).times.iteration_ms == near(50.0));
  CHECK(warns(both, "W22"));
  CHECK(problem(replaced(drafts, "101", "301") + "99}\n").find("accepted_draft_tokens") != std::string::npos);
}

TEST_CASE("ExLlamaV3's chat: colored counts with commas below the commands that started it") {
  const std::string speeds = "\nContext: \x1b[32;1m1,200\x1b[0m new tokens at \x1b[32;1m900.00\x1b[0m t/s - ";
  const auto chat = [](const std::string& options, const std::string& line) {
    return "$ python chat.py -m /models/large_exl3 " + options + "-mode llama3 -tps\n" + line + "\n\n";
  };
  const std::string plain = chat("", speeds +
                                         "\x1b[32;1m0\x1b[0m tokens cached - Generate: \x1b[32;1m2,000\x1b[0m "
                                         "tokens at \x1b[32;1m20.00\x1b[0m t/s");
  const std::string drafted =
      speeds +
      "\x1b[32;1m64\x1b[0m tokens cached - Generate: \x1b[32;1m2,000\x1b[0m tokens at "
      "\x1b[32;1m40.00\x1b[0m t/s - Draft: \x1b[32;1m1,210\x1b[0m / \x1b[32;1m2,400\x1b[0m accepted "
      "(\x1b[32;1m50.42\x1b[0m%)";
  const auto runs = posted_runs(plain + chat("-dm /models/small_exl3 -ndt 3 ", drafted), "local-prompts");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.tpot_ms == near(50.0));
  CHECK(runs[0].stratum.output_tokens == 2000.0);
  CHECK(runs[0].stratum.context_tokens == 1200.0 + 1000.0);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].gamma == 3);
  CHECK(runs[1].times.tpot_ms == near(25.0));
  CHECK(runs[1].acceptance->accepted_tokens == 1210);
  CHECK(runs[1].acceptance->drafted_tokens == 2400);
  CHECK(runs[1].acceptance->steps == 800);
  // Of drafts that end early it is the most; steps are the tokens that were not drafted. A cut line is of a request.
  const auto ends_early = posted_runs(
      plain + chat("-dm /models/small_exl3 -ndt 4 -dds ", drafted.substr(drafted.find("Generate"))), "local-prompts");
  CHECK(ends_early.at(1).gamma == 4);
  CHECK(ends_early.at(1).adaptive == true);
  CHECK(ends_early.at(1).acceptance->steps == 790);
}

}  // namespace foredraft::tests
