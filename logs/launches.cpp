// SPDX-License-Identifier: Apache-2.0
#include "logs/launches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include "logs/arms.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"

namespace foredraft::logs {

bool Launches::read(std::string_view text, std::string_view above, std::int64_t number) {
  static const RE2 program(
      R"re(\bpython[\d.]*[ \t]+(?:-[a-z][ \t]+)?([\w./-]+\.[\w.]+)|\b(?:((?:vllm|sglang|trtllm-bench)(?:[ \t]+bench[ \t]+(?:throughput|latency))?)[ \t]+(?:-|serve\b)|((?:docker|podman)[ \t]+run)[ \t]|(llama-[a-z-]+)(?:\.exe)?["']?[ \t]+-|(mlx_(?:lm|vlm)[.\w]*(?:[ \t]+\w+)?|koboldcpp)[\w.-]*[ \t]+-)re"
      R"re(|(aiperf|genai-perf|guidellm|evalscope|xllm|lmdeploy)[ \t]+(?:(?:profile|perf|benchmark|run|serve)[ \t]+){0,2}-))re",
      byte_options());
  static const RE2 drafts(
      R"re(--(?:speculative[-_](?:model|config|algorithm|algo|draft-model-path)|with[-_]speculation|draft-?model)[ \t=]+[^\w \t]*(\w+))re",
      byte_options());
  static const RE2 named(
      R"re((?i)(?:["']method["'][ \t:=]+["']|\bmethod=["']|--(?:spec\S*[-_])?(?:method|algo(?:rithm)?)[ \t=]+["']?|--spec\S*model[ \t=]+["']?\[)((?:)re" +
          std::string(names_of_drafters) + R"re()\w*))re",
      byte_options());
  static const RE2 model(R"re(\bollama(?:\.exe)?["']?[ \t]+run[ \t]+(?:--\S+[ \t]+)*["']?([\w./:-]+))re",
                         byte_options());
  static const RE2 without(R"re((?i)[-_:.](?:no|without)[-_])re");
  static const RE2 lookup("ngram|suffix|lookup");
  // Without a server, all prompts at once; the second is the folder of vLLM's examples.
  static const RE2 offline("throughput|offline_inference");
  static const RE2 server("serv|^(?:vllm|sglang|docker run|podman run)$");
  static const RE2 prompts(R"re(--num-prompts[ \t=]+(\d{1,6})\b)re", byte_options());
  static const RE2 slots(R"re(--max[-_](?:num[-_]seqs|running[-_]requests)[ \t=]+(\d{1,6})\b)re", byte_options());
  static const RE2 method(R"re(\bdecoding_type["']?[ \t]*[:=][ \t]*["']?(\w+))re", byte_options());
  static const RE2 tokens(
      R"re((?:--(?:num[-_](?:spec(?:ulative)?|draft)[-_]tokens|draftamount)[ \t=]+|num_spec(?:ulative)?_tokens\W{1,4}|\b(?:num_nextn_predict_layers|max_draft_len)["']?[ \t]*[:=][ \t]*)(\d{1,4})\b)re",
      byte_options());
  static const RE2 load(R"re(--(?:(?:max[-_])?concurrency[ \t=]+|config-list[ \t=]+["']?)(\d{1,6})\b)re",
                        byte_options());
  constexpr std::size_t max_launches = 256;
  std::array<std::string, 6> names;  // one of them is found
  std::string value;
  std::int64_t gamma = 0;
  static const RE2 engine(R"re(\bspeculative_config=(?:None|Spec))re", byte_options());  // a line of vLLM's
  const bool prints = RE2::PartialMatch(piece(text), engine);
  const bool configures = RE2::PartialMatch(piece(text), method, &value);
  const bool runs_model = RE2::PartialMatch(piece(text), model, &value);
  const std::string target = runs_model ? model_without_drafter(value) : "";
  if (runs_model) names[0] = "ollama run " + target;  // other models are other programs
  const bool begins =
      configures || runs_model ||
      RE2::PartialMatch(piece(text), program, &names[0], &names[1], &names[2], &names[3], &names[4], &names[5]);
  const bool options = !begins && text.starts_with("--") && !above.ends_with('\\');  // of a command without its own
  if (begins || options || prints) {
    if (launches_.size() == max_launches) return true;
    launches_.push_back({.line = number, .program = fmt::format("{}", fmt::join(names, ""))});
  } else if (launches_.empty()) {
    return false;
  }
  Launch& launch = launches_.back();
  if (runs_model) launch.drafts = target.size() < value.size() && !RE2::PartialMatch(value, without);
  if (configures || RE2::PartialMatch(piece(text), drafts, &value)) {
    launch.drafts = value != "None" && value != "none" && value != "False" && value != "false" && value != "0";
  }
  if (RE2::PartialMatch(piece(text), named, &value)) launch.drafter = in_lower_case(value);
  launch.looks_up = launch.drafter && RE2::PartialMatch(*launch.drafter, lookup);
  if (RE2::PartialMatch(piece(text), tokens, &gamma)) {
    launch.drafts = launch.drafts || gamma > 0;
    launch.tokens = gamma;
  }
  launch.sglang.read(text);
  launch.llama.read(text);
  launch.drafts = launch.drafts || launch.llama.drafts();
  double requests = 0.0;
  const bool alone = RE2::PartialMatch(launch.program, offline);
  if (!RE2::PartialMatch(launch.program, server) && RE2::PartialMatch(piece(text), slots, &requests) && requests > 0.0)
    launch.slots = requests;
  if (alone) note(launch.concurrency, launch.slots);
  if (RE2::PartialMatch(piece(text), load, &requests) && requests > 0.0) launch.concurrency = requests;
  if (alone && RE2::PartialMatch(piece(text), prompts, &requests) && requests > 0.0) launch.prompts = requests;
  return begins || options;
}

/// The command line of each part of the output: of several without output between them the one that drafts, which a
/// load generator's is not. Empty if two of these start the same program with and without drafts.
std::vector<Launches::Launch> Launches::before_runs(const LogContents& contents) const {
  std::vector<std::int64_t> runs;
  for (const Observation& run : contents.observations) runs.push_back(run.line);
  std::ranges::sort(runs);
  std::vector<Launch> last;
  bool clear = true;
  for (const Launch& launch : launches_) {
    const bool next =
        last.empty() || std::ranges::lower_bound(runs, launch.line) != std::ranges::lower_bound(runs, last.back().line);
    if (next) {
      last.push_back(launch);
      continue;
    }
    const bool other = last.back().drafts != launch.drafts;
    clear = clear && !(other && last.back().program == launch.program);
    if (launch.concurrency) last.back().concurrency = launch.concurrency;
    if (launch.drafts) {
      Launch both = launch;
      both.line = last.back().line;
      both.program = last.back().program;
      both.concurrency = last.back().concurrency;
      last.back() = std::move(both);
    }
    // A configuration is of the command line beside it.
    if (!launch.program.empty() && (launch.drafts || last.back().program.empty())) last.back().program = launch.program;
  }
  return clear ? last : std::vector<Launch>{};
}

void Launches::name_runs(LogContents& contents) const {
  const std::vector<Launch> launches = before_runs(contents);
  // Formats of one program print the same runs; else a client's may print those of a server.
  const auto is_other = [&](const Launch& one) { return one.program != launches.front().program; };
  if (contents.format.find(' ') != std::string::npos && std::ranges::any_of(launches, is_other)) return;
  const auto drafts = [&](std::string_view program) {
    return std::ranges::any_of(launches, [&](const Launch& one) { return one.drafts && one.program == program; });
  };
  const auto launch_of = [&](const Observation& run) {
    const auto later = std::ranges::upper_bound(launches, run.line, {}, &Launch::line);
    return later == launches.begin() ? nullptr : &*std::prev(later);
  };
  std::set<const Launch*> with_plain, with_others;  // those above runs of both arms name none, such as rows of a table
  for (const Observation& run : contents.observations)
    if (run.span == Span::run) (run.decoding == Decoding::plain ? with_plain : with_others).insert(launch_of(run));
  const auto is_of_both_arms = [&](const Launch& one) {
    return with_plain.contains(&one) && with_others.contains(&one);
  };
  const bool prints_drafts = contents.format.find("llama-server") != std::string::npos;  // of each request
  std::string read_as;
  for (Observation& run : contents.observations) {
    if (launch_of(run) == nullptr) continue;
    const Launch& launch = *launch_of(run);
    if (run.span == Span::run && !run.concurrency && !run.times.request_rate_per_s) {
      if (!run.requests) note(run.offered_requests, launch.prompts);
      // Of more requests sent at once, only as many run as the command lets.
      const auto most = launch.concurrency ? launch.concurrency : launch.slots;
      const auto& offered = run.offered_requests;
      if (offered ? most && *most <= *offered : !run.requests) {
        run.concurrency = offered ? most : launch.concurrency;
        run.offered_requests.reset();
      }
    }
    const bool fits = run.acceptance_length.value_or(1.0) <= static_cast<double>(launch.gamma().value_or(0)) + 1.0;
    if (run.span != Span::window && run.decoding == Decoding::speculative && fits) note(run.gamma, launch.gamma());
    if (launch.looks_up && run.span == Span::run && run.acceptance && !run.acceptance->generated_tokens) {
      run.acceptance.reset();
      run.times.iteration_ms.reset();
      warn_once(contents, "W18", run.line,
                "the acceptance length is of the steps that drafted; how many did not is not known: not used");
    }
    if (run.span == Span::run && run.decoding == Decoding::speculative && launch.drafts)
      note(run.drafter, launch.drafter);
    const bool told = run.acceptance || run.acceptance_length || run.gamma;
    const bool by_title = run.decoding == Decoding::speculative && !launch.drafts && !told;
    // SGLang's client prints no acceptance of another version's server.
    const bool by_client = run.decoding == Decoding::plain && launch.drafts && contents.format == "bench-serving" &&
                           contents.engine == "sglang";
    if (run.decoding != Decoding::unknown && !by_title && !by_client) continue;
    if (run.span == Span::window || (!launch.drafts && !drafts(launch.program))) continue;  // windows say so themselves
    if (run.decoding != Decoding::speculative && is_of_both_arms(launch)) continue;
    if (launch.llama.is_server() && prints_drafts) continue;
    run.decoding = launch.drafts ? Decoding::speculative : Decoding::plain;
    if (launch.drafts) {
      note(run.gamma, launch.gamma());
      note(run.drafter, launch.drafter);
      if (!run.gamma && !told) {
        run.gamma = launch.llama.most();
        if (run.gamma) run.adaptive = true;
      }
    } else {
      run.drafter.reset();
    }
    const std::string one = fmt::format("line {} {}", launch.line, launch.drafts ? "drafts" : "does not draft");
    if (read_as.find(one) == std::string::npos) read_as += (read_as.empty() ? "" : ", ") + one;
  }
  if (!read_as.empty()) warn_once(contents, "W22", launches.front().line, "command lines read as: " + read_as);
}

}  // namespace foredraft::logs
