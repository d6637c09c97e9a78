// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "latency/profile/profile.hpp"

/// The machine that measures a profile.
namespace foredraft::gpu_bench {

/// The processor's name in /proc/cpuinfo below `root`; empty if there is none.
[[nodiscard]] std::string host_cpu_name(const std::string& root = "");

/// "Linux 6.1.0 x86_64".
[[nodiscard]] std::string operating_system();

/// "2026-11-22T01:02:03Z".
[[nodiscard]] std::string date_utc();

/// Seconds of a steady clock.
[[nodiscard]] double steady_now_s();

/// `amount` (bytes, flop) per second of a row's time, with the interval and the row as its origin. The row must have
/// samples.
[[nodiscard]] latency::Figure rate_figure(const latency::KernelRow& row, double amount);

}  // namespace foredraft::gpu_bench
