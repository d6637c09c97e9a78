// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/load_equilibrium.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include "analytic/cost/iteration_cost.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::second_route;

/// The truncation error of sums over an unbounded batch.
constexpr double cut_tail = 1e-12;

constexpr double iteration_us = 2000.0;

/// Only verification takes time.
IterationTime verification(std::function<double(std::int64_t)> us) {
  return [us = std::move(us)](std::int64_t batch, double /*prompt_tokens*/) {
    return IterationParts{.verification = us(batch)};
  };
}

/// Requests of 50 iterations on average, exponentially distributed.
ServedLoad load_of(double requests_per_s, std::int64_t max_batch) {
  return {.requests_per_s = requests_per_s,
          .iterations = [](std::int64_t) { return RequestIterations{.mean = 50.0, .variation = 1.0}; },
          .max_batch = max_batch,
          .iteration = verification([](std::int64_t) { return iteration_us; })};
}

}  // namespace

TEST_CASE("iterations of constant time serve as many requests as arrive while one is decoded") {
  const LoadEquilibrium free = load_equilibrium(load_of(30.0, 4096));
  // Poisson with mean rate * time in service; an iteration holds at least one.
  const double mean = 30.0 * 50.0 * iteration_us * 1e-6;
  CHECK(free.decoding == Approx(mean).epsilon(cut_tail));
  CHECK(free.batch == Approx(mean / -std::expm1(-mean)).epsilon(cut_tail));
  CHECK(free.waiting == Approx(0.0).margin(cut_tail));
  CHECK(free.decode_us == Approx(50.0 * iteration_us).epsilon(cut_tail));
  CHECK_FALSE(free.overloaded);
}

TEST_CASE("a batch of bounded size makes requests wait like parallel servers do") {
  constexpr std::int64_t servers = 3;
  const double offered = 24.0 * 50.0 * iteration_us * 1e-6;  // 2.4 of 3
  // Erlang's formula for waiting requests.
  const double ratio = offered / servers;
  const double all_busy = std::pow(offered, servers) / 6.0 / (1.0 - ratio);
  const double waits = all_busy / (1.0 + offered + offered * offered / 2.0 + all_busy);
  const LoadEquilibrium found = load_equilibrium(load_of(24.0, servers));
  CHECK(found.waiting == Approx(waits * ratio / (1.0 - ratio)).epsilon(second_route));
  CHECK(found.decoding == Approx(offered).epsilon(second_route));
  CHECK(found.capacity_per_s == Approx(servers / (50.0 * iteration_us * 1e-6)).epsilon(second_route));
}

TEST_CASE("iterations whose time grows with the batch act like one shared server") {
  ServedLoad load = load_of(8.0, 65'536);
  load.iteration = verification([](std::int64_t batch) { return iteration_us * static_cast<double>(batch); });
  const LoadEquilibrium shared = load_equilibrium(load);
  const double utilization = 8.0 * 50.0 * iteration_us * 1e-6;  // 0.8
  CHECK(shared.decoding == Approx(utilization / (1.0 - utilization)).epsilon(cut_tail));
  CHECK(shared.decode_us == Approx(50.0 * iteration_us / (1.0 - utilization)).epsilon(cut_tail));
}

TEST_CASE("prompts take their share of the time from decoding, and arrive in clusters") {
  ServedLoad load = load_of(10.0, 4096);
  load.prompt_us = [](std::int64_t prompts) { return 20'000.0 * static_cast<double>(prompts); };
  const LoadEquilibrium found = load_equilibrium(load);
  constexpr double solved = 1e-7;  // rare batches of prompts are left out
  // Given the time since the last prompts were read, the prompts N of an iteration are Poisson. With the share s of
  // prompts, E[N] = rate T / (1 - s), and the variance of N is E[N] / (1 - s^2). While a prompt is read, s E[N^2] /
  // E[N] others arrive.
  const double share = 0.2;
  const double mean = 10.0 * iteration_us * 1e-6 / (1.0 - share);
  const double come = share * (1.0 / (1.0 - share * share) + mean);
  const double decode_us = (50.0 * iteration_us + 20'000.0 * (come - mean)) / (1.0 - share);
  CHECK(found.decode_us == Approx(decode_us).epsilon(solved));
  CHECK(found.decoding == Approx(10.0 * 1e-6 * decode_us).epsilon(solved));
  CHECK(found.shares.prompts == Approx(share).epsilon(solved));
  CHECK(found.shares.verification == Approx(1.0 - share).epsilon(solved));
}

TEST_CASE("prompts that are read together cost one pass") {
  ServedLoad load = load_of(100.0, 4096);
  load.prompt_us = [](std::int64_t /*prompts*/) { return 3000.0; };
  // Whether prompts are read follows from whether any were before: a chain of two states.
  const double after_none = -std::expm1(-1e-4 * 2000.0);
  const double after_some = -std::expm1(-1e-4 * 5000.0);
  const double read = after_none / (1.0 - after_some + after_none);
  const double cycle_us = 2000.0 + 3000.0 * read;
  // When a request begins to decode, the prompts that wait arrived in the 3,000 us of its own prefill pass, not in a
  // whole cycle.
  const double decode_us = 50.0 * cycle_us + 3000.0 * read / 2000.0 * (3000.0 - cycle_us);
  constexpr double solved = 1e-7;
  CHECK(load_equilibrium(load).decode_us == Approx(decode_us).epsilon(solved));
}

TEST_CASE("at or above the rate of a full batch a server is overloaded and only its capacity is returned") {
  ServedLoad load = load_of(10.0, 16);
  load.prompt_us = [](std::int64_t prompts) { return 5000.0 * static_cast<double>(prompts); };
  const double capacity = load_equilibrium(load).capacity_per_s;
  CHECK(capacity == Approx(1e6 / (5000.0 + 50.0 * iteration_us / 16)).epsilon(1e-7));
  load.requests_per_s = 0.999 * capacity;
  CHECK_FALSE(load_equilibrium(load).overloaded);
  load.requests_per_s = 1.001 * capacity;
  const LoadEquilibrium overloaded = load_equilibrium(load);
  CHECK(overloaded.overloaded);
  CHECK(std::isnan(overloaded.batch));
  CHECK(std::isnan(overloaded.decode_us));
}

TEST_CASE("closed-loop clients keep their number of sequences in the batch, up to its maximum") {
  constexpr double prompt_us = 7000.0;
  ServedLoad load = load_of(0.0, 64);
  load.prompt_us = [](std::int64_t prompts) { return prompt_us * static_cast<double>(prompts); };
  load.tokens = 100.0;
  for (const std::int64_t clients : {1, 4, 16, 64, 200}) {
    load.clients = clients;
    const LoadEquilibrium found = load_equilibrium(load);
    CAPTURE(clients);
    const auto batch = static_cast<double>(std::min<std::int64_t>(clients, 64));
    // The rate is B / (I T + B t_P) for I iterations of time T and prompts of time t_P. In an iteration in which a
    // request ends, so does each of the B - 1 others with probability 1 / I, and all their prompts share a pass.
    const double request_us = 50.0 * iteration_us + batch * prompt_us;
    const double own_us = prompt_us * (1.0 + (batch - 1.0) / 50.0);
    constexpr double solved = 1e-7;  // rare batches of prompts are left out
    CHECK(found.requests_per_s == Approx(1e6 * batch / request_us).epsilon(solved));
    CHECK(found.batch == batch);
    CHECK(found.iteration_us == Approx(request_us / 50.0).epsilon(solved));
    CHECK(found.tpot_us == Approx((request_us - own_us) / 100.0).epsilon(solved));
    CHECK(found.waiting == static_cast<double>(clients) - batch);
    CHECK(found.ttft_us == Approx(own_us + found.waiting * request_us / batch).epsilon(solved));
    CHECK(found.in_flight == static_cast<double>(clients));
    CHECK(found.request_us == Approx(found.ttft_us + found.decode_us).epsilon(second_route));
    CHECK(found.capacity_per_s == Approx(1e6 * 64.0 / (50.0 * iteration_us + 64.0 * prompt_us)).epsilon(solved));
    CHECK(found.shares.prompts == Approx(batch * prompt_us / request_us).epsilon(solved));
    CHECK_FALSE(found.overloaded);
  }
}

namespace {

/// Iterations of 1,000 us plus 100 us a sequence and 1 us a prompt token. Prompts have 3,000 tokens and passes 2,048,
/// of which each sequence takes 4.
ServedLoad chunked_load(std::int64_t clients, double variation) {
  return {.clients = clients,
          .iterations = [variation](std::int64_t) { return RequestIterations{.mean = 50.0, .variation = variation}; },
          .tokens = 100.0,
          .max_batch = 64,
          .iteration =
              [](std::int64_t batch, double prompt_tokens) {
                return IterationParts{.verification = 900.0 + 100.0 * static_cast<double>(batch),
                                      .prompts = prompt_tokens,
                                      .engine = 100.0};
              },
          .chunked = {.tokens = 3000.0,
                      .room = [](std::int64_t batch) { return 2048.0 - 4.0 * static_cast<double>(batch); }}};
}

}  // namespace

TEST_CASE("a chunked prompt takes the passes that it fills, and makes them longer") {
  for (const double variation : {0.0, 1.0}) {
    const LoadEquilibrium alone = load_equilibrium(chunked_load(1, variation));
    // Two passes of a prompt without a sequence, 50 of the sequence.
    CHECK(alone.ttft_us == Approx(2.0 * 1000.0 + 3000.0).epsilon(second_route));
    CHECK(alone.decode_us == Approx(50.0 * 1100.0).epsilon(second_route));
    CHECK(alone.batch == Approx(1.0).epsilon(second_route));
    CHECK(alone.iteration_us == Approx((50.0 * 1100.0 + 5000.0) / 50.0).epsilon(second_route));
    CHECK(alone.shares.prompts == Approx(3000.0 / 60'000.0).epsilon(second_route));
    CHECK(alone.shares.engine == Approx(100.0 * 52.0 / 60'000.0).epsilon(second_route));
  }
  // Ten clients in step: 52 passes a cycle, of which 20 read one prompt beside nine sequences.
  const LoadEquilibrium ten = load_equilibrium(chunked_load(10, 0.0));
  const double cycle_us = 20.0 * 1900.0 + 32.0 * 2000.0 + 10.0 * 3000.0;
  CHECK(ten.requests_per_s == Approx(1e6 * 10.0 / cycle_us).epsilon(second_route));
  CHECK(ten.ttft_us == Approx(2.0 * 1900.0 + 3000.0).epsilon(second_route));
}

TEST_CASE("prompts that fill every pass bound the batch and the rate of 64 clients") {
  for (const double variation : {0.0, 1.0}) {
    const LoadEquilibrium full = load_equilibrium(chunked_load(64, variation));
    // Each request needs 3,000 tokens, and a pass has room for 2,048 - 4 B: B = 50 / (3000 / (2048 - 4 B)).
    const double batch = 50.0 * 2048.0 / (3000.0 + 50.0 * 4.0);
    const double pass_us = 1000.0 + 100.0 * batch + 2048.0 - 4.0 * batch;
    constexpr double nearly = 0.01;  // not every pass is full
    CAPTURE(variation);
    CHECK(full.batch == Approx(batch).epsilon(nearly));
    CHECK(full.requests_per_s == Approx(1e6 * batch / 50.0 / pass_us).epsilon(nearly));
    CHECK(full.in_flight == 64.0);
    CHECK(full.request_us == Approx(full.ttft_us + full.decode_us).epsilon(second_route));
  }
}

TEST_CASE("an equilibrium rejects invalid server values") {
  const auto rejects = [](auto ServedLoad::*member, auto value) {
    ServedLoad wrong = load_of(10.0, 4);
    wrong.*member = value;
    CHECK_THROWS_AS(load_equilibrium(wrong), DomainError);
  };
  rejects(&ServedLoad::requests_per_s, 0.0);
  rejects(&ServedLoad::iterations, IterationsAtBatch([](std::int64_t) { return RequestIterations{std::nan("")}; }));
  rejects(&ServedLoad::max_batch, std::int64_t{0});
  rejects(&ServedLoad::clients, std::int64_t{-1});
  rejects(&ServedLoad::tokens, 0.0);
  rejects(&ServedLoad::iteration, verification([](std::int64_t) { return 0.0; }));
  rejects(&ServedLoad::prompt_us, PromptTime([](std::int64_t) { return -1.0; }));
}

TEST_CASE("a million tokens cost the hours that they take") {
  CHECK(price_per_million_tokens(3.6, 1000.0) == Approx(1.0).epsilon(second_route));
  CHECK(price_per_million_tokens(0.0, 5.0) == 0.0);
  CHECK_THROWS_AS(price_per_million_tokens(-1.0, 5.0), DomainError);
  CHECK_THROWS_AS(price_per_million_tokens(1.0, 0.0), DomainError);
}

}  // namespace foredraft::analytic
