// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "answers/profile_prediction.hpp"
#include "app/answer_folder.hpp"
#include "app/predict/predict.hpp"
#include "app/predict/timed_question.hpp"
#include "app/prediction_folder.hpp"
#include "app/scenario_options.hpp"
#include "app/texts/texts.hpp"
#include "core/numbers.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "experiments/results/manifest.hpp"

namespace foredraft::app {
namespace {

/// Lists several predictions one after the other, each under its alpha.
std::string text_of(const std::vector<answers::ProfilePrediction>& predictions) {
  if (predictions.size() == 1) return to_text(predictions.front());
  std::string text;
  for (const answers::ProfilePrediction& prediction : predictions) {
    text += fmt::format("{}alpha {}\n{}", text.empty() ? "" : "\n",
                        short_number_text(std::get<Iid>(prediction.question.acceptance).alpha), to_text(prediction));
  }
  return text;
}

/// Prints the prediction for each acceptance. With --out, also writes the only prediction to a folder and draws it.
int predict_and_print(const TimedQuestion& question) {
  const CommandLine& line = question.line;
  const auto out = line.text("out");
  std::vector<VerificationCurve> curves;
  const std::vector<answers::ProfilePrediction> predictions = in_phase("predicting", [&] {
    std::vector<answers::ProfilePrediction> all = answer_times(question);
    if (out) curves = verification_curves(all.front().question, question.read.profile);
    return all;
  });
  const answers::ProfilePrediction& prediction = predictions.front();
  const std::string printed = times_text(question, predictions);
  return print_answer(
      line, line.has("json") ? experiments::document_text(times_json(question, predictions)) : printed,
      {.kind = folder_kind(prediction.question, question.read.digest, prediction.valid),
       .inputs = question.files,
       .write = [&](auto& folder) {
         write_prediction(folder, prediction, curves, printed);
         if (has_decision_map(prediction.question)) return;
         say("no decision map: it needs two batches and two contexts at least (--batch 1,8,64 --context 512,4096)");
       }});
}

}  // namespace

OptionGroup times_options() {
  return {"or step times of a device, in place of c and measured times",
          {device_option,
           profile_option,
           {"steps-file", "CSV",
            "or your own step times: model,role,batch,tokens,context,ms, e.g. big,decoder_pass,1,4,512,10.9 "
            "(docs/calibrate.md)"},
           target_option,
           draft_option,
           {"batch", "B,...", "batch size (default 1)"},
           {"context", "N,...", "context length in tokens (default 512)"},
           {"overhead-us", "U", "time of an iteration outside its forward passes (default 0)"},
           {"out", "DIR", "also write a folder: prediction.csv, manifest.json, figures and report"}}};
}

TimedQuestion read_times(CommandLine& line) {
  TimedQuestion question = read_timed_question(line);
  question.line.reject_any(options_of_load(), "given without a load", "it needs a load",
                           "e.g. --concurrency 40, or --request-rate 4");
  read_timed_files(question);
  return question;
}

std::vector<answers::ProfilePrediction> answer_times(const TimedQuestion& question) {
  return with_source(question, [&] {
    std::vector<answers::ProfilePrediction> all;
    for (const answers::Question& acceptance : question.acceptances) {
      answers::ProfileQuestion one = question.pair;
      if (question.acceptances.size() > 1) one.acceptance = acceptance.acceptance();
      all.push_back(answers::predict(one, question.read.profile));
    }
    return all;
  });
}

nlohmann::ordered_json times_json(const TimedQuestion& question,
                                  const std::vector<answers::ProfilePrediction>& predictions) {
  nlohmann::ordered_json json = to_json(predictions);
  if (question.observed) json["acceptance"] = answers::observed_json(*question.observed, question.pair.gamma);
  return json;
}

std::string times_text(const TimedQuestion& question, const std::vector<answers::ProfilePrediction>& predictions) {
  const auto& observed = question.observed;
  return text_of(predictions) + (observed ? "\n" + observed_text(*observed, question.pair.gamma) : "");
}

int predict_times(CommandLine& line) {
  const TimedQuestion question = read_times(line);
  for (const std::string& note : question.notes) say("{}", note);
  return with_source(question, [&] { return predict_and_print(question); });
}

}  // namespace foredraft::app
