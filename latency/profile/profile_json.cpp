// SPDX-License-Identifier: Apache-2.0
#include "latency/profile/profile.hpp"

#include <fmt/format.h>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/documents.hpp"
#include "core/files.hpp"
#include "core/type_kinds.hpp"
#include "foredraft/errors.hpp"
#include "latency/profile/cell.hpp"
#include "latency/profile/profile_fields.hpp"

namespace foredraft::latency {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
concept TimedRow = std::same_as<T, StepRow> || std::same_as<T, KernelRow> || std::same_as<T, VerificationRow>;

/// True for fields that are not written if empty (fits, deployments, engine loop, figures of schema 2), so older files
/// remain valid.
template <typename T>
bool left_out(std::string_view name, const T& value) {
  if constexpr (std::same_as<T, std::vector<LatencyFit>> || std::same_as<T, std::vector<ModelDeployment>>) {
    return value.empty();
  }
  if constexpr (std::same_as<T, std::optional<EngineLoop>>) return !value;
  if constexpr (std::same_as<T, Figure>) return since_schema_2(name) && !value.value;
  return false;
}

/// Writes values; derived values of rows need the limits.
class Encoder {
 public:
  explicit Encoder(const Limits& limits) : limits_(limits) {}

  template <typename T>
  [[nodiscard]] Json encode(const T& value) const {
    if constexpr (std::is_enum_v<T>) {
      return to_string(value);
    } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
      return value;
    } else if constexpr (std::same_as<T, Interval>) {
      return Json::array({value.low, value.high});
    } else if constexpr (is_optional<T>) {
      return value ? encode(*value) : Json(nullptr);
    } else if constexpr (is_vector<T>) {
      Json list = Json::array();
      for (const auto& entry : value) list.push_back(encode(entry));
      return list;
    } else {
      Json object = Json::object();
      add_fields(object, value);
      if constexpr (TimedRow<T>) add_fields(object, derived(limits_, dtype_of(value), value.timing));
      if constexpr (std::same_as<T, AgainstItself>) object["valid"] = value.valid();
      return object;
    }
  }

  template <typename T>
  void add_fields(Json& object, const T& value) const {
    visit_fields(value, [&](const char* name, const auto& field) {
      if (!left_out(name, field)) object[name] = encode(field);
    });
  }

 private:
  static const std::string& dtype_of(const StepRow& row) { return row.cell.dtype; }
  static const std::string& dtype_of(const KernelRow& row) { return row.dtype; }
  static const std::string& dtype_of(const VerificationRow& row) { return row.cell.dtype; }

  const Limits& limits_;
};

[[noreturn]] void reject(const std::string& path, std::string_view problem) {
  throw DomainError(fmt::format("{}: {}", path, problem));
}

template <typename T>
void decode(const Json& json, const std::string& path, T& value);

template <typename T>
void decode_fields(const Json& json, const std::string& path, T& value) {
  if (!json.is_object()) reject(path, "must be an object");
  const std::string front = path.empty() ? "" : path + ".";
  visit_fields(value, [&](const char* name, auto& field) {
    const auto found = json.find(name);
    if (found == json.end() && left_out(name, field)) return;
    if (found == json.end()) reject(front + name, "missing");
    decode(*found, front + name, field);
  });
}

template <typename T>
void decode(const Json& json, const std::string& path, T& value) {
  if constexpr (std::is_enum_v<T>) {
    const auto member = json.is_string() ? value_of<T>(json.get_ref<const std::string&>()) : std::nullopt;
    if (!member) reject(path, fmt::format("unknown word {}", json.dump()));
    value = *member;
  } else if constexpr (std::same_as<T, double>) {
    if (!json.is_number()) reject(path, "must be a number");
    value = json.get<double>();
  } else if constexpr (std::is_integral_v<T>) {
    const auto whole = whole_number<T>(json);
    if (!whole) {
      reject(path, fmt::format("{} (must be a whole number from {} to {})", json.dump(), std::numeric_limits<T>::min(),
                               std::numeric_limits<T>::max()));
    }
    value = *whole;
  } else if constexpr (std::same_as<T, std::string>) {
    if (!json.is_string()) reject(path, "must be a text");
    value = json.get<std::string>();
  } else if constexpr (std::same_as<T, Interval>) {
    if (!json.is_array() || json.size() != 2) reject(path, "must be a list of two numbers");
    decode(json[0], path + "[0]", value.low);
    decode(json[1], path + "[1]", value.high);
  } else if constexpr (is_optional<T>) {
    if (json.is_null()) return;
    decode(json, path, value.emplace());
  } else if constexpr (is_vector<T>) {
    if (!json.is_array()) reject(path, "must be a list");
    value.clear();  // grown step by step, because an empty row takes two bytes of text and hundreds in memory
    for (std::size_t i = 0; i < json.size(); ++i) decode(json[i], fmt::format("{}[{}]", path, i), value.emplace_back());
  } else {
    decode_fields(json, path, value);
  }
}

Json document(const Profile& profile) {
  check_profile(profile);
  Json json{{"schema", schema_of(profile)}, {"complete", profile.complete()}};
  Encoder(profile.limits).add_fields(json, profile);
  return json;
}

void check_schema(const Json& json) {
  if (!json.is_object()) reject("profile", "not a JSON object");
  const std::string schema = json.contains("schema") ? json.at("schema").dump() : "missing";
  for (const std::string_view known : {profile_schema_1, profile_schema_2}) {
    if (schema == fmt::format("\"{}\"", known)) return;
  }
  reject("schema", fmt::format("{}, this program reads \"{}\" and \"{}\"", schema, profile_schema_1, profile_schema_2));
}

/// Checks that writing the parsed profile reproduces the input; finds unknown keys and wrong derived values.
void check_same(const Json& read, const Json& written) {
  const Json difference = Json::diff(written, read);
  if (difference.empty()) return;
  const Json& first = difference.front();
  const std::string operation = first.at("op");
  const std::string path = first.at("path");
  if (operation == "add") reject(path, "unknown key");
  if (operation == "remove") reject(path, "missing");
  reject(path, fmt::format("{} is inconsistent with the other values", first.at("value").dump()));
}

}  // namespace

std::string to_json(const Profile& profile) {
  return document(profile).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Profile from_json(std::string_view text, const std::string& name) {
  ProblemList problems(name);
  const Json json = parse_json(text, problems);
  if (!problems.empty()) throw DomainError(problems.text());
  Profile profile;
  try {
    check_schema(json);
    decode_fields(json, "", profile);
    check_same(json, document(profile));
  } catch (const DomainError& error) {
    throw DomainError(fmt::format("{}: {}", name, error.what()));
  }
  return profile;
}

Profile read_profile(const std::string& path) { return from_json(read_file(path), path); }

namespace {

/// A table with one line per row.
template <typename Row>
std::string table_line(const Row& row, const Derived& derived_values, const std::string& source, auto&& text) {
  std::string line;
  const auto add = [&](const char* name, const auto& field) { line += text(name, field) + ","; };
  visit_fields(row, add);
  visit_fields(derived_values, add);
  return line + source + "\n";
}

template <typename Row>
std::string table_text(const Profile& profile, const std::vector<Row>& rows, auto&& dtype_of) {
  std::string table =
      table_line(Row{}, Derived{}, "source", [](const char* name, const auto& /*value*/) { return std::string(name); });
  for (const Row& row : rows) {
    table += table_line(row, derived(profile.limits, dtype_of(row), row.timing), std::string(to_string(profile.source)),
                        [](const char* /*name*/, const auto& value) { return cell_text(value); });
  }
  return table;
}

}  // namespace

std::string steps_csv(const Profile& profile) {
  return table_text(profile, profile.steps, [](const StepRow& row) { return row.cell.dtype; });
}

std::string kernels_csv(const Profile& profile) {
  return table_text(profile, profile.kernels, [](const KernelRow& row) { return row.dtype; });
}

std::string verifications_csv(const Profile& profile) {
  return table_text(profile, profile.verifications, [](const VerificationRow& row) { return row.cell.dtype; });
}

namespace fs = std::filesystem;

std::optional<Profile> claim_profile_file(const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::absolute(path).parent_path();
  if (!fs::is_directory(folder, error)) throw DomainError(fmt::format("{}: no such folder", folder.string()));
  if (!fs::exists(path, error)) return std::nullopt;
  if (!fs::is_regular_file(path, error)) throw DomainError(path + ": is not a file - use another --out");
  std::optional<Profile> before;
  try {
    before = from_json(read_result_file(path), path);
  } catch (const DomainError& problem) {
    throw DomainError(fmt::format("{} (not a profile; it is not overwritten) - use another --out", problem.what()));
  }
  if (before->complete() || before->source != Source::measured) {
    throw DomainError(fmt::format("{}: holds a finished profile of {} - use another --out", path, before->device.name));
  }
  return before;
}

void write_profile_file(const std::string& path, const Profile& profile) { replace_file(path, to_json(profile)); }

}  // namespace foredraft::latency
