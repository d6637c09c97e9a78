// SPDX-License-Identifier: Apache-2.0
#include "experiments/validate/run_validation.hpp"

#include <fmt/format.h>
#include <filesystem>

#include "core/files.hpp"
#include "core/problems.hpp"
#include "experiments/results/manifest.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

void refuse_taken_folder(const std::string& folder) {
  if (names_in_folder(folder).empty()) return;
  throw InputError(
      fmt::format("{}: is there and not empty (a validation is never written over) - choose another --out", folder));
}

}  // namespace

Measurement run_validation(const std::string& folder, const ValidationInputs& inputs,
                           const std::vector<CellPrediction>& predictions, const Measure& measure) {
  const WriteLock lock = WriteLock::of_folder(folder);
  refuse_taken_folder(folder);
  const auto path = [&](const char* name) { return (fs::path(folder) / name).string(); };
  const std::string predicted = prediction_csv(predictions);
  const Json program = program_json();
  Json manifest{{"schema", validation_schema},
                {"version", program.at("version")},
                {"state", "running"},
                {"measured_by", to_string(inputs.measured_by)},
                {"valid", inputs.valid},
                {"inputs", files_json(inputs.files)},
                {"outputs", files_json({digest_text("prediction.csv", predicted)})},
                {"program", program},
                {"run", {{"command_line", inputs.command_line}, {"started", utc_now()}, {"ended", nullptr}}}};
  const auto write_manifest = [&] { replace_file(path("manifest.json"), document_text(manifest)); };
  try {
    replace_file(path("prediction.csv"), predicted);
  } catch (const RunError& error) {  // nothing was written: the folder is the user's mistake
    throw InputError(error.what());
  }
  write_manifest();
  const auto keep = [&](const std::vector<MeasuredCell>& cells) {
    replace_file(path("validation.csv"), validation_csv(predictions, cells));
  };
  Measurement measured = measure(keep);
  keep(measured.cells);
  manifest["state"] = measured.end == gpu_bench::MeasureEnd::interrupted ? "interrupted" : "complete";
  manifest["outputs"] = files_json({digest_text("prediction.csv", predicted),
                                    digest_text("validation.csv", validation_csv(predictions, measured.cells))});
  manifest["run"]["ended"] = utc_now();
  write_manifest();
  return measured;
}

}  // namespace foredraft::experiments
