// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/stop.hpp"
#include "logs/observations_file.hpp"

/// Logs as files: plain or gzip, of any length, in constant memory.
namespace foredraft::experiments {

/// Told how many bytes of the files were read since the last call.
using BytesRead = std::function<void(std::uint64_t bytes)>;

/// Reads logs, each with the digest of its bytes. `paths`: "-" is standard input; `format`: as LogReader takes it.
/// Throws InputError with the problems of all files: one that cannot be read or holds no log, two that hold the same
/// bytes. Throws Interrupted.
[[nodiscard]] std::vector<logs::ObservedLog> read_logs(std::span<const std::string> paths, std::string_view format,
                                                       StopToken stop = {}, const BytesRead& progress = {});

}  // namespace foredraft::experiments
