// SPDX-License-Identifier: Apache-2.0
#include "logs/served_runs.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "logs/record_fields.hpp"
#include "logs/stated_run.hpp"

namespace foredraft::logs {
namespace {

bool near_by(double one, double other, double most) { return std::max(one, other) <= most * std::min(one, other); }

/// The run of a client's file; null if it has several, or one that is plain or tells what was accepted itself.
Observation* client_run(ObservedLog& log) {
  std::vector<Observation>& runs = log.contents.observations;
  if (runs.size() != 1 || runs.front().span != Span::run) return nullptr;
  Observation& run = runs.front();
  const bool counted = run.acceptance || run.acceptance_length || run.acceptance_rate;
  const bool timed = run.requests && run.times.tpot_ms && run.times.output_tokens_per_s;
  return run.decoding == Decoding::plain || counted || !timed ? nullptr : &run;
}

/// Whether a window may be of a client's run: with counts, at the same load.
bool may_serve(const Observation& window, const Observation& run) {
  constexpr double alike = 1.25;  // servers count the requests at the end of a window, clients their mean
  return window.span == Span::window && window.decoding == Decoding::speculative && window.acceptance &&
         window.gamma.value_or(1) > 0 && (!run.gamma || run.gamma == window.gamma) &&
         near_by(window.requests.value_or(0.0), *run.requests, alike);
}

/// The windows of a server that are of a client's run, as one; nullopt if they are of several settings, or not as fast.
std::optional<Observation> windows_of(const Observation& run, const ObservedLog& server) {
  constexpr double same = 1.05;  // closer than runs at other draft lengths mostly are; both ends of a run are slower
  std::optional<Observation> all;
  double speeds = 0.0, count = 0.0;
  for (const Observation& window : server.contents.observations) {
    if (!may_serve(window, run)) continue;
    if (all && (all->gamma != window.gamma || all->drafter != window.drafter || all->tree != window.tree))
      return std::nullopt;
    speeds += window.times.output_tokens_per_s.value_or(0.0);
    count += 1.0;
    all = all ? pooled(*all, window) : window;
  }
  if (!all || !all->acceptance || !near_by(speeds / count, *run.times.output_tokens_per_s, same)) return std::nullopt;
  return all;
}

void join_runs(ObservedLog& client, ObservedLog& server, const Observation& windows) {
  Observation& run = *client_run(client);
  run.decoding = Decoding::speculative;
  run.acceptance = windows.acceptance;
  note(run.gamma, windows.gamma);
  note(run.adaptive, windows.adaptive);
  note(run.tree, windows.tree);
  note(run.drafter, windows.drafter);
  set_iteration(run);
  std::erase_if(server.contents.observations, [&](const Observation& one) { return may_serve(one, run); });
  LogContents& contents = client.contents;
  if (contents.engine.empty()) {
    contents.engine = server.contents.engine;
    contents.version = server.contents.version;
  }
  note(contents.settings.method, server.contents.settings.method);
  note(contents.settings.target, server.contents.settings.target);
  note(contents.settings.draft, server.contents.settings.draft);
  contents.warnings.push_back(
      {.code = "W22",
       .line = run.line,
       .message = fmt::format("acceptance from {}, whose windows are as fast: of the same run",
                              std::string_view(server.file).substr(server.file.find_last_of('/') + 1))});
}

}  // namespace

void join_server_logs(std::vector<ObservedLog>& logs) {
  struct Pair {
    ObservedLog *client, *server;
    Observation windows;
  };
  std::vector<Pair> pairs;
  for (ObservedLog& client : logs) {
    const Observation* run = client_run(client);
    if (run == nullptr) continue;
    for (ObservedLog& server : logs)
      if (auto windows = windows_of(*run, server)) pairs.push_back({&client, &server, *std::move(windows)});
  }
  for (const Pair& one : pairs) {
    const auto shares = [&](const Pair& other) { return other.client == one.client || other.server == one.server; };
    if (std::ranges::count_if(pairs, shares) == 1) join_runs(*one.client, *one.server, one.windows);
  }
}

}  // namespace foredraft::logs
