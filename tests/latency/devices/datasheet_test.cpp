// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "latency/profile/profile_json.hpp"

namespace foredraft::latency {
namespace {

namespace fs = std::filesystem;

const fs::path datasheets = FOREDRAFT_SOURCE "/latency/devices";

std::vector<std::string> datasheet_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(datasheets)) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Profile datasheet(const std::string& name) { return read_profile((datasheets / (name + ".json")).string()); }

/// Printed figures have three digits or more.
constexpr double printed_rounding = 0.005;

}  // namespace

TEST_CASE("every data sheet is a profile in the form that would be written") {
  CHECK(datasheet_names() ==
        std::vector<std::string>{"a100-80gb", "a40", "h100", "h200", "p100", "rtx3090", "rtx4090", "v100"});
  for (const std::string& name : datasheet_names()) {
    CAPTURE(name);
    const Profile profile = datasheet(name);
    CHECK(profile.source == Source::datasheet);
    CHECK(profile.complete());
    CHECK(profile.device.memory_bytes.value);
    CHECK(profile.limits.memory_bandwidth_bytes_per_s.value);
    CHECK(profile.limits.matrix_peak_fp16_flop_per_s.value);
    CHECK(profile.limits.matrix_peak_fp32_flop_per_s.value);
    CHECK_FALSE(profile.limits.copy_bandwidth_bytes_per_s.value);  // nobody prints what can be reached
    CHECK_FALSE(profile.limits.graph_node_us.value);
    std::ifstream file(datasheets / (name + ".json"));
    std::ostringstream text;
    text << file.rdbuf();
    CHECK(to_json(profile) == text.str());
  }
}

TEST_CASE("printed matrix peaks are multiprocessors times operations a clock times the boost clock") {
  // Operations a multiprocessor and clock with sums in fp32: matrix units times multiply-adds of each [architecture
  // white papers]; without matrix units (6.0) two half-precision multiply-adds in each of 64 cores.
  const std::map<std::string, double> fp16_a_clock{
      {"p100", 64 * 2 * 2},  {"v100", 8 * 64 * 2}, {"a100-80gb", 4 * 256 * 2}, {"h100", 4 * 512 * 2},
      {"h200", 4 * 512 * 2}, {"a40", 4 * 128 * 2}, {"rtx3090", 4 * 64 * 2},    {"rtx4090", 4 * 64 * 2}};
  const std::map<std::string, double> fp32_a_clock{{"p100", 64 * 2}, {"v100", 64 * 2},     {"a100-80gb", 64 * 2},
                                                   {"a40", 128 * 2}, {"rtx3090", 128 * 2}, {"rtx4090", 128 * 2}};
  const auto expected = [](const Profile& profile, double operations) {
    return profile.device.multiprocessors.value.value() * operations * 1e6 *
           profile.device.boost_clock_mhz.value.value();
  };
  for (const auto& [name, operations] : fp16_a_clock) {
    CAPTURE(name);
    const Profile profile = datasheet(name);
    CHECK(profile.limits.matrix_peak_fp16_flop_per_s.value.value() ==
          Approx(expected(profile, operations)).epsilon(printed_rounding));
  }
  for (const auto& [name, operations] : fp32_a_clock) {
    CAPTURE(name);
    const Profile profile = datasheet(name);
    CHECK(profile.limits.matrix_peak_fp32_flop_per_s.value.value() ==
          Approx(expected(profile, operations)).epsilon(printed_rounding));
  }
}

TEST_CASE("printed bandwidths are twice the memory clock times the bus, where the clock is known") {
  std::vector<std::string> checked;
  for (const std::string& name : datasheet_names()) {
    CAPTURE(name);
    const Profile profile = datasheet(name);
    if (!profile.device.memory_clock_mhz.value) continue;
    checked.push_back(name);
    const double bytes_a_clock = 2.0 * profile.device.memory_bus_bits.value.value() / 8.0;
    CHECK(profile.limits.memory_bandwidth_bytes_per_s.value.value() ==
          Approx(bytes_a_clock * 1e6 * profile.device.memory_clock_mhz.value.value()).epsilon(printed_rounding));
  }
  CHECK(checked == std::vector<std::string>{"a100-80gb", "h100", "p100", "v100"});
}

TEST_CASE("bf16 runs as fast as fp16 and tf32 half as fast, where they exist") {
  for (const std::string& name : datasheet_names()) {
    CAPTURE(name);
    const Limits limits = datasheet(name).limits;
    const bool since_2020 = name != "p100" && name != "v100";
    CHECK(limits.matrix_peak_bf16_flop_per_s.value.has_value() == since_2020);
    CHECK(limits.matrix_peak_tf32_flop_per_s.value.has_value() == since_2020);
    if (!since_2020) continue;
    const double fp16 = limits.matrix_peak_fp16_flop_per_s.value.value();
    CHECK(limits.matrix_peak_bf16_flop_per_s.value.value() == fp16);
    CHECK(limits.matrix_peak_tf32_flop_per_s.value.value() == Approx(fp16 / 2.0).epsilon(printed_rounding));
  }
}

}  // namespace foredraft::latency
