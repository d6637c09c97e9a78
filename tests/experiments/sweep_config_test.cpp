// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/sweep_config.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "inputs/table_reader.hpp"
#include "tests/experiments/config_testing.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::experiments {
namespace {

const std::string head = "schema = \"foredraft.sweep/1\"\n";

SweepConfig read(const std::string& text) {
  return read_sweep_config(inputs::parse_toml(head + text, "e.toml"), "e.toml");
}

/// All messages of a configuration that is rejected. Its first own line has number 2.
std::string problems_of(const std::string& text) {
  return rejection([&] { return read(text); });
}

}  // namespace

TEST_CASE("axes keep the order of the file and ranges include both ends") {
  const SweepConfig config = read(
      "[axes]\ngamma = { from = 1, to = 7, step = 2 }\nalpha = { from = 0.1, to = 0.5, step = 0.1 }\n"
      "c = { from = 0.01, to = 0.08, factor = 2 }\n");
  REQUIRE(config.axes.size() == 3);
  CHECK(config.axes[0].parameter->name == "gamma");
  CHECK(config.axes[1].parameter->name == "alpha");
  CHECK(config.axes[0].values ==
        std::vector<scenario::Value>{std::int64_t{1}, std::int64_t{3}, std::int64_t{5}, std::int64_t{7}});
  CHECK(config.axes[1].values == std::vector<scenario::Value>{0.1, 0.2, 0.3, 0.4, 0.5});
  CHECK(config.axes[2].values == std::vector<scenario::Value>{0.01, 0.02, 0.04, 0.08});
  CHECK(point_count(config) == 80);
}

TEST_CASE("defaults are filled in, and only those that a point uses") {
  const SweepConfig config = read("[fixed]\nalpha = 0.8\ngamma = 5\n");
  CHECK(scenario::to_text(*fixed_value(config, "convention")) == "bonus");
  CHECK(scenario::to_text(*fixed_value(config, "drafter")) == "autoregressive");
  CHECK(scenario::to_text(*fixed_value(config, "process")) == "iid");
  CHECK(fixed_value(config, "rule") == nullptr);
  CHECK(fixed_value(config, "temperature") == nullptr);
  CHECK_FALSE(config.simulation);
  CHECK(read("[fixed]\nalpha = 0.8\ngamma = 5\n[simulation]\niterations = 5\n").simulation->seed == 1);
}

TEST_CASE("a whole number may be written as any number that is whole") {
  const std::string whole = "[axes]\ngamma = [2, 3]\n[fixed]\nalpha = 1\n[simulation]\niterations = 1000000\n";
  const std::string real = "[axes]\ngamma = [2.0, 3e0]\n[fixed]\nalpha = 1.0\n[simulation]\niterations = 1e6\n";
  CHECK(config_hash(tests::config_of(real)) == config_hash(tests::config_of(whole)));
}

TEST_CASE("a token sweep takes rule, temperature and models, and knows the default of the target distribution") {
  const SweepConfig config = read(
      "[axes]\ntemperature = [0.5, 1.0]\n[fixed]\nfidelity = \"token\"\ngamma = 5\n"
      "models = { target = \"zipf\", vocabulary = 1000, draft = \"noise\", alpha = 0.8 }\n"
      "[simulation]\niterations = 1000\nseed = 1\n");
  CHECK(std::get<double>(*fixed_value(config, "models.parameter")) == 1.0);
  CHECK(std::get<std::int64_t>(*fixed_value(config, "models.vocabulary")) == 1000);
  CHECK(scenario::to_text(*fixed_value(config, "rule")) == "rejection_sampling");
  CHECK(fixed_value(config, "alpha") == nullptr);
}

TEST_CASE("every kind of wrong value has a line of its own with file, line, key, reason and advice") {
  CHECK(problems_of("[axes]\nalpha = [0.5, 1.5]\n[fixed]\ngamma = 5\n") == "e.toml:3: axes.alpha: invalid alpha=1.5");
  CHECK(problems_of("[fixed]\nalpha = nan\ngamma = 5\n") == "e.toml:3: fixed.alpha: invalid alpha=nan");
  CHECK(problems_of("[fixed]\nalpha = 0.5\ngamma = -1\n") == "e.toml:4: fixed.gamma: invalid gamma=-1");
  CHECK(problems_of("[fixed]\nalpha = 0.5\ngamma = 5\nc = inf\n") == "e.toml:5: fixed.c: invalid c=inf");
  CHECK(problems_of("[fixed]\nalpha = 0.5\ngamma = 5\nc = -0.1\n") == "e.toml:5: fixed.c: invalid c=-0.1");
  CHECK(problems_of("[fixed]\nalpha = \"0.5\"\ngamma = 5\n") == "e.toml:3: fixed.alpha: wrong type");
  CHECK(problems_of("[fixed]\nalpha = 0.5\ngamma = 5.5\n") == "e.toml:4: fixed.gamma: wrong type");
  CHECK(problems_of("[fixed]\nalpha = 2020-01-01\ngamma = 5\n") == "e.toml:3: fixed.alpha: wrong type");
  CHECK(problems_of("[axes]\nalpha = { from = 0, to = 1, step = 0 }\n[fixed]\ngamma = 5\n") ==
        "e.toml:3: axes.alpha: impossible range");
  CHECK(problems_of("[axes]\nalpha = { from = 0, to = 1, step = -0.1 }\n[fixed]\ngamma = 5\n") ==
        "e.toml:3: axes.alpha: impossible range");
  CHECK(problems_of("[axes]\nalpha = { from = 0, to = nan, step = 0.1 }\n[fixed]\ngamma = 5\n") ==
        "e.toml:3: axes.alpha: impossible range");
  CHECK(problems_of("[axes]\ngamma = { from = 1, to = 5, step = 0.5 }\n[fixed]\nalpha = 0.5\n") ==
        "e.toml:3: axes.gamma: invalid gamma=1.5");
}

TEST_CASE("one mistake is one problem: its consequences are not reported") {
  CHECK(problems_of("[axes]\ngama = [1, 2]\n[fixed]\nalpha = 0.8\n") == "e.toml:3: axes.gama: unknown key");
  CHECK(problems_of("[axis]\nalpha = [0.5]\n[fixed]\ngamma = 3\n") == "e.toml:2: axis: unknown key");
  CHECK(problems_of("[fixed]\nalpha = 0.8\ngamma = 3\n[simulation]\niterations = \"x\"\n") ==
        "e.toml:6: simulation.iterations: wrong type");
}

TEST_CASE("misspelled keys and words are rejected with the nearest known one") {
  CHECK(problems_of("[axes]\nalpha = [0.5]\ngama = [1, 2]\n[fixed]\ngamma = 5\n") ==
        "e.toml:4: axes.gama: unknown key");
  CHECK(problems_of("[fixed]\nalpha = 0.5\ngamma = 5\nprocess = \"markow\"\n") ==
        "e.toml:5: fixed.process: unknown process \"markow\"");
  CHECK(problems_of("[fixed]\nalpha = 0.5\ngamma = 5\n[simulatoin]\niterations = 5\n") ==
        "e.toml:5: simulatoin: unknown key");
  CHECK(problems_of("[fixed]\nalpha = 0.5\ngamma = 5\n[simulation]\niteratoins = 5\niterations = 5\nseed = 1\n") ==
        "e.toml:6: simulation.iteratoins: unknown key");
  CHECK_THAT(problems_of("[axes]\ngamma = { from = 1, too = 5 }\n[fixed]\nalpha = 0.5\n"),
             Catch::Contains("axes.gamma.to: missing") && Catch::Contains("axes.gamma.too: unknown key"));
}

TEST_CASE("a figure must not share a name with a file of a results folder, nor be too short or too long") {
  const auto problems_with_id = [](const std::string& id) {
    return problems_of("[axes]\nalpha = [0.5, 0.9]\n[fixed]\ngamma = 2\n[[figure]]\nid = \"" + id +
                       "\"\nx = \"alpha\"\ny = \"tokens_per_iteration\"\n");
  };
  CHECK(problems_with_id("speed").empty());
  CHECK(problems_with_id(std::string(100, 'a')).empty());
  CHECK(problems_with_id("") == "e.toml:6: figure.id: empty");
  for (const char* id : {"points", "summary", "manifest", "report", "scorecard", "validation", "prediction"}) {
    CHECK(problems_with_id(id) == "e.toml:6: figure.id: invalid id \"" + std::string(id) + "\"");
  }
  for (const std::string& id : {std::string("../up"), std::string("a b"), std::string("a.b"), std::string(101, 'a')}) {
    CHECK(problems_with_id(id) == "e.toml:6: figure.id: invalid id \"" + id + "\"");
  }
  // plots/ draws all other names.
  int drawn = 0;
  for (const auto& script : std::filesystem::directory_iterator(FOREDRAFT_SOURCE "/plots")) {
    std::ifstream lines(script.path());
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("ID = \"")) continue;
      ++drawn;
      CAPTURE(line);
      CHECK_THAT(problems_with_id(line.substr(6, line.rfind('"') - 6)), Catch::Contains("figure.id: invalid id "));
    }
  }
  CHECK(drawn > 20);
}

TEST_CASE("values that no point uses are rejected, not ignored") {
  CHECK(problems_of("[fixed]\nalpha = 0.5\ngamma = 5\ntemperature = 1.0\n") == "e.toml:5: fixed.temperature: not used");
  const std::string other_alpha =
      "[fixed]\nfidelity = \"token\"\nalpha = 0.5\ngamma = 5\nmodels.alpha = 0.8\n[simulation]\niterations = 10\n"
      "seed = 1\n";
  CHECK(problems_of(other_alpha) == "e.toml:4: fixed.alpha: not used");
  CHECK_THROWS_WITH(read(other_alpha), Catch::Contains("models.alpha?"));
}

TEST_CASE("values that do not fit together are rejected") {
  CHECK(problems_of("[axes]\ngamma = { from = 1, to = 4 }\n[fixed]\nprocess = \"positional\"\n"
                    "\"process.conditional\" = [0.9, 0.8]\n") == "e.toml:3: axes.gamma: invalid gamma=4");
  CHECK(problems_of("[fixed]\ngamma = 2\nprocess = \"positional\"\n\"process.marginal\" = [0.7, 1.5]\n") ==
        "e.toml:5: fixed.process.marginal: invalid entry 2=1.5");
  CHECK(problems_of("[fixed]\ngamma = 2\nprocess = \"positional\"\n\"process.marginal\" = [0.7, 0.75]\n") ==
        "e.toml:5: fixed.process.marginal: rises from 0.7 to 0.75 at position 2");
  CHECK(problems_of("[fixed]\nfidelity = \"token\"\ngamma = 2\nmodels.alpha = 0.8\ntemperature = 1e-7\n[simulation]\n"
                    "iterations = 1\nseed = 1\n") == "e.toml:6: fixed.temperature: invalid temperature=1e-07");
  CHECK(problems_of("[fixed]\nfidelity = \"token\"\ngamma = 100001\nmodels.alpha = 0.8\n[simulation]\niterations = 1\n"
                    "seed = 1\n") == "e.toml:4: fixed.gamma: invalid gamma=100001");
  CHECK(problems_of("[fixed]\nalpha = 0.5\ngamma = 10001\npolicy = \"plus2_minus1\"\n") ==
        "e.toml:4: fixed.gamma: invalid gamma=10001");
  CHECK(problems_of("[fixed]\ngamma = 5\nprocess = \"markov\"\n\"process.a\" = 1.5\n\"process.b\" = 0.5\n") ==
        "e.toml:5: fixed.process.a: invalid process.a=1.5");
  CHECK(problems_of("[axes]\nalpha = [0.5]\n[fixed]\nalpha = 0.5\ngamma = 5\n") ==
        "e.toml:5: fixed.alpha: given twice");
  CHECK_THAT(problems_of("[axes]\nfidelity = [\"process\", \"token\"]\n[fixed]\nalpha = 0.5\ngamma = 2\n"
                         "sequence_length = 10\nmodels = { alpha = 0.5 }\n[simulation]\nsequences = 10\nseed = 1\n"),
             Catch::StartsWith("e.toml:7: fixed.sequence_length: not used by fidelity token"));
}

TEST_CASE("invalid parameters of a rule are rejected when the file is read, with the rule's own message") {
  const auto problem = [](const std::string& rule) {
    return problems_of("[fixed]\nfidelity = \"token\"\ngamma = 5\nmodels.alpha = 0.8\nmodels.vocabulary = 50\n" + rule +
                       "\n[simulation]\niterations = 10\nseed = 1\n");
  };
  CHECK(problem("rule = \"lenient\"\n\"rule.lenience\" = 0.5") == "");
  CHECK_THAT(problem("rule = \"lenient\"\n\"rule.lenience\" = 0.0"), Catch::Contains("invalid rule.lenience=0"));
  CHECK_THAT(problem("rule = \"typical_acceptance\"\n\"rule.epsilon\" = 1.0"),
             Catch::Contains("invalid rule.epsilon=1"));
  CHECK_THAT(problem("rule = \"multi_candidate\"\n\"rule.candidates\" = 2.5"),
             Catch::Contains("invalid rule.candidates=2.5"));
  CHECK_THAT(problem("rule = \"top_beta\"\n\"rule.top_beta\" = 51"),
             Catch::Contains("e.toml:8: fixed.rule.top_beta: invalid rule.top_beta=51"));
  CHECK_THAT(problem("rule = \"sigmoid_approximation\"\n\"rule.scale_low\" = 10.0"),
             Catch::Contains("invalid rule.scale_low=10"));
  CHECK_THAT(problem("rule = \"top_beta\"\n\"rule.tolerance\" = -1.0"), Catch::Contains("rule.tolerance"));
}

TEST_CASE("missing values are named") {
  CHECK(problems_of("[fixed]\ngamma = 5\n") == "e.toml: fixed.alpha: missing");
  CHECK_THAT(
      problems_of("[fixed]\nalpha = 0.5\ngamma = 5\nsequence_length = 10\n[simulation]\niterations = 5\nseed = 1\n"),
      Catch::Contains("simulation.sequences: missing") && Catch::Contains("simulation.iterations: not used"));
}

TEST_CASE("an unknown schema, a missing one and broken syntax are rejected") {
  const auto message = [](const std::string& text) {
    return rejection([&] { return read_sweep_config(inputs::parse_toml(text, "e.toml"), "e.toml"); });
  };
  CHECK(message("schema = \"foredraft.sweep/9\"\n[fixed]\nalpha = 0.5\ngamma = 5\n") ==
        "e.toml:1: schema: unknown schema \"foredraft.sweep/9\"");
  CHECK_THAT(message("[fixed]\nalpha = 0.5\ngamma = 5\n"), Catch::Contains("schema: missing"));
  CHECK_THAT(message("a = 1\nb = [1, 2\nc = 3\n"), Catch::StartsWith("e.toml:3: syntax: "));
}

TEST_CASE("all errors of a file are reported at once, in the order of its lines") {
  // [axes] is read before [fixed], but errors are in the order of the lines.
  CHECK(problems_of("[fixed]\nc = -1\ngamma = \"five\"\n[axes]\nalpha = [1.5]\ngama = [1]\n") ==
        "e.toml:3: fixed.c: invalid c=-1\n"
        "e.toml:4: fixed.gamma: wrong type\n"
        "e.toml:6: axes.alpha: invalid alpha=1.5\n"
        "e.toml:7: axes.gama: unknown key");
}

TEST_CASE("an excessive number of points is rejected with the count and the time, without listing them") {
  const std::string text =
      "[axes]\nalpha = { from = 0, to = 1, step = 1e-6 }\nc = { from = 0, to = 1, step = 1e-6 }\n[fixed]\ngamma = 5\n"
      "[simulation]\niterations = 1000000\nseed = 1\n";
  CHECK_THAT(problems_of(text), Catch::StartsWith("e.toml:2: axes: 1e+12 points\n"));
  CHECK_THROWS_WITH(read(text), Catch::Contains(" days "));
}

TEST_CASE("a range too long to list is rejected even if the sweep has few points") {
  CHECK(problems_of("[axes]\nalpha = { from = 0, to = 1, step = 1e-6 }\n[fixed]\ngamma = 5\n") ==
        "e.toml:3: axes.alpha: 1000001 values");
  CHECK_THAT(problems_of("[axes]\ngamma = { from = 1e300, to = 1e300 }\n[fixed]\nalpha = 0.5\n"),
             Catch::StartsWith("e.toml:3: axes.gamma: wrong type"));
}

TEST_CASE("nothing is lost in writing: doubled spellings, empty tables, ranges in other words") {
  CHECK(problems_of("[axes]\n\"process.a\" = [0.1]\nprocess.a = [0.2]\n[fixed]\nprocess = \"markov\"\n"
                    "\"process.b\" = 0.1\ngamma = 2\n") == "e.toml:4: axes.process.a: given twice");
  CHECK_THAT(problems_of("[axes]\nc = {}\n[fixed]\nalpha = 0.5\ngamma = 5\n"), Catch::Contains("axes.c.from: missing"));
  CHECK(problems_of("[fixed]\nalpha = 0.5\ngamma = 5\noperations_ratio = {}\n") ==
        "e.toml:5: fixed.operations_ratio: wrong type");
  CHECK_THAT(problems_of("[axes]\ngamma = { start = 1, stop = 5 }\n[fixed]\nalpha = 0.5\n"),
             Catch::Contains("e.toml:3: axes.gamma.start: unknown key"));
}

TEST_CASE("figures name axes and quantities of the sweep and fix every axis") {
  const std::string base = "[axes]\nalpha = [0.5, 0.6]\ngamma = [1, 2]\n[[figure]]\n";
  CHECK(problems_of(base + "id = \"f\"\nx = \"gamma\"\ny = \"tokens_per_iteration\"\nseries = \"alpha\"\n").empty());
  CHECK_THAT(problems_of(base + "id = \"f\"\nx = \"gamma\"\ny = \"tokens_per_iteration\"\n"),
             Catch::StartsWith("e.toml:5: figure.x: ") && Catch::Contains("axis alpha"));
  CHECK_THAT(problems_of(base + "id = \"f\"\nx = \"gama\"\ny = \"tokens_per_iteration\"\nseries = \"alpha\"\n"),
             Catch::StartsWith("e.toml:5: figure.x: \"gama\"") && Catch::Contains("axis gamma"));
  CHECK(problems_of(base + "id = \"f\"\nx = \"gamma\"\ny = \"speedup\"\nseries = \"alpha\"\n") ==
        "e.toml:5: figure.y: speedup is not computed");
  CHECK_THAT(problems_of(base + "id = \"../f\"\nx = \"gamma\"\ny = \"tokens_per_iteration\"\nseries = \"alpha\"\n"),
             Catch::Contains("invalid id \"../f\""));
  CHECK(problems_of(base + "id = \"f\"\nx = \"gamma\"\ny = \"tokens_per_iteration\"\nseries = \"alpha\"\nwidth = "
                           "\"single_colum\"\n") == "e.toml:5: figure.width: unknown width \"single_colum\"");
}

TEST_CASE("a figure of one quantity against another names the axis along which its points are joined") {
  const std::string base =
      "[axes]\nalpha = [0.5, 0.6]\ngamma = [1, 2]\n[fixed]\nc = 0.1\n[[figure]]\nid = \"f\"\n"
      "x = \"tokens_per_iteration\"\ny = \"speedup\"\nseries = \"alpha\"\n";
  CHECK(problems_of(base + "along = \"gamma\"\n").empty());
  CHECK_THAT(problems_of(base), Catch::StartsWith("e.toml:7: figure.along: missing\ne.toml:7: figure.x: "));
  CHECK_THAT(problems_of(base + "along = \"gama\"\n"), Catch::Contains("figure.along: \"gama\" is not an axis"));
  std::string misspelt = base + "along = \"gamma\"\n";
  misspelt.replace(misspelt.find("tokens_per_iteration"), 20, "tokens_per_iteratio ");
  CHECK_THAT(problems_of(misspelt), Catch::Contains("figure.x: unknown quantity \"tokens_per_iteratio \""));
  std::string elsewhere = base + "along = \"gamma\"\n";
  elsewhere.replace(elsewhere.find("tokens_per_iteration"), 20, "latency_ms");
  CHECK_THAT(problems_of(elsewhere), Catch::Contains("figure.x: latency_ms is not computed"));
}

TEST_CASE("the resolved configuration is read back to the same configuration and hash") {
  const SweepConfig config = read(
      "[axes]\ngamma = [2, 1]\n\"process.a\" = [0.5, 0.25]\n[fixed]\nprocess = \"markov\"\n\"process.b\" = 0.1\nc = 1\n"
      "[simulation]\niterations = 100\nseed = 7\npath = \"reference\"\n");
  const SweepConfig again =
      read_sweep_config(inputs::parse_json_document(to_json(config).dump(2), "manifest.json"), "manifest.json");
  CHECK(to_json(again).dump() == to_json(config).dump());
  CHECK(config_hash(again) == config_hash(config));
  CHECK(config_hash(config).size() == 64);
}

TEST_CASE("the hash follows what determines the points: values, order of axes, seed, not figures or spelling") {
  const auto hash = [](const std::string& text) { return config_hash(read(text)); };
  const std::string plan = "[simulation]\niterations = 100\nseed = 7\n";
  const std::string reference = hash("[axes]\nalpha = [0.5, 0.6]\ngamma = [1, 2]\n" + plan);
  CHECK(reference ==
        hash("[axes]\nalpha = { from = 0.5, to = 0.6, step = 0.1 }\ngamma = [1, 2] # spelt otherwise\n" + plan));
  CHECK(reference == hash("[axes]\nalpha = [0.5, 0.6]\ngamma = [1, 2]\n[fixed]\nprocess = \"iid\"\n" + plan +
                          "[[figure]]\nid=\"f\"\nx=\"gamma\"\ny=\"per_token\"\nseries=\"alpha\"\n"));
  CHECK(reference != hash("[axes]\ngamma = [1, 2]\nalpha = [0.5, 0.6]\n" + plan));
  CHECK(reference != hash("[axes]\nalpha = [0.6, 0.5]\ngamma = [1, 2]\n" + plan));
  CHECK(reference != hash("[axes]\nalpha = [0.5, 0.6]\ngamma = [1, 2]\n[simulation]\niterations = 100\nseed = 8\n"));
  CHECK(reference != hash("[axes]\nalpha = [0.5, 0.6]\ngamma = [1, 2]\n[fixed]\nc = 0.1\n" + plan));
}

TEST_CASE("the shipped configurations are valid") {
  int configurations = 0;
  for (const auto& file : std::filesystem::directory_iterator(FOREDRAFT_SOURCE "/experiments/configs")) {
    if (file.path().extension() != ".toml") continue;
    CAPTURE(file.path().filename().string());
    CHECK_NOTHROW(load_sweep_config(file.path().string()));
    ++configurations;
  }
  CHECK(configurations >= 8);
  CHECK(point_count(load_sweep_config(FOREDRAFT_SOURCE "/experiments/configs/quickstart.toml")) == 180);
}

}  // namespace foredraft::experiments
