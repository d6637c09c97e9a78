// SPDX-License-Identifier: Apache-2.0
#include "sim/process/kernels.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "foredraft/errors.hpp"

namespace foredraft::sim {
namespace {

/// Sets FOREDRAFT_ISA for a scope; restores it and the choice of loops afterwards.
class IsaVariable {
 public:
  explicit IsaVariable(const char* value) : before_(instruction_set()) {
    if (const char* old = std::getenv(name); old != nullptr) old_ = old;
    setenv(name, value, 1);
  }
  IsaVariable(const IsaVariable&) = delete;
  IsaVariable& operator=(const IsaVariable&) = delete;
  ~IsaVariable() {
    if (old_.empty()) {
      unsetenv(name);
    } else {
      setenv(name, old_.c_str(), 1);
    }
    select_instruction_set(before_);
  }

 private:
  static constexpr const char* name = "FOREDRAFT_ISA";
  std::string before_;
  std::string old_;
};

}  // namespace

TEST_CASE("the plain loops are always available, last and different from the vector versions") {
  const std::vector<std::string> names = instruction_sets();
  REQUIRE_FALSE(names.empty());
  CHECK(names.back() == "scalar");
  for (const std::string& name : names) {
    select_instruction_set(name);
    CHECK(instruction_set() == name);
    CHECK((kernels().count_survivors == scalar_kernels().count_survivors) == (name == "scalar"));
  }
  select_instruction_set(names.front());
}

TEST_CASE("FOREDRAFT_ISA selects the loops, and an empty value uses the default") {
  {
    const IsaVariable scalar("scalar");
    select_instruction_set_from_environment();
    CHECK(instruction_set() == "scalar");
  }
  CHECK(instruction_set() == instruction_sets().front());
  const IsaVariable empty("");
  select_instruction_set_from_environment();
  CHECK(instruction_set() == instruction_sets().front());
}

TEST_CASE("an unknown instruction set is rejected with the list of available ones") {
  const IsaVariable unknown("avx9");
  CHECK_THROWS_WITH(select_instruction_set_from_environment(),
                    Catch::StartsWith("invalid FOREDRAFT_ISA=avx9 (must be one of ") && Catch::EndsWith("scalar)"));
  CHECK_THROWS_AS(select_instruction_set("AVX2"), DomainError);
  CHECK(instruction_set() == instruction_sets().front());
}

}  // namespace foredraft::sim
