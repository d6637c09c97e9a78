// SPDX-License-Identifier: Apache-2.0
#include "latency/engines/engines.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "core/names.hpp"
#include "foredraft/server.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::latency {
namespace {

const std::string sound_engine = R"([my-engine]
summary = "an engine"
aliases = ["mine"]
asynchronous = true
prefill = "chunked"
pass_tokens = 2048
graph_tokens = 256
host_us = { low = 100, value = 200.5, high = 300 }
draft_host_us = 40
eager_operator_us = { low = 2, value = 3, high = 5 }
source = "measured"
)";

std::string engine_problem(const std::string& text) {
  return rejection<DomainError>([&] { return parse_engines(text, "e.toml"); });
}

/// With `to` in place of `from`.
std::string changed_engine(const std::string& from, const std::string& to) {
  std::string text = sound_engine;
  text.replace(text.find(from), from.size(), to);
  return text;
}

void check_equal(const Engine& read, const Engine& written) {
  CHECK(read.name == written.name);
  CHECK(read.summary == written.summary);
  CHECK(read.aliases == written.aliases);
  CHECK(read.source == written.source);
  CHECK(read.max_requests == written.max_requests);
  CHECK(read.step == written.step);
  for (const EngineEnd end : {EngineEnd::fast, EngineEnd::central, EngineEnd::slow}) {
    CHECK(terms_of(read, end, 100.0) == terms_of(written, end, 100.0));
  }
}

}  // namespace

TEST_CASE("an engine file states what an engine adds, each number exact or with its range") {
  const std::vector<Engine> engines = parse_engines(sound_engine, "e.toml");
  REQUIRE(engines.size() == 1);
  const Engine& engine = engines.front();
  CHECK(engine.name == "my-engine");
  CHECK(engine.aliases == std::vector<std::string>{"mine"});
  CHECK(engine.host_us == Range{100.0, 200.5, 300.0});
  CHECK(engine.draft_host_us == Range{40.0, 40.0, 40.0});
  CHECK(engine.host_request_us == Range{});
  CHECK(engine.step == Range{1.0, 1.0, 1.0});
  CHECK(engine.max_requests == 256);

  const EngineTerms terms = terms_of(engine, EngineEnd::central, 400.0);
  CHECK(terms == EngineTerms{.host_us = 200.5,
                             .draft_host_us = 40.0,
                             .asynchronous = true,
                             .graph_tokens = 256,
                             .eager_us = 1200.0,
                             .prefill = Prefill::chunked,
                             .pass_tokens = 2048});
  CHECK(terms_of(engine, EngineEnd::fast, 400.0).host_us == 100.0);
  CHECK(terms_of(engine, EngineEnd::slow, 400.0).eager_us == 2000.0);
}

TEST_CASE("each invalid key of an engine file is reported with its line") {
  CHECK(engine_problem(changed_engine("low = 100", "low = 250")) == "e.toml:8: my-engine.host_us: invalid range");
  CHECK(engine_problem(changed_engine("low = 100, ", "")) == "e.toml:8: my-engine.host_us: invalid range");
  CHECK(engine_problem(changed_engine("high = 300", "high = 300, mean = 200")) ==
        "e.toml:8: my-engine.host_us: invalid range");
  CHECK(engine_problem(changed_engine("low = 100", "low = -1")) == "e.toml:8: my-engine.host_us: -1 is out of range");
  CHECK(engine_problem(changed_engine("200.5", "nan")) == "e.toml:8: my-engine.host_us: nan is out of range");
  CHECK(engine_problem(changed_engine("high = 300", "high = 9007199254740993")) ==
        "e.toml:8: my-engine.host_us: 9007199254740992 is out of range");
  CHECK(engine_problem(changed_engine("draft_host_us = 40", "draft_host_us = \"40\"")) ==
        "e.toml:9: my-engine.draft_host_us: invalid range");
  CHECK(engine_problem(changed_engine("= true", "= 1")) == "e.toml:4: my-engine.asynchronous: wrong type");
  CHECK(engine_problem(changed_engine("\"chunked\"", "\"mixed\"")) ==
        "e.toml:5: my-engine.prefill: unknown prefill \"mixed\"");
  CHECK(engine_problem(changed_engine("pass_tokens = 2048\n", "")) == "e.toml:1: my-engine.pass_tokens: missing");
  CHECK(engine_problem(changed_engine("= 256", "= -1")) == "e.toml:7: my-engine.graph_tokens: -1 is out of range");
  CHECK(engine_problem(changed_engine("graph_tokens", "graph_token")) ==
        "e.toml:7: my-engine.graph_token: unknown key");
  CHECK(engine_problem(changed_engine("[\"mine\"]", "[\"\"]")) == "e.toml:3: my-engine.aliases: wrong type");
  CHECK(engine_problem(changed_engine("source = \"measured\"\n", "")) == "e.toml:1: my-engine.source: missing");
  CHECK(engine_problem(changed_engine("[my-engine]", "[\"my\\nengine\"]")).find("name: invalid name") !=
        std::string::npos);
  CHECK(engine_problem("") == "e.toml: no engines");
  CHECK(engine_problem("host_us = 1") == "e.toml:1: host_us: unknown key");
}

TEST_CASE("all problems of an engine file are reported at once") {
  CHECK(engine_problem("[a]\nhost_us = \"x\"\nsummary = \"s\"\n[b]\nsource = 3\nsummary = \"s\"\nmax_requests = 0\n") ==
        "e.toml:1: a.source: missing\n"
        "e.toml:2: a.host_us: invalid range\n"
        "e.toml:5: b.source: wrong type\n"
        "e.toml:7: b.max_requests: 0 is out of range");
}

TEST_CASE("an engine that is written and read again is the same") {
  for (const Engine& engine : engine_registry()) {
    INFO(engine.name);
    const std::vector<Engine> read = parse_engines(engine_toml(engine), "again.toml");
    REQUIRE(read.size() == 1);
    check_equal(read.front(), engine);
  }
  Engine odd = *find_engine("vllm");
  odd.summary = "a \"quoted\" \\ summary";
  odd.source = "two\nlines";
  odd.aliases = {"one", "it's"};
  odd.host_us = {1.0 / 3.0, 2.0 / 3.0, 1e-9 + 1.0};
  odd.step = {0.9, 1.1, 1.3};
  check_equal(parse_engines(engine_toml(odd), "odd.toml").front(), odd);
}

TEST_CASE("the shipped engines are in the order of their file, and no two share a name") {
  const std::vector<Engine>& engines = engine_registry();
  REQUIRE(engines.size() >= 5);
  CHECK(engines.front().name == "none");
  CHECK(engines.at(1).name == "vllm");
  std::map<std::string, int> names;
  for (const Engine& engine : engines) {
    ++names[plain_name(engine.name)];
    for (const std::string& alias : engine.aliases) ++names[plain_name(alias)];
  }
  for (const auto& [name, count] : names) {
    INFO(name);
    CHECK(count == 1);
  }
}

TEST_CASE("an engine is found by name or alias, with any case and separators") {
  CHECK(find_engine("vLLM") == find_engine("vllm"));
  CHECK(find_engine("vllm")->name == "vllm");
  CHECK(find_engine("TensorRT-LLM")->name == "trtllm");
  CHECK(find_engine("trt_llm")->name == "trtllm");
  CHECK(find_engine("llama.cpp")->name == "llama.cpp");
  CHECK(find_engine("LlamaCpp")->name == "llama.cpp");
  CHECK(find_engine("SGLang-0.4")->name == "sglang");
  CHECK(find_engine("sglang")->name == "sglang");
  CHECK(find_engine("none")->name == "none");
  CHECK(find_engine("vllmm") == nullptr);
  CHECK(find_engine("") == nullptr);
}

TEST_CASE("the engine none adds nothing, and the common engines are the usual servers") {
  for (const EngineEnd end : {EngineEnd::fast, EngineEnd::central, EngineEnd::slow}) {
    CHECK(terms_of(no_engine(), end, 1000.0) == EngineTerms{});
  }
  std::vector<std::string> names;
  for (const Engine& engine : common_engines()) names.push_back(engine.name);
  CHECK(names == std::vector<std::string>{"vllm", "sglang"});
  CHECK_FALSE(find_engine("sglang")->asynchronous);
  CHECK(find_engine("llama.cpp")->slot_by_slot);
}

}  // namespace foredraft::latency
