// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "logs/containers.hpp"
#include "logs/json_values.hpp"

/// Removes what containers, journals and collectors put around each line of a log.
namespace foredraft::logs {

/// How most lines of a log are wrapped; some programs bypass their container, and a post may quote only a part.
enum class Wrapping : std::uint8_t {
  none,
  prefix,  ///< "vllm-1  | ", times of docker and kubectl, journalctl, mpirun, Ray, "> ", "data: " of a stream
  number,  ///< of the line, or of srun's task
  margin,  ///< the blanks that each line begins with
  shape,   ///< a logger's or srun's, equal in each line except for digits; recognized at the rule of a console
  width,   ///< copied from a terminal that broke lines at its width
  quote,   ///< "> " before some of the lines of a post
  json,    ///< {"log": "...", "stream": "stderr"}: docker's files, fluentd, exports of log stores
};

/// Unwraps each line. Lines that a container runtime split over several records are joined.
class Unwrapper {
 public:
  /// The wrapping is determined from `beginning`, the first bytes of the log.
  explicit Unwrapper(std::string_view beginning);

  /// Appends `line`, with its end if it has one, to `text`. A line that is not wrapped does not change.
  void append(std::string_view line, std::string& text);

  /// The containers that wrote the lines.
  [[nodiscard]] const Containers& containers() const { return containers_; }

 private:
  void append_wrapped(std::string_view line, std::string& text);
  void append_part(std::string_view line, bool partial, std::string& text);

  Wrapping wrapping_ = Wrapping::none;
  Containers containers_ = {};
  std::string shape_ = {};      ///< of the prefix: 0 stands for digits
  std::size_t margin_ = 0;      ///< bytes
  bool services_ = false;       ///< a prefix may be a name without a number
  std::size_t width_ = 0;       ///< bytes of a line that continues in the next one
  bool ends_are_kept_ = false;  ///< wrapped lines have line ends, unless they continue
  std::string owed_ = {};       ///< line ends of parts, which follow the whole line: line numbers stay correct
};

/// The texts in a document, such as an answer of a log store or a notebook, each with a line end: first only those of
/// messages, then all.
[[nodiscard]] std::array<std::string, 2> wrapped_texts(const JsonValue& document);

}  // namespace foredraft::logs
