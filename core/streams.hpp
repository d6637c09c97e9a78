// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>
#include <string>
#include <string_view>
#include <utility>

#include "core/readable.hpp"

/// The only place that prints. stdout carries results, stderr talk: plans, progress, notes, errors.
namespace foredraft {

/// For the start of a program: opens /dev/null in place of a standard stream that is closed, so that no file of results
/// gets its number and with it what is meant for the stream; writing to it fails, as to a closed one. A pipe that
/// nobody reads becomes an error of the write instead of the end of the program.
void open_standard_streams();

/// Writes a result to stdout, at once; on a terminal that takes colors as terminal_text() shows it. Throws RunError
/// where it cannot be written.
void print_result(std::string_view text);

/// Says on stderr why a command failed, a line a problem; on a terminal that takes colors the place of each is red.
void say_error(std::string_view message);

/// A result in colors: its first line bold, labels and column heads dim. JSON and what else is for programs stays as it
/// is.
[[nodiscard]] std::string terminal_text(std::string_view text);

/// Writes to stderr, at once. What cannot be written is dropped: no run ends because of its talk.
void talk(std::string_view text) noexcept;

/// talk() of a message, as readable_message() of core/readable.hpp shows it.
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  talk(readable_message(fmt::format(format, std::forward<Args>(args)...)) + "\n");
}

/// Writes all bytes to an open file; false with errno on failure, when some may have been written.
[[nodiscard]] bool write_all(int descriptor, std::string_view bytes);

}  // namespace foredraft
