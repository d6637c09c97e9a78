// SPDX-License-Identifier: Apache-2.0
#include "answers/logging_plan.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/json_values.hpp"
#include "core/problems.hpp"
#include "core/table.hpp"

namespace foredraft::answers {
namespace {

/// A word of a shell command, quoted if necessary.
std::string shell_word(std::string_view word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("._-/:@+").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// A JSON or YAML text within single quotes of a shell.
std::string quoted_text(const std::string& text) {
  std::string json = nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  for (std::size_t at = json.find('\''); at != std::string::npos; at = json.find('\'', at)) {
    json.replace(at, 1, "\\u0027");
  }
  return json;
}

// ---- The commands of each engine. They write files named $RUN, and $N if a load has its own.

/// Commands are templates: {target}, {draft} (words of a shell), {draft_text} (JSON or YAML within single quotes), {k},
/// {verified} (k + 1), {drafting} (the text for K > 0), {requests}, {concurrency}, {tokens} (output length), {round}.
struct EngineCommands {
  std::string_view name;
  std::string_view written_for;
  std::array<std::int64_t, 3> default_loads;  ///< 0: none
  bool server_per_load;
  std::string_view server;
  std::string_view drafting;  ///< options of a speculative server
  std::string_view load;
  std::string_view prompts;
  std::string_view drafter;
  std::string_view advised;  ///< files for advise, without the name of the run
  std::string_view kept;     ///< another file of each run, and its use
};

constexpr std::array engines{
    EngineCommands{.name = "vllm",
                   .written_for = "vLLM 0.32",
                   .default_loads = {1, 16, 64},
                   .server_per_load = false,
                   .server = "vllm serve {target} --port 8000{drafting} > $RUN.log 2>&1",
                   .drafting = R"( --speculative-config '{{"model":{draft_text},"num_speculative_tokens":{k}}}')",
                   .load = "vllm bench serve --model {target} --port 8000 --dataset-name custom --dataset-path "
                           "prompts.jsonl --custom-output-len {tokens} --num-prompts {requests} --max-concurrency "
                           "{concurrency} --num-warmups {concurrency} --seed {round} --save-result --save-detailed "
                           "--result-filename $RUN-c{concurrency}.json",
                   .prompts = R"({"prompt": "..."})",
                   .drafter = "keep your own --speculative-config except num_speculative_tokens",
                   .advised = "-c*.json",
                   .kept = "$RUN.log: the server's log, for its settings, graph sizes and faults"},
    EngineCommands{.name = "sglang",
                   .written_for = "SGLang of 2026",
                   .default_loads = {1, 16, 64},
                   .server_per_load = false,
                   .server = "python -m sglang.launch_server --model-path {target} --port 30000{drafting} "
                             "--decode-log-interval 40 > $RUN.log 2>&1",
                   .drafting = " --speculative-algorithm EAGLE3 --speculative-draft-model-path {draft} "
                               "--speculative-num-steps {k} --speculative-eagle-topk 1 "
                               "--speculative-num-draft-tokens {verified}",
                   .load = "python -m sglang.bench_serving --backend sglang-oai-chat --model {target} --port 30000 "
                           "--dataset-name openai --dataset-path prompts.jsonl --sharegpt-output-len {tokens} "
                           "--num-prompts {requests} --max-concurrency {concurrency} --warmup-requests {concurrency} "
                           "--seed {round} --disable-ignore-eos --output-details --output-file "
                           "$RUN-c{concurrency}.jsonl",
                   .prompts = R"({"messages": [{"role": "user", "content": "..."}]})",
                   .drafter = "keep your own --speculative-algorithm; --speculative-num-draft-tokens is K + 1",
                   .advised = ".log",
                   .kept = "$RUN-c*.jsonl: the load generator's, for TTFT and failed requests"},
    // /metrics returns the iteration statistics since it was last read, so the plan reads it every second.
    EngineCommands{.name = "trtllm",
                   .written_for = "TensorRT-LLM 1.3; older ones take --extra_llm_api_options for --config",
                   .default_loads = {1, 16, 64},
                   .server_per_load = false,
                   .server = "printf '%s\\n' 'enable_iter_perf_stats: true'{drafting} > $RUN.yaml\n"
                             "trtllm-serve {target} --port 8000 --config $RUN.yaml > $RUN.log 2>&1",
                   .drafting = " 'speculative_config:' '  decoding_type: Eagle3' '  max_draft_len: {k}' "
                               "'  speculative_model: {draft_text}'",
                   .load = "while sleep 1; do curl -s http://localhost:8000/metrics; echo; done > "
                           "$RUN-c{concurrency}.stats &\n"
                           "python -m tensorrt_llm.serve.scripts.benchmark_serving --backend openai-chat --model "
                           "{target} --port 8000 --dataset-name trtllm_custom --dataset-path prompts.jsonl "
                           "--num-prompts {requests} --max-concurrency {concurrency} --seed {round} --save-result "
                           "--save-detailed --result-filename $RUN-c{concurrency}.json\n"
                           "kill $!",
                   .prompts = R"({"input": {"messages": [{"role": "user", "content": "..."}], "max_tokens": 256}})",
                   .drafter = "keep your own speculative_config except max_draft_len",
                   .advised = "-c*.stats",
                   .kept = "$RUN-c*.json: the load generator's, for TTFT and failed requests"},
    EngineCommands{.name = "llama.cpp",
                   .written_for = "llama.cpp of 2026; older ones take --draft-max for --spec-draft-n-max",
                   .default_loads = {1, 4, 0},
                   .server_per_load = true,
                   .server = "llama-server -m {target} --port 8080 -np $N -c $((4096 * N)){drafting} -lv 4 > "
                             "$RUN-c$N.log 2>&1",
                   .drafting = " -md {draft} --spec-type draft-simple --spec-draft-n-max {k}",
                   .load = "head -n {requests} prompts.jsonl | xargs -d '\\n' -P {concurrency} -I {{}} curl -s -o "
                           "/dev/null http://localhost:8080/v1/chat/completions -H 'Content-Type: application/json' "
                           "-d {{}}",
                   .prompts = R"({"messages": [{"role": "user", "content": "..."}], "max_tokens": 256})",
                   .drafter = "keep your own --spec-type; -c is the context of all slots together",
                   .advised = "-c*.log",
                   .kept = ""}};

std::string server_command(const EngineCommands& engine, const PlanQuestion& question, std::int64_t gamma) {
  std::string drafting;
  if (gamma > 0) {
    drafting = fmt::format(fmt::runtime(engine.drafting), fmt::arg("draft", shell_word(question.draft)),
                           fmt::arg("draft_text", quoted_text(question.draft)), fmt::arg("k", gamma),
                           fmt::arg("verified", gamma + 1));
  }
  return fmt::format(fmt::runtime(engine.server), fmt::arg("target", shell_word(question.target)),
                     fmt::arg("drafting", drafting));
}

std::string load_command(const EngineCommands& engine, const PlanQuestion& question, const PlannedLoad& load) {
  return fmt::format(fmt::runtime(engine.load), fmt::arg("target", shell_word(question.target)),
                     fmt::arg("requests", load.requests), fmt::arg("concurrency", load.concurrency),
                     fmt::arg("tokens", planned_output_tokens), fmt::arg("round", "${RUN##*-}"));
}

const EngineCommands* commands_of(std::string_view engine) {
  const auto* found = std::ranges::find(engines, engine, &EngineCommands::name);
  return found == engines.end() ? nullptr : found;
}

// ---- Servers, loads and their order.

/// No speculation (0), the current draft length, a clearly shorter one and a clearly longer one. Without a current
/// length: 1 and 5. Lengths between them can be interpolated.
std::vector<std::int64_t> planned_gammas(std::optional<std::int64_t> current) {
  if (!current) return {0, 1, 5};
  std::vector<std::int64_t> gammas{0};
  if (*current > 1) gammas.push_back(*current / 2);
  gammas.push_back(*current);
  gammas.push_back(*current + std::max<std::int64_t>(2, (*current + 1) / 2));
  return gammas;
}

/// Ascending. Adds the load of one request to a single load, which does not show whether a schedule pays.
std::vector<std::int64_t> planned_loads(std::vector<std::int64_t> loads, const EngineCommands& engine) {
  if (loads.empty()) loads.assign(engine.default_loads.begin(), engine.default_loads.end());
  if (loads.size() == 1) loads.push_back(1);
  std::erase(loads, 0);
  std::ranges::sort(loads);
  const auto repeated = std::ranges::unique(loads);
  loads.erase(repeated.begin(), repeated.end());
  return loads;
}

PlannedLoad planned_load(std::int64_t concurrency) {
  // Four requests in succession per slot, so that the batch is full most of the time.
  constexpr std::int64_t requests_a_place = 4;
  constexpr double ms_per_minute = 60e3;
  const double needed = std::ceil(std::pow(planned_request_variation / planned_precision, 2.0) - 1e-9);
  const auto in_a_round = static_cast<std::int64_t>(std::ceil(needed / planned_rounds));
  const std::int64_t requests = std::max(in_a_round, requests_a_place * concurrency);
  const double ms = static_cast<double>(requests * planned_output_tokens) * planned_tpot_ms;
  return {.concurrency = concurrency,
          .requests = requests,
          .minutes = std::ceil(ms / static_cast<double>(concurrency) / ms_per_minute),
          .command = {}};
}

std::string server_name(std::int64_t gamma) { return gamma == 0 ? "plain" : fmt::format("k{}", gamma); }

/// In order, then in reverse, so that a drift over time affects all runs equally on average.
std::vector<std::string> planned_order(const std::vector<std::int64_t>& gammas) {
  std::vector<std::string> order;
  for (const std::int64_t gamma : gammas) order.push_back(server_name(gamma) + "-1");
  for (std::size_t i = gammas.size(); i > 0; --i) order.push_back(server_name(gammas[i - 1]) + "-2");
  return order;
}

/// The command for files named after a run and `files`. Plain logs are joined by commas.
std::string advise_command(const EngineCommands& engine, const std::string& files, const std::string& options) {
  return fmt::format("foredraft advise k*{0} --plain $(echo plain-*{0} | tr ' ' ,) --for {1}{2}", files, engine.name,
                     options);
}

std::vector<std::string> advise_commands(const EngineCommands& engine, const std::vector<std::int64_t>& loads) {
  std::string version;
  if (engine.name == "trtllm") version = " --engine-version 1.3";
  if (!engine.server_per_load) return {advise_command(engine, std::string(engine.advised), version)};
  // A log of llama-server with several slots does not state the number of concurrent requests.
  std::vector<std::string> commands;
  for (const std::int64_t load : loads) {
    commands.push_back(advise_command(engine, fmt::format("-c{}.log", load), fmt::format(" --batch {}", load)));
  }
  return commands;
}

std::string advised_files(const EngineCommands& engine) {
  return fmt::format("$RUN{}: what advise reads", engine.advised);
}

/// Commands are printed unchanged, so they must not contain control characters.
void check_name(const char* key, const std::string& name, ProblemList& problems) {
  if (std::ranges::none_of(name, [](unsigned char c) { return std::iscntrl(c) != 0; })) return;
  problems.add({.key = key, .text = fmt::format("invalid name \"{}\"", name), .why = "has control characters"});
}

}  // namespace

std::vector<std::string> planned_engines() { return texts_of(engines, &EngineCommands::name); }

void check(const PlanQuestion& question, ProblemList& problems) {
  if (commands_of(question.engine) == nullptr) {
    problems.add({.key = "--plan",
                  .text = fmt::format("unknown engine \"{}\"", question.engine),
                  .suggestion = suggestion_for(question.engine, planned_engines())});
  }
  const auto check_range = [&](const char* key, std::int64_t value, std::int64_t maximum) {
    if (value >= 1 && value <= maximum) return;
    problems.add({.key = key,
                  .text = fmt::format("invalid value {}", value),
                  .why = fmt::format("must lie in 1 to {}", maximum)});
  };
  if (question.current_gamma) check_range("--current-k", *question.current_gamma, max_planned_gamma);
  for (const std::int64_t load : question.concurrency) check_range("--concurrency", load, max_planned_concurrency);
  check_name("--target", question.target, problems);
  check_name("--draft", question.draft, problems);
}

LoggingPlan logging_plan(const PlanQuestion& question) {
  const EngineCommands& engine = *commands_of(question.engine);
  PlanQuestion named = question;
  named.concurrency = planned_loads(question.concurrency, engine);
  if (named.target.empty()) named.target = "TARGET";
  if (named.draft.empty()) named.draft = "DRAFT";
  LoggingPlan plan{.question = named,
                   .written_for = std::string(engine.written_for),
                   .servers = {},
                   .loads = {},
                   .order = {},
                   .server_per_load = engine.server_per_load,
                   .minutes = 0.0,
                   .prompts = std::string(engine.prompts),
                   .drafter = std::string(engine.drafter),
                   .keep = {advised_files(engine)},
                   .advise = advise_commands(engine, named.concurrency)};
  if (!engine.kept.empty()) plan.keep.emplace_back(engine.kept);
  const std::vector<std::int64_t> gammas = planned_gammas(question.current_gamma);
  plan.order = planned_order(gammas);
  for (const std::int64_t gamma : gammas) {
    plan.servers.push_back(
        {.name = server_name(gamma), .gamma = gamma, .command = server_command(engine, named, gamma)});
  }
  double minutes_of_run = engine.server_per_load ? 0.0 : planned_start_minutes;
  for (const std::int64_t concurrency : named.concurrency) {
    PlannedLoad& load = plan.loads.emplace_back(planned_load(concurrency));
    load.command = load_command(engine, named, load);
    minutes_of_run += load.minutes + (engine.server_per_load ? planned_start_minutes : 0.0);
  }
  plan.minutes = minutes_of_run * static_cast<double>(plan.order.size());
  return plan;
}

std::string next_runs(std::string_view engine, std::optional<std::int64_t> current_gamma,
                      std::optional<double> concurrency) {
  const std::string_view name = engine == "tensorrt-llm" ? "trtllm" : engine;
  std::string command =
      fmt::format("foredraft advise --plan {}", commands_of(name) == nullptr ? std::string_view("ENGINE") : name);
  if (current_gamma && *current_gamma >= 1 && *current_gamma <= max_planned_gamma) {
    command += fmt::format(" --current-k {}", *current_gamma);
  }
  if (concurrency && *concurrency >= 0.5 && *concurrency <= static_cast<double>(max_planned_concurrency)) {
    command += fmt::format(" --concurrency {}", std::max(1LL, std::llround(*concurrency)));
  }
  return command;
}

nlohmann::ordered_json to_json(const LoggingPlan& plan) {
  const nlohmann::ordered_json servers =
      list_json(plan.servers, [](const PlannedServer& server) -> nlohmann::ordered_json {
        return {{"name", server.name}, {"gamma", server.gamma}, {"command", server.command}};
      });
  const nlohmann::ordered_json loads = list_json(plan.loads, [](const PlannedLoad& load) -> nlohmann::ordered_json {
    return {{"concurrency", load.concurrency},
            {"requests", load.requests},
            {"minutes", load.minutes},
            {"command", load.command}};
  });
  return {{"schema", "foredraft.plan/1"},
          {"engine", plan.question.engine},
          {"written_for", plan.written_for},
          {"current_gamma", value_or_null(plan.question.current_gamma)},
          {"order", plan.order},
          {"servers", servers},
          {"loads", loads},
          {"server_per_load", plan.server_per_load},
          {"minutes", plan.minutes},
          {"precision", planned_precision},
          {"assumed",
           {{"request_variation", planned_request_variation},
            {"output_tokens", planned_output_tokens},
            {"tpot_ms", planned_tpot_ms},
            {"start_minutes", planned_start_minutes}}},
          {"prompts", plan.prompts},
          {"drafter", plan.drafter},
          {"keep", plan.keep},
          {"advise", plan.advise}};
}

}  // namespace foredraft::answers
