// SPDX-License-Identifier: Apache-2.0
#pragma once

#pragma GCC visibility push(default)

/// The names of scenario.hpp and server.hpp, for declarations that take a reference.
namespace foredraft {

struct Scenario;
struct ProcessFidelity;
struct TokenFidelity;
struct Server;

}  // namespace foredraft

#pragma GCC visibility pop
