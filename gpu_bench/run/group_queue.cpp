// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/group_queue.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "core/check.hpp"

namespace foredraft::gpu_bench {

GroupQueue::GroupQueue(const std::vector<CellGroup>& plan, double budget_s, const std::vector<CellGroup>& measured)
    : budget_s_(budget_s) {
  check_positive("budget_s", budget_s);
  for (const CellGroup& group : measured) {
    for (const latency::Cell& cell : group.cells) measured_.insert({group.by_operation, cell});
  }
  for (const CellGroup& group : plan) {
    Entry entry{.group = {.cells = {}, .by_operation = group.by_operation}, .state = State::waiting, .why = {}};
    for (const latency::Cell& cell : group.cells) {
      if (!measured_.contains({group.by_operation, cell})) entry.group.cells.push_back(cell);
    }
    if (!entry.group.cells.empty()) entries_.push_back(std::move(entry));
  }
}

double GroupQueue::expected_s(const CellGroup& group) const {
  double longest = 0.0;
  for (const auto& [key, seconds] : cell_s_) {
    if (key.first == group.by_operation) longest = std::max(longest, seconds);
  }
  return std::accumulate(group.cells.begin(), group.cells.end(), 0.0, [&](double sum, const latency::Cell& cell) {
    const auto known = cell_s_.find({group.by_operation, cell.model});
    return sum + (known == cell_s_.end() ? longest : known->second);
  });
}

std::optional<CellGroup> GroupQueue::next(double elapsed_s) {
  for (Entry& entry : entries_) {
    if (entry.state == State::given) throw std::logic_error("the group before was neither done nor failed");
    if (entry.state != State::waiting) continue;
    if (elapsed_s < budget_s_ && elapsed_s + expected_s(entry.group) <= budget_s_) {
      entry.state = State::given;
      return entry.group;
    }
    entry.state = State::passed_over;
  }
  return std::nullopt;
}

GroupQueue::Entry& GroupQueue::given() {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.state == State::given; });
  if (found == entries_.end()) throw std::logic_error("no group was given");
  return *found;
}

void GroupQueue::done(double took_s, const std::vector<latency::Cell>& measured) {
  check_nonnegative("took_s", took_s);
  Entry& entry = given();
  entry.state = State::ended;
  const double cell_s = took_s / static_cast<double>(entry.group.cells.size());
  for (const latency::Cell& cell : entry.group.cells) {
    double& longest = cell_s_[{entry.group.by_operation, cell.model}];
    longest = std::max(longest, cell_s);
  }
  for (const latency::Cell& cell : measured) measured_.insert({entry.group.by_operation, cell});
}

void GroupQueue::failed(const std::string& why) {
  Entry& entry = given();
  entry.state = State::ended;
  entry.why = why;
}

std::vector<latency::Missing> GroupQueue::missing() const {
  const auto reason = [](const Entry& entry) -> std::string {
    switch (entry.state) {
      case State::passed_over:
        return "no time left";
      case State::ended:
        return entry.why.empty() ? "no sample that counts" : entry.why;
      case State::waiting:
      case State::given:
        break;
    }
    return "the run ended before it was measured";
  };
  std::vector<latency::Missing> missing;
  for (const Entry& entry : entries_) {
    const bool by_operation = entry.group.by_operation;
    for (const latency::Cell& cell : entry.group.cells) {
      if (measured_.contains({by_operation, cell})) continue;
      missing.push_back({.what = to_text(cell) + (by_operation ? " by operation" : ""), .why = reason(entry)});
    }
  }
  return missing;
}

}  // namespace foredraft::gpu_bench
