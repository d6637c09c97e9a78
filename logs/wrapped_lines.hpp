// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "logs/json_values.hpp"

/// What containers, journals and collectors put around each line of a log.
namespace foredraft::logs {

/// How nearly all lines of a log are wrapped: some programs write without their container, and a post quotes a part.
enum class Wrapping : std::uint8_t {
  none,
  prefix,  ///< "vllm-1  | ", times of docker and kubectl, journalctl, "> ", "data: " of a stream
  shape,   ///< one of a logger or of srun, the same in each line but for its digits: told by the rule of a console
  width,   ///< cut at the width of a terminal, whose text was copied
  quote,   ///< "> " before some of the lines of a post
  json,    ///< {"log": "...", "stream": "stderr"}: docker's files, fluentd, exports of log stores
};

/// Takes off what is around each line. Lines that a container runtime split over several records are put together.
class Unwrapper {
 public:
  /// `beginning` of the log tells how.
  explicit Unwrapper(std::string_view beginning);

  [[nodiscard]] Wrapping wrapping() const { return wrapping_; }

  /// Appends `line`, with its end if it has one, to `text`. One that is not wrapped stays as it is.
  void append(std::string_view line, std::string& text);

 private:
  void append_part(std::string_view line, bool partial, std::string& text);

  Wrapping wrapping_ = Wrapping::none;
  std::string shape_ = {};      ///< of the prefix: 0 for one or more digits
  std::size_t width_ = 0;       ///< bytes of a line that goes on in the next one
  bool ends_are_kept_ = false;  ///< wrapped lines have their ends, unless they go on
  std::string owed_ = {};       ///< ends of the records whose lines go on: they keep the line numbers
};

/// The texts in a document, each with the end of its line: those of messages first, then all. Of an answer of a log
/// store or the outputs of a notebook.
[[nodiscard]] std::array<std::string, 2> wrapped_texts(const JsonValue& document);

}  // namespace foredraft::logs
