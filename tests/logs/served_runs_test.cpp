// SPDX-License-Identifier: Apache-2.0
#include "logs/served_runs.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// The log of a server beside the file of the client that loaded it.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::Observation;
using logs::ObservedLog;

Observation of_server(double requests, double tokens_per_s, std::int64_t gamma) {
  return {.span = logs::Span::window,
          .decoding = Decoding::speculative,
          .gamma = gamma,
          .acceptance = logs::AcceptanceCounts{.steps = 1000, .drafted_tokens = 1000 * gamma, .accepted_tokens = 1500},
          .requests = requests,
          .times = {.output_tokens_per_s = tokens_per_s}};
}

Observation of_client(double tokens_per_s, Decoding decoding) {
  return {.span = logs::Span::run,
          .decoding = decoding,
          .requests = 7.8,
          .times = {.output_tokens_per_s = tokens_per_s, .tpot_ms = 10.0}};
}

ObservedLog file_of(const char* name, std::vector<Observation> observations) {
  ObservedLog log{.file = name, .sha256 = "", .contents = {}};
  log.contents.observations = std::move(observations);
  return log;
}

std::vector<ObservedLog> joined(std::vector<ObservedLog> logs) {
  logs[1].contents.engine = "sglang";
  logs[1].contents.settings.method = "eagle3";
  logs::join_server_logs(logs);
  return logs;
}

}  // namespace

TEST_CASE("a client's run has the counts of the only server log that is as fast at its load") {
  const ObservedLog client = file_of("client.json", {of_client(800.0, Decoding::unknown)});
  const auto both = joined({client, file_of("logs/server.log", {of_server(8.0, 790.0, 3), of_server(8.0, 820.0, 3),
                                                                of_server(1.0, 150.0, 3)})});
  const Observation& run = both[0].contents.observations.at(0);
  CHECK(run.decoding == Decoding::speculative);
  CHECK(run.gamma == 3);
  CHECK(run.acceptance->steps == 2000);
  CHECK(run.times.tpot_ms == 10.0);
  CHECK(run.times.iteration_ms == near(25.0));
  CHECK(both[0].contents.engine == "sglang");
  CHECK(both[0].contents.settings.method == "eagle3");
  CHECK(warns(both[0].contents, "W22"));
  CHECK(both[1].contents.observations.size() == 1);  // at another load
}

TEST_CASE("logs of other runs are not joined with that of a client") {
  const ObservedLog client = file_of("client.json", {of_client(800.0, Decoding::speculative)});
  const auto is_joined = [](const std::vector<ObservedLog>& logs) {
    return joined(logs)[0].contents.observations.at(0).acceptance.has_value();
  };
  CHECK(is_joined({client, file_of("a.log", {of_server(8.0, 800.0, 3)})}));
  CHECK_FALSE(is_joined({client, file_of("a.log", {of_server(8.0, 900.0, 3)})}));   // faster
  CHECK_FALSE(is_joined({client, file_of("a.log", {of_server(16.0, 800.0, 3)})}));  // another load
  CHECK_FALSE(is_joined({client, file_of("a.log", {of_server(8.0, 800.0, 3), of_server(8.0, 800.0, 5)})}));
  CHECK_FALSE(is_joined({client, file_of("a.log", {of_server(8.0, 800.0, 3)}),  // of which of the two?
                         file_of("b.log", {of_server(8.0, 810.0, 5)})}));
  CHECK_FALSE(is_joined(
      {file_of("client.json", {of_client(800.0, Decoding::plain)}), file_of("a.log", {of_server(8.0, 800.0, 3)})}));
  Observation other = of_client(800.0, Decoding::speculative);
  other.gamma = 4;
  CHECK_FALSE(is_joined({file_of("client.json", {other}), file_of("a.log", {of_server(8.0, 800.0, 3)})}));
}

}  // namespace foredraft::tests
