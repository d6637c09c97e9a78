// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "logs/arms.hpp"
#include "logs/headings.hpp"
#include "tests/logs/logs_testing.hpp"

/// Posted tables: their words, their numbers, and arms in columns.
namespace foredraft::tests {
namespace {

using logs::arm_named;
using logs::column_of;
using logs::Decoding;
using logs::LogContents;
using logs::Meaning;

}  // namespace

TEST_CASE("a heading in any words: abbreviations, what something is counted by, averages, units in brackets") {
  for (const auto& [heading, meaning] : {std::pair("average tk\\s", Meaning::speed),
                                         {"Decode (tok/s)", Meaning::speed},
                                         {"tput(tok/s)", Meaning::speed},
                                         {"TP", Meaning::subject},
                                         {"tp_size", Meaning::subject},
                                         {"Inference Speed", Meaning::speed},
                                         {"T/s (CUDA)", Meaning::speed},
                                         {"tok/s mean/std", Meaning::speed},
                                         {"tokens per second per user", Meaning::request_speed},
                                         {"Tok/cycle", Meaning::length},
                                         {"emitted/verify", Meaning::length},
                                         {"tokens per forward", Meaning::length},
                                         {"Mean accept. length", Meaning::length},
                                         {"draft_mean_len", Meaning::length},
                                         {"accepted tokens per round", Meaning::accepted_per_step},
                                         {"aggregate_accept_rate", Meaning::rate},
                                         {"Spec. Accept Rate", Meaning::rate},
                                         {"Avg draft acceptance", Meaning::rate},
                                         {"draft rate", Meaning::rate},
                                         {"acceptance", Meaning::rate},
                                         {"Draft Generated", Meaning::drafted},
                                         {"spec-draft-n-max", Meaning::gamma},
                                         {"num_assistant_tokens", Meaning::gamma},
                                         {"cost/verify", Meaning::iteration},
                                         {"server gen tok/s", Meaning::speed},
                                         {"tg128", Meaning::speed},
                                         {"out TPS", Meaning::speed},
                                         {"tok_s", Meaning::speed},
                                         {"tok/s \xC2\xB1 std", Meaning::speed},
                                         {"total decode tok/s", Meaning::total_speed},
                                         {"Aggregated t/s", Meaning::total_speed},
                                         {"tok/s each", Meaning::request_speed},
                                         {"decode tok/s per client", Meaning::request_speed},
                                         {"TPOT P50 (ms)", Meaning::tpot},
                                         {"decode ms / token", Meaning::tpot},
                                         {"first token latency (ms)", Meaning::ttft},
                                         {"\xCF\x84 (length)", Meaning::length},
                                         {"med. accept length", Meaning::length},
                                         {"% accepted", Meaning::rate},
                                         {"Draft accept%", Meaning::rate},
                                         {"simultaneous requests", Meaning::concurrency},
                                         {"num users", Meaning::concurrency},
                                         {"Spec Method", Meaning::name},
                                         {"rep", Meaning::name},
                                         {"draft tokens total", Meaning::drafted},
                                         {"Prompt (tok)", Meaning::prompt_tokens},
                                         {"Draft (ms)", Meaning::ignored},
                                         {"draft %", Meaning::ignored},
                                         {"throughput (%)", Meaning::ignored},
                                         {"total token throughput", Meaning::ignored},
                                         {"total draft t/s", Meaning::ignored},
                                         {"num requests", Meaning::ignored},
                                         {"Request throughput", Meaning::ignored},
                                         {"Request tok/s (prompt)", Meaning::ignored},
                                         {"Max concurrency (262K ctx)", Meaning::ignored},
                                         {"Prompt (tok/s)", Meaning::ignored},
                                         {"accepted tok/s", Meaning::ignored},
                                         {"peak tokens per second", Meaning::ignored}}) {
    CAPTURE(heading);
    CHECK(column_of(heading).meaning == meaning);
  }
  const auto position = column_of("Per-position acceptance (%) \xE2\x80\x94 Pos 2");
  CHECK(position.meaning == Meaning::position);
  CHECK(position.position == 2);
}

TEST_CASE("names of arms: versions are no draft lengths, what is switched off is plain wherever it is said") {
  CHECK_FALSE(arm_named("DFlash2").gamma);
  CHECK(arm_named("DFlash2").drafter == "dflash2");
  CHECK(arm_named("DFlash2 n=7").gamma == 7.0);
  CHECK(arm_named("MTP3").gamma == 3.0);
  CHECK(arm_named("MTP3").drafter == "mtp");
  CHECK(arm_named("EAGLE 3").drafter == "eagle3");
  CHECK(arm_named("D2").gamma == 2.0);
  CHECK(arm_named("MTP nst=3").gamma == 3.0);
  CHECK(arm_named("mtp_draft_1").gamma == 1.0);
  // Tokens of an answer, and the size of a model.
  CHECK_FALSE(arm_named("MTP, 64 tokens").gamma);
  CHECK_FALSE(arm_named("MTP n=193").gamma);
  CHECK_FALSE(arm_named("draft-0.6B").gamma);
  CHECK(arm_named("MTP = 1").gamma == 1.0);
  CHECK_FALSE(arm_named("0.14.0 + a checkpoint").plain);
  CHECK(arm_named("0.14.0 + a checkpoint, --no-spec-decode").plain);
  CHECK(arm_named("--spec-type draft-mtp --spec-draft-n-max 4").gamma == 4.0);
  CHECK(arm_named("Some-8B + EAGLE-3 (K=3)").drafter == "eagle-3");
  for (const char* name : {"8B baseline", "prose, no speculation", "MTP off", "N/A", "w/o spec", "AR"}) {
    CAPTURE(name);
    CHECK(arm_named(name).plain);
  }
  // A version to compare with, which drafts.
  CHECK_FALSE(arm_named("v1.2 (baseline)").plain);
  CHECK_FALSE(arm_named("ordinary prose").plain);
}

TEST_CASE("numbers of cells: decimal commas, ranges, several runs, thousands") {
  const auto german = posted_runs("Modus;K;tok/s;Akzeptanz\nBaseline;0;31,2;\nMTP;2;1.044,5;0,781\n", "table");
  REQUIRE(german.size() == 2);
  CHECK(german[0].times.tpot_ms == near(1000.0 / 31.2));
  CHECK(german[1].times.tpot_ms == near(1000.0 / 1044.5));
  CHECK(german[1].acceptance_length == near(1.0 + 2 * 0.781));
  const auto runs = posted_runs(
      "| arm | decode tok/s (3 runs) | acceptance |\n|---|---|---|\n| MTP k=2 | 50 / 52 / 57 | 45-55% |\n| baseline | "
      "40-42 | - |\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].times.tpot_ms == near(1000.0 / 53.0));
  CHECK(runs[0].acceptance_length == near(2.0));
  CHECK(runs[1].times.tpot_ms == near(1000.0 / 41.0));
  const auto contexts = posted_runs("| ctx | K | tok/s |\n|---|---|---|\n| 16K | 2 | 1,050.5 |\n", "table");
  CHECK(contexts.at(0).stratum.context_tokens == 16000.0);
  CHECK(contexts.at(0).times.tpot_ms == near(1000.0 / 1050.5));
}

TEST_CASE("a rate in its cells: counts in brackets, accepted tokens in percent, lengths that are called acceptance") {
  const auto counted = posted_runs(
      "| Metric | Run 1 (n-max 8) | Run 2 (n-max 3) |\n|---|---|---|\n| Generation Speed | **170.0 t/s** | 140.0 t/s "
      "|\n"
      "| Draft Acceptance Rate | 50.00% (16,000 / 32,000) | 80.0% (6,000 / 7,500) |\n"
      "| Mean Acceptance Length | 5.00 tokens/step | 3.40 tokens/step |\n",
      "table");
  REQUIRE(counted.size() == 2);
  REQUIRE(counted[0].acceptance);
  CHECK(counted[0].acceptance->accepted_tokens == 16000);
  CHECK(counted[0].acceptance->drafted_tokens == 32000);
  CHECK(counted[0].acceptance->steps == 4000);
  CHECK(counted[0].gamma == 8);
  // Steps that the rounded length makes too few to draft as much.
  const auto rounded = posted_runs("K,tok/s,AL,drafted,accepted\n3,80,2.41,3000,1405\n", "table");
  CHECK(rounded.at(0).acceptance->steps == 1000);
  // If a rate gives no whole draft length in one row, it gives none in the others.
  const auto other = posted_runs("version,tok/s,tok/cycle,accept rate\na,46,2.0,0.50\nb,12,2.2,0.645\n", "table");
  CHECK_FALSE(other.at(0).gamma);
  CHECK(other.at(0).acceptance_length == 2.0);
  // Of one answer: a step emits one token that was not drafted.
  const auto answers = posted_runs(
      "| run | generated tok | decode tok/s | draft accepted |\n|---|---|---|---|\n| a | 18 | 20 | 13/17 |\n", "table");
  REQUIRE(answers.at(0).acceptance);
  CHECK(answers[0].acceptance->steps == 5);
  CHECK(answers[0].acceptance->drafted_tokens == 17);
  const auto percent = posted_runs(
      "| Draft Model | tok/sec | Draft Tokens Accepted |\n|---|---|---|\n| N/A | 20 | N/A |\n| small K=4 | 30 | 50.0% "
      "|\n",
      "table");
  REQUIRE(percent.size() == 2);
  CHECK(percent[0].decoding == Decoding::plain);
  CHECK(percent[1].acceptance_length == near(3.0));
  const auto lengths = posted_runs("K,tok/s,accept\n0,30,\n3,45,2.60\n5,50,3.1\n", "table");
  CHECK(lengths.at(1).acceptance_length == 2.6);
  CHECK(lengths.at(2).acceptance_length == 3.1);
  const auto rates = posted_runs("K,tok/s,accept %\n0,30,\n3,45,2.60\n", "table");
  CHECK(rates.at(1).acceptance_length == near(1.0 + 3 * 0.026));
}

TEST_CASE("a ratio is no value: gains, the room of a KV cache") {
  const auto runs = posted_runs(
      "| Metric | No MTP | MTP (K=2) |\n|---|---|---|\n| Decode speed | 20 tok/s | 30 tok/s |\n"
      "| Max concurrency | 6.20x | 5.10x |\n| Acceptance length | - | 2.4 |\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK_FALSE(runs[1].concurrency);
  CHECK(runs[1].acceptance_length == 2.4);
  const auto some =
      posted_runs("| K | tok/s | AL |\n|---|---|---|\n| 0 | 20 | |\n| 2 | 31 | +8 % |\n| 3 | 1.5x | 3.0 |\n", "table");
  REQUIRE(some.size() == 3);
  CHECK_FALSE(some[1].acceptance_length);
  CHECK_FALSE(some[2].times.tpot_ms);
  const std::string gains = "| temp | accepted length | throughput |\n|---|---|---|\n| 0 | +0.1% | +2.5% |\n";
  CHECK(problem(gains).find("accepted length") != std::string::npos);
  const std::string ratios = "| Metric | Ratio |\n|---|---|\n| tok/s | 1.5x |\n| TPOT (ms) | 0.7x |\n";
  CHECK(problem(ratios).find("no line") != std::string::npos);
  CHECK(posted_runs("| concurrency | K | TPOT |\n|---|---|---|\n| 8x | 2 | 60 |\n", "table").at(0).concurrency == 8.0);
}

TEST_CASE("drafted and accepted tokens identify a table, and repetitions of a run are pooled") {
  const auto runs = posted_runs(
      "| rep | completion tok | drafted | accepted | server gen tok/s |\n|---|---|---|---|---|\n"
      "| 1 | 100 | 90 | 60 | 50 |\n| 2 | 100 | 95 | 60 | 48 |\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].acceptance->steps == 40);
  CHECK_FALSE(runs[0].drafter);
  const std::string turns = "| turn | tok/s | drafted | accepted |\n|---|---|---|---|\n| a | 50 | 90 | 60 |\n";
  CHECK(posted_runs(turns, "table").at(0).decoding == Decoding::speculative);
  const auto prompts = posted_runs("| Prompt tokens | tg TPS |\n|---|---|\n| 1,000 | 50 |\n", "table");
  CHECK(prompts.at(0).decoding == Decoding::unknown);
}

TEST_CASE("a test of llama-bench as a heading states its load, and a window may be that of the context") {
  const auto runs = posted_runs("| config | tg128 (c1) |\n|---|---|\n| no MTP | 60 |\n| MTP nst=1 | 90 |\n", "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[1].concurrency == 1.0);
  CHECK(runs[1].gamma == 1);
  const auto drafts = posted_runs("| window | tok/s | AL |\n|---|---|---|\n| 5 | 50 | 3.5 |\n", "table");
  CHECK(drafts.at(0).gamma == 5);
  CHECK(posted_runs("| window | K | tok/s |\n|---|---|---|\n| 4096 | 2 | 50 |\n", "table").at(0).gamma == 2);
}

TEST_CASE("speeds of all requests: none is that fast alone, and setups are not compared") {
  const std::string head = "| Draft | Concurrency | QPS | tok/s | AL |\n|---|---|---|---|---|\n";
  const auto runs =
      posted_runs(head + "| DSpark | 20 | 6.15 | 3340 | 3.1 |\n| DFlash | 20 | 6.17 | 3350 | 3.2 |\n", "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].times.output_tokens_per_s == 3340.0);
  CHECK(runs[0].concurrency == 20.0);
  CHECK_FALSE(runs[0].times.request_rate_per_s);
  CHECK(runs[0].drafter == "dspark");
  const LogContents contents = read_log(head + "| DSpark | 20 | 6.15 | 3340 | 3.1 |\n");
  CHECK(contents.warnings.at(0).message.find("Draft = name of the run") != std::string::npos);
  CHECK(problem(head + "| DSpark | 20 | 6.15 | 640 | 3.1 |\n").find("tok/s") != std::string::npos);
}

TEST_CASE("rows are told apart by a first column without a heading, and by models and devices") {
  const auto named = posted_runs(
      "| | tok/s |\n|---|---|\n| baseline (no spec) | 40 mean / 41 median |\n| `--spec-draft-n-max 2` | 64 mean |\n",
      "table");
  REQUIRE(named.size() == 2);
  CHECK(named[0].decoding == Decoding::plain);
  CHECK(named[0].times.tpot_ms == near(25.0));
  CHECK(named[1].gamma == 2);
  // A number of each row names nothing.
  CHECK_FALSE(posted_runs(",tok/s,accept len\n0,30,2.0\n1,45,2.5\n", "table").at(0).decoding == Decoding::plain);
  const auto models = posted_runs(
      "| Model | K | tok/s | Device |\n|---|---|---|---|\n| a | 0 | 50 | x |\n| a | 2 | 80 | x |\n| b | 0 | 20 | x |\n",
      "table");
  REQUIRE(models.size() == 3);
  CHECK(models[0].stratum.category == "a");
  CHECK(models[2].stratum.category == "b");
  const auto arms =
      posted_runs("| Model | tok/s |\n|---|---|\n| Some-8B baseline | 50 |\n| Some-8B + MTP n=2 | 80 |\n", "table");
  REQUIRE(arms.size() == 2);
  CHECK(arms[0].decoding == Decoding::plain);
  CHECK(arms[1].gamma == 2);
  CHECK(arms[1].drafter == "mtp");
}

TEST_CASE("columns that are arms alone: their cells say what they measure, by a unit or by the gain beside it") {
  const auto units = posted_runs(
      "| Model | Baseline | MTP | DFlash |\n|---|---:|---:|---:|\n| a | `40.0 t/s` | `80.0 t/s @ 70 %` | `50 t/s` |\n"
      "| b | 10 t/s | 25 t/s | 20 t/s |\n",
      "table");
  REQUIRE(units.size() == 6);
  CHECK(units[0].decoding == Decoding::plain);
  CHECK(units[0].times.tpot_ms == near(25.0));
  CHECK(units[0].stratum.category == "a");
  CHECK(units[1].drafter == "mtp");
  CHECK(units[1].times.tpot_ms == near(12.5));
  CHECK(units[5].stratum.category == "b");
  const auto gains = posted_runs(
      "| | Baseline | With flag | n-max | Acceptance |\n|---|---|---|---|---|\n| this one | 60.0 | 90.0 (+50%) | 2 | "
      "0.60 |\n",
      "table");
  REQUIRE(gains.size() == 2);
  CHECK(gains[0].times.tpot_ms == near(1000.0 / 60.0));
  CHECK(gains[1].gamma == 2);
  CHECK(gains[1].acceptance_length == near(2.2));
  CHECK(gains[1].times.tpot_ms == near(1000.0 / 90.0));
  const auto slower = posted_runs("| | Baseline | MTP |\n|---|---|---|\n| x | 30.0 | 20.0 (1.5x) |\n", "table");
  CHECK(slower.at(0).times.tpot_ms == 30.0);
  const std::string bare = "| c | baseline | n=1 | n=2 |\n|---|---|---|---|\n| 1 | 25 | 28 | 31 |\n";
  CHECK(problem(bare).find("baseline") != std::string::npos);
  CHECK(posted_runs(bare + "\n" + sample("own.csv"), "csv").size() == 2);
  CHECK(problem("| category | MTP | DFlash2 |\n|---|---|---|\n| code | 2.8 | 3.8 |\n").find("MTP") !=
        std::string::npos);
}

TEST_CASE("a cell with both sides is a run without speculation and one with it") {
  const auto runs = posted_runs(
      "| Model | n_max | tok/s | acceptance |\n|---|---|---|---|\n| a | 2 | 25.0 \xE2\x86\x92 **40.0** (+60%) | 0.7 "
      "|\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.tpot_ms == near(40.0));
  CHECK(runs[1].gamma == 2);
  CHECK(runs[1].times.tpot_ms == near(25.0));
  CHECK(runs[1].acceptance_length == near(2.4));
  // Before and after something else.
  CHECK(problem("| version | tok/s |\n|---|---|\n| a | 25.0 -> 40.0 |\n").find("no line") != std::string::npos);
}

TEST_CASE("arms in the keys of a record, and in headings with underscores") {
  const auto runs = posted_runs(
      R"({"baseline_tps": 30.0, "speculative_tps": 45.0, "speedup": 1.5, "acceptance_rate": 0.5, "num_draft_tokens": 4})",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].gamma == 4);
  CHECK(runs[1].acceptance_length == near(3.0));
  CHECK(runs[1].times.tpot_ms == near(1000.0 / 45.0));
  const auto compared = posted_runs(
      "category  base_avg_pred_t/s  spec_avg_pred_t/s  decode_speedup  accept_rate\n"
      "--------  -----------------  -----------------  --------------  -----------\n"
      "coding    50.00              80.00              1.60x           0.7500\n",
      "table");
  REQUIRE(compared.size() == 2);
  CHECK(compared[0].times.tpot_ms == near(20.0));
  CHECK(compared[0].stratum.category == "coding");
  CHECK(compared[1].times.tpot_ms == near(12.5));
}

TEST_CASE("a number of steps is no draft length") {
  const auto gammas = [](const std::string& table) {
    std::vector<std::int64_t> all;
    for (const auto& run : read_log(table).observations) all.push_back(run.gamma.value_or(0));
    return all;
  };
  const std::string head = "|---|---|---|---|\n";
  const std::string kinds = "| task | off tok/s | on tok/s | spec steps |\n" + head;
  CHECK(gammas(kinds + "| qa | 20 | 26 | 9 |\n| code | 20 | 31 | 4 |\n") == std::vector<std::int64_t>{0, 0, 0, 0});
  CHECK(gammas(kinds + "| qa | 20 | 26 | 3 |\n| code | 20 | 31 | 3 |\n") == std::vector<std::int64_t>{0, 3, 0, 3});
  CHECK(gammas("| num steps | off tok/s | on tok/s |\n|---|---|---|\n| 3 | 20 | 26 |\n| 5 | 20 | 31 |\n") ==
        std::vector<std::int64_t>{0, 3, 0, 5});
  CHECK(gammas("| config | tok/s | spec steps |\n|---|---|---|\n| plain | 12 | - |\n| ngram | 15 | 22 |\n") ==
        std::vector<std::int64_t>{0, 0});
  CHECK(gammas("| config | tok/s | steps |\n|---|---|---|\n| plain | 12 | - |\n| MTP K=2 | 15 | 7 |\n") ==
        std::vector<std::int64_t>{0, 2});
  CHECK(gammas("| config | tok/s | draft steps |\n|---|---|---|\n| plain | 12 | - |\n| MTP K=2 | 15 | 7 |\n") ==
        std::vector<std::int64_t>{0, 2});
  const auto counted = posted_runs("| run | tok/s | spec steps | drafted | accepted |\n" + head +
                                       "| off | 3 | 0 | 0 | 0 |\n| on | 4 | 9 | 27 | 6 |\n",
                                   "table");
  REQUIRE(counted.size() == 2);
  CHECK(counted[1].acceptance.value().steps == 9);
  CHECK(posted_runs("| run | tok/s | num steps | drafted | accepted |\n|---|---|---|---|---|\n| off | 3 | | | |\n"
                    "| on | 4 | 3 | 300 | 60 |\n",
                    "table")
            .at(1)
            .gamma == 3);
}

TEST_CASE("contexts in words are apart") {
  const std::string head = "| mode | ctx | tok/s |\n|---|---|---|\n";
  const auto words =
      posted_runs(head + "| off | empty | 20 |\n| off | 8k | 18 |\n| mtp | empty | 40 |\n| mtp | 8k | 20 |\n", "table");
  REQUIRE(words.size() == 4);
  CHECK(words[0].stratum.category == "empty");
  CHECK(words[3].stratum.category == "8k");
  const auto numbers = posted_runs(head + "| off | 0 | 20 |\n| mtp | - | 40 |\n", "table");
  REQUIRE(numbers.size() == 2);
  CHECK(numbers[0].stratum.context_tokens == 0.0);
  CHECK_FALSE(numbers[1].stratum.category);
}

TEST_CASE("a table that is not used is named, and asked about if only it has both arms") {
  const auto told = [](const std::string& text) {
    std::string all;
    for (const auto& warning : read_log(text).warnings) all += warning.code == "W18" ? warning.message : "";
    return all;
  };
  const std::string used = "| K | tok/s |\n|---|---|\n| 0 | 30 |\n| 2 | 45 |\n\n";
  const std::string ruling = "|---|---|---|\n";
  CHECK_THAT(told(used + "| thread | old out tok/s | new out tok/s |\n" + ruling + "| 1 | 60 | 80 |\n"),
             Catch::Contains("line 8") && Catch::Contains("thread | old out tok/s"));
  CHECK_THAT(told(used + "| what | first | second |\n" + ruling + "| this one | 60 tok/s | 80 tok/s |\n"),
             Catch::Contains("what | first"));
  for (const char* const other : {"| GPU | VRAM | price |", "| test | baseline | MTP |"}) {
    CAPTURE(other);
    CHECK(told(used + other + "\n" + ruling + "| a | 24 GB | 700 |\n").find("not used") == std::string::npos);
  }
  const std::string both = "| work | spec off | spec on |\n" + ruling + "| chat | 20 | 30 |\n| code | 20 | 40 |\n";
  CHECK_THAT(told(used + both), Catch::Contains("spec off"));
  const std::string said = "It runs at 50 tok/s with speculation.\n\n";
  CHECK(read_log(said).observations.size() == 1);
  CHECK_THAT(problem(said + both), Catch::Contains("spec off"));
  const std::string in_rows =
      "| what | first | second |\n" + ruling + "| baseline | 20 tok/s | a |\n| MTP | 30 tok/s | b |\n";
  CHECK_FALSE(problem(said + in_rows).empty());
  // A head in two rows: the second is that of a table.
  CHECK(posted_runs(
            "| Model | Way | A | |\n|---|---|---|---|\n| | | **tok/s** | accept length |\n| Foo | Vanilla | 30 | 1 |\n"
            "| | Eagle | 45 | 2.1 |\n",
            "table")
            .size() == 2);
}

TEST_CASE("a kind of prompts is no drafter, and a row of speeds is read by the unit of its cells") {
  CHECK_THAT(
      problem("| config | erster Lauf | MTP |\n|---|---|---|\n| tp2 | 30 t/s | 90 t/s |\n| tp4 | 40 t/s | 99 t/s |\n"),
      Catch::Contains("erster Lauf") && Catch::Contains("MTP"));
  CHECK(posted_runs(
            "| config | ohne alles | MTP |\n|---|---|---|\n| tp2 | 30 t/s | 90 t/s |\n| tp4 | 40 t/s | 99 t/s |\n",
            "table")
            .size() == 4);
  const std::string head = "| | no draft | MTP k=3 |\n|---|---|---|\n| accepted tokens per step | - | 3.2 |\n";
  const std::string prompts = "| Prefill, 7k prompt | 1000 tok/s | 1010 tok/s |\n| pp | 900 t/s | 910 t/s |\n";
  const std::string one = "| One stream, a code prompt | 14 tok/s | 30-31 tok/s, acceptance 70 % |\n";
  const auto runs = posted_runs(head + prompts + one, "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].times.tpot_ms == near(1000.0 / 14));
  CHECK(runs[1].times.tpot_ms == near(1000.0 / 30.5));
  CHECK(posted_runs(head + prompts + one + "| another | 15 tok/s | 33 tok/s |\n", "table").size() == 1);
}

}  // namespace foredraft::tests
