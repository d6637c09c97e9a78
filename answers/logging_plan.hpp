// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/problems.hpp"

/// The minimum set of runs to log so that advise() can decide, with their commands.
namespace foredraft::answers {

struct PlanQuestion {
  std::string engine;                              ///< one of planned_engines()
  std::optional<std::int64_t> current_gamma = {};  ///< current draft length of the server; empty: unknown
  std::vector<std::int64_t> concurrency = {};      ///< concurrency of each load; empty: the engine's default loads
  std::string target = {}, draft = {};             ///< models as named to the engine; empty: placeholders
};

/// Names of the engines with a plan: "vllm", "sglang", "trtllm", "llama.cpp".
[[nodiscard]] std::vector<std::string> planned_engines();

inline constexpr std::int64_t max_planned_gamma = 256;
inline constexpr std::int64_t max_planned_concurrency = 65'536;

/// Adds a problem for each unknown engine, value out of range and name with control characters, under its option of
/// `foredraft advise`.
void check(const PlanQuestion& question, ProblemList& problems);

/// A server without speculation or with one draft length.
struct PlannedServer {
  std::string name;    ///< "plain", "k3"
  std::int64_t gamma;  ///< 0: without speculation
  std::string command;
};

struct PlannedLoad {
  std::int64_t concurrency;
  std::int64_t requests;  ///< in each run
  double minutes;         ///< of each run, an assumed upper bound
  std::string command;    ///< of the load generator
};

/// Commands are for a shell in one empty folder. RUN stands for an entry of `order`, N for a concurrency.
struct LoggingPlan {
  PlanQuestion question;
  std::string written_for;             ///< "vLLM 0.32"
  std::vector<PlannedServer> servers;  ///< by draft length
  std::vector<PlannedLoad> loads;      ///< ascending
  /// Names of runs: a server and a round, "plain-1"; in reverse order in the second round.
  std::vector<std::string> order;
  bool server_per_load;             ///< the server restarts for each load
  double minutes;                   ///< of all runs, starts of servers included
  std::string prompts;              ///< a line of prompts.jsonl
  std::string drafter;              ///< what to change in the command of the server, in words
  std::vector<std::string> keep;    ///< texts: a file to keep, and its use
  std::vector<std::string> advise;  ///< commands that answer from the files
};

// ---- Assumptions of a plan.

/// Relative standard error of tokens per iteration and of TPOT of a run, over both rounds.
inline constexpr double planned_precision = 0.02;
/// Relative standard deviation of both between requests; assumed.
inline constexpr double planned_request_variation = 0.16;
inline constexpr std::int64_t planned_output_tokens = 256;
inline constexpr double planned_tpot_ms = 25.0;       ///< assumed, an upper bound
inline constexpr double planned_start_minutes = 3.0;  ///< of a server; assumed
inline constexpr std::int64_t planned_rounds = 2;

/// The minimum set of runs. A run without speculation shows whether speculation pays. Two draft lengths determine the
/// cost of a drafted token, so that lengths between them can be interpolated; the current one is measured too. The
/// loads are one request and the given concurrency, to show whether a schedule pays. Precondition: check() finds no
/// problem.
[[nodiscard]] LoggingPlan logging_plan(const PlanQuestion& question);

/// The command that prints the plan for a server. `engine`: as logged; empty: unknown.
[[nodiscard]] std::string next_runs(std::string_view engine, std::optional<std::int64_t> current_gamma,
                                    std::optional<double> concurrency);

/// Schema foredraft.plan/1: docs/schemas/plan.schema.json.
[[nodiscard]] nlohmann::ordered_json to_json(const LoggingPlan& plan);

}  // namespace foredraft::answers
