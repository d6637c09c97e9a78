// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "app/commands/commands.hpp"
#include "app/commands/engine_options.hpp"
#include "core/command_line.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::app {
namespace {

CommandSpec toy() {
  return {.name = "toy",
          .arguments = "FILE --out DIR",
          .summary = "A command for tests.",
          .options = {{"alpha", "A", "a number"}, {"out", "DIR", "a folder"}, {"json", "", "a switch"}},
          .min_positional = 1,
          .max_positional = 1,
          .examples = {"foredraft toy x"}};
}

/// All messages after reading alpha as a probability.
std::string problems_of(const std::vector<std::string>& arguments) {
  CommandLine line(toy(), arguments);
  line.real("alpha", 0.0, 1.0);
  return rejection([&] { line.done(); });
}

}  // namespace

TEST_CASE("only options declared as repeatable may be repeated") {
  CommandSpec repeatable = toy();
  repeatable.options.front().repeatable = true;
  CommandLine line(repeatable, {"x", "--alpha", "1", "--alpha=2"});
  CHECK_NOTHROW(line.done());
  CHECK(line.all("alpha") == std::vector<std::string>{"1", "2"});
  CHECK(line.all("out").empty());
  CHECK(problems_of({"x", "--alpha", "1", "--alpha=1"}).find("--alpha: given twice") != std::string::npos);
}

TEST_CASE("options, switches and arguments are distinguished, in any order and with =") {
  CommandLine line(toy(), {"--out=dir", "x.toml", "--json", "--alpha", "0.5"});
  CHECK(line.text("out") == "dir");
  CHECK(line.positional() == std::vector<std::string>{"x.toml"});
  CHECK(line.has("json"));
  CHECK(line.real("alpha", 0.0, 1.0) == 0.5);
  CHECK_NOTHROW(line.done());
}

TEST_CASE("an abbreviated option is unknown, not guessed") {
  CHECK(problems_of({"x", "--alph", "0.5"}) == "foredraft toy: --alph: unknown option");
}

TEST_CASE("an engine's option suggests ours, another unknown one those with its last word or the help") {
  const auto suggested = [](const std::string& option) {
    const CommandSpec predict = predict_command().spec;
    CommandLine line(predict, {option, "1"}, engine_options);
    try {
      line.done();
    } catch (const InputError& error) {
      const std::string text = error.what();
      return text.substr(text.find(" - ") + 3);
    }
    return std::string();
  };
  CHECK(suggested("--tensor-parallel-size") == "here it is --target-tp");
  CHECK(suggested("--speculative-config") == "here it is --draft MODEL --gamma N");
  CHECK(suggested("--tp") == "did you mean --target-tp, --draft-tp?");
  CHECK(suggested("--gama") == "did you mean --gamma?");
  CHECK(suggested("--zebra") == "foredraft predict --help lists all");
}

TEST_CASE("wrong values are rejected with the reason, and negative numbers are numbers") {
  CHECK(problems_of({"x", "--alpha", "1.5"}) == "foredraft toy: --alpha: invalid alpha=1.5");
  CHECK(problems_of({"x", "--alpha", "-1"}) == "foredraft toy: --alpha: invalid alpha=-1");
  for (const char* text : {"0.8x", "nan", "", "inf", " 0.8"}) {
    CAPTURE(text);
    CHECK_THAT(problems_of({"x", "--alpha", text}), Catch::StartsWith("foredraft toy: --alpha: invalid "));
  }
  CHECK(problems_of({"x", "--alpha", "0.5", "--alpha", "0.6"}) == "foredraft toy: --alpha: given twice");
}

TEST_CASE("several mistakes of a command line are reported together") {
  CHECK(problems_of({"x", "y", "--alpha", "2"}) ==
        "foredraft toy: y: unexpected argument\n"
        "foredraft toy: --alpha: invalid alpha=2");
  CHECK_THAT(problems_of({"--alpha"}), Catch::StartsWith("foredraft toy: "));
  CHECK_THAT(problems_of({}), Catch::Contains("an argument is missing"));
}

TEST_CASE("after an option that could not be read none is reported missing") {
  const auto problems = [](const std::vector<std::string>& arguments) {
    CommandLine line(toy(), arguments);
    line.require("out", "where it goes");
    return rejection([&] { line.done(); });
  };
  CHECK(problems({"x"}) == "foredraft toy: --out: missing");
  CHECK(problems({"x", "--uot", "dir"}) == "foredraft toy: --uot: unknown option");
  CHECK_THAT(problems({"x", "--out", "dir", "--json=yes"}), !Catch::Contains("missing"));
}

TEST_CASE("vectors of probabilities name their invalid entry") {
  CommandLine line(toy(), {"x", "--alpha", "0.9,0.8,1.7"});
  CHECK_FALSE(line.probabilities("alpha"));
  CHECK_THROWS_WITH(line.done(), Catch::Contains("invalid entry 3 \"1.7\""));
  CommandLine sound(toy(), {"x", "--alpha", "0.9,0.8"});
  CHECK(sound.probabilities("alpha") == std::vector<double>{0.9, 0.8});
  CommandLine trailing(toy(), {"x", "--alpha", "0.9,"});
  CHECK_FALSE(trailing.probabilities("alpha"));
}

TEST_CASE("every command explains its options and gives an example that names it") {
  for (const Command& command : command_registry()) {
    const CommandSpec& spec = command.spec;
    CAPTURE(spec.name);
    const std::string help = help_text(spec);
    CHECK(help.starts_with("usage: foredraft " + std::string(spec.name)));
    for (const OptionSpec& option : spec.options) CHECK_THAT(help, Catch::Contains("--" + std::string(option.name)));
    REQUIRE_FALSE(spec.examples.empty());
    for (const std::string_view example : spec.examples) {
      CHECK_THAT(std::string(example), Catch::StartsWith("foredraft " + std::string(spec.name)));
    }
  }
}

}  // namespace foredraft::app
