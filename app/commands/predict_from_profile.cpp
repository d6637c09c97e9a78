// SPDX-License-Identifier: Apache-2.0
#include "app/deployment_options.hpp"

#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "analytic/tokens/acceptance_by_position.hpp"
#include "answers/load_prediction.hpp"
#include "answers/observed.hpp"
#include "answers/prediction.hpp"
#include "answers/profile_prediction.hpp"
#include "app/prediction_folder.hpp"
#include "app/scripts.hpp"
#include "app/texts/texts.hpp"
#include "core/numbers.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "foredraft/errors.hpp"
#include "inputs/devices.hpp"
#include "inputs/observed_acceptance.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "scenario/costs.hpp"
#include "scenario/policies.hpp"

namespace foredraft::app {
namespace {

constexpr double min_rate = 1e-6;
constexpr double largest_rate = 1e6;
constexpr double largest_ms = 1e9;
constexpr double highest_price = 1e9;
constexpr std::int64_t longest_text = 1'000'000;
constexpr std::int64_t longest_output = 100'000;
constexpr std::int64_t largest_served_batch = 65'536;

/// All but --request-rate.
const std::vector<std::string_view> options_of_load{"prompt-tokens",  "output-tokens", "slo-ttft-ms",  "slo-tpot-ms",
                                                    "gpu-hour-price", "max-batch",     "prompt-device"};

/// Whether the line asks for the answer at a load. Rejects options that mean nothing without it, or beside it.
bool asks_load(CommandLine& line) {
  if (!line.has("request-rate")) {
    line.reject_any(options_of_load, "given without --request-rate", "it belongs to the answer at a load",
                    "e.g. --request-rate 4");
    return false;
  }
  line.require("prompt-tokens", "a load needs a request rate, prompt and output lengths", "e.g. --prompt-tokens 1000");
  line.require("output-tokens", "a load needs a request rate, prompt and output lengths", "e.g. --output-tokens 200");
  line.reject_any({"batch", "context"}, "mutually exclusive with --request-rate", "both follow from the load",
                  "remove it; --max-batch bounds the batch");
  line.reject_any({"out"}, "mutually exclusive with --request-rate", "the answer at a load writes no folder",
                  "take --json and redirect it");
  return true;
}

void reject_load(CommandLine& line) {
  std::vector<std::string_view> names = options_of_load;
  names.emplace_back("request-rate");
  line.reject_any(names, "given without --device", "a load is answered by times of a device", "e.g. --device h200");
}

answers::LoadQuestion read_load(CommandLine& line) {
  answers::LoadQuestion question;
  question.requests_per_s = line.real("request-rate", min_rate, largest_rate).value_or(0.0);
  question.prompt_tokens = line.integer("prompt-tokens", 1, longest_text).value_or(0);
  question.output_tokens = line.integer("output-tokens", 2, longest_output).value_or(0);
  question.objective = {.ttft_ms = line.real("slo-ttft-ms", 0.0, largest_ms),
                        .tpot_ms = line.real("slo-tpot-ms", 0.0, largest_ms)};
  question.gpu_hour_price = line.real("gpu-hour-price", 0.0, highest_price);
  question.max_batch = line.integer("max-batch", 1, largest_served_batch).value_or(question.max_batch);
  return question;
}

/// The data sheet of --prompt-device with the deployment of the line. Throws InputError for an unreadable device.
std::optional<latency::PromptSheet> read_prompt_sheet(CommandLine& line, const answers::ProfileQuestion& pair) {
  const auto name = line.text("prompt-device");
  if (!name) return std::nullopt;
  latency::Profile sheet = inputs::read_device(*name).profile;
  latency::SheetPair deployed{.target = pair.target_deployment,
                              .draft = pair.draft_deployment,
                              .attainable = answers::attainable_of(pair, sheet)};
  return latency::PromptSheet{.profile = std::move(sheet), .sheet = deployed};
}

int predict_at_load(const CommandLine& line, const answers::LoadQuestion& question, const latency::Profile& profile) {
  const StopToken stop(&catch_interrupts(default_patience));
  const answers::LoadPrediction prediction = [&] {
    const auto lengths = static_cast<double>(answers::max_drafts(question.pair) + 1);
    Progress progress("draft lengths", lengths);
    return answers::predict_load(question, profile, stop, [&](double share) { progress.show(share * lengths); });
  }();
  print_result(line.has("json") ? experiments::document_text(to_json(prediction)) : to_text(prediction));
  return exit_done;
}

/// A schedule asks at every batch between the smallest and the largest.
constexpr std::int64_t largest_batch = 65'536;
constexpr std::int64_t largest_context = 1'000'000;

const AcceptanceProcess& acceptance_of(const answers::Question& question) {
  return std::get<ProcessFidelity>(question.scenario.fidelity).acceptance;
}

answers::ProfileQuestion read_profile_question(CommandLine& line, const answers::Question& acceptance) {
  if (names_device(line) && line.has("steps-file")) {
    line.reject("steps-file",
                line.has("device") ? "mutually exclusive with --device" : "mutually exclusive with --profile",
                "a prediction uses one source of step times", "remove one");
  }
  answers::ProfileQuestion question{
      .target = line.text("target").value_or(""),
      .draft = line.text("draft").value_or(""),
      .drafting =
          latency::role_of_drafter(line.text("drafter").value_or("")).value_or(latency::Role::autoregressive_drafting),
      // Of a line with problems, which are told together, this is the default.
      .acceptance = acceptance_of(acceptance),
      .acceptance_length = acceptance.acceptance_length,
      .accepted_over_drafted = acceptance.accepted_over_drafted,
      .convention = acceptance.scenario.convention,
      .gamma = acceptance.gamma};
  if (auto* positional = std::get_if<Positional>(&question.acceptance)) {
    positional->marginal = analytic::marginal_of(*positional);
  }
  line.require("target", "the target model", "e.g. --target qwen1.5-7b; foredraft list models");
  if (question.drafting == latency::Role::head_drafting) {
    line.reject_any({"draft"}, "not used by heads", "they are part of the target", "remove it");
    question.draft = question.target;
  } else {
    line.require("draft", "the draft model", "e.g. --draft qwen1.5-0.5b; foredraft list models");
  }
  if (auto batches = line.integers("batch", 1, largest_batch)) question.batches = std::move(*batches);
  if (auto contexts = line.integers("context", 0, largest_context)) question.contexts = std::move(*contexts);
  question.overhead_us = line.real("overhead-us", 0.0, std::numeric_limits<double>::max()).value_or(0.0);
  if (question.gamma.value_or(0) > largest_batch) {
    line.reject("gamma", fmt::format("invalid gamma={}", *question.gamma),
                fmt::format("must be at most {}: every length up to it is looked at", largest_batch));
  }
  return question;
}

/// Several are listed one after the other, each under its alpha.
std::string text_of(const std::vector<answers::ProfilePrediction>& predictions) {
  if (predictions.size() == 1) return to_text(predictions.front());
  std::string text;
  for (const answers::ProfilePrediction& prediction : predictions) {
    text += fmt::format("{}alpha {}\n{}", text.empty() ? "" : "\n",
                        number_text(std::get<Iid>(prediction.question.acceptance).alpha), to_text(prediction));
  }
  return text;
}

}  // namespace

OptionGroup load_options() {
  return {"or a server under load: without and with speculation at one request rate",
          {{"request-rate", "R", "requests per second (Poisson arrivals)"},
           {"prompt-tokens", "N", "prompt length in tokens"},
           {"output-tokens", "M", "output length in tokens, at least 2"},
           {"slo-ttft-ms", "T", "objective for the 99th percentile of TTFT"},
           {"slo-tpot-ms", "T", "objective for the 99th percentile of TPOT"},
           {"gpu-hour-price", "P", "price of a GPU hour, for the cost of a million output tokens"},
           {"max-batch", "B", "maximum batch size, as the engine is set (default 256)"},
           {"prompt-device", "D", "data sheet for prefill times that the profile lacks", false, device_names}}};
}

OptionGroup profile_options() {
  return {"or step times of a device, in place of c and measured times",
          {device_option,
           profile_option,
           {"steps-file", "CSV", "or your own step times: model,role,batch,tokens,context,ms"},
           target_option,
           draft_option,
           {"batch", "B,...", "batch size (default 1)"},
           {"context", "N,...", "context length in tokens (default 512)"},
           {"overhead-us", "U", "everything in an iteration beside its forward passes (default 0)"},
           {"out", "DIR", "also write a folder: prediction.csv, manifest.json, figures and report"}}};
}

bool takes_profile(CommandLine& line) {
  if (line.has("device") || line.has("profile") || line.has("steps-file")) return true;
  line.reject_any({"target", "draft", "batch", "context", "out"}, "given without --profile",
                  "it asks for step times of a device", "e.g. --profile h200");
  reject_deployment(line);
  reject_load(line);
  return false;
}

std::vector<StatedValue> parameters_of_profiles(CommandLine& line) {
  line.reject_any({"c", "step-ms", "draft-ms", "verify-ms", "verify-growth", "operations-ratio"},
                  "mutually exclusive with the times of a device", "they say what a draft costs", "remove one");
  line.reject_any(
      {"decay", "recovery", "accuracies", "edit-rate", "realign", "policy", "threshold", "concentration", "bias"},
      "not used with the times of a device", "drafts have one length and the acceptance that is given",
      "state acceptance with --alpha, --conditional or --marginal");
  std::vector<StatedValue> known{{"cost", std::string(scenario::name_of(Cost(ConstantRatio{})))},
                                 {"policy", std::string(scenario::name_of(Policy(ConstantGamma{})))}};
  for (const char* name :
       {"c", "cost.step_ms", "cost.draft_ms", "cost.verify_ms", "cost.overhead_ms", "cost.verify_growth",
        "operations_ratio", "drafter.decay", "drafter.recovery", "drafter.accuracies", "drafter.edit_rate",
        "drafter.realign", "policy.threshold", "policy.concentration", "policy.bias"}) {
    known.push_back({name, std::nullopt});
  }
  const bool drafter = line.word("drafter", latency::drafter_words()).has_value();
  if (line.has("drafter") && !drafter) known.push_back({"drafter", std::nullopt});
  return known;
}

int predict_from_profile(CommandLine& line, const std::vector<answers::Question>& acceptances) {
  answers::ProfileQuestion question = read_profile_question(line, acceptances.front());
  if (acceptances.size() > 1) {
    constexpr auto list = "mutually exclusive with a list of --alpha";
    line.reject_any({"out"}, list, "a folder holds one answer", "give one alpha");
    line.reject_any({"request-rate"}, list, "a load is answered for one", "give one alpha");
  }
  std::optional<answers::LoadQuestion> load;
  if (asks_load(line)) load = read_load(line);
  line.reject_any({"measured-speedup"}, "not used with the times of a device", "it is explained by one c",
                  "use --c or --step-ms, --draft-ms and --verify-ms");
  line.done();
  std::optional<answers::FittedAcceptance> observed;
  if (const auto log = line.text("acceptance")) {
    observed = inputs::read_fitted_acceptance(*log);
    question.acceptance = answers::fitted_runs(observed->fit);
  }
  const auto steps = line.text("steps-file");
  const std::string source = steps ? *steps : named_device(line);
  const inputs::ReadProfile read = steps ? inputs::read_steps(*steps) : read_named_device(line);
  const latency::Profile& profile = read.profile;
  std::vector<FileDigest> files{read.digest};
  if (observed) files.push_back(observed->file);
  read_deployment(line, profile, question, files);
  if (load) load->prompts = read_prompt_sheet(line, question);
  try {
    if (load) {
      load->pair = std::move(question);
      load->source = source;
      return predict_at_load(line, *load, profile);
    }
    const auto out = line.text("out");
    std::vector<VerificationCurve> curves;
    const std::vector<answers::ProfilePrediction> predictions = in_phase("predicting", [&] {
      std::vector<answers::ProfilePrediction> all;
      for (const answers::Question& acceptance : acceptances) {
        answers::ProfileQuestion one = question;
        if (acceptances.size() > 1) one.acceptance = acceptance_of(acceptance);
        all.push_back(answers::predict(one, profile));
      }
      if (out) curves = verification_curves(all.front().question, profile);
      return all;
    });
    const answers::ProfilePrediction& prediction = predictions.front();
    std::optional<experiments::ResultFolder> folder;
    if (out) {
      static_cast<void>(catch_interrupts());  // what is begun is written whole; drawing looks at it
      folder.emplace(*out, folder_kind(prediction.question, read.digest), line.words());
      for (const FileDigest& file : files) folder->add_input(file);
      write_prediction(*folder, prediction, curves);
      folder->complete();
      if (!has_decision_map(prediction.question)) {
        say("no decision map: it needs two batches and two contexts at least (--batch 1,8,64 --context 512,4096)");
      }
    }
    if (line.has("json")) {
      auto json = to_json(predictions);
      if (observed) json["acceptance"] = answers::observed_json(*observed, question.gamma);
      print_result(experiments::document_text(json));
    } else {
      print_result(text_of(predictions) + (observed ? "\n" + observed_text(*observed, question.gamma) : ""));
    }
    if (folder && draw_figures(folder->path()) == PlotResult::failed) return exit_failed;
  } catch (const DomainError& error) {
    throw InputError(fmt::format("{}: {}", source, error.what()));
  }
  return exit_done;
}

}  // namespace foredraft::app
