// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// Command lines above posted output, and totals that count more than it.
namespace foredraft::tests {
namespace {

using logs::Decoding;

const std::string mtp_run =
    "  write_tests        pred= 150 draft= 120 acc=  90 rate=0.750 tok/s=45.0\n"
    "  explain_log        pred= 120 draft=  99 acc=  60 rate=0.606 tok/s=36.0\n";
const std::string plain_run =
    "  write_tests        pred= 150 draft=   0 acc=   0 rate=n/a tok/s=25.0\n"
    "  explain_log        pred= 120 draft=   0 acc=   0 rate=n/a tok/s=24.0\n";

std::string one_line(std::string text) {
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text + "\n";
}

/// A request of llama-server whose totals also count others.
std::string request_of_totals(int drafts, int drafted) {
  return "slot print_timing: id  0 | task 9 | eval time =    4000.00 ms /   200 tokens (20.00 ms per token)\n"
         "draft acceptance rate = 0.66667 (  100 accepted /   150 generated)\n"
         "statistics mtp: #calls(b,g,a) = 4 500 400, #gen drafts = " +
         std::to_string(drafts) + ", #acc drafts = 400, #gen tokens = " + std::to_string(drafted) +
         ", #acc tokens = " + std::to_string(drafted * 2 / 3) + ", dur(b,g,a) = 0.003, 700.000, 0.100 ms\n";
}

}  // namespace

TEST_CASE("mtp-bench.py: the command line above a run has its draft length") {
  const std::string bare = "./llama-server -m a.gguf -np 1\n";
  const std::string mtp = "./llama-server -m a.gguf -np 1 --spec-type draft-mtp --spec-draft-n-max 3\n";
  const auto runs = posted_runs(mtp_run + mtp + mtp_run + bare + plain_run, "mtp-bench");
  REQUIRE(runs.size() == 6);
  CHECK_FALSE(runs[1].gamma);
  CHECK(runs[2].gamma == 3);
  CHECK(runs[3].gamma == 3);
  CHECK(runs[4].decoding == Decoding::plain);
  CHECK_FALSE(runs[4].gamma);
  // A command line ends a run, also where no prompt is repeated.
  const auto halves = posted_runs(
      mtp + mtp_run.substr(0, mtp_run.find('\n') + 1) + bare + plain_run.substr(plain_run.find('\n') + 1), "mtp-bench");
  REQUIRE(halves.size() == 2);
  CHECK(halves[1].decoding == Decoding::plain);
}

TEST_CASE("mtp-bench.py: lines above runs of several draft lengths state these") {
  for (const std::string mark : {"## n-max ", "### MTP, K = ", "**n_max=", "**--spec-draft-n-max ", "--- mtp K="}) {
    const std::string end = mark.front() == '*' ? "**\n" : mark == "## n-max " ? "\n\nSome words on it.\n\n" : "\n";
    const auto runs = posted_runs(mark + "2" + end + mtp_run + "\n" + mark + "3" + end + mtp_run, "mtp-bench");
    REQUIRE(runs.size() == 4);
    CHECK(runs[0].gamma == 2);
    CHECK(runs[1].gamma == 2);
    CHECK(runs[2].gamma == 3);
    CHECK(runs[3].gamma == 3);
  }
}

TEST_CASE("a configuration of TensorRT-LLM names the engine of a client's output") {
  const std::string client = "speed=60.0 token/s\n";
  for (const std::string config : {"served with `speculative_config: {decoding_type: Eagle, max_draft_len: 3}`:\n",
                                   "speculative_config:\n  decoding_type: MTP\n", "  decoding_type: \"NGram\"\n"})
    CHECK(read_log(config + client).engine == "tensorrt-llm");
  CHECK(read_log("speculative_config: {\"method\": \"mtp\", \"num_speculative_tokens\": 3}\n" + client).engine ==
        "vllm");
  CHECK(read_log(client).engine.empty());
}

TEST_CASE("mtp-bench.py: a page without the ends of lines") {
  const std::string text = one_line("./llama-server -m a.gguf\n" + plain_run + "Aggregate: { \"n\": 2 }\n" +
                                    "./llama-server -m b.gguf --spec-type mtp --spec-draft-n-max 2\n" + mtp_run);
  const auto runs = posted_runs(text, "mtp-bench");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK_FALSE(runs[0].stratum.category);
  CHECK(runs[1].stratum.category == "explain_log");
  CHECK(runs[1].times.tpot_ms == near(1000.0 / 24.0));
  CHECK(runs[2].gamma == 2);
  CHECK(runs[3].acceptance->accepted_tokens == 60);
  CHECK(runs[3].times.tpot_ms == near(1000.0 / 36.0));
}

TEST_CASE("llama-server's totals of more requests than the log shows are named, and tell the draft length") {
  const logs::LogContents contents = read_log(request_of_totals(500, 1500));
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].acceptance->steps == 50);  // 150 / 3; the tokens alone say 99
  CHECK(warns(contents, "W02"));
  // Drafts of several lengths: the steps are those of the tokens.
  CHECK(read_log(request_of_totals(500, 1400)).observations.at(0).acceptance->steps == 99);
  const logs::LogContents alone = read_log(request_of_totals(75, 150));
  CHECK_FALSE(warns(alone, "W02"));
}

TEST_CASE("a command line above the output of a script says whether it speculates") {
  const std::string server = "python -m some.engine.api_server \\\n--model big \\\n";
  const std::string options = "--speculative-model \"[ngram]\"  \\\n--num-speculative-tokens 5\n";
  const std::string slow = "\nttft: 60.5 ms\ntpot: 20.0 ms\navg_throughput: 400.0tokens/s\n";
  const std::string fast = "\nttft: 61.5 ms\ntpot: 16.0 ms\navg_throughput: 500.0tokens/s\n";
  const logs::LogContents contents = read_log("1.\n" + server + slow + "2.\n" + server + options + fast);
  REQUIRE(contents.observations.size() == 2);
  CHECK(contents.observations[0].decoding == Decoding::plain);
  CHECK(contents.observations[0].times.tpot_ms == 20.0);
  CHECK(contents.observations[1].decoding == Decoding::speculative);
  CHECK(contents.observations[1].gamma == 5);
  CHECK(contents.observations[1].times.output_tokens_per_s == 500.0);
  CHECK(warns(contents, "W22"));
  const auto decodings = [](const std::string& text) {
    std::vector<Decoding> all;
    for (const auto& run : read_log(text).observations) all.push_back(run.decoding);
    return all;
  };
  using Decodings = std::vector<Decoding>;
  // Nothing drafts, or only another program.
  CHECK(decodings(server + slow) == Decodings{Decoding::unknown});
  CHECK(decodings("vllm serve big --speculative-config '{\"method\": \"mtp\"}'\n" + fast + server + slow) ==
        Decodings{Decoding::speculative, Decoding::unknown});
  // A client's command line is that of the server before it.
  CHECK(decodings(server + options + "python client.py\n" + fast) == Decodings{Decoding::speculative});
  // Two servers before all output.
  CHECK(decodings(server + server + options + slow + fast) == Decodings{Decoding::unknown, Decoding::unknown});
  // An option that is off, and one in a sentence.
  CHECK(decodings("python a.py --with_speculation False\n" + slow + "python a.py --with_speculation True\n" + fast) ==
        Decodings{Decoding::plain, Decoding::speculative});
  CHECK(decodings("python a.py\nI left out --with_speculation True here.\n" + slow) == Decodings{Decoding::unknown});
}

TEST_CASE("a command line ends what the line above earlier runs says") {
  const auto runs =
      posted_runs("decoding_type: MTP\nspeed=90.0 token/s\npython run.py --plain\nspeed=60.0 token/s\n", "small-bench");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[1].decoding != Decoding::speculative);
}

TEST_CASE("a configuration after its command line is of its program") {
  const auto runs = posted_runs(
      "trtllm-bench --model big\ndecoding_type: MTP\nspeed=90.0 token/s\n"
      "trtllm-bench --model big\nspeed=60.0 token/s\n",
      "small-bench");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[1].decoding == Decoding::plain);
}

TEST_CASE("a command line has the load of the run below it") {
  const std::string console =
      "Total Output Throughput (tokens/sec):  800.0\nAverage time-per-output-token [TPOT] (ms):  4.5\n"
      "Per User Output Speed (tps/user):  222.0\n";
  const std::string command = "trtllm-bench -m foo throughput \\\n\t--concurrency 4 \\\n\t--streaming\n";
  const auto runs =
      posted_runs("decoding_type: MTP\nnum_nextn_predict_layers: 2\n" + command + console, "trtllm-bench-console");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].concurrency == 4.0);
  CHECK(runs[0].gamma == 2);
}

TEST_CASE("a chain of drafters has the steps of its tokens") {
  const auto runs = posted_runs(
      "eval time =    6000.00 ms /   801 tokens (7.49 ms per token, 133.50 tokens per second)\n"
      "draft acceptance rate = 0.66667 (  600 accepted /   900 generated)\n"
      "statistics ngram_mod: #calls(b,g,a) = 1 200 5, #gen drafts = 5, #acc drafts = 5, #gen tokens = 360, #acc tokens "
      "= 200, dur(b,g,a) = 0.2, 5.1, 7.2 ms\n"
      "statistics mtp: #calls(b,g,a) = 1 180 180, #gen drafts = 180, #acc drafts = 170, #gen tokens = 540, #acc tokens "
      "= 400, dur(b,g,a) = 0.003, 700.000, 0.100 ms\n",
      "llama-server");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].drafter == "ngram_mod+mtp");
  REQUIRE(runs[0].acceptance);
  CHECK(runs[0].acceptance->steps == 200);
}

TEST_CASE("the end of vLLM's bar of progress may follow the name of its run") {
  const auto runs = posted_runs(
      "* plain, [02:00<00:00,  1.50s/it, est. speed input: 40.00 toks/s, output: 100.00 toks/s]\n"
      "* k=2: [01:30<00:00,  1.10s/it, est. speed input: 60.00 toks/s, output: 150.00 toks/s] Accpt Len: 1.90\n"
      "Processed prompts:  50%|##   | 5/10 [00:10<00:10, est. speed input: 9.00 toks/s, output: 1.00 toks/s]\n",
      "small-bench");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].gamma == 2);
  CHECK(runs[1].times.output_tokens_per_s == 150.0);
  CHECK(runs[1].acceptance_length == 1.9);
}

TEST_CASE("the command of a server or a client by its name states draft length and load") {
  const std::string table = "| tok/s | accept length |\n|---|---|\n| 50 | 2.4 |\n";
  const auto run_below = [&](const std::string& commands) {
    return posted_runs(commands + "\n" + table, "table").at(0);
  };
  const auto both =
      run_below("# server: xllm --model m --num_speculative_tokens=3\naiperf profile --model m --concurrency 16\n");
  CHECK(both.gamma == 3);
  CHECK(both.concurrency == 16.0);
  CHECK(run_below("$ aiperf profile --model m --concurrency 8\n").concurrency == 8.0);
  CHECK_FALSE(run_below("We like aiperf and its --concurrency 16 option.\n").concurrency);
  CHECK(run_below("vllm bench serve --model m --max-concurrency 12\n").concurrency == 12.0);
  CHECK(run_below("genai-bench benchmark --api-backend openai --num-concurrency 6\n").concurrency == 6.0);
  CHECK_FALSE(run_below("genai-bench has --num-concurrency 6.\n").concurrency);
}

TEST_CASE("text-generation-webui: the command above its answers names the draft model") {
  const std::string answer = "Output generated in 8.00 seconds (25.00 tokens/s, 200 tokens, context 90, seed 7)\n";
  for (const std::string option : {"--model-draft acme_1B", "--draft-model acme_1B"}) {
    const auto runs = posted_runs("python server.py --model acme_70B " + option + " --draft-max 6\n\n" + answer +
                                      "\npython server.py --model acme_70B\n\n" + answer,
                                  "local-prompts");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::speculative);
    CHECK(runs[0].gamma == 6);
    CHECK(runs[1].decoding == Decoding::plain);
  }
}

TEST_CASE("a client that is started again measures the server of the part before") {
  const std::string table = "\n| tok/s | accept length |\n|---|---|\n| 50 | 2.4 |\n\n";
  const auto runs = posted_runs(
      "$ vllm serve m --speculative-config '{\"method\":\"mtp\",\"num_speculative_tokens\":3}'\n"
      "$ vllm bench serve --max-concurrency 1\n" +
          table + "$ vllm bench serve --max-concurrency 16\n" + table,
      "table");
  REQUIRE(runs.size() == 2);
  for (const auto& run : runs) CHECK(run.gamma == 3);
  CHECK(runs[0].concurrency == 1.0);
  CHECK(runs[1].concurrency == 16.0);
}

TEST_CASE("the total of vllm bench throughput is that of the run whose progress ended above it") {
  const std::string bar =
      "Processed prompts: 100%|#| 9/9 [00:10<00:00, est. speed input: 9.00 toks/s, output: 105.00 toks/s]\n";
  const std::string total = "Throughput: 2.00 requests/s, 400.00 total tokens/s, 100.00 output tokens/s\n";
  const auto runs = posted_runs(bar + total + bar + total + total, "small-bench");
  REQUIRE(runs.size() == 3);
  for (const auto& run : runs) CHECK(run.times.output_tokens_per_s == 100.0);
}

TEST_CASE("a script's own lines are runs that the line above them names, and the size of a model is no draft length") {
  const std::string lines =
      "first token:  0.05s\ndecode time:  10.0s\noutput token:  500\ndecode speed:  50.0 token/s\n";
  const auto runs = posted_runs("baseline 13b:\n" + lines + "\nspec 13b\n" + lines, "small-bench");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.tpot_ms == 20.0);
  CHECK(runs[0].times.ttft_ms == near(50.0));
  CHECK(runs[0].stratum.output_tokens == 500.0);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK_FALSE(runs[1].gamma);
}

TEST_CASE("AIPerf: the line above the title of a table names its run") {
  const std::string table = sample("aiperf.txt");
  // The command that it prints at its end is that of the run above.
  const std::string profile = "$ aiperf profile --model m --concurrency 2\n\n";
  const std::string end = "\nCLI Command: aiperf profile --model 'm' --concurrency 2\n\n";
  const auto commanded =
      posted_runs("$ vllm serve m\n" + profile + table + end +
                      "$ vllm serve m --speculative-config '{\"method\":\"mtp\",\"num_speculative_tokens\":3}'\n" +
                      profile + table + end,
                  "genai-perf");
  REQUIRE(commanded.size() == 2);
  CHECK(commanded[0].decoding == Decoding::plain);
  CHECK(commanded[1].gamma == 3);
  const auto runs = posted_runs("BASELINE\n\n\n" + table + "\nSPEC DECODE (K=3)\n\n\n" + table, "genai-perf");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].gamma == 3);
}

TEST_CASE("the timings of an answer of llama-server may stand without the rest of it") {
  const std::string timings =
      "\"timings\": {\n  \"prompt_n\": 10,\n  \"prompt_ms\": 20.0,\n  \"predicted_n\": 101,\n"
      "  \"predicted_ms\": 1000.0,\n  \"draft_n\": 75,\n  \"draft_n_accepted\": 50\n}";
  const auto runs = posted_runs(
      "The answer has:\n```json\n" + timings + "\n```\nand the next one:\n  " + timings + ",\n", "llamacpp-timings");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].line == 3);
  CHECK(runs[0].acceptance->accepted_tokens == 50);
  CHECK(runs[1].acceptance->drafted_tokens == 75);
  CHECK(problem("It has:\n\"timings\": {\n  \"a\": 1\n}\n\"timings\": {\n").find("no line") != std::string::npos);
}

TEST_CASE("pieces of consoles below comments that name the arms") {
  const std::string speeds =
      "...\nOutput token throughput (tok/s):         40.00\nMean TTFT (ms):                          30.00\n"
      "Mean TPOT (ms):                          25.00\n";
  const std::string counts =
      "Acceptance length:                       3.00\nDrafts:                                  200\n"
      "Draft tokens:                            800\nAccepted tokens:                         400\n...\n";
  const auto command = [](const std::string& method) {
    return "\nvllm serve big --port 8000 \\\n  --speculative-config '{\"method\":\"" + method +
           "\",\"num_speculative_tokens\":4}'\n\n";
  };
  const logs::LogContents contents =
      read_log("# --- vanilla  c=2 ---\n" + speeds + command("ngram") + "# --- ngram ---\n" + speeds + counts +
               command("eagle3") + "# --- eagle3 ---\n" + speeds + counts + "\n# concurrency 8\n" + speeds + counts);
  const auto& runs = contents.observations;
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].concurrency == 2.0);
  CHECK(runs[1].gamma == 4);
  CHECK_FALSE(runs[1].acceptance);  // of the steps that found a draft
  CHECK_FALSE(runs[1].times.iteration_ms);
  CHECK(warns(contents, "W18"));
  CHECK(runs[2].gamma == 4);
  REQUIRE(runs[2].acceptance);
  CHECK(runs[2].acceptance->steps == 200);
  CHECK_FALSE(runs[2].concurrency);
  CHECK(runs[3].concurrency == 8.0);
  CHECK(runs[3].drafter == "eagle3");
  // An option of a script may have the name of a drafter.
  CHECK(read_log("python bench.py --suffix b\n\n" + speeds + counts).observations.at(0).acceptance);
}

TEST_CASE("answers below a command have its draft length, as the most that is drafted") {
  const std::string answer =
      "$ curl localhost:8080/completion | jq .timings\n"
      R"({"predicted_n": 101, "predicted_ms": 2000.0, "draft_n": 160, "draft_n_accepted": 60})"
      "\n";
  const auto run = [&](const std::string& command) { return posted_runs(command + answer, "llamacpp-timings").at(0); };
  const auto stated = run("$ llama-server -m a.gguf -md b.gguf --draft-max 8\n");
  CHECK(stated.gamma == 8);
  CHECK(stated.adaptive == true);  // 4 of 8 a step
  CHECK_FALSE(run("$ llama-server -m a.gguf -md b.gguf\n").gamma);
  CHECK_FALSE(run("$ llama-server -m a.gguf -md b.gguf --draft-max 2\n").gamma);  // of another server
}

TEST_CASE("a range of draft lengths is that of no run, and a hint is none") {
  const std::string table = "\n\n| config | tok/s |\n|---|---|\n| plain | 20 |\n| with spec | 28 |\n| MTP | 30 |\n";
  const auto lengths = [&](const std::string& words) {
    std::set<std::int64_t> found;
    for (const auto& run : read_log(words + table).observations) found.insert(run.gamma.value_or(0));
    return found;
  };
  CHECK(lengths("Ollama, draft_num_predict 3, one card.") == std::set<std::int64_t>{0, 3});
  CHECK(lengths("Ollama, draft_num_predict 3. You may try draft_num_predict 4-5 if it is too slow.") ==
        std::set<std::int64_t>{0, 3});
  CHECK(lengths("Ollama, draft_num_predict 3 to 5, one card.") == std::set<std::int64_t>{0});
  CHECK(lengths("Ollama, draft_num_predict 3, then draft_num_predict 4-5.") == std::set<std::int64_t>{0});
  // A drafter with its K is one, too, unless it is advice, or several.
  for (const char* stated :
       {"engine 0.2 / 70B FP8 / MTP k=3, tok/s", "Two cards (MTP, K = 3)", "MTP with k=3 on a laptop"})
    CHECK(lengths(stated) == std::set<std::int64_t>{0, 3});
  CHECK(lengths("One card. You may try MTP k=3 for code.") == std::set<std::int64_t>{0});
  CHECK(lengths("MTP k=3 and MTP k=5 were equal.") == std::set<std::int64_t>{0});
}

TEST_CASE("requests to Ollama state in their options how much the answers below them draft") {
  const std::string answer = R"({"model": "m", "response": "", "eval_count": 200, "eval_duration": 5000000000})"
                             "\n";
  const auto run = [&](const std::string& request) { return posted_runs(request + answer, "ollama-answers").at(0); };
  for (const std::string request :
       {R"($ curl -s host/api/generate -d '{"model": "m", "options": {"temperature": 0, "draft_num_predict": 5}}')",
        "$ jq -n '{model: \"m\", options: {num_predict: 200, draft_num_predict: 5}}' | curl -d @- host/api/chat",
        R"(curl host/api/chat -d "{\"options\": {\"draft_num_predict\": 5}}")",
        "curl host/api/chat -d '{\n  \"options\": {\n    \"draft_num_predict\": 5\n  }\n}'",
        R"(r = post(url, json=dict(options={'draft_num_predict': 5})))"}) {
    INFO(request);
    CHECK(run(request + "\n").decoding == Decoding::speculative);
    CHECK(run(request + "\n").gamma == 5);
    const auto plain = run(replaced(request, ": 5", ": 0") + "\n");
    CHECK(plain.decoding == Decoding::plain);
    CHECK_FALSE(plain.gamma);
  }
  CHECK(run("curl host/api/generate -d '{options:{draft_num_predict:$k}}'\n").decoding == Decoding::unknown);
}

TEST_CASE("vllm bench throughput says in its command what drafts, and how many requests there are") {
  const auto run = [](const std::string& options, int speed) {
    return "$ vllm bench throughput --model big " + options +
           "\nThroughput: 2.00 requests/s, 4000.00 total tokens/s, " + std::to_string(speed) + ".00 output tokens/s\n";
  };
  const std::string drafts = " --speculative-config '{\"method\": \"eagle3\", \"num_speculative_tokens\": 2}'";
  const auto runs = posted_runs(run("--num-prompts 300", 900) + run("--num-prompts 300" + drafts, 800) +
                                    run("--num-prompts 40 --max-num-seqs 8", 100),
                                "small-bench");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].offered_requests == 300.0);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].drafter == "eagle3");
  CHECK(runs[1].gamma == 2);
  CHECK(runs[2].decoding == Decoding::plain);
  CHECK(runs[2].concurrency == 8.0);
  CHECK_FALSE(runs[2].offered_requests);
}

TEST_CASE(
    "what an offline run sends at once is in its command or its bar, and no more of it run than there are slots") {
  const auto bar_of = [](const std::string& done) {
    return "Processed prompts: 100%|####| " + done + ", est. speed input: 90.00 toks/s, output: 700.00 toks/s]\n";
  };
  for (const char* done : {"24/24 [00:10<00:00,  2.40it/s", "24/24 [01:02:10<00:00, 155.2s/it", "24/24 [00:10<00:00"}) {
    const auto runs = posted_runs("$ python answer.py --k 2\n" + bar_of(done), "small-bench");
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].offered_requests == 24.0);
    CHECK(runs[0].times.output_tokens_per_s == 700.0);
  }
  const std::string bar = bar_of("24/24 [00:10<00:00,  2.40it/s");
  const auto few = posted_runs("$ python answer.py --max-num-seqs 6\n" + bar, "small-bench");
  REQUIRE(few.size() == 1);
  CHECK(few[0].concurrency == 6.0);
  CHECK_FALSE(few[0].offered_requests);
  CHECK(posted_runs("$ python answer.py --max-num-seqs 64\n" + bar, "small-bench").at(0).offered_requests == 24.0);
  CHECK(posted_runs("$ vllm serve big --max-num-seqs 6\n" + bar, "small-bench").at(0).offered_requests == 24.0);
  const auto example = posted_runs(
      "$ python examples/offline_inference/draft.py --num-prompts 70\navg_throughput: 80.0 tok/s\n", "small-bench");
  REQUIRE(example.size() == 1);
  CHECK(example[0].offered_requests == 70.0);
  const auto of_sglang = [](const std::string& options) {
    return posted_runs("$ python3 -m sglang.bench_offline_throughput --num-prompts 50 " + options +
                           "\n====== Offline Throughput Benchmark Result =======\n"
                           "Backend:                                 engine\n"
                           "Successful requests:                     50\n"
                           "Benchmark duration (s):                  20.00\n"
                           "Output token throughput (tok/s):         300.00\n",
                       "bench-serving")
        .at(0);
  };
  CHECK(of_sglang("").offered_requests == 50.0);
  CHECK(of_sglang("--max-running-requests 4").concurrency == 4.0);
  CHECK(of_sglang("\\\n  --max-running-requests 4").concurrency == 4.0);
  CHECK(of_sglang("--max-running-requests 400").offered_requests == 50.0);
}

TEST_CASE("the limit and the rate above the title of results are those of these results only") {
  const std::string results =
      "============ Serving Benchmark Result ============\n"
      "Successful requests:                     90\n"
      "Benchmark duration (s):                  30.00\n"
      "Output token throughput (tok/s):         800.00\n"
      "Mean TPOT (ms):                          12.00\n";
  const auto runs = posted_runs("Traffic request rate: inf\nMaximum request concurrency: 10\n" + results + results +
                                    "Traffic request rate: 3.0\nMaximum request concurrency: None\n" + results,
                                "bench-serving");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].concurrency == 10.0);
  CHECK_FALSE(runs[0].offered_requests);
  CHECK(runs[1].offered_requests == 90.0);
  CHECK_FALSE(runs[2].concurrency);
  CHECK(runs[2].times.request_rate_per_s == 3.0);
  CHECK_FALSE(runs[2].offered_requests);
  const auto options = posted_runs("Namespace(port=80, max_concurrency=7, seed=0)\n" + results +
                                       "Namespace(port=80, max_concurrency=None, seed=0)\n" + results,
                                   "bench-serving");
  REQUIRE(options.size() == 2);
  CHECK(options[0].concurrency == 7.0);
  CHECK_FALSE(options[1].concurrency);
}

TEST_CASE("scripts with several methods have their drafters, and a lookup the steps that draft nothing") {
  const auto run = [](const std::string& method, int generated) {
    return "python spec_decode.py --method " + method +
           " --num-spec-tokens 2\ntotal_num_output_tokens: " + std::to_string(generated) +
           "\nnum_drafts: 1000\nnum_draft_tokens: 2000\nnum_accepted_tokens: 500\n\n";
  };
  const auto runs = posted_runs(run("mtp", 1510) + run("ngram", 2500), "key-values");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].drafter == "mtp");
  CHECK_FALSE(runs[0].acceptance->generated_tokens);  // all but the first tokens of its answers
  CHECK(runs[1].drafter == "ngram");
  CHECK(runs[1].acceptance->generated_tokens == 2500);
}

TEST_CASE("a title that names a drafter says nothing of a command without it") {
  const std::string first = "Results of suffix decoding on our prompts\n\n";
  const auto of = [](const std::string& command, const std::string& speed) {
    return "```\n\n" + command + "\n8 prompts, batch size 2\nspeed=" + speed + " token/s\n```\n\n";
  };
  const auto runs = posted_runs(
      first + of("python ours.py", "60.0") + of("python ours.py --with_speculation True", "90.0"), "small-bench");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK_FALSE(runs[0].drafter);
  CHECK(runs[1].decoding == Decoding::speculative);
}

TEST_CASE("a line above a run may state its load and no arm") {
  const auto runs = posted_runs("30 prompts with batch size 6\navg_throughput: 80.0 tok/s\n", "small-bench");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].concurrency == 6.0);
}

TEST_CASE("consoles that decode by themselves draft as their commands say") {
  const auto mlx = [](const std::string& options, const std::string& speed) {
    return "$ mlx_lm.generate --model big " + options +
           "--prompt -\nPrompt: 9 tokens, 90.000 tokens-per-sec\nGeneration: 200 tokens, " + speed +
           " tokens-per-sec\nPeak memory: 9.0 GB\n";
  };
  const auto runs =
      posted_runs(mlx("", "20.000") + mlx("--draft-model small --num-draft-tokens 3 ", "30.000"), "mlx-lm");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].gamma == 3);
  const auto kobold = [](const std::string& options) {
    return "koboldcpp.exe --model big.gguf" + options +
           "\nProcess:0.50s (1.0ms/T = 1000.00T/s), Generate:9.00s (30.0ms/T = 33.33T/s), Total:9.50s\n";
  };
  const auto others = posted_runs(kobold(" --draftmodel small.gguf --draftamount 5") + kobold(""), "local-prompts");
  REQUIRE(others.size() == 2);
  CHECK(others[0].gamma == 5);
  CHECK(others[1].decoding == Decoding::plain);
  const auto unknown = posted_runs(kobold(" --draftmodel small.gguf") + kobold(""), "local-prompts");
  CHECK(unknown.at(0).decoding == Decoding::speculative);
  CHECK_FALSE(unknown.at(0).gamma);
}

TEST_CASE("tags of ollama run tell which answers draft") {
  const auto run = [](const std::string& command, const std::string& speed) {
    return "~$ " + command + "\n\ntotal duration:       9.1s\nprompt eval rate:     300.00 tokens/s\n" +
           "eval count:           400 token(s)\neval rate:            " + speed + " tokens/s\n\n";
  };
  const auto decodings = [&](const std::string& first, const std::string& second) {
    std::vector<Decoding> kinds;
    for (const auto& one : posted_runs(run(first, "20.00") + run(second, "34.00"), "ollama"))
      kinds.push_back(one.decoding);
    return kinds;
  };
  using Kinds = std::vector<Decoding>;
  const Kinds told{Decoding::plain, Decoding::speculative}, unknown{Decoding::unknown, Decoding::unknown};
  CHECK(decodings("ollama run phi9:14b --verbose hi", "ollama run phi9:14b-mtp --verbose hi") == told);
  CHECK(decodings("ollama run --verbose phi9:14b-q8_0 hi", "ollama run --verbose phi9:14b-q8_0-nextn hi") == told);
  CHECK(decodings("ollama.exe run me/phi9:no-mtp --verbose", "ollama.exe run me/phi9:mtp --verbose") == told);
  CHECK(decodings("ollama run hf.co/lab/phi9-GGUF:Q4_K_M", "ollama run hf.co/lab/phi9-MTP-GGUF:Q4_K_M") == told);
  // A model that is made without its drafter has one: the other drafts by itself.
  CHECK(decodings("ollama run phi9:14b-nodraft --verbose", "ollama run phi9:14b --verbose") == told);
  CHECK(decodings("ollama run phi9:14b_no_spec --verbose", "ollama run phi9:14b --verbose") == told);
  CHECK(decodings("ollama run phi9:14b-nomtp --verbose", "ollama run phi9:14b-mtp --verbose") == told);
  CHECK(decodings("ollama run phi9:14b-no-think --verbose", "ollama run phi9:14b-no-think-mtp --verbose") == told);
  CHECK(decodings("ollama run phi9:4b-nodraft --verbose", "ollama run phi9:14b --verbose") == unknown);
  // Another model is no run without speculation.
  CHECK(decodings("ollama run phi9:4b --verbose", "ollama run phi9:14b-mtp --verbose")[0] == Decoding::unknown);
  CHECK(decodings("ollama run phi9:14b --verbose", "ollama run phi9:14b --verbose") == unknown);
  // Words that name the command start no model.
  const std::string said = "Twice `ollama run --verbose` on my card, then:\n\n";
  CHECK(posted_runs(said + run("ollama run phi9:14b --verbose", "20.00") + run("ollama run phi9:14b-mtp", "34.00"),
                    "ollama")
            .at(0)
            .decoding == Decoding::plain);
  const auto under_words = posted_runs("Without MTP:\n\n" + run("ollama run phi9:14b --verbose", "20.00") +
                                           "With MTP:\n\n" + run("ollama run phi9:14b --verbose", "34.00"),
                                       "ollama");
  CHECK(under_words.at(0).decoding == Decoding::plain);
  CHECK(under_words.at(1).decoding == Decoding::speculative);
}

TEST_CASE("a draft length that is set within ollama run is that of the answers below it") {
  const auto answer = [](const std::string& words, const std::string& speed) {
    return words +
           "\n>>> Why is the sky blue?\nIt scatters.\n\neval count:           300 token(s)\neval rate:            " +
           speed + " tokens/s\n\n";
  };
  using Told = std::vector<std::pair<Decoding, std::optional<std::int64_t>>>;
  const auto told = [&](const std::string& text) {
    Told runs;
    for (const auto& one : posted_runs(text, "ollama")) runs.emplace_back(one.decoding, one.gamma);
    return runs;
  };
  const std::pair<Decoding, std::optional<std::int64_t>> plain{Decoding::plain, std::nullopt},
      drafts{Decoding::speculative, std::nullopt}, unknown{Decoding::unknown, std::nullopt};
  const auto at = [](std::int64_t length) { return std::pair{Decoding::speculative, std::optional(length)}; };
  const std::string set3 = ">>> /set parameter draft_num_predict 3", set6 = "Set parameter 'draft_num_predict' to '6'",
                    off = ">>> /set parameter draft_num_predict 0";
  CHECK(told(answer("$ ollama run phi9:14b --verbose", "20.00") +
             answer("$ ollama run phi9:14b-mtp --verbose", "31.00") + answer(set3, "35.00") + answer(set6, "33.00") +
             answer(off, "20.50") + answer("$ ollama run phi9:14b-mtp --verbose", "31.20")) ==
        Told{plain, drafts, at(3), at(6), plain, drafts});
  // Without a tag that says so, nothing tells whether the model drafts of itself.
  CHECK(told(answer("$ ollama run phi9:14b --verbose", "20.00") + answer(set3, "35.00")) == Told{unknown, at(3)});
  CHECK(told(answer("$ ollama run phi9:14b --verbose\n" + set3, "35.00") + answer(off, "20.00")) == Told{at(3), plain});
  CHECK(told(answer("", "31.00") + answer(set6, "33.00")) == Told{unknown, at(6)});
  CHECK(told(answer("$ ollama run phi9:14b-mtp --verbose\n" + off, "20.00") + answer(set3, "35.00")) ==
        Told{plain, at(3)});
  // Of another parameter, and words about one.
  CHECK(told(answer("$ ollama run phi9:14b-mtp --verbose\n>>> /set parameter num_ctx 4096", "31.00") +
             answer("$ ollama run phi9:14b --verbose", "20.00")) == Told{drafts, plain});
}

TEST_CASE("llama-cli's commands tell its answers apart, whatever it prints of them") {
  const auto run = [](const std::string& options, const std::string& printed) {
    return "llama-cli.exe -m big.gguf -n 200" + options + "\n\n> Why?\n\nBecause.\n\n" + printed;
  };
  const std::string speed = "[ Prompt: 200.0 t/s | Generation: 20.0 t/s ]\n\n";
  const std::string drafts =
      "slot print_timing: id  0 | task 0 |        eval time =    5000.00 ms /   201 tokens\n"
      "slot print_timing: id  0 | task 0 | draft acceptance = 0.60000 (  120 accepted /   200 generated), mean len = "
      "2.20\n";
  const auto runs =
      read_log(run(" --spec-type none", speed) + run(" --spec-type draft-mtp --spec-draft-n-max 2", drafts + speed) +
               run(" --spec-type draft-mtp --spec-draft-n-max 4", drafts))
          .observations;
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].gamma == 2);
  CHECK(runs[2].gamma == 4);
  for (const char* const option :
       {" -hfd me/small-GGUF", " --hf-repo-draft me/small-GGUF", " --spec-draft-hf me/small"}) {
    CAPTURE(option);
    const auto both = read_log(run("", speed) + run(std::string(option) + " --draft-max 6", speed)).observations;
    REQUIRE(both.size() == 2);
    CHECK(both[0].decoding == Decoding::plain);
    CHECK(both[1].decoding == Decoding::speculative);
    CHECK(both[1].gamma == 6);
  }
}

TEST_CASE("a command above rows of both arms is not that of a row without one") {
  const std::string table =
      "\n| n-max | t/s | draft rate |\n|---|---|---|\n| none | 30 | n/a |\n| 0 | 40 | 0.5 |\n| 2 | 45 | 0.4 |\n";
  const auto runs =
      posted_runs("llama-server -m big.gguf --spec-type draft-mtp --spec-draft-n-max 2\n" + table, "table");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK_FALSE(runs[1].gamma);
  CHECK(runs[2].gamma == 2);
}

TEST_CASE("options in a line of their own are those of the command below them") {
  const auto run = [](const std::string& options, const std::string& printed) {
    return options + "$ python3 -m some.send_one\n\n" + printed + "\n";
  };
  const auto runs =
      posted_runs(run("", "acc_length=1.00\nspeed=60.00 token/s\n") +
                      run("--speculative-algorithm EAGLE --speculative-num-steps 2 --speculative-eagle-topk 1 "
                          "--speculative-num-draft-tokens 3\n",
                          "acc_length=2.10\nspeed=90.00 token/s\n"),
                  "small-bench");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].gamma == 2);
  // A command over several lines goes on.
  const auto one = posted_runs(
      "python serve.py \\\n--speculative-model small\nspeed=90.00 token/s\npython serve.py\nspeed=60.00 token/s\n",
      "small-bench");
  REQUIRE(one.size() == 2);
  CHECK(one[0].decoding == Decoding::speculative);
  CHECK(one[1].decoding == Decoding::plain);
}

TEST_CASE("a draft model's most is the setting of answers that count no drafts") {
  const auto run = [](const std::string& options, const std::string& speed) {
    return "llama-cli -m big.gguf" + options + "\n\n[ Prompt: 90.0 t/s | Generation: " + speed + " t/s ]\n\n";
  };
  const auto runs = posted_runs(run("", "10.0") + run(" -md small.gguf --spec-draft-n-max 6", "15.0"), "local-prompts");
  REQUIRE(runs.size() == 2);
  CHECK(runs[1].gamma == 6);
  CHECK(runs[1].adaptive == true);
}

TEST_CASE("the configuration that vLLM prints says whether a script's runs draft") {
  const auto run = [](const std::string& config, const std::string& speed) {
    return "$ python ours.py\nINFO 05-05 10:00:00 [core.py:1] Initializing a V1 LLM engine with config: model='big', "
           "speculative_config=" +
           config + ", tokenizer='big'\nThroughput: 2.00 requests/s, 900.00 total tokens/s, " + speed +
           " output tokens/s\n";
  };
  const auto runs =
      read_log(run("None", "300.00") + run("SpeculativeConfig(method='mtp', model='big', num_spec_tokens=2)", "420.00"))
          .observations;
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].gamma == 2);
  CHECK(runs[1].drafter == "mtp");
}

TEST_CASE("what leads to runs of two formats of a console is said of both") {
  const auto console = [](const std::string& speed, const std::string& length) {
    return "batch size: 2\ninput_len: 90\noutput_len: 64\noutput throughput: " + speed +
           " tok/s\n\nInput lens: (90,). Output lens: (64,).\n"
           "| batch size | output throughput (tok/s) | acc length |\n|---|---|---|\n| 2 | " +
           speed + " | " + length + " |\n\n";
  };
  const auto runs =
      read_log("Server without MTP:\n\n" + console("80.0", "n/a") + "With MTP:\n\n" + console("120.0", "2.1"))
          .observations;
  REQUIRE(runs.size() >= 2);
  for (const auto& one : runs)
    CHECK(one.decoding == (one.times.output_tokens_per_s == 80.0 ? Decoding::plain : Decoding::speculative));
}

TEST_CASE("the options of EAGLE's scripts and of an SGLang server set a tree, which is that of the run below them") {
  using logs::DraftTree;
  const auto tree = [](std::string_view command) {
    const logs::LogContents read =
        read_log(std::string(command) +
                 "\npython -m eagle.evaluation.gen_baseline_answer_x --ea-model-path big/eagle\n"
                 "python eagle/evaluation/speed.py\nspeed 90.5\nspeed0 30.2\nratio 2.997\n");
    REQUIRE(read.observations.size() == 2);
    CHECK(read.observations[1].decoding == Decoding::plain);
    CHECK_FALSE(read.observations[1].tree);
    CHECK_FALSE(read.observations[0].gamma);
    return read.observations[0].tree;
  };
  const std::string script = "python -m eagle.evaluation.gen_ea_answer_x --ea-model-path big/eagle";
  const DraftTree stated{.steps = 7, .width = 8, .tokens = 40};
  CHECK(tree(script + " --total-token 40 --depth 7 --top-k 8 --temperature 0") == stated);
  CHECK(tree(script + " --top_k 8 --depth=7 --total_token=40") == stated);
  CHECK(tree("$ " + script + " \\\n  --depth 7 \\\n  --top-k 8 \\\n  --total-token 40") == stated);
  CHECK(tree("python -m eagle.evaluation.gen_baseline_answer_x\n" + script + " --total-token 40 --depth 7 --top-k 8") ==
        stated);
  CHECK_FALSE(tree(script));
  CHECK_FALSE(tree(script + " --total-token -1 --depth 7 --top-k 8"));  // it chooses
  CHECK_FALSE(tree(script + " --depth 7 --top-k 8"));
}

}  // namespace foredraft::tests
