// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/advice.hpp"
#include "answers/engine_settings.hpp"
#include "answers/logging_plan.hpp"
#include "app/advice_folder.hpp"
#include "app/answer_folder.hpp"
#include "app/commands/commands.hpp"
#include "app/deployment_options.hpp"
#include "app/request_options.hpp"
#include "app/scenario_options.hpp"
#include "app/texts/texts.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "core/table.hpp"
#include "experiments/results/manifest.hpp"
#include "inputs/advice_request.hpp"

namespace foredraft::app {
namespace {

constexpr std::size_t max_advised_logs = 1000;

std::vector<std::string> export_names() { return texts_of(answers::engine_exports(), &answers::EngineExport::name); }

inputs::AdviceRequest read_request(CommandLine& line) {
  line.reject_any({"current-k", "concurrency"}, "given without --plan", "they describe the server to plan runs for");
  if (line.positional().empty() && !line.unreadable()) {
    line.problems().add({.text = "an argument is missing",
                         .why = "the logs to read",
                         .suggestion = "e.g. foredraft advise vllm.log; without logs: foredraft advise --plan ENGINE"});
  }
  inputs::AdviceRequest request{.logs = line.positional(), .deployment = read_asked_deployment(line)};
  if (auto plain = line.texts("plain")) request.plain = std::move(*plain);
  read_fields(line, inputs::advice_fields(), request);
  if (!line.unreadable()) inputs::check(request, line.problems());
  line.done();
  return request;
}

// ---- What to log, instead of advice from logs.

constexpr std::string_view engine_of_plan = "plan";

/// The options that may accompany --plan.
constexpr std::array<std::string_view, 6> options_of_plan{engine_of_plan, "current-k", "concurrency",
                                                          "target",       "draft",     "json"};

answers::PlanQuestion read_plan_question(CommandLine& line, const CommandSpec& command) {
  std::vector<std::string_view> others;
  for (const OptionSpec& option : all_options(command)) {
    if (std::ranges::find(options_of_plan, option.name) == options_of_plan.end()) others.push_back(option.name);
  }
  line.reject_any(others, "given with --plan", "--plan prints what to log and reads no log");
  if (!line.positional().empty()) {
    line.problems().add({.key = line.positional().front(),
                         .text = "unexpected argument",
                         .why = "--plan prints what to log and reads no log",
                         .suggestion = "remove --plan for advice from logs"});
  }
  answers::PlanQuestion question{.engine = line.text(engine_of_plan).value_or(""),
                                 .current_gamma = line.integer("current-k", 1, answers::max_planned_gamma),
                                 .concurrency = {},
                                 .target = line.text("target").value_or(""),
                                 .draft = line.text("draft").value_or("")};
  if (auto loads = line.integers("concurrency", 1, answers::max_planned_concurrency)) {
    question.concurrency = std::move(*loads);
  }
  answers::check(question, line.problems());
  line.done();
  return question;
}

int run_plan(CommandLine& line) {
  const answers::LoggingPlan plan = answers::logging_plan(read_plan_question(line, advise_command().spec));
  print_result(line.has("json") ? experiments::document_text(to_json(plan)) : to_text(plan));
  return exit_done;
}

int run_advise(CommandLine& line) {
  if (line.has(engine_of_plan)) return run_plan(line);
  const inputs::AdviceRequest request = read_request(line);
  const inputs::ReadAdvice read = inputs::read_advice(request, read_logs_with_progress);
  for (const std::string& note : read.notes) say("{}", note);
  const answers::Advice advice = answers::advise(read.question);
  const std::string settings = inputs::settings_of(request, advice);
  const std::string answer = line.has("json") ? experiments::document_text(to_json(advice, request.engine_version))
                                              : to_text(advice, settings);
  const int code =
      print_answer(line, answer, {.kind = advice_kind(read.question), .inputs = read.files, .write = [&](auto& out) {
                                    write_advice(out, advice, settings, request.engine_version);
                                  }});
  return advice.concludes() ? code : exit_failed;
}

}  // namespace

Command advise_command() {
  return {
      {.name = "advise",
       .arguments = "LOG... [--plain LOG,...] [options] | --plan ENGINE",
       .summary = "Reads engine logs: does speculation pay, why not, and what to set.",
       .options = {plain_option,
                   log_format_option,
                   {"for", "E",
                    "settings for vllm, sglang, trtllm, llama.cpp, lmdeploy, aiconfigurator, prometheus, or to "
                    "replay the acceptance: vllm-synthetic, sglang-synthetic, trtllm-synthetic",
                    false, export_names},
                   {"engine-version", "V",
                    "version of the engine, if its log does not state it (required by --for trtllm)"},
                   gpu_hour_price_option,
                   gpus_option,
                   {"out", "DIR", "also write a folder: report.html, figures, advice.json, all numbers as CSV"},
                   {"json", "", "one JSON document, schema foredraft.advise/1"}},
       .min_positional = 0,
       .max_positional = max_advised_logs,
       // NOLINTBEGIN(bugprone-suspicious-missing-comma): a long command in two lines
       .examples = {"foredraft advise vllm.log", "foredraft advise k3.log k1.log --plain plain.log --for vllm",
                    "foredraft advise run.json --plain plain.json --device h100 --target llama-3.1-8b --draft "
                    "llama-3.2-1b",
                    "foredraft advise trtllm.json --for trtllm --engine-version 1.3.0 --json",
                    "foredraft advise --plan vllm --current-k 3 --concurrency 16"},
       // NOLINTEND(bugprone-suspicious-missing-comma)
       .groups = {{"step times, for draft lengths that were not logged",
                   {device_option,
                    profile_option,
                    target_option,
                    draft_option,
                    {"batch", "B", "batch size, if the log does not state it"},
                    {"context", "N", "context length in tokens (default 512)"}}},
                  deployment_options(),
                  {"what to log, as commands, instead of reading logs",
                   {{"plan", "E",
                     "engine to plan runs for: vllm, sglang, trtllm, llama.cpp; --target and --draft name the models",
                     false, answers::planned_engines},
                    {"current-k", "K", "current draft length of the server"},
                    {"concurrency", "N,...", "concurrent requests in production (default 1,16,64; llama.cpp 1,4)"}}}}},
      run_advise};
}

}  // namespace foredraft::app
