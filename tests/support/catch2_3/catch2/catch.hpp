// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names of Catch2 2.13 (Debian 12), in which the tests are written, by Catch2 3 (Debian 13).
#include <catch2/catch_all.hpp>
#include <string>

namespace Catch {

template <class Matched>
using MatcherBase = Matchers::MatcherBase<Matched>;
using Matchers::EndsWith;
using Matchers::Equals;
using Matchers::Matches;
using Matchers::StartsWith;
inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }

}  // namespace Catch

using Catch::Approx;
