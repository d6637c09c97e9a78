// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/record_fields.hpp"
#include "logs/sglang_options.hpp"
#include "logs/table_cells.hpp"

/// SGLang: one line per several decode steps, with a mean acceptance length and, in some versions, a rate; with
/// --log-requests also one per request.
namespace foredraft::logs {
namespace {

/// --decode-log-interval, unless the log states another value.
constexpr std::int64_t default_interval = 40;
struct DecodeLine {
  std::int64_t running;
  double tokens_per_s;
  std::optional<double> length, rate;
  std::optional<std::int64_t> tokens;  ///< in the KV cache, of all running requests
};

std::optional<std::int64_t> tokens_in_cache(std::string_view text) {
  const auto tokens = count_after(text, "#token: ");
  return tokens ? tokens : count_after(text, "#full token: ");
}

/// Nullopt if a field is missing or the last number may be truncated: it has two decimals.
std::optional<DecodeLine> read_decode_line(std::string_view text) {
  constexpr std::string_view label = "gen throughput (token/s): ";
  const auto running = count_after(text, "#running-req: ");
  const auto throughput = number_after(text, label);
  if (!running || !throughput) return std::nullopt;
  const std::string_view digits = text.substr(text.find(label) + label.size());
  const std::size_t point = digits.find('.');
  if (point == std::string_view::npos || digits.size() < point + 3) return std::nullopt;
  return DecodeLine{.running = *running,
                    .tokens_per_s = *throughput,
                    .length = number_after(text, "accept len: "),
                    .rate = number_after(text, "accept rate: "),
                    .tokens = tokens_in_cache(text)};
}

constexpr std::string_view verifications = "'spec_verify_ct': ";

/// A logged request, whose `meta_info` is printed as a Python dict. Names of the counts differ between versions; the
/// first had none: then the tokens after the first are those of the steps. Nullopt if steps or tokens are missing.
std::optional<Observation> logged_request(std::string_view text, std::int64_t number, LogContents& contents) {
  const auto steps = count_after(text, verifications);
  const auto tokens = count_after(text, "'completion_tokens': ");
  if (!steps || *steps == 0 || !tokens) return std::nullopt;
  const auto first_of = [&](std::initializer_list<const char*> names) {
    std::optional<std::int64_t> found;
    for (const char* name : names) note(found, count_after(text, name));
    return found;
  };
  AcceptanceCounts counts{
      .steps = *steps,
      .drafted_tokens =
          first_of({"'spec_num_proposed_drafts': ", "'spec_proposed_drafts': ", "'spec_draft_token_num': "}),
      .accepted_tokens =
          first_of({"'spec_num_correct_drafts': ", "'spec_accepted_drafts': ", "'spec_accept_token_num': "})};
  if (!counts.accepted_tokens && *tokens > *steps) counts.accepted_tokens = *tokens - *steps - 1;
  Observation request{.line = number, .span = Span::request, .decoding = Decoding::speculative};
  request.gamma = steady_gamma(counts);
  check_counts(counts, request.gamma, number, contents);
  set_lengths(count_after(text, "'prompt_tokens': "), tokens, request.stratum);
  request.acceptance = std::move(counts);
  return request;
}

/// What a log states of a server, up to the start of the next one.
struct Server {
  std::int64_t line = 0;  ///< of the first statement
  std::int64_t interval = default_interval;
  std::optional<std::string> method = {};
  std::optional<std::int64_t> steps = {};
  std::optional<DraftTree> tree = {};
  bool is_tree = false;
  bool adapts = false;         ///< varies its draft length itself
  SglangOptions options = {};  ///< in the command line
  AcceptRates rates = {};
  std::optional<std::int64_t> first_rate = {}, last_rate = {};  ///< lines with a rate
  bool decodes = false;                                         ///< has such lines
};

/// Gives a line what its server drafts each time.
void set_drafts_each(const Server& server, std::optional<std::int64_t> gamma, Observation& window) {
  if (window.span == Span::window) {
    window.tree = server.tree;
    if (server.adapts) window.adaptive = true;
  }
  if (!gamma || *gamma > max_positions || server.adapts || server.tree) return;
  window.gamma = gamma;
  if (window.acceptance && !server.is_tree)
    window.acceptance->drafted_tokens =
        whole(static_cast<double>(window.acceptance->steps) * static_cast<double>(*gamma));
}

class SglangReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    if (text.find("ServerArgs(") != std::string_view::npos) return configure(text, begun_at(number), contents);
    if (text.find("--speculative-") != std::string_view::npos) {
      begun_at(number).options.read(text);
      return false;
    }
    if (text.find(verifications) != std::string_view::npos) {
      auto request = logged_request(text, number, contents);
      if (!request) return false;
      contents.observations.push_back(*std::move(request));
      return true;
    }
    if (text.find("Decode batch") != std::string_view::npos) return read_window(text, number, contents);
    if (text.find("Prefill batch") == std::string_view::npos) return read_fragment(text, number, contents);
    // If a batch is filled while nothing runs, a pause has ended; the next line counts the pause as its own time.
    Rank& rank = rank_of(text);
    if (count_after(text, "#running-req: ") == 0) rank.after_pause = true;
    rank.prompt_tokens += static_cast<double>(count_after(text, "#new-token: ").value_or(0));
    return true;
  }

  void finish(LogContents& contents) override;

 private:
  static bool configure(std::string_view text, Server& server, LogContents& contents);
  bool read_window(std::string_view text, std::int64_t number, LogContents& contents);
  bool read_fragment(std::string_view text, std::int64_t number, LogContents& contents);
  Server& begun_at(std::int64_t number);
  [[nodiscard]] const Server& server_of(const Observation& one) const;
  [[nodiscard]] std::optional<std::int64_t> drafts_each(const Server& server, LogContents& contents) const;
  void set_settings(LogContents& contents) const;
  void note_rate(double length, double rate, std::int64_t line);
  void set_counts(const DecodeLine& logged, Observation& window);

  /// A data-parallel rank, which has batches of its own.
  struct Rank {
    bool decodes = false;
    bool after_pause = false;
    double prompt_tokens = 0.0;  ///< since its last line
  };
  Rank& rank_of(std::string_view line);

  std::vector<Server> servers_{1};  ///< the first begins with the log
  std::map<std::int64_t, Rank> ranks_ = {};
  std::int64_t pauses_ = 0;
};

/// The rank that a line names, "DP3"; else the server.
SglangReader::Rank& SglangReader::rank_of(std::string_view line) {
  constexpr std::int64_t most = 4096;
  const std::int64_t rank = count_after(line.substr(0, line.find("batch")), "DP").value_or(0);
  return ranks_[std::min(rank, most)];
}

/// The server of a statement: another one if the last has decoded.
Server& SglangReader::begun_at(std::int64_t number) {
  constexpr std::size_t most = 1024;  // of a log that somebody made
  if (servers_.back().decodes && servers_.size() < most) servers_.push_back({.line = number});
  return servers_.back();
}

const Server& SglangReader::server_of(const Observation& one) const {
  return *std::prev(std::ranges::upper_bound(servers_, one.line, {}, &Server::line));
}

bool SglangReader::configure(std::string_view text, Server& server, LogContents& contents) {
  EngineSettings& settings = contents.settings;
  const auto quoted = [&](std::string_view label) {
    const auto value = text_after(text, label, "'");
    return value ? std::optional(std::string(*value)) : std::nullopt;
  };
  if (auto target = quoted("model_path='")) settings.target = std::move(target);
  server.method = quoted("speculative_algorithm='");
  if (server.method) settings.method = server.method;
  if (auto draft = quoted("speculative_draft_model_path='")) settings.draft = std::move(draft);
  server.steps = count_after(text, "speculative_num_steps=");
  if (const auto top_k = count_after(text, "speculative_eagle_topk=")) {
    server.is_tree = *top_k > 1;
    server.tree = tree_of_sizes(server.steps, top_k, count_after(text, "speculative_num_draft_tokens="));
  }
  server.adapts = text.find("speculative_adaptive=True") != std::string_view::npos;
  if (const auto interval = count_after(text, "decode_log_interval="))
    server.interval = std::max<std::int64_t>(*interval, 1);
  return true;
}

void SglangReader::note_rate(double length, double rate, std::int64_t line) {
  Server& server = servers_.back();
  server.rates.bound(length, rate);
  if (!server.first_rate) server.first_rate = line;
  server.last_rate = line;
}

void SglangReader::set_counts(const DecodeLine& logged, Observation& window) {
  if (!logged.length || !(*logged.length >= 1.0)) return;
  window.decoding = Decoding::speculative;
  const Server& server = servers_.back();
  const double steps = static_cast<double>(server.interval) * static_cast<double>(logged.running);
  const double accepted = std::round(steps * (*logged.length - 1.0));
  constexpr double maximum = 1e15;
  if (!(steps > 0.0) || !(steps < maximum) || !(accepted < maximum)) {
    window.acceptance_length = logged.length;
    return;
  }
  window.acceptance = {.steps = static_cast<std::int64_t>(steps),
                       .accepted_tokens = static_cast<std::int64_t>(accepted),
                       .steps_estimated = true};
  set_drafts_each(server, server.steps, window);  // before lines of a long log are pooled
  if (!logged.rate || !(*logged.rate > 0.0) || *logged.length <= 1.0) return;
  note_rate(*logged.length, *logged.rate, window.line);
}

/// A number, or the middle of a range.
std::optional<double> middle_after(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  return at == text.npos ? std::nullopt : measure_in(text.substr(at + label.size())).value;
}

/// The acceptance of a line of which the rest was left out of a post.
bool SglangReader::read_fragment(std::string_view text, std::int64_t number, LogContents& contents) {
  const auto length = middle_after(text, "accept len: ");
  const auto rate = middle_after(text, "accept rate: ");
  if (!length || !(*length >= 1.0)) return false;
  servers_.back().decodes = true;
  if (rate && *rate > 0.0 && *length > 1.0) note_rate(*length, *rate, number);
  if (!rate)
    warn_once(contents, "W10", number, "acceptance lengths without the rest of their lines: of a part of them");
  Observation window{.line = number, .decoding = Decoding::speculative, .acceptance_length = length};
  if (const std::size_t remark = text.find(" # "); remark != text.npos) {
    window.span = Span::run;  // whose kinds are kept apart
    window.stratum.category = trimmed(text.substr(remark + 3));
  }
  contents.observations.push_back(std::move(window));
  return true;
}

bool SglangReader::read_window(std::string_view text, std::int64_t number, LogContents& contents) {
  const std::optional<DecodeLine> logged = read_decode_line(text);
  if (!logged) return false;
  servers_.back().decodes = true;
  Observation window{.line = number, .decoding = Decoding::plain};
  set_counts(*logged, window);
  window.requests = static_cast<double>(logged->running);
  window.waiting = number_after(text, "#queue-req: ");
  if (const auto graphs = text_after(text, "cuda graph: ", ",")) window.cuda_graphs = *graphs == "True";
  if (logged->tokens && logged->running > 0) {
    window.stratum.context_tokens = static_cast<double>(*logged->tokens) / *window.requests;
  }
  Rank& rank = rank_of(text);
  rank.decodes = true;
  const bool paused = std::exchange(rank.after_pause, false);
  const double prompts = std::exchange(rank.prompt_tokens, 0.0);
  if (paused) {
    ++pauses_;
    window.partial = true;
  } else {
    window.times.output_tokens_per_s = logged->tokens_per_s;
    if (logged->running > 0 && logged->tokens_per_s > 0.0) {
      window.times.iteration_ms = 1000.0 * logged->length.value_or(1.0) * *window.requests / logged->tokens_per_s;
      window.times.duration_s = *window.times.iteration_ms / 1000.0 * static_cast<double>(servers_.back().interval);
      if (prompts > 0.0) window.times.prompt_tokens_per_s = prompts / *window.times.duration_s;
    }
  }
  if (!paused || window.acceptance) contents.observations.push_back(std::move(window));
  return true;
}

/// Drafts per iteration: from the server's settings; else, if lines have rates, the number that fits all of them, or
/// nullopt if none does; else from the command line.
std::optional<std::int64_t> SglangReader::drafts_each(const Server& server, LogContents& contents) const {
  if (server.steps) return server.steps;
  if (servers_.size() == 1 && contents.settings.gamma) return contents.settings.gamma;
  if (!server.first_rate) return server.options.gamma();
  return server.rates.gamma(0, contents);
}

/// The settings of the log are those of all its servers.
void SglangReader::set_settings(LogContents& contents) const {
  std::set<std::optional<std::int64_t>> steps;
  for (const Server& one : servers_)
    if (one.steps) steps.insert(one.tree ? std::nullopt : one.steps);
  if (!steps.empty()) contents.settings.gamma = steps.size() == 1 ? *steps.begin() : std::nullopt;
}

void SglangReader::finish(LogContents& contents) {
  // Words below a log that states nothing else are of its server.
  if (servers_.size() == 2 && !servers_.back().decodes && servers_.front().options == SglangOptions{}) {
    servers_.front().options = servers_.back().options;
    servers_.pop_back();
  }
  std::set<std::optional<std::string>> methods;
  for (Server& one : servers_) {
    if (!one.tree && !one.steps) one.tree = one.options.tree();
    if (one.adapts) one.tree.reset();
    if (one.method) methods.insert(one.method);
  }
  set_settings(contents);
  std::map<const Server*, std::optional<std::int64_t>> drafts;
  for (const Server& one : servers_) drafts[&one] = drafts_each(one, contents);
  for (Observation& window : contents.observations) {
    if (window.decoding != Decoding::speculative) continue;
    const Server& server = server_of(window);
    if (methods.size() > 1 && window.span == Span::window) window.drafter = server.method;
    // Lines before the first rate or after the last are of another server, whose drafts are unknown.
    const bool other =
        !server.steps && server.first_rate && (window.line < *server.first_rate || window.line > *server.last_rate);
    if (window.span == Span::window || (window.span == Span::run && !window.gamma))
      set_drafts_each(server, other ? std::nullopt : drafts.at(&server), window);
  }
  if (const auto ranks = std::ranges::count_if(ranks_, [](const auto& one) { return one.second.decodes; }); ranks > 1) {
    warn_once(contents, "W12", 0,
              fmt::format("the requests are those of one data-parallel rank: {} ranks serve as many each", ranks));
  }
  if (pauses_ > 0) {
    warn_once(contents, "W11", 0,
              fmt::format("ignored the times of windows that include a pause of the server: {}", pauses_));
  }
}

}  // namespace

constexpr std::array<std::string_view, 2> sglang_lines{"Decode batch", "Prefill batch"};

LineFormat sglang_decode_format() {
  return lines_of<SglangReader>(
      R"(Decode batch|Prefill batch|ServerArgs\(|'spec_verify_ct': \d|^\W*accept len: \d|--speculative-(?:num-|eagle-topk|adaptive))",
      sglang_lines);
}

}  // namespace foredraft::logs
