// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "latency/devices/device_registry.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::latency {
namespace {

const Profile& datasheet(std::string_view name) { return find_device(name)->profile; }

/// TPUs compute in bf16 only, P40 has no matrix units and no fast fp16.
std::optional<double> sixteen_bits(const Limits& limits) {
  const Figure& fp16 = limits.matrix_peak_fp16_flop_per_s;
  return fp16.value ? fp16.value : limits.matrix_peak_bf16_flop_per_s.value;
}

bool is_any_of(const std::string& name, const std::vector<std::string>& names) {
  return std::ranges::find(names, name) != names.end();
}

/// Printed figures have three digits or more.
constexpr double printed_rounding = 0.005;
/// NVIDIA prints 362.05 TFLOP/s of the L40S, whose units at its boost clock make 366.4.
constexpr double printed_below_boost = 0.013;

}  // namespace

TEST_CASE("every data sheet says memory, bandwidth and peaks, each with its source") {
  std::string names;
  for (const DeviceSheet& sheet : device_registry()) {
    CAPTURE(sheet.name);
    names += sheet.name + " ";
    const Profile& profile = sheet.profile;
    CHECK(profile.source == Source::datasheet);
    CHECK(profile.complete());
    CHECK(profile.device.memory_bytes.value);
    CHECK(profile.limits.memory_bandwidth_bytes_per_s.value);
    CHECK(sixteen_bits(profile.limits).has_value() == (sheet.name != "p40"));
    CHECK_FALSE(profile.limits.copy_bandwidth_bytes_per_s.value);  // data sheets do not state attainable bandwidth
    CHECK_FALSE(profile.limits.graph_node_us.value);
    // GPUs soldered to their processor and Apple's chips have no link to others; GB10 has its network port.
    const bool alone =
        is_any_of(sheet.name, {"m3-max", "m3-ultra", "m4-max", "m4-pro", "m5-max", "strix-halo", "jetson-thor"});
    CHECK(profile.limits.link_bandwidth_bytes_per_s.value.has_value() == !alone);
    for (const SheetFigure& figure : sheet_figures(profile)) CHECK(figure.origin.size() > 3);
    const std::string text = to_json(profile);
    CHECK(to_json(from_json(text, sheet.name)) == text);
  }
  CHECK(names ==
        "a10 a100-40gb a100-80gb a100-pcie a100-pcie-40gb a10g a30 a40 arc-a770 arc-b580 arc-pro-b60 "
        "arc-pro-b70 ascend-910b b200 b300 gaudi-3 gb10 gb200 gb300 gh200 gh200-144gb h100 h100-nvl h100-pcie "
        "h20 h20-3e h200 h200-nvl h800 jetson-thor l20 l4 l40 l40s m3-max m3-ultra m4-max m4-pro m5-max "
        "mi300x mi325x mi350x mi355x mi50 p100 p40 r9700 rtx-6000-ada rtx-a5000 rtx-a6000 rtx-pro-6000 "
        "rtx-pro-6000-max-q rtx-pro-6000-server rtx3060 rtx3080 rtx3090 rtx3090ti rtx4070 rtx4070ti-super "
        "rtx4080 rtx4080-super rtx4090 rtx5060ti rtx5070 rtx5070ti rtx5080 rtx5090 rx-7900-xtx rx-9070-xt "
        "strix-halo t4 tpu-7x tpu-v5e tpu-v5p tpu-v6e v100 v100-32gb v100-pcie ");
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

TEST_CASE("one name finds one device in any spelling") {
  for (const DeviceSheet& sheet : device_registry()) {
    std::vector<std::string> names = sheet.aliases;
    names.push_back(sheet.name);
    names.push_back(sheet.profile.device.name);
    for (const std::string& name : names) {
      CAPTURE(sheet.name, name);
      CHECK(find_device(name) == &sheet);
      CHECK(find_device("  " + name + " ") == &sheet);
    }
  }
  struct Spelling {
    std::string written, device;
    double memory_gb, bandwidth_gb_per_s;
  };
  const std::vector<Spelling> spellings{
      {"DGX Spark", "gb10", 128.4, 273},
      {"GB10", "gb10", 128.4, 273},
      {"NVIDIA GB10", "gb10", 128.4, 273},
      {"NVIDIA DGX Spark (GB10)", "gb10", 128.4, 273},
      {"MI355X", "mi355x", 288, 8000},
      {"AMD Instinct MI355X OAM", "mi355x", 288, 8000},
      {"MI350X", "mi350x", 288, 8000},
      {"GB300", "gb300", 298, 8000},
      {"NVIDIA GB300 NVL72", "gb300", 298, 8000},
      {"RTX 6000 Pro", "rtx-pro-6000", 102.6, 1792},
      {"RTX Pro 6000 Workstation", "rtx-pro-6000", 102.6, 1792},
      {"rtx pro 6000 96GB", "rtx-pro-6000", 102.6, 1792},
      {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000", 102.6, 1792},
      {"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "rtx-pro-6000-max-q", 102.6, 1792},
      {"RTX PRO 6000 Max-Q", "rtx-pro-6000-max-q", 102.6, 1792},
      {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-server", 102.6, 1597},
      {"rtx_pro_6000_server", "rtx-pro-6000-server", 102.6, 1597},
      {"H100 PCIe", "h100-pcie", 80, 2039},
      {"NVIDIA H100 PCIe 80GB", "h100-pcie", 80, 2039},
      {"H100 NVL", "h100-nvl", 94, 3940},
      {"H100-NVL-94GB", "h100-nvl", 94, 3940},
      {"GH200", "gh200", 96, 4000},
      {"NVIDIA GH200 480GB", "gh200", 96, 4000},
      {"GH200 144G HBM3e", "gh200-144gb", 144, 4900},
      {"H20-3e", "h20-3e", 141, 4800},
      {"H20 141GB", "h20-3e", 141, 4800},
      {"A10G", "a10g", 24, 600},
      {"NVIDIA A100 80GB PCIe", "a100-pcie", 80, 1935},
      {"NVIDIA A100-PCIE-40GB", "a100-pcie-40gb", 40, 1555},
      {"A100 40GB", "a100-40gb", 42.95, 1555},
      {"A100-80G", "a100-80gb", 85.9, 2039},
      {"a100", "a100-80gb", 85.9, 2039},
      {"NVIDIA A100-SXM4-80GB", "a100-80gb", 85.9, 2039},
      {"NVIDIA H100 80GB HBM3", "h100", 85.52, 3350},
      {"h100_sxm", "h100", 85.52, 3350},
      {"H100 SXM5", "h100", 85.52, 3350},
      {"NVIDIA H200", "h200", 150.8, 4800},
      {"B200 192GB", "b200", 192.3, 7700},
      {"RTX A6000", "rtx-a6000", 48, 768},
      {"NVIDIA A6000 48GB", "rtx-a6000", 48, 768},
      {"RTX 6000 Ada", "rtx-6000-ada", 48, 960},
      {"NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada", 48, 960},
      {"L40", "l40", 48, 864},
      {"L20", "l20", 48, 864},
      {"T4", "t4", 16, 320},
      {"Tesla T4", "t4", 16, 320},
      {"RTX 5080", "rtx5080", 16, 960},
      {"RTX 4080", "rtx4080", 16, 716.8},
      {"4080 Super", "rtx4080-super", 16, 736.3},
      {"NVIDIA GeForce RTX 3090 Ti", "rtx3090ti", 24, 1008},
      {"GeForce RTX 3090", "rtx3090", 25.77, 936},
      {"rtx-4090", "rtx4090", 25.76, 1008},
      {"RTX 5090 32GB", "rtx5090", 34.19, 1792},
      {"5070 Ti", "rtx5070ti", 16, 896},
      {"RTX 5060 Ti 16GB", "rtx5060ti", 16, 448},
      {"RTX 3060 12 GB", "rtx3060", 12, 360},
      {"RTX 4070", "rtx4070", 12, 504},
      {"GeForce RTX 3080", "rtx3080", 10, 760},
      {"RTX 5070 12GB", "rtx5070", 12, 672},
      {"Tesla V100-SXM2-32GB", "v100-32gb", 32, 900},
      {"Tesla V100-SXM2-16GB", "v100", 16, 900},
      {"V100 32GB", "v100-32gb", 32, 900},
      {"P40", "p40", 24, 347.1},
      {"M3 Ultra", "m3-ultra", 512, 819},
      {"M5 Max", "m5-max", 115.4, 614},
      {"M4 Pro", "m4-pro", 64, 273},
      {"Apple M3 Max", "m3-max", 115.4, 400},
      {"M4 Max 128GB", "m4-max", 115.4, 546},
      {"Strix Halo", "strix-halo", 66.57, 256},
      {"Ryzen AI Max+ 395", "strix-halo", 66.57, 256},
      {"AMD Ryzen AI MAX+ 395 w/ Radeon 8060S", "strix-halo", 66.57, 256},
      {"Radeon AI PRO R9700", "r9700", 32, 640},
      {"R9700", "r9700", 32, 640},
      {"RX 7900 XTX", "rx-7900-xtx", 24, 960},
      {"7900XTX", "rx-7900-xtx", 24, 960},
      {"Radeon RX 9070 XT", "rx-9070-xt", 16, 640},
      {"AMD Instinct MI300X", "mi300x", 206.1, 5300},
      {"MI50 32GB", "mi50", 32, 1024},
      {"Arc Pro B60", "arc-pro-b60", 24, 456},
      {"Intel Arc Pro B70 Graphics", "arc-pro-b70", 32, 608},
      {"B580", "arc-b580", 12, 456},
      {"Intel Gaudi 3", "gaudi-3", 128, 3700},
      {"Gaudi3", "gaudi-3", 128, 3700},
      {"TPU v6e", "tpu-v6e", 32, 1638},
      {"Cloud TPU v5e", "tpu-v5e", 16, 819},
      {"Ironwood", "tpu-7x", 206.2, 7380},
      {"Ascend 910B", "ascend-910b", 64, 1600},
      {"Huawei Ascend 910B 64GB", "ascend-910b", 64, 1600},
      {"Jetson Thor", "jetson-thor", 128, 273},
      {"NVIDIA Jetson AGX Thor Developer Kit", "jetson-thor", 128, 273}};
  constexpr double four_digits = 5e-4;
  for (const auto& [written, device, memory_gb, bandwidth_gb_per_s] : spellings) {
    CAPTURE(written);
    const DeviceSheet* sheet = find_device(written);
    REQUIRE(sheet != nullptr);
    CHECK(sheet->name == device);
    CHECK(capacity_bytes(sheet->profile.device).value() == Approx(1e9 * memory_gb).epsilon(four_digits));
    CHECK(best_bandwidth(sheet->profile.limits).value() == Approx(1e9 * bandwidth_gb_per_s).epsilon(four_digits));
  }
  for (const char* none : {"h300", "", " - ", "nvidia", "80GB", "./h100", "RTX 6000", "A100 60GB", "M3 Max 64GB", "TPU",
                           "V100-PCIE-16GB", "RTX 5090 Laptop", "MI300", "99999999999999999999gb h100"}) {
    CAPTURE(none);
    CHECK(find_device(none) == nullptr);
  }
}

TEST_CASE("devices like a name have all of its words, else most of them with one of its numbers") {
  const auto like = [](std::string_view name) {
    std::vector<std::string> names;
    for (const DeviceSheet* sheet : devices_like(name)) names.push_back(sheet->name);
    return names;
  };
  using Names = std::vector<std::string>;
  CHECK(like("RTX 6000") == Names{"rtx-6000-ada", "rtx-pro-6000", "rtx-pro-6000-max-q", "rtx-pro-6000-server"});
  CHECK(like("A100 60GB") == Names{"a100-40gb", "a100-80gb", "a100-pcie", "a100-pcie-40gb"});
  CHECK(like("TPU v4") == Names{});
  CHECK(like("B200 NVL") == Names{"b200"});
  CHECK(like("nvidia").empty());
  CHECK(like("").empty());
}

TEST_CASE("printed matrix peaks are multiprocessors times operations a clock times the boost clock") {
  // Operations per multiprocessor and clock with sums in fp32: matrix units times multiply-adds of each [architecture
  // white papers]; without matrix units (6.0) two half-precision multiply-adds in each of 64 cores.
  const std::map<double, std::vector<std::string>> by_fp16_a_clock{
      {64 * 2 * 2, {"p100"}},
      {8 * 64 * 2, {"v100", "t4", "v100-32gb"}},
      {4 * 256 * 2, {"a100-80gb", "a100-40gb"}},
      {4 * 512 * 2, {"h100", "h200"}},
      {4 * 128 * 2, {"a40", "a10", "l4", "rtx-a6000", "rtx-6000-ada", "rtx-pro-6000-server", "rtx-pro-6000-max-q"}},
      {4 * 64 * 2, {"rtx3090", "rtx4090", "rtx5090", "rtx5080", "rtx4080", "rtx3090ti"}},
      {4 * 1024 * 2, {"b200"}},
      {8 * 128 * 2, {"arc-pro-b60"}}};
  const std::map<double, std::vector<std::string>> by_fp32_a_clock{
      {64 * 2, {"p100", "v100", "a100-80gb", "a100-40gb"}},
      {128 * 2, {"a40", "rtx3090", "rtx4090", "a10", "l4", "rtx5090"}}};
  const auto expected = [](const Profile& profile, double operations) {
    return profile.device.multiprocessors.value.value() * operations * 1e6 *
           profile.device.boost_clock_mhz.value.value();
  };
  for (const auto& [operations, names] : by_fp16_a_clock) {
    for (const std::string& name : names) {
      CAPTURE(name);
      const Profile profile = datasheet(name);
      CHECK(profile.limits.matrix_peak_fp16_flop_per_s.value.value() ==
            Approx(expected(profile, operations)).epsilon(printed_rounding));
    }
  }
  const Profile& l40s = datasheet("l40s");
  CHECK(l40s.limits.matrix_peak_fp16_flop_per_s.value.value() ==
        Approx(expected(l40s, 4 * 128 * 2)).epsilon(printed_below_boost));
  for (const auto& [operations, names] : by_fp32_a_clock) {
    for (const std::string& name : names) {
      CAPTURE(name);
      const Profile profile = datasheet(name);
      CHECK(profile.limits.matrix_peak_fp32_flop_per_s.value.value() ==
            Approx(expected(profile, operations)).epsilon(printed_rounding));
    }
  }
}

TEST_CASE("printed bandwidths are twice the memory clock times the bus, if the clock is known") {
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
  CHECK(checked == std::vector<std::string>{"a100-40gb", "a100-80gb", "a100-pcie", "a100-pcie-40gb", "b200", "h100",
                                            "h100-pcie", "p100", "v100", "v100-32gb"});
}

TEST_CASE("bf16 runs as fast as fp16 and tf32 half as fast, if they exist") {
  for (const DeviceSheet& sheet : device_registry()) {
    // Measured, not printed.
    if (is_any_of(sheet.name, {"m3-max", "m3-ultra", "m4-max", "m4-pro", "m5-max", "arc-a770"})) continue;
    CAPTURE(sheet.name);
    const Limits& limits = sheet.profile.limits;
    const bool has_bf16 = !is_any_of(sheet.name, {"p100", "p40", "v100", "v100-32gb", "v100-pcie", "t4", "mi50"});
    CHECK(limits.matrix_peak_bf16_flop_per_s.value.has_value() == has_bf16);
    if (!has_bf16) CHECK_FALSE(limits.matrix_peak_tf32_flop_per_s.value);
    if (!has_bf16) continue;
    CHECK(limits.matrix_peak_bf16_flop_per_s.value == sixteen_bits(limits));
    if (!limits.matrix_peak_tf32_flop_per_s.value) continue;
    CHECK(*limits.matrix_peak_tf32_flop_per_s.value ==
          Approx(sixteen_bits(limits).value() / 2.0).epsilon(printed_below_boost));
  }
}

TEST_CASE("8 bits run twice as fast as 16 and 4 bits at least as fast again, if they exist") {
  const auto twice = [](const Figure& narrow, double wide) {
    if (narrow.value) CHECK(*narrow.value == Approx(2.0 * wide).epsilon(printed_below_boost));
  };
  std::vector<std::string> fp4;
  for (const DeviceSheet& sheet : device_registry()) {
    CAPTURE(sheet.name);
    const Limits& limits = sheet.profile.limits;
    if (!sixteen_bits(limits)) continue;
    const double wide = *sixteen_bits(limits);
    // Sums in fp32 halve the fp16 peak of GeForce, not its int8; B300 and GB300 have almost no int8.
    const bool geforce = sheet.name.starts_with("rtx") && !sheet.name.starts_with("rtx-");
    // Gaudi 3 and TPUs before v7 do not compute faster in fp8, nor Strix Halo in int8; that of M5 Max is measured.
    const bool fp8_as_fast = is_any_of(sheet.name, {"gaudi-3", "tpu-v5p", "tpu-v6e"});
    const bool int8_else = is_any_of(sheet.name, {"b300", "gb300", "strix-halo", "m5-max"});
    twice(limits.matrix_peak_fp8_flop_per_s, fp8_as_fast ? wide / 2.0 : wide);
    if (!int8_else) twice(limits.matrix_peak_int8_flop_per_s, geforce ? 2.0 * wide : wide);
    if (!limits.matrix_peak_fp4_flop_per_s.value) continue;
    fp4.push_back(sheet.name);
    CHECK(*limits.matrix_peak_fp4_flop_per_s.value >= 4.0 * (1.0 - printed_rounding) * wide);
  }
  CHECK(fp4 == std::vector<std::string>{"b200", "b300", "gb10", "gb200", "gb300", "jetson-thor", "mi350x", "mi355x",
                                        "rtx-pro-6000", "rtx-pro-6000-max-q", "rtx-pro-6000-server", "rtx5060ti",
                                        "rtx5070", "rtx5070ti", "rtx5080", "rtx5090"});
}

}  // namespace foredraft::latency
