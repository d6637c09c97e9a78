// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/profile_folder.hpp"

#include <unistd.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <vector>

#include "foredraft/errors.hpp"
#include "latency/profile/profile.hpp"
#include "tests/latency/profile/synthetic_profile.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::gpu_bench {
namespace {

namespace fs = std::filesystem;

/// An unused folder name; its contents are removed with the test.
class Scratch {
 public:
  explicit Scratch(const std::string& name)
      : path_((fs::temp_directory_path() / ("foredraft_profile_" + name + std::to_string(::getpid()))).string()) {
    fs::remove_all(path_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Scratch(Scratch&&) = delete;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() { fs::remove_all(path_); }

  [[nodiscard]] const std::string& path() const { return path_; }
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories(path_);
    std::ofstream(fs::path(path_) / name) << text;
  }

 private:
  std::string path_;
};

latency::Profile finished_profile() {
  latency::Profile profile = latency::synthetic_profile();
  profile.missing.clear();
  return profile;
}

}  // namespace

TEST_CASE("a new or empty folder is free, an unfinished profile returns its rows") {
  const Scratch scratch("unfinished");
  CHECK_FALSE(claim_profile_folder(scratch.path()));
  fs::create_directories(scratch.path());
  CHECK_FALSE(claim_profile_folder(scratch.path()));
  write_profile_folder(scratch.path(), latency::synthetic_profile());
  const auto before = claim_profile_folder(scratch.path());
  REQUIRE(before);
  CHECK(before->steps.size() == latency::synthetic_profile().steps.size());
}

TEST_CASE("a folder of a run that was killed before its first profile was complete is free") {
  const Scratch scratch("killed");
  scratch.put("steps.csv", "model\n");
  scratch.put(".foredraft-tmp-0123456789abcdef", "{");
  scratch.put(".foredraft-lock", "");
  CHECK_FALSE(claim_profile_folder(scratch.path()));
}

TEST_CASE("finished profiles, other people's files and files in place of a folder are rejected") {
  const Scratch finished("finished");
  fs::create_directories(finished.path());
  write_profile_folder(finished.path(), finished_profile());
  CHECK_THROWS_MATCHES(claim_profile_folder(finished.path()), DomainError,
                       Says(finished.path() + ": holds a finished profile"));
  const Scratch foreign("foreign");
  foreign.put("thesis.tex", "");
  CHECK_THROWS_MATCHES(claim_profile_folder(foreign.path()), DomainError, Says(foreign.path() + ": holds thesis.tex"));
  CHECK_THROWS_MATCHES(claim_profile_folder(foreign.path() + "/thesis.tex"), DomainError,
                       Says(foreign.path() + "/thesis.tex: is a file"));
  const Scratch damaged("damaged");
  damaged.put("profile.json", "{");
  CHECK_THROWS_AS(claim_profile_folder(damaged.path()), DomainError);
}

TEST_CASE("a profile's folder holds its five files and no leftovers, also when it is written again") {
  const Scratch scratch("written");
  fs::create_directories(scratch.path());
  write_profile_folder(scratch.path(), latency::synthetic_profile(), "what,samples_us\n");
  write_profile_folder(scratch.path(), finished_profile(), "what,samples_us\na,1\n");
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(scratch.path())) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"kernels.csv", "profile.json", "report.md", "samples.csv", "steps.csv",
                                          "verifications.csv"});
  CHECK(latency::read_profile(scratch.path() + "/profile.json").complete());
}

TEST_CASE("samples are written line by line, and read back as far as their profile knows them") {
  std::string samples;
  append_samples(samples, "a step", {1.25, 1.0e6 / 3.0});
  append_samples(samples, to_text(latency::synthetic_profile().kernels[0]), {2.0});
  CHECK(samples == "what,samples_us\na step,1.25 3.3333e+05\nproject rows 1 outputs 64 inputs 32 fp16 hot graph,2\n");
  const Scratch scratch("samples");
  fs::create_directories(scratch.path());
  write_profile_folder(scratch.path(), latency::synthetic_profile(), samples);
  const latency::Profile profile = *claim_profile_folder(scratch.path());
  CHECK(read_samples(scratch.path(), profile) == samples);
  scratch.put("samples.csv", samples + "what a killed run wrote");
  CHECK(read_samples(scratch.path(), profile) == samples);
  const Says problem(scratch.path() + "/samples.csv: ");
  std::string changed = samples;
  changed[20] = 'b';
  scratch.put("samples.csv", changed);
  CHECK_THROWS_MATCHES(read_samples(scratch.path(), profile), DomainError, problem);
  scratch.put("samples.csv", samples.substr(0, samples.size() - 1));
  CHECK_THROWS_MATCHES(read_samples(scratch.path(), profile), DomainError, problem);
  CHECK(read_samples(scratch.path(), latency::Profile{}).empty());
}

TEST_CASE("the check value of the bytes is the CRC-32 of zip and PNG") {
  CHECK(raw_samples_of("123456789").crc32 == "cbf43926");  // the check value of its definition
  CHECK(raw_samples_of("123456789").bytes == 9);
}

TEST_CASE("an invalid profile leaves the folder as it was") {
  const Scratch scratch("impossible");
  latency::Profile profile = latency::synthetic_profile();
  profile.device.name.clear();
  CHECK_THROWS_AS(write_profile_folder(scratch.path(), profile), DomainError);
  CHECK_FALSE(fs::exists(scratch.path()));
}

}  // namespace foredraft::gpu_bench
