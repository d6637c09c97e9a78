// SPDX-License-Identifier: Apache-2.0
#include "logs/observations_file.hpp"

#include <fmt/format.h>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/documents.hpp"
#include "logs/acceptance.hpp"
#include "logs/document_fields.hpp"
#include "logs/observation.hpp"
#include "logs/record_fields.hpp"

namespace foredraft::logs {
namespace {

using Decoder = DocumentDecoder;
using Json = nlohmann::ordered_json;

constexpr std::string_view observations_schema = "foredraft.observations/1";

/// Keys that were added to the schema later: older files lack them.
constexpr std::array<std::string_view, 10> later_keys{"partial",
                                                      "adaptive",
                                                      "drafter",
                                                      "tree",
                                                      "concurrency",
                                                      "offered_requests",
                                                      "completed_requests",
                                                      "failed_requests",
                                                      "generated_tokens",
                                                      "served_requests_per_s"};

constexpr DocumentRules observations_rules{
    .schema = observations_schema, .null_means = "not logged", .later_keys = later_keys};

bool is_digest(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The fields of a log's source, in order.
template <ConstOrNot<ObservedLog> Log>
void visit_source(Log& log, auto&& visit) {
  visit("file", log.file);
  visit("sha256", log.sha256);
  visit("format", log.contents.format);
  visit("engine", log.contents.engine);
  visit("version", log.contents.version);
  visit("lines", log.contents.lines);
  visit("skipped_lines", log.contents.skipped_lines);
}

void decode_source(Decoder& decoder, const Json& json, const std::string& path, ObservedLog& log) {
  Decoder::Keys keys(decoder, json, path);
  visit_source(log, [&](const char* name, auto& value) { keys.read(name, value); });
  keys.done();
  if (!is_digest(log.sha256)) decoder.reject(keys.path("sha256"), log.sha256, "must be 64 hexadecimal digits");
}

ObservedLog decoded_log(Decoder& decoder, const Json& json, const std::string& path) {
  ObservedLog log;
  Decoder::Keys keys(decoder, json, path);
  if (const Json* source = keys.find("source")) decode_source(decoder, *source, keys.path("source"), log);
  keys.read("settings", log.contents.settings);
  keys.read("observations", log.contents.observations);
  keys.read("warnings", log.contents.warnings);
  keys.done();
  return log;
}

/// Rejects impossible counts and lengths. `where`: path of the observation in the document.
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
  Decoder decoder(observations_rules, problems, line);
  Decoder::Keys keys(decoder, json, "");
  keys.read_schema();
  std::vector<ObservedLog> logs;
  const Json* list = keys.find("logs");
  keys.done();
  if (list != nullptr) {
    decoder.decode_list(*list, "logs", [&](const Json& entry, const std::string& path) {
      logs.push_back(decoded_log(decoder, entry, path));
    });
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
    Json source = Json::object();
    visit_source(logs[i], [&](const char* name, const auto& value) { source[name] = encoded(value); });
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
