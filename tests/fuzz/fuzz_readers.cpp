// SPDX-License-Identifier: Apache-2.0
// Every reader of text from outside, for libFuzzer: scripts/fuzz.sh. An input is read, or rejected by InputError or
// DomainError; anything else is a crash.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <tuple>

#include "answers/advice.hpp"
#include "answers/tree_answer.hpp"
#include "app/texts/texts.hpp"
#include "app/validation.hpp"
#include "experiments/config/sweep_config.hpp"
#include "experiments/results/manifest.hpp"
#include "foredraft/errors.hpp"
#include "inputs/devices.hpp"
#include "inputs/inputs.hpp"
#include "inputs/llama_bench.hpp"
#include "inputs/table_reader.hpp"
#include "inputs/tree_files.hpp"
#include "latency/devices/device_registry.hpp"
#include "latency/models/hugging_face.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/model_bytes.hpp"
#include "latency/profile/profile.hpp"
#include "latency/surfaces/step_model.hpp"
#include "logs/log_format.hpp"
#include "logs/log_reader.hpp"
#include "logs/observations_file.hpp"

namespace {

using namespace foredraft;
using namespace foredraft::experiments;
using namespace foredraft::answers;
using namespace foredraft::inputs;
using namespace foredraft::app;

const std::string name = "fuzzed";

/// The only format of logs that is read; empty: all.
std::string_view log_format;

/// In pieces, whose size follows from the text.
logs::LogContents read_log(std::string_view text) {
  logs::LogReader reader(name, log_format);
  const std::size_t piece = 1 + text.size() % 977;
  for (std::size_t at = 0; at < text.size(); at += piece) reader.add(text.substr(at, piece));
  return reader.finish();
}

void pool_neighbours(std::string_view text) {
  const logs::LogContents contents = read_log(text);
  for (std::size_t i = 1; i < contents.observations.size(); ++i) {
    const auto& [before, after] = std::tie(contents.observations[i - 1], contents.observations[i]);
    if (logs::may_be_pooled(before, after)) static_cast<void>(logs::pooled(before, after));
  }
}

void advise_on(std::string_view text) {
  const Advice advice = advise(
      {.logs = {{.file = name, .sha256 = std::string(64, '0'), .contents = read_log(text), .bytes = text.size()}}});
  static_cast<void>(to_text(advice, ""));
}

struct Reader {
  std::string_view name;
  void (*read)(std::string_view text);
};

constexpr std::array readers{
    Reader{"accuracies", [](std::string_view text) { static_cast<void>(parse_accuracies(text, name)); }},
    Reader{"advise", advise_on},
    Reader{"attainable", [](std::string_view text) { static_cast<void>(latency::parse_attainable(text, name)); }},
    Reader{"config", [](std::string_view text) { static_cast<void>(read_sweep_config(parse_toml(text, name), name)); }},
    Reader{"devices", [](std::string_view text) { static_cast<void>(latency::parse_devices(text, name)); }},
    Reader{"hugging_face",
           [](std::string_view text) {
             static_cast<void>(latency::parameters(latency::parse_hugging_face(text, name).shape));
           }},
    Reader{"llama_bench",
           [](std::string_view text) {
             const BenchFile file{.path = name, .text = std::string(text), .model = "m"};
             const latency::EngineLoop loop{.draft_catch_up = latency::CatchUp::verified};
             static_cast<void>(bench_text(parse_llama_bench({&file, 1}, loop)));
           }},
    Reader{"log", pool_neighbours},
    Reader{"manifest", [](std::string_view text) { static_cast<void>(parse_manifest(text, name)); }},
    Reader{"models",
           [](std::string_view text) {
             for (const auto& shape : latency::parse_models(text, name)) static_cast<void>(latency::parameters(shape));
           }},
    Reader{"observations",
           [](std::string_view text) {
             static_cast<void>(logs::observations_text(logs::parse_observations(text, name)));
           }},
    Reader{"operators", [](std::string_view text) { static_cast<void>(parse_operators(text, name)); }},
    Reader{"profile",
           [](std::string_view text) { static_cast<void>(latency::to_json(latency::from_json(text, name))); }},
    Reader{"speedups",
           [](std::string_view text) {
             static const auto profile = parse_steps(
                 "model,role,batch,tokens,context,ms\na,target,1,1,512,10\na,target,1,9,512,12\nb,draft,1,1,512,1\n",
                 name);
             static_cast<void>(predict_speedups(text, name, profile));
           }},
    Reader{"steps", [](std::string_view text) { static_cast<void>(parse_steps(text, name)); }},
    Reader{"trace",
           [](std::string_view text) {
             static_cast<void>(parse_trace(text, name, static_cast<std::int64_t>(text.size() % 9), Convention::bonus));
           }},
    Reader{"tree", [](std::string_view text) { static_cast<void>(parse_tree(text, name)); }},
    Reader{"verification_times",
           [](std::string_view text) { static_cast<void>(parse_verification_times(text, name)); }},
};

const Reader* chosen = nullptr;

}  // namespace

/// The reader that the environment variable READER names, `log:NAME` for one format of logs; --list prints all names,
/// --formats those of formats.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  if (*count > 1 && std::string_view((*arguments)[1]) == "--list") {
    for (const Reader& reader : readers) std::cout << reader.name << "\n";
    std::exit(0);
  }
  if (*count > 1 && std::string_view((*arguments)[1]) == "--formats") {
    for (const logs::LogFormat& format : logs::formats()) std::cout << "log:" << format.name << "\n";
    std::exit(0);
  }
  const char* const named = std::getenv("READER");
  std::string_view wanted = named == nullptr ? "" : named;
  if (wanted.starts_with("log:")) {
    log_format = wanted.substr(wanted.find(':') + 1);
    wanted = "log";
  }
  for (const Reader& reader : readers) {
    if (reader.name == wanted) chosen = &reader;
  }
  if (chosen != nullptr) return 0;
  std::cerr << "fuzz_readers: READER has to be one of those that --list prints\n";
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    chosen->read({reinterpret_cast<const char*>(data), size});
  } catch (const InputError&) {
  } catch (const DomainError&) {
  }
  return 0;
}
