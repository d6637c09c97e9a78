// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/command_line.hpp"
#include "core/parallel.hpp"
#include "logs/observations_file.hpp"

/// The commands of the program: one file each, one visible list.
namespace foredraft::experiments {

struct Command {
  CommandSpec (*spec)();
  /// Returns an exit code. Throws InputError (2), RunError (1), Interrupted (130).
  int (*run)(const std::vector<std::string>& arguments);
};

/// In the order of the help text.
[[nodiscard]] const std::vector<Command>& command_registry();

/// The whole program: `arguments` without the program's name.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments);

CommandSpec predict_spec();
int run_predict(const std::vector<std::string>& arguments);
CommandSpec simulate_spec();
int run_simulate(const std::vector<std::string>& arguments);
CommandSpec sweep_spec();
int run_sweep_command(const std::vector<std::string>& arguments);
CommandSpec merge_spec();
int run_merge(const std::vector<std::string>& arguments);
CommandSpec check_spec();
int run_check(const std::vector<std::string>& arguments);
CommandSpec reproduce_spec();
int run_reproduce(const std::vector<std::string>& arguments);
CommandSpec tree_spec();
int run_tree(const std::vector<std::string>& arguments);
CommandSpec calibrate_spec();
int run_calibrate(const std::vector<std::string>& arguments);
CommandSpec validate_spec();
int run_validate(const std::vector<std::string>& arguments);
CommandSpec advise_spec();
int run_advise(const std::vector<std::string>& arguments);

/// What the command prints with --json and without.
struct AdviceDocuments {
  std::string json, text;
};

/// The answer of `advise` to these arguments, printed and written nowhere. Throws as run_advise does.
[[nodiscard]] AdviceDocuments advice_documents(const std::vector<std::string>& arguments, StopToken stop);

/// read_logs() with its progress on stderr; ends at an interrupt.
[[nodiscard]] std::vector<logs::ObservedLog> read_logs_with_progress(const std::vector<std::string>& paths,
                                                                     std::string_view format);

CommandSpec import_spec();
int run_import(const std::vector<std::string>& arguments);
CommandSpec compare_spec();
int run_compare(const std::vector<std::string>& arguments);
CommandSpec plot_spec();
int run_plot(const std::vector<std::string>& arguments);
CommandSpec list_spec();
int run_list(const std::vector<std::string>& arguments);
CommandSpec help_spec();
int run_help(const std::vector<std::string>& arguments);
CommandSpec completion_spec();
int run_completion(const std::vector<std::string>& arguments);

}  // namespace foredraft::experiments
