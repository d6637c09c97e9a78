#include "gpu_bench/profile/cell_plan.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <stdexcept>

#include "core/check.hpp"
#include "gpu_bench/profile/group_queue.hpp"

namespace foredraft::gpu_bench {
namespace {

const std::vector<PlannedPair> pairs{
    {.target = {"large"}, .drafter = {"small"}, .drafting = Role::autoregressive_drafting},
    {.target = {"large"}, .drafter = {"large"}, .drafting = Role::head_drafting},
    {.target = {"translator", 64}, .drafter = {"parallel", 64}, .drafting = Role::block_drafting}};

std::vector<Cell> all_cells(const std::vector<CellGroup>& plan) {
  std::vector<Cell> cells;
  for (const CellGroup& group : plan) cells.insert(cells.end(), group.cells.begin(), group.cells.end());
  return cells;
}

std::vector<Cell> cells_where(const std::vector<CellGroup>& plan, auto&& wanted) {
  std::vector<Cell> cells = all_cells(plan);
  std::erase_if(cells, [&](const Cell& cell) { return !wanted(cell); });
  return cells;
}

/// Position of the first and the last cell of a kind in the plan.
struct Span {
  std::size_t first, last;
};
Span span_of(const std::vector<CellGroup>& plan, auto&& wanted) {
  const std::vector<Cell> cells = all_cells(plan);
  const auto first = std::find_if(cells.begin(), cells.end(), wanted);
  const auto last = std::find_if(cells.rbegin(), cells.rend(), wanted);
  REQUIRE(first != cells.end());
  return {static_cast<std::size_t>(first - cells.begin()), static_cast<std::size_t>(cells.rend() - last) - 1};
}

bool is_usual(const Cell& cell) {
  return cell.batch == 1 && (cell.context == 512 || cell.role == Role::encoder_pass) && cell.tokens <= 32 &&
         cell.cache == Cache::cold && cell.launch == Launch::graph && cell.dtype == "fp16";
}

/// A group costs its cells' times; a model's cells all take the same.
double seconds(const CellGroup& group, const std::map<std::string, double>& cell_s) {
  double sum = 0.0;
  for (const Cell& cell : group.cells) sum += cell_s.at(cell.model);
  return sum;
}

}  // namespace

TEST_CASE(
    "the plan begins with the curves at batch 1 of every pair, then batches, then contexts, then the next dtype") {
  const auto plan = plan_cells(pairs, {"fp16", "bf16"});
  const Span usual = span_of(plan, is_usual);
  const Span batches =
      span_of(plan, [](const Cell& c) { return c.batch > 1 && c.context == 512 && c.dtype == "fp16"; });
  const Span contexts = span_of(
      plan, [](const Cell& c) { return c.context != 512 && c.role != Role::encoder_pass && c.dtype == "fp16"; });
  const Span many = span_of(plan, [](const Cell& c) { return c.tokens > 32 && c.dtype == "fp16"; });
  const Span hot = span_of(plan, [](const Cell& c) { return c.cache == Cache::hot && c.dtype == "fp16"; });
  const Span bf16 = span_of(plan, [](const Cell& c) { return c.dtype == "bf16"; });
  CHECK(usual.first == 0);
  CHECK(usual.last < batches.first);
  CHECK(batches.last < contexts.first);
  CHECK(contexts.last < many.first);
  CHECK(many.last < hot.first);
  CHECK(hot.last < bf16.first);
}

TEST_CASE("every model that a pair passes tokens through has the whole curve of 1 to 32 tokens, once") {
  const auto plan = plan_cells(pairs, {"fp16"});
  for (const std::string model : {"large", "small", "translator"}) {
    std::set<std::int64_t> tokens;
    const auto curve = cells_where(
        plan, [&](const Cell& c) { return c.model == model && c.role == Role::decoder_pass && is_usual(c); });
    for (const Cell& cell : curve) tokens.insert(cell.tokens);
    CAPTURE(model);
    CHECK(tokens.size() == 32);
    CHECK(*tokens.rbegin() == 32);
    CHECK(curve.size() == 32);
  }
  std::vector<Cell> cells = all_cells(plan);
  std::sort(cells.begin(), cells.end());
  CHECK(std::adjacent_find(cells.begin(), cells.end()) == cells.end());
}

TEST_CASE("each pair drafts in its own way, encoders belong to models that have one") {
  const auto plan = plan_cells(pairs, {"fp16"});
  std::set<std::pair<std::string, Role>> drafting;
  for (const Cell& cell : all_cells(plan)) {
    if (cell.role != Role::decoder_pass) drafting.insert({cell.model, cell.role});
    CHECK((cell.source_length == 64) == (cell.model == "translator" || cell.model == "parallel"));
  }
  CHECK(drafting == std::set<std::pair<std::string, Role>>{{"small", Role::autoregressive_drafting},
                                                           {"large", Role::head_drafting},
                                                           {"parallel", Role::block_drafting},
                                                           {"parallel", Role::encoder_pass},
                                                           {"translator", Role::encoder_pass}});
}

TEST_CASE("target and drafter of a pair stand in one group") {
  const auto plan = plan_cells(pairs, {"fp16"});
  std::set<std::string> models;
  for (const Cell& cell : plan.front().cells) models.insert(cell.model);
  CHECK(models == std::set<std::string>{"large", "small"});
}

TEST_CASE("plans without pairs, without dtypes and of a drafter that drafts nothing are refused") {
  CHECK_THROWS_AS(plan_cells({}, {"fp16"}), DomainError);
  CHECK_THROWS_AS(plan_cells(pairs, {}), DomainError);
  CHECK_THROWS_WITH(plan_cells({{.target = {"a"}, .drafter = {"b"}, .drafting = Role::decoder_pass}}, {"fp16"}),
                    "b drafts for a by decoder_pass, which drafts nothing");
}

TEST_CASE("with time for all, all is measured and nothing is missing") {
  const auto plan = plan_cells(pairs, {"fp16"});
  GroupQueue queue(plan, 1e9);
  double now_s = 0.0;
  std::vector<Cell> measured;
  while (const auto group = queue.next(now_s)) {
    measured.insert(measured.end(), group->cells.begin(), group->cells.end());
    queue.done(1.0, group->cells);
    now_s += 1.0;
  }
  CHECK(measured == all_cells(plan));
  CHECK(queue.missing().empty());
}

TEST_CASE(
    "the time is kept once every model is known, cheap groups still fit behind dear ones, all the rest is named") {
  const auto plan = plan_cells(pairs, {"fp16"});
  const std::map<std::string, double> cell_s{{"large", 1.0}, {"small", 0.1}, {"translator", 0.05}, {"parallel", 0.02}};
  for (const double budget_s : {20.0, 60.0, 100.0, 150.0}) {
    CAPTURE(budget_s);
    GroupQueue queue(plan, budget_s);
    double now_s = 0.0;
    std::set<std::string> given;
    std::vector<Cell> measured;
    while (const auto group = queue.next(now_s)) {
      const double took_s = seconds(*group, cell_s);
      now_s += took_s;
      measured.insert(measured.end(), group->cells.begin(), group->cells.end());
      queue.done(took_s, group->cells);
    }
    CHECK(now_s <= budget_s);
    CHECK(now_s > 0.6 * budget_s);
    for (const Cell& cell : measured) given.insert(to_text(cell));
    std::size_t named = 0;
    for (const Missing& missing : queue.missing()) {
      CHECK(given.insert(missing.what).second);
      CHECK(missing.why == "no time left");
      ++named;
    }
    CHECK(named + measured.size() == all_cells(plan).size());
  }
}

TEST_CASE("what failed, what gave no sample and what an interrupt cut off have their reasons") {
  const std::vector<CellGroup> plan{{{Cell{.model = "a", .dtype = "fp16"}, Cell{.model = "a", .dtype = "bf16"}}},
                                    {{Cell{.model = "b", .dtype = "fp16"}}},
                                    {{Cell{.model = "c", .dtype = "fp16"}}}};
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
  CHECK(missing[0].why == "no sample that counts");
  CHECK(missing[1].why == "needs 3 GB of memory, 2 GB are free");
  CHECK(missing[2].why == "the run ended before it was measured");
  CHECK_FALSE(queue.next(100.0));
  CHECK(queue.missing()[2].why == "no time left");
}

TEST_CASE("cells that an earlier run measured are not given again") {
  const auto plan = plan_cells(pairs, {"fp16"});
  GroupQueue queue(plan, 1e9, plan.front().cells);
  CHECK(queue.next(0.0)->cells == plan[1].cells);
  const auto missing = queue.missing();
  CHECK(missing.size() == all_cells(plan).size() - plan.front().cells.size());
  CHECK_THROWS_AS(GroupQueue(plan, 0.0), DomainError);
}

}  // namespace foredraft::gpu_bench
