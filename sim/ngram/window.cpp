// SPDX-License-Identifier: Apache-2.0
#include "sim/ngram/window.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.hpp"
#include "sim/ngram/model.hpp"

namespace foredraft::ngram {

Window adjacent_window(int order) { return head_window(order, 1); }

Window head_window(int order, int position) {
  check_range("order", order, 1, max_order);
  check_range("position", position, 1, max_heads);
  Window window;
  for (int k = 0; k < order - 1; ++k) window.distances.push_back(position + k);
  return window;
}

Window stage_window(int order, int position) {
  check_range("order", order, 1, max_order - 1);
  Window window = head_window(order, position);
  if (position > 1) window.distances.insert(window.distances.begin(), 1);
  return window;
}

void check_window(const Window& window) {
  check_range("order", window.order(), 1, max_order);
  int nearer = 0;
  for (const int distance : window.distances) {
    if (distance <= nearer) {
      throw DomainError(
          fmt::format("invalid distances={} (must increase from 1 on)", fmt::join(window.distances, " ")));
    }
    nearer = distance;
  }
}

}  // namespace foredraft::ngram
