// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "latency/profile/profile.hpp"

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

/// `amount` (bytes, flop) over the time of a row, a second, with the interval and the row as its origin. The row has
/// samples.
[[nodiscard]] latency::Figure rate_figure(const latency::KernelRow& row, double amount);

}  // namespace foredraft::gpu_bench
