// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/cell_plan.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "foredraft/errors.hpp"
#include "gpu_bench/run/profile_run.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::gpu_bench {
namespace {

const std::vector<PlannedPair> pairs{
    {.target = {"large"}, .drafter = {"small"}, .drafting = latency::Role::autoregressive_drafting},
    {.target = {"large"}, .drafter = {"large"}, .drafting = latency::Role::head_drafting},
    {.target = {"translator", 64}, .drafter = {"parallel", 64}, .drafting = latency::Role::block_drafting}};

/// Whole passes, or those that are measured operation by operation.
std::vector<latency::Cell> all_cells(const std::vector<CellGroup>& plan, bool by_operation = false) {
  std::vector<latency::Cell> cells;
  for (const CellGroup& group : plan) {
    if (group.by_operation == by_operation) cells.insert(cells.end(), group.cells.begin(), group.cells.end());
  }
  return cells;
}

std::size_t count_of(const std::vector<CellGroup>& plan) {
  return all_cells(plan).size() + all_cells(plan, true).size();
}

std::vector<latency::Cell> cells_where(const std::vector<CellGroup>& plan, auto&& wanted) {
  std::vector<latency::Cell> cells = all_cells(plan);
  std::erase_if(cells, [&](const latency::Cell& cell) { return !wanted(cell); });
  return cells;
}

/// Position of the first and the last cell of a kind in the plan.
struct Span {
  std::size_t first, last;
};
Span span_of(const std::vector<CellGroup>& plan, auto&& wanted) {
  const std::vector<latency::Cell> cells = all_cells(plan);
  const auto first = std::find_if(cells.begin(), cells.end(), wanted);
  const auto last = std::find_if(cells.rbegin(), cells.rend(), wanted);
  REQUIRE(first != cells.end());
  return {static_cast<std::size_t>(first - cells.begin()), static_cast<std::size_t>(cells.rend() - last) - 1};
}

bool is_default(const latency::Cell& cell) {
  return cell.batch == 1 && (cell.context == 512 || cell.role == latency::Role::encoder_pass) && cell.tokens <= 32 &&
         cell.cache == latency::Cache::cold && cell.launch == latency::Launch::graph && cell.dtype == "fp16";
}

/// A group takes the sum of its cells' times; all cells of a model take the same time.
double seconds(const CellGroup& group, const std::map<std::string, double>& cell_s) {
  double sum = 0.0;
  for (const latency::Cell& cell : group.cells) sum += cell_s.at(cell.model);
  return sum;
}

}  // namespace

TEST_CASE(
    "the plan begins with the curves at batch 1 of every pair, then batches, then contexts, then the next dtype") {
  const auto plan = plan_cells(pairs, {"fp16", "bf16"});
  const Span curves = span_of(plan, is_default);
  const Span batches =
      span_of(plan, [](const latency::Cell& c) { return c.batch > 1 && c.context == 512 && c.dtype == "fp16"; });
  const Span contexts = span_of(plan, [](const latency::Cell& c) {
    return c.context != 512 && c.role != latency::Role::encoder_pass && c.dtype == "fp16";
  });
  const Span many = span_of(plan, [](const latency::Cell& c) { return c.tokens > 32 && c.dtype == "fp16"; });
  const Span hot =
      span_of(plan, [](const latency::Cell& c) { return c.cache == latency::Cache::hot && c.dtype == "fp16"; });
  const Span bf16 = span_of(plan, [](const latency::Cell& c) { return c.dtype == "bf16"; });
  CHECK(curves.first == 0);
  CHECK(curves.last < batches.first);
  CHECK(batches.last < contexts.first);
  CHECK(contexts.last < many.first);
  CHECK(many.last < hot.first);
  CHECK(hot.last < bf16.first);
}

TEST_CASE("every model that a pair passes tokens through has the whole curve of 1 to 32 tokens, once") {
  const auto plan = plan_cells(pairs, {"fp16"});
  for (const std::string model : {"large", "small", "translator"}) {
    std::set<std::int64_t> tokens;
    const auto curve = cells_where(plan, [&](const latency::Cell& c) {
      return c.model == model && c.role == latency::Role::decoder_pass && is_default(c);
    });
    for (const latency::Cell& cell : curve) tokens.insert(cell.tokens);
    CAPTURE(model);
    CHECK(tokens.size() == 32);
    CHECK(*tokens.rbegin() == 32);
    CHECK(curve.size() == 32);
  }
  std::vector<latency::Cell> cells = all_cells(plan);
  std::sort(cells.begin(), cells.end());
  CHECK(std::adjacent_find(cells.begin(), cells.end()) == cells.end());
}

TEST_CASE("each pair drafts in its own way, and only models with an encoder have encoder cells") {
  const auto plan = plan_cells(pairs, {"fp16"});
  std::set<std::pair<std::string, latency::Role>> drafting;
  for (const latency::Cell& cell : all_cells(plan)) {
    if (cell.role != latency::Role::decoder_pass) drafting.insert({cell.model, cell.role});
    CHECK((cell.source_length == 64) == (cell.model == "translator" || cell.model == "parallel"));
  }
  CHECK(drafting == std::set<std::pair<std::string, latency::Role>>{{"small", latency::Role::autoregressive_drafting},
                                                                    {"large", latency::Role::head_drafting},
                                                                    {"parallel", latency::Role::block_drafting},
                                                                    {"parallel", latency::Role::encoder_pass},
                                                                    {"translator", latency::Role::encoder_pass}});
}

TEST_CASE("target and drafter of a pair are in one group") {
  const auto plan = plan_cells(pairs, {"fp16"});
  std::set<std::string> models;
  for (const latency::Cell& cell : plan.front().cells) models.insert(cell.model);
  CHECK(models == std::set<std::string>{"large", "small"});
}

TEST_CASE(
    "after the curves at batch 1, passes over 1 and 6 tokens are broken down, one per group, then larger batches") {
  const auto plan = plan_cells(pairs, {"fp16"});
  std::vector<std::tuple<std::string, latency::Role, std::int64_t, std::int64_t>> broken_down;
  for (const latency::Cell& cell : all_cells(plan, true)) {
    broken_down.emplace_back(cell.model, cell.role, cell.batch, cell.tokens);
    CHECK(cell.context == 512);
  }
  decltype(broken_down) expected;
  for (const auto& [batch, tokens] : {std::pair{1, 6}, {8, 8}, {64, 8}}) {
    expected.emplace_back("large", latency::Role::decoder_pass, batch, 1);
    expected.emplace_back("small", latency::Role::decoder_pass, batch, 1);
    expected.emplace_back("large", latency::Role::decoder_pass, batch, tokens);
    expected.emplace_back("small", latency::Role::decoder_pass, batch, tokens);
    expected.emplace_back("large", latency::Role::head_drafting, batch, 4);
    expected.emplace_back("translator", latency::Role::decoder_pass, batch, 1);
    expected.emplace_back("translator", latency::Role::decoder_pass, batch, tokens);
    expected.emplace_back("parallel", latency::Role::block_drafting, batch, 4);
  }
  CHECK(broken_down == expected);

  const auto first = std::find_if(plan.begin(), plan.end(), [](const CellGroup& group) { return group.by_operation; });
  CHECK(std::all_of(plan.begin(), first, [](const CellGroup& g) { return g.cells.front().batch == 1; }));
  CHECK(std::none_of(first, plan.end(),
                     [](const CellGroup& g) { return !g.by_operation && is_default(g.cells.front()); }));
  for (const CellGroup& group : plan) CHECK((!group.by_operation || group.cells.size() == 1));
}

TEST_CASE("every pass that is broken down is also measured as a whole") {
  const auto plan = plan_cells(pairs, {"fp16", "bf16"});
  const std::vector<latency::Cell> cells = all_cells(plan);
  const std::set<latency::Cell> whole(cells.begin(), cells.end());
  for (const latency::Cell& cell : all_cells(plan, true)) {
    CAPTURE(to_text(cell));
    CHECK(whole.contains(cell));
  }
}

TEST_CASE("a pass and its operations are measured, expected and reported missing separately") {
  const latency::Cell cell{.model = "a", .dtype = "fp16"};
  const std::vector<CellGroup> plan{{{cell}}, {{cell}, true}, {{latency::Cell{.model = "b", .dtype = "fp16"}}}};
  GroupQueue queue(plan, 10.0, {{{cell}, true}});
  REQUIRE(queue.next(0.0));
  queue.done(1.0, {cell});
  REQUIRE(queue.next(1.0)->cells == plan[2].cells);
  GroupQueue other(plan, 10.0);
  REQUIRE(other.next(0.0));
  other.done(1.0, {cell});
  REQUIRE(other.next(1.0)->by_operation);
  CHECK(other.missing().front().what == to_text(cell) + " by operation");
  other.done(8.0, {cell});
  // A whole pass of a new model is expected to take as long as other whole passes: 1 s, and 1 s is left.
  CHECK(other.next(9.0)->cells == plan[2].cells);
}

TEST_CASE("a model with few positions is measured at a context that fits them, and no further") {
  const PlannedModel few{.name = "few", .source_length = 0, .positions = 448};
  const auto plan =
      plan_cells({{.target = few, .drafter = few, .drafting = latency::Role::autoregressive_drafting}}, {"fp16"});
  std::map<std::int64_t, std::int64_t> longest;  // by context
  for (const latency::Cell& cell : all_cells(plan))
    longest[cell.context] = std::max(longest[cell.context], cell.tokens);
  CHECK(longest == std::map<std::int64_t, std::int64_t>{{128, 32}, {256, 128}});  // 256 + 256 tokens are beyond 448
  CHECK(plan.front().cells.size() == 6);
  // 512 tokens fit, and 8 after them; the curve needs 32.
  const PlannedModel just{.name = "just", .source_length = 0, .positions = 520};
  CHECK(plan_cells({{.target = just, .drafter = just, .drafting = latency::Role::autoregressive_drafting}}, {"fp16"})
            .front()
            .cells.front()
            .context == 256);
}

TEST_CASE("plans without pairs, without dtypes and of a drafter that drafts nothing are rejected") {
  CHECK_THROWS_AS(plan_cells({}, {"fp16"}), DomainError);
  CHECK_THROWS_AS(plan_cells(pairs, {}), DomainError);
  CHECK_THROWS_MATCHES(
      plan_cells({{.target = {"a"}, .drafter = {"b"}, .drafting = latency::Role::decoder_pass}}, {"fp16"}), DomainError,
      Says("b drafts for a by decoder_pass"));
}

TEST_CASE("with enough time everything is measured and nothing is missing") {
  const auto plan = plan_cells(pairs, {"fp16"});
  GroupQueue queue(plan, 1e9);
  double now_s = 0.0;
  std::vector<latency::Cell> measured;
  while (const auto group = queue.next(now_s)) {
    measured.insert(measured.end(), group->cells.begin(), group->cells.end());
    queue.done(1.0, group->cells);
    now_s += 1.0;
  }
  CHECK(measured.size() == count_of(plan));
  CHECK(queue.missing().empty());
}

TEST_CASE(
    "the budget is kept once every model is known, cheap groups still fit after expensive ones, and the rest is "
    "named") {
  const auto plan = plan_cells(pairs, {"fp16"});
  const std::map<std::string, double> cell_s{{"large", 1.0}, {"small", 0.1}, {"translator", 0.05}, {"parallel", 0.02}};
  for (const double budget_s : {20.0, 60.0, 100.0, 150.0}) {
    CAPTURE(budget_s);
    GroupQueue queue(plan, budget_s);
    double now_s = 0.0;
    std::set<std::string> given;
    std::vector<latency::Cell> measured;
    while (const auto group = queue.next(now_s)) {
      const double took_s = seconds(*group, cell_s);
      now_s += took_s;
      for (const latency::Cell& cell : group->cells) {
        measured.push_back(cell);
        given.insert(to_text(cell) + (group->by_operation ? " by operation" : ""));
      }
      queue.done(took_s, group->cells);
    }
    CHECK(now_s <= budget_s);
    CHECK(now_s > 0.6 * budget_s);
    std::size_t named = 0;
    for (const latency::Missing& missing : queue.missing()) {
      CHECK(given.insert(missing.what).second);
      CHECK(missing.why == "no time left");
      ++named;
    }
    CHECK(named + measured.size() == count_of(plan));
  }
}

TEST_CASE("failed, unsampled and interrupted cells have their reasons") {
  const std::vector<CellGroup> plan{
      {{latency::Cell{.model = "a", .dtype = "fp16"}, latency::Cell{.model = "a", .dtype = "bf16"}}},
      {{latency::Cell{.model = "b", .dtype = "fp16"}}},
      {{latency::Cell{.model = "c", .dtype = "fp16"}}}};
  GroupQueue queue(plan, 100.0);
  CHECK_THROWS_AS(queue.failed("nothing given"), std::logic_error);
  REQUIRE(queue.next(0.0));
  CHECK_THROWS_AS(queue.next(0.0), std::logic_error);
  queue.done(1.0, {plan[0].cells[0]});
  REQUIRE(queue.next(1.0)->cells == plan[1].cells);
  queue.failed("needs 3 GB of memory, 2 GB are free");
  const auto missing = queue.missing();
  REQUIRE(missing.size() == 3);
  CHECK(missing[0].what == to_text(plan[0].cells[1]));
  CHECK(missing[0].why == "no valid sample");
  CHECK(missing[1].why == "needs 3 GB of memory, 2 GB are free");
  CHECK(missing[2].why == "the run ended before it was measured");
  CHECK_FALSE(queue.next(100.0));
  CHECK(queue.missing()[2].why == "no time left");
}

TEST_CASE("cells that an earlier run measured are not planned again") {
  const auto plan = plan_cells(pairs, {"fp16"});
  GroupQueue queue(plan, 1e9, {plan.front()});
  CHECK(queue.next(0.0)->cells == plan[1].cells);
  const auto missing = queue.missing();
  CHECK(missing.size() == count_of(plan) - plan.front().cells.size());
  CHECK_THROWS_AS(GroupQueue(plan, 0.0), DomainError);
}

TEST_CASE(
    "a grid holds what is asked for: verification, the drafter's steps and drafts, encoders in groups of their own") {
  const auto plan = plan_grid(
      pairs, {.dtypes = {"fp32"}, .batches = {2, 1}, .contexts = {100, 30}, .launch = latency::Launch::eager});
  const std::vector<latency::Cell> cells = all_cells(plan);
  CHECK(std::set<latency::Cell>(cells.begin(), cells.end()).size() == cells.size());
  for (const latency::Cell& cell : cells) {
    CHECK(cell.dtype == "fp32");
    CHECK(cell.launch == latency::Launch::eager);
    CHECK((cell.context == 100 || cell.context == 30 || cell.role == latency::Role::encoder_pass));
  }
  const auto count = [&](const std::string& model, latency::Role role) {
    return cells_where(plan, [&](const latency::Cell& cell) { return cell.model == model && cell.role == role; })
        .size();
  };
  CHECK(count("large", latency::Role::decoder_pass) == 4 * 9);
  CHECK(count("small", latency::Role::decoder_pass) == 4 * 2);
  CHECK(count("small", latency::Role::autoregressive_drafting) == 4 * 2);
  CHECK(count("large", latency::Role::head_drafting) == 4 * 3);
  CHECK(count("parallel", latency::Role::decoder_pass) == 0);
  CHECK(count("parallel", latency::Role::block_drafting) == 4 * 3);
  CHECK(count("translator", latency::Role::encoder_pass) == 1);
  for (const CellGroup& group : plan) {
    const auto encodes = [](const latency::Cell& cell) { return cell.role == latency::Role::encoder_pass; };
    CHECK((std::all_of(group.cells.begin(), group.cells.end(), encodes) ||
           std::none_of(group.cells.begin(), group.cells.end(), encodes)));
  }
  CHECK(plan.front().cells.front().batch == 2);
  CHECK_THROWS_AS(plan_grid(pairs, {.dtypes = {"fp32"}, .batches = {}, .contexts = {1}}), DomainError);
  CHECK_THROWS_AS(plan_grid({}, {.dtypes = {"fp32"}, .batches = {1}, .contexts = {1}}), DomainError);
}

}  // namespace foredraft::gpu_bench
