// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "inputs/observed_acceptance.hpp"
#include "logs/observations_file.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_program.hpp"

namespace foredraft::tests {
namespace {

const std::string table =
    "decoding,gamma,steps,accepted_at_1,accepted_at_2,requests,iteration_ms\n"
    "speculative,2,1000,600,300,8,12.5\n"
    "plain,,,,,8,9.5\n";

std::string many_rows(int rows) {
  std::string text = "decoding,gamma,steps,accepted_at_1,requests,iteration_ms\n";
  for (int i = 0; i < rows; ++i) text += "speculative,1,1000,600,8,12.5\n";
  return text;
}

}  // namespace

TEST_CASE("import writes what it read, once, and reads it again as a log") {
  const TemporaryFolder folder;
  write_text(folder / "a.csv", table);
  const Outcome first = foredraft(folder, "import a.csv --out o.json");
  CHECK(first.code == 0);
  CHECK(first.out.find("acceptance length 1.900 +- ") != std::string::npos);
  CHECK(first.out.find("written to  o.json\n") != std::string::npos);
  const auto logs = logs::parse_observations(content_of(folder / "o.json"), "o.json");
  REQUIRE(logs.size() == 1);
  CHECK(logs[0].file == "a.csv");
  CHECK(logs[0].contents.observations.size() == 2);
  const Outcome again = foredraft(folder, "import a.csv --out o.json");
  CHECK(again.code == 2);
  CHECK(again.err.find("o.json: exists and is not overwritten - use another --out") != std::string::npos);
  CHECK(foredraft(folder, "import o.json --json").out.find("\"format\":\"observations\"") != std::string::npos);
  CHECK(foredraft(folder, "import a.csv --out none/o.json").code == 2);
}

TEST_CASE("a log that is compressed, in several compressed pieces or on standard input gives the same observations") {
  const TemporaryFolder folder;
  write_text(folder / "a.csv", table);
  const auto lines = [](const std::string& document) { return document.substr(document.find("\"settings\"")); };
  const std::string plain = lines(foredraft(folder, "import a.csv --json").out);
  CHECK(lines(foredraft(folder, "import - --json < a.csv").out) == plain);
  REQUIRE(std::system(("cd " + folder.path() +
                       " && gzip -k a.csv && head -c 60 a.csv | gzip > b.gz && tail -c +61 a.csv | gzip >> b.gz")
                          .c_str()) == 0);
  CHECK(lines(foredraft(folder, "import a.csv.gz --json").out) == plain);
  CHECK(lines(foredraft(folder, "import b.gz --json").out) == plain);
  const std::string packed = content_of(folder / "a.csv.gz");
  write_text(folder / "cut.gz", packed.substr(0, packed.size() - 5));
  CHECK(foredraft(folder, "import cut.gz").err.find("cut.gz: gzip data end too early") != std::string::npos);
  write_text(folder / "broken.gz", packed.substr(0, 20) + std::string(40, 'x'));
  const Outcome broken = foredraft(folder, "import broken.gz");
  CHECK(broken.code == 2);
  CHECK(broken.err.find("gzip data are broken") != std::string::npos);
}

TEST_CASE("a document has the digest of the bytes that were read") {
  const TemporaryFolder folder;
  write_text(folder / "a.csv", table);
  REQUIRE(std::system(("cd " + folder.path() + " && sha256sum a.csv > sum").c_str()) == 0);
  const auto document = nlohmann::json::parse(foredraft(folder, "import a.csv --json").out);
  CHECK(document.at("logs").at(0).at("source").at("sha256") == content_of(folder / "sum").substr(0, 64));
}

TEST_CASE("several logs are read at once, the same bytes twice are rejected") {
  const TemporaryFolder folder;
  write_text(folder / "a.csv", table);
  write_text(folder / "b.csv", many_rows(3));
  const Outcome both = foredraft(folder, "import a.csv b.csv --out o.json");
  CHECK(both.code == 0);
  CHECK(logs::parse_observations(content_of(folder / "o.json"), "o.json").size() == 2);
  write_text(folder / "c.csv", table);
  CHECK(foredraft(folder, "import a.csv c.csv").err.find("c.csv: holds the same bytes as a.csv") != std::string::npos);
  CHECK(foredraft(folder, "import - - < a.csv").err.find("given twice") != std::string::npos);
}

TEST_CASE("two scrapes of a server in two files are imported and advised on as the counts between them") {
  const TemporaryFolder folder;
  const auto scrape = [&](const char* name, int drafts, int accepted) {
    write_text(folder / name,
               fmt::format("vllm:spec_decode_num_drafts_total {}\nvllm:spec_decode_num_draft_tokens_total {}\n"
                           "vllm:spec_decode_num_accepted_tokens_total {}\n",
                           drafts, 2 * drafts, accepted));
  };
  scrape("before.prom", 10000, 2000);
  scrape("after.prom", 12000, 5200);
  const Outcome imported = foredraft(folder, "import after.prom before.prom --json");
  CHECK(imported.out.find("\"steps\":2000,\"drafted_tokens\":4000,\"accepted_tokens\":3200") != std::string::npos);
  CHECK(imported.out.find("\"steps\":1") == std::string::npos);
  CHECK(foredraft(folder, "advise before.prom after.prom").out.find("2,000 verification steps at K = 2") !=
        std::string::npos);
  CHECK(foredraft(folder, "compare before.prom after.prom").err.empty());
}

TEST_CASE("a file that is no log is rejected with exit code 2, one without observations fails with 1") {
  const TemporaryFolder folder;
  write_text(folder / "empty", "");
  write_text(folder / "text", "nothing of interest\n");
  write_text(folder / "binary", std::string("\x7f"
                                            "ELF\0\0\x01",
                                            7));
  for (const char* name : {"empty", "text", "binary", "absent", "."}) {
    INFO(name);
    const Outcome outcome = foredraft(folder, std::string("import ") + name + " --out o.json");
    CHECK(outcome.code == 2);
    CHECK(outcome.err.starts_with(std::string(name) + ": "));
    CHECK(content_of(folder / "o.json").empty());
  }
  write_text(folder / "warm.jsonl",
             "{\"iter\": 1, \"iterLatencyMS\": 9.0, \"inflightBatchingStats\": {\"numGenRequests\": 1}}\n");
  const Outcome nothing = foredraft(folder, "import warm.jsonl");
  CHECK(nothing.code == 1);
  CHECK(nothing.err.find("warm.jsonl: holds no observation") != std::string::npos);
  CHECK(foredraft(folder, "import text --format vlm").err.find("did you mean vllm?") != std::string::npos);
}

TEST_CASE("the problems of all logs are reported at once") {
  const TemporaryFolder folder;
  write_text(folder / "a.csv", "gamma,steps,accepted_at_1,iteration_ms\n1,9,20,1\n1,9,3,1\n1,9,x,1\n");
  write_text(folder / "text", "nothing of interest\n");
  CHECK(brief(foredraft(folder, "import a.csv text absent").err) ==
        "a.csv:2: position 1: accepted in 20 of 9 steps\na.csv:4: accepted_at_1: x\n"
        "text: no line of a known format\nabsent: cannot be read\n");
}

TEST_CASE("a summary has at most ten lines of at most 100 columns, for any input") {
  const TemporaryFolder folder;
  std::string text = "gamma,steps,accepted_at_1,requests,category\n";
  for (int gamma = 1; gamma <= 12; ++gamma) {
    for (int requests = 1; requests <= 64; requests *= 4) {
      text += std::to_string(gamma) + ",1000,600," + std::to_string(requests) + "," + std::string(80, 'c') + "\n";
    }
  }
  const std::string long_name(120, 'n');
  write_text(folder / long_name, text);
  std::istringstream lines(foredraft(folder, "import " + long_name).out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) CHECK(line.size() <= 102);  // the ellipsis has three bytes
  CHECK(count >= 5);
  CHECK(count <= 10);
}

TEST_CASE("reading a log stops on request and reports its progress") {
  const TemporaryFolder folder;
  write_text(folder / "a.csv", table);
  const std::vector<std::string> paths{folder / "a.csv"};
  std::uint64_t bytes = 0;
  static_cast<void>(inputs::read_logs(paths, "", {}, {}, [&](std::uint64_t read) { bytes += read; }));
  CHECK(bytes == table.size());
  const std::atomic<bool> asked{true};
  CHECK_THROWS_AS(inputs::read_logs(paths, "", {}, StopToken(&asked)), Interrupted);
}

}  // namespace foredraft::tests
