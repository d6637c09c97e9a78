// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// Who makes a profile, whatever the device.
namespace foredraft::gpu_bench {

/// As /proc/cpuinfo below `root` names it; empty where it does not.
[[nodiscard]] std::string host_cpu_name(const std::string& root = "");

/// "Linux 6.1.0 x86_64".
[[nodiscard]] std::string operating_system();

/// "2026-11-22T01:02:03Z".
[[nodiscard]] std::string date_utc();

/// Seconds of a steady clock.
[[nodiscard]] double steady_now_s();

}  // namespace foredraft::gpu_bench
