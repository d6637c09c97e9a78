// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/command_line.hpp"

/// What shells and `man` show of the commands, made from the same tables as --help.
namespace foredraft::experiments {

/// The text of `foredraft help`.
[[nodiscard]] std::string program_help(const std::vector<CommandSpec>& commands);

/// The manual page foredraft(1), as roff.
[[nodiscard]] std::string manual_page(const std::vector<CommandSpec>& commands, std::string_view version);

/// The shells that completion_script() knows.
[[nodiscard]] std::vector<std::string> completed_shells();

/// What a shell reads to complete command lines: it asks `foredraft completion --words` at each. Throws InputError for
/// an unknown shell.
[[nodiscard]] std::string completion_script(std::string_view shell);

/// What may stand in place of the last of `words`, which may be empty or begun; the words before it follow the
/// program's name. In the order of the tables. Empty where nothing or anything, such as a file, may stand.
[[nodiscard]] std::vector<std::string> completions(const std::vector<CommandSpec>& commands,
                                                   std::vector<std::string> words);

}  // namespace foredraft::experiments
