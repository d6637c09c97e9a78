// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/cpu_facts.hpp"

#include <unistd.h>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

namespace foredraft::gpu_bench {
namespace {

namespace fs = std::filesystem;

/// A machine described by text files.
class MadeUpMachine {
 public:
  MadeUpMachine() : root_((fs::temp_directory_path() / ("foredraft_facts" + std::to_string(::getpid()))).string()) {}
  MadeUpMachine(const MadeUpMachine&) = delete;
  MadeUpMachine& operator=(const MadeUpMachine&) = delete;
  MadeUpMachine(MadeUpMachine&&) = delete;
  MadeUpMachine& operator=(MadeUpMachine&&) = delete;
  ~MadeUpMachine() { fs::remove_all(root_); }

  void put(const std::string& name, const std::string& text) const {
    const fs::path path = root_ + name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void put_cache(int index, const std::string& level, const std::string& type, const std::string& size) const {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    put(folder + "level", level);
    put(folder + "type", type);
    put(folder + "size", size);
  }
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  std::string root_;
};

}  // namespace

TEST_CASE("the system's facts of a processor are read, without instruction caches") {
  const MadeUpMachine machine;
  machine.put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Acme \"Nine\", 3 GHz\nmodel name\t: other");
  machine.put("/proc/meminfo", "MemTotal:       16000000 kB\nMemFree:  1 kB");
  machine.put_cache(0, "1", "Data", "48K");
  machine.put_cache(1, "1", "Instruction", "99K");
  machine.put_cache(2, "2", "Unified", "2M");
  machine.put_cache(3, "3", "Unified", "32768K");
  machine.put("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000");
  const CpuFacts facts = cpu_facts(machine.root());
  CHECK(facts.name == "Acme Nine 3 GHz");  // no commas and quotes in a profile's names
  CHECK(facts.memory_bytes == 16'384'000'000);
  CHECK(facts.l1_bytes == 48 * 1024);
  CHECK(facts.l2_bytes == 2 * 1024 * 1024);
  CHECK(facts.last_cache_bytes == 32 * 1024 * 1024);
  CHECK(facts.max_clock_mhz == 3500.0);
  CHECK_FALSE(facts.base_clock_mhz);

  CHECK_FALSE(memory_is_plenty(machine.root()));  // the available memory is unknown
  machine.put("/proc/meminfo", "MemTotal:       16000000 kB\nMemAvailable:  8000001 kB");
  CHECK(memory_is_plenty(machine.root()));
  machine.put("/proc/meminfo", "MemTotal:       16000000 kB\nMemAvailable:  8000000 kB");
  CHECK_FALSE(memory_is_plenty(machine.root()));

  const latency::Device device = profile_device(facts, 1);
  CHECK(device.name == "Acme Nine 3 GHz with 1 thread");
  CHECK(device.l2_bytes.value == 32.0 * 1024 * 1024);
  CHECK_FALSE(device.power_limit_w.value);
}

TEST_CASE("a system without information leaves facts unknown") {
  const CpuFacts facts = cpu_facts("/nowhere");
  CHECK(facts.name == "unnamed CPU");
  CHECK(facts.last_cache_bytes == 0);
  CHECK_FALSE(profile_device(facts, 2).memory_bytes.value);
}

}  // namespace foredraft::gpu_bench
