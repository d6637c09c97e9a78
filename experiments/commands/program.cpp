// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/problems.hpp"
#include "core/readable.hpp"
#include "core/streams.hpp"
#include "experiments/cli/progress.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/results/build_info.hpp"
#include "experiments/results/manifest.hpp"
#include "experiments/sweep/run_points.hpp"
#include "foredraft/errors.hpp"
#include "sim/process/kernels.hpp"

namespace foredraft::experiments {
namespace {

std::string program_help() {
  std::string text =
      "foredraft: what speculative decoding will do, by closed form and by simulation\n\n"
      "usage: foredraft COMMAND [options]\n\ncommands\n";
  for (const Command& command : command_registry()) {
    const CommandSpec spec = command.spec();
    text += fmt::format("  {:<10} {}\n", spec.name, spec.summary);
  }
  return text +
         "\nforedraft COMMAND --help explains one. --version prints the version.\n"
         "exit codes: 0 done; 1 a check or the run failed; 2 bad usage or bad input, nothing written;\n"
         "            130 interrupted, the same command resumes\n\n"
         "examples\n"
         "  foredraft predict --alpha 0.8 --gamma 5 --c 0.05\n"
         "  foredraft sweep experiments/configs/quickstart.toml --out results/quickstart\n";
}

[[noreturn]] void refuse_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : command_registry()) names.emplace_back(command.spec().name);
  ProblemList problems("foredraft");
  problems.add({.key = name, .text = "unknown command", .suggestion = suggestion_for(name, names)});
  throw InputError(problems.text());
}

/// Whether stdout is to hold one JSON document.
bool asks_json(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::find(arguments.begin(), end, "--json") != end;
}

/// Says on stderr why a command ended, and beside --json as a document on stdout too.
ExitCode end_with(ExitCode code, const std::string& message, const std::vector<std::string>& arguments) {
  say("{}", message);
  if (!asks_json(arguments)) return code;
  const nlohmann::ordered_json document{
      {"schema", "foredraft.error/1"}, {"exit_code", static_cast<int>(code)}, {"error", readable_message(message)}};
  try {
    print_result(document_text(document));
  } catch (const RunError&) {  // nobody reads stdout
  }
  return code;
}

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    talk(program_help());
    return exit_bad_input;
  }
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    print_result(program_help());
    return exit_done;
  }
  if (name == "--version") {
    const BuildInfo build = build_info();
    print_result(fmt::format("foredraft {} (commit {}, changes {}; {}, {})\n", build.version, build.commit,
                             build.changes, build.compiler, build.build_type));
    return exit_done;
  }
  for (const Command& command : command_registry()) {
    if (command.spec().name == name) return command.run({arguments.begin() + 1, arguments.end()});
  }
  refuse_command(name);
}

}  // namespace

const std::vector<Command>& command_registry() {
  static const std::vector<Command> commands{
      {predict_spec, run_predict}, {simulate_spec, run_simulate},   {sweep_spec, run_sweep_command},
      {merge_spec, run_merge},     {check_spec, run_check},         {reproduce_spec, run_reproduce},
      {tree_spec, run_tree},       {calibrate_spec, run_calibrate}, {validate_spec, run_validate},
      {import_spec, run_import},   {advise_spec, run_advise},       {compare_spec, run_compare},
      {plot_spec, run_plot},       {list_spec, run_list},
  };
  return commands;
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

}  // namespace foredraft::experiments
