// SPDX-License-Identifier: Apache-2.0
#include "logs/observations_file.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/documents.hpp"
#include "core/type_kinds.hpp"
#include "logs/acceptance.hpp"
#include "logs/line_fields.hpp"
#include "logs/observation.hpp"
#include "logs/record_fields.hpp"

namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view observations_schema = "foredraft.observations/1";

/// Keys that were added to the schema: files written before lack them.
constexpr std::array<std::string_view, 9> later_keys{"partial",         "adaptive",         "drafter",
                                                     "concurrency",     "offered_requests", "completed_requests",
                                                     "failed_requests", "generated_tokens", "served_requests_per_s"};

template <typename Enum>
constexpr const auto& words_of() {
  if constexpr (std::same_as<Enum, Span>) {
    return span_words;
  } else {
    return decoding_words;
  }
}

template <typename T>
Json encoded(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    const auto& words = words_of<T>();
    return std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.first == value; })->second;
  } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
    return value;
  } else if constexpr (is_optional<T>) {
    return value ? encoded(*value) : Json(nullptr);
  } else if constexpr (is_vector<T>) {
    Json list = Json::array();
    for (const auto& entry : value) list.push_back(encoded(entry));
    return list;
  } else {
    Json object = Json::object();
    visit_fields(value, [&](const char* name, const auto& field) { object[name] = encoded(field); });
    return object;
  }
}

std::string line_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Reads values by the names of their fields; adds every problem to a list.
class Decoder {
 public:
  Decoder(ProblemList& problems, std::int64_t line) : problems_(problems), line_(line) {}

  void reject(const std::string& path, std::string text, std::string why) {
    problems_.add({.line = line_, .key = path, .text = std::move(text), .why = std::move(why)});
    sound_ = false;
  }

  [[nodiscard]] bool sound() const { return sound_; }

  template <typename T>
  void decode(const Json& json, const std::string& path, T& value) {
    if constexpr (is_optional<T>) {
      if (!json.is_null()) decode(json, path, value.emplace());
    } else if constexpr (is_vector<T>) {
      if (!json.is_array()) return reject(path, json.type_name(), "must be a list");
      value.resize(json.size());
      for (std::size_t i = 0; i < value.size(); ++i) decode(json[i], fmt::format("{}[{}]", path, i), value[i]);
    } else if constexpr (std::is_class_v<T> && !std::same_as<T, std::string>) {
      Keys keys(*this, json, path);
      visit_fields(value, [&](const char* name, auto& field) {
        if (const Json* found = keys.find(name)) decode(*found, keys.path(name), field);
      });
      keys.done();
    } else {
      decode_scalar(json, path, value);
    }
  }

  /// The keys of one object; every one is required unless files were written without it, and no other is allowed.
  class Keys {
   public:
    Keys(Decoder& decoder, const Json& json, const std::string& path)
        : decoder_(decoder), json_(json), front_(path.empty() ? "" : path + ".") {
      if (!json.is_object()) decoder.reject(path, json.type_name(), "must be an object");
    }
    [[nodiscard]] std::string path(const std::string& name) const { return front_ + name; }
    const Json* find(const std::string& name) {
      known_.insert(name);
      if (!json_.is_object()) return nullptr;
      const auto found = json_.find(name);
      if (found != json_.end()) return &*found;
      if (std::ranges::find(later_keys, name) != later_keys.end()) return nullptr;
      decoder_.reject(path(name), "missing", "all keys are required; null: not logged");
      return nullptr;
    }
    void done() {
      if (!json_.is_object()) return;
      for (const auto& entry : json_.items()) {
        if (known_.contains(entry.key())) continue;
        decoder_.reject(path(entry.key()), "unknown key", fmt::format("not in {}", observations_schema));
      }
    }

   private:
    Decoder& decoder_;
    const Json& json_;
    std::string front_;
    std::set<std::string> known_ = {};
  };

 private:
  void decode_scalar(const Json& json, const std::string& path, std::string& value) {
    if (!json.is_string()) return reject(path, json.type_name(), "must be a text");
    value = json.get<std::string>();
  }
  void decode_scalar(const Json& json, const std::string& path, bool& value) {
    if (!json.is_boolean()) return reject(path, json.type_name(), "must be true or false");
    value = json.get<bool>();
  }
  void decode_scalar(const Json& json, const std::string& path, double& value) {
    const double number = json.is_number() ? json.get<double>() : -1.0;
    if (!std::isfinite(number) || number < 0.0)
      return reject(path, json.dump(), "must be a finite number of at least 0");
    value = number;
  }
  template <std::signed_integral T>
  void decode_scalar(const Json& json, const std::string& path, T& value) {
    constexpr auto maximum = static_cast<T>(std::min<std::int64_t>(max_logged_count, std::numeric_limits<T>::max()));
    const std::optional<T> number = whole_number<T>(json, 0, maximum);
    if (!number) return reject(path, json.dump(), fmt::format("must be a whole number from 0 to {}", maximum));
    value = *number;
  }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void decode_scalar(const Json& json, const std::string& path, Enum& value) {
    for (const auto& [member, word] : words_of<Enum>()) {
      if (json == word) {
        value = member;
        return;
      }
    }
    reject(path, json.dump(), "no such word");
  }

  ProblemList& problems_;
  std::int64_t line_;
  bool sound_ = true;
};

bool is_digest(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void decode_source(Decoder& decoder, const Json& json, const std::string& path, ObservedLog& log) {
  Decoder::Keys keys(decoder, json, path);
  const auto read = [&](const char* name, auto& value) {
    if (const Json* found = keys.find(name)) decoder.decode(*found, keys.path(name), value);
  };
  read("file", log.file);
  read("sha256", log.sha256);
  read("format", log.contents.format);
  read("engine", log.contents.engine);
  read("version", log.contents.version);
  read("lines", log.contents.lines);
  read("skipped_lines", log.contents.skipped_lines);
  keys.done();
  if (!is_digest(log.sha256)) decoder.reject(keys.path("sha256"), log.sha256, "must be 64 hexadecimal digits");
}

ObservedLog decoded_log(Decoder& decoder, const Json& json, const std::string& path) {
  ObservedLog log;
  Decoder::Keys keys(decoder, json, path);
  if (const Json* source = keys.find("source")) decode_source(decoder, *source, keys.path("source"), log);
  const auto read = [&](const char* name, auto& value) {
    if (const Json* found = keys.find(name)) decoder.decode(*found, keys.path(name), value);
  };
  read("settings", log.contents.settings);
  read("observations", log.contents.observations);
  read("warnings", log.contents.warnings);
  keys.done();
  return log;
}

/// Checks for impossible counts. `where` identifies the observation.
void check_observation(Decoder& decoder, const std::string& where, const Observation& observation) {
  if (observation.acceptance_length && *observation.acceptance_length < 1.0) {
    decoder.reject(where + ".acceptance_length", fmt::format("{}", *observation.acceptance_length),
                   "must be at least 1");
  }
  if (!observation.acceptance) return;
  const AcceptanceCounts& counts = *observation.acceptance;
  LogContents checked;
  try {
    check_counts(counts, observation.gamma, 0, checked);
  } catch (const RejectedRecord& rejected) {
    for (const Problem& problem : rejected.problems()) {
      decoder.reject(where + ".acceptance", fmt::format("{}: {}", problem.key, problem.text), problem.why);
    }
  }
  std::int64_t before = counts.steps;
  for (std::size_t i = 0; i < counts.drafted_at.size(); ++i) {
    if (counts.drafted_at[i] > before && !counts.steps_estimated) {
      decoder.reject(fmt::format("{}.acceptance.drafted_at[{}]", where, i), fmt::format("{}", counts.drafted_at[i]),
                     fmt::format("must be at most {}", before));
    }
    before = counts.drafted_at[i];
  }
}

std::vector<ObservedLog> decoded(const Json& json, ProblemList& problems, std::int64_t line) {
  Decoder decoder(problems, line);
  Decoder::Keys keys(decoder, json, "");
  std::string schema;
  if (const Json* found = keys.find("schema")) decoder.decode(*found, "schema", schema);
  if (decoder.sound() && schema != observations_schema) {
    decoder.reject("schema", schema, fmt::format("must be {}", observations_schema));
  }
  std::vector<ObservedLog> logs;
  const Json* list = keys.find("logs");
  keys.done();
  if (list != nullptr && !list->is_array()) decoder.reject("logs", list->type_name(), "must be a list");
  for (std::size_t i = 0; list != nullptr && list->is_array() && i < list->size(); ++i) {
    logs.push_back(decoded_log(decoder, (*list)[i], fmt::format("logs[{}]", i)));
  }
  for (std::size_t i = 0; decoder.sound() && i < logs.size(); ++i) {
    const std::vector<Observation>& all = logs[i].contents.observations;
    for (std::size_t k = 0; k < all.size(); ++k) {
      check_observation(decoder, fmt::format("logs[{}].observations[{}]", i, k), all[k]);
    }
  }
  return logs;
}

bool claims_observations(const JsonValue& value) {
  const JsonValue* schema = value.find("schema");
  return schema != nullptr && schema->is_string() && schema->string().starts_with("foredraft.observations/");
}

void read_observations(const JsonValue& value, std::int64_t line, LogContents& contents) {
  ProblemList problems("");
  const Json json = parse_json(value.source(), problems, line);
  if (!problems.empty()) throw RejectedRecord(problems.problems());
  std::vector<ObservedLog> logs = decoded(json, problems, line);
  if (!problems.empty()) throw RejectedRecord(problems.problems());
  for (ObservedLog& log : logs) {
    const std::string& engine = log.contents.engine;
    if (!engine.empty() && !contents.engine.empty() && contents.engine != engine) {
      reject({.line = line,
              .key = "engine",
              .text = fmt::format("observations of {} after those of {}", engine, contents.engine),
              .why = "they are not comparable",
              .suggestion = "import the logs of each engine into a separate file"});
    }
    if (!engine.empty()) contents.engine = engine;
    if (contents.version.empty()) contents.version = log.contents.version;
    const EngineSettings& settings = log.contents.settings;
    note(contents.settings.method, settings.method);
    note(contents.settings.target, settings.target);
    note(contents.settings.draft, settings.draft);
    note(contents.settings.gamma, settings.gamma);
    if (contents.settings.graph_sizes.empty()) contents.settings.graph_sizes = settings.graph_sizes;
    for (const LogWarning& warning : log.contents.warnings) {
      warn_once(contents, warning.code, warning.line, warning.message);
    }
    std::move(log.contents.observations.begin(), log.contents.observations.end(),
              std::back_inserter(contents.observations));
  }
}

}  // namespace

std::string observations_text(std::span<const ObservedLog> logs) {
  std::string text = fmt::format("{{\"schema\":\"{}\",\"logs\":[", observations_schema);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const LogContents& contents = logs[i].contents;
    const Json source{{"file", logs[i].file},
                      {"sha256", logs[i].sha256},
                      {"format", contents.format},
                      {"engine", contents.engine},
                      {"version", contents.version},
                      {"lines", contents.lines},
                      {"skipped_lines", contents.skipped_lines}};
    text += fmt::format("{}\n{{\"source\":{},\n\"settings\":{},\n\"observations\":[", i == 0 ? "" : ",",
                        line_text(source), line_text(encoded(contents.settings)));
    for (std::size_t k = 0; k < contents.observations.size(); ++k) {
      text += fmt::format("{}\n{}", k == 0 ? "" : ",", line_text(encoded(contents.observations[k])));
    }
    text += fmt::format("],\n\"warnings\":{}}}", line_text(encoded(contents.warnings)));
  }
  return text + "]}\n";
}

std::vector<ObservedLog> parse_observations(std::string_view text, const std::string& source) {
  ProblemList problems(source);
  const Json json = parse_json(text, problems);
  problems.raise();
  std::vector<ObservedLog> logs = decoded(json, problems, 0);
  problems.raise();
  return logs;
}

JsonFormat observations_format() { return {R"(foredraft\.observations/)", claims_observations, read_observations}; }

}  // namespace foredraft::logs
