// SPDX-License-Identifier: Apache-2.0
#include "inputs/engines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "core/files.hpp"
#include "core/problems.hpp"
#include "core/readable.hpp"
#include "core/table.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::inputs {
namespace {

using latency::Engine;

std::vector<std::string> engine_words() {
  std::vector<std::string> words;
  for (const Engine& engine : latency::engine_registry()) {
    words.push_back(engine.name);
    words.insert(words.end(), engine.aliases.begin(), engine.aliases.end());
  }
  return words;
}

Engine one_engine(std::string_view text, const std::string& name) {
  std::vector<Engine> engines = latency::parse_engines(text, name);
  if (engines.size() == 1) return std::move(engines.front());
  throw DomainError(fmt::format("{}: {} engines ({}) - name a file with one", name, engines.size(),
                                fmt::join(texts_of(engines, &Engine::name), ", ")));
}

}  // namespace

std::optional<std::string> unknown_engine(const std::string& name) {
  if (latency::find_engine(name) != nullptr) return std::nullopt;
  std::error_code unreadable;
  if (std::filesystem::status(name, unreadable).type() != std::filesystem::file_type::not_found) return std::nullopt;
  return fmt::format("neither a shipped engine nor a TOML file - {}; foredraft list engines",
                     suggestion_for(name, engine_words()));
}

ReadEngine read_engine(const std::string& name) {
  if (const Engine* engine = latency::find_engine(name)) {
    return {*engine, digest_text(engine->name, latency::engine_toml(*engine)), true};
  }
  if (const auto problem = unknown_engine(name)) throw InputError(fmt::format("{}: {}", readable(name), *problem));
  const std::string text = read_file(name);
  try {
    return {one_engine(text, name), digest_text(name, text), false};
  } catch (const DomainError& error) {
    throw InputError(error.what());
  }
}

}  // namespace foredraft::inputs
