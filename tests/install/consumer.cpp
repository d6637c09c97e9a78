// SPDX-License-Identifier: Apache-2.0
// Calls every function of the public headers once from outside the library; a function that is not exported does not
// link. Exits 1 with the line of a wrong answer.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "every_header.hpp"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::exit(1);
}
#define REQUIRE(condition) require(condition, #condition)

template <class Error, class Call>
bool throws(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what()[0] != '\0';
  }
  return false;
}

bool agree(const foredraft::Estimate& simulated, double closed_form) {
  return std::abs(simulated.mean - closed_form) < 5.0 * simulated.standard_error;
}

}  // namespace

int main() {
  using namespace foredraft;
  REQUIRE(version() == std::to_string(version_major) + "." + std::to_string(version_minor) + "." +
                           std::to_string(version_patch) + std::string(version_suffix));
  REQUIRE(to_string(Convention::bonus) == "bonus" && parse_convention("no_bonus") == Convention::no_bonus);
  REQUIRE(to_string(Drafting::block) == "block" && parse_drafting("free") == Drafting::free);

  Scenario scenario{
      .fidelity = ProcessFidelity{.acceptance = Iid{.alpha = 0.8}}, .gamma = 5, .cost = ConstantRatio{.c = 0.05}};
  read_inputs(scenario);
  const ClosedForm expected = predict(scenario);
  REQUIRE(std::abs(expected.tokens_per_iteration - (1.0 - std::pow(0.8, 6)) / 0.2) < 1e-12);
  REQUIRE(std::abs(expected.speedup - expected.tokens_per_iteration / 1.25) < 1e-12);
  const BestDraftLength best = best_draft_length(scenario);
  REQUIRE(best.gamma == 8 && best.first_near_best == 7 && best.last_near_best == 9);
  const Simulated simulated = simulate(scenario, {.iterations = 1'000'000, .seed = 1});
  REQUIRE(simulated.iterations == 1'000'000);
  REQUIRE(agree(simulated.estimates.tokens_per_iteration, expected.tokens_per_iteration));
  REQUIRE(agree(simulated.estimates.speedup, expected.speedup));
  REQUIRE(simulate(scenario, {.iterations = 1'000'000, .seed = 1}, 3).estimates.speedup.mean ==
          simulated.estimates.speedup.mean);

  const Scenario named = Scenario::from({{"alpha", 0.8}, {"gamma", std::int64_t{5}}, {"c", 0.05}});
  REQUIRE(predict(named).speedup == expected.speedup);
  REQUIRE(throws<InputError>([] { static_cast<void>(Scenario::from({{"alpha", 1.5}})); }));

  // Errors keep their types across the library boundary.
  scenario.gamma = -1;
  REQUIRE(throws<DomainError>([&] { static_cast<void>(predict(scenario)); }));
  REQUIRE(throws<InputError>([] { static_cast<void>(Profile::read("no such device")); }));
  REQUIRE(throws<InputError>([] { static_cast<void>(Profile::read_steps("no such file")); }));
  REQUIRE(throws<InputError>([] { run_sweep("no such file", "nowhere"); }));

  TreeQuestion question{.accuracies = {{0.5, 0.25}, {0.5, 0.125}}, .nodes = 5, .depth = 2};
  REQUIRE(best_tree(question).chosen.tokens == 2.125);
  question.given = tree_from_paths(std::vector<TreePath>{{1}, {1, 0}});
  REQUIRE(question.given->path(2) == (TreePath{1, 0}) && question.given->leaves() == 1);
  REQUIRE(TokenTree(std::vector<TreeLink>{{.parent = 0, .rank = 1}, {.parent = 1, .rank = 0}}) == question.given);
  REQUIRE(best_tree(question).chosen.tokens == 1.375);

  REQUIRE(!shipped_devices().empty());
  const Profile profile = Profile::read("h200");
  REQUIRE(profile.source() == ProfileSource::datasheet && to_string(profile.source()) == "datasheet");
  REQUIRE(!profile.device().empty() && profile.sha256().size() == 64 && profile.valid());
  const PairTimes times = profile.times("llama-2-7b", "sheared-llama-1.3b");
  const ForwardPassTime plain = times.plain(1, 512);
  REQUIRE(plain.time_us > 0.0 && to_string(plain.origin) == "roofline");
  REQUIRE(times.verify(5, 1, 512).time_us >= plain.time_us);
  REQUIRE(times.drafting(5, 1, 512).time_us < 5.0 * plain.time_us);
  REQUIRE(!times.sampling(5, 1) && !times.plain_sampling(1));
  const SpeedupTable table = profile.speedups(
      {.target = "llama-2-7b", .draft = "sheared-llama-1.3b", .acceptance = Iid{.alpha = 0.8}, .max_gamma = 6});
  REQUIRE(table.lengths.size() == 6 && table.best_gamma >= 1 && table.lengths[2].speedup > 1.0);

  double maximum = 0.0;
  const SweepOptions options{.threads = 1, .progress = [&](const SweepProgress& now) { maximum = now.finished; }};
  const SweepResult result = run_sweep("sweep.toml", "swept", options);
  REQUIRE(result.points == 2 && result.resumed == 0 && !result.already_complete && maximum == 2.0);
  REQUIRE(run_sweep("sweep.toml", "swept", options).already_complete);
  for (const std::uint64_t index : {1U, 2U}) {
    run_sweep("sweep.toml", "shard" + std::to_string(index), {.shard = Shard{index, 2}});
  }
  REQUIRE(merge_shards({"shard2", "shard1"}, "merged").points == 2);
  REQUIRE(merge_shards({"shard1", "shard2"}, "merged").already_complete);
  REQUIRE(throws<InputError>([] { merge_shards({"shard1"}, "lacking"); }));
  const std::atomic<bool> stop = true;
  REQUIRE(throws<Interrupted>([&] { run_sweep("sweep.toml", "stopped", {.stop = &stop}); }));
  REQUIRE(throws<Interrupted>([&] { static_cast<void>(simulate(named, {.iterations = 1'000'000}, 1, &stop)); }));
  return 0;
}
