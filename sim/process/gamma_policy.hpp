// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>

#include "foredraft/scenario.hpp"

/// How long each draft is: the policies of a scenario, and what the drafter input_copy does by itself.
namespace foredraft::sim {

/// Input-guided decoding: behind each rejection, be it of a draft or of the copy that a bonus token stands for, so many
/// iterations draft nothing (one token without a bonus token, not tested) while the text finds back to its input. Iid.
struct RealignAfterEdit {
  std::int64_t iterations;
};

/// The alternatives of a variant, and one more.
template <class Policies, class More>
struct WithOneMore;
template <class... Policies, class More>
struct WithOneMore<std::variant<Policies...>, More> {
  using type = std::variant<Policies..., More>;
};

using GammaPolicy = WithOneMore<Policy, RealignAfterEdit>::type;

}  // namespace foredraft::sim
