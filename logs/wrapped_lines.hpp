// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// What containers, journals and collectors put around each line of a log.
namespace foredraft::logs {

enum class Wrapping {
  none,
  prefix,  ///< "vllm-1  | ", times of docker and kubectl, journalctl, "> "
  json,    ///< {"log": "...", "stream": "stderr"}: docker's files, fluentd, exports of log stores
};

/// How nearly all lines of the beginning of a log are wrapped: some programs write without their container.
[[nodiscard]] Wrapping wrapping_of(std::string_view beginning);

/// Appends `line`, with its end if it has one, to `text` without what wraps it. One that is not wrapped stays as it is.
void append_unwrapped(Wrapping wrapping, std::string_view line, std::string& text);

}  // namespace foredraft::logs
