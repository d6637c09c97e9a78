// SPDX-License-Identifier: Apache-2.0
#include "app/calibrate_log.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "answers/engine_calibration.hpp"
#include "app/commands/commands.hpp"
#include "app/deployment_options.hpp"
#include "core/digest.hpp"
#include "core/new_file.hpp"
#include "core/progress.hpp"
#include "core/readable.hpp"
#include "core/streams.hpp"
#include "core/table.hpp"
#include "foredraft/errors.hpp"
#include "inputs/devices.hpp"
#include "latency/engines/engines.hpp"
#include "latency/models/model_shape.hpp"
#include "logs/observations_file.hpp"

namespace foredraft::app {
namespace {

using answers::CalibrationQuestion;

/// A name for the engine, from the file name of --out.
std::string engine_name(const std::string& out) {
  std::string name = std::filesystem::path(out).stem().string();
  std::ranges::replace_if(
      name,
      [](unsigned char c) {
        return std::isalnum(c) == 0 && std::string_view("-._+").find(static_cast<char>(c)) == std::string_view::npos;
      },
      '-');
  return std::ranges::any_of(name, [](unsigned char c) { return std::isalnum(c) != 0; }) ? name : "calibrated";
}

/// The options other than logs and deployment.
CalibrationQuestion read_calibration(CommandLine& line) {
  constexpr std::int64_t max_context = 100'000'000;
  constexpr std::string_view given = "given with --backend log";
  line.require("out", "the engine to write", "e.g. --out engine.toml");
  line.require("device", "its data sheet gives the times of forward passes", "e.g. --device h100");
  line.require("target", "the target model", "e.g. --target llama-3.1-8b");
  line.reject_any({"minutes", "threads", "quick", "accept-noise", "batch"}, std::string(given),
                  "nothing is measured here", "remove it");
  line.reject_any({"draw-us", "draft-catch-up", "engine-version", "target-ep", "attention-dp"}, std::string(given),
                  "it belongs to other backends", "remove it");
  if (line.positional().empty() && !line.has("plain")) {
    line.reject("backend", "log without files", "times are read from logs",
                "e.g. foredraft calibrate --backend log plain.log k3.log --device h100 --target llama-3.1-8b --draft "
                "llama-3.2-1b --out engine.toml");
  }
  CalibrationQuestion question{.device = line.text("device").value_or(""),
                               .name = engine_name(line.text("out").value_or(""))};
  question.pair.target = line.text("target").value_or("");
  question.pair.draft = line.text("draft").value_or("");
  if (const auto word = line.text("engine")) {
    if (const latency::Engine* engine = latency::find_engine(*word)) {
      question.engine = *engine;
    } else {
      line.reject("engine", fmt::format("unknown engine {}", readable(*word)), "", "foredraft list engines shows all");
    }
  }
  if (const auto contexts = line.integers("context", 0, max_context)) {
    if (contexts->size() > 1)
      line.reject("context", "several contexts", "one stands for all requests", "give their mean");
    question.context = static_cast<double>(contexts->front());
  }
  line.done();
  return question;
}

std::string engine_fit_text(const answers::EngineCalibration& calibration, const std::string& out) {
  Table table;
  table.columns = {{"", Table::Align::left},
                   {"value", Table::Align::right},
                   {"95 % interval", Table::Align::right},
                   {"rests on windows", Table::Align::left}};
  for (const answers::CalibratedTerm& term : calibration.terms) {
    table.rows.push_back({std::string(term.what), fmt::format("{:.3g}", term.value),
                          fmt::format("{:.3g} to {:.3g}", term.interval.low, term.interval.high), term.basis});
  }
  std::string text = fmt::format("{} windows, requests or runs", calibration.fit.windows);
  if (calibration.left_out > 0) {
    text += fmt::format(" ({} left out: their time, requests in flight or draft length is not known)",
                        calibration.left_out);
  }
  text += fmt::format("; half of them within {:.1f} % of the fit. The other numbers are those of the engine {}.",
                      100.0 * calibration.fit.median_error, calibration.base);
  return fmt::format("{}\n{}{:<12}{}\n", to_text(table), wrapped(text + "\n"), "written to", readable(out));
}

}  // namespace

int run_calibrate_log(CommandLine& line) {
  CalibrationQuestion question = read_calibration(line);
  const std::string out = line.text("out").value_or("");
  require_new_file(out, "out");
  const inputs::ReadProfile device = inputs::read_profile(question.device);
  // Without a draft model there are only forward passes of the target.
  const bool drafts = !question.pair.draft.empty();
  if (!drafts) {
    question.pair.draft = question.pair.target;
    question.pair.drafting = latency::Role::head_drafting;
  }
  question.pair.ignore_memory = true;
  std::vector<FileDigest> files;
  for (const std::string& note : read_deployment(line, device.profile, question.pair, files)) say("{}", note);
  question.drafts = drafts;
  question.logs = read_logs_with_progress(line.positional(), "", inputs::OtherFiles::rejected);
  if (const auto plain = line.texts("plain"))
    question.plain = read_logs_with_progress(*plain, "", inputs::OtherFiles::rejected);
  try {
    const answers::EngineCalibration calibration = answers::calibrate_engine(question, device.profile);
    write_new_file(out, "out", latency::engine_toml(calibration.engine));
    print_result(engine_fit_text(calibration, out));
  } catch (const DomainError& error) {
    throw InputError(fmt::format("foredraft calibrate: --backend log: {}", error.what()));
  }
  return exit_done;
}

}  // namespace foredraft::app
