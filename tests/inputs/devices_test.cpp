// SPDX-License-Identifier: Apache-2.0
#include "inputs/devices.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/digest.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/profile.hpp"
#include "latency/profile/profile.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace foredraft::inputs {
namespace {

using tests::TemporaryFolder;
using tests::write_text;

}  // namespace

TEST_CASE("a shipped data sheet is found by its name") {
  const std::vector<std::string> devices = shipped_devices();
  CHECK(std::is_sorted(devices.begin(), devices.end()));
  for (const std::string& name : devices) {
    CHECK(read_profile(name).profile.source == latency::Source::datasheet);
    CHECK(read_device(name).digest == read_profile(name).digest);
  }
  const ReadProfile h200 = read_profile("NVIDIA H200");
  CHECK(h200.shipped);
  CHECK(h200.digest.path == "h200");
  CHECK(h200.digest.sha256 == sha256(latency::to_json(h200.profile)));
  CHECK(rejection([] { return read_profile("h2000"); }) == "h2000: neither a file nor a shipped device");
  CHECK(rejection([] { return read_device("mi300"); }) == "mi300: neither a TOML file nor a shipped device");
}

TEST_CASE("a name that finds no device suggests similar ones") {
  const auto suggested = [](const std::string& name) {
    try {
      static_cast<void>(read_device(name));
    } catch (const InputError& error) {
      const std::string text = error.what();
      return text.substr(text.find(" - ") + 3);
    }
    return std::string("nothing");
  };
  CHECK(suggested("RTX 6000") ==
        "did you mean one of rtx-6000-ada, rtx-pro-6000, rtx-pro-6000-max-q, rtx-pro-6000-server?");
  CHECK(suggested("TPU") == "did you mean one of tpu-7x, tpu-v5e, tpu-v5p, tpu-v6e?");
  CHECK(suggested("A100 60GB") == "did you mean one of a100-40gb, a100-80gb, a100-pcie, a100-pcie-40gb?");
  CHECK(suggested("V100-PCIE-16GB") == "did you mean v100-pcie?");
  CHECK(suggested("RTX 5090 Laptop GPU") == "did you mean rtx5090?");
  CHECK(suggested("L40S PCIe") == "did you mean l40s?");
  CHECK(suggested("h2000") == "did you mean h200?");
  for (const char* several : {"8xH100", "8x H100", "8 x H100", "H100 x8"}) {
    CHECK(suggested(several) == "name one, H100, and share the target with --target-tp 8");
  }
  CHECK(suggested("RTX 5090 x") != "");
  // Other devices, not typing mistakes.
  for (const char* other : {"b100", "h101", "zluda", "./a100/60gb"}) {
    CHECK_THAT(suggested(other), Catch::StartsWith("foredraft list devices shows all; or write its data sheet"));
  }
}

TEST_CASE("a data sheet of the user's own is read from TOML, and nothing else is a data sheet") {
  const TemporaryFolder folder;
  const std::string sheet =
      "[mine]\nsource = \"s\"\nmemory_gb = 48\nmemory_bandwidth_gb_per_s = 864\nmatrix_peak_fp16_tflop_per_s = 362\n";
  const std::string path = folder / "mine.toml";
  write_text(path, sheet);
  const ReadProfile read = read_device(path);
  CHECK(read.profile.device.name == "mine");
  CHECK(read.profile.limits.memory_bandwidth_bytes_per_s.value == 864e9);
  CHECK_FALSE(read.shipped);
  CHECK(read.digest.path == path);
  CHECK(read.digest.sha256 == sha256(sheet));
  CHECK(read_profile(path).digest == read.digest);
  write_text(path, sheet + "[yours]\n" + sheet.substr(sheet.find("source")));
  CHECK(rejection([&] { return read_device(path); }) == path + ": 2 devices");
  write_text(path, "[mine]\nsource = \"s\"\nmemory_gb = 48\nmemory_bandwidth_gb_per_s = 0.864\n");
  CHECK(rejection([&] { return read_device(path); }) ==
        path + ":4: mine.memory_bandwidth_gb_per_s: 0.864 is implausible");
  const std::string profile = folder / "h200.json";
  write_text(profile, latency::to_json(read_profile("h200").profile));
  CHECK(read_profile(profile).profile.device.name == "NVIDIA H200 SXM 141GB");
  CHECK(rejection([&] { return read_device(profile); }) == profile + ": no data sheet");
}

TEST_CASE("the list of devices is at most 100 columns wide and holds every data sheet") {
  const Table table = device_table();
  CHECK(table.rows.size() == shipped_devices().size());
  const std::string text = to_text(table);
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    CHECK(end - begin <= 100);
  }
  const auto h100 =
      std::find_if(table.rows.begin(), table.rows.end(), [](const auto& row) { return row[0] == "h100"; });
  CHECK(*h100 == std::vector<std::string>{"h100", "85.52", "3350", "989.4", "1979", "1979", "", "450"});
}

}  // namespace foredraft::inputs
