// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/advice.hpp"
#include "answers/engine_settings.hpp"
#include "app/advice_folder.hpp"
#include "app/commands/commands.hpp"
#include "app/deployment_options.hpp"
#include "app/request_options.hpp"
#include "app/scenario_options.hpp"
#include "app/scripts.hpp"
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
  inputs::AdviceRequest request{.logs = line.positional(), .deployment = read_asked_deployment(line)};
  if (auto plain = line.texts("plain")) request.plain = std::move(*plain);
  read_fields(line, inputs::advice_fields(), request);
  if (!line.unreadable()) inputs::check(request, line.problems());
  line.done();
  return request;
}

int run_advise(CommandLine& line) {
  const inputs::AdviceRequest request = read_request(line);
  const inputs::ReadAdvice read = inputs::read_advice(request, read_logs_with_progress);
  for (const std::string& note : read.notes) say("{}", note);
  const answers::Advice advice = answers::advise(read.question);
  const std::string settings = inputs::settings_of(request, advice);
  std::optional<experiments::ResultFolder> folder;
  if (const auto out = line.text("out")) {
    folder.emplace(*out, advice_kind(read.question), line.words());
    for (const FileDigest& file : read.files) folder->add_input(file);
    write_advice(*folder, advice, settings, request.engine_version);
    folder->complete();
  }
  print_result(line.has("json") ? experiments::document_text(to_json(advice, request.engine_version))
                                : to_text(advice, settings));
  if (folder && draw_figures(folder->path()) == PlotResult::failed) return exit_failed;
  return advice.concludes() ? exit_done : exit_failed;
}

}  // namespace

Command advise_command() {
  return {{.name = "advise",
           .arguments = "LOG... [--plain LOG,...] [options]",
           .summary = "Reads engine logs: does speculation pay, why not, and what to set.",
           .options = {{"plain", "LOG,...", "logs of the same load without speculation, required for a speedup"},
                       log_format_option,
                       {"for", "E",
                        "settings for vllm, sglang, trtllm, llama.cpp, aiconfigurator, prometheus, or to "
                        "replay the acceptance: vllm-synthetic, sglang-synthetic, trtllm-synthetic",
                        false, export_names},
                       {"engine-version", "V",
                        "version of the engine, if its log does not say it (required by --for trtllm)"},
                       {"out", "DIR", "also write a folder: report.html, figures, advice.json, all numbers as CSV"},
                       {"json", "", "one JSON document, schema foredraft.advise/1"}},
           .min_positional = 1,
           .max_positional = max_advised_logs,
           .examples = {"foredraft advise vllm.log", "foredraft advise k3.log k1.log --plain plain.log --for vllm",
                        "foredraft advise run.json --plain plain.json --device h100 --target llama-3.1-8b --draft "
                        "llama-3.2-1b",
                        "foredraft advise trtllm.json --for trtllm --engine-version 1.3.0 --json"},
           .groups = {{"step times, for draft lengths that were not logged",
                       {device_option,
                        profile_option,
                        target_option,
                        draft_option,
                        {"batch", "B", "batch size, if the log does not say it"},
                        {"context", "N", "context length in tokens (default 512)"}}},
                      deployment_options()}},
          run_advise};
}

}  // namespace foredraft::app
