// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/problems.hpp"

/// What to log so that advise() can decide: the fewest runs of an engine, with their commands.
namespace foredraft::answers {

struct PlanQuestion {
  std::string engine;                              ///< one of planned_engines()
  std::optional<std::int64_t> current_gamma = {};  ///< draft length of the server as it runs; empty: not known
  std::vector<std::int64_t> concurrency = {};      ///< requests at once; empty: the engine's default loads
  std::string target = {}, draft = {};             ///< models as the engine is told them; empty: placeholders
};

/// Names of the engines with a plan: "vllm", "sglang", "trtllm", "llama.cpp".
[[nodiscard]] std::vector<std::string> planned_engines();

inline constexpr std::int64_t max_planned_gamma = 256;
inline constexpr std::int64_t max_planned_concurrency = 65'536;

/// Adds a problem for each value that is unknown or out of its range; keys are those of the command `advise`.
void check(const PlanQuestion& question, ProblemList& problems);

/// A server: without speculation, or at one draft length.
struct PlannedServer {
  std::string name;    ///< "plain", "k3"
  std::int64_t gamma;  ///< 0: without speculation
  std::string command;
};

struct PlannedLoad {
  std::int64_t concurrency;
  std::int64_t requests;  ///< in each run
  double minutes;         ///< of each run, at most, as assumed
  std::string command;    ///< of the load generator
};

/// Commands are for a shell in one empty folder. RUN stands for an entry of `order`, N for a concurrency.
struct LoggingPlan {
  PlanQuestion question;
  std::string written_for;             ///< "vLLM 0.32"
  std::vector<PlannedServer> servers;  ///< by draft length
  std::vector<PlannedLoad> loads;      ///< ascending
  std::vector<std::string> order;      ///< names of runs, "plain-1": a server and the round; forth, then back
  bool server_per_load;                ///< the server is started anew for each load
  double minutes;                      ///< of all, starts included
  std::string prompts;                 ///< a line of prompts.jsonl
  std::string drafter;                 ///< what of the server's command is to be replaced
  std::vector<std::string> keep;       ///< files, and what each is for
  std::vector<std::string> advise;     ///< commands that answer from the files
};

// ---- What a plan assumes.

/// Standard error that tokens per iteration and TPOT of a run get over both rounds, relative.
inline constexpr double planned_precision = 0.02;
/// Standard deviation of both between single requests, relative; assumed.
inline constexpr double planned_request_variation = 0.16;
inline constexpr std::int64_t planned_output_tokens = 256;
inline constexpr double planned_tpot_ms = 25.0;       ///< assumed, an upper bound
inline constexpr double planned_start_minutes = 3.0;  ///< of a server; assumed
inline constexpr std::int64_t planned_rounds = 2;

/// The fewest runs that decide. Autoregressive decoding decides whether speculation pays; two draft lengths determine
/// what a drafted token costs, so that those between them are interpolated; the current one is measured too. Loads: one
/// request and the given concurrency, which tell whether a schedule pays. Precondition: check() finds no problem.
[[nodiscard]] LoggingPlan logging_plan(const PlanQuestion& question);

/// The command that prints the plan, with what is known of a server; `engine` as logged, empty: unknown.
[[nodiscard]] std::string next_runs(std::string_view engine, std::optional<std::int64_t> current_gamma,
                                    std::optional<double> concurrency);

/// Schema foredraft.plan/1: docs/schemas/plan.schema.json.
[[nodiscard]] nlohmann::ordered_json to_json(const LoggingPlan& plan);

}  // namespace foredraft::answers
