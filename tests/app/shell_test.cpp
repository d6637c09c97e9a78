// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch.hpp>
#include <sstream>

#include "app/commands/commands.hpp"
#include "core/readable.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_program.hpp"

namespace foredraft::app {
namespace {

using Candidates = std::vector<std::string>;

std::vector<CommandSpec> all_commands() {
  std::vector<CommandSpec> specs;
  for (const Command& command : command_registry()) specs.push_back(command.spec);
  return specs;
}

Candidates completed(const Candidates& words) { return completions(all_commands(), words); }

bool contains(const Candidates& candidates, const std::string& word) {
  return std::find(candidates.begin(), candidates.end(), word) != candidates.end();
}

}  // namespace

TEST_CASE("help of every command fits 100 columns, and so does that of the program") {
  std::vector<std::string> texts{program_help(all_commands())};
  for (const CommandSpec& command : all_commands()) texts.push_back(help_text(command));
  for (const std::string& text : texts) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      CHECK(line.size() <= text_columns);
    }
  }
}

TEST_CASE("the shell completes commands, options, values of options and arguments") {
  CHECK(completed({"re"}) == Candidates{"reproduce"});
  CHECK(completed({}).size() == command_registry().size());
  CHECK(completed({"help", "com"}) == Candidates{"compare", "completion"});
  CHECK(completed({"--v"}) == Candidates{"--version"});
  CHECK(completed({"predict", "--alp"}) == Candidates{"--alpha"});
  CHECK(completed({"predict", "--process", "beta"}) == Candidates{"beta_mixture"});
  CHECK(completed({"predict", "--process", "=", "mark"}) == Candidates{"markov"});  // as bash splits it
  CHECK(contains(completed({"predict", "--process", "="}), "iid"));
  CHECK(contains(completed({"predict", "--device", ""}), "h100"));
  CHECK(contains(completed({"advise", "vllm.log", "--for", "v"}), "vllm"));
  CHECK(completed({"list", "met"}) == Candidates{"methods", "metrics"});
  CHECK(contains(completed({"reproduce", "leviathan-t"}), "leviathan-table1"));
}

TEST_CASE("given options are not offered again unless repeatable, and files are left to the shell") {
  CHECK_FALSE(contains(completed({"predict", "--alpha", "0.8", "--"}), "--alpha"));
  CHECK(contains(completed({"compare", "a.log", "--require", "speedup>=1", "--"}), "--require"));
  CHECK(completed({"sweep", ""}).empty());
  CHECK(completed({"sweep", "a.toml", "--out", ""}).empty());
  CHECK(completed({"no such command", ""}).empty());
}

TEST_CASE("scripts of all shells call the program, which prints one candidate per line") {
  for (const std::string& shell : completed_shells()) {
    CHECK_THAT(completion_script(shell), Catch::Contains("completion --words -- "));
  }
  CHECK_THROWS_MATCHES(completion_script("bsh"), InputError, Says("foredraft completion: bsh: unknown shell"));
  const tests::TemporaryFolder folder;
  CHECK(tests::foredraft(folder, "completion --words -- help pl").out == "plot\n");
  CHECK(tests::foredraft(folder, "completion --words -- predict --alpha=0.8 --gam").out == "--gamma\n");
  CHECK(tests::foredraft(folder, "completion").code == 2);
}

TEST_CASE("bash completes with the script") {
  const tests::TemporaryFolder folder;
  const std::string script =
      "source s; COMP_WORDS=(foredraft predict --poli); COMP_CWORD=2; _foredraft " FOREDRAFT_PROGRAM
      "; echo \"${COMPREPLY[@]}\"";
  const tests::Outcome outcome = tests::foredraft(folder, "completion bash > s; bash -c '" + script + "'");
  CHECK(outcome.out == "--policy\n");
}

TEST_CASE("the manual page has every command and option, and no line that roff would misread") {
  const std::string page = manual_page(all_commands(), "1.2.3");
  CHECK_THAT(page, Catch::StartsWith(".TH FOREDRAFT 1 \"\" \"foredraft 1.2.3\""));
  for (const CommandSpec& command : all_commands()) {
    CAPTURE(command.name);
    CHECK_THAT(page, Catch::Contains(".SS " + std::string(command.name) + "\n"));
    for (const OptionSpec& option : all_options(command)) {
      std::string name(option.name);
      for (std::size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2) name.insert(at, 1, '\\');
      CHECK_THAT(page, Catch::Contains("\\fB\\-\\-" + name + "\\fR"));
    }
  }
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK_FALSE(line.starts_with("'"));
    if (line.starts_with(".")) CHECK_THAT(line, Catch::Matches("\\.(TH|SH|SS|PP|TP|nf|fi)( .*)?"));
  }
}

TEST_CASE("the help of a command is the same however it is requested") {
  const tests::TemporaryFolder folder;
  const std::string help = tests::foredraft(folder, "help merge").out;
  CHECK_THAT(help, Catch::StartsWith("usage: foredraft merge"));
  CHECK(tests::foredraft(folder, "merge --help").out == help);
  CHECK(tests::foredraft(folder, "merge -h").out == help);
  CHECK(tests::foredraft(folder, "-v").out == tests::foredraft(folder, "--version").out);
  CHECK(tests::foredraft(folder, "help marge").err == "foredraft: marge: unknown command - did you mean merge?\n");
}

}  // namespace foredraft::app
