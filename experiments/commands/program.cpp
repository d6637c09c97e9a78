// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <filesystem>

#include "core/problems.hpp"
#include "core/readable.hpp"
#include "core/streams.hpp"
#include "experiments/cli/exit_codes.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/results/build_info.hpp"
#include "experiments/sweep/run_points.hpp"
#include "foredraft/errors.hpp"
#include "sim/process/instruction_set.hpp"

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

int unknown_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : command_registry()) names.emplace_back(command.spec().name);
  ProblemList problems("foredraft");
  problems.add({.key = name, .text = "unknown command", .suggestion = suggestion_for(name, names)});
  say("{}", problems.text());
  return exit_bad_input;
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
  return unknown_command(name);
}

}  // namespace

const std::vector<Command>& command_registry() {
  static const std::vector<Command> commands{
      {predict_spec, run_predict}, {simulate_spec, run_simulate},   {sweep_spec, run_sweep_command},
      {merge_spec, run_merge},     {check_spec, run_check},         {reproduce_spec, run_reproduce},
      {tree_spec, run_tree},       {calibrate_spec, run_calibrate}, {validate_spec, run_validate},
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
    say("{}", error.what());
    return exit_bad_input;
  } catch (const DomainError& error) {
    say("foredraft: {}", error.what());
    return exit_bad_input;
  } catch (const std::filesystem::filesystem_error& error) {
    say("{}: cannot be used ({})", readable(error.path1().string()), error.code().message());
    return exit_bad_input;
  } catch (const Interrupted&) {
    say("interrupted: what was written is safe; the same command resumes a sweep, and starts anything else again");
    return exit_interrupted;
  } catch (const RunError& error) {
    say("{}", error.what());
    return exit_failed;
  } catch (const std::exception& error) {
    say("foredraft: {}", error.what());
    return exit_failed;
  }
}

}  // namespace foredraft::experiments
