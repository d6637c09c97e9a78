// SPDX-License-Identifier: Apache-2.0
#include "experiments/commands/predict_from_profile.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "analytic/answer/prediction.hpp"
#include "core/check.hpp"
#include "core/streams.hpp"
#include "experiments/cli/exit_codes.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/cli/plot_script.hpp"
#include "experiments/cli/progress.hpp"
#include "experiments/devices/devices.hpp"
#include "experiments/devices/steps_file.hpp"
#include "experiments/predict/prediction_folder.hpp"
#include "experiments/predict/profile_prediction.hpp"
#include "experiments/predict/verification_curve.hpp"
#include "experiments/results/manifest.hpp"
#include "latency/surfaces/drafter_words.hpp"

namespace foredraft::experiments {
namespace {

/// A schedule asks at every batch between the smallest and the largest.
constexpr std::int64_t largest_batch = 65'536;
constexpr std::int64_t largest_context = 1'000'000;

void refuse_other_costs(CommandLine& line) {
  for (const std::string_view name : {"c", "step-ms", "draft-ms", "verify-ms", "overhead-ms", "operations-ratio"}) {
    if (line.has(name))
      line.refuse(name, "given beside the times of a device", "they say what a draft costs", "remove one");
  }
  for (const std::string_view name :
       {"decay", "recovery", "accuracies", "edit-rate", "realign", "policy", "threshold", "concentration", "bias"}) {
    if (line.has(name)) {
      line.refuse(name, "not used with the times of a device",
                  "drafts have one length and the acceptance that is given",
                  "state acceptance with --alpha, --conditional or --marginal");
    }
  }
}

ProfileQuestion read_profile_question(CommandLine& line, const Question& acceptance) {
  refuse_other_costs(line);
  if (line.has("profile") && line.has("steps-file")) {
    line.refuse("steps-file", "given beside --profile", "a prediction rests on one kind of source", "remove one");
  }
  ProfileQuestion question{
      .target = line.text("target").value_or(""),
      .draft = line.text("draft").value_or(""),
      .drafting =
          latency::role_of_drafter(line.word("drafter", latency::drafter_words()).value_or("autoregressive")).value(),
      .acceptance_length = acceptance.acceptance_length,
      .convention = acceptance.scenario.convention,
      .gamma = acceptance.gamma};
  const AcceptanceProcess& process = std::get<ProcessFidelity>(acceptance.scenario.fidelity).acceptance;
  if (const auto* positional = std::get_if<Positional>(&process)) {
    question.marginal = analytic::marginal_of(*positional);
  } else {
    question.alpha = std::get<Iid>(process).alpha;
  }
  line.require("target", "the model that verifies", "e.g. --target qwen1.5-7b; foredraft list models");
  if (question.drafting == latency::Role::head_drafting) {
    if (line.has("draft")) line.refuse("draft", "not used by heads", "they stand on the target itself", "remove it");
    question.draft = question.target;
  } else {
    line.require("draft", "the model that drafts", "e.g. --draft qwen1.5-0.5b; foredraft list models");
  }
  if (auto batches = line.integers("batch", 1, largest_batch)) question.batches = std::move(*batches);
  if (auto contexts = line.integers("context", 0, largest_context)) question.contexts = std::move(*contexts);
  question.overhead_us = line.real("overhead-us", 0.0, std::numeric_limits<double>::max()).value_or(0.0);
  if (question.gamma.value_or(0) > largest_batch) {
    line.refuse("gamma", fmt::format("invalid gamma={}", *question.gamma),
                fmt::format("must be at most {}: every length up to it is looked at", largest_batch));
  }
  return question;
}

void fill(ResultFolder& folder, const ProfilePrediction& prediction, const std::vector<VerificationCurve>& curves,
          const FileDigest& times) {
  folder.add_input(times);
  write_prediction(folder, prediction, curves);
  folder.complete();
  if (!has_decision_map(prediction.question)) {
    say("no decision map: it needs two batches and two contexts at least (--batch 1,8,64 --context "
        "512,4096)");
  }
}

}  // namespace

std::vector<OptionSpec> profile_options() {
  return {{"profile", "P", "or times of a device: a profile.json, or a shipped data sheet (foredraft list devices),"},
          {"steps-file", "CSV", "  or steps of your own: model,role,batch,tokens,context,ms"},
          {"target", "T", "  the model that verifies"},
          {"draft", "D", "  the model that drafts"},
          {"batch", "B,...", "  sequences at once (default 1)"},
          {"context", "N,...", "  tokens that each already holds (default 512)"},
          {"overhead-us", "U", "  whatever an iteration costs beyond its passes (default 0)"},
          {"out", "DIR", "  a folder as well: prediction.csv, manifest.json, figures and report"}};
}

bool takes_profile(CommandLine& line) {
  if (line.has("profile") || line.has("steps-file")) return true;
  for (const std::string_view name : {"target", "draft", "batch", "context", "overhead-us", "out"}) {
    if (line.has(name))
      line.refuse(name, "given without --profile", "it asks for times of a device", "e.g. --profile h200");
  }
  return false;
}

int predict_from_profile(CommandLine& line, const Question& acceptance) {
  const ProfileQuestion question = read_profile_question(line, acceptance);
  line.done();
  const auto steps = line.text("steps-file");
  const std::string source = steps ? *steps : line.text("profile").value();
  const ReadProfile read = steps ? read_steps(*steps) : read_profile(source);
  const latency::Profile& profile = read.profile;
  try {
    const auto out = line.text("out");
    std::vector<VerificationCurve> curves;
    const ProfilePrediction prediction = [&] {
      const Progress progress{"predicting"};
      ProfilePrediction all = predict(question, profile);
      if (out) curves = verification_curves(question, profile);
      return all;
    }();
    std::optional<ResultFolder> folder;
    if (out) {
      static_cast<void>(catch_interrupts());  // what is begun is written whole; drawing looks at it
      folder.emplace(*out, folder_kind(prediction.question, read.digest), line.words());
      fill(*folder, prediction, curves, read.digest);
    }
    print_result(line.has("json") ? document_text(to_json(prediction)) : to_text(prediction));
    if (folder && draw_figures(folder->path()) == PlotResult::failed) return exit_failed;
  } catch (const DomainError& error) {
    throw InputError(fmt::format("{}: {}", source, error.what()));
  }
  return exit_done;
}

}  // namespace foredraft::experiments
