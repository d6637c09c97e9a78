// SPDX-License-Identifier: Apache-2.0
#include "experiments/results/manifest.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <thread>

#include "core/documents.hpp"
#include "core/files.hpp"
#include "core/parallel.hpp"
#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "gpu_bench/run/host_facts.hpp"
#include "inputs/table_reader.hpp"
#include "sim/process/kernels.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr auto manifest_file = "manifest.json";

/// The text of a value, with invalid UTF-8 replaced as in document_text().
std::string text_of(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Throws InputError unless the folder can be written. `wanted`: keys that an existing manifest must have equal.
void check_result_folder(const std::string& path, const Json& wanted) {
  const std::vector<std::string> names = names_in_folder(path);
  if (names.empty()) return;
  const auto reject = [&](const std::string& why) {
    throw InputError(fmt::format("{}: not written to ({}) - choose another --out", path, why));
  };
  if (!std::ranges::binary_search(names, manifest_file)) reject("it has files but no manifest.json");
  const std::string manifest = (fs::path(path) / manifest_file).string();
  ProblemList problems(manifest);
  const Json found = parse_json(read_result_file(manifest), problems);
  if (!problems.empty()) reject("its manifest.json cannot be read: " + problems.text());
  if (!found.is_object()) reject("its manifest.json is not a JSON object");
  for (const auto& [key, value] : wanted.items()) {
    const std::string before = found.contains(key) ? text_of(found.at(key)) : "absent";
    const std::string now = text_of(value);
    if (before != now) reject(fmt::format("its {} is {}, now {}", key, before, now));
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
  } catch (const RunError& error) {  // nothing has been computed, so it is an input error
    throw InputError(error.what());
  }
}

void ResultFolder::add_input(const FileDigest& input) {
  if (std::ranges::find(inputs_, input) == inputs_.end()) inputs_.push_back(input);
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

namespace {

/// True if a name denotes a file directly inside a folder.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
}

/// Throws DomainError unless the key has a whole number of 64 bits.
std::uint64_t count_at(const Json& json, const char* key) {
  const Json& value = json.at(key);
  if (const auto count = whole_number<std::uint64_t>(value)) return *count;
  throw DomainError(fmt::format("invalid {}={}, must be a whole number from 0 to {}", key, value.dump(),
                                std::numeric_limits<std::uint64_t>::max()));
}

std::vector<FileDigest> parse_files(const Json& json) {
  std::vector<FileDigest> files;
  for (const Json& file : json) files.push_back({file.at("path"), count_at(file, "bytes"), file.at("sha256")});
  return files;
}

/// The part of a manifest that follows from a configuration.
Manifest manifest_of(const SweepConfig& config) {
  return {.version = std::string(build_info().version),
          .state = "running",
          .seed = config.simulation ? Json(config.simulation->seed) : Json(),
          .points = point_count(config),
          .resolved = to_json(config),
          .figures = figures_json(config),
          .hash = config_hash(config),
          .config_folder = config.folder,
          .shard = std::nullopt,
          .inputs = {},
          .outputs = {},
          .program = {},
          .run = {}};
}

}  // namespace

Json program_json() {
  const BuildInfo build = build_info();
  utsname system{};
  ::uname(&system);
  const std::string cpu = gpu_bench::host_cpu_name();
  return {{"name", "foredraft"},
          {"version", build.version},
          {"commit", build.commit},
          {"changes", build.changes},
          {"compiler", build.compiler},
          {"flags", build.flags},
          {"build_type", build.build_type},
          {"host",
           {{"cpu", cpu.empty() ? "unknown" : cpu},
            {"hardware_threads", std::thread::hardware_concurrency()},
            {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)}}}};
}

Json files_json(const std::vector<FileDigest>& files) {
  Json json = Json::array();
  for (const FileDigest& file : files) {
    json.push_back({{"path", file.path}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  }
  return json;
}

Manifest new_manifest(const SweepConfig& config, const std::optional<Shard>& shard,
                      const std::vector<FileDigest>& inputs, const std::vector<std::string>& command_line,
                      unsigned threads) {
  Manifest manifest = manifest_of(config);
  manifest.shard = shard;
  manifest.inputs = inputs;
  manifest.program = program_json();
  manifest.run = {{"command_line", command_line},
                  {"threads", resolve_threads(threads)},
                  {"instruction_set", sim::instruction_set()},
                  {"started", utc_now()},
                  {"ended", nullptr}};
  return manifest;
}

std::string to_text(const Manifest& manifest) {
  Json json{{"schema", result_schema}, {"version", manifest.version},
            {"state", manifest.state}, {"config_hash", manifest.hash},
            {"seed", manifest.seed},   {"points", manifest.points},
            {"shard", nullptr},        {"config", manifest.resolved}};
  if (manifest.shard) json["shard"] = {{"index", manifest.shard->index}, {"count", manifest.shard->count}};
  json["config"]["figure"] = manifest.figures;
  // Needed only with inputs.
  if (!manifest.inputs.empty() && !manifest.config_folder.empty()) json["config_folder"] = manifest.config_folder;
  json["inputs"] = files_json(manifest.inputs);
  json["outputs"] = files_json(manifest.outputs);
  json["program"] = manifest.program;
  json["run"] = manifest.run;
  return document_text(json);
}

StoredManifest parse_manifest(std::string_view text, const std::string& file) {
  const auto reject = [&](const std::string& why) -> InputError {
    return InputError(fmt::format("{}: no manifest of this program ({})", file, why));
  };
  ProblemList problems(file);
  const Json json = parse_json(text, problems);
  problems.raise();
  if (!json.is_object()) throw reject("not a JSON object");
  const std::string schema = json.contains("schema") ? json.at("schema").dump() : "absent";
  const std::string wanted = fmt::format("\"{}\"", result_schema);
  if (schema != wanted) throw reject(fmt::format("schema {}, this program reads {}", schema, wanted));
  try {
    SweepConfig config = read_sweep_config(inputs::parse_json_document(json.at("config").dump(), file), file);
    config.folder = json.value("config_folder", "");
    StoredManifest manifest{manifest_of(config), std::move(config)};
    manifest.version = json.at("version").get<std::string>();
    manifest.state = json.at("state").get<std::string>();
    manifest.inputs = parse_files(json.at("inputs"));
    manifest.outputs = parse_files(json.at("outputs"));
    manifest.program = json.at("program");
    manifest.run = json.at("run");
    if (const Json& shard = json.at("shard"); !shard.is_null()) {
      manifest.shard = Shard{count_at(shard, "index"), count_at(shard, "count")};
    }
    if (json.at("config_hash") != manifest.hash) throw reject("its configuration has another hash");
    // Redundant values must be consistent.
    const auto follows = [&](const char* key, const Json& value) {
      if (json.at(key) != value) throw reject(fmt::format("its {} is inconsistent with the rest", key));
    };
    follows("seed", manifest.seed);
    follows("points", manifest.points);
    follows("version", manifest.program.at("version"));
    if (manifest.state != "running" && manifest.state != "complete")
      throw reject("its state is not running or complete");
    for (const FileDigest& output : manifest.outputs) {
      if (!is_plain_name(output.path)) throw reject("an output is not a file of its folder");
    }
    if (manifest.shard && (manifest.shard->index < 1 || manifest.shard->index > manifest.shard->count ||
                           manifest.shard->count > manifest.points)) {
      throw reject("its shard is not a shard of its sweep");
    }
    if (manifest.state == "complete" && (manifest.outputs.empty() || manifest.outputs.front().path != "points.csv")) {
      throw reject("it is complete without points.csv");
    }
    return manifest;
  } catch (const Json::exception& error) {
    throw reject(json_reason(error.what()));
  } catch (const DomainError& error) {
    throw reject(error.what());
  }
}

std::string document_text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace foredraft::experiments
