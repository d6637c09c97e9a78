// SPDX-License-Identifier: Apache-2.0
#include "logs/launches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "logs/acceptance.hpp"
#include "logs/arms.hpp"
#include "logs/line_fields.hpp"
#include "logs/llama_requests.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"
#include "logs/serving_runs.hpp"

namespace foredraft::logs {

namespace {

constexpr std::size_t max_command_lines = 256;

/// The program that a command line starts, empty if the line starts none.
std::string program_in(std::string_view text) {
  static const RE2 program(
      R"re(\bpython[\d.]*[ \t]+(?:-[a-z][ \t]+)?([\w./-]+\.[\w.]+)|\b(?:((?:vllm|sglang|trtllm-bench)(?:[ \t]+bench[ \t]+(?:throughput|latency))?)[ \t]+(?:-|serve\b)|((?:docker|podman)[ \t]+run)[ \t]|(llama-[a-z-]+)(?:\.exe)?["']?[ \t]+[-\\]|(mlx_(?:lm|vlm)[.\w]*(?:[ \t]+\w+)?|koboldcpp|text-generation-launcher)[\w.-]*[ \t]+[-\\])re"
      R"re(|(aiperf|genai-(?:perf|bench)|perf_analyzer|guidellm|evalscope|xllm|lmdeploy)[ \t]+(?:(?:profile|perf|benchmark|run|serve)[ \t]+){0,2}[-\\]|(lmdeploy[ \t]+serve)[ \t]+api_server|(vllm[ \t]+bench[ \t]+serve)\b))re",
      byte_options());
  std::array<std::string, 8> names;  // one of them is found
  const bool found = RE2::PartialMatch(piece(text), program, &names[0], &names[1], &names[2], &names[3], &names[4],
                                       &names[5], &names[6], &names[7]);
  return found ? fmt::format("{}", fmt::join(names, "")) : "";
}

/// Reads the load that the options of a line state.
void read_launched_load(std::string_view text, Launch& launch) {
  // Without a server, all prompts at once; the second is the folder of vLLM's examples.
  static const RE2 offline("throughput|offline_inference");
  static const RE2 server("serv|^(?:vllm|sglang|docker run|podman run)$");
  static const RE2 prompts(R"re(--num-prompts[ \t=]+(\d{1,6})\b)re", byte_options());
  static const RE2 slots(R"re(--max[-_](?:num[-_]seqs|running[-_]requests)[ \t=]+(\d{1,6})\b)re", byte_options());
  static const RE2 settings(R"re(--config-list[ \t=]+["']?(\d{1,6})\b)re", byte_options());
  // Of a load generator; elsewhere it may be a context, as a number of more digits is.
  static const RE2 generator("(?i)bench|load|stress|client");
  static const RE2 letter(R"re([ \t]-c[ \t=]+(\d{1,3})(?:[ \t\\]|$))re", byte_options());
  const auto read = [&](const RE2& option, std::optional<double>& field) {
    double requests = 0.0;
    if (RE2::PartialMatch(piece(text), option, &requests) && requests > 0.0) field = requests;
  };
  const bool alone = RE2::PartialMatch(launch.program, offline);
  if (!RE2::PartialMatch(launch.program, server)) read(slots, launch.slots);
  if (alone) note(launch.concurrency, launch.slots);
  read(settings, launch.concurrency);
  if (RE2::PartialMatch(launch.program, generator) && !launch.program.starts_with("llama"))
    read(letter, launch.concurrency);
  if (const auto limit = concurrency_option(text)) launch.concurrency = limit;
  if (alone) read(prompts, launch.prompts);
}

/// Words of a server's log for a drafter.
const std::string& logged_drafter() {
  static const std::string words =
      "(?:(?:" + std::string(names_of_drafters) + R"()\w*|speculat\w+|draft(?:er|ing)?|assistant))";
  return words;
}

constexpr const char* begins_server = R"re((?i:\bloading model: |started server process|\buvicorn running on))re";

/// "MTP decode enabled", "mtp_enabled=True"; "Loading draft model", "Disabled speculative decoding".
std::string switch_pattern() {
  return R"re((?i:\b(?:[a-z]+_)?)re" + logged_drafter() +
         R"re((?:[ _-](?:speculat\w+|decod\w+|draft\w*|head|model|mode)){0,3}[ _-](?:(?:is|now) ){0,2}(enabled|disabled|loaded|unloaded)\b(?:["']?[ \t]*[:=][ \t]*["']?(\w+))?)re"
         R"re(|\b(loading|loaded|unloading|unloaded|enabling|enabled|disabling|disabled) (?:the |a )?)re" +
         logged_drafter() + R"re(\b))re";
}

/// Whether a line of a server's log says that it drafts from there on, or that it no longer does.
std::optional<bool> switched_drafts(std::string_view text) {
  static const RE2 of_log(R"re(\d:\d\d|\b(?:INFO|WARN(?:ING)?|DEBUG)\b|\blevel=)re", byte_options());
  static const RE2 denied("(?i)\\b(?:not|never|no|cannot|can't|unable|without|fail\\w*|if|when)\\b", byte_options());
  static const RE2 change(switch_pattern(), byte_options());
  static const RE2 off("(?i)un.*|disabl.*"), no("(?i)false|0|no|off|none|null");
  if (!RE2::PartialMatch(piece(text), of_log) || RE2::PartialMatch(piece(text), denied)) return std::nullopt;
  std::optional<bool> on;
  std::string state, value, verb;
  for (re2::StringPiece rest = piece(text); RE2::FindAndConsume(&rest, change, &state, &value, &verb);)
    on = on.value_or(false) || RE2::FullMatch(state + verb, off) == RE2::FullMatch(value, no);
  return on;
}

}  // namespace

const std::string& switch_anchor() {
  static const std::string anchor =
      "(?i:" + logged_drafter() +
      R"re([\w -]*[ _-](?:enabled|disabled|loaded|unloaded)\b|(?:load|enabl|disabl)(?:ing|ed) (?:the |a )?)re" +
      logged_drafter() + ")|" + begins_server;
  return anchor;
}

/// Reads a line of a server's log that begins with a model, or that switches drafts on or off; false for other lines.
bool Launches::read_switch(std::string_view text, std::int64_t number) {
  if (launches_.size() == max_command_lines) return launches_.back().of_server;
  static const RE2 begins(begins_server, byte_options());
  const auto drafts = switched_drafts(text);
  const bool first = launches_.empty() || launches_.back().of_server;
  if (!drafts && !(first && RE2::PartialMatch(piece(text), begins))) return false;
  Launch launch = drafts && !launches_.empty() ? launches_.back() : Launch{.program = "server"};
  launch.line = number;
  launch.of_server = true;
  launch.of_session = drafts.has_value();
  launch.options.read(text);
  launch.options.drafts = drafts.value_or(false);
  launches_.push_back(std::move(launch));
  return true;
}

std::optional<double> concurrency_option(std::string_view text) {
  static const RE2 option(
      R"re(--(?:(?:max|num|request)[-_])?(?:concurrency|concurrent[-_]requests)(?:[-_]range)?[ \t=]+["']?(\d{1,6})(?::(\d{1,6})(?::\d+)?)?["']?(?:[ \t\\'"`;)&|]|$))re",
      byte_options());
  std::string first, last;
  if (!RE2::PartialMatch(piece(text), option, &first, &last) || (!last.empty() && last != first)) return std::nullopt;
  const double requests = std::stod(first);
  return requests > 0.0 ? std::optional(requests) : std::nullopt;
}

/// Reads the draft length that a user sets within `ollama run`; false for other lines.
bool Launches::read_session(std::string_view text, std::int64_t number) {
  static const RE2 set_length(R"re((?i)^\W*set parameter\W+draft_num_predict\W+(?:to\W+)?(\d{1,4})\b)re",
                              byte_options());
  std::int64_t tokens = 0;
  if (!RE2::PartialMatch(piece(text), set_length, &tokens)) return false;
  Launch session = launches_.empty() ? Launch{.program = "ollama run"} : launches_.back();
  // Without one in its tag, whether the model drafted before is unknown.
  if (!session.options.drafts && !session.of_session) session.program += " with parameters";
  session.line = number;
  session.without_drafter = false;
  session.options.drafts = tokens > 0;
  session.options.tokens = tokens;
  session.of_session = true;
  if (launches_.size() < max_command_lines) launches_.push_back(std::move(session));
  return true;
}

bool Launches::read(std::string_view text, std::string_view above, std::int64_t number) {
  static const RE2 model(R"re(\bollama(?:\.exe)?["']?[ \t]+run[ \t]+(?:--[\w=-]+[ \t]+)*["']?(\w[\w./:-]*))re",
                         byte_options());
  static const RE2 without(R"re((?i)[-_:.](?:non?|without)[-_]?(?:spec|draft|)re" + std::string(names_of_drafters) +
                           ")");
  // TensorRT-LLM's, and the options of a request to Ollama.
  static const RE2 configuration(
      R"re(\bdecoding_type["']?[ \t]*[:=][ \t]*["']?\w|[{,"'][ \t]*draft_num_predict[\\"']*[ \t]*:[ \t]*\d)re",
      byte_options());
  static const RE2 engine(R"re(\bspeculative_config=(?:None|Spec))re", byte_options());  // a line of vLLM's
  of_trtllm_ = of_trtllm_ || text.find("decoding_type") != std::string_view::npos;
  if (text.find("CLI Command:") != std::string_view::npos) return false;  // AIPerf ends what it prints with its own
  if (read_session(text, number) || read_switch(text, number)) return false;
  std::string name;
  const bool runs_model = RE2::PartialMatch(piece(text), model, &name);
  const std::string target = runs_model ? model_without_drafter(name) : "";
  // Other models are other programs.
  const std::string program = runs_model ? "ollama run " + target : program_in(text);
  const bool begins = !program.empty() || RE2::PartialMatch(piece(text), configuration);
  const bool options = !begins && text.starts_with("--") && !above.ends_with('\\');  // of a command without its own
  if (begins || options || RE2::PartialMatch(piece(text), engine)) {
    if (launches_.size() == max_command_lines) return true;
    launches_.push_back({.line = number, .program = program});
  } else if (launches_.empty()) {
    return false;
  }
  Launch& launch = launches_.back();
  if (runs_model) launch.without_drafter = RE2::PartialMatch(name, without);
  if (runs_model) launch.options.drafts = target.size() < name.size() && !launch.without_drafter;
  launch.options.read(text);
  read_launched_load(text, launch);
  return begins || options;
}

/// The command lines, and what the server did before the first line of its log that switches drafts: the opposite. One
/// that begins anew with a drafter did not draft before if it counts the drafts of all answers since then, but of none
/// before. Lines of a log that switches nothing say nothing.
std::vector<Launch> Launches::with_beginning(const LogContents& contents) const {
  std::vector<Launch> all = launches_;
  const auto is_switch = [](const Launch& one) { return one.of_server && one.of_session; };
  const auto first = std::ranges::find_if(all, is_switch);
  if (first == all.end()) {
    std::erase_if(all, [](const Launch& one) { return one.of_server; });
    return all;
  }
  if (!all.front().of_server) return all;
  const auto contradicts = [&](const Observation& run) {
    return (run.acceptance || run.acceptance_length) != (run.line > first->line);
  };
  const auto is_before = [&](const Observation& run) { return run.line < all.front().line; };
  const auto next = std::next(first);
  const auto is_between = [&](const Observation& run) { return run.line > first->line && run.line < next->line; };
  const bool anew = first != all.begin() ||
                    (next != all.end() && !is_switch(*next) && std::ranges::none_of(contents.observations, is_between));
  const bool counts = first->options.drafts && std::ranges::any_of(contents.observations, is_before) &&
                      std::ranges::none_of(contents.observations, contradicts);
  if (!anew || counts) {
    const bool drafted = !first->options.drafts;
    all.insert(all.begin(), Launch{.program = "server", .options = {.drafts = drafted}, .of_server = true});
  }
  return all;
}

/// The command line of each part of the output: of several without output between them the one that drafts, which a
/// load generator's is not; one of a load generator alone keeps the server of the part before. Empty if two of these
/// start the same program with and without drafts.
std::vector<Launch> Launches::before_runs(const LogContents& contents) const {
  std::vector<std::int64_t> runs;
  for (const Observation& run : contents.observations) runs.push_back(run.line);
  std::ranges::sort(runs);
  static const RE2 client(R"re(aiperf|genai-\w+|perf_analyzer|guidellm|evalscope|vllm[ \t]+bench[ \t]+serve)re");
  std::vector<Launch> last;
  bool clear = true;
  const std::vector<Launch> launches = with_beginning(contents);
  for (auto at = launches.begin(); at != launches.end(); ++at) {
    Launch launch = *at;
    // The script may run both arms, in any order, if several runs are below it.
    const auto next_line =
        std::next(at) == launches.end() ? std::numeric_limits<std::int64_t>::max() : std::next(at)->line;
    const auto below = std::ranges::lower_bound(runs, next_line) - std::ranges::lower_bound(runs, launch.line);
    const bool runs_one = launch.options.has_assistant && below == 1;
    const auto opts_out = [&](const Launch& other) { return other.without_drafter && other.program == launch.program; };
    if (runs_one || (!launch.without_drafter && std::ranges::any_of(launches, opts_out))) launch.options.drafts = true;
    const bool next =
        last.empty() || std::ranges::lower_bound(runs, launch.line) != std::ranges::lower_bound(runs, last.back().line);
    if (next) {
      const bool of_server = !last.empty() && RE2::FullMatch(launch.program, client);
      last.push_back(of_server ? last.back() : launch);
      last.back().line = launch.line;
      last.back().concurrency = launch.concurrency;
      continue;
    }
    if (launch.of_session) {
      last.back() = launch;
      continue;
    }
    const bool other = last.back().options.drafts != launch.options.drafts;
    clear = clear && (launch.of_server || !(other && last.back().program == launch.program));
    if (launch.concurrency) last.back().concurrency = launch.concurrency;
    if (launch.options.drafts) {
      Launch both = launch;
      both.line = last.back().line;
      both.program = last.back().program;
      both.concurrency = last.back().concurrency;
      last.back() = std::move(both);
    }
    // A configuration is of the command line beside it.
    if (!launch.program.empty() && (launch.options.drafts || last.back().program.empty()))
      last.back().program = launch.program;
  }
  return clear ? last : std::vector<Launch>{};
}

namespace {

/// Gives a run of unknown load that of its command line.
void set_launched_load(const Launch& launch, Observation& run) {
  if (run.span != Span::run) return;
  if (!run.requests && !run.concurrency && !run.times.request_rate_per_s) note(run.offered_requests, launch.prompts);
  set_limit(launch.concurrency || !run.offered_requests ? launch.concurrency : launch.slots, run);
}

/// Gives a run that speculates the draft length and the drafter of its command line.
void set_launched_drafts(const DraftOptions& options, Observation& run, LogContents& contents) {
  if (run.span == Span::window) return;
  const auto gamma = options.gamma();
  const bool fits = run.acceptance_length.value_or(1.0) <= static_cast<double>(gamma.value_or(0)) + 1.0;
  const bool speculates = run.decoding == Decoding::speculative;
  const bool is_mean = options.looks_up() && run.acceptance_length && run.gamma && run.gamma != gamma;
  if (speculates && is_mean) {  // of the numbers that it drafts
    run.gamma.reset();
    run.adaptive = true;
  }
  if (speculates && fits) note(run.gamma, gamma);
  if (speculates) note_most(options.most(), run);
  if (speculates && !run.gamma) note(run.tree, options.tree());
  if (run.span != Span::run) return;
  if (speculates && options.drafts) note(run.drafter, options.drafter);
  if (options.looks_up() && run.acceptance && !run.acceptance->generated_tokens) {
    run.acceptance.reset();
    run.times.iteration_ms.reset();
    warn_once(contents, "W18", run.line,
              "the acceptance length is of the steps that drafted; how many did not is not known: not used");
  }
}

bool has_drafts_itself(const Observation& run) { return run.acceptance || run.acceptance_length || run.gamma; }

/// Whether only the command line of a run can say whether it speculates.
bool lacks_decoding(const Launch& launch, const Observation& run, const LogContents& contents) {
  const bool drafts = launch.options.drafts;
  switch (run.decoding) {
    case Decoding::unknown:
      return true;
    case Decoding::speculative:
      return !drafts && !has_drafts_itself(run);  // by a title
    case Decoding::plain:
      return drafts && lacks_acceptance(run, contents);
  }
  return false;
}

/// Gives a run the decoding of its command line.
void set_launched_decoding(const DraftOptions& options, Observation& run) {
  if (!options.drafts) {
    run.decoding = Decoding::plain;
    run.drafter.reset();
    return;
  }
  draft_uncounted(run);
  const bool told = has_drafts_itself(run);
  note(run.gamma, options.gamma());
  note(run.drafter, options.drafter);
  if (run.gamma || told) return;
  run.gamma = options.most();
  run.adaptive = run.gamma.has_value();
}

}  // namespace

void Launches::name_runs(LogContents& contents) const {
  if (of_trtllm_ && contents.engine.empty()) contents.engine = "tensorrt-llm";
  const std::vector<Launch> launches = before_runs(contents);
  // Formats of one program print the same runs; else a client's may print those of a server.
  const auto is_other = [&](const Launch& one) { return one.program != launches.front().program; };
  if (contents.format.find(' ') != std::string::npos && std::ranges::any_of(launches, is_other)) return;
  const auto launch_of = [&](const Observation& run) {
    const auto later = std::ranges::upper_bound(launches, run.line, {}, &Launch::line);
    return later == launches.begin() ? nullptr : &*std::prev(later);
  };
  std::set<std::string> drafting;  // programs
  for (const Launch& one : launches)
    if (one.options.drafts) drafting.insert(one.program);
  std::set<const Launch*> with_plain, with_others;  // those above runs of both arms name none, such as rows of a table
  for (const Observation& run : contents.observations)
    if (run.span == Span::run) (run.decoding == Decoding::plain ? with_plain : with_others).insert(launch_of(run));
  const bool prints_drafts = contents.format.find("llama-server") != std::string::npos;  // of each request
  std::set<const Launch*> counted;  // above answers that count their drafts: one without drafted nothing
  for (const Observation& run : contents.observations)
    if (has_drafts_itself(run)) counted.insert(launch_of(run));
  std::set<std::int64_t> said;
  std::string read_as;
  for (Observation& run : contents.observations) {
    const Launch* const launch = launch_of(run);
    if (launch == nullptr) continue;
    const DraftOptions& options = launch->options;
    set_launched_load(*launch, run);
    set_launched_drafts(options, run, contents);
    const bool says_so = (run.span == Span::window && (run.decoding != Decoding::plain || counted.contains(launch))) ||
                         (options.llama.is_server() && prints_drafts) ||
                         (launch->of_server && options.drafts && (prints_drafts || counted.contains(launch)));
    const bool of_both = with_plain.contains(launch) && with_others.contains(launch);
    const bool told = drafting.contains(launch->program) || options.tokens == 0;
    if (says_so || !told || !lacks_decoding(*launch, run, contents) ||
        (of_both && run.decoding != Decoding::speculative))
      continue;
    set_launched_decoding(options, run);
    if (said.insert(launch->line).second)
      read_as += fmt::format("{}{} {} {}", read_as.empty() ? "" : ", ", launch->line > 0 ? "line" : "before line",
                             launch->line > 0 ? launch->line : std::next(launch)->line,
                             options.drafts ? "drafts" : "does not draft");
  }
  const std::string_view of = !launches.empty() && launches.front().of_server ? "lines of the server" : "command lines";
  if (!read_as.empty()) warn_once(contents, "W22", launches.front().line, fmt::format("{} read as: {}", of, read_as));
}

}  // namespace foredraft::logs
