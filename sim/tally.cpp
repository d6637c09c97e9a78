// SPDX-License-Identifier: Apache-2.0
#include "sim/tally.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace foredraft::sim {
namespace {

void add_counts(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
  if (to.size() < from.size()) to.resize(from.size(), 0);
  std::transform(from.begin(), from.end(), to.begin(), to.begin(), std::plus<>{});
}

Int128 total(const std::vector<std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), Int128{0},
                         [](Int128 sum, std::uint64_t count) { return sum + static_cast<Int128>(count); });
}

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

}  // namespace

void Tally::merge(const Tally& other) {
  units.merge(other.units);
  add_counts(tokens_count, other.tokens_count);
  add_counts(drafted_at, other.drafted_at);
  add_counts(tested_at, other.tested_at);
  add_counts(accepted_at, other.accepted_at);
  serving.merge(other.serving);
}

Tally empty_tally(std::int64_t gamma, Convention convention) {
  const auto positions = static_cast<std::size_t>(gamma);
  Tally tally;
  tally.tokens_count.assign(static_cast<std::size_t>(max_tokens(gamma, convention)), 0);
  tally.drafted_at.assign(positions, 0);
  tally.tested_at.assign(positions, 0);
  tally.accepted_at.assign(positions, 0);
  return tally;
}

void check_conservation(const Tally& tally) {
  const std::size_t positions = tally.drafted_at.size();
  require(tally.tested_at.size() == positions && tally.accepted_at.size() == positions,
          "tally: position counts differ in length");
  for (std::size_t i = 0; i < positions; ++i) {
    require(tally.accepted_at[i] <= tally.tested_at[i], "tally: more drafts accepted than tested at a position");
    require(tally.tested_at[i] <= tally.drafted_at[i], "tally: more drafts tested than drafted at a position");
    require(i == 0 || tally.tested_at[i] <= tally.accepted_at[i - 1],
            "tally: a position was tested although the one before it was not accepted");
  }
  Int128 emitted = 0;
  for (std::size_t k = 0; k < tally.tokens_count.size(); ++k) {
    emitted += static_cast<Int128>(k + 1) * static_cast<Int128>(tally.tokens_count[k]);
  }
  require(emitted == tally.units.sum(tokens), "tally: the token histogram does not add up to the emitted tokens");
  require(total(tally.tokens_count) == tally.units.sum(iterations), "tally: histogram and iterations differ");
  require(total(tally.drafted_at) == tally.units.sum(drafted), "tally: position counts and drafted tokens differ");
  require(total(tally.tested_at) == tally.units.sum(tested), "tally: position counts and tested drafts differ");
  require(total(tally.accepted_at) == tally.units.sum(accepted), "tally: position counts and accepted drafts differ");
  // A sequence that ends inside a draft emits fewer tokens than drafts accepted in front of the end plus one, never
  // more.
  require(emitted <= tally.units.sum(accepted) + tally.units.sum(iterations),
          "tally: an iteration emitted more than its accepted drafts and one token");
}

}  // namespace foredraft::sim
