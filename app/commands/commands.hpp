// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/command_line.hpp"
#include "inputs/observed_acceptance.hpp"
#include "logs/observations_file.hpp"

/// The commands of the program in one visible list.
namespace foredraft::app {

struct Command {
  CommandSpec spec;
  /// Returns an exit code. Throws InputError (2), RunError (1), Interrupted (130).
  int (*run)(CommandLine& line);
};

Command predict_command();
Command simulate_command();
Command sweep_command();
Command merge_command();
Command check_command();
Command reproduce_command();
Command tree_command();
Command methods_command();
Command calibrate_command();
Command validate_command();
Command import_command();
Command advise_command();
Command compare_command();
Command plot_command();
Command list_command();
Command page_command();
Command help_command();
Command completion_command();

/// All commands in the order of the help text (registry.cpp; those of the page: page/registry.cpp).
[[nodiscard]] const std::vector<Command>& command_registry();

/// The whole program: `arguments` without the program's name.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments);

// ---- Completion for shells and the manual page, from the same tables as --help (shell.cpp).

/// The text of `foredraft help`.
[[nodiscard]] std::string program_help(const std::vector<CommandSpec>& commands);

/// The manual page foredraft(1), as roff.
[[nodiscard]] std::string manual_page(const std::vector<CommandSpec>& commands, std::string_view version);

/// The shells that completion_script() knows.
[[nodiscard]] std::vector<std::string> completed_shells();

/// A script for a shell that completes command lines with `foredraft completion --words`. Throws InputError for an
/// unknown shell.
[[nodiscard]] std::string completion_script(std::string_view shell);

/// The candidates for the last of `words`, which may be empty or incomplete. `words` follow the name of the program.
/// The candidates are in the order of the tables. Empty if no word is valid there, or any text, such as a file name.
[[nodiscard]] std::vector<std::string> completions(const std::vector<CommandSpec>& commands,
                                                   std::vector<std::string> words);

// ---- Parts of commands.

/// What `foredraft list NAME --json` prints: schema foredraft.list/1. Throws InputError for an unknown name.
[[nodiscard]] nlohmann::ordered_json list_document(const std::string& name);

/// The page that the program was built with, as one HTML document (docs/page.md). Without a page, throws RunError with
/// instructions to build it.
[[nodiscard]] std::string_view page_text();

/// read_logs() with progress on stderr. Throws Interrupted.
[[nodiscard]] std::vector<logs::ObservedLog> read_logs_with_progress(const std::vector<std::string>& paths,
                                                                     std::string_view format,
                                                                     inputs::OtherFiles others);

}  // namespace foredraft::app
