// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.hpp"
#include "core/command_line.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

/// Errors of commands: place, key, kind and value of each problem. Explanations and advice are not compared.
namespace foredraft::app {
namespace {

namespace fs = std::filesystem;

using Files = std::vector<std::pair<std::string, std::string>>;

/// A folder that is the working directory while this lives.
class WorkingFolder {
 public:
  explicit WorkingFolder(const Files& files) : before_(fs::current_path()) {
    fs::current_path(folder_.path());
    for (const auto& [name, text] : files) {
      if (fs::path(name).has_parent_path()) fs::create_directories(fs::path(name).parent_path());
      tests::write_text(name, text);
    }
  }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;
  WorkingFolder(WorkingFolder&&) = delete;
  WorkingFolder& operator=(WorkingFolder&&) = delete;
  ~WorkingFolder() { fs::current_path(before_); }

 private:
  tests::TemporaryFolder folder_;
  fs::path before_;
};

std::ptrdiff_t entries() {
  return std::distance(fs::recursive_directory_iterator("."), fs::recursive_directory_iterator());
}

/// Expands the abbreviations of the commands below.
std::string written_out(std::string command) {
  const Files words{{"$pair", "--target llama-2-7b --draft sheared-llama-1.3b --alpha 0.7"},
                    {"$load", "--prompt-tokens 1000 --output-tokens 200"},
                    {"$h100", "--device h100 --target llama-3.1-8b --draft llama-3.2-1b --alpha 0.75"},
                    {"$vllm", "--profile h100-vllm-llama-3.1-8b --target llama-3.1-8b --draft eagle3-llama-3.1-8b"},
                    {"$tree", "tree --accuracies heads.csv --nodes 4"}};
  for (const auto& [word, meaning] : words) {
    if (const std::size_t at = command.find(word); at != std::string::npos) command.replace(at, word.size(), meaning);
  }
  return command;
}

/// The problems of a command, without the command's name; empty if it succeeds.
std::vector<std::string> problems_of_command(const std::string& command) {
  std::istringstream words(command);
  const std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
  const auto found = std::ranges::find(command_registry(), arguments.front(),
                                       [](const Command& known) { return std::string(known.spec.name); });
  REQUIRE(found != command_registry().end());
  std::string message;
  try {
    CommandLine line(found->spec, {arguments.begin() + 1, arguments.end()});
    static_cast<void>(found->run(line));
  } catch (const InputError& error) {
    message = error.what();
  } catch (const DomainError& error) {
    message = error.what();
  }
  std::istringstream lines(brief(message));
  std::vector<std::string> problems;
  const std::string name = "foredraft " + arguments.front() + ": ";
  for (std::string line; std::getline(lines, line);) {
    problems.push_back(line.starts_with(name) ? line.substr(name.size()) : line);
  }
  return problems;
}

/// `cases` has one command per line and, indented below it, the beginning of each of its problems, separated by "; ".
void check_rejected(const Files& files, const std::string& cases) {
  const WorkingFolder folder(files);
  const std::ptrdiff_t before = entries();
  std::istringstream lines(cases);
  std::string command;
  std::string expected;
  const auto check = [&] {
    if (command.empty()) return;
    const std::vector<std::string> problems = problems_of_command(written_out(command));
    std::string found;
    for (const std::string& problem : problems) found += problem + "\n";
    CAPTURE(command, expected, found);
    std::size_t count = 0;
    for (std::size_t at = 0; at < expected.size(); ++count) {
      const std::size_t end = std::min(expected.find("; ", at), expected.size());
      REQUIRE(count < problems.size());
      CHECK(problems[count].starts_with(expected.substr(at, end - at)));
      at = end + 2;
    }
    CHECK(count == problems.size());
    CHECK(entries() == before);
  };
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) {
      check();
      command = line;
      expected.clear();
    } else {
      expected += (expected.empty() ? "" : " ") + line.substr(2);
    }
  }
  check();
}

}  // namespace

TEST_CASE("predict rejects missing, duplicate and impossible acceptance, and options that it does not use") {
  check_rejected({}, R"(
predict
  --alpha: missing; --c: missing
predict --alpha 0.8
  --c: missing
predict --alpha nan --c 0.1
  --alpha: invalid value "nan"
predict --alpha 0.8 --c 0.1 --gamma 2.5 extra
  extra: unexpected argument
predict --alph 0.8 --c 0.1
  --alph: unknown option
predict --alpha 1.5 --c -1 --gamma -1
  --gamma: invalid gamma=-1; --c: invalid c=-1; --alpha: invalid alpha=1.5
predict --alpha 0.8 --marginal 0.8 --c 0.1
  --alpha, --marginal: more than one
predict --marginal 0.5,0.6 --c 0.1
  --marginal: rises from 0.5 to 0.6
predict --marginal 0.5,,0.4 --c 0.1
  --marginal: invalid entry 2 ""
predict --conditional 0.5,1.4 --c 0.1
  --conditional: invalid entry 2 "1.4"
predict --marginal 0.5,0.4 --gamma 3 --c 0.1
  --gamma: invalid gamma=3
predict --acceptance-length 2.5 --c 0.1
  --gamma: missing
predict --acceptance-length 9 --gamma 3 --c 0.1
  --acceptance-length: invalid acceptance-length=9
predict --alpha 0.8 --gamma 0 --c 0.1 --convention no_bonus
  --gamma: invalid gamma=0
predict --alpha 0.8 --c 0.1 --convention bonsu
  --convention: unknown convention "bonsu"
predict --alpha 0.8 --c 0.1 --step-ms 3
  --c: mutually exclusive; --draft-ms: missing; --verify-ms: missing
predict --alpha 0.8 --step-ms 0 --draft-ms 1 --verify-ms 1
  --step-ms: invalid step-ms=0
predict --alpha 0.8 --c 0.1 --drafter ngram_model
  --drafter: ngram_model
predict --drafter lookup_first --alpha 0.8 --c 0.2 --gamma 8
  --drafter: lookup_first
predict --alpha 0.8 --c 0.1 --decay 0.9 --realign 2 --threshold 0.5
  --decay: not used; --realign: not used; --threshold: not used
predict --alpha 0.8 --c 0.1 --drafter heads --accuracies 0.8,0.7 --decay 0.9 --gamma 3
  --alpha, --accuracies: more than one
predict --drafter input_copy --c 0 --realign 2.5
  --alpha: missing; --realign: invalid value "2.5"; --edit-rate: missing
predict --drafter staged --alpha 0.8 --c 0.2 --gamma 8
  --inner-gamma: missing; --inner-alpha: missing; --inner-c: missing
predict --drafter horizontal_cascade --conditional 0.8,0.75,0.5,0.4 --costs 1,1,0.1 --c 0.1 --gamma 4
  --gamma: invalid gamma=4
predict --marginal 0.8,0.5 --decay 0.9 --drafter block --policy confidence_threshold --c 0.1
  --threshold: missing; --concentration: missing; --drafter: block; --drafter: block;
  --policy: confidence_threshold
predict --alpha 0.8 --c 0.1 --policy plus2_minus1
  --gamma: missing
predict --alpha 0.8 --policy optimal_stopping --gamma 3 --drafter block
  --policy: optimal_stopping without c; --policy: optimal_stopping
predict --alpha 0.8 --gamma 3 --c 0.05 --drafter pearl
  --drafter: unknown drafter "pearl"
predict --alpha 0.8 --gamma 3 --c 0.05 --policy layerskip
  --policy: unknown policy "layerskip"
predict --process markov --c 0.1
  --a: missing; --b: missing
predict --process trace --c 0.1
  --process: trace
predict --alpha 0.7 --c 0.1 --out c
  --out: given without
predict --alpha 0.7 --c 0.1 --batch 4
  --batch: given without
predict --alpha 0.7 --c 0.1 --target a
  --target: given without
predict --alpha 0.5 --gamma 3 --c 2 --overlap
  --overlap: invalid c=2
predict --alpha 0.8,0.9 --c 0.1 --overlap
  --overlap: mutually exclusive
predict --alpha 0.1 --c 0.2 --overlap
  --overlap:
predict --marginal 0.5,0.3 --c 0.2 --overlap
  --overlap:
predict --alpha 0.8 --gamma 5 --c 0.1 --drafter block --overlap
  --overlap:
predict --measured-speedup 1.7 --gamma 5 --c 0.05 --overlap
  --overlap: given without
predict --device h200 --target llama-3.1-8b --draft qwen3-0.6b --alpha 0.7 --overlap
  --overlap: given without
)");
}

TEST_CASE("predict rejects logs with too little acceptance data") {
  check_rejected(
      {{"one.csv", "gamma,steps,accepted_at_1\n1,10000,6000\n"},
       {"short.csv", "gamma,steps,accepted_at_1,accepted_at_2\n2,150,90,50\n"},
       {"enough.csv", "gamma,steps,accepted_at_1,accepted_at_2\n2,10000,7000,5000\n"},
       {"full.csv", "gamma,steps,accepted_at_1,accepted_at_2\n2,1000,1000,1000\n"},
       {"totals.csv", "gamma,steps,accepted\n3,1000,1600\n"},
       {"plain.csv", "decoding,requests,iteration_ms\nplain,8,9.5\n"},
       {"mixed.csv", "gamma,steps,accepted_at_1,accepted_at_2,temperature\n2,1000,600,300,0\n2,1000,500,200,1\n"},
       {"positions.jsonl", "{\"id\": 1, \"acc_len\": [4, 1, 2, 1, 3, 2, 1, 1]}\n"}},
      R"(
predict --acceptance positions.jsonl --c 0.05
  positions.jsonl:
predict --acceptance one.csv --c 0.05
  one.csv: gamma 1
predict --acceptance short.csv --c 0.05
  short.csv: 150
predict --acceptance plain.csv --c 0.05
  plain.csv:
predict --acceptance mixed.csv --c 0.05
  mixed.csv:3: temperature 1 here and 0 at line 2
predict --acceptance full.csv --c 0.05
  full.csv: every draft was accepted
predict --acceptance totals.csv --c 0.05
  totals.csv: gamma 3 without positions
predict --acceptance enough.csv --c 0.05,0.1
  --c: a list
predict --acceptance enough.csv --c 0.05 --gamma 9 --policy plus2_minus1
  --policy: plus2_minus1
predict --acceptance enough.csv --alpha 0.8 --c 0.05
  --alpha, --acceptance: more than one
predict --acceptance enough.csv --process markov --c 0.05 --convention no_bonus
  --process: mutually exclusive; --convention: no_bonus
predict --acceptance enough.csv --c 0.05 --gamma 5000
  --gamma: invalid gamma=5000
)");
}

TEST_CASE("predict rejects devices, models, profiles, step files and loads without an answer") {
  const std::string header = "model,role,batch,tokens,context,ms\n";
  check_rejected(
      {{"broken.json", "{\"schema\": \"foredraft.profile/1\", "},
       {"other.json", "{\"schema\": \"foredraft.profile/9\"}"},
       {"lacking.json", "{\"schema\": \"foredraft.profile/1\", \"complete\": true, \"source\": \"datasheet\"}"},
       {"p.json", "{}"},
       {"cpu.json", tests::content_of(FOREDRAFT_SOURCE "/tests/recorded/inputs/measured.json")},
       {"wrong.toml",
        "[\"my-card\"]\nmemory = 48\nmemory_bandwidth_gb_per_s = 0.864\n"
        "matrix_peak_fp16_tflop_per_s = \"fast\"\n"},
       {"steps.csv", header + "llama-2-7b,decoder_pass,1,1,512,10\nllama-2-7b,decoder_pass,1,64,512,30\n"
                              "sheared-llama-1.3b,autoregressive_drafting,1,32,512,65\n"},
       {"falling.csv", header + "llama-2-7b,decoder_pass,1,1,512,10\nllama-2-7b,decoder_pass,1,2,512,4\n"
                                "sheared-llama-1.3b,decoder_pass,1,1,512,1\n"},
       {"header.csv", "model,role,batch,token,context\n"},
       {"empty.csv", header}},
      R"(
predict --profile h2000 $pair
  h2000: neither
predict --profile broken.json $pair
  broken.json:1: syntax:
predict --profile other.json $pair
  other.json: schema: "foredraft.profile/9"
predict --profile lacking.json $pair
  lacking.json: identity: missing
predict --device h100 --target Qwen/Qwen4-8B --draft qwen3-0.6b --alpha 0.8
  Qwen/Qwen4-8B: neither
predict --profile h200 --target llama-2-7b --draft sheared-llama --alpha 0.7
  sheared-llama: neither
predict --profile h200 --alpha 0.7
  --target: missing; --draft: missing
predict --profile h200 --target llama-2-7b --draft sheared-llama-1.3b
  --alpha: missing
predict --profile h200 $pair --c 0.1 --policy plus2_minus1 --decay 1
  --c: mutually exclusive; --decay, --policy: not used
predict --profile h200 --steps-file s.csv $pair
  --steps-file: mutually exclusive
predict --profile h200 --alpha 0.8 --c 0.1 --policy constant --batch 0,1 --steps-file x.csv
  --c: mutually exclusive; --policy: not used; --steps-file: mutually exclusive; --target: missing; --draft: missing;
  --batch: invalid entry 1 "0"
predict --device h200 --profile h100 --steps-file s.csv $pair
  --device: mutually exclusive; --steps-file: mutually exclusive
predict --profile h200 --target llama-2-7b --draft llama-2-7b --drafter heads --alpha 0.7
  --draft: not used
predict --profile h200 $pair --drafter input_copy
  --drafter: unknown drafter "input_copy"
predict --profile h200 $pair --batch 0,1 --context 1e9 --gamma 70000 --overhead-us -1
  --batch: invalid entry 1 "0"; --context: invalid entry 1 "1e9"; --overhead-us: invalid overhead-us=-1;
  --gamma: invalid gamma=70000
predict --device none.toml $pair
  none.toml: neither
predict --device p.json $pair
  p.json:
predict --device wrong.toml $pair
  wrong.toml:1: my-card.source: missing; wrong.toml:1: my-card.memory_gb: missing;
  wrong.toml:2: my-card.memory: unknown key; wrong.toml:3: my-card.memory_bandwidth_gb_per_s: 0.864;
  wrong.toml:4: my-card.matrix_peak_fp16_tflop_per_s: wrong type
predict --profile cpu.json --target tiny-target --draft tiny-drafter --alpha 0.8 --context 64 --batch 64
  cpu.json: tiny-target decoder_pass fp32: no time for batch 64
predict --profile cpu.json --target llama-2-7b --draft tiny-drafter --alpha 0.8
  --draft: llama-2-7b has 32000 tokens and tiny-drafter has 4096
predict --steps-file header.csv $pair
  header.csv:1: column tokens; header.csv:1: column ms; header.csv:1: token: unknown column
predict --steps-file empty.csv $pair
  empty.csv:1:
predict --steps-file falling.csv $pair
  falling.csv: llama-2-7b decoder_pass user: 10000 us for batch 1 context 512 tokens 1 and 4000 us for 2
predict --steps-file steps.csv --target llama-2-7b --draft t5-small --alpha 0.8
  steps.csv: t5-small autoregressive_drafting user: no time for batch 1
predict --steps-file steps.csv $pair --batch 8
  steps.csv: llama-2-7b decoder_pass user: no time for batch 8
predict $h100 --request-rate 0 --output-tokens 1 --batch 4 --out x
  --batch: mutually exclusive; --request-rate: invalid request-rate=0; --prompt: missing;
  --output-tokens: invalid output-tokens=1
predict $h100 --request-rate 10 --concurrency 4 --batch 4 --prompt 9 --prompt-tokens 9 --prompt-p95 9 --engine vlm --prefix-hit 1 --schedule [[2,8,3]] --graph-sizes 1,x --closed-form --slo-ttft-ms 9
  --batch: mutually exclusive; --concurrency, --request-rate: more than one; --prompt-tokens: mutually exclusive;
  --prompt-p95: invalid prompt-p95=9; --output: missing; --prefix-hit: invalid prefix-hit=1; --engine: "vlm": neither;
  --graph-sizes: invalid entry 2 "x"; --schedule: invalid gamma schedule: batches 2 to 8; --slo-ttft-ms: mutually exclusive
predict $h100 --requests none.csv --prompt 9 --schedule 3 --switch-ms 1
  --prompt: mutually exclusive; --schedule: invalid value "3"
predict $h100 --request-rate 10 --prompt 9 --output 9 --switch-margin 1
  --switch-margin: given without
predict --device h100 --target llama-3.1-8b --draft llama-3.2-1b --alpha 0.5,0.6 --request-rate 10 $load
  --request-rate: mutually exclusive
predict $h100 --slo-ttft-ms 100 --max-batch 8
  --slo-ttft-ms, --max-batch: given without
predict --alpha 0.7 --c 0.1 --request-rate 10 --gpu-hour-price 3
  --request-rate, --gpu-hour-price: given without
predict $vllm --alpha 0.75 --request-rate 8 $load
  h100-vllm-llama-3.1-8b: the profile has no time for a prompt of 1000 tokens
predict $vllm --alpha 0.75 --request-rate 8 --prompt-tokens 100 --output-tokens 200 --prompt-device h100
  h100-vllm-llama-3.1-8b: llama-3.1-8b decoder_pass mixed: no time for batch 1, 1 tokens and context 100
)");
}

TEST_CASE("simulate and methods reject what cannot run") {
  const std::string schema = "schema = \"foredraft.sweep/1\"\n";
  check_rejected({{"point.toml", schema + "[fixed]\nalpha = 0.5\ngamma = 3\n[simulation]\niterations = 10\nseed = 1\n"},
                  {"axes.toml", schema + "[axes]\nalpha = [0.5, 0.6]\n[fixed]\ngamma = 3\n"},
                  {"closed.toml", schema + "[fixed]\nalpha = 0.5\ngamma = 3\n"},
                  {"wrong.toml",
                   "schema = \"foredraft.methods/1\"\nmethods = \"pearl\"\ntemperature = [-1]\nc = 1.5\nwidht = 3\n"
                   "[models]\nalpha = 7\n"}},
                 R"(
simulate
  --iterations: missing; --gamma: missing; --alpha: missing
simulate --alpha 0.8 --gamma 5 --iterations 0 --seed -1
  --iterations: invalid iterations=0; --seed: invalid seed=-1
simulate --alpha 2 --gamma 2000000 --iterations 1e99 --seed 1.5 --threads 9999 --path slow
  --threads: invalid threads=9999; --iterations: invalid value "1e99"; --seed: invalid value "1.5";
  --path: unknown path "slow"; --gamma: invalid gamma=2e+06; --alpha: invalid alpha=2
simulate --alpha 0.8 --gamma 0 --iterations 10 --seed 1 --convention no_bonus
  --gamma: invalid gamma=0
simulate --alpha 0.8 --drafter input_copy --gamma 4 --iterations 10 --seed 1
  --alpha: not used; --edit-rate: missing; --realign: missing
simulate --alpha 0.8 --gamma 4 --iterations 10 --seed 1 --policy confidence_threshold
  --threshold: missing; --concentration: missing
simulate --alpha 0.8 --gamma 4 --iterations 10 --seed 1 --policy optimal_stopping
  --policy: optimal_stopping without c
simulate point.toml --seed 2 --alpha 0.3
  --alpha, --seed: mutually exclusive
simulate axes.toml
  axes.toml:3: axes: simulate
simulate closed.toml
  closed.toml: simulation: missing
simulate .
  .:
methods wrong.toml
  wrong.toml:2: methods: wrong type; wrong.toml:3: temperature: invalid temperature=-1;
  wrong.toml:4: c: invalid c=1.5; wrong.toml:5: widht: unknown key; wrong.toml:7: models.alpha: invalid models.alpha=7
methods --methods pearls
  unknown method "pearls"
methods --methods layerskip
  layerskip
methods --temperature x --gamma 0 --c 2 --servers 1
  --c: invalid c=2; --temperature: invalid entry 1 "x"; --gamma: invalid gamma=0; --servers: invalid servers=1
methods --batch 8
  --batch: given without
)");
}

TEST_CASE("every mistake in a configuration is reported") {
  const std::string schema = "schema = \"foredraft.sweep/1\"\n";
  check_rejected(
      {{"tables", "schema = 1\naxes = 3\nfixed = [1]\nsimulation = \"none\"\nfigure = \"a\"\nextra = true\n"},
       {"axes", schema + R"([axes]
alpha = []
gamma = 3
c = { from = 1, to = 2, step = 0.5, factor = 3 }
operations_ratio = { from = 1, end = 2 }
process = { from = 1, to = 2 }
convention = ["bonus", "no_bonu", 3]
sequence_length = { from = 1, to = 1e9 }
temperature = [0.5, 0.5]
"alpha.step" = 1
)"},
       {"unused", schema + R"([fixed]
alpha = 0.5
gamma = 3
process = "markov"
"process.a" = 1
"process.b" = 0
temperature = 0.5
rule = "lenient"
"rule.lenience" = 0.3
"models.alpha" = 0.4
"policy.threshold" = 0.5
"drafter.decay" = 0.5
"cost.step_ms" = 3
"process.file" = "x"
max_batch = 3
[simulation]
seed = 1
)"},
       {"missing", schema + R"([fixed]
process = "positional"
drafter = "input_copy"
policy = "confidence_threshold"
cost = "block"
)"},
       {"token", schema + R"([axes]
"models.target" = ["zipf", "dirichlet"]
[fixed]
fidelity = "token"
alpha = 0.7
gamma = 5000
temperature = 0.0001
drafter = "heads"
policy = "plus2_minus1"
rule = "top_beta"
"rule.top_beta" = 50
"rule.judged" = 0.5
"models.vocabulary" = 20
)"},
       {"lengths", schema + R"([axes]
gamma = [0, 3, 9]
fidelity = ["process", "token"]
[fixed]
convention = "no_bonus"
process = "positional"
"process.marginal" = [0.5, 0.6]
"process.conditional" = [0.5, 0.6]
sequence_length = 7.5
[simulation]
iterations = 10
seed = 1
)"},
       {"policy", schema + R"([fixed]
alpha = 0.5
gamma = 20000
policy = "optimal_stopping"
drafter = "block"
process = "trace"
"process.file" = "x"
)"},
       {"server", schema + R"([axes]
fidelity = ["process", "system"]
[fixed]
alpha = 0.7
c = 0.1
cost = "block"
drafter = "input_copy"
gamma_schedule = [[1, 3, 2], [5, 4]]
max_batch = 4
prompt_tokens = 3
prompt_spread = 5
target_step = { weights_ms = 1, token_ms = 2 }
[simulation]
iterations = 5
path = "reference"
replicas = 2
seed = 1
)"}},
      R"(
sweep tables --out a
  tables:1: schema: wrong type; tables:1: schema: missing; tables:2: axes: wrong type; tables:3: fixed: wrong type;
  tables:4: simulation: wrong type; tables:5: figure: wrong type; tables:6: extra: unknown key
sweep axes --out a
  axes: axes.operations_ratio.to: missing; axes:2: axes: 2e+09 points; axes:3: axes.alpha: empty axis;
  axes:4: axes.gamma: wrong type; axes:5: axes.c: impossible range; axes:6: axes.operations_ratio.end: unknown key;
  axes:7: axes.process: wrong type; axes:8: axes.convention: unknown convention "no_bonu";
  axes:8: axes.convention: wrong type; axes:9: axes.sequence_length: 1000000000 values;
  axes:10: axes.temperature: repeats 0.5; axes:11: axes.alpha.step: unknown key
sweep unused --out a
  unused: simulation.iterations: missing; unused:3: fixed.alpha: not used;
  unused:6: fixed.process.a: invalid process.a=1 with process.b=0; unused:8: fixed.temperature: not used;
  unused:9: fixed.rule: not used; unused:10: fixed.rule.lenience: not used; unused:11: fixed.models.alpha: not used;
  unused:12: fixed.policy.threshold: not used; unused:13: fixed.drafter.decay: not used;
  unused:14: fixed.cost.step_ms: not used; unused:15: fixed.process.file: not used; unused:16: fixed.max_batch: not used
sweep missing --out a
  missing: fixed.gamma: missing; missing: fixed.cost.step_ms: missing; missing: fixed.cost.draft_ms: missing;
  missing: fixed.cost.verify_ms: missing; missing: fixed.drafter.edit_rate: missing;
  missing: fixed.drafter.realign: missing; missing: fixed.policy.threshold: missing;
  missing: fixed.policy.concentration: missing; missing: fixed.process.conditional: missing;
  missing:4: fixed.drafter: input_copy; missing:4: fixed.drafter: input_copy; missing:5: fixed.policy: not used;
  missing:5: fixed.policy: confidence_threshold
sweep token --out a
  token: simulation: missing; token: fixed.models.parameter: missing; token: fixed.models.alpha: missing;
  token:6: fixed.alpha: not used; token:7: fixed.gamma: invalid gamma=5000; token:9: fixed.drafter: heads;
  token:10: fixed.policy: not used; token:10: fixed.policy: plus2_minus1;
  token:12: fixed.rule.top_beta: invalid rule.top_beta=50; token:13: fixed.rule.judged: invalid rule.judged=0.5
sweep lengths --out a
  lengths: simulation.sequences: missing; lengths: simulation.iterations: not used;
  lengths: fixed.models.alpha: missing; lengths:3: axes.gamma: invalid gamma=0; lengths:3: axes.gamma: invalid gamma=9;
  lengths:8: fixed.process.marginal: rises from 0.5 to 0.6; lengths:9: fixed.process.conditional: mutually exclusive;
  lengths:10: fixed.sequence_length: not used; lengths:10: fixed.sequence_length: invalid sequence_length=7.5
sweep policy --out a
  policy: simulation: missing; policy:3: fixed.alpha: not used; policy:4: fixed.gamma: invalid gamma=20000;
  policy:5: fixed.policy: optimal_stopping; policy:5: fixed.policy: optimal_stopping without c;
  policy:5: fixed.policy: optimal_stopping
sweep server --out a
  server: simulation.iterations: not used; server: simulation.path: reference; server: fixed.gamma: missing;
  server: fixed.cost.step_ms: missing; server: fixed.cost.draft_ms: missing; server: fixed.cost.verify_ms: missing;
  server: fixed.drafter.edit_rate: missing; server: fixed.drafter.realign: missing;
  server: fixed.arrivals.rate_per_s: missing; server: fixed.output_tokens: missing;
  server:3: axes.fidelity: system; server:6: fixed.c: not used; server:7: fixed.cost: block;
  server:8: fixed.drafter: input_copy; server:9: fixed.gamma_schedule: wrong type;
  server:11: fixed.prompt_tokens: invalid prompt_tokens=3 with prompt_spread=5;
  server:13: fixed.target_step.weights_ms: not used; server:13: fixed.target_step.token_ms: not used
)");
}

TEST_CASE("sweeps, shards and reproductions reject bad inputs") {
  const std::string roofline =
      "schema = \"foredraft.sweep/1\"\n[fixed]\nalpha = 0.75\ngamma = 3\ncost = \"roofline\"\n"
      "\"cost.target\" = \"llama-3.1-8b\"\n\"cost.draft\" = \"llama-3.2-1b\"\n";
  check_rejected({{"s.toml", "schema = \"foredraft.sweep/1\"\n[axes]\nalpha = [0.5, 0.9]\n[fixed]\ngamma = 2\n"},
                  {"device.toml", roofline + "\"cost.device\" = \"h101\"\n"},
                  {"format.toml", roofline + "\"cost.device\" = \"h100\"\n\"cost.target_format\" = \"int44\"\n"},
                  {"full/notes.txt", "not a results folder\n"},
                  {"cut/manifest.json", "{\n  \"schema\": \"foredraft.sweep_result/1\",\n"},
                  {"newer/manifest.json", "{\"schema\": \"foredraft.sweep_result/7\"}"},
                  {"v/validation.csv", "target,drafter\n"}},
                 R"(
sweep device.toml --out a
  device.toml:8: fixed.cost.device: h101: neither
sweep format.toml --out a
  format.toml:9: fixed.cost.target_format: cost.target_format: unknown format "int44"
sweep s.toml --out full
  full: holds notes.txt
sweep s.toml --out s.toml
  s.toml: is a file
sweep s.toml --out x --shard 1/9
  --shard: 9 shards of 2 points
sweep s.toml --out x --shard 3/2
  --shard: invalid shard "3/2"
sweep s.toml --out x --shard 0/2
  --shard: invalid shard "0/2"
sweep s.toml --out x --shard one
  --shard: invalid shard "one"
sweep s.toml --out x --shard 1/2/3 --threads -1
  --threads: invalid threads=-1; --shard: invalid shard "1/2/3"
merge --out m
  an argument is missing
merge nowhere --out m
  nowhere: no such folder
check full
  full: holds no manifest.json
plot full
  full: holds no manifest.json
check cut
  cut/manifest.json:3: syntax:
check newer
  newer/manifest.json: no manifest
check s.toml
  s.toml: no such folder
reproduce --out a
  no experiment named
reproduce leviathan-table1
  --out: missing
reproduce leviathan-tabel1 figure5 --out a
  leviathan-tabel1: unknown experiment; figure5: unknown experiment
reproduce leviathan-table1 --out a --seed -1 --threads many
  --seed: invalid seed=-1; --threads: invalid value "many"
reproduce leviathan-table1 --out a --validation v --no-figures
  v/manifest.json: cannot be read
reproduce leviathan-table1 --out a --validation nowhere --no-figures
  nowhere/validation.csv: cannot be read
reproduce leviathan-table1 --out full --no-figures
  full: not written to
list rules --markdown lenient
  --markdown: mutually exclusive
list ruls
  ruls: unknown list
list --json
  --json: without a list
)");
}

TEST_CASE("tree rejects inconsistent accuracies, trees, costs and devices") {
  check_rejected({{"heads.csv", "0.60,0.15\n0.40,0.12\n"},
                  {"bad.csv", "0.5,x\n0.2,0.3\n0.9,0.9\n1.5\n-0.1\n"},
                  {"rising.csv", "0.2 0.5\n"},
                  {"empty.csv", "# nothing\n"},
                  {"ranks.txt", "0\na\n-1\n"},
                  {"list.txt", "[[0], [0, 1.5]]\n"},
                  {"lost.txt", "0\n1 0\n"},
                  {"twice.txt", "0\n1\n0\n"},
                  {"header.csv", "nodes,time\n1,10\n2,11\n"},
                  {"short.csv", "1,10\n2,11\n"},
                  {"falling.csv", "1,10\n2,9\nthree,4\n"}},
                 R"(
tree
  --accuracies: missing; --nodes: missing
tree --accuracies heads.csv
  --nodes: missing
tree --accuracies bad.csv --nodes 4
  bad.csv:1: invalid accuracy "x"; bad.csv:3: invalid sum of accuracies[head 3]=1.8;
  bad.csv:4: invalid accuracies[head 4][rank 1]=1.5; bad.csv:5: invalid accuracies[head 5][rank 1]=-0.1
$tree --c nan
  --c: invalid value "nan"
tree --accuracies empty.csv --nodes 4
  empty.csv:
tree --accuracies heads.csv --nodes 0 --depth -1 --c -1 --drafter mlp
  --drafter: unknown drafter "mlp"; --nodes: invalid nodes=0; --depth: invalid depth=-1; --c: invalid c=-1
$tree --depth 3
  --depth: invalid depth=3
$tree --every-depth
  --depth: missing
$tree --every-depth --depth 4
  --every-depth: heads.csv has 2 rows
$tree --json --dot
  --dot: mutually exclusive
$tree --verify-growth 0.1 --cost-file short.csv
  --verify-growth: mutually exclusive
$tree --cost-file short.csv
  --cost-file: short.csv
tree --accuracies heads.csv --nodes 2 --cost-file header.csv
  header.csv:1: damaged row
tree --accuracies heads.csv --nodes 2 --cost-file falling.csv
  falling.csv:3: damaged row
tree --accuracies heads.csv --paths lost.txt
  lost.txt: invalid path="1,0"
tree --accuracies heads.csv --paths twice.txt
  twice.txt: invalid path="0"
tree --accuracies heads.csv --paths ranks.txt
  ranks.txt:2: invalid rank "a"; ranks.txt:3: invalid rank "-1"
tree --accuracies heads.csv --paths list.txt
  list.txt:1: invalid rank "1.5"
$tree --target llama-2-7b --batch 3
  --target: given without; --batch: given without
$tree --c 0.1 --target-tp 2
  --target-tp: given without
$tree --drafter heads
  --drafter: heads
$tree --profile h200 --c 0.1
  --c: mutually exclusive; --target: missing; --draft: missing
$tree --device h200 --target llama-2-7b --drafter heads --c 0.1
  --c: mutually exclusive
$tree --profile h200 --target llama-2-7b --draft llama-2-7b --drafter heads
  --draft: not used
$tree --profile h200 --target llama-2-7b --draft llama
  llama: neither
$tree --device l4 --target vicuna-33b --drafter heads
  l4: does not fit
$tree --device h200 --target llama-3.1-8b --draft qwen3-0.6b --kv-format fp9
  --kv-format: unknown format "fp9"
$tree --device h200 --target llama-3.1-8b --draft qwen3-0.6b
  --draft: llama-3.1-8b has 128256 tokens and qwen3-0.6b has 151936
tree --accuracies rising.csv --nodes 3 --expand 2 --spread 0.5
  invalid accuracies
$tree --expand 2
  --spread: missing
$tree --spread 0.5 --seed 3
  --spread: given without; --seed: given without
$tree --expand 0 --spread 2 --confidence-temperature 0 --iterations 0
  --expand: invalid expand=0; --spread: invalid spread=2;
  --confidence-temperature: invalid confidence-temperature=0; --iterations: invalid iterations=0
)");
}

TEST_CASE("calibrate and validate reject what they cannot measure or compare") {
  check_rejected({{"cpu.json", tests::content_of(FOREDRAFT_SOURCE "/tests/recorded/inputs/measured.json")},
                  {"columns.csv", "target,draft,gama,alpha\n"}},
                 R"(
calibrate --out p.json --target t5-base
  --draft: missing
calibrate --out p.json --draft t5-small
  --target: missing
calibrate --out p.json --target t5-bas --draft t5-small
  unknown model "t5-bas"
calibrate --out p.json --backend gpu --batch 0 --context x --minutes 0 --threads -1
  --backend: unknown backend "gpu"; --batch: invalid entry 1 "0"; --context: invalid entry 1 "x";
  --minutes: invalid minutes=0; --threads: invalid threads=-1
calibrate --out p.json --batch 1,,2
  --batch: invalid entry 2 ""
calibrate --out p.json --backend cuda --threads 2
  --threads: given with
calibrate --out cpu.json --minutes 0.01 --threads 1
  cpu.json: holds a finished profile
calibrate --out nowhere/p.json --minutes 0.01
  nowhere: no such folder
validate
  --profile: missing; --out: missing
validate --profile h200 --out b
  h200:
validate --profile none.json --out b
  none.json: neither
validate --profile cpu.json --out b --target tiny-target
  --draft: missing
validate --device h200 --out b
  --device: given without
validate --profile h200 --against columns.csv --out b
  columns.csv:1: column gamma; columns.csv:1: column batch; columns.csv:1: column context;
  columns.csv:1: column speedup; columns.csv:1: gama: unknown column
validate --profile h200 --against s.csv --out b --gamma 2 --alpha 0.5 --batch 1 --context 8 --minutes 1 --threads 1
  --gamma: mutually exclusive; --alpha: mutually exclusive; --batch: mutually exclusive; --context: mutually exclusive;
  --minutes: mutually exclusive; --threads: mutually exclusive
validate --profile cpu.json --out b --gamma 0 --alpha 2 --batch x --minutes -1
  --gamma: invalid entry 1 "0"; --alpha: invalid entry 1 "2"; --batch: invalid entry 1 "x";
  --minutes: invalid minutes=-1
)");
}

TEST_CASE("import, advise and compare reject logs and requests without an answer") {
  check_rejected({{"wrong.csv", "gamma,steps,accepted_at_1,accepted_at_2\n2,1000,300,600\n"},
                  {"unknown.csv", "gamma,steps,acepted_at_1\n2,1000,300\n"},
                  {"counts.csv", "gamma,steps,accepted_at_1,accepted_at_2\n2,1000,600,300\n"},
                  {"cut.jsonl", "{\"timings\": {\"predicted_n\": 101, \"predi"},
                  {"bad.json", "{\"schema\": \"foredraft.observations/1\", \"log\": []}\n"},
                  {"plain.csv", "decoding,requests,tpot_ms\nplain,8,10\n"}},
                 R"(
import wrong.csv
  wrong.csv:2: position 2
import unknown.csv
  unknown.csv:1: acepted_at_1: unknown column
import cut.jsonl
  cut.jsonl:1: no line
import bad.json
  bad.json:1: logs: missing; bad.json:1: log: unknown key
import - - --format cvs
  -: given twice
import counts.csv --as aiperf-records --out records.jsonl
  counts.csv: no requests
import counts.csv --as speculation-profile
  --out: missing
import counts.csv --as guidellm --out records.jsonl
  --as: unknown
advise counts.csv --for trtllm
  --engine-version: required
advise counts.csv --for vlm --target t5-base
  --target: given without; --for: unknown
advise counts.csv --device h100
  --target: missing; --draft: missing
advise counts.csv --device h100 --target llama-3.1-8b --draft llama-3.2-1b
  h100: batch: required
compare plain.csv
  plain.csv: no speculative decoding
compare counts.csv counts.csv
  counts.csv: holds the same bytes
compare none.csv other.csv
  none.csv: cannot be read; other.csv: cannot be read
compare none.csv --require tpot<=1.02x
  --require: "tpot<=1.02x" with one log
compare none.csv --require speedup --require sped>=1 --require marginal[0]>=1 --require speedup>=x
  --require: invalid requirement "speedup"; --require: unknown metric "sped"; --require: unknown metric "marginal[0]";
  --require: invalid number "x"
)");
}

}  // namespace foredraft::app
