#include "experiments/reproduce/reproduction_folder.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

#include "core/parallel.hpp"
#include "experiments/text/digest.hpp"
#include "experiments/text/files.hpp"
#include "experiments/text/problems.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr auto manifest_name = "manifest.json";

void check_folder(const std::string& path, const Json& wanted) {
  std::error_code ignored;
  if (!fs::exists(path, ignored) || (fs::is_directory(path) && fs::is_empty(path))) return;
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("{}: not written to ({}) - choose another --out", path, why));
  };
  if (!fs::is_directory(path)) refuse("it is a file");
  const fs::path manifest = fs::path(path) / manifest_name;
  if (!fs::exists(manifest)) refuse("it holds files that are not of a reproduction");
  const Json found = Json::parse(read_file(manifest.string()), nullptr, false);
  if (!found.is_object()) refuse("its manifest.json cannot be read");
  // What must be equal for a folder to be written again.
  for (const char* key : {"schema", "version", "experiments", "seed"}) {
    const std::string before = found.contains(key) ? found.at(key).dump() : "absent";
    const std::string now = wanted.at(key).dump();
    if (before != now) refuse(fmt::format("its {} is {}, now {}", key, before, now));
  }
}

}  // namespace

ReproductionFolder::ReproductionFolder(std::string path, const std::vector<ExperimentEntry>& experiments,
                                       std::uint64_t seed, unsigned threads,
                                       const std::vector<std::string>& command_line)
    : path_(std::move(path)) {
  Json ids = Json::array();
  Json summaries = Json::object();
  for (const ExperimentEntry& experiment : experiments) {
    ids.push_back(experiment.id);
    summaries[std::string(experiment.id)] = experiment.summary;
  }
  const Json program = program_json();
  manifest_ = {{"schema", reproduction_schema},
               {"version", program.at("version")},
               {"state", "running"},
               {"experiments", ids},
               {"summaries", summaries},
               {"seed", seed},
               {"inputs", Json::array()},
               {"outputs", Json::array()},
               {"program", program},
               {"run",
                {{"command_line", command_line},
                 {"threads", resolve_threads(threads)},
                 {"started", utc_now()},
                 {"ended", nullptr}}}};
  check_folder(path_, manifest_);
  make_folder(path_);
  try {
    write_manifest();
  } catch (const RunError& error) {  // nothing has been computed: the folder is the user's mistake
    throw InputError(error.what());
  }
}

void ReproductionFolder::add(const ExperimentResult& result) {
  for (const Artifact& artifact : result.artifacts) write(artifact.name, artifact.content);
  for (const FileDigest& file : result.inputs) {
    if (std::find(inputs_.begin(), inputs_.end(), file) == inputs_.end()) inputs_.push_back(file);
  }
}

void ReproductionFolder::complete(const std::vector<ScorecardRow>& rows) {
  write("scorecard.csv", to_csv(rows));
  manifest_["state"] = "complete";
  manifest_["inputs"] = files_json(inputs_);
  manifest_["outputs"] = files_json(outputs_);
  manifest_["run"]["ended"] = utc_now();
  write_manifest();
}

std::vector<std::string> ReproductionFolder::files() const {
  std::vector<std::string> names{manifest_name};
  for (const FileDigest& file : outputs_) names.push_back(file.path);
  return names;
}

void ReproductionFolder::write(const std::string& name, const std::string& content) {
  write_file_atomically((fs::path(path_) / name).string(), content);
  outputs_.push_back(digest_text(name, content));
}

void ReproductionFolder::write_manifest() const {
  write_file_atomically((fs::path(path_) / manifest_name).string(), document_text(manifest_));
}

}  // namespace foredraft::experiments
