// SPDX-License-Identifier: Apache-2.0
#include "latency/profile/profile.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "foredraft/errors.hpp"
#include "tests/latency/profile/synthetic_profile.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::latency {
namespace {

using nlohmann::json;

json document_of(const Profile& profile) { return json::parse(to_json(profile)); }

/// Every object of the document, by its place.
void collect_objects(const json& node, const json::json_pointer& place, std::vector<json::json_pointer>& found) {
  if (node.is_object()) {
    found.push_back(place);
    for (const auto& [key, value] : node.items()) collect_objects(value, place / key, found);
  } else if (node.is_array()) {
    for (std::size_t i = 0; i < node.size(); ++i) collect_objects(node[i], place / i, found);
  }
}

std::vector<json::json_pointer> objects_of(const json& document) {
  std::vector<json::json_pointer> found;
  collect_objects(document, json::json_pointer(), found);
  return found;
}

std::string problem(const json& document) {
  return rejection<DomainError>([&] { return from_json(document.dump(), "p.json"); });
}

}  // namespace

TEST_CASE("a profile is read back from its JSON unchanged") {
  const Profile profile = synthetic_profile();
  const std::string text = to_json(profile);
  const Profile read = from_json(text, "p.json");
  CHECK(to_json(read) == text);
  CHECK(read.device.name == profile.device.name);
  CHECK(read.limits.read_bandwidth_bytes_per_s.ci95->high == 1.01e12);
  CHECK_FALSE(read.limits.copy_bandwidth_bytes_per_s.value);
  CHECK(read.protocol->seed == 1);
  CHECK(read.aa_test->p95_difference == 0.01);
  REQUIRE(read.steps.size() == 4);
  CHECK(read.steps[1].cell == profile.steps[1].cell);
  CHECK(read.steps[1].timing.stopped == Stopped::out_of_time);
  CHECK(read.steps[1].timing.summary.median_ci95_us.low == profile.steps[1].timing.summary.median_ci95_us.low);
  CHECK(read.kernels[0].cache == Cache::hot);
  CHECK(read.kernels[1].algorithm == "id 66 tile 20 stages 35 split_k 1");
  REQUIRE(read.breakdowns.size() == 2);
  CHECK(read.breakdowns[0].cell == profile.steps[0].cell);
  CHECK(read.breakdowns[0].parts[1].shape == "rows 1 outputs 10000 inputs 5000");
  CHECK(read.breakdowns[0].parts[1].count == 4);
  REQUIRE(read.verifications.size() == 7);
  CHECK(read.verifications[2].cell == profile.verifications[2].cell);
  CHECK(read.verifications[2].launches == 29);
  CHECK(read.verifications[2].memory_bytes == 4096.0);
  CHECK(read.raw_samples->crc32 == "cbf43926");
  CHECK(read.missing[0].why == "no time left");
  CHECK_FALSE(read.complete());
}

TEST_CASE("the document states the values derived from its own") {
  const json document = document_of(synthetic_profile());
  CHECK(document.at("schema") == "foredraft.profile/1");
  CHECK(document.at("complete") == false);
  CHECK(document.at("against_itself").at("valid") == true);
  const json& moving = document.at("steps").at(0);  // 1e9 bytes at the measured 1e12 a second
  CHECK(moving.at("floor_us").get<double>() == Approx(1000.0).epsilon(foredraft::tests::few_ulp));
  CHECK(moving.at("fraction_of_ceiling").get<double>() == Approx(0.8).epsilon(foredraft::tests::few_ulp));
  const json& computing = document.at("steps").at(2);  // 4e11 operations at 1e14 a second
  CHECK(computing.at("floor_us").get<double>() == Approx(4000.0).epsilon(foredraft::tests::few_ulp));
  CHECK(computing.at("fraction_of_ceiling").get<double>() == Approx(0.5).epsilon(foredraft::tests::few_ulp));
  CHECK(document.at("steps").at(3).at("fraction_of_ceiling").is_null());
  CHECK(document.at("steps").at(3).at("relative_spread").is_null());
}

TEST_CASE("without limits there is no ceiling, and a data sheet's bandwidth is used only if none was measured") {
  Profile profile = synthetic_profile();
  const Timing& timing = profile.steps[0].timing;
  CHECK_FALSE(floor_us(Limits{}, "fp16", timing));
  CHECK_FALSE(floor_us(profile.limits, "bf16", timing));
  profile.limits.read_bandwidth_bytes_per_s = {};
  CHECK(floor_us(profile.limits, "fp16", timing).value() == Approx(500.0).epsilon(foredraft::tests::few_ulp));
  profile.limits.copy_bandwidth_bytes_per_s = {.value = 4e12, .ci95 = {}, .origin = "made up"};
  CHECK(floor_us(profile.limits, "fp16", timing).value() == Approx(250.0).epsilon(foredraft::tests::few_ulp));
}

TEST_CASE("a document that lacks any one key is rejected, and the key is named") {
  const json whole = document_of(synthetic_profile());
  for (const json::json_pointer& place : objects_of(whole)) {
    for (const auto& entry : whole.at(place).items()) {
      json damaged = whole;
      damaged.at(place).erase(entry.key());
      const std::string said = problem(damaged);
      CAPTURE(place.to_string(), entry.key(), said);
      CHECK(said.find("p.json: ") == 0);
      CHECK(said.find(entry.key()) != std::string::npos);
      CHECK(said.find("missing") != std::string::npos);
    }
  }
}

TEST_CASE("a document with any extra key is rejected, and the key is named") {
  const json whole = document_of(synthetic_profile());
  for (const json::json_pointer& place : objects_of(whole)) {
    json damaged = whole;
    damaged.at(place)["surprise"] = 1;
    CHECK(problem(damaged) == "p.json: " + place.to_string() + "/surprise: unknown key");
  }
}

TEST_CASE("values of the wrong type are rejected at their place") {
  const auto changed = [](const char* place, const json& value) {
    json document = document_of(synthetic_profile());
    document.at(json::json_pointer(place)) = value;
    return problem(document);
  };
  CHECK(changed("/steps/1/median_us", "fast") == "p.json: steps[1].median_us: must be a number");
  CHECK(changed("/steps/1/samples", 1.5) == "p.json: steps[1].samples: 1.5");
  CHECK(changed("/steps/1/role", "target") == "p.json: steps[1].role: unknown word \"target\"");
  CHECK(changed("/protocol/seed", -1) == "p.json: protocol.seed: -1");
  CHECK(changed("/steps/1/samples", 9223372036854775808U) == "p.json: steps[1].samples: 9223372036854775808");
  CHECK(changed("/steps/0/batch", 9223372036854775807) ==
        "p.json: invalid model-a decoder_pass fp16 batch 9223372036854775807 tokens 1 context 512 cold graph: "
        "batch=9223372036854775807");
  CHECK(changed("/device/name", 7) == "p.json: device.name: must be a text");
  CHECK(changed("/limits/read_bandwidth_bytes_per_s/ci95", json::array({1.0})) ==
        "p.json: limits.read_bandwidth_bytes_per_s.ci95: must be a list of two numbers");
  CHECK(changed("/steps", json::object()) == "p.json: steps: must be a list");
  CHECK(changed("/identity", 3) == "p.json: identity: must be an object");
}

TEST_CASE("inconsistent derived values are rejected") {
  const auto changed = [](const char* place, const json& value) {
    json document = document_of(synthetic_profile());
    document.at(json::json_pointer(place)) = value;
    return problem(document);
  };
  CHECK(changed("/complete", true) == "p.json: /complete: true is inconsistent with the other values");
  CHECK(changed("/against_itself/valid", false) ==
        "p.json: /against_itself/valid: false is inconsistent with the other values");
  CHECK(changed("/steps/0/floor_us", 5.0) == "p.json: /steps/0/floor_us: 5.0 is inconsistent with the other values");
}

TEST_CASE("other schemas and text that is not JSON are rejected") {
  json document = document_of(synthetic_profile());
  document["schema"] = "foredraft.profile/3";
  CHECK(problem(document) ==
        "p.json: schema: \"foredraft.profile/3\", this program reads \"foredraft.profile/1\" and "
        "\"foredraft.profile/2\"");
  document["schema"] = "foredraft.profile/2";  // schema 1 could express it
  CHECK(problem(document) == "p.json: /schema: \"foredraft.profile/2\" is inconsistent with the other values");
  document.erase("schema");
  CHECK(problem(document) ==
        "p.json: schema: missing, this program reads \"foredraft.profile/1\" and \"foredraft.profile/2\"");
  CHECK_THROWS_MATCHES(from_json("{", "p.json"), DomainError, Says("p.json:1: syntax: invalid JSON at column 2"));
  CHECK_THROWS_MATCHES(read_profile("/nonexistent/p.json"), InputError, Says("/nonexistent/p.json: cannot be read"));
}

TEST_CASE("only contents that the first schema cannot express need the second one") {
  const Figure made_up{.value = 4e14, .ci95 = {}, .origin = "made up"};
  const json first = document_of(synthetic_profile());
  CHECK_FALSE(first.at("limits").contains("matrix_peak_fp8_flop_per_s"));
  CHECK_FALSE(first.contains("step_error"));
  for (Figure Limits::*member : {&Limits::matrix_peak_fp8_flop_per_s, &Limits::matrix_peak_int8_flop_per_s,
                                 &Limits::matrix_peak_fp4_flop_per_s, &Limits::link_bandwidth_bytes_per_s}) {
    Profile profile = synthetic_profile();
    profile.limits.*member = made_up;
    const std::string text = to_json(profile);
    const json document = json::parse(text);
    CHECK(document.at("schema") == "foredraft.profile/2");
    CHECK(document.at("limits").size() == first.at("limits").size() + 1);
    const Profile read = from_json(text, "p.json");
    CHECK((read.limits.*member).value == 4e14);
    CHECK(to_json(read) == text);
    json older = document;
    older["schema"] = "foredraft.profile/1";
    CHECK(problem(older) == "p.json: /schema: \"foredraft.profile/1\" is inconsistent with the other values");
  }
}

TEST_CASE("the capacity is the driver's, even if the maker prints another") {
  Profile profile = synthetic_profile();
  profile.device.memory_bytes = {.value = 80e9, .ci95 = {}, .origin = "printed"};
  CHECK(capacity_bytes(profile.device) == 80e9);
  CHECK(document_of(profile).at("schema") == "foredraft.profile/1");
  profile.device.usable_memory_bytes = {.value = 85.5e9, .ci95 = {}, .origin = "driver"};
  CHECK(capacity_bytes(profile.device) == 85.5e9);
  const json document = document_of(profile);
  CHECK(document.at("schema") == "foredraft.profile/2");
  CHECK(from_json(document.dump(), "p.json").device.usable_memory_bytes.value == 85.5e9);
}

TEST_CASE("steps of an engine and of operators may state their error, others may not") {
  for (const Source source : {Source::engine, Source::operators}) {
    Profile profile{.source = source, .identity = {}, .device = {}, .limits = {}};
    profile.device.name = "an engine";
    CHECK(document_of(profile).at("schema") == "foredraft.profile/2");
    CHECK_FALSE(document_of(profile).contains("step_error"));
    profile.step_error = {.value = 0.19, .ci95 = {}, .origin = "held-out models"};
    const Profile read = from_json(to_json(profile), "p.json");
    CHECK(read.source == source);
    CHECK(read.step_error.value == 0.19);
    CHECK(read.step_error.origin == "held-out models");
    profile.step_error.origin = "";
    CHECK_THROWS_MATCHES(to_json(profile), DomainError, Says("step_error: a figure without its origin"));
    profile.step_error = {.value = 19.0, .ci95 = {}, .origin = "per cent"};
    CHECK_THROWS_MATCHES(to_json(profile), DomainError, Says("invalid step_error=19"));
  }
  Profile measured = synthetic_profile();
  measured.step_error = {.value = 0.19, .ci95 = {}, .origin = "held-out models"};
  CHECK_THROWS_MATCHES(to_json(measured), DomainError, Says("step_error"));
}

TEST_CASE("an invalid profile is not written") {
  const auto rejected = [](auto&& change) {
    Profile profile = synthetic_profile();
    change(profile);
    return rejection<DomainError>([&] { return to_json(profile); });
  };
  CHECK(rejected([](Profile& p) { p.steps[1].cell = p.steps[0].cell; }) ==
        "model-a decoder_pass fp16 batch 1 tokens 1 context 512 cold graph: measured twice");
  CHECK(rejected([](Profile& p) { p.steps[0].cell.model = "a,b"; }) ==
        "model: a,b: a name must not hold commas, quotes or line ends");
  CHECK(rejected([](Profile& p) { p.steps[0].cell.model = "=1+1"; }).starts_with("model: =1+1: "));
  CHECK(rejected([](Profile& p) { p.device.name = ""; }) == "device: empty name");
  CHECK(rejected([](Profile& p) { p.limits.graph_node_us.origin = ""; }) ==
        "graph_node_us: a figure without its origin");
  CHECK(rejected([](Profile& p) { p.limits.graph_node_us.value = 0.0; }) != "");
  CHECK(rejected([](Profile& p) { p.steps[0].timing.flop = std::nan(""); }) != "");
  CHECK(rejected([](Profile& p) { p.kernels.push_back(p.kernels[1]); }) ==
        "project rows 1 outputs 30000 inputs 10000 fp16: measured twice");
  const std::string step = "model-a decoder_pass fp16 batch 1 tokens 1 context 512 cold graph: ";
  CHECK(rejected([](Profile& p) { p.breakdowns.push_back(p.breakdowns[0]); }) == step + "measured by operation twice");
  CHECK(rejected([](Profile& p) { p.breakdowns[0].parts.clear(); }) == step + "a step without operations");
  CHECK(rejected([](Profile& p) { p.breakdowns[0].parts[0].cache = Cache::hot; }) ==
        step + "project rows 1 outputs 30000 inputs 10000 has no time");
  CHECK(rejected([](Profile& p) { p.kernels[1].timing.summary.samples = 0; }) ==
        step + "project rows 1 outputs 30000 inputs 10000 has no time");
  CHECK(rejected([](Profile& p) { p.breakdowns[0].parts[0].count = 0; }) != "");
  CHECK(rejected([](Profile& p) { p.verifications.push_back(p.verifications[0]); }) ==
        "fused_exact fp16 batch 1 gamma 5 vocabulary 128256 real_like hot graph: measured twice");
  CHECK(rejected([](Profile& p) { p.verifications[0].launches = 0; }) != "");
  CHECK(rejected([](Profile& p) { p.verifications[0].memory_bytes = -1.0; }) != "");
  CHECK(rejected([](Profile& p) { p.verifications[0].cell.verifier = "a,b"; }) != "");
  CHECK(rejected([](Profile& p) { p.source = Source::datasheet; }) ==
        "source datasheet with steps, kernels or verifications");
  CHECK(rejected([](Profile& p) { p.source = Source::user; }) == "source user with protocol or against_itself");
}

TEST_CASE("the table of steps has the columns that readers rely on, and every cell under its own") {
  const std::string table = steps_csv(synthetic_profile());
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = table.find('\n', begin);
    lines.push_back(table.substr(begin, end - begin));
    begin = end + 1;
  }
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] ==
        "model,role,dtype,batch,tokens,context,source_length,cache,launch,median_us,ci95_low_us,ci95_high_us,p5_us,p25_"
        "us,"
        "p75_us,p95_us,min_us,mean_us,mad_us,samples,throttled,stopped,clock_mhz,read_bytes,written_bytes,flop,"
        "relative_spread,floor_us,fraction_of_ceiling,source");
  CHECK(lines[1].starts_with("model-a,decoder_pass,fp16,1,1,512,0,cold,graph,1250,"));
  CHECK(lines[1].find(",21,2,stable,1234,900000000,100000000,2000000000,0.00") != std::string::npos);
  CHECK(lines[1].ends_with(",1000,0.8,measured"));
  // 1250 us, and ten samples on each side in steps of a thousandth; the interval: ranks 5 and 15.
  std::istringstream cells(lines[1].substr(lines[1].find("1250,")));
  for (const double expected : {1250.0, 1243.75, 1256.25, 1238.75, 1243.75, 1256.25, 1261.25, 1237.5, 1250.0, 6.25}) {
    std::string cell;
    std::getline(cells, cell, ',');
    CHECK(std::stod(cell) == Approx(expected).epsilon(foredraft::tests::second_route));
  }
  CHECK(lines[4].ends_with(",0,0,out_of_time,0,100000000,0,200000000,,100,,measured"));
  const std::string kernels = kernels_csv(synthetic_profile());
  CHECK(kernels.starts_with("operation,shape,dtype,cache,launch,algorithm,median_us,"));
  CHECK(kernels.find("\nproject,rows 1 outputs 64 inputs 32,fp16,hot,graph,,3,") != std::string::npos);
  CHECK(kernels.find(
            "\nproject,rows 1 outputs 10000 inputs 5000,fp16,cold,graph,id 66 tile 20 stages 35 split_k 1,125,") !=
        std::string::npos);
}

}  // namespace foredraft::latency
