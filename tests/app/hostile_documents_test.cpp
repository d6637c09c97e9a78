// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "answers/tree_answer.hpp"
#include "app/validation.hpp"
#include "experiments/results/manifest.hpp"
#include "foredraft/errors.hpp"
#include "gpu_bench/loop/loop_table.hpp"
#include "inputs/devices.hpp"
#include "inputs/inputs.hpp"
#include "inputs/table_reader.hpp"
#include "inputs/tree_files.hpp"
#include "latency/devices/device_registry.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/profile/profile.hpp"
#include "tests/experiments/config_testing.hpp"
#include "tests/support/temporary_folder.hpp"

namespace foredraft::app {
namespace {

struct Reader {
  const char* name;
  std::string valid;
  std::function<void(const std::string&)> read;
};

const std::string sweep_text =
    "schema = \"foredraft.sweep/1\"\n[axes]\nalpha = { from = 0.1, to = 0.9, step = 0.2 }\ngamma = [1, 4] # drafts\n"
    "[fixed]\nfidelity = 'process'\n\"convention\" = \"bonus\"\nc = 0.05\n"
    "[simulation]\niterations = 100_000\nseed = 7\n";

std::string manifest_text() {
  const experiments::SweepConfig config = tests::config_of("[axes]\nalpha = [0.5]\n[fixed]\ngamma = 2\n");
  experiments::Manifest manifest =
      experiments::new_manifest(config, Shard{1, 1}, {{"e.toml", 12, "ab"}}, {"foredraft"}, 1);
  manifest.state = "complete";
  manifest.outputs = {{"points.csv", 100, "cd"}};
  return to_text(manifest);
}

/// All readers of text from outside the program.
std::vector<Reader> readers() {
  gpu_bench::LoopRow loop;
  loop.cell.target = "a";
  loop.cell.drafter = "b";
  loop.cell.dtype = "fp32";
  const auto read_sweep = [](const std::string& text) {
    static_cast<void>(experiments::read_sweep_config(inputs::parse_toml(text, "f"), "f"));
  };
  const auto read_json = [](const std::string& text) {
    static_cast<void>(experiments::read_sweep_config(inputs::parse_json_document(text, "f"), "f"));
  };
  const auto read_trace = [](const std::string& text) {
    static_cast<void>(inputs::parse_trace(text, "f", 3, Convention::bonus));
  };
  const auto read_tree = [](const std::string& text) { static_cast<void>(inputs::parse_tree(text, "f")); };
  const auto read_profile = [](const std::string& text) { static_cast<void>(latency::from_json(text, "f")); };
  const latency::Profile profile = inputs::read_profile("h200").profile;
  return {
      {"sweep", sweep_text, read_sweep},
      {"resolved sweep", R"({"schema":"foredraft.sweep/1","axes":{"alpha":[0.1,0.9]},"fixed":{"gamma":4}})", read_json},
      {"manifest", manifest_text(),
       [](const std::string& text) { static_cast<void>(experiments::parse_manifest(text, "f")); }},
      {"trace, CSV", "sequence,accepted\na,2\na,3\n\"b\",0\n", read_trace},
      {"trace, JSONL", "{\"outcomes\": [1, 0, -1]}\n# remark\n{\"accepted\": [2, 3]}\n", read_trace},
      {"paths", "0\n0,1\n1\n", read_tree},
      {"list of paths", "name = [[0], [0, 1], # first\n [1]]\n", read_tree},
      {"accuracies", "0.5, 0.2\n0.4 0.1 # head 2\n",
       [](const std::string& text) { static_cast<void>(inputs::parse_accuracies(text, "f")); }},
      {"times of passes", "1,2.5\n8,3\n",
       [](const std::string& text) { static_cast<void>(inputs::parse_verification_times(text, "f")); }},
      {"models", std::string(latency::model_texts().front().text),
       [](const std::string& text) { static_cast<void>(latency::parse_models(text, "f")); }},
      {"profile", latency::to_json(profile), read_profile},
      {"devices",
       "[\"my card\"]\nsource = \"s\"\nmemory_gb = 48\nmemory_bandwidth_gb_per_s = 864\n"
       "matrix_peak_fp16_tflop_per_s = {value = 362.05, source = \"t\"}\naliases = [\"mine\"]\n",
       [](const std::string& text) { static_cast<void>(latency::parse_devices(text, "f")); }},
      {"steps", "model,role,batch,tokens,context,ms\na,decoder_pass,1,1,0,2\n",
       [](const std::string& text) { static_cast<void>(inputs::parse_steps(text, "f")); }},
      {"speedups", "target,draft,gamma,alpha,batch,context,speedup\nllama-2-7b,sheared-llama-1.3b,2,0.5,1,100,1.5\n",
       [profile](const std::string& text) { static_cast<void>(predict_speedups(text, "f", profile)); }},
      {"rows of loops", gpu_bench::loop_rows_csv({loop}),
       [](const std::string& text) { static_cast<void>(gpu_bench::read_loop_rows(text, "f")); }},
  };
}

/// The message if `read` rejects the text; any exception except InputError and DomainError ends the test case.
bool accepts(const Reader& reader, const std::string& text) {
  try {
    reader.read(text);
  } catch (const InputError& error) {
    REQUIRE_FALSE(std::string(error.what()).empty());
    return false;
  } catch (const DomainError& error) {
    REQUIRE_FALSE(std::string(error.what()).empty());
    return false;
  }
  return true;
}

/// One random change that may break a parser: a flipped bit, a cut, a repeated piece, brackets, quotes, numbers beyond
/// every type.
std::string changed(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  const std::size_t at = below(text.size() + 1);
  static const std::vector<std::string> pieces{"[",
                                               "]",
                                               "{",
                                               "}",
                                               "\"",
                                               "'",
                                               "\"\"\"",
                                               "\\u",
                                               "\\",
                                               ".",
                                               ",",
                                               "=",
                                               ":",
                                               "\n",
                                               "#",
                                               "-",
                                               "1e999",
                                               "1e300",
                                               "2.5",
                                               "-9223372036854775808",
                                               "9223372036854775808",
                                               "18446744073709551615",
                                               "nan",
                                               "inf",
                                               "null",
                                               "\xff",
                                               "\xc0\x80",
                                               std::string(1, '\0'),
                                               "[[[[[[[[",
                                               "a.a.a.a.a.a."};
  switch (below(5)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
      return text;
    case 1:
      return text.substr(0, at);
    case 2:
      return text.insert(at, text.substr(below(text.size() + 1), below(40)));
    case 3: {
      const std::string& piece = pieces[below(pieces.size())];
      std::string many;
      for (std::size_t left = below(8) == 0 ? 5000 : 1; left > 0; --left) many += piece;
      return text.insert(at, many);
    }
    default: {  // a number becomes one beyond every type
      const std::size_t digit = text.find_first_of("0123456789", at);
      if (digit == std::string::npos) return text;
      const std::size_t end = std::min(text.find_first_not_of("0123456789.", digit), text.size());
      return text.replace(digit, end - digit, pieces[15 + below(9)]);
    }
  }
}

}  // namespace

TEST_CASE("thousands of damaged documents are read or rejected as input, and none crashes the program") {
  for (const Reader& reader : readers()) {
    CAPTURE(reader.name);
    CHECK(accepts(reader, reader.valid));
    std::mt19937 random(7);
    int rejected = 0;
    for (int i = 0; i < 300; ++i) {
      std::string text = reader.valid;
      for (int changes = i % 3; changes >= 0; --changes) text = changed(std::move(text), random);
      rejected += accepts(reader, text) ? 0 : 1;
    }
    CHECK(rejected > 30);
  }
}

TEST_CASE("documents of one deep nest, one long line, one long key or many keys are rejected as input") {
  const std::string brackets(100'000, '[');
  std::string dots;
  for (int i = 0; i < 12'000; ++i) dots += "a.";
  std::string keys;
  for (int i = 0; i < 3000; ++i) keys += "k" + std::to_string(i) + " = 1\n";
  const std::string key(1'000'000, 'k');
  for (const Reader& reader : readers()) {
    CAPTURE(reader.name);
    for (const std::string& text :
         {dots + "a = 1\n", "[" + dots + "a]\nb = 1\n", "a = " + brackets, brackets, "{\"a\":" + brackets,
          brackets + std::string(100'000, ']'), "{\"schema\":" + brackets + std::string(100'000, ']') + "}", keys,
          key + " = 1\n", key + "=[1]", "{\"" + key + "\": 1}", std::string(2'000'000, '0'),
          reader.valid + std::string(2'000'000, ',')}) {
      CHECK_FALSE(accepts(reader, text));
    }
  }
}

TEST_CASE("a folder whose manifest is nested too deep is rejected with its line") {
  const tests::TemporaryFolder folder;
  tests::write_text(folder / "manifest.json",
                    "{\"schema\":\n" + std::string(100'000, '[') + std::string(100'000, ']') + "}");
  const std::string why =
      "manifest.json:2: nested deeper than 64 levels (nested tables and lists) - remove "
      "levels";
  CHECK_THROWS_WITH(experiments::ResultFolder(folder.path(), {.schema = "s"}, {}), Catch::Contains(why));
  CHECK_THROWS_WITH(experiments::parse_manifest(tests::content_of(folder / "manifest.json"), "manifest.json"), why);
  CHECK_THROWS_WITH(inputs::parse_toml("a = 1\nb." + std::string(200, '.') + " = 1", "e.toml"),
                    Catch::StartsWith("e.toml:2: nested deeper than 64 levels"));
}

}  // namespace foredraft::app
