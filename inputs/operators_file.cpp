// SPDX-License-Identifier: Apache-2.0
#include "inputs/devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "core/csv.hpp"
#include "core/documents.hpp"
#include "core/files.hpp"
#include "core/readable.hpp"
#include "foredraft/errors.hpp"
#include "latency/devices/device_registry.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"

namespace foredraft::inputs {
namespace {

using latency::Role;
using Json = nlohmann::ordered_json;

constexpr std::array step_roles{Role::decoder_pass, Role::autoregressive_drafting, Role::block_drafting,
                                Role::head_drafting};

Role read_role(UserTable& table) {
  const std::string word = table.cell("role");
  std::vector<std::string> known;
  for (const Role one : step_roles) {
    known.emplace_back(latency::to_string(one));
    if (word == known.back()) return one;
  }
  table.reject("role", fmt::format("unknown role \"{}\"", word), suggestion_for(word, known),
               "roles with an example: docs/calibrate.md");
  return Role::decoder_pass;
}

latency::StepRow read_step(UserTable& table) {
  latency::StepRow row;
  // A separate setting, because it is not compared with others.
  row.cell = {.model = table.name("model"), .role = read_role(table), .dtype = "user"};
  row.cell.batch = table.count("batch", 1);
  row.cell.tokens = table.count("tokens", 1);
  row.cell.context = table.count("context", 0);
  const double us = 1e3 * table.positive("ms");
  row.timing.summary = latency::one_sample(us);
  return row;
}

// ---- operators

constexpr std::string_view schema = "foredraft.operators/1";
constexpr std::int64_t max_operator_count = 1'000'000;
/// Maximum length of texts from the script; installation hints are long.
constexpr std::size_t max_characters = 4'000;

/// A document with its name, for messages.
class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  [[noreturn]] void reject(const std::string& where, std::string_view problem) const {
    throw InputError(
        fmt::format("{}: {}: {} - make it again with foredraft calibrate --backend aisimulate", name_, where, problem));
  }

  const Json& at(const Json& object, const std::string& path, const char* key) const {
    if (!object.is_object() || !object.contains(key)) reject(path.empty() ? key : path + "." + key, "missing");
    return object.at(key);
  }

  std::string word(const Json& object, const std::string& path, const char* key) const {
    const Json& value = at(object, path, key);
    if (!value.is_string()) reject(path.empty() ? key : path + "." + key, "must be a string");
    return readable(value.get<std::string>(), max_characters);
  }

  const Json& list(const Json& object, const std::string& path, const char* key) const {
    const Json& value = at(object, path, key);
    if (!value.is_array()) reject(path.empty() ? key : path + "." + key, "must be a list");
    return value;
  }

  std::int64_t count(const Json& value, const std::string& path, std::int64_t least) const {
    const auto number = whole_number<std::int64_t>(value, least, max_operator_count);
    if (!number) reject(path, fmt::format("must be a whole number from {} to {}", least, max_operator_count));
    return *number;
  }

 private:
  const std::string& name_;
};

Role read_role(const Reader& reader, const Json& row, const std::string& path) {
  const std::string word = reader.word(row, path, "role");
  for (const Role role : {Role::decoder_pass, Role::autoregressive_drafting}) {
    if (word == latency::to_string(role)) return role;
  }
  reader.reject(path + ".role", "must be decoder_pass or autoregressive_drafting");
}

void read_row(const Reader& reader, const Json& row, const std::string& path, latency::Profile& profile) {
  // One setting for target and draft regardless of format; the notes state the formats.
  latency::Cell cell{.model = reader.word(row, path, "model"), .role = read_role(reader, row, path), .dtype = "mixed"};
  cell.batch = reader.count(reader.at(row, path, "batch"), path + ".batch", 1);
  cell.context = reader.count(reader.at(row, path, "context"), path + ".context", 0);
  const Json& tokens = reader.list(row, path, "tokens");
  const Json& times = reader.list(row, path, "ms");
  if (tokens.size() != times.size()) reader.reject(path, "tokens and ms differ in length");
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    cell.tokens = reader.count(tokens[i], fmt::format("{}.tokens[{}]", path, i), 1);
    if (!times[i].is_number()) reader.reject(fmt::format("{}.ms[{}]", path, i), "must be a number");
    const double us = 1e3 * times[i].get<double>();
    profile.steps.push_back({.cell = cell, .timing = {.summary = latency::one_sample(us)}});
  }
}

/// Half width of the interval that contained 90 % of held-out deployments, limited so that high / low < 1.8
/// (docs/step-times.md).
latency::Figure error_of(std::string_view engine) {
  constexpr double vllm_error = 0.26;
  constexpr double other_error = 0.28;
  latency::Figure error;
  error.value = engine == "vllm" ? vllm_error : other_error;
  error.origin = engine == "vllm" ? "held 90 % of 776 measured deployments under vLLM, of models not used for fitting"
                                  : "held two thirds of 1,162 measured deployments under SGLang and TensorRT-LLM: the "
                                    "widest that is said";
  return error;
}

/// Adds deployments of target and drafter, for their memory. Adds none if the package chooses a format or if attention
/// is replicated.
void add_deployments(const Json& request, latency::Profile& profile) {
  const auto copies = request.find("attention_dp");
  if (copies != request.end() && copies->is_number() && *copies != 1) return;
  std::vector<latency::ModelDeployment> found;
  for (const std::string side : {"target", "draft"}) {
    const auto word = [&](const std::string& key) {
      const auto value = request.find(key);
      return value != request.end() && value->is_string() ? value->get<std::string>() : std::string();
    };
    const std::string model = word(side);
    if (model.empty()) continue;
    const auto weights = latency::number_format(word(side + "_format"));
    const auto devices = request.find(side + "_tp");
    const bool whole = devices != request.end() && whole_number<std::int64_t>(*devices, 1, max_operator_count);
    if (!weights || !whole) return;
    const auto cache = latency::number_format(word("kv_format")).value_or(latency::default_cache_format(*weights));
    found.push_back(
        {model, std::string(to_string(*weights)), std::string(to_string(cache)), devices->get<std::int64_t>()});
  }
  profile.deployments = std::move(found);
}

/// The data sheet's memory of a system that the package calls "h100_sxm" or similar.
latency::Figure memory_of(std::string system) {
  std::replace(system.begin(), system.end(), '_', '-');
  const latency::DeviceSheet* sheet = latency::find_device(system);
  if (sheet == nullptr) sheet = latency::find_device(system.substr(0, system.rfind('-')));
  return sheet == nullptr ? latency::Figure{} : sheet->profile.device.memory_bytes;
}

/// "target_format bf16, target_tp 4, ...": the request without the grid's lists and null values.
std::string request_text(const Json& request) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : request.items()) {
    if (value.is_array() || value.is_null()) continue;
    parts.push_back(fmt::format("{} {}", key, value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return readable(fmt::format("{}", fmt::join(parts, ", ")), max_characters);
}

}  // namespace

latency::Profile parse_steps(std::string_view text, const std::string& file) {
  latency::Profile profile;
  profile.source = latency::Source::user;
  profile.device.name = "steps measured by a user";
  std::set<latency::Cell> seen;
  UserTable table(text, file, {"model", "role", "batch", "tokens", "context", "ms"});
  while (table.next()) {
    latency::StepRow row = read_step(table);
    if (table.row_rejected()) continue;
    if (!seen.insert(row.cell).second) {
      table.reject("", latency::to_text(row.cell) + ": given twice", "a pass has one time");
      continue;
    }
    profile.steps.push_back(std::move(row));
  }
  table.done("holds no step");
  return profile;
}

ReadProfile read_steps(const std::string& path) {
  const std::string text = read_file(path);
  return {parse_steps(text, path), digest_text(path, text), false};
}

std::vector<OperatorsRow> operators_rows() {
  std::vector<OperatorsRow> rows;
  for (const OperatorsText& document : operators_texts()) {
    const Json json = Json::parse(document.text);
    const auto word = [](const Json& value) { return value.is_string() ? value.get<std::string>() : std::string("-"); };
    const Json& request = json.at("request");
    const Json& tables = json.at("tables");
    OperatorsRow& row = rows.emplace_back();
    row.name = document.name;
    row.device = word(tables.at("system"));
    row.engine = fmt::format("{} {}", word(tables.at("engine")), word(tables.at("version")));
    row.target = fmt::format("{} {} tp {}", word(request.at("target")), word(request.at("target_format")),
                             request.at("target_tp").get<int>());
    row.draft = fmt::format("{} ({})", word(request.at("draft")), word(request.at("method")));
    for (const Json& step : json.at("rows")) {
      row.batches.insert(step.at("batch").get<std::int64_t>());
      row.contexts.insert(step.at("context").get<std::int64_t>());
    }
  }
  return rows;
}

latency::Profile parse_operators(std::string_view text, const std::string& name) {
  ProblemList problems(name);
  const Json json = parse_json(text, problems);
  if (!problems.empty()) throw InputError(problems.text());
  const Reader reader(name);
  if (json.is_object() && json.contains("error")) throw InputError(reader.word(json, "", "error"));
  if (reader.word(json, "", "schema") != schema) reader.reject("schema", fmt::format("must be \"{}\"", schema));
  latency::Profile profile;
  profile.source = latency::Source::operators;
  const Json& package = reader.at(json, "", "package");
  const Json& tables = reader.at(json, "", "tables");
  const std::string engine = reader.word(tables, "tables", "engine");
  profile.device.name = fmt::format("{} under {} {}", reader.word(tables, "tables", "system"), engine,
                                    reader.word(tables, "tables", "version"));
  profile.device.memory_bytes = memory_of(reader.word(tables, "tables", "system"));
  profile.step_error = error_of(engine);
  profile.identity.tool_version =
      fmt::format("{} {}", reader.word(package, "package", "name"), reader.word(package, "package", "version"));
  profile.notes.push_back(
      {"operators", fmt::format("{}, tables of {}, sha256 {}", profile.device.name, profile.identity.tool_version,
                                reader.word(tables, "tables", "sha256"))});
  const Json& request = reader.at(json, "", "request");
  if (!request.is_object()) reader.reject("request", "must be an object");
  profile.notes.push_back({"request", request_text(request)});
  add_deployments(request, profile);
  for (const Json& note : reader.list(json, "", "notes")) {
    if (!note.is_string()) reader.reject("notes", "must be a list of strings");
    profile.notes.push_back({"operators", readable(note.get<std::string>(), max_characters)});
  }
  const Json& rows = reader.list(json, "", "rows");
  for (std::size_t i = 0; i < rows.size(); ++i) read_row(reader, rows[i], fmt::format("rows[{}]", i), profile);
  try {
    latency::check_profile(profile);
  } catch (const DomainError& error) {
    throw InputError(fmt::format("{}: {}", name, error.what()));
  }
  return profile;
}

}  // namespace foredraft::inputs
