// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "latency/profile/profile.hpp"

/// samples.csv: a line for each row of a profile with every sample that counts, in the order in which they were taken;
/// " again" behind a name: of the A/A run. The last line of a name is the one that its row was made of.
namespace foredraft::gpu_bench {

/// Appends `what` and its times, to five digits; the names of the columns come before the first line.
void append_samples(std::string& table, std::string_view what, const std::vector<double>& samples_us);

/// "project rows 1 outputs 64 inputs 32 fp16 cold graph": a kernel's row in samples.csv, as to_text names a step's.
[[nodiscard]] std::string to_text(const latency::KernelRow& row);

/// How profile.json tells these bytes from others.
[[nodiscard]] latency::RawSamples raw_samples_of(std::string_view table);

}  // namespace foredraft::gpu_bench
