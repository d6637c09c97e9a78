// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/process/kernels.hpp"

/// Which version of the counting loops runs. Every version gives the same integers; only the speed differs.
namespace foredraft::sim {

/// What this build has and this machine can run, fastest first: on x86 of `avx512`, `avx2`, `sse4`, `ssse3`, `emu128`
/// (Highway's portable vectors), elsewhere Highway's names in lower case; then always `scalar`, the plain loops.
[[nodiscard]] std::vector<std::string> instruction_sets();

/// The one in use: the fastest until one is selected.
[[nodiscard]] std::string_view instruction_set();

/// Selects by name, for all code that Highway dispatches; call it before any other thread runs. Throws DomainError for
/// a name this build does not know and for a set this machine lacks.
void select_instruction_set(std::string_view name);

/// Selects what the environment variable FOREDRAFT_ISA names; nothing when it is unset or empty. For the start of a
/// program: the only place that reads the environment.
void select_instruction_set_from_environment();

/// The loops in use.
[[nodiscard]] const Kernels& kernels();

}  // namespace foredraft::sim
