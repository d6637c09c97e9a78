// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/logs/logs_testing.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

const std::string decode = "[2026-02-03 10:00:02 TP0] Decode batch. #running-req: 2, #token: 9, token usage: 0.01, ";

}  // namespace

TEST_CASE("SGLang's accept rate is identified by what is the same in all lines") {
  const LogContents drafts = read_log(sample("sglang_2026.log"));
  REQUIRE(drafts.observations.size() == 3);
  for (const Observation& window : drafts.observations) CHECK(window.gamma == 3);
  CHECK(drafts.observations[1].acceptance->steps == 80);
  CHECK(drafts.observations[1].acceptance->accepted_tokens == 168);
  CHECK(drafts.observations[1].acceptance->drafted_tokens == 240);
  CHECK(drafts.observations[1].acceptance->steps_estimated);
  CHECK(warns(drafts, "W06"));
  const LogContents tokens = read_log(sample("sglang_2025.log"));
  REQUIRE(tokens.observations.size() == 3);
  for (const Observation& window : tokens.observations) CHECK(window.gamma == 4);
}

TEST_CASE("SGLang's context is the tokens in its cache by request, its windows are 40 steps long") {
  const LogContents contents = read_log(sample("sglang_2026.log"));
  CHECK(contents.observations.at(0).stratum.context_tokens == 450.0);
  CHECK(contents.observations.at(0).partial == true);
  const Observation& second = contents.observations.at(1);
  CHECK(*second.times.iteration_ms == Approx(40.0).epsilon(few_ulp));
  CHECK(*second.times.duration_s == Approx(1.6).epsilon(few_ulp));
  CHECK_FALSE(second.times.prompt_tokens_per_s);
  const Observation& third = contents.observations.at(2);
  CHECK(*third.times.prompt_tokens_per_s == Approx(125.0).epsilon(few_ulp));
  const LogContents newer = read_log(replaced(decode, "#token: 9", "#full token: 9") +
                                     "accept len: 2.50, gen throughput (token/s): 125.00, \n");
  CHECK(newer.observations.at(0).stratum.context_tokens == 4.5);
}

TEST_CASE("SGLang's data-parallel ranks have pauses and prompts of their own, and their requests are not all") {
  const auto line = [](int rank, const std::string& text) {
    return fmt::format("[2026-02-03 10:00:02 DP{} TP{}] ", rank, rank) + text + "\n";
  };
  const std::string window =
      decode.substr(decode.find("Decode")) + "accept len: 2.50, gen throughput (token/s): 125.00";
  const std::string prefill = "Prefill batch. #new-seq: 1, #new-token: 64, #running-req: 0, #queue-req: 0";
  const LogContents one = read_log(line(0, prefill) + line(0, window) + line(0, window));
  CHECK_FALSE(warns(one, "W12"));
  const LogContents two = read_log(line(1, prefill) + line(0, window) + line(1, window));
  CHECK(warns(two, "W12"));
  REQUIRE(two.observations.size() == 2);
  CHECK_FALSE(two.observations[0].partial);
  CHECK(two.observations[1].partial == true);
}

TEST_CASE("SGLang that adapts its draft length has none that is fixed") {
  const LogContents contents = read_log(
      "server_args=ServerArgs(model_path='m', speculative_algorithm='EAGLE', speculative_num_steps=3, "
      "speculative_eagle_topk=1, speculative_adaptive=True)\n" +
      decode + "accept len: 2.50, gen throughput (token/s): 125.00, \n");
  CHECK(contents.observations.at(0).adaptive == true);
  CHECK_FALSE(contents.observations.at(0).gamma);
}

TEST_CASE("SGLang's drafts are unknown without rates and where the lines do not show the definition") {
  const LogContents none = read_log(decode + "accept len: 2.50, gen throughput (token/s): 125.00, \n");
  REQUIRE(none.observations.size() == 1);
  CHECK_FALSE(none.observations[0].gamma);
  CHECK(none.observations[0].acceptance->accepted_tokens == 120);
  CHECK_FALSE(none.observations[0].acceptance->drafted_tokens);
  const LogContents both = read_log(decode + "accept len: 1.33, accept rate: 0.33, gen throughput (token/s): 125.00\n");
  CHECK_FALSE(both.observations[0].gamma);
  CHECK(warns(both, "W06"));
}

TEST_CASE("SGLang's settings give drafts and the steps of a line") {
  const LogContents contents = read_log(
      "server_args=ServerArgs(model_path='acme/t', speculative_algorithm='EAGLE', "
      "speculative_draft_model_path='acme/d', "
      "speculative_num_steps=5, speculative_eagle_topk=1, decode_log_interval=10)\n" +
      decode + "accept len: 2.50, gen throughput (token/s): 125.00, \n");
  CHECK(contents.settings.method == "EAGLE");
  CHECK(contents.settings.target == "acme/t");
  CHECK(contents.settings.draft == "acme/d");
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].gamma == 5);
  CHECK(contents.observations[0].acceptance->steps == 20);
  CHECK(contents.observations[0].acceptance->drafted_tokens == 100);
}

TEST_CASE("the settings of SGLang's server are those of a tree if it is wider than one token") {
  const auto read = [](const std::string& more) {
    return read_log("server_args=ServerArgs(model_path='m', speculative_algorithm='EAGLE3', speculative_num_steps=4, " +
                    more + ")\n" + decode + "accept len: 2.50, gen throughput (token/s): 125.00, \n");
  };
  const LogContents tree = read("speculative_eagle_topk=4, speculative_num_draft_tokens=24");
  CHECK(tree.observations.at(0).tree == logs::DraftTree{.steps = 4, .width = 4, .tokens = 24});
  CHECK_FALSE(tree.observations.at(0).gamma);
  CHECK_FALSE(tree.settings.gamma);
  const LogContents chain = read("speculative_eagle_topk=1, speculative_num_draft_tokens=5");
  CHECK(chain.observations.at(0).gamma == 4);
  CHECK_FALSE(chain.observations.at(0).tree);
  const LogContents adaptive =
      read("speculative_eagle_topk=4, speculative_num_draft_tokens=24, speculative_adaptive=True");
  CHECK_FALSE(adaptive.observations.at(0).tree);
}

TEST_CASE("each server of a log of SGLang has its own drafts") {
  const auto args = [](const std::string& settings) {
    return "server_args=ServerArgs(model_path='acme/t', " + settings + ", decode_log_interval=20)\n";
  };
  const auto command = [](const std::string& options) {
    return "$ python -m sglang.launch_server --model acme/t \\\n  --speculative-num-steps " + options + "\n";
  };
  const std::string window = decode + "accept len: 1.80, gen throughput (token/s): 90.00, \n";
  const std::string rated = decode + "accept len: 1.80, accept rate: 0.27, gen throughput (token/s): 90.00, \n";
  const auto gammas = [](const LogContents& contents) {
    std::vector<std::optional<std::int64_t>> all;
    for (const Observation& one : contents.observations) all.push_back(one.gamma);
    return all;
  };
  using Gammas = std::vector<std::optional<std::int64_t>>;

  const LogContents stated = read_log(args("speculative_algorithm='EAGLE', speculative_num_steps=2") + window +
                                      args("speculative_algorithm='NEXTN', speculative_num_steps=5") + window);
  CHECK(gammas(stated) == Gammas{2, 5});
  CHECK(stated.observations.at(0).acceptance->drafted_tokens == 80);
  CHECK(stated.observations.at(1).acceptance->drafted_tokens == 200);
  CHECK(stated.observations.at(0).drafter == "EAGLE");
  CHECK(stated.observations.at(1).drafter == "NEXTN");
  CHECK_FALSE(stated.settings.gamma);

  const std::string one_wide = " --speculative-eagle-topk 1";
  const LogContents of_options = read_log(command("2" + one_wide) + window + command("4" + one_wide) + rated);
  CHECK(gammas(of_options) == Gammas{2, 3});  // the rates of the second one contradict its command
  const LogContents below = read_log(window + window + command("3" + one_wide));
  CHECK(gammas(below) == Gammas{3, 3});
  const LogContents begun_again = read_log(command("2" + one_wide) + window + command("3" + one_wide));
  CHECK(gammas(begun_again) == Gammas{2});
  const LogContents of_tree =
      read_log(command("3 --speculative-eagle-topk 4 --speculative-num-draft-tokens 12") + window);
  CHECK(of_tree.observations.at(0).tree == logs::DraftTree{.steps = 3, .width = 4, .tokens = 12});
  const LogContents then_plain = read_log(args("speculative_algorithm='EAGLE', speculative_num_steps=2") + window +
                                          args("speculative_algorithm=None, speculative_num_steps=None") + window);
  CHECK(gammas(then_plain) == Gammas{2, std::nullopt});
}

TEST_CASE("SGLang's time after a pause is not used as an iteration time") {
  const LogContents contents = read_log(sample("sglang_2026.log"));
  REQUIRE(contents.observations.size() == 3);
  CHECK_FALSE(contents.observations[0].times.iteration_ms);
  CHECK_FALSE(contents.observations[0].times.output_tokens_per_s);
  CHECK(*contents.observations[1].times.iteration_ms == Approx(40.0).epsilon(few_ulp));
  CHECK(*contents.observations[2].times.iteration_ms == Approx(40.0).epsilon(few_ulp));
  CHECK(contents.observations[1].cuda_graphs == true);
  CHECK(contents.observations[1].waiting == 1.0);
  CHECK(warns(contents, "W11"));
}

TEST_CASE("SGLang's lines without acceptance are plain windows, and a truncated line is none") {
  const LogContents contents = read_log(decode + "gen throughput (token/s): 50.00, #queue-req: 0\n");
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].decoding == Decoding::plain);
  CHECK(*contents.observations[0].times.iteration_ms == Approx(40.0).epsilon(few_ulp));
  CHECK_FALSE(problem(decode + "gen throughput (token/s): 50.0").empty());
}

TEST_CASE("llama-server's requests get their steps and positions from the totals") {
  const LogContents contents = read_log(sample("llama_server.log"));
  REQUIRE(contents.observations.size() == 2);
  const Observation& second = contents.observations[1];
  CHECK(second.span == logs::Span::request);
  CHECK(second.gamma == 2);
  CHECK(second.acceptance->steps == 80);
  CHECK(second.acceptance->drafted_tokens == 160);
  CHECK(second.acceptance->accepted_tokens == 60);
  CHECK(second.acceptance->accepted_at == Counts{48, 12});
  CHECK_FALSE(second.acceptance->steps_estimated);
  CHECK(*second.times.draft_ms == Approx(3.0).epsilon(few_ulp));
  CHECK(*second.times.iteration_ms == Approx(37.5).epsilon(few_ulp));
  CHECK(second.stratum.request == "7");
  CHECK(second.stratum.context_tokens == 90.5);
  CHECK(second.requests == 1.0);
  CHECK(contents.settings.method == "draft-mtp");
}

TEST_CASE("llama-server names the drafter of each request and its rates by position") {
  const LogContents contents = read_log(sample("llama_server_rates.log"));
  REQUIRE(contents.observations.size() == 2);
  for (const Observation& request : contents.observations) {
    CHECK(request.drafter == "draft-eagle3");
    CHECK(request.gamma == 3);
    CHECK(request.acceptance->accepted_at == Counts{280, 200, 120});
    CHECK(request.acceptance->accepted_at_rounding == 0.0);
    CHECK(*request.times.draft_ms == Approx(15.0).epsilon(few_ulp));
    CHECK(*request.times.iteration_ms == Approx(65.0).epsilon(few_ulp));
    CHECK_FALSE(request.adaptive);
  }
  const std::string other = replaced(
      replaced(sample("llama_server_rates.log"), "dur(b,g,a) = 0.005, 6000.000", "dur(b,g,a) = 0.005, 60000.00"),
      "12000.000", "66000.000");
  const LogContents slow = read_log(other);
  CHECK_FALSE(slow.observations.at(0).times.draft_ms);
  CHECK(*slow.observations.at(1).times.draft_ms == Approx(15.0).epsilon(few_ulp));
  CHECK(warns(slow, "W18"));
}

TEST_CASE("the sum of llama-server's rounded totals is more accurate the longer it runs") {
  constexpr std::int64_t requests = 600;
  constexpr std::int64_t steps = 200;
  const std::vector<double> shares{0.7, 0.49, 0.343};
  std::mt19937_64 random(3);
  Counts total(3, 0);
  std::string log;
  for (std::int64_t i = 1; i <= requests; ++i) {
    Counts at(3, 0);
    for (std::int64_t step = 0; step < steps; ++step) {
      const double u = std::uniform_real_distribution<double>()(random);
      for (std::size_t k = 0; k < 3; ++k) at[k] += u < shares[k] ? 1 : 0;
    }
    for (std::size_t k = 0; k < 3; ++k) total[k] += at[k];
    const std::int64_t accepted = at[0] + at[1] + at[2];
    const auto rate = [&](std::size_t k) { return static_cast<double>(total[k]) / static_cast<double>(i * steps); };
    log += fmt::format(
        "I slot print_timing: id  0 | task {} | eval time = {:.2f} ms / {} tokens (1 ms per token)\n"
        "I slot print_timing: id  0 | task {} | draft acceptance = 0.5 ( {} accepted / {} generated), mean len = "
        "{:.2f}\n"
        "I statistics draft-mtp: #calls(b,g,a) = {} {} {}, #gen drafts = {}, #acc drafts = 1, #gen tokens = {}, #acc "
        "tokens = {}, #mean acc len = 2.50, #acc rate/pos = ({:.3f}, {:.3f}, {:.3f}), dur(b,g,a) = 0.1, {:.3f}, 0.1 "
        "ms\n",
        i, 20.0 * steps, steps + accepted + 1, i, accepted, 3 * steps, 2.5, i, i * steps, i * steps, i * steps,
        3 * i * steps, total[0] + total[1] + total[2], rate(0), rate(1), rate(2), 2.0 * static_cast<double>(i * steps));
  }
  const LogContents contents = read_log(log);
  REQUIRE(contents.observations.size() == requests);
  Counts sum(3, 0);
  double rounding = 0.0;
  for (const Observation& request : contents.observations) {
    const logs::AcceptanceCounts& counts = *request.acceptance;
    CHECK(counts.accepted_at.at(0) + counts.accepted_at.at(1) + counts.accepted_at.at(2) == counts.accepted_tokens);
    for (std::size_t k = 0; k < 3; ++k) sum[k] += counts.accepted_at[k];
    rounding += counts.accepted_at_rounding;
  }
  CHECK(rounding <= 0.0005 * requests * steps + 1.0);
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(std::abs(static_cast<double>(sum[k] - total[k])) <= 2.0 * 0.0005 * requests * steps + 2.0);
  }
}

TEST_CASE("llama-server's drafter that stops at a threshold is adaptive, an n-gram one is not") {
  std::string log = sample("llama_server.log");
  for (const auto& [from, to] :
       {std::pair{"  200 generated", "  170 generated"}, std::pair{"#gen tokens =   200", "#gen tokens =   170"},
        std::pair{"  160 generated", "  140 generated"}, std::pair{"#gen tokens =   360", "#gen tokens =   310"}}) {
    log = replaced(log, from, to);
  }
  CHECK(read_log(log).observations.at(0).adaptive == true);
  CHECK_FALSE(read_log(sample("llama_server.log")).observations.at(0).adaptive);
  for (int i = 0; i < 2; ++i) log = replaced(log, "draft-mtp:", "ngram_simple:");
  CHECK_FALSE(read_log(log).observations.at(0).adaptive);
}

TEST_CASE("llama-server's drafts of several methods have no common length") {
  const auto statistics = [](const char* method, int drafts, int drafted, int accepted) {
    return fmt::format(
        "I statistics {}: #calls(b,g,a) = 2 90 {}, #gen drafts = {}, #acc drafts = 9, #gen tokens = {}, "
        "#acc tokens = {}, dur(b,g,a) = 0.1, 9.000, 0.1 ms\n",
        method, drafts, drafts, drafted, accepted);
  };
  const std::string request =
      "eval time = 9000.00 ms / 151 tokens\ndraft acceptance = 0.5 ( 90 accepted / 180 generated)\n";
  const Observation both =
      read_log(request + statistics("ngram-mod", 1, 32, 20) + statistics("draft-mtp", 150, 300, 180))
          .observations.at(0);
  CHECK(both.adaptive == true);
  CHECK(both.drafter == "ngram-mod+draft-mtp");
  const Observation one =
      read_log(request + statistics("ngram-mod", 0, 0, 0) + statistics("draft-mtp", 150, 300, 180)).observations.at(0);
  CHECK_FALSE(one.adaptive);
  CHECK(one.drafter == "draft-mtp");
}

TEST_CASE("llama-server's tokens show the steps without a draft") {
  const std::string log = replaced(sample("llama_server.log"), "/   251 tokens", "/   351 tokens");
  const Observation request = read_log(log).observations.at(0);
  CHECK(request.acceptance->steps == 100);
  CHECK(request.acceptance->generated_tokens == 350);
  CHECK(*request.times.iteration_ms == Approx(25.0).epsilon(few_ulp));  // 5000 ms / (100 + 100)
}

TEST_CASE("llama-server's requests without totals have estimated steps, without drafts they are plain") {
  const LogContents old = read_log(sample("llama_server_old.log"));
  REQUIRE(old.observations.size() == 1);
  CHECK(old.observations[0].acceptance->steps == 100);
  CHECK(old.observations[0].acceptance->steps_estimated);
  CHECK(*old.observations[0].times.ttft_ms == 75.13);
  const std::string log = sample("llama_server_old.log");
  const LogContents plain = read_log(log.substr(0, log.find("slot")));
  REQUIRE(plain.observations.size() == 1);
  CHECK(plain.observations[0].decoding == Decoding::plain);
  CHECK(*plain.observations[0].times.iteration_ms == *plain.observations[0].times.tpot_ms);
}

TEST_CASE("llama-server's lines of each draft count the steps of a request, also where its times are cut off") {
  const std::string log =
      "slot update_slots: id  0 | task 7 | accepted  3/ 3 draft tokens\n"
      "slot update_slots: id  1 | task 8 | accepted  1/ 3 draft tokens\n"
      "slot update_slots: id  0 | task 7 | accepted  0/ 3 draft tokens\n"
      "slot print_timing: id  0 | task 7 | prompt eval time =     100.00 ms /    50 tokens\n"
      "slot print_timing: id  0 | task 7 |        eval time =     100.00 ms /     6 tokens\n";
  const auto runs = posted_runs(log, "llama-server");
  REQUIRE(runs.size() == 2);
  const auto& cut = runs[runs[0].stratum.request == "8" ? 0 : 1];
  const auto& whole = runs[runs[0].stratum.request == "8" ? 1 : 0];
  CHECK(whole.decoding == Decoding::speculative);
  CHECK(whole.acceptance->steps == 2);
  CHECK(whole.acceptance->drafted_tokens == 6);
  CHECK(whole.acceptance->accepted_tokens == 3);
  CHECK(whole.times.iteration_ms == near(50.0));
  CHECK(whole.times.tpot_ms == near(20.0));  // as of the same request in JSON: after the first token
  CHECK(cut.acceptance->steps == 1);
  CHECK(cut.acceptance->accepted_tokens == 1);
  CHECK_FALSE(cut.times.tpot_ms);
}

TEST_CASE("tasks of llama-server that never end do not fill the memory") {
  std::string log;
  for (int task = 0; task < 3000; ++task) {
    log += fmt::format("slot update_slots: id  0 | task {} | accepted  1/ 3 draft tokens\n", task);
  }
  const auto runs = posted_runs(log, "llama-server");
  CHECK(runs.size() == 1024);
  for (const auto& run : runs) CHECK(run.line > 3000 - 1024);  // the last ones
}

TEST_CASE("llama-server's command line says whether requests drafted where no drafts are printed") {
  const std::string request =
      "slot print_timing: id  0 | task 1 | prompt eval time =     100.00 ms /    50 tokens\n"
      "slot print_timing: id  0 | task 1 |        eval time =    4000.00 ms /   201 tokens\n";
  std::string faster = request;
  faster.replace(faster.find("4000.00"), 7, "2500.00");
  const std::string plain = "$ ./llama-server -m big.gguf -c 4096\n" + request;
  const std::string mtp =
      "$ ./llama-server \\\n  -c 4096 \\\n  --spec-type draft-mtp --spec-draft-n-max 2 \\\n  -m big.gguf\n";
  const auto runs = posted_runs("With MTP:\n" + mtp + faster + "Without:\n" + plain, "llama-server");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].gamma == 2);
  CHECK(runs[0].times.tpot_ms == near(12.5));
  CHECK_FALSE(runs[0].times.iteration_ms);
  CHECK(runs[1].decoding == Decoding::plain);
  CHECK(runs[1].times.iteration_ms == near(20.0));
  const auto one = [&](const std::string& command) {
    return posted_runs(command + "\n" + request, "llama-server").at(0);
  };
  // A maximum is no draft length where the draft model may stop.
  CHECK(one("llama-server -m a.gguf -md b.gguf --draft-max 16").decoding == Decoding::speculative);
  CHECK_FALSE(one("llama-server -m a.gguf -md b.gguf --draft-max 16").gamma);
  CHECK_FALSE(one("llama-server -m a.gguf --spec-type draft-mtp --spec-draft-n-max 3 --spec-draft-p-min 0.5").gamma);
  CHECK(one("llama-server.exe -m a.gguf --spec-type mtp:n_max=3,p_min=0.0").gamma == 3);
  CHECK(one("llama-server -m a.gguf --spec-type none").decoding == Decoding::plain);
  CHECK(one("llama-server -m a.gguf -md b.gguf --draft-max 0").decoding == Decoding::plain);
  CHECK(one("llama-server -m a.gguf\nllama-cli -m a.gguf -md b.gguf").decoding == Decoding::plain);
  CHECK(one("# speculative.n_max: 0").decoding == Decoding::plain);
  CHECK(one("# speculative.n_max: 16").decoding == Decoding::speculative);
  CHECK(one("I also set -md b.gguf").decoding == Decoding::plain);
  // Of a build that prints drafts, a request without is not that of a plain server if the command line drafts.
  const auto printed = posted_runs("llama-server -m a.gguf -md b.gguf\n" + request + request +
                                       "draft acceptance rate = 0.5 (  100 accepted /   200 generated)\n",
                                   "llama-server");
  REQUIRE(printed.size() == 2);
  CHECK(printed[0].decoding == Decoding::unknown);
  CHECK(printed[1].decoding == Decoding::speculative);
}

TEST_CASE("llama-server's totals are those of a request if its tokens are those of their calls and accepted drafts") {
  const auto run = [](const std::string& calls) {
    return posted_runs(
               "prompt eval time =     100.00 ms /    24 tokens\n"
               "       eval time =    6000.00 ms /   201 tokens\n"
               "statistics draft: #calls(b,g,a) = 1 " +
                   calls +
                   " 30, #gen drafts = 60, #acc drafts = 30, #gen tokens = 300, #acc tokens = 120, "
                   "dur(b,g,a) = 0.000, 1600.000, 0.022 ms\n",
               "llama-server")
        .at(0);
  };
  const Observation of_request = run("80");
  CHECK(of_request.decoding == Decoding::speculative);
  REQUIRE(of_request.acceptance);
  CHECK(of_request.acceptance->steps == 60);
  CHECK(of_request.acceptance->accepted_tokens == 120);
  CHECK(of_request.acceptance->generated_tokens == 200);
  CHECK(of_request.times.iteration_ms == near(75.0));  // of 80 steps, 20 without a draft
  CHECK_FALSE(run("90").acceptance);                   // also counts other requests
}

TEST_CASE("llama-server's drafts after a prefix with brackets, and a plain server's requests in the same file") {
  const std::string request =
      "[Info] (Process)        eval time =    5000.00 ms /   250 tokens (   20.00 ms per token,    50.00 tokens per "
      "second)\n";
  const std::string drafts = "[Info] (Process) draft acceptance rate = 0.75000 (  150 accepted /   200 generated)\n";
  const LogContents both = read_log(request + request + drafts);
  REQUIRE(both.observations.size() == 2);
  CHECK(both.observations[0].decoding == Decoding::plain);
  CHECK(both.observations[1].decoding == Decoding::speculative);
  CHECK(both.observations[1].acceptance->accepted_tokens == 150);
  // An n-gram drafter may find nothing to draft, and a short answer too.
  const std::string totals =
      "statistics ngram_mod: #calls = 250, #gen drafts = 5, #acc drafts = 5, #gen tokens = 200, #acc tokens = 150, dur "
      "= 1 ms\n";
  CHECK(read_log(request + request + drafts + totals).observations.at(0).decoding == Decoding::unknown);
  const std::string brief = replaced(request, "  250 tokens", "   20 tokens");
  CHECK(read_log(brief + request + drafts).observations.at(0).decoding == Decoding::unknown);
}

TEST_CASE("llama-server's acceptance of 100 % by construction is replaced by its totals or left out") {
  const std::string log =
      replaced(sample("llama_server.log"), "0.75000 (  150 accepted /  200", "1.00000 (  120 accepted /  120");
  const LogContents contents = read_log(log);
  REQUIRE(contents.observations.size() == 2);
  CHECK(warns(contents, "W13"));
  CHECK(contents.observations[0].acceptance->accepted_tokens == 150);
  CHECK(contents.observations[0].acceptance->drafted_tokens == 200);
  const LogContents alone = read_log(
      "the target context does not support partial sequence removal\n"
      "draft acceptance = 1.00000 (    8 accepted /     8 generated), mean len =  3.00\n");
  REQUIRE(alone.observations.size() == 1);
  CHECK(warns(alone, "W13"));
  CHECK_FALSE(alone.observations[0].acceptance);
  CHECK_FALSE(
      warns(read_log("draft acceptance = 1.00000 (    8 accepted /     8 generated), mean len =  3.00\n"), "W13"));
}

TEST_CASE("llama-server that accepts more than it drafted is rejected") {
  CHECK(problem("\ndraft acceptance = 1.10000 (    9 accepted /     8 generated)\n").find("some.log:2: accepted: 9 ") ==
        0);
}

TEST_CASE("llama-speculative gives counts, speed and the time of drafting") {
  const LogContents contents = read_log(sample("llama_speculative.txt"));
  REQUIRE(contents.observations.size() == 1);
  const Observation& run = contents.observations[0];
  CHECK(run.gamma == 8);
  CHECK(run.acceptance->steps == 160);
  CHECK(run.acceptance->drafted_tokens == 1200);
  CHECK(run.acceptance->accepted_tokens == 240);
  CHECK(*run.times.iteration_ms == Approx(125.0).epsilon(few_ulp));
  CHECK(*run.times.draft_ms == Approx(30.0).epsilon(few_ulp));
  const LogContents twice = read_log(sample("llama_speculative.txt") + sample("llama_speculative.txt"));
  CHECK(twice.observations.size() == 2);
  CHECK(*twice.observations[1].times.draft_ms == Approx(30.0).epsilon(few_ulp));
}

TEST_CASE("tables of llama.cpp hold times of decode steps") {
  const LogContents bench = read_log(sample("llama_bench.md"));
  REQUIRE(bench.observations.size() == 3);
  CHECK(bench.observations[0].times.prompt_tokens_per_s == 2000.0);
  CHECK_FALSE(bench.observations[0].times.iteration_ms);
  CHECK(bench.observations[1].decoding == Decoding::plain);
  CHECK(*bench.observations[1].times.iteration_ms == Approx(12.5).epsilon(few_ulp));
  CHECK(bench.observations[1].times.tpot_ms == bench.observations[1].times.iteration_ms);
  CHECK(bench.observations[2].stratum.context_tokens == 4160.0);
  const LogContents batched = read_log(sample("llama_batched_bench.txt"));
  REQUIRE(batched.observations.size() == 2);
  CHECK(batched.observations[1].requests == 8.0);
  CHECK(*batched.observations[1].times.iteration_ms == Approx(20.0).epsilon(few_ulp));
  CHECK(batched.observations[1].times.tpot_ms == batched.observations[1].times.iteration_ms);
  CHECK(batched.observations[1].times.output_tokens_per_s == 400.0);
}

TEST_CASE("gauges of SGLang are read once, not once a rank, and not those of the draft model") {
  const LogContents contents = read_log(sample("prometheus_sglang.prom"));
  REQUIRE(contents.observations.size() == 1);
  const Observation& run = contents.observations[0];
  CHECK(contents.engine == "sglang");
  CHECK(run.acceptance_length == 2.75);
  CHECK_FALSE(run.acceptance);
  CHECK(run.gamma == 3);
  CHECK(run.requests == 6.0);
  CHECK(warns(contents, "W02"));
  std::string tree = sample("prometheus_sglang.prom");
  tree.replace(tree.find("} 4.0"), 5, "} 8.0");
  CHECK_FALSE(read_log(tree).observations[0].gamma);
}

TEST_CASE("scrapes of llama-server and SGLang have the times of their servers, plain ones too") {
  const std::string plain_text =
      "llamacpp:tokens_predicted_total 3469\nllamacpp:tokens_predicted_seconds_total 346.9\n"
      "llamacpp:requests_processing 2\nllamacpp:spec_decode_num_drafts_total 0\n";
  const LogContents contents = read_log(plain_text);
  CHECK(contents.engine == "llama.cpp");
  const Observation& plain = contents.observations.at(0);
  CHECK(plain.decoding == Decoding::plain);
  CHECK(*plain.times.tpot_ms == Approx(100.0).epsilon(few_ulp));
  CHECK(plain.requests == 2.0);
  const LogContents drafting = read_log(
      "llamacpp:tokens_predicted_total 2500\nllamacpp:tokens_predicted_seconds_total 50.0\n"
      "llamacpp:spec_decode_num_drafts_total 1000\nllamacpp:spec_decode_num_draft_tokens_total 2000\n"
      "llamacpp:spec_decode_num_accepted_tokens_total 1500\n");
  CHECK(*drafting.observations.at(0).times.tpot_ms == Approx(20.0).epsilon(few_ulp));
  CHECK(*drafting.observations.at(0).times.iteration_ms == Approx(50.0).epsilon(few_ulp));
  const LogContents batch = read_log("sglang:gen_throughput 300.0\nsglang:num_running_reqs 6\n");
  CHECK(batch.observations.at(0).decoding == Decoding::plain);
  CHECK(*batch.observations.at(0).times.tpot_ms == Approx(20.0).epsilon(few_ulp));
  const LogContents speculative =
      read_log(sample("prometheus_sglang.prom") + "sglang:gen_throughput{engine_type=\"unified\"} 300.0\n");
  CHECK(*speculative.observations.at(0).times.iteration_ms == Approx(55.0).epsilon(few_ulp));
}

TEST_CASE("a table of acceptance lengths has an observation for each draft length, with and without thinking") {
  const LogContents contents = read_log(sample("acceptance_table.yaml"));
  REQUIRE(contents.observations.size() == 3);
  CHECK(contents.settings.target == "acme-8b-nvfp4");
  const Observation& second = contents.observations[1];
  CHECK(second.line == 7);
  CHECK(second.gamma == 3);
  CHECK(second.acceptance_length == 2.9);
  CHECK(second.stratum == logs::Stratum{.temperature = 1.0, .top_p = 0.95, .reasoning = true, .category = "coding"});
  CHECK(contents.observations[2].stratum.reasoning == false);
  CHECK(contents.observations[2].stratum.temperature == 0.6);
  const std::string text = sample("acceptance_table.yaml");
  CHECK(problem(text + "    2: 3.5\n") == "some.log:10: 2: acceptance length 3.5");
  CHECK(problem(text + "other-model:\n  thinking_on:\n    1: 1.5\n")
            .starts_with("some.log:12: other-model: a second model"));
  CHECK(problem("    1: 1.5\n") == "some.log: no line of a known format");
}

}  // namespace foredraft::tests
