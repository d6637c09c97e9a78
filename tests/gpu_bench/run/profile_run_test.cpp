// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/profile_run.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "foredraft/errors.hpp"
#include "gpu_bench/run/profile_folder.hpp"
#include "latency/models/model_registry.hpp"

namespace foredraft::gpu_bench {
namespace {

latency::Cell cell_of(std::int64_t tokens) {
  return {.model = "tiny-target",
          .role = latency::Role::decoder_pass,
          .dtype = "fp32",
          .batch = 1,
          .tokens = tokens,
          .context = 16,
          .launch = latency::Launch::eager};
}

/// A device whose passes take ten microseconds a token, and encoders ten, on a clock that advances only by 10 s per
/// group.
struct CountedDevice {
  double now_s = 0.0;
  std::vector<double> slower = {};  ///< factor on the time of a cell's n-th visit; 1 after
  int visits = 2;
  std::int64_t interrupt_at = -1;  ///< tokens of the cell at which the user interrupts
  std::vector<std::int64_t> measured = {};
  std::vector<latency::Profile> written = {};
  std::vector<std::string> said = {};
  std::vector<std::vector<latency::VerificationCell>> verifications = {};
  std::vector<latency::VerificationCell> verified = {};
  std::vector<std::string> kept_samples = {};

  MeasureEnd run(latency::Profile& profile, const std::vector<CellGroup>& groups, double budget_s,
                 const std::vector<CellGroup>& kept = {}) {
    const RunPlan plan{.groups = groups,
                       .models = latency::model_registry(),
                       .budget_s = budget_s,
                       .repeat_share = 0.2,
                       .visits = visits,
                       .verifications = verifications,
                       .verification_share = verifications.empty() ? 0.0 : 0.3};
    const DeviceSide device{
        .measure_limits = [] {},
        .measure_group = [this](const CellGroup& group) { return measure_group(group); },
        .break_down = {},
        .verify = [this](const auto& group) { return verify(group); },
        .finish = [] {},
        .keep_samples = [this](const std::string& what, const std::vector<double>&) { kept_samples.push_back(what); },
        .write = [this](const latency::Profile& state) { written.push_back(state); }};
    const std::function<void(const std::string&)> say = [this](const std::string& line) { said.push_back(line); };
    return measure_profile(profile, plan, kept, device, {.elapsed_s = [this] { return now_s; }, .say = say});
  }

  std::vector<latency::Measurement> measure_group(const CellGroup& group) {
    std::vector<latency::Measurement> all;
    for (const latency::Cell& cell : group.cells) {
      if (cell.tokens == interrupt_at) throw Interrupted();
      if (cell.tokens == 99) throw MemoryError("too little memory");
      const auto visit = static_cast<std::size_t>(std::count(measured.begin(), measured.end(), cell.tokens));
      measured.push_back(cell.tokens);
      const double us = 10.0 * static_cast<double>(std::max<std::int64_t>(1, cell.tokens)) *
                        (visit < slower.size() ? slower[visit] : 1.0);
      all.push_back(
          {.name = to_text(cell), .summary = latency::summarise(std::vector{us, us, us}), .samples_us = {us, us, us}});
    }
    now_s += 10.0;
    return all;
  }

  std::vector<latency::VerificationRow> verify(const std::vector<latency::VerificationCell>& group) {
    std::vector<latency::VerificationRow> rows;
    for (const latency::VerificationCell& cell : group) {
      if (cell.batch == 99) throw MemoryError("too little memory");
      verified.push_back(cell);
      rows.push_back(
          {.cell = cell, .launches = 1, .timing = {.summary = latency::summarise(std::vector{5.0, 5.0, 5.0})}});
    }
    now_s += 10.0;
    return rows;
  }
};

latency::VerificationCell verification_of(std::int64_t batch) {
  return {.verifier = "ours", .dtype = "fp16", .batch = batch, .gamma = 5, .vocabulary = 100, .logits = "flat"};
}

latency::Profile empty_profile() {
  latency::Profile profile;
  profile.device.name = "counted device";
  profile.identity.commit = "abc";
  return profile;
}

const std::vector<CellGroup> three_groups{
    {.cells = {cell_of(1), cell_of(2)}}, {.cells = {cell_of(3)}}, {.cells = {cell_of(4)}}};

}  // namespace

TEST_CASE("a run measures its groups in order, repeats some, and saves after every group") {
  CountedDevice device;
  latency::Profile profile = empty_profile();
  CHECK(device.run(profile, three_groups, 50.0) == MeasureEnd::done);
  CHECK(device.measured == std::vector<std::int64_t>{1, 2, 3, 4, 1, 2, 3});
  REQUIRE(profile.steps.size() == 4);
  CHECK(profile.steps[3].timing.summary.median_us == 40.0);
  CHECK(profile.steps[2].timing.summary.samples == 6);
  CHECK(profile.steps[3].timing.summary.samples == 3);
  CHECK(profile.steps[0].timing.flop > 0.0);
  CHECK(profile.complete());
  REQUIRE(profile.aa_test);
  CHECK(profile.aa_test->pairs == 3);
  CHECK(profile.aa_test->valid());
  REQUIRE(device.written.size() == 5);  // limits, three groups, the end
  CHECK(device.written[1].steps.size() == 2);
  REQUIRE(device.kept_samples.size() == 7);
  CHECK(device.kept_samples[4] == to_text(cell_of(1)) + " visit 2");
  CHECK_FALSE(device.written[3].complete());  // the comparison is still missing
}

TEST_CASE("rows that differ when they are measured again make a profile that is not valid") {
  CountedDevice device;
  device.slower = {1.0, 1.2};
  latency::Profile profile = empty_profile();
  CHECK(device.run(profile, three_groups, 50.0) == MeasureEnd::done);
  REQUIRE(profile.aa_test);
  CHECK(profile.aa_test->median_difference == Approx(0.2));
  CHECK_FALSE(profile.aa_test->valid());
}

TEST_CASE("all groups are visited several times while time remains, and even and odd visits are compared") {
  CountedDevice device;
  device.visits = 5;
  device.slower = {1.0, 1.2, 1.0, 1.2, 3.0};
  latency::Profile profile = empty_profile();
  CHECK(device.run(profile, three_groups, 200.0) == MeasureEnd::done);
  REQUIRE(device.measured.size() == 20);
  CHECK(std::vector(device.measured.begin() + 4, device.measured.begin() + 9) ==
        std::vector<std::int64_t>{1, 2, 3, 4, 1});
  for (const latency::StepRow& row : profile.steps) {
    CHECK(row.timing.summary.samples == 15);
    CHECK(row.timing.summary.median_us == Approx(12.0 * static_cast<double>(row.cell.tokens)));
  }
  REQUIRE(profile.aa_test);
  CHECK(profile.aa_test->pairs == 4);
  // Odd visits have a median of 1, even ones of 1.2.
  CHECK(profile.aa_test->median_difference == Approx(0.2));
}

TEST_CASE("encoders, which run once a request, get fewer visits") {
  CountedDevice device;
  device.visits = 9;
  latency::Profile profile = empty_profile();
  const latency::Cell encoder{.model = "transformer-base",
                              .role = latency::Role::encoder_pass,
                              .dtype = "fp32",
                              .batch = 1,
                              .tokens = 0,
                              .source_length = 64};
  CHECK(device.run(profile, {{.cells = {cell_of(1)}}, {.cells = {encoder}}}, 1000.0) == MeasureEnd::done);
  CHECK(device.measured == std::vector<std::int64_t>{1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0});
  CHECK(profile.aa_test->pairs == 2);
}

TEST_CASE("the row of an earlier run is compared with all visits of this one, and stays") {
  CountedDevice earlier;
  latency::Profile profile = empty_profile();
  CHECK(earlier.run(profile, {three_groups[1]}, 9.0) == MeasureEnd::done);
  latency::Profile resumed = empty_profile();
  const std::vector<CellGroup> kept = keep_rows(resumed, profile);
  CountedDevice device;
  device.visits = 4;
  device.slower = {1.1, 1.2, 1.3};
  CHECK(device.run(resumed, {three_groups[1]}, 100.0, kept) == MeasureEnd::done);
  CHECK(device.measured.size() == 3);
  CHECK(resumed.steps[0].timing.summary.samples == 3);
  CHECK(resumed.steps[0].timing.summary.median_us == 30.0);
  CHECK(resumed.aa_test->median_difference == Approx(0.2));
}

TEST_CASE("an interrupted run keeps its rows, names what is missing, and can be resumed") {
  CountedDevice device;
  device.interrupt_at = 3;
  latency::Profile profile = empty_profile();
  CHECK(device.run(profile, three_groups, 50.0) == MeasureEnd::interrupted);
  CHECK(device.written.back().steps.size() == 2);
  REQUIRE(device.written.back().missing.size() == 3);
  CHECK(device.written.back().missing[0].what == to_text(cell_of(3)));
  CHECK(device.written.back().missing[2].what == "rows measured a second time (A/A)");

  latency::Profile resumed = empty_profile();
  const std::vector<CellGroup> kept = keep_rows(resumed, device.written.back());
  CountedDevice later;
  CHECK(later.run(resumed, three_groups, 50.0, kept) == MeasureEnd::done);
  CHECK(later.measured == std::vector<std::int64_t>{3, 4, 1, 2, 3, 4});
  CHECK(resumed.complete());
  CHECK(resumed.aa_test->pairs == 4);
}

TEST_CASE("a run with all rows but no comparison makes the comparison") {
  CountedDevice device;
  latency::Profile profile = empty_profile();
  CHECK(device.run(profile, {three_groups[0]}, 9.0) == MeasureEnd::done);
  CHECK(device.measured == std::vector<std::int64_t>{1, 2});  // 10 s of 9 have passed
  CHECK_FALSE(profile.complete());
  CHECK(profile.missing.front().why == "no time left");

  latency::Profile resumed = empty_profile();
  const std::vector<CellGroup> kept = keep_rows(resumed, profile);
  CHECK(device.run(resumed, {three_groups[0]}, 100.0, kept) == MeasureEnd::done);
  CHECK(device.measured == std::vector<std::int64_t>{1, 2, 1, 2});
  CHECK(resumed.complete());
}

TEST_CASE("a group that does not fit into memory is left out and named, the others are measured") {
  CountedDevice device;
  latency::Profile profile = empty_profile();
  CHECK(device.run(profile, {{.cells = {cell_of(99)}}, three_groups[1]}, 50.0) == MeasureEnd::done);
  CHECK(profile.steps.size() == 1);
  REQUIRE(profile.missing.size() == 1);
  CHECK(profile.missing.front().why == "too little memory");
}

TEST_CASE("verifications get their share of the time after the passes, and those without time are named") {
  CountedDevice device;
  device.verifications = {{verification_of(1), verification_of(2)},
                          {verification_of(99)},
                          {verification_of(3)},
                          {verification_of(4)},
                          {verification_of(5)}};
  latency::Profile profile = empty_profile();
  CHECK(device.run(profile, three_groups, 70.0) == MeasureEnd::done);
  CHECK(device.measured.front() == 1);
  CHECK(profile.steps.size() == 4);  // until 30 s; verifications may last until 56 s
  CHECK(profile.verifications.size() == 3);
  CHECK(latency::find_verification(profile, verification_of(3)) != nullptr);
  std::vector<std::string> missing;
  for (const latency::Missing& part : profile.missing) missing.push_back(part.what + ": " + part.why);
  CHECK(missing == std::vector<std::string>{to_text(verification_of(99)) + ": too little memory",
                                            to_text(verification_of(4)) + ": no time left",
                                            to_text(verification_of(5)) + ": no time left"});

  latency::Profile resumed = empty_profile();
  const std::vector<CellGroup> kept = keep_rows(resumed, profile);
  CountedDevice later;
  later.verifications = device.verifications;
  CHECK(later.run(resumed, three_groups, 200.0, kept) == MeasureEnd::done);
  CHECK(later.verified == std::vector{verification_of(4), verification_of(5)});
  CHECK(resumed.verifications.size() == 5);
}

TEST_CASE("a run over enough models ends with a latency model fitted to them") {
  std::vector<CellGroup> groups;
  for (const char* model : {"tiny-target", "tiny-drafter", "transformer-base", "t5-small"}) {
    CellGroup group;
    for (const std::int64_t tokens : {1, 4, 16}) {
      latency::Cell cell = cell_of(tokens);
      cell.model = model;
      cell.source_length = latency::find_model(latency::model_registry(), model).source_length;
      group.cells.push_back(cell);
    }
    groups.push_back(group);
  }
  CountedDevice device;
  latency::Profile profile = empty_profile();
  CHECK(device.run(profile, groups, 100.0) == MeasureEnd::done);
  REQUIRE(profile.fits.size() == 1);
  CHECK(profile.fits.front().dtype == "fp32");
  CHECK(device.written.back().fits.size() == 1);

  CountedDevice one_model;
  latency::Profile without = empty_profile();
  CHECK(one_model.run(without, three_groups, 50.0) == MeasureEnd::done);
  CHECK(without.fits.empty());
}

TEST_CASE("rows of another device or another program are not reused") {
  latency::Profile unfinished = empty_profile();
  unfinished.steps.push_back({.cell = cell_of(1), .timing = {}});
  latency::Profile other = empty_profile();
  other.device.name = "another device";
  CHECK(keep_rows(other, unfinished).empty());
  CHECK(other.steps.empty());
  other = empty_profile();
  other.identity.commit = "def";
  CHECK(keep_rows(other, unfinished).empty());
  latency::Profile same = empty_profile();
  CHECK_FALSE(keep_rows(same, unfinished).empty());
  CHECK(same.steps.size() == 1);
}

}  // namespace foredraft::gpu_bench
