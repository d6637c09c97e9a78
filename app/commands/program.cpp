// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/commands/commands.hpp"
#include "app/commands/engine_options.hpp"
#include "core/problems.hpp"
#include "core/progress.hpp"
#include "core/readable.hpp"
#include "core/streams.hpp"
#include "core/table.hpp"
#include "experiments/results/manifest.hpp"
#include "foredraft/errors.hpp"
#include "sim/process/kernels.hpp"

namespace foredraft::app {
namespace {

std::vector<CommandSpec> command_specs() {
  std::vector<CommandSpec> specs;
  for (const Command& command : command_registry()) specs.push_back(command.spec);
  return specs;
}

std::vector<std::string> command_names() { return texts_of(command_specs(), &CommandSpec::name); }

const Command& find_command(const std::string& name) {
  for (const Command& command : command_registry()) {
    if (command.spec.name == name) return command;
  }
  ProblemList problems("foredraft");
  problems.add({.key = name, .text = "unknown command", .suggestion = suggestion_for(name, command_names())});
  throw InputError(problems.text());
}

/// Whether stdout must hold one JSON document.
bool asks_json(const std::vector<std::string>& arguments) {
  const auto end = std::ranges::find(arguments, "--");
  return std::find(arguments.begin(), end, "--json") != end;
}

/// Prints the error of a command to stderr, and with --json also as a document to stdout.
ExitCode end_with(ExitCode code, const std::string& message, const std::vector<std::string>& arguments) {
  say_error(message);
  if (!asks_json(arguments)) return code;
  const nlohmann::ordered_json document{
      {"schema", "foredraft.error/1"}, {"exit_code", static_cast<int>(code)}, {"error", readable_message(message)}};
  try {
    print_result(experiments::document_text(document));
  } catch (const RunError&) {  // stdout is closed
  }
  return code;
}

int run_help(CommandLine& line) {
  const bool one = !line.positional().empty();
  if (one)
    line.reject_any({"man"}, "mutually exclusive with a command", "the manual page holds all of them", "remove one");
  line.done();
  if (one) {
    print_result(help_text(find_command(line.positional().front()).spec));
  } else if (line.has("man")) {
    print_result(manual_page(command_specs(), experiments::build_info().version));
  } else {
    print_result(program_help(command_specs()));
  }
  return exit_done;
}

int run_completion(CommandLine& line) {
  line.done();
  if (line.has("words")) {
    for (const std::string& word : completions(command_specs(), line.positional())) print_result(word + "\n");
    return exit_done;
  }
  if (line.positional().size() != 1) {
    throw InputError(fmt::format("foredraft completion: name one shell - {}", fmt::join(completed_shells(), ", ")));
  }
  print_result(completion_script(line.positional().front()));
  return exit_done;
}

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    talk(program_help(command_specs()));
    return exit_bad_input;
  }
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h") {
    print_result(program_help(command_specs()));
    return exit_done;
  }
  if (name == "--version" || name == "-v") {
    const experiments::BuildInfo build = experiments::build_info();
    print_result(fmt::format("foredraft {} (commit {}, changes {}; {}, {})\n", build.version, build.commit,
                             build.changes, build.compiler, build.build_type));
    return exit_done;
  }
  const Command& command = find_command(name);
  CommandLine line(command.spec, {arguments.begin() + 1, arguments.end()}, engine_options);
  if (!line.wants_help()) return command.run(line);
  print_result(help_text(command.spec));
  return exit_done;
}

}  // namespace

Command help_command() {
  return {{.name = "help",
           .arguments = "[COMMAND] [--man]",
           .summary = "Explains a command, or lists the commands.",
           .options = {{"man", "", "the manual page of all commands, as roff"}},
           .min_positional = 0,
           .max_positional = 1,
           .examples = {"foredraft help predict", "foredraft help --man > foredraft.1"},
           .words = command_names},
          run_help};
}

Command completion_command() {
  return {{.name = "completion",
           .arguments = "bash|zsh|fish",
           .summary = "Prints a shell script that completes foredraft's commands, options and their values.",
           .options = {{"words", "", "used by that script: `-- WORD...` prints the candidates for the last word"}},
           .min_positional = 0,
           .max_positional = std::numeric_limits<std::size_t>::max(),
           .examples = {"foredraft completion bash > ~/.local/share/bash-completion/completions/foredraft"},
           .words = completed_shells},
          run_completion};
}

int run_program(const std::vector<std::string>& arguments) {
  try {
    leave_at_interrupts();
    sim::select_instruction_set_from_environment();
    return dispatch(arguments);
  } catch (const InputError& error) {
    return end_with(exit_bad_input, error.what(), arguments);
  } catch (const DomainError& error) {
    return end_with(exit_bad_input, fmt::format("foredraft: {}", error.what()), arguments);
  } catch (const std::filesystem::filesystem_error& error) {
    return end_with(exit_bad_input,
                    fmt::format("{}: cannot be used ({})", readable(error.path1().string()), error.code().message()),
                    arguments);
  } catch (const Interrupted&) {
    say_interrupted();
    return exit_interrupted;
  } catch (const RunError& error) {
    return end_with(exit_failed, error.what(), arguments);
  } catch (const std::exception& error) {
    return end_with(exit_failed, fmt::format("foredraft: {}", error.what()), arguments);
  }
}

}  // namespace foredraft::app
