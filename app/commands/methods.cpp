// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "analytic/tree/tree_search.hpp"
#include "answers/methods.hpp"
#include "app/answer_folder.hpp"
#include "app/commands/commands.hpp"
#include "app/deployment_options.hpp"
#include "app/device_price.hpp"
#include "app/scenario_options.hpp"
#include "app/texts/texts.hpp"
#include "core/digest.hpp"
#include "core/numbers.hpp"
#include "core/progress.hpp"
#include "experiments/results/manifest.hpp"
#include "foredraft/scenario.hpp"
#include "inputs/methods_file.hpp"

namespace foredraft::app {
namespace {

constexpr std::int64_t default_positions = 64;
constexpr std::int64_t most_positions = 4'096;
constexpr double default_growth = 0.01;
constexpr double max_temperature = 1'000.0;

/// Temperatures must be 0 or lie in [min_temperature, max_temperature].
std::optional<std::vector<double>> read_temperatures(CommandLine& line) {
  const auto entries = line.texts("temperature");
  if (!entries) return std::nullopt;
  std::vector<double> temperatures;
  for (const std::string& entry : *entries) {
    const auto number = parse_quantity(entry);
    if (number && (*number == 0.0 || (*number >= min_temperature && *number <= max_temperature))) {
      temperatures.push_back(*number);
      continue;
    }
    line.reject("temperature", fmt::format("invalid entry {} \"{}\"", temperatures.size() + 1, entry),
                fmt::format("must be 0, or lie in [{}, {}]", min_temperature, max_temperature),
                "separate entries by commas: 0,0.7,1");
    return std::nullopt;
  }
  return temperatures;
}

template <class Number>
void replace(Number& value, const std::optional<std::int64_t>& given) {
  if (given) value = static_cast<Number>(*given);
}

/// Options override the configuration. Adds the digests of the files that it reads to `files`.
MethodsQuestion read_methods_question(CommandLine& line, std::vector<FileDigest>& files) {
  const std::optional<answers::ProfileQuestion> device = read_asked_price(line, "autoregressive");
  const std::optional<double> c = line.real("c", 0.0, 1.0);
  const std::optional<double> growth = line.real("verify-growth", 0.0, unlimited);
  const std::optional<std::int64_t> positions = line.integer("positions", 2, most_positions);
  const std::optional<double> alpha = line.real("alpha", 0.0, 1.0);
  const auto temperatures = read_temperatures(line);
  const std::optional<std::int64_t> gamma = line.integer("gamma", 1, max_methods_gamma);
  const std::optional<std::int64_t> vocabulary = line.integer("vocabulary", 2, max_vocabulary);
  const std::optional<std::int64_t> pool = line.integer("pool", 2, most_positions);
  const std::optional<std::int64_t> width = line.integer("width", 1, 1'024);
  const std::optional<std::int64_t> servers = line.integer("servers", 2, 1'000'000);
  const std::optional<std::int64_t> iterations = line.integer("iterations", 2, 1'000'000'000);
  const std::optional<std::int64_t> seed = line.integer("seed", 0, std::numeric_limits<std::int64_t>::max());
  line.done();
  inputs::MethodsFile file;
  if (!line.positional().empty()) {
    const std::string& path = line.positional().front();
    file = inputs::parse_methods_file(read_input(path, files), path);
  }
  MethodsQuestion& question = file.question;
  if (!question.pairs.empty()) {
    for (const std::string_view name : {"alpha", "vocabulary", "pool"}) {
      line.reject_any({name}, "mutually exclusive with pairs of the configuration", "each states its own",
                      "change the configuration");
    }
    line.done();
    inputs::train_pairs(question, std::filesystem::path(line.positional().front()).parent_path().string(), files);
  }
  if (const auto methods = line.texts("methods")) question.methods = *methods;
  if (temperatures) question.temperatures = *temperatures;
  if (alpha) question.models.alpha = *alpha;
  if (gamma) question.gamma = gamma;
  if (c) question.price.c = *c;
  replace(question.models.vocabulary, vocabulary);
  replace(question.models.pool, pool);
  replace(question.width, width);
  replace(question.servers, servers);
  replace(question.iterations, iterations);
  replace(question.seed, seed);
  const std::int64_t most = positions.value_or(file.positions.value_or(default_positions));
  if (device) {
    question.price = read_device_price(line, *device, most, max_methods_gamma, files);
  } else {
    question.price.verification =
        analytic::linear_verification(most, growth.value_or(file.verify_growth.value_or(default_growth)));
  }
  return question;
}

int run_methods(CommandLine& line) {
  const unsigned threads = line.threads();
  std::vector<FileDigest> files;
  const MethodsQuestion question = read_methods_question(line, files);
  const MethodsAnswer answer = in_phase("comparing methods", [&] { return compare_methods(question, threads); });
  const std::string text = to_text(answer);
  const std::string json = experiments::document_text(answers::to_json(answer));
  return print_answer(line, line.has("json") ? json : text,
                      {.kind = {.schema = "foredraft.methods_result/1"}, .inputs = files, .write = [&](auto& out) {
                         out.write("methods.txt", text);
                         out.write("methods.json", json);
                         out.write("methods.csv", answers::methods_csv(answer));
                       }});
}

}  // namespace

Command methods_command() {
  return {
      {.name = "methods",
       .arguments = "[CONFIG.toml] [options]",
       .summary = "Compares the methods of the field for one pair of models and one cost: speedup, loss, bound.",
       .options = {{"iterations", "N", "iterations to simulate for each row (default 50000)"},
                   {"seed", "S", "random seed (default 1)"},
                   threads_option,
                   {"json", "", "one JSON document, schema foredraft.methods/1"},
                   {"out", "DIR", "also write methods.txt, methods.json, methods.csv and methods.{pdf,svg,png}"}},
       .min_positional = 0,
       .max_positional = 1,
       .examples = {"foredraft methods",
                    "foredraft methods --alpha 0.7 --c 0.1 --temperature 0,1 --out results/methods",
                    "foredraft methods --methods eagle2,block_verification,pearl --gamma 5",
                    "foredraft methods --device h200 --target qwen3-32b --draft qwen3-0.6b --batch 16"},
       .groups = {{"what is compared",
                   {{"methods", "m1,m2,...",
                     "names or aliases (default: all that are compared; foredraft list methods)", false,
                     compared_methods},
                    {"temperature", "T1,T2,...", "of both models (default 0,0.7,1)"},
                    {"gamma", "G", "drafted tokens per iteration (default: the fastest for each method, at most 32)"},
                    {"positions", "N", "maximum positions that a forward pass of the target verifies (default 64)"},
                    {"width", "K", "trees: candidates per node (default 10)"},
                    {"servers", "N", "copies of the target that DSI may use (default 7)"}}},
                  {"a synthetic pair of models",
                   {{"alpha", "A", "acceptance rate of a draft at temperature 1 (default 0.8)"},
                    {"vocabulary", "V", "tokens in the vocabulary (default 1000)"},
                    {"pool", "N", "number of contexts (default 64)"}}},
                  {"cost of forward passes",
                   {{"c", "C", "time of a draft step over that of a target decode step (default 0.05)"},
                    {"verify-growth", "G", "decode steps that each position after the first adds (default 0.01)"}}},
                  device_price_options(),
                  deployment_options()}},
      run_methods};
}

}  // namespace foredraft::app
