// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "logs/arms.hpp"
#include "tests/logs/logs_testing.hpp"

/// A drafter that ends its drafts where it is unsure drafts up to K tokens: a share of them is no acceptance length.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

bool claims_length(const Observation& run) { return run.acceptance_length.has_value() || run.acceptance.has_value(); }

}  // namespace

TEST_CASE("words say that drafts end early") {
  for (const char* text :
       {"--draft-p-min 0.5", "--spec-draft-p-min=0.75", "n=4 p_min .3", "pmin: 0.9", "K=4 (adaptive)",
        "confidence threshold 0.4", "conf-thr=0.6", "dynamic draft length", "with early exit", "p-min 0, p-min 0.8"})
    CHECK(logs::ends_drafts_early(text));
  for (const char* text : {"--draft-p-min 0", "p-min 0.0", "n=4", "dynamic quant", "top-p 0.9", "min_p 0.05"})
    CHECK_FALSE(logs::ends_drafts_early(text));
}

TEST_CASE("a row whose name ends drafts early has no acceptance length") {
  const LogContents contents = read_log(
      "| settings | tok/s | accepted % |\n|---|---|---|\n| baseline | 30 | |\n| MTP n-max 3, p-min 0 | 40 | 50% |\n"
      "| MTP n-max 3, p-min 0.8 | 44 | 90% |\n| MTP n-max 6, p-min 0.8 | 45 | 95% |\n");
  const std::vector<Observation>& runs = contents.observations;
  REQUIRE(runs.size() == 4);
  CHECK_FALSE(runs[1].adaptive);
  CHECK(runs[1].acceptance_length == near(2.5));  // rates that rise with K are of adaptive rows
  for (const std::size_t i : {2U, 3U}) {
    CHECK(runs[i].adaptive == true);
    CHECK_FALSE(claims_length(runs[i]));
    CHECK(runs[i].acceptance_rate.has_value());
  }
  CHECK(runs[3].gamma == 6);
  CHECK(warns(contents, "W23"));
  // Printed, it is one.
  CHECK(posted_runs("| settings | tok/s | accept len |\n|---|---|---|\n| baseline | 30 | |\n| MTP n-max 3, p-min 0.8 | "
                    "44 | 2.2 |\n",
                    "table")
            .at(1)
            .acceptance_length == 2.2);
}

TEST_CASE("a column of thresholds is part of the arm") {
  const auto runs = posted_runs(
      "| K | draft p-min | tok/s | acceptance |\n|---|---|---|---|\n| off | - | 30 | |\n| 2 | 0 | 36 | 60% |\n"
      "| 2 | 0.5 | 39 | 85% |\n| 4 | 0.5 | 41 | 80% |\n",
      "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[1].acceptance_length == near(2.2));
  CHECK(runs[1].drafter == "draft p-min 0");
  CHECK(runs[2].drafter == "draft p-min 0.5");
  CHECK(runs[2].adaptive == true);
  CHECK_FALSE(claims_length(runs[2]));
  CHECK_FALSE(claims_length(runs[3]));
  // It may name the rows.
  const auto named =
      posted_runs("| p_min | tok/s |\n|---|---|\n| spec off | 30 |\n| 0 | 36 |\n| 0.5 | 39 |\n", "table");
  REQUIRE(named.size() == 3);
  CHECK(named[0].decoding == logs::Decoding::plain);
  CHECK(named[1].decoding == logs::Decoding::speculative);
  CHECK(named[1].drafter == "p_min 0");
  CHECK(named[2].drafter == "p_min 0.5");
}

TEST_CASE("drafts a step that are no whole number are of lengths that differ") {
  const std::string rows = "\n|---|---|---|---|\n| 2k | 2.63 | 42% | 2.10 |\n| 8k | 2.48 | 40% | 2.00 |\n";
  for (const char* heading : {"drafts/step", "drafted tokens per step", "drafted/round"}) {
    CAPTURE(heading);
    const auto runs = posted_runs("| context | " + std::string(heading) + " | acceptance | tok/step |" + rows, "table");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].adaptive == true);
    CHECK_FALSE(runs[0].gamma);  // 1.1 / 0.42 is nearly whole
    CHECK(runs[0].acceptance_length == 2.1);
  }
  // Nor are those of counts.
  const std::string counts =
      "| context | p-min | steps | drafted | accepted |\n|---|---|---|---|---|\n| 2k | 0.6 | 200 | 600 | 300 |\n";
  CHECK_FALSE(posted_runs(counts, "table").at(0).gamma);
}

TEST_CASE("llama-server's command line has the most of the drafts that its requests count") {
  const auto request = [](const std::string& options, const std::string& drafted) {
    return posted_runs("$ llama-server -m a.gguf " + options +
                           "\nprompt eval time =  100.00 ms /  40 tokens\neval time =  5000.00 ms /  201 tokens\n"
                           "draft acceptance rate = 0.5 (  100 accepted /  " +
                           drafted + " generated)\nstatistics draft: #calls(b,g,a) = 1 100 100, #gen drafts = 100, " +
                           "#acc drafts = 60, #gen tokens = " + drafted + ", #acc tokens = 100\n",
                       "llama-server")
        .at(0);
  };
  const Observation early = request("-md b.gguf --draft-max 7", "400");
  CHECK(early.gamma == 7);
  CHECK(early.adaptive == true);
  const Observation always = request("-md b.gguf --draft-max 4", "400");
  CHECK(always.gamma == 4);
  CHECK_FALSE(always.adaptive);
  CHECK_FALSE(request("-md b.gguf", "400").gamma);
  CHECK_FALSE(request("-md b.gguf --draft-max 3", "400").gamma);  // of another server
}

TEST_CASE("llama-server prints its drafter and the most that it drafts, at each start") {
  const auto start = [](const std::string& drafter, const std::string& most) {
    const std::string name = "common_speculative_impl_x: ";
    return "0.01 I srv  load_model: loading model 'a.gguf'\n" +
           (drafter.empty() ? ""
                            : name + "adding speculative implementation '" + drafter + "'\n" + name +
                                  "- n_max=" + most + ", n_min=0, p_min=0.00, n_embd=64\n");
  };
  const auto answer = [](int accepted, int drafted) {
    const std::string drafts =
        fmt::format("draft acceptance rate = 0.5 (  {} accepted /  {} generated)\n", accepted, drafted);
    return "prompt eval time =  100.00 ms /  40 tokens\neval time =  5000.00 ms /  301 tokens\n" +
           (drafted > 0 ? drafts : "");
  };
  const auto runs = [](const std::string& log) { return posted_runs(log, "llama-server"); };

  const auto both = runs(start("draft-mtp", "2") + answer(150, 300) + start("draft-mtp", "4") + answer(200, 400));
  REQUIRE(both.size() == 2);
  CHECK(both[0].gamma == 2);
  CHECK_FALSE(both[0].adaptive);
  CHECK(both[1].gamma == 4);
  CHECK(runs(start("draft-simple", "8") + answer(150, 300)).at(0).adaptive == true);
  // One without drafts that begins behind one with them, as its command line says.
  const auto then_plain = runs(start("draft-mtp", "2") + answer(150, 300) + start("", "") + answer(0, 0));
  CHECK(then_plain.at(1).decoding == Decoding::plain);
  CHECK(runs(start("draft-mtp", "2") + answer(150, 300) + answer(0, 0)).at(1).decoding == Decoding::plain);
  const std::string command = "$ llama-server -m a.gguf --spec-type draft-mtp --spec-draft-n-max 2\n";
  const std::string loads = start("", "");
  const auto commanded = runs(answer(0, 0) + command + loads + answer(150, 300) + loads + answer(0, 0));
  CHECK(commanded.at(0).decoding == Decoding::plain);
  CHECK(commanded.at(1).gamma == 2);
  CHECK(commanded.at(2).decoding == Decoding::plain);
  CHECK(runs(answer(0, 0) + command + loads + answer(0, 0)).at(1).decoding == Decoding::speculative);
  // Of builds that print no drafts of a request only a single drafter's length is known.
  CHECK(runs(start("draft-mtp", "4") + answer(0, 0)).at(0).gamma == 4);
  CHECK_FALSE(runs(start("ngram-mod", "64") + start("draft-mtp", "4") + answer(0, 0)).at(0).gamma);
  for (const std::size_t cut : {std::size_t{0}, loads.size()}) {
    const auto again =
        runs(start("draft-mtp", "4") + answer(0, 0) + start("draft-mtp", "3").substr(cut) + answer(0, 0));
    CHECK(again.at(0).gamma == 4);
    CHECK(again.at(1).gamma == 3);
  }
}

TEST_CASE("a request of llama-server for which nothing was drafted has the setting of its neighbors") {
  // 200 steps without a draft, then 60 drafts of which 240 tokens were accepted, and 40 steps without.
  const auto request = [](int tokens, const std::string& accepted, const std::string& totals) {
    return fmt::format(
        "prompt eval time =  100.00 ms /  40 tokens\neval time =  5000.00 ms /  {} tokens\n{}"
        "statistics ngram-map-k: {}, #acc drafts = 9, {}\n",
        tokens, accepted, totals.substr(0, totals.find('|')), totals.substr(totals.find('|') + 1));
  };
  const std::string none = "#gen drafts = 0|#gen tokens = 0, #acc tokens = 0";
  const std::string some = "#gen drafts = 60|#gen tokens = 480, #acc tokens = 240";
  const std::string line = "draft acceptance rate = 0.5 (  240 accepted /  480 generated)\n";
  const std::string launch = "$ llama-server -m a.gguf --spec-type ngram-map-k --draft-max 12\n";
  for (const std::string calls : {"#calls(b,g,a) = 1 {} 0, ", "#calls = {}, "}) {
    const auto at = [&](int so_far, const std::string& totals) {
      return fmt::format(fmt::runtime(calls), so_far) + totals;
    };
    const std::string first = request(201, "", at(200, none)), second = request(341, line, at(300, some));
    const std::string third = request(101, "", at(400, some));
    for (const std::string& log : {launch + first + second, launch + second + third, launch + first + second + third}) {
      const auto runs = posted_runs(log, "llama-server");
      REQUIRE(runs.size() >= 2);
      for (const Observation& run : runs) {
        CHECK(run.decoding == Decoding::speculative);
        CHECK(run.gamma == 12);
        CHECK(run.adaptive == true);
        CHECK(run.drafter == runs[0].drafter);
        REQUIRE(run.acceptance);
        CHECK(logs::all_steps(*run.acceptance) > 0.0);
      }
    }
    const Observation undrafted = posted_runs(first + second, "llama-server").at(0);
    CHECK(undrafted.acceptance->steps == 0);
    CHECK(logs::all_steps(*undrafted.acceptance) == 200.0);
    CHECK(*undrafted.times.iteration_ms == near(25.0));
    // Its drafter was not even called: the request may have asked for none.
    CHECK(posted_runs(second + request(101, "", at(300, some)), "llama-server").at(1).decoding == Decoding::unknown);
  }
}

TEST_CASE("sentences and captions end drafts early") {
  const auto said = posted_runs("- baseline: 30 tok/s\n- MTP n-max 3, p-min 0.8: 44 tok/s, 90% acceptance\n", "prose");
  REQUIRE(said.size() == 2);
  CHECK(said[1].gamma == 3);
  CHECK(said[1].adaptive == true);
  CHECK_FALSE(claims_length(said[1]));
  CHECK(
      posted_runs("- baseline: 30 tok/s\n- MTP n-max 3: 44 tok/s, 70% acceptance\n", "prose").at(1).acceptance_length ==
      near(3.1));
  const std::string rows = "\n\n| task | tok/s | acceptance rate |\n|---|---|---|\n| code | 44 | 90% |\n";
  CHECK(claims_length(posted_runs("### MTP, n-max 3" + rows, "table").at(0)));
  CHECK_FALSE(claims_length(posted_runs("### MTP, n-max 3, p-min 0.7" + rows, "table").at(0)));
  CHECK_FALSE(claims_length(posted_runs("### p-min 0.7, MTP, n-max 3" + rows, "table").at(0)));
}

TEST_CASE("a threshold that the text sets is one of all runs, unless rows or another command say otherwise") {
  const std::string rows =
      "\n\n| config | tok/s | accept |\n|---|---|---|\n| baseline | 30 | |\n| n-max 2 | 36 | 60% |\n| n-max 4 | 39 | "
      "50% "
      "|\n";
  const auto lengths = [&](const std::string& text) {
    const auto runs = posted_runs(text + rows, "table");
    return std::pair{claims_length(runs.at(1)), claims_length(runs.at(2))};
  };
  CHECK(lengths("Measured on one card.") == std::pair{true, true});
  CHECK(lengths("./llama-server -m a.gguf --draft-p-min 0.6") == std::pair{false, false});
  CHECK(lengths("Settings: p_min=0.6") == std::pair{false, false});
  CHECK(lengths("./llama-server -m a.gguf --spec-draft-p-min 0.0") == std::pair{true, true});
  CHECK(lengths("--draft-p-min 0 here, later --draft-p-min 0.6") == std::pair{true, true});
  const auto runs = posted_runs(
      "Settings: p_min=0.6\n\n| config | tok/s | accept |\n|---|---|---|\n| baseline | 30 | "
      "|\n| n-max 2 | 36 | 60% |\n| n-max 2 p-min 0.6 | 39 | 80% |\n",
      "table");
  CHECK(claims_length(runs.at(1)));
  CHECK_FALSE(claims_length(runs.at(2)));
}

TEST_CASE("a block of mlx-vlm has the known token, too, and is the most of drafters other than MTP") {
  const auto generate = [](const std::string& options, const std::string& end = {}) {
    return posted_runs("% python -m mlx_vlm.generate --model lab/m --max-tokens 200 " + options +
                           "\n==========\nPrompt: 20 tokens, 90.000 tokens-per-sec\n"
                           "Generation: 200 tokens, 40.000 tokens-per-sec\n" +
                           end,
                       "mlx-lm")
        .at(0);
  };
  const std::string model = "--draft-model lab/tiny ";
  const auto mtp = generate(model + "--draft-kind mtp --draft-block-size 3");
  CHECK(mtp.decoding == Decoding::speculative);
  CHECK(mtp.gamma == 2);
  CHECK(mtp.drafter == "mtp");
  CHECK_FALSE(mtp.adaptive);
  CHECK(generate("--draft-block-size=3 \\\n  " + model + "--draft-kind mtp").gamma == 2);
  const std::string lines =
      "$ uv run mlx_vlm.generate \\\n    --model lab/m \\\n    --draft-model lab/tiny \\\n    --draft-kind mtp \\\n"
      "    --draft-block-size 4\nGeneration: 200 tokens, 40.000 tokens-per-sec\n";
  const std::string without = replaced(
      lines, "    --draft-model lab/tiny \\\n    --draft-kind mtp \\\n    --draft-block-size 4", "    --temp 0");
  const auto both = posted_runs(without + lines, "mlx-lm");
  CHECK(both.at(0).decoding == Decoding::plain);
  CHECK(both.at(1).gamma == 3);
  for (const std::string options :
       {"--draft-kind mtp --draft-block-size 6", "--draft-kind dflash --draft-block-size 6", "--draft_block_size 6"}) {
    CAPTURE(options);
    const auto most = generate(model + options);
    CHECK(most.gamma == 5);
    CHECK(most.adaptive == true);
  }
  CHECK_FALSE(generate(model).gamma);
  // What the last line counts goes before.
  const auto counted = generate(model + "--draft-kind mtp --draft-block-size 3",
                                "Speculative decoding: 1.80 accepted tokens/round (0.80 accepted drafts/round, 80.0% "
                                "of drafted, avg draft 1.00) over 111 rounds\n");
  CHECK(counted.gamma == 1);
}

TEST_CASE("the settings of a model of LocalAI tell the most that it drafts") {
  const auto timed = [](const std::string& drafts) {
    return "8:41PM DBG GRPC(m-127.0.0.1:4000): stderr slot launch_slot_: id  0 | task 0 | processing task\n"
           "8:41PM DBG GRPC(m-127.0.0.1:4000): stderr slot print_timing: id  0 | task 0 | \n"
           "8:41PM DBG GRPC(m-127.0.0.1:4000): stderr prompt eval time =   200.00 ms /   100 tokens (    2.00 ms per "
           "token,   500.00 tokens per second)\n"
           "8:41PM DBG GRPC(m-127.0.0.1:4000): stderr        eval time =  6000.00 ms /   301 tokens (   19.93 ms per "
           "token,    50.17 tokens per second)\n"
           "8:41PM DBG GRPC(m-127.0.0.1:4000): stderr       total time =  6200.00 ms /   401 tokens\n" +
           drafts;
  };
  const std::string counts =
      "8:41PM DBG GRPC(m-127.0.0.1:4000): stderr draft acceptance rate = 0.50000 (  200 accepted /   400 generated)\n";
  for (const std::string settings :
       {"name: m\ndraft_model: tiny.gguf\nn_draft: 6\n\n", "`draft_model: tiny.gguf`, `n_draft: 6`\n",
        "options:\n- spec_type:draft\n- spec_n_max:6\n\n", "options: [\"draft_max:6\"]\n"}) {
    CAPTURE(settings);
    const LogContents contents = read_log(settings + timed(counts));
    CHECK(contents.observations.at(0).gamma == 6);
    CHECK(contents.observations.at(0).adaptive == true);
    CHECK(warns(contents, "W22"));
  }
  // A number of drafts is no setting, and one that is too small is of another model.
  for (const std::string other : {"n_draft: 6\n", "draft_model: tiny.gguf\nn_draft: 2\n"})
    CHECK_FALSE(read_log(other + timed(counts)).observations.at(0).gamma);
}

TEST_CASE("length and rate of a drafter that looks tokens up give the mean of what it drafts, no draft length") {
  const auto runs_of = [](std::string_view drafter) {
    return posted_runs(fmt::format("| config | tok/s | accept len | accept rate |\n|---|---|---|---|\n"
                                   "| baseline | 50 | | |\n| {} | 83 | 2.0 | 25% |\n| mtp | 90 | 2.4 | 70% |\n",
                                   drafter),
                       "table");
  };
  for (const char* drafter : {"suffix", "n-gram", "ngram (CPU)", "prompt lookup", "PLD", "Suffix decoding"}) {
    const auto runs = runs_of(drafter);
    CHECK_FALSE(runs.at(1).gamma);
    CHECK(runs.at(1).adaptive == true);
    CHECK(runs.at(1).acceptance_length == 2.0);
    CHECK(runs.at(2).gamma == 2);
  }
  const auto above = [](std::string_view caption) {
    std::vector<std::optional<std::int64_t>> gammas;
    for (const auto& run :
         posted_runs(std::string(caption) + "\n\n| config | tok/s | accept len | accept rate |\n"
                                            "|---|---|---|---|\n| baseline | 50 | | |\n| suffix | 83 | 2.0 | 37% |\n"
                                            "| mtp | 90 | 3.1 | 70% |\n| draft model | 88 | | |\n",
                     "table"))
      if (run.decoding == Decoding::speculative) gammas.push_back(run.gamma);
    return gammas;
  };
  using Gammas = std::vector<std::optional<std::int64_t>>;
  CHECK(above("Which one?") == Gammas{{}, 3, {}});
  CHECK(above("Which one? K=3 for all:") == Gammas{3, 3, 3});
  for (const char* other : {"MTP at K=3, and others:", "top-k=3:", "K=3, then K=4:", "K=3 to 4:"})
    CHECK(above(other) == Gammas{{}, 3, {}});
  CHECK(runs_of("eagle").at(1).gamma == 4);
  CHECK(runs_of("ngram K=5").at(1).gamma == 5);
  CHECK_FALSE(runs_of("ngram K=5").at(1).adaptive);
  const auto served = [](std::string_view config) {
    return read_log(fmt::format("$ vllm serve m --speculative-config '{{{}}}'\n{}", config,
                                "============ Serving Benchmark Result ============\n"
                                "Maximum request concurrency:             2\n"
                                "Output token throughput (tok/s):         210.0\n"
                                "Mean TPOT (ms):                          9.5\n"
                                "---------------Speculative Decoding---------------\n"
                                "Acceptance rate (%):                     25.00\n"
                                "Acceptance length:                       2.00\n"))
        .observations.at(0);
  };
  CHECK(served(R"("method":"mtp")").gamma == 4);
  CHECK_FALSE(served(R"("method":"suffix")").gamma);
  const Observation most = served(R"("method":"ngram","num_speculative_tokens":9)");
  CHECK(most.gamma == 9);
  CHECK(most.adaptive == true);
  CHECK_FALSE(served(R"("method":"ngram","num_speculative_tokens":4)").adaptive);
}

}  // namespace foredraft::tests
