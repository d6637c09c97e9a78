// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "latency/devices/device_registry.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::latency {
namespace {

const Profile& datasheet(const std::string& name) { return find_device(name)->profile; }

/// Printed figures have three digits or more.
constexpr double printed_rounding = 0.005;
/// NVIDIA prints 362.05 TFLOP/s of the L40S, whose units at its boost clock make 366.4.
constexpr double printed_below_boost = 0.013;

}  // namespace

TEST_CASE("every data sheet says memory, bandwidth and peaks, each with its source") {
  std::vector<std::string> names;
  for (const DeviceSheet& sheet : device_registry()) {
    CAPTURE(sheet.name);
    names.push_back(sheet.name);
    const Profile& profile = sheet.profile;
    CHECK(profile.source == Source::datasheet);
    CHECK(profile.complete());
    CHECK(profile.device.memory_bytes.value);
    CHECK(profile.limits.memory_bandwidth_bytes_per_s.value);
    CHECK(profile.limits.matrix_peak_fp16_flop_per_s.value);
    CHECK(profile.limits.matrix_peak_fp32_flop_per_s.value.has_value() == (sheet.name != "rtx-pro-6000"));
    CHECK_FALSE(profile.limits.copy_bandwidth_bytes_per_s.value);  // nobody prints what can be reached
    CHECK_FALSE(profile.limits.graph_node_us.value);
    CHECK(profile.limits.link_bandwidth_bytes_per_s.value.has_value() == !sheet.name.ends_with("-max"));
    for (const SheetFigure& figure : sheet_figures(profile)) CHECK(figure.origin.size() > 3);
    const std::string text = to_json(profile);
    CHECK(to_json(from_json(text, sheet.name)) == text);
  }
  CHECK(names == std::vector<std::string>{"a10",     "a100-40gb", "a100-80gb", "a40",    "b200", "b300",
                                          "gb200",   "h100",      "h20",       "h200",   "l4",   "l40s",
                                          "m3-max",  "m4-max",    "mi300x",    "mi325x", "p100", "rtx-pro-6000",
                                          "rtx3090", "rtx4090",   "rtx5090",   "v100"});
}

TEST_CASE("the figures of a data sheet are the printed ones to the last bit") {
  const Profile& h100 = datasheet("h100");
  CHECK(h100.device.memory_bytes.value == 80'000'000'000.0);
  CHECK(h100.device.usable_memory_bytes.value == 85'520'809'984.0);
  CHECK(h100.device.l2_bytes.value == 52'428'800.0);
  CHECK(h100.limits.memory_bandwidth_bytes_per_s.value == 3'350'000'000'000.0);
  CHECK(h100.limits.matrix_peak_fp16_flop_per_s.value == 989'400'000'000'000.0);
  CHECK(h100.limits.matrix_peak_fp32_flop_per_s.value == 66'900'000'000'000.0);
  CHECK(h100.limits.link_bandwidth_bytes_per_s.value == 450e9);
  CHECK(datasheet("a100-80gb").limits.memory_bandwidth_bytes_per_s.value == 2'039'000'000'000.0);
  CHECK(datasheet("v100").device.memory_clock_mhz.value == 877.5);
  CHECK(datasheet("rtx4090").limits.matrix_peak_fp16_flop_per_s.value == 165'200'000'000'000.0);
}

TEST_CASE("one name finds one device, whatever its case and separators") {
  std::map<std::string, std::string> owner;
  for (const DeviceSheet& sheet : device_registry()) {
    std::vector<std::string> names = sheet.aliases;
    names.push_back(sheet.name);
    names.push_back(sheet.profile.device.name);
    for (const std::string& name : names) {
      CAPTURE(sheet.name, name);
      CHECK(owner.insert({plain_device_name(name), sheet.name}).first->second == sheet.name);
      CHECK(find_device(name) == &sheet);
    }
  }
  const std::map<std::string, std::string> names_of_devices{{"H100", "h100"},
                                                            {"a100", "a100-80gb"},
                                                            {"A100-80GB", "a100-80gb"},
                                                            {"h100_sxm", "h100"},
                                                            {"NVIDIA H200", "h200"},
                                                            {"h200_sxm", "h200"},
                                                            {"b200_sxm", "b200"},
                                                            {"rtx 4090", "rtx4090"},
                                                            {"GeForce RTX 3090", "rtx3090"},
                                                            {"Tesla V100-SXM2-16GB", "v100"},
                                                            {"NVIDIA H100 80GB HBM3", "h100"},
                                                            {"NVIDIA A100-SXM4-80GB", "a100-80gb"},
                                                            {"AMD Instinct MI300X", "mi300x"},
                                                            {"rtx_pro_6000_server", "rtx-pro-6000"},
                                                            {"M4 Max", "m4-max"},
                                                            {"Apple M3 Max", "m3-max"}};
  for (const auto& [name, device] : names_of_devices) {
    CAPTURE(name);
    REQUIRE(find_device(name) != nullptr);
    CHECK(find_device(name)->name == device);
  }
  CHECK(find_device("h300") == nullptr);
  CHECK(find_device("") == nullptr);
  CHECK(find_device("nvidia") == nullptr);
}

TEST_CASE("printed matrix peaks are multiprocessors times operations a clock times the boost clock") {
  // Operations a multiprocessor and clock with sums in fp32: matrix units times multiply-adds of each [architecture
  // white papers]; without matrix units (6.0) two half-precision multiply-adds in each of 64 cores.
  const std::map<std::string, double> fp16_a_clock{
      {"p100", 64 * 2 * 2},       {"v100", 8 * 64 * 2},         {"a100-80gb", 4 * 256 * 2}, {"h100", 4 * 512 * 2},
      {"h200", 4 * 512 * 2},      {"a40", 4 * 128 * 2},         {"rtx3090", 4 * 64 * 2},    {"rtx4090", 4 * 64 * 2},
      {"a100-40gb", 4 * 256 * 2}, {"a10", 4 * 128 * 2},         {"l4", 4 * 128 * 2},        {"b200", 4 * 1024 * 2},
      {"rtx5090", 4 * 64 * 2},    {"rtx-pro-6000", 4 * 128 * 2}};
  const std::map<std::string, double> fp32_a_clock{
      {"p100", 64 * 2},     {"v100", 64 * 2},      {"a100-80gb", 64 * 2}, {"a40", 128 * 2}, {"rtx3090", 128 * 2},
      {"rtx4090", 128 * 2}, {"a100-40gb", 64 * 2}, {"a10", 128 * 2},      {"l4", 128 * 2},  {"rtx5090", 128 * 2}};
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
  const Profile& l40s = datasheet("l40s");
  CHECK(l40s.limits.matrix_peak_fp16_flop_per_s.value.value() ==
        Approx(expected(l40s, 4 * 128 * 2)).epsilon(printed_below_boost));
  for (const auto& [name, operations] : fp32_a_clock) {
    CAPTURE(name);
    const Profile profile = datasheet(name);
    CHECK(profile.limits.matrix_peak_fp32_flop_per_s.value.value() ==
          Approx(expected(profile, operations)).epsilon(printed_rounding));
  }
}

TEST_CASE("printed bandwidths are twice the memory clock times the bus, where the clock is known") {
  std::vector<std::string> checked;
  for (const DeviceSheet& sheet : device_registry()) {
    CAPTURE(sheet.name);
    const Profile& profile = sheet.profile;
    if (!profile.device.memory_clock_mhz.value) continue;
    checked.push_back(sheet.name);
    const double bytes_a_clock = 2.0 * profile.device.memory_bus_bits.value.value() / 8.0;
    CHECK(profile.limits.memory_bandwidth_bytes_per_s.value.value() ==
          Approx(bytes_a_clock * 1e6 * profile.device.memory_clock_mhz.value.value()).epsilon(printed_rounding));
  }
  CHECK(checked == std::vector<std::string>{"a100-40gb", "a100-80gb", "b200", "h100", "p100", "v100"});
}

TEST_CASE("bf16 runs as fast as fp16 and tf32 half as fast, where they exist") {
  for (const DeviceSheet& sheet : device_registry()) {
    if (sheet.name.ends_with("-max")) continue;  // measured, not printed
    CAPTURE(sheet.name);
    const Limits& limits = sheet.profile.limits;
    const bool since_2020 = sheet.name != "p100" && sheet.name != "v100";
    CHECK(limits.matrix_peak_bf16_flop_per_s.value.has_value() == since_2020);
    CHECK(limits.matrix_peak_tf32_flop_per_s.value.has_value() == since_2020);
    if (!since_2020) continue;
    const double fp16 = limits.matrix_peak_fp16_flop_per_s.value.value();
    CHECK(limits.matrix_peak_bf16_flop_per_s.value.value() == fp16);
    CHECK(limits.matrix_peak_tf32_flop_per_s.value.value() == Approx(fp16 / 2.0).epsilon(printed_below_boost));
  }
}

TEST_CASE("8 bits run twice as fast as 16 and 4 bits at least as fast again, where they exist") {
  const auto twice = [](const Figure& narrow, double wide) {
    if (narrow.value) CHECK(*narrow.value == Approx(2.0 * wide).epsilon(printed_below_boost));
  };
  std::vector<std::string> fp4;
  for (const DeviceSheet& sheet : device_registry()) {
    CAPTURE(sheet.name);
    const Limits& limits = sheet.profile.limits;
    const double fp16 = limits.matrix_peak_fp16_flop_per_s.value.value();
    // Sums in fp32 halve the fp16 of GeForce, not its int8; B300 gave int8 up.
    const bool geforce = sheet.name.starts_with("rtx") && sheet.name != "rtx-pro-6000";
    twice(limits.matrix_peak_fp8_flop_per_s, fp16);
    if (sheet.name != "b300") twice(limits.matrix_peak_int8_flop_per_s, geforce ? 2.0 * fp16 : fp16);
    if (!limits.matrix_peak_fp4_flop_per_s.value) continue;
    fp4.push_back(sheet.name);
    CHECK(*limits.matrix_peak_fp4_flop_per_s.value >= 4.0 * (1.0 - printed_rounding) * fp16);
  }
  CHECK(fp4 == std::vector<std::string>{"b200", "b300", "gb200", "rtx-pro-6000", "rtx5090"});
}

}  // namespace foredraft::latency
