// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "answers/baseline.hpp"
#include "answers/comparison.hpp"
#include "tests/answers/advise_testing.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::tests {
namespace {

using answers::Baseline;
using answers::compare;
using answers::Comparison;
using Document = nlohmann::ordered_json;

/// Windows of two draft lengths whose acceptance scatters without a trend, and a single one at another load.
logs::ObservedLog measured_log(const std::string& name, double alpha, const std::string& version = "0.30.0") {
  logs::ObservedLog log = log_of({}, name);
  for (int window = 0; window < 20; ++window) {
    const double change = 0.01 * (2 * window % 5 - 2);
    log.contents.observations.push_back(speculative(3, 8, 20.0 * (1.0 + change), alpha + change, 4000));
    log.contents.observations.push_back(speculative(1, 8, 15.0 * (1.0 - change), alpha - change, 4000));
  }
  logs::Observation single = speculative(3, 64, 40.0, alpha);
  single.stratum.temperature = 0.7;
  log.contents.observations.push_back(single);
  log.contents.version = version;
  log.contents.settings.target = "acme/target";
  return log;
}

std::string stored(const logs::ObservedLog& log) { return answers::baseline_text(compare({.reference = log}), log); }

Baseline baseline_of(const logs::ObservedLog& log) { return answers::parse_baseline(stored(log), "base.json"); }

std::string problems_of(const std::string& text) {
  return whole_rejection([&] { return answers::parse_baseline(text, "base.json"); });
}

/// NaN, which means unknown, equals itself.
bool are_equal(double one, double other) { return std::isnan(one) ? std::isnan(other) : one == Approx(other); }

/// Every place of a document that holds a value, as a JSON pointer.
void add_places(const Document& value, const std::string& at, std::vector<std::string>& places) {
  if (!at.empty()) places.push_back(at);
  if (value.is_object()) {
    for (const auto& entry : value.items()) add_places(entry.value(), at + "/" + entry.key(), places);
  }
  if (value.is_array() && !value.empty()) add_places(value.front(), at + "/0", places);
}

}  // namespace

TEST_CASE("a baseline holds the measured values, errors and degrees of freedom, and what decides comparisons") {
  const logs::ObservedLog log = measured_log("a", 0.7);
  const Comparison comparison = compare({.reference = log});
  const Baseline baseline = baseline_of(log);
  REQUIRE(baseline.runs.size() == comparison.runs.size());
  bool assumed = false;
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    const answers::RunEstimates& one = comparison.runs[i];
    const answers::RunEstimates& other = baseline.runs[i];
    CHECK(one.name == other.name);
    CHECK(one.unknown == other.unknown);
    CHECK(one.run.steps == other.run.steps);
    CHECK(answers::difference_of(one.run, other.run).empty());
    CHECK(one.run.circumstances == other.run.circumstances);
    REQUIRE(one.measured.size() == other.measured.size());
    for (std::size_t k = 0; k < one.measured.size(); ++k) {
      INFO(one.measured[k].metric);
      CHECK(one.measured[k].metric == other.measured[k].metric);
      CHECK(one.measured[k].clusters == other.measured[k].clusters);
      CHECK(one.measured[k].span == other.measured[k].span);
      CHECK(one.measured[k].estimate.value == other.measured[k].estimate.value);
      const analytic::Uncertainty before = analytic::uncertainty_of(one.measured[k].estimate);
      const analytic::Uncertainty after = analytic::uncertainty_of(other.measured[k].estimate);
      CHECK(after.standard_error == Approx(before.standard_error).epsilon(1e-12));
      CHECK((std::isinf(before.degrees) ? std::isinf(after.degrees) : after.degrees == Approx(before.degrees)));
      CHECK(is_assumed(one.measured[k].estimate) == is_assumed(other.measured[k].estimate));
      assumed = assumed || is_assumed(one.measured[k].estimate);
    }
  }
  CHECK(assumed);
  CHECK(baseline.source.file == "a");
  CHECK(baseline.source.contents.version == "0.30.0");
  CHECK(answers::baseline_text(compare({.reference = log}), log) == stored(log));
}

TEST_CASE("comparing with a baseline equals comparing with the log that it was made of") {
  const logs::ObservedLog a = measured_log("a", 0.7);
  const logs::ObservedLog b = measured_log("b", 0.6, "0.31.0");
  const Comparison direct = compare({.reference = a, .candidate = b});
  const Comparison later = compare({.reference = baseline_of(a), .candidate = b});
  CHECK(later.logs.at(0).is_baseline);
  CHECK_FALSE(later.logs.at(1).is_baseline);
  REQUIRE(direct.compared.size() == 3);
  REQUIRE(later.compared.size() == 3);
  for (std::size_t i = 0; i < direct.compared.size(); ++i) {
    REQUIRE(direct.compared[i].metrics.size() == later.compared[i].metrics.size());
    for (std::size_t k = 0; k < direct.compared[i].metrics.size(); ++k) {
      const answers::MetricDifference& one = direct.compared[i].metrics[k];
      const answers::MetricDifference& other = later.compared[i].metrics[k];
      INFO(one.metric);
      CHECK(one.ratio == Approx(other.ratio));
      CHECK(are_equal(one.ratio_ci95.low, other.ratio_ci95.low));
      CHECK(are_equal(one.ratio_ci95.high, other.ratio_ci95.high));
      CHECK(one.shown == other.shown);
      CHECK_FALSE(other.paired);
    }
  }
  CHECK(direct.answer == later.answer);
}

TEST_CASE("the speedup of a baseline uses its own time, whatever plain run is given later") {
  const logs::ObservedLog a = measured_log("a", 0.7);
  const Comparison first = compare({.reference = a, .plain = {log_of({plain(8, 15.0)}, "p")}});
  const Baseline baseline = answers::parse_baseline(answers::baseline_text(first, a), "base.json");
  const Comparison later =
      compare({.reference = baseline, .candidate = measured_log("b", 0.7), .plain = {log_of({plain(8, 30.0)}, "q")}});
  const auto speedup_of = [](const Comparison& comparison, std::size_t run) {
    return comparison.runs.at(run).find("speedup")->estimate.value;
  };
  CHECK(speedup_of(later, 0) == speedup_of(first, 0));
  CHECK(speedup_of(later, baseline.runs.size()) == Approx(2.0 * speedup_of(first, 0)));
  for (std::size_t i = 0; i < baseline.runs.size(); ++i) {
    CHECK(later.runs[i].measured.size() == baseline.runs[i].measured.size());
  }
}

TEST_CASE("requirements are relative to a baseline: an upgrade that loses acceptance fails them") {
  const auto without_single = [](logs::ObservedLog log) {
    log.contents.observations.pop_back();
    return log;
  };
  const logs::ObservedLog a = without_single(measured_log("a", 0.7));
  const auto meets = [&](double alpha) {
    const Comparison comparison = compare({.reference = baseline_of(a),
                                           .candidate = without_single(measured_log("b", alpha, "0.31.0")),
                                           .requirements = {std::get<answers::Requirement>(
                                               answers::parse_requirement("acceptance_length>=0.95x", "--require"))}});
    return comparison.meets_requirements();
  };
  CHECK(meets(0.7));
  CHECK_FALSE(meets(0.6));
}

TEST_CASE("another target model is not compared with a baseline, another version of the engine is") {
  const Baseline baseline = baseline_of(measured_log("a", 0.7));
  logs::ObservedLog b = measured_log("b", 0.7, "0.99.0");
  CHECK(compare({.reference = baseline, .candidate = b}).concludes());
  b.contents.settings.target = "acme/other";
  const Comparison other = compare({.reference = baseline, .candidate = b});
  CHECK_FALSE(other.concludes());
  CHECK(other.not_compared.at(0).why.find("against other") != std::string::npos);
}

TEST_CASE("every key of a baseline is required, has a type, and is named if it is wrong") {
  const Document good = Document::parse(stored(measured_log("a", 0.7)));
  std::vector<std::string> places;
  add_places(good, "", places);
  CHECK(places.size() > 35);
  for (const std::string& place : places) {
    INFO(place);
    const Document::json_pointer at(place);
    const std::string key = at.back();
    Document wrong = good;
    wrong[at] = Document::object({{"unexpected", 1}});
    CHECK_FALSE(problems_of(wrong.dump()).empty());
    if (key == "0") continue;  // an entry of a list, which may be absent
    wrong = good;
    wrong.at(at.parent_pointer()).erase(key);
    const bool rejected = problems_of(wrong.dump()).find(key + ": missing") != std::string::npos;
    CHECK(rejected == (key != "tree"));  // older files lack it
    wrong = good;
    wrong.at(at.parent_pointer())["surprise"] = 1;
    CHECK(problems_of(wrong.dump()).find("surprise: unknown key") != std::string::npos);
  }
}

TEST_CASE("values of a baseline that cannot be measured are named with their key") {
  const Document good = Document::parse(stored(measured_log("a", 0.7)));
  const auto check_rejected = [&](const std::string& place, const Document& value, const std::string& named) {
    Document wrong = good;
    wrong[Document::json_pointer(place)] = value;
    const std::string problems = problems_of(wrong.dump());
    INFO(problems);
    CHECK(problems.find("base.json: " + named + ": ") != std::string::npos);
  };
  check_rejected("/schema", "foredraft.baseline/9", "schema");
  check_rejected("/runs", Document::array(), "runs");
  check_rejected("/runs/0/gamma", 0, "runs[0].gamma");
  check_rejected("/runs/0/gamma", 2.5, "runs[0].gamma");
  check_rejected("/runs/1/verification_steps", -1, "runs[1].verification_steps");
  check_rejected("/runs/0/metrics/0/value", "2", "runs[0].metrics[0].value");
  check_rejected("/runs/0/metrics/0/standard_error", -0.1, "runs[0].metrics[0].standard_error");
  check_rejected("/runs/0/metrics/0/degrees", 0.5, "runs[0].metrics[0].degrees");
  check_rejected("/runs/0/metrics/0/clusters", 0, "runs[0].metrics[0].clusters");
  check_rejected("/runs/0/metrics/0/cluster", "day", "runs[0].metrics[0].cluster");
  check_rejected("/runs/0/metrics/0/metric", "spedup", "runs[0].metrics[0].metric");
  check_rejected("/runs/0/metrics/1/metric", "acceptance_length", "runs[0].metrics[1].metric");
  CHECK(problems_of("{\"schema\":\n[").find("base.json:2") != std::string::npos);
  for (const char* text : {"", "7", "[]", "null", "{\"schema\": 1e999}", "{}"}) CHECK_FALSE(problems_of(text).empty());
  // Two problems at once, and text that could move the cursor made readable.
  Document wrong = good;
  wrong["runs"][0]["gamma"] = "\x1b[2J";
  wrong["runs"][0]["batch"] = true;
  const std::string problems = problems_of(wrong.dump());
  CHECK(problems.find("runs[0].gamma") != std::string::npos);
  CHECK(problems.find("runs[0].batch") != std::string::npos);
  CHECK(problems.find('\x1b') == std::string::npos);
}

}  // namespace foredraft::tests
