// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <cmath>
#include <nlohmann/json.hpp>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/record_fields.hpp"

/// `llama-spec-bench --output-format jsonl` of ik_llama.cpp: attempts with and without speculation in one file, with
/// positions and draft times. Summary rows repeat the attempts.
namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

bool claims_ik_spec_bench(const Json& value) { return has_keys(value, {"row_type", "variant"}); }

void add_positions(std::vector<std::int64_t>& sum, const std::vector<std::int64_t>& counts, std::int64_t line) {
  if (sum.size() < counts.size()) sum.resize(counts.size(), 0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::int64_t both[] = {sum[i], counts[i]};
    sum[i] = sum_of_counts(both, "accepted_by_position", line);
  }
}

void read_ik_acceptance(const JsonFields& drafts, Observation& observation, LogContents& contents) {
  AcceptanceCounts counts{.steps = drafts.required_count("num_drafts"),
                          .drafted_tokens = drafts.count("draft_tokens"),
                          .accepted_tokens = drafts.count("accepted_tokens")};
  for (const JsonFields& stage : drafts.objects("stages")) {
    add_positions(counts.accepted_at, stage.counts("accepted_by_position"), drafts.line());
    add_positions(counts.drafted_at, stage.counts("drafted_by_position"), drafts.line());
  }
  if (!counts.drafted_at.empty()) observation.gamma = static_cast<std::int64_t>(counts.drafted_at.size());
  check_counts(counts, observation.gamma, drafts.line(), contents);
  check_printed_length(counts, drafts.real("acceptance_length"), two_digits, drafts.line(), contents);
  const auto draft_s = drafts.real("t_draft_s");
  if (draft_s && counts.steps > 0) observation.times.draft_ms = *draft_s * 1000.0 / static_cast<double>(counts.steps);
  observation.acceptance = std::move(counts);
}

/// Whether the steps, which emit one token each, and the accepted drafts add up to the output; if not, some steps did
/// not draft.
bool every_step_drafted(const AcceptanceCounts& counts, std::int64_t generated) {
  constexpr std::int64_t ends = 2;  // the first token comes from the prompt, the last step may be cut
  const std::int64_t emitted = counts.steps + counts.accepted_tokens.value_or(0);
  return std::abs(generated - emitted) <= ends;
}

void read_ik_spec_bench(const Json& value, std::int64_t line, LogContents& contents) {
  const JsonFields row(value, line);
  if (row.text("row_type") != "attempt") return;
  const JsonFields variant = row.required_object("variant");
  const JsonFields timing = row.required_object("timing");
  const JsonFields tokens = row.required_object("tokens");
  const bool plain = variant.flag("is_baseline").value_or(false);
  Observation observation{.line = line,
                          .span = Span::request,
                          .decoding = plain ? Decoding::plain : Decoding::speculative,
                          .requests = 1.0};
  const std::int64_t generated = tokens.required_count("generated");
  const double decode_ms = timing.required_real("decode_s") * 1000.0;
  observation.times.output_tokens_per_s = timing.real("decode_tps");
  if (const auto prompt_s = timing.real("prompt_s")) observation.times.ttft_ms = *prompt_s * 1000.0;
  if (generated > 0) observation.times.tpot_ms = decode_ms / static_cast<double>(generated);
  observation.stratum.output_tokens = static_cast<double>(generated);
  if (const auto prompt = tokens.count("prompt")) {
    observation.stratum.context_tokens = static_cast<double>(*prompt) + static_cast<double>(generated) / 2.0;
  }
  if (plain) {
    observation.times.iteration_ms = observation.times.tpot_ms;
  } else {
    read_ik_acceptance(row.required_object("speculative"), observation, contents);
    const AcceptanceCounts& counts = *observation.acceptance;
    if (counts.steps > 0 && every_step_drafted(counts, generated)) {
      observation.times.iteration_ms = decode_ms / static_cast<double>(counts.steps);
    }
    note(contents.settings.method, variant.json().contains("spec_types") && variant.json().at("spec_types").is_string()
                                       ? variant.text("spec_types")
                                       : std::nullopt);
  }
  contents.observations.push_back(std::move(observation));
}

}  // namespace

LogFormat ik_spec_bench_format() {
  return {.name = "ik-spec-bench",
          .summary = "ik_llama.cpp llama-spec-bench JSONL: positions and draft times",
          .engine = "ik_llama.cpp",
          .gives = {"yes", "yes", "yes", "iteration, drafting", "1"},
          .reads = JsonFormat{"row_type", claims_ik_spec_bench, read_ik_spec_bench}};
}

}  // namespace foredraft::logs
