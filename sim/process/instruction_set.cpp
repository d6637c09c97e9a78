// SPDX-License-Identifier: Apache-2.0
#include "sim/process/instruction_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>

#include "foredraft/errors.hpp"

namespace foredraft::sim {
namespace {

struct Version {
  std::string name;
  std::int64_t target;  ///< Highway's; 0 for the plain loops
  Kernels kernels;
};

constexpr std::string_view scalar_name = "scalar";

/// Highway calls AVX-512 AVX3, a name that nobody else uses.
std::string name_of(std::int64_t target) {
  std::string name = simd_target_name(target);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.starts_with("avx3") ? "avx512" + name.substr(4) : name;
}

/// Bits of `targets` from the lowest up, which is Highway's order from the fastest down.
std::vector<std::int64_t> split(std::int64_t targets) {
  std::vector<std::int64_t> bits;
  for (; targets != 0; targets &= targets - 1) bits.push_back(targets & -targets);
  return bits;
}

const std::vector<Version>& versions() {
  static const std::vector<Version> found = [] {
    std::vector<Version> list;
    for (const std::int64_t target : split(simd_targets_supported())) {
      list.push_back({name_of(target), target, simd_kernels(target)});
    }
    list.push_back({std::string(scalar_name), 0, scalar_kernels()});
    return list;
  }();
  return found;
}

std::atomic<const Version*>& selected() {
  static std::atomic<const Version*> version{&versions().front()};
  return version;
}

std::string join(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const Version& version : versions()) names.push_back(version.name);
  return names;
}

std::string_view instruction_set() { return selected().load()->name; }

void select_instruction_set(std::string_view name) {
  for (const Version& version : versions()) {
    if (version.name == name) {
      selected() = &version;
      restrict_simd_target(version.target);
      return;
    }
  }
  const std::vector<std::int64_t> built = split(simd_targets_built());
  const bool known =
      std::any_of(built.begin(), built.end(), [&](std::int64_t target) { return name_of(target) == name; });
  throw DomainError(fmt::format("invalid FOREDRAFT_ISA={} (must be one of {}{})", name, join(instruction_sets()),
                                known ? "; this machine lacks it" : ""));
}

void select_instruction_set_from_environment() {
  const char* name = std::getenv("FOREDRAFT_ISA");
  if (name == nullptr || *name == '\0') return;
  select_instruction_set(name);
}

const Kernels& kernels() { return selected().load()->kernels; }

}  // namespace foredraft::sim
