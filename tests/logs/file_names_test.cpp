// SPDX-License-Identifier: Apache-2.0
#include "logs/file_names.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// What names of files tell of runs that do not say themselves what drafted.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::Observation;
using logs::ObservedLog;

const std::string prompt = "[ Prompt: 90.0 t/s | Generation: 20.0 t/s ]\n";

std::string client(const std::string& more) {
  return "============ Serving Benchmark Result ============\nBackend:                                 sglang\n"
         "Successful requests:                     40\nMax request concurrency:                 4\n"
         "Total generated tokens:                  8000\nOutput token throughput (tok/s):         160.00\n" +
         more + "Mean E2E Latency (ms):                   900.00\nMean TPOT (ms):                          25.00\n";
}

std::vector<ObservedLog> logs_of(const std::vector<std::pair<std::string, std::string>>& files) {
  std::vector<ObservedLog> all;
  for (const auto& [name, text] : files) all.push_back({name, "", read_log(text)});
  return all;
}

const Observation& run_of(const ObservedLog& log) { return log.contents.observations.at(0); }

/// The decodings of prompts in files with these names.
std::vector<Decoding> decodings(const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& name : names) files.emplace_back(name, prompt);
  std::vector<ObservedLog> all = logs_of(files);
  logs::name_by_files(all);
  std::vector<Decoding> found;
  for (const ObservedLog& log : all) found.push_back(run_of(log).decoding);
  return found;
}

using Decodings = std::vector<Decoding>;

}  // namespace

TEST_CASE("names of files tell runs with and without speculation apart") {
  std::vector<ObservedLog> all = logs_of({{"out/baseline.txt", prompt}, {"out/eagle3_k3.txt", prompt}});
  logs::name_by_files(all);
  CHECK(run_of(all[0]).decoding == Decoding::plain);
  CHECK(run_of(all[1]).decoding == Decoding::speculative);
  CHECK(run_of(all[1]).drafter == "eagle3");
  CHECK(run_of(all[1]).gamma == 3);
  for (const ObservedLog& log : all) CHECK(warns(log.contents, "W22"));
  CHECK(decodings({"no-spec.log", "mtp.log"}) == Decodings{Decoding::plain, Decoding::speculative});
  CHECK(decodings({"8b.txt", "8b-mtp2.txt"}) == Decodings{Decoding::plain, Decoding::speculative});
  // No name is that of the other arm.
  CHECK(decodings({"mtp2.txt", "mtp4.txt"}) == Decodings{Decoding::unknown, Decoding::unknown});
  CHECK(decodings({"8b.txt", "70b-mtp.txt"}) == Decodings{Decoding::unknown, Decoding::unknown});
  CHECK(decodings({"baseline.txt", "new.txt"}) == Decodings{Decoding::unknown, Decoding::unknown});
}

TEST_CASE("a name does not overrule what a run says of its drafts") {
  const std::string length = "Accept length:                           2.50\n";
  std::vector<ObservedLog> all = logs_of({{"spec_off.txt", client(length)}, {"spec.txt", client("")}});
  logs::name_by_files(all);
  CHECK(run_of(all[0]).decoding == Decoding::speculative);
  CHECK(run_of(all[1]).decoding == Decoding::speculative);  // SGLang's client prints no acceptance of some servers
}

TEST_CASE("beside a plain run, one of SGLang's client without acceptance drafts") {
  std::vector<ObservedLog> all = logs_of({{"a.txt", client("")}});
  logs::draft_beside_plain(all);
  CHECK(run_of(all[0]).decoding == Decoding::speculative);
  CHECK(all[0].contents.warnings.back().code == "W22");
  std::vector<ObservedLog> both =
      logs_of({{"a.txt", client("")}, {"b.txt", client("Accept length:                           2.50\n")}});
  logs::draft_beside_plain(both);
  CHECK(run_of(both[0]).decoding == Decoding::plain);
}

TEST_CASE("a name says that windows draft of which none prints its drafts") {
  const auto window = [](const std::string& speed) {
    return "INFO 03-04 09:10:20 [loggers.py:90] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation "
           "throughput: " +
           speed +
           " tokens/s, Running: 2 reqs, Waiting: 0 reqs, GPU KV cache usage: 2.0%, Prefix cache hit rate: 0.0%\n";
  };
  std::vector<ObservedLog> all = logs_of({{"plain.log", window("50.0")}, {"eagle3.log", window("90.0")}});
  REQUIRE(run_of(all[1]).decoding == Decoding::plain);
  logs::name_by_files(all);
  CHECK(run_of(all[0]).decoding == Decoding::plain);
  CHECK(run_of(all[0]).times.iteration_ms);
  CHECK(run_of(all[1]).decoding == Decoding::speculative);
  CHECK_FALSE(run_of(all[1]).times.iteration_ms);
  // Beside a plain log, one of a server may be that of another plain one.
  std::vector<ObservedLog> one = logs_of({{"a.log", window("90.0")}});
  logs::draft_beside_plain(one);
  CHECK(run_of(one[0]).decoding == Decoding::plain);
}

}  // namespace foredraft::tests
