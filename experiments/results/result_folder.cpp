// SPDX-License-Identifier: Apache-2.0
#include "experiments/results/result_folder.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

#include "core/documents.hpp"
#include "core/files.hpp"
#include "core/parallel.hpp"
#include "core/problems.hpp"
#include "experiments/results/manifest.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr auto manifest_file = "manifest.json";

/// As document_text() writes it: a path may hold bytes that are no UTF-8.
std::string text_of(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Of a folder whose lock is held. `wanted`: the keys that must be equal for a folder to be written again.
void check_result_folder(const std::string& path, const Json& wanted) {
  const std::vector<std::string> names = names_in_folder(path);
  if (names.empty()) return;
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("{}: not written to ({}) - choose another --out", path, why));
  };
  if (!std::binary_search(names.begin(), names.end(), manifest_file)) refuse("it holds files and no manifest.json");
  const std::string manifest = (fs::path(path) / manifest_file).string();
  ProblemList problems(manifest);
  const Json found = parse_json(read_result_file(manifest), problems);
  if (!problems.empty()) refuse("its manifest.json cannot be read: " + problems.text());
  if (!found.is_object()) refuse("its manifest.json is no JSON object");
  for (const auto& [key, value] : wanted.items()) {
    const std::string before = found.contains(key) ? text_of(found.at(key)) : "absent";
    const std::string now = text_of(value);
    if (before != now) refuse(fmt::format("its {} is {}, now {}", key, before, now));
  }
}

}  // namespace

ResultFolder::ResultFolder(std::string path, const Kind& kind, const std::vector<std::string>& command_line,
                           std::optional<unsigned> threads)
    : path_(std::move(path)), lock_(WriteLock::of_folder(path_)) {
  const Json program = program_json();
  Json wanted{{"schema", kind.schema}, {"version", program.at("version")}};
  wanted.update(kind.content);
  check_result_folder(path_, wanted);
  manifest_ = {{"schema", kind.schema}, {"version", program.at("version")}, {"state", "running"}};
  manifest_.update(kind.content);
  manifest_.update(kind.notes);
  manifest_["inputs"] = Json::array();
  manifest_["outputs"] = Json::array();
  manifest_["program"] = program;
  Json& run = manifest_["run"] = {{"command_line", command_line}};
  if (threads) run["threads"] = resolve_threads(*threads);
  run["started"] = utc_now();
  run["ended"] = nullptr;
  try {
    write_manifest();
  } catch (const RunError& error) {  // nothing has been computed: the folder is the user's mistake
    throw InputError(error.what());
  }
}

void ResultFolder::add_input(const FileDigest& input) {
  if (std::find(inputs_.begin(), inputs_.end(), input) == inputs_.end()) inputs_.push_back(input);
}

void ResultFolder::write(const std::string& name, const std::string& content) {
  replace_file((fs::path(path_) / name).string(), content);
  outputs_.push_back(digest_text(name, content));
}

void ResultFolder::complete() {
  manifest_["state"] = "complete";
  manifest_["inputs"] = files_json(inputs_);
  manifest_["outputs"] = files_json(outputs_);
  manifest_["run"]["ended"] = utc_now();
  write_manifest();
}

std::vector<std::string> ResultFolder::files() const {
  std::vector<std::string> names{manifest_file};
  for (const FileDigest& file : outputs_) names.push_back(file.path);
  return names;
}

void ResultFolder::write_manifest() const {
  replace_file((fs::path(path_) / manifest_file).string(), document_text(manifest_));
}

}  // namespace foredraft::experiments
