// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/answers/advise_testing.hpp"

namespace foredraft::tests {
namespace {

using answers::Advice;

}  // namespace

TEST_CASE("runs that differ in load, temperature, category or lengths are named and not compared") {
  const auto differs = [](auto&& change) {
    logs::Observation other = plain(8, 10.0);
    logs::Observation first = speculative(3, 8, 12.0, 0.8);
    change(first, other);
    const Advice advice = advice_of({first, other});
    CHECK_FALSE(advice.loads.at(0).chain);
    CHECK(names(advice, "arms_differ"));
    CHECK(advice.warns("W09"));
    return advice.loads[0].arms_differ;
  };
  CHECK(differs([](auto&, auto& other) { other.requests = 100.0; }) == "8 requests against 100 requests");
  CHECK(differs([](auto& first, auto& other) {
          first.stratum.temperature = 0.0;
          other.stratum.temperature = 1.0;
        }) == "temperature 0 against 1");
  CHECK(differs([](auto& first, auto& other) {
          first.stratum.category = "code";
          other.stratum.category = "chat";
        }) == "category code against chat");
  CHECK(differs([](auto& first, auto& other) {
          first.stratum.context_tokens = 500.0;
          other.stratum.context_tokens = 4000.0;
        }) == "context 500 against 4000 tokens");
}

TEST_CASE("logs of two target models are not compared") {
  logs::ObservedLog first = log_of({speculative(3, 8, 12.0, 0.8)});
  logs::ObservedLog second = log_of({plain(8, 10.0)}, "b.log");
  first.contents.settings.target = "org/Llama-3.1-8B";
  second.contents.settings.target = "/models/llama-3.1-8b/";
  CHECK(answers::advise({.logs = {first}, .plain = {second}}).loads.at(0).chain);
  second.contents.settings.target = "org/Qwen3-8B";
  const Advice advice = answers::advise({.logs = {first}, .plain = {second}});
  CHECK_FALSE(advice.loads.at(0).chain);
  CHECK(advice.warns("W03"));
  logs::ObservedLog third = second;
  third.contents.settings.target = first.contents.settings.target;
  const Advice several = answers::advise({.logs = {first}, .plain = {third, second}});
  const auto found = std::ranges::find(several.warnings, "W03", &logs::LogWarning::code);
  REQUIRE(found != several.warnings.end());
  CHECK(found->message.find("llama-3.1-8b against qwen3-8b") != std::string::npos);
}

TEST_CASE("names of a target that differ only by words of a drafter are of one target") {
  logs::ObservedLog drafting = log_of({speculative(3, 8, 12.0, 0.8)});
  logs::ObservedLog alone = log_of({plain(8, 10.0)}, "b.log");
  const auto are_one = [&](const std::string& first, const std::string& second) {
    drafting.contents.settings.target = first;
    alone.contents.settings.target = second;
    const Advice advice = answers::advise({.logs = {drafting}, .plain = {alone}});
    CHECK(advice.warns("W03"));
    return advice.loads.at(0).chain.has_value();
  };
  CHECK(are_one("phi9:14b-mtp", "phi9:14b"));
  CHECK(are_one("phi9:14b-nodraft", "phi9:14b"));
  CHECK(are_one("phi9:14b-NoSpec", "phi9:14b-mtp"));
  CHECK(are_one("phi9:14b-nextn-q4_K_M", "phi9:14b-q4_K_M"));
  CHECK(are_one("lab/Phi-9-14B_MTP_Q4", "lab/Phi-9-14B_Q4"));
  CHECK(are_one("phi-9-14b-medusa", "phi-9-14b-vanilla"));
  CHECK(are_one("someone/Phi-9-14B-speculator.eagle3", "lab/Phi-9-14B"));
  CHECK(are_one("lab/Phi-9-14B-EAGLE-3", "lab/Phi-9-14B"));
  CHECK(are_one("lab/Phi-9-14B-medusa", "lab/Phi-9-14B-no-medusa"));
  CHECK(are_one("lab/Phi-9-14B-DFlash-speculators", "lab/Phi-9-14B"));
  CHECK_FALSE(are_one("phi9:14b-mtp", "phi9:4b"));
  CHECK_FALSE(are_one("phi9:14b-novel", "phi9:14b"));
  CHECK_FALSE(are_one("phi9:14b-q8-mtp", "phi9:14b-q4"));
  CHECK_FALSE(are_one("lab/Phi-9-14B-special", "lab/Phi-9-14B"));
  CHECK_FALSE(are_one("lab/Eagle2-14B", "lab/14B"));
}

TEST_CASE("speculative decoding in the plain log is no plain run, and neither is K = 0 of a speculative server") {
  const Advice itself = answers::advise(
      {.logs = {log_of({speculative(3, 8, 12.0, 0.8)})}, .plain = {log_of({speculative(3, 8, 11.0, 0.8)}, "b.log")}});
  CHECK_FALSE(itself.loads.at(0).chain);
  CHECK(itself.warns("W09"));
  logs::Observation off = speculative(1, 8, 10.0, 0.8);
  off.gamma = 0;
  off.acceptance.reset();
  const Advice advice = advice_of({speculative(3, 8, 12.0, 0.8), off});
  CHECK_FALSE(advice.loads.at(0).chain);
  CHECK(advice.warns("W09"));
}

TEST_CASE("throughput at a request rate is no time, and runs of one rate are compared by their time per token") {
  const auto run = [](logs::Decoding decoding, std::optional<double> tpot_ms) {
    logs::Observation one = decoding == logs::Decoding::plain ? plain(13, 1.0) : speculative(3, 5, 1.0, 0.8, 100);
    one.span = logs::Span::run;
    one.times = {};
    one.times.output_tokens_per_s = 50.0;
    one.times.request_rate_per_s = 0.3;
    one.times.tpot_ms = tpot_ms;
    return one;
  };
  const Advice rate_alone =
      advice_of({run(logs::Decoding::speculative, std::nullopt), run(logs::Decoding::plain, std::nullopt)});
  CHECK_FALSE(rate_alone.loads.at(0).chain);
  const Advice timed = advice_of({run(logs::Decoding::speculative, 5.0), run(logs::Decoding::plain, 10.0)});
  REQUIRE(timed.loads.at(0).chain);
  CHECK(timed.loads[0].chain->speedup.mean == Approx(2.0).epsilon(counts_rounding));
  CHECK(timed.loads[0].name == "0.3 requests/s");
}

TEST_CASE("acceptance of an unknown load that has no row is named") {
  logs::Observation untimed = speculative(3, 8, 12.0, 0.5);
  untimed.requests = std::nullopt;
  untimed.times = {};
  CHECK_FALSE(advice_of({speculative(3, 8, 12.0, 0.8), plain(8, 10.0)}).warns("W11"));
  CHECK(advice_of({speculative(3, 8, 12.0, 0.8), plain(8, 10.0), untimed}).warns("W11"));
}

TEST_CASE("a run of unknown load is compared with a plain one of one request, not with one of more") {
  const auto at = [](double plain_requests) {
    logs::Observation drafted = speculative(3, 8, 12.0, 0.8);
    drafted.requests = std::nullopt;
    return advice_of({drafted, plain(plain_requests, 10.0)});
  };
  const Advice one = at(1);
  REQUIRE(one.loads.at(0).speedup());
  CHECK(one.warns("W09"));
  CHECK_FALSE(at(2).loads.at(0).speedup());
  // Of a kind of prompts, and a plain run without one, of a sweep of contexts.
  logs::Observation code = speculative(3, 8, 12.0, 0.8);
  code.span = logs::Span::run;
  code.requests = std::nullopt;
  code.stratum.category = "code";
  std::vector<logs::Observation> all{code};
  for (const double context : {4000.0, 500.0, 2000.0}) {
    all.push_back(plain(1, 10.0 + context / 500.0));
    all.back().span = logs::Span::run;
    all.back().stratum.context_tokens = context;
  }
  const Advice of_kind = advice_of(all);
  REQUIRE(of_kind.loads.at(0).speedup());
  CHECK(of_kind.loads.at(0).plain_ms->mean == Approx(11.0));
  CHECK(of_kind.warns("W09"));
}

}  // namespace foredraft::tests
