// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>
#include <string>
#include <string_view>
#include <utility>

#include "core/readable.hpp"

/// The only place that prints. stdout carries results; stderr carries plans, progress, notes and errors.
namespace foredraft {

/// Call at the start of a program. Opens /dev/null in place of a closed standard stream, so that no results file gets
/// its descriptor and thus its output; writing to it fails, as to a closed stream. Writing to a pipe without a reader
/// becomes an error instead of ending the program.
void open_standard_streams();

/// Writes a result to stdout, at once; on a terminal that takes colors as terminal_text() shows it. Throws RunError
/// where it cannot be written.
void print_result(std::string_view text);

/// Writes an error to stderr, one line per problem. On a terminal that takes colors the place of each is red.
void say_error(std::string_view message);

/// A result in colors: its first line bold, labels dim. JSON, Markdown and single lines stay as they are.
[[nodiscard]] std::string terminal_text(std::string_view text);

/// Writes to stderr, at once. Never fails: text that cannot be written is dropped.
void talk(std::string_view text) noexcept;

/// Writes a message to stderr, as readable_message() of core/readable.hpp shows it.
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  talk(readable_message(fmt::format(format, std::forward<Args>(args)...)) + "\n");
}

/// Writes all bytes to an open file. Returns false with errno set on failure; some bytes may have been written.
[[nodiscard]] bool write_all(int descriptor, std::string_view bytes);

}  // namespace foredraft
