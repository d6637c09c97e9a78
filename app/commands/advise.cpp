// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "answers/advice.hpp"
#include "answers/engine_settings.hpp"
#include "answers/profile_prediction.hpp"
#include "app/advice_folder.hpp"
#include "app/commands/commands.hpp"
#include "app/deployment_options.hpp"
#include "app/scenario_options.hpp"
#include "app/scripts.hpp"
#include "app/texts/texts.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "core/table.hpp"
#include "experiments/results/manifest.hpp"
#include "inputs/observed_acceptance.hpp"

namespace foredraft::app {
namespace {

constexpr std::size_t max_advised_logs = 1000;
constexpr std::int64_t largest_advised_batch = 65'536;
constexpr std::int64_t largest_advised_context = 1'000'000;
constexpr std::int64_t default_context = 512;

std::vector<std::string> export_names() { return texts_of(answers::engine_exports(), &answers::EngineExport::name); }

/// The loads that times are wanted at: those of the log, and where it names none, those of --batch.
std::vector<std::int64_t> batches_of(const answers::AdviceQuestion& question) {
  std::vector<std::int64_t> batches;
  for (const answers::Run& run : answers::runs_of(question.logs, question.plain).all) {
    if (run.decoding != logs::Decoding::speculative || !run.requests) continue;
    batches.push_back(std::clamp<std::int64_t>(std::llround(*run.requests), 1, largest_advised_batch));
  }
  std::ranges::sort(batches);
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

answers::PredictedTimes predicted_times(const answers::ProfilePrediction& prediction) {
  const answers::Evidence evidence = answers::evidence_of(prediction);
  // An unknown error of steps is taken as that of a single run.
  answers::PredictedTimes predicted{.evidence = std::string(evidence.what),
                                    .error = evidence.ratio_error.value_or(answers::single_run_error)};
  for (const answers::AtBatch& at : prediction.cells) {
    for (const answers::AtDraftLength& length : at.lengths) {
      constexpr double ms_per_us = 1e-3;
      predicted.times.push_back({.batch = static_cast<double>(at.batch),
                                 .gamma = length.gamma,
                                 .plain = ms_per_us * analytic::plain_time(length.iteration),
                                 .drafting = ms_per_us * length.times.drafting.time_us,
                                 .verification = ms_per_us * length.times.verify.time_us,
                                 .iteration = ms_per_us * analytic::iteration_time(length.iteration)});
    }
  }
  return predicted;
}

void add_prediction(CommandLine& line, answers::AdviceQuestion& question, std::vector<FileDigest>& files) {
  const inputs::ReadProfile read = read_named_device(line);
  files.push_back(read.digest);
  answers::ProfileQuestion asked{
      .target = line.text("target").value_or(""),
      .draft = line.text("draft").value_or(""),
      .acceptance = Iid{0.5},
      .batches = batches_of(question),
      .contexts = {line.integer("context", 0, largest_advised_context).value_or(default_context)}};
  asked.max_gamma = answers::longest_advised;
  read_deployment(line, read.profile, asked, files);
  if (asked.batches.empty()) {
    throw InputError(
        fmt::format("{}: batch: required (the log does not say how many requests ran at once) - add "
                    "--batch B",
                    named_device(line)));
  }
  try {
    question.predicted = predicted_times(answers::predict(asked, read.profile));
  } catch (const DomainError& error) {
    throw InputError(fmt::format("{}: {}", named_device(line), error.what()));
  }
}

void check_options(CommandLine& line) {
  if (names_device(line)) {
    line.require("target", "the target model", "e.g. --target llama-3.1-8b; foredraft list models");
    line.require("draft", "the draft model", "e.g. --draft llama-3.2-1b; foredraft list models");
  } else {
    line.reject_any({"target", "draft", "context"}, "given without --profile or --device",
                    "it asks for step times of a device", "e.g. --device h200");
    reject_deployment(line);
  }
  static_cast<void>(line.word("for", export_names()));
}

/// What the line asks for, and the digests of what was read for it.
struct AskedAdvice {
  answers::AdviceQuestion question;
  std::vector<FileDigest> files;
  answers::Advice advice;
};

AskedAdvice advice_of(CommandLine& line, const auto& read) {
  check_options(line);
  const auto batch = line.integer("batch", 1, largest_advised_batch);
  line.done();
  const std::string format = line.text("format").value_or("");
  answers::AdviceQuestion question{.logs = read(line.positional(), format)};
  if (const auto plain = line.texts("plain")) question.plain = read(*plain, "");
  std::vector<FileDigest> files;
  for (auto* logs : {&question.logs, &question.plain}) {
    for (logs::ObservedLog& log : *logs) {
      files.push_back({.path = log.file, .bytes = log.bytes, .sha256 = log.sha256});
      for (logs::Observation& one : log.contents.observations) {
        if (batch && !one.requests) one.requests = static_cast<double>(*batch);
      }
    }
  }
  if (names_device(line)) add_prediction(line, question, files);
  answers::Advice advice = answers::advise(question);
  return {std::move(question), std::move(files), std::move(advice)};
}

/// Settings of TensorRT-LLM mean different things from version to version.
std::string settings_of(const CommandLine& line, const answers::Advice& advice) {
  const std::string engine = line.text("for").value_or(advice.engine);
  const std::string version = line.text("engine-version").value_or("");
  if (line.has("for") && answers::needs_version(engine) && version.empty() && advice.version.empty()) {
    throw InputError(
        "--engine-version: required (the keys of draft_len_schedule are lower bounds up to 1.2 and upper bounds from "
        "1.3 on) - e.g. --engine-version 1.3.0");
  }
  return answers::settings_for(advice, engine, version);
}

int run_advise(CommandLine& line) {
  const auto [question, files, advice] = advice_of(line, read_logs_with_progress);
  const std::string settings = settings_of(line, advice);
  const std::string version = line.text("engine-version").value_or("");
  std::optional<experiments::ResultFolder> folder;
  if (const auto out = line.text("out")) {
    folder.emplace(*out, advice_kind(question), line.words());
    for (const FileDigest& file : files) folder->add_input(file);
    write_advice(*folder, advice, settings, version);
    folder->complete();
  }
  print_result(line.has("json") ? experiments::document_text(to_json(advice, version)) : to_text(advice, settings));
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

AdviceDocuments advice_documents(const std::vector<std::string>& arguments, StopToken stop) {
  CommandLine line(advise_command().spec, arguments);
  const AskedAdvice asked = advice_of(line, [&](const std::vector<std::string>& paths, std::string_view format) {
    return inputs::read_logs(paths, format, stop);
  });
  return {.json = experiments::document_text(to_json(asked.advice, line.text("engine-version").value_or(""))),
          .text = to_text(asked.advice, settings_of(line, asked.advice))};
}

}  // namespace foredraft::app
