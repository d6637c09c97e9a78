// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>
#include <string>
#include <string_view>
#include <utility>

#include "core/readable.hpp"

/// The only place that prints. Results go to stdout; plans, progress, notes and errors to stderr.
namespace foredraft {

/// Call at the start of a program. Opens /dev/null for each closed standard stream, so that no results file gets its
/// descriptor and its output; writing to it still fails. Writing to a pipe without a reader becomes an error instead of
/// ending the program.
void open_standard_streams();

/// Writes a result to stdout without buffering; on a color terminal formatted by terminal_text(). Throws RunError if it
/// cannot be written.
void print_result(std::string_view text);

/// Writes an error to stderr, one line per problem. On a color terminal the location of each problem is red.
void say_error(std::string_view message);

/// A result with terminal formatting: first line bold, labels dim. JSON, Markdown and single lines are unchanged.
[[nodiscard]] std::string terminal_text(std::string_view text);

/// Writes to stderr without buffering. Never fails; text that cannot be written is dropped.
void talk(std::string_view text) noexcept;

/// Writes a message to stderr, formatted by readable_message().
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  talk(readable_message(fmt::format(format, std::forward<Args>(args)...)) + "\n");
}

/// Writes all bytes to an open file. Returns false with errno set on failure; some bytes may have been written.
[[nodiscard]] bool write_all(int descriptor, std::string_view bytes);

}  // namespace foredraft
