// SPDX-License-Identifier: Apache-2.0
#pragma once

#pragma GCC visibility push(default)

/// Forward declarations of the structs of scenario.hpp and server.hpp.
namespace foredraft {

struct Scenario;
struct ProcessFidelity;
struct TokenFidelity;
struct Server;

}  // namespace foredraft

#pragma GCC visibility pop
