// SPDX-License-Identifier: Apache-2.0
#include "logs/observations_file.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <functional>
#include <random>
#include <set>

#include "tests/logs/logs_testing.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::tests {
namespace {

using Json = nlohmann::ordered_json;

const std::string digest(64, 'a');

logs::ObservedLog observed(const std::string& name) {
  return {.file = name, .sha256 = digest, .contents = read_log(sample(name))};
}

/// An observation with all fields, with extreme values of doubles and texts.
logs::ObservedLog everything() {
  logs::ObservedLog log{.file = "a \"b\".log", .sha256 = digest, .contents = {}};
  log.contents = {.format = "one two", .engine = "vllm", .version = "0.1", .lines = 12, .skipped_lines = 1};
  log.contents.settings = {.method = "mtp", .target = "t", .draft = "d", .gamma = 3, .graph_sizes = {1, 2, 4}};
  logs::Observation observation{
      .line = 7, .span = logs::Span::request, .decoding = logs::Decoding::speculative, .gamma = 3};
  observation.acceptance = {.steps = 9007199254740992,
                            .drafted_tokens = 300,
                            .accepted_tokens = 30,
                            .accepted_at = {20, 9, 1},
                            .accepted_at_rounding = 0.1,
                            .drafted_at = {100, 100, 100},
                            .steps_estimated = true,
                            .generated_tokens = 400};
  observation.adaptive = true;
  observation.tree = logs::DraftTree{.steps = 4, .width = 8, .tokens = 32};
  observation.drafter = "draft-mtp";
  observation.concurrency = 8.0;
  observation.offered_requests = 500.0;
  observation.completed_requests = 499;
  observation.failed_requests = 1;
  observation.acceptance_length = 1.0 + 1.0 / 3.0;
  observation.requests = 5e-324;
  observation.waiting = 1.7976931348623157e308;
  observation.partial = true;
  observation.cuda_graphs = false;
  observation.trace = {.by_step = {0, 3, 2147483647}, .by_position = {1, 0}};
  observation.times = {.duration_s = 0.1,
                       .output_tokens_per_s = 1.0,
                       .prompt_tokens_per_s = 2.0,
                       .iteration_ms = 3.0,
                       .draft_ms = 4.0,
                       .verification_ms = 5.0,
                       .tpot_ms = 6.0,
                       .ttft_ms = 7.0,
                       .request_rate_per_s = 8.0,
                       .served_requests_per_s = 7.5};
  observation.stratum = {.temperature = 0.7,
                         .top_p = 0.9,
                         .draft_sampling = "greedy",
                         .reasoning = true,
                         .category = "c\n",
                         .request = "\xc3\xa9",
                         .context_tokens = 10.5,
                         .output_tokens = 3.0};
  log.contents.observations = {observation, logs::Observation{}};
  log.contents.warnings = {{.code = "W12", .line = 3, .message = "m"}};
  return log;
}

std::string rejected(const std::string& text) {
  try {
    static_cast<void>(logs::parse_observations(text, "o.json"));
  } catch (const InputError& error) {
    return brief(error.what());
  }
  return {};
}

std::string changed(const std::string& from, const std::string& to) {
  const std::vector<logs::ObservedLog> logs{everything()};
  std::string text = logs::observations_text(logs);
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("observations are read as written, to the last bit") {
  std::vector<logs::ObservedLog> all{everything()};
  for (const char* name : {"vllm_bench.jsonl", "vllm_requests.jsonl", "trtllm_iterations.txt",
                           "specforge_dashboard.json", "acceptance_traces.jsonl", "own.csv"}) {
    all.push_back(observed(name));
  }
  const std::string text = logs::observations_text(all);
  const std::vector<logs::ObservedLog> read = logs::parse_observations(text, "o.json");
  REQUIRE(read.size() == all.size());
  CHECK(logs::observations_text(read) == text);
  const logs::Observation& observation = read[0].contents.observations.at(0);
  CHECK(read[0].file == "a \"b\".log");
  CHECK(observation.acceptance->steps == 9007199254740992);
  CHECK(observation.requests == 5e-324);
  CHECK(observation.waiting == 1.7976931348623157e308);
  CHECK(observation.cuda_graphs == false);
  CHECK(observation.acceptance->drafted_at == Counts{100, 100, 100});
  CHECK(observation.times.verification_ms == 5.0);
  CHECK(observation.acceptance_length == 1.0 + 1.0 / 3.0);
  CHECK(observation.trace.by_step == std::vector<std::int32_t>{0, 3, 2147483647});
  CHECK(observation.stratum == everything().contents.observations[0].stratum);
  CHECK(observation.times.request_rate_per_s == 8.0);
  CHECK_FALSE(read[0].contents.observations.at(1).acceptance);
}

TEST_CASE("an observations file is a log itself") {
  const std::vector<logs::ObservedLog> logs{observed("vllm_bench.jsonl"), observed("vllm_requests.jsonl")};
  const logs::LogContents contents = read_log(logs::observations_text(logs));
  CHECK(contents.format == "observations");
  CHECK(contents.engine == "vllm");
  CHECK(contents.settings.target == "lab/target-9b");
  CHECK(contents.observations.size() == 4);
  const std::vector<logs::ObservedLog> mixed{observed("vllm_bench.jsonl"), observed("sglang_bench.jsonl")};
  CHECK(problem(logs::observations_text(mixed)).find("observations of sglang after those of vllm") !=
        std::string::npos);
}

TEST_CASE("an observations file with a key that is missing, unknown or of another type is rejected by its name") {
  CHECK(rejected(changed("\"gamma\":3,\"graph_sizes\"", "\"gama\":3,\"graph_sizes\"")) ==
        "o.json: logs[0].settings.gamma: missing\n"
        "o.json: logs[0].settings.gama: unknown key");
  CHECK(rejected(changed("observations/1", "observations/9")).find("schema: foredraft.observations/9") !=
        std::string::npos);
  CHECK(rejected(changed("\"span\":\"request\"", "\"span\":\"year\"")).find("observations[0].span") !=
        std::string::npos);
  CHECK(rejected(changed("\"drafted_tokens\":300", "\"drafted_tokens\":3.5")).find("drafted_tokens: 3.5") !=
        std::string::npos);
  CHECK(rejected(changed("\"temperature\":0.7", "\"temperature\":-0.7")).find("temperature: -0.7") !=
        std::string::npos);
  CHECK(rejected(changed("2147483647", "2147483648")).find("trace.by_step[2]") != std::string::npos);
  CHECK(rejected(changed("\"sha256\":\"aa", "\"sha256\":\"zz")).find("sha256: ") != std::string::npos);
  CHECK(rejected(changed("\"cuda_graphs\":false", "\"cuda_graphs\":0")).find("cuda_graphs: ") != std::string::npos);
  CHECK(rejected("{}").find("logs: missing") != std::string::npos);
  CHECK_FALSE(rejected("[]").empty());
  CHECK_FALSE(rejected("").empty());
  CHECK_FALSE(rejected(std::string(1000, '[')).empty());
}

TEST_CASE("an observations file from before a key was added is read, without that key") {
  const std::vector<logs::ObservedLog> logs{everything()};
  std::string text = logs::observations_text(logs);
  const auto drop = [&](const std::string& entry) {
    const std::size_t at = text.find(entry);
    REQUIRE(at != std::string::npos);
    text.erase(at, entry.size());
  };
  for (const char* entry : {",\"adaptive\":true", ",\"partial\":true", ",\"drafter\":\"draft-mtp\"",
                            ",\"concurrency\":8.0", ",\"offered_requests\":500.0", ",\"completed_requests\":499",
                            ",\"failed_requests\":1", ",\"generated_tokens\":400", ",\"served_requests_per_s\":7.5"}) {
    drop(entry);
  }
  const logs::Observation read = logs::parse_observations(text, "o.json").at(0).contents.observations.at(0);
  CHECK_FALSE(read.adaptive);
  CHECK_FALSE(read.drafter);
  CHECK_FALSE(read.acceptance->generated_tokens);
  CHECK(read.requests == 5e-324);
}

TEST_CASE("a broken observations file among logs is rejected with its line and all problems") {
  CHECK(problem("\n{\"schema\": \"foredraft.observations/1\", \"log\": []}\n") ==
        "some.log:2: logs: missing\n"
        "some.log:2: log: unknown key");
}

TEST_CASE("an observations file whose counts contradict each other is rejected") {
  CHECK(rejected(changed("\"accepted_tokens\":30", "\"accepted_tokens\":301")).find("observations[0].acceptance") !=
        std::string::npos);
  CHECK(rejected(changed("[20,9,1]", "[9,20,1]")).find("observations[0].acceptance: position") != std::string::npos);
  CHECK(rejected(changed("\"acceptance_length\":1.3", "\"acceptance_length\":0.3")).find("acceptance_length: 0.3") !=
        std::string::npos);
}

TEST_CASE("a damaged observations file is read, or rejected by an InputError") {
  const std::vector<logs::ObservedLog> logs{everything(), observed("trtllm_iterations.txt")};
  const std::string text = logs::observations_text(logs);
  std::mt19937_64 random(7);
  const std::string letters = "{}[]\",:0-1e.antrue\xff";
  for (int round = 0; round < 3000; ++round) {
    std::string broken = text;
    for (std::uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
      broken[random() % broken.size()] = letters[random() % letters.size()];
    }
    try {
      static_cast<void>(logs::parse_observations(broken, "o.json"));
    } catch (const InputError&) {
    } catch (const std::exception& error) {
      FAIL(error.what() << ": " << broken);
    }
  }
}

TEST_CASE("the shipped schema has the keys of an observations file, each with its types") {
  std::ifstream file(FOREDRAFT_SOURCE "/docs/schemas/observations.schema.json");
  REQUIRE(file);
  const Json schema = Json::parse(file);
  const std::vector<logs::ObservedLog> logs{everything()};
  const Json document = Json::parse(logs::observations_text(logs));
  const std::set<std::string> added_later{"partial",
                                          "adaptive",
                                          "drafter",
                                          "tree",
                                          "concurrency",
                                          "offered_requests",
                                          "completed_requests",
                                          "failed_requests",
                                          "generated_tokens",
                                          "served_requests_per_s"};
  // An object of the schema lists the keys of the object and requires all original ones.
  const std::function<void(const Json&, const Json&, const std::string&)> compare =
      [&](const Json& part, const Json& value, const std::string& path) {
        INFO(path);
        const Json& rule =
            part.contains("$ref") ? schema.at("$defs").at(part.at("$ref").get<std::string>().substr(8)) : part;
        if (value.is_object()) {
          CHECK(rule.at("additionalProperties") == false);
          std::vector<std::string> keys, properties, required;
          for (const auto& entry : value.items()) keys.push_back(entry.key());
          for (const auto& entry : rule.at("properties").items()) properties.push_back(entry.key());
          for (const Json& key : rule.at("required")) required.push_back(key);
          CHECK(properties == keys);
          std::erase_if(keys, [&](const std::string& key) { return added_later.contains(key); });
          CHECK(required == keys);
          for (const auto& entry : value.items())
            compare(rule.at("properties").at(entry.key()), entry.value(), path + "." + entry.key());
        } else if (value.is_array()) {
          CHECK(rule.at("type") == "array");
          if (!value.empty()) compare(rule.at("items"), value.front(), path + "[]");
        } else if (!rule.contains("const") && !rule.contains("enum")) {
          const std::string type = value.is_string()           ? "string"
                                   : value.is_boolean()        ? "boolean"
                                   : value.is_number_integer() ? "integer"
                                                               : "number";
          const Json& types = rule.at("type");
          CHECK((types == type || (types.is_array() && types.front() == type)));
        }
      };
  compare(schema, document, "");
}

}  // namespace foredraft::tests
