// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/profile_run.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "gpu_bench/measure/measure.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "gpu_bench/run/profile_folder.hpp"
#include "latency/operations/counts.hpp"
#include "latency/surfaces/fit_latency.hpp"

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
        return entry.why.empty() ? "no valid sample" : entry.why;
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

namespace {

/// Samples of a cell in this run, separately for odd and for even visits. If the first visit was in an earlier run, its
/// samples are not known, and all others are in the second half.
struct Timed {
  std::array<std::vector<double>, 2> halves_us = {};
  int visits = 1;
  bool of_earlier_run = false;
};

/// An encoder runs once per request, so it gets a quarter of the visits after the second.
bool is_due(const CellGroup& group, int visit) {
  const bool encoders = std::ranges::all_of(
      group.cells, [](const latency::Cell& cell) { return cell.role == latency::Role::encoder_pass; });
  return !encoders || visit <= 2 || visit % 4 == 1;
}

class ProfileRun {
 public:
  ProfileRun(latency::Profile& profile, const RunPlan& plan, const std::vector<CellGroup>& kept,
             const DeviceSide& device, const RunSurroundings& around)
      : profile_(profile),
        plan_(plan),
        device_(device),
        around_(around),
        queue_(plan.groups, (1.0 - plan.repeat_share - plan.verification_share) * plan.budget_s, kept) {}

  MeasureEnd run() {
    try {
      around_.say("measuring the device's limits");
      device_.measure_limits();
      write();
      measure_cells();
      measure_verifications();
      repeat_groups();
    } catch (const Interrupted&) {
      not_repeated_ = "the run was interrupted";
      add_note(profile_, "interrupted", "the run was interrupted; completed measurements are here");
      write();
      return MeasureEnd::interrupted;
    } catch (const std::exception& error) {
      not_repeated_ = "the run failed";
      add_note(profile_, "failed", error.what());
      write();
      throw;
    }
    fit();
    device_.finish();
    write();
    return MeasureEnd::done;
  }

 private:
  void write() {
    profile_.missing = queue_.missing();
    for (const auto& group : plan_.verifications) {
      for (const latency::VerificationCell& cell : group) {
        if (latency::find_verification(profile_, cell) != nullptr) continue;
        const auto failed = not_verified_.find(cell);
        profile_.missing.push_back(
            {.what = to_text(cell), .why = failed == not_verified_.end() ? "no time left" : failed->second});
      }
    }
    if (!profile_.aa_test) {
      profile_.missing.push_back({.what = "rows measured a second time (A/A)", .why = not_repeated_});
    }
    device_.write(profile_);
  }

  void keep_samples(const std::string& what, const latency::Measurement& measurement) const {
    if (device_.keep_samples) device_.keep_samples(what, measurement.samples_us);
  }

  void measure_cells() {
    while (const std::optional<CellGroup> group = queue_.next(around_.elapsed_s())) {
      const double start_s = around_.elapsed_s();
      around_.say(fmt::format("{:5.0f} s  {} and {} more{}", start_s, to_text(group->cells.front()),
                              group->cells.size() - 1, group->by_operation ? ", operation by operation" : ""));
      const std::optional<std::string> failed = why_not_measured([&] {
        const std::vector<latency::Cell> timed = group->by_operation ? device_.break_down(*group) : time_group(*group);
        queue_.done(around_.elapsed_s() - start_s, timed);
      });
      if (failed) queue_.failed(*failed);
      write();
    }
  }

  /// Measures the cells that no row of an earlier run has, until a group like the longest so far would not fit any
  /// more.
  void measure_verifications() {
    double longest_s = 0.0;
    for (const std::vector<latency::VerificationCell>& group : plan_.verifications) {
      std::vector<latency::VerificationCell> wanted;
      for (const latency::VerificationCell& cell : group) {
        if (latency::find_verification(profile_, cell) == nullptr) wanted.push_back(cell);
      }
      if (wanted.empty()) continue;
      const double start_s = around_.elapsed_s();
      if (start_s + longest_s > (1.0 - plan_.repeat_share) * plan_.budget_s) break;
      around_.say(fmt::format("{:5.0f} s  {} and {} more", start_s, to_text(wanted.front()), wanted.size() - 1));
      const std::optional<std::string> failed = why_not_measured([&] {
        for (latency::VerificationRow& row : device_.verify(wanted)) {
          if (row.timing.summary.samples > 0) profile_.verifications.push_back(std::move(row));
        }
      });
      for (const latency::VerificationCell& cell : wanted) {
        if (failed) not_verified_.emplace(cell, *failed);
      }
      longest_s = std::max(longest_s, around_.elapsed_s() - start_s);
      write();
    }
  }

  /// The cells that have a time now.
  std::vector<latency::Cell> time_group(const CellGroup& group) {
    std::vector<latency::Measurement> measured = device_.measure_group(group);
    std::vector<latency::Cell> cells;
    for (std::size_t i = 0; i < group.cells.size(); ++i) {
      if (measured[i].summary.samples == 0) continue;
      const latency::Cell& cell = group.cells[i];
      const latency::Work work = latency::work_of(program_of(plan_.models, cell), latency::data_type_of(cell.dtype));
      profile_.steps.push_back(
          {.cell = cell, .timing = latency::timing_of(measured[i], work.read_bytes, work.written_bytes, work.flop)});
      keep_samples(to_text(cell), measured[i]);
      timed_.emplace(cell, Timed{.halves_us = {std::move(measured[i].samples_us), {}}});
      cells.push_back(cell);
    }
    return cells;
  }

  /// Groups measured again, from the first on, while there is time; then the A/A test.
  void repeat_groups() {
    for (int visit = 2; visit <= plan_.visits; ++visit) {
      for (const CellGroup& group : plan_.groups) {
        if (around_.elapsed_s() >= plan_.budget_s) break;
        if (!group.by_operation && is_due(group, visit)) repeat_group(group, visit);
      }
    }
    std::vector<latency::Measurement> first;
    std::vector<latency::Measurement> second;
    for (const auto& [cell, timed] : timed_) {
      if (timed.halves_us[1].empty()) continue;
      first.push_back({.name = to_text(cell),
                       .summary = timed.of_earlier_run ? latency::find_step(profile_, cell)->timing.summary
                                                       : latency::summarise(timed.halves_us[0]),
                       .samples_us = {}});
      second.push_back({.name = to_text(cell), .summary = latency::summarise(timed.halves_us[1]), .samples_us = {}});
    }
    if (first.empty()) {
      not_repeated_ = "no time left";
    } else {
      profile_.aa_test = aa_test(first, second);
    }
  }

  void repeat_group(const CellGroup& group, int visit) {
    CellGroup known = group;
    std::erase_if(known.cells, [this](const latency::Cell& cell) { return !has_samples(cell); });
    if (known.cells.empty()) return;
    around_.say(fmt::format("{:5.0f} s  visit {}: {} and {} more", around_.elapsed_s(), visit,
                            to_text(known.cells.front()), known.cells.size() - 1));
    const std::vector<latency::Measurement> again = device_.measure_group(known);
    for (std::size_t i = 0; i < again.size(); ++i) {
      if (again[i].summary.samples == 0) continue;
      keep_samples(fmt::format("{} visit {}", to_text(known.cells[i]), visit), again[i]);
      take_in(known.cells[i], again[i]);
    }
  }

  void take_in(const latency::Cell& cell, const latency::Measurement& again) {
    Timed& timed = timed_.try_emplace(cell, Timed{.of_earlier_run = true}).first->second;
    auto& [odd_us, even_us] = timed.halves_us;
    const bool odd = ++timed.visits % 2 == 1 && !timed.of_earlier_run;
    std::vector<double>& half_us = odd ? odd_us : even_us;
    half_us.insert(half_us.end(), again.samples_us.begin(), again.samples_us.end());
    if (timed.of_earlier_run) return;
    std::vector<double> samples_us = odd_us;
    samples_us.insert(samples_us.end(), even_us.begin(), even_us.end());
    latency::Timing& timing = std::ranges::find(profile_.steps, cell, &latency::StepRow::cell)->timing;
    timing.summary = latency::summarise(samples_us);
    timing.throttled += again.throttled;
  }

  /// The latency model of the measurements. An invalid one is omitted, because the times remain valid.
  void fit() {
    around_.say(fmt::format("{:5.0f} s  fitting the latency model", around_.elapsed_s()));
    try {
      latency::Profile fitted = profile_;
      fitted.fits = latency::fit_latencies(profile_, plan_.models);
      latency::check_profile(fitted);
      profile_.fits = std::move(fitted.fits);
    } catch (const DomainError& error) {
      add_note(profile_, "no fit", error.what());
    }
  }

  [[nodiscard]] bool has_samples(const latency::Cell& cell) const {
    const latency::StepRow* row = latency::find_step(profile_, cell);
    return row != nullptr && row->timing.summary.samples > 0;
  }

  latency::Profile& profile_;
  const RunPlan& plan_;
  const DeviceSide& device_;
  const RunSurroundings& around_;
  GroupQueue queue_;
  std::string not_repeated_ = "the run ended before";
  std::map<latency::VerificationCell, std::string> not_verified_;
  std::map<latency::Cell, Timed> timed_;
};

}  // namespace

MeasureEnd measure_profile(latency::Profile& profile, const RunPlan& plan, const std::vector<CellGroup>& kept,
                           const DeviceSide& device, const RunSurroundings& around) {
  return ProfileRun(profile, plan, kept, device, around).run();
}

std::vector<CellGroup> keep_rows(latency::Profile& profile, const latency::Profile& unfinished) {
  if (unfinished.device.name != profile.device.name || unfinished.identity.commit != profile.identity.commit) return {};
  CellGroup whole;
  CellGroup by_operation{.cells = {}, .by_operation = true};
  profile.limits = unfinished.limits;  // until they are measured again
  profile.steps = unfinished.steps;
  for (const latency::StepRow& row : profile.steps) whole.cells.push_back(row.cell);
  profile.verifications = unfinished.verifications;
  profile.breakdowns = unfinished.breakdowns;
  for (const latency::Breakdown& breakdown : profile.breakdowns) {
    by_operation.cells.push_back(breakdown.cell);
    for (const latency::Part& part : breakdown.parts) {
      if (latency::find_part(profile, breakdown.cell.dtype, part) != nullptr) continue;
      profile.kernels.push_back(*latency::find_part(unfinished, breakdown.cell.dtype, part));
    }
  }
  return {std::move(whole), std::move(by_operation)};
}

void add_note(latency::Profile& profile, const std::string& name, std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  profile.notes.push_back({.name = name, .text = std::move(text)});
}

}  // namespace foredraft::gpu_bench
