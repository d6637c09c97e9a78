// SPDX-License-Identifier: Apache-2.0
#include "latency/devices/device_registry.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/errors.hpp"

namespace foredraft::latency {
namespace {

const std::string sound_device = R"([my-card]
name = "My card 48GB"
aliases = ["mine"]
source = "its data sheet"
compute_capability = "8.9"
memory_gb = 48
driver_memory_mib = { value = 46068, source = "nvidia-smi" }
memory_bandwidth_gb_per_s = 864
matrix_peak_fp16_tflop_per_s = 362.05
link_bandwidth_gb_per_s = 32
)";

std::string whole_problem(const std::string& text) {
  return whole_rejection<DomainError>([&] { return parse_devices(text, "d.toml"); });
}

std::string sheet_problem(const std::string& text) { return brief(whole_problem(text)); }

/// With `to` in place of `from`.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = sound_device;
  text.replace(text.find(from), from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("a device file has figures in the units of data sheets, each with its source") {
  const std::vector<DeviceSheet> sheets = parse_devices(sound_device, "d.toml");
  REQUIRE(sheets.size() == 1);
  CHECK(sheets[0].name == "my-card");
  CHECK(sheets[0].aliases == std::vector<std::string>{"mine"});
  const Profile& profile = sheets[0].profile;
  CHECK(profile.source == Source::datasheet);
  CHECK(profile.device.name == "My card 48GB");
  CHECK(profile.device.compute_capability == "8.9");
  CHECK(profile.device.memory_bytes.value == 48e9);
  CHECK(profile.device.memory_bytes.origin == "its data sheet");
  CHECK(profile.device.usable_memory_bytes.value == 46068.0 * 1048576.0);
  CHECK(profile.device.usable_memory_bytes.origin == "nvidia-smi");
  CHECK(capacity_bytes(profile.device) == 46068.0 * 1048576.0);
  CHECK(profile.limits.memory_bandwidth_bytes_per_s.value == 864e9);
  CHECK(profile.limits.matrix_peak_fp16_flop_per_s.value == 362'050'000'000'000.0);
  CHECK(profile.limits.link_bandwidth_bytes_per_s.value == 32e9);
  CHECK_FALSE(profile.limits.matrix_peak_fp8_flop_per_s.value);
  const std::vector<SheetFigure> figures = sheet_figures(profile);
  REQUIRE(figures.size() == 5);
  CHECK(figures[1].key == "driver_memory_mib");
  CHECK(figures[1].value == 46068.0);
  CHECK(figures[4].origin == "its data sheet");
}

TEST_CASE("a figure in another unit is rejected with the intended one") {
  CHECK(sheet_problem(changed("= 864", "= 0.864")) ==
        "d.toml:8: my-card.memory_bandwidth_gb_per_s: 0.864 is implausible");
  CHECK(sheet_problem(changed("= 864", "= 864e9")) ==
        "d.toml:8: my-card.memory_bandwidth_gb_per_s: 864000000000 is implausible");
  CHECK(sheet_problem(changed("= 362.05", "= 0.36205")) ==
        "d.toml:9: my-card.matrix_peak_fp16_tflop_per_s: 0.36205 is implausible");
  CHECK(sheet_problem(changed("= 362.05", "= 362050")) ==
        "d.toml:9: my-card.matrix_peak_fp16_tflop_per_s: 362050 is implausible");
  CHECK(sheet_problem(changed("= 32\n", "= 0.032\n")) ==
        "d.toml:10: my-card.link_bandwidth_gb_per_s: 0.032 is implausible");
  for (const char* given : {"= 0.864", "= 864e9"}) {
    CHECK_THAT(whole_problem(changed("= 864", given)), Catch::EndsWith(" 864?"));
  }
  for (const char* given : {"= 0.36205", "= 362050"}) {
    CHECK_THAT(whole_problem(changed("= 362.05", given)), Catch::EndsWith(" 362.05?"));
  }
  CHECK_THAT(whole_problem(changed("= 32\n", "= 0.032\n")), Catch::EndsWith(" 32?"));
  CHECK(sheet_problem(changed("46068", "24564")) == "d.toml:7: my-card.driver_memory_mib: 24564 is implausible");
  const auto shared = [](const std::string& value, const std::string& mib) {
    std::string text = changed("46068", mib);
    return text.insert(text.find("memory_gb"), "unified_memory = " + value + "\n");
  };
  CHECK(sheet_problem(shared("true", "24564")) == "");
  CHECK(sheet_problem(shared("true", "12000")) == "d.toml:8: my-card.driver_memory_mib: 12000 is implausible");
  CHECK(sheet_problem(shared("false", "24564")) == "d.toml:8: my-card.driver_memory_mib: 24564 is implausible");
  CHECK(sheet_problem(shared("\"yes\"", "46068")).starts_with("d.toml:6: my-card.unified_memory: "));
  CHECK(sheet_problem(changed("= 864", "= -864")) ==
        "d.toml:8: my-card.memory_bandwidth_gb_per_s: -864 is implausible");
  CHECK(sheet_problem(changed("= 864", "= 9007199254740993")).find("is implausible") != std::string::npos);
  CHECK(sheet_problem(changed("= 864", "= nan")) == "d.toml:8: my-card.memory_bandwidth_gb_per_s: nan is implausible");
}

TEST_CASE("all problems of a device file are reported at once, by line and key") {
  CHECK(sheet_problem("[a]\nmemory_gbs = 48\nmemory_bandwidth_gb_per_s = \"fast\"\nname = 3\n") ==
        "d.toml:1: a.source: missing\n"
        "d.toml:1: a.memory_gb: missing\n"
        "d.toml:2: a.memory_gbs: unknown key\n"
        "d.toml:3: a.memory_bandwidth_gb_per_s: wrong type\n"
        "d.toml:4: a.name: wrong type");
  CHECK(sheet_problem(changed("matrix_peak_fp16_tflop_per_s = 362.05\n", "")) ==
        "d.toml:1: my-card.matrix_peak_fp16_tflop_per_s: missing");
  CHECK(sheet_problem(changed("{ value = 46068, source = \"nvidia-smi\" }", "{ value = 46068 }")) ==
        "d.toml:7: my-card.driver_memory_mib: not {value, source}");
  CHECK(sheet_problem(changed("\"mine\"", "3")) == "d.toml:3: my-card.aliases: wrong type");
  CHECK(sheet_problem(changed("\"My card 48GB\"", "\"My card, 48GB\"")) ==
        "d.toml:1: my-card.name: device: My card, 48GB: a name must not hold commas, quotes or line ends");
  CHECK(sheet_problem("") == "d.toml: no devices");
  CHECK(sheet_problem("memory_gb = 48\n") == "d.toml:1: memory_gb: unknown key");
  CHECK(sheet_problem("[a\n").find("d.toml:1: syntax: ") == 0);
}

}  // namespace foredraft::latency
