// SPDX-License-Identifier: Apache-2.0
#include "inputs/requests.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "foredraft/scenario.hpp"
#include "inputs/inputs.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace foredraft::inputs {
namespace {

using Sent = std::vector<std::tuple<double, std::int64_t, std::int64_t>>;

Sent parsed_requests(std::string_view text) {
  Sent sent;
  for (const auto& [arrival_s, prompt, output] : parse_requests(text, "r").requests) {
    sent.emplace_back(arrival_s, prompt, output);
  }
  return sent;
}

}  // namespace

TEST_CASE("requests are read from CSV and JSONL, with their columns in any order") {
  const Sent wanted{{0.0, 3000, 500}, {0.5, 0, 1}, {0.5, 7, 9}};
  CHECK(parsed_requests("prompt_tokens,output_tokens,arrival_s\n3000,500,0\n0,1,0.5\n7,9,0.5\n") == wanted);
  CHECK(parsed_requests(
            "# a remark\r\narrival_s,user,output_tokens,prompt_tokens\r\n1,a,500,3000\r\n1.5,\"b,c\",1,0\r\n\r\n"
            "1.5,d,9,7\r\n") == wanted);
  CHECK(parsed_requests("{\"prompt_tokens\": 3000, \"output_tokens\": 500, \"arrival_s\": 0}\n"
                        "{\"prompt_tokens\": 0, \"output_tokens\": 1, \"arrival_s\": 0.5, \"x\": [1]}\n"
                        "{\"prompt_tokens\": 7, \"output_tokens\": 9, \"arrival_s\": 0.5}") == wanted);
}

TEST_CASE("published traces are read as they are, with their names and times") {
  // Azure: dates; here over a midnight.
  CHECK(parsed_requests("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 23:59:59.5000000,374,44\n"
                        "2023-11-17 00:00:01.2500000,396,109\n") == Sent{{0.0, 374, 44}, {1.75, 396, 109}});
  // BurstGPT: seconds.
  CHECK(parsed_requests("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
                        "5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT,1087,230,1317,Conversation log\n") ==
        Sent{{0.0, 472, 18}, {40.0, 1087, 230}});
  // Mooncake: milliseconds.
  CHECK(parsed_requests(
            "{\"timestamp\": 0, \"input_length\": 6758, \"output_length\": 500, \"hash_ids\": [0, 1]}\n"
            "{\"timestamp\": 3000, \"input_length\": 7322, \"output_length\": 490, \"hash_ids\": [0, 9]}\n") ==
        Sent{{0.0, 6758, 500}, {3.0, 7322, 490}});
  // Vidur: seconds.
  CHECK(parsed_requests("arrived_at,num_prefill_tokens,num_decode_tokens\n0.25,10,2\n0.75,11,3\n") ==
        Sent{{0.0, 10, 2}, {0.5, 11, 3}});
}

TEST_CASE("if there are token counts, the columns prompt and output are texts and not read") {
  CHECK(parsed_requests("{\"prompt\": \"Why?\", \"prompt_tokens\": 2, \"output\": \"So.\", \"completion_tokens\": 3, "
                        "\"timestamp\": 0}\n{\"prompt_tokens\": 5, \"prompt\": 9, \"output\": 7, \"time\": 4}\n") ==
        Sent{{0.0, 2, 3}, {4.0, 5, 7}});
  CHECK(parsed_requests("output,prompt,isl,osl,arrival_s\nx,y,1,2,0\nx,y,3,4,1\n") == Sent{{0.0, 1, 2}, {1.0, 3, 4}});
}

TEST_CASE("times count from the first arrival, in the order of the arrivals") {
  CHECK(parsed_requests("prompt,output,timestamp_ms\n1,11,2500\n2,12,1000\n3,13,2500\n") ==
        Sent{{0.0, 2, 12}, {1.5, 1, 11}, {1.5, 3, 13}});
}

TEST_CASE("a damaged recording is rejected with the line of every mistake") {
  CHECK_THROWS_MATCHES(parsed_requests("prompt,output,arrival\n1,2\n-1,2,0\n1,0,0\n1,2,-0.5\n1,2,nan\n1.5,2,\"\"\n"),
                       InputError,
                       Says("r:2: damaged row\nr:3: prompt_tokens: invalid prompt_tokens=-1\nr:4: output_tokens: "
                            "invalid output_tokens=0\nr:5: arrival_s: invalid arrival_s=-0.5\nr:6: arrival_s: "
                            "invalid arrival_s=nan\nr:7: prompt_tokens: invalid prompt_tokens=1.5\nr:7: arrival_s: "
                            "invalid arrival_s="));
  CHECK_THROWS_MATCHES(parsed_requests("prompt,arrival\n1,2\n"), InputError, Says("r:1: output_tokens: missing"));
  CHECK_THROWS_MATCHES(parsed_requests("prompt_tokens,input_length,output,arrival\n1,1,2,3\n"), InputError,
                       Says("r:1: input_length: given twice"));
  CHECK_THROWS_MATCHES(parsed_requests("a;b\n1;2\n"), InputError, Says("r:1: no requests"));
  CHECK_THROWS_MATCHES(
      parsed_requests("{\"prompt\": 1, \"output\": null, \"arrival\": 0}\n{\"prompt\": [1], \"output\": 1}\n"),
      InputError,
      Says("r:1: output_tokens: invalid output_tokens=\nr:2: prompt_tokens: invalid prompt_tokens=\n"
           "r:2: arrival_s: missing"));
  CHECK_THROWS_MATCHES(parsed_requests("{\"prompt_len\": 1, \"isl\": 1, \"output\": 1, \"arrival\": 0}\n"), InputError,
                       Says("r:1: isl: given twice"));
  CHECK_THROWS_MATCHES(
      parsed_requests("{\"prompt\": 1, \"output\": 1}\n{\"prompt\": 1\n{\"prompt\": 1, \"arrival\": 0}\n"), InputError,
      Says("r:1: arrival_s: missing\nr:2: syntax: invalid JSON at column 13\nr:3: output_tokens: missing"));
  CHECK_THROWS_AS(parsed_requests("{\"prompt\": 1, \"output\": 1, \"arrival\": 0}\nprompt,output,arrival\n"),
                  InputError);
}

TEST_CASE("a recording has two requests or more, which must not all arrive at once") {
  const std::string header = "prompt,output,arrival\n";
  CHECK_THROWS_MATCHES(parsed_requests(""), InputError, Says("r: holds 0 requests"));
  CHECK_THROWS_MATCHES(parsed_requests(header), InputError, Says("r: holds 0 requests"));
  CHECK_THROWS_MATCHES(parsed_requests(header + "1,2,3\n"), InputError, Says("r: holds 1 requests"));
  CHECK_THROWS_MATCHES(parsed_requests(header + "1,2,3\n1,2,3\n"), InputError,
                       Says("r: all requests arrive at one time"));
  CHECK_THROWS_MATCHES(parsed_requests(header + "1,2,0\n1,2,1e8\n"), InputError, Says("r: spans 1e+08 s"));
}

TEST_CASE("hostile recordings end in an error message") {
  CHECK_THROWS_WITH(parsed_requests("prompt,output,arrival\n" + std::string(1'048'577, '1')),
                    Catch::Contains("r:2: a line of"));
  CHECK_THROWS_WITH(parsed_requests("{\"prompt\":" + std::string(70, '[')), Catch::Contains("nested deeper"));
  CHECK_THROWS_WITH(parsed_requests("prompt,output,arrival\n1e300,9223372036854775808,1e300\n"),
                    Catch::Contains("invalid prompt_tokens=1e300") && Catch::Contains("invalid arrival_s=1e300"));
  for (const std::string date : {"2023-02-30 00:00:00", "2023-01-01 24:00:00", "2023-01-01 00:61:00", "2023-01-01",
                                 "2023-01-01 00:00:0x", "2023-13-01T00:00:00Z", "0000-00-00 00:00:00"}) {
    CHECK_THROWS_WITH(parsed_requests("prompt,output,arrival\n1,2," + date + "\n"),
                      Catch::Contains("invalid arrival_s=" + date));
  }
  std::string many = "prompt,output,arrival\n";
  for (int i = 0; i < 30; ++i) many += "x,1,1\n";
  CHECK_THROWS_WITH(parsed_requests(many),
                    Catch::Contains("r:21: ") && !Catch::Contains("r:22: ") && Catch::Contains("10 more"));
}

TEST_CASE("a server gets the requests and the engine that its configuration names, from its folder or shipped") {
  const tests::TemporaryFolder folder;
  std::ofstream(folder / "r.csv") << "prompt,output,arrival\n10,2,0\n20,3,1\n";
  std::ofstream(folder / "mine.toml") << "[mine]\nsummary = \"mine\"\nsource = \"measured\"\nhost_us = 70\n"
                                         "graph_tokens = 64\neager_operator_us = 5\n";
  Scenario scenario{
      .fidelity = Server{.arrivals = {.kind = ArrivalKind::recorded, .file = "r.csv"}, .engine_name = "mine.toml"}};
  Inputs inputs(folder.path());
  inputs.attach(scenario);
  const auto& server = std::get<Server>(scenario.fidelity);
  REQUIRE(server.recorded);
  CHECK(server.recorded->requests.at(1).prompt_tokens == 20);
  CHECK(server.engine.host_us == 70.0);
  CHECK(server.engine_name.empty());
  CHECK(inputs.files().size() == 2);
  // Given step times have no operators.
  REQUIRE(inputs.notes().size() == 1);
  CHECK_THAT(*inputs.notes().begin(), Catch::Contains("number of the target's operators"));
  scenario.fidelity = Server{.arrivals = {.kind = ArrivalKind::closed, .clients = 1}, .engine_name = "vlm"};
  CHECK_THROWS_WITH(Inputs().attach(scenario), Catch::Contains("vlm: neither a shipped engine nor a TOML file"));
  scenario.fidelity = Server{.arrivals = {.kind = ArrivalKind::recorded, .file = "none.csv"}};
  CHECK_THROWS_AS(Inputs().attach(scenario), InputError);
}

TEST_CASE("what is assumed of the models of a scenario is among the notes") {
  Scenario scenario{.fidelity = ProcessFidelity{.acceptance = Iid{0.7}}};
  Roofline cost;
  cost.source = "h100";
  cost.target = "Qwen/Qwen3-8B";
  cost.draft = "qwen3-0.6b";
  scenario.cost = cost;
  Inputs inputs;
  inputs.attach(scenario);
  CHECK(inputs.notes() == std::set<std::string>{"qwen3-8b: taken for Qwen/Qwen3-8B"});
}

}  // namespace foredraft::inputs
