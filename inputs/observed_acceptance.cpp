// SPDX-License-Identifier: Apache-2.0
#include "inputs/observed_acceptance.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "sim/process/recorded_outcomes.hpp"

#define ZLIB_CONST  // const input
#include <zlib.h>

#include "core/files.hpp"
#include "core/readable.hpp"
#include "logs/log_reader.hpp"

namespace foredraft::inputs {
namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b";
constexpr std::size_t unpacked_bytes = std::size_t{1} << 18U;

/// Decompresses data in pieces: one gzip file or several concatenated ones.
class Gunzip {
 public:
  explicit Gunzip(std::string name) : name_(std::move(name)), buffer_(unpacked_bytes) {
    constexpr int gzip_only = 15 + 16;
    if (inflateInit2(&stream_, gzip_only) != Z_OK) throw RunError("zlib is not available");
  }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;
  Gunzip(Gunzip&&) = delete;
  Gunzip& operator=(Gunzip&&) = delete;
  ~Gunzip() { inflateEnd(&stream_); }

  /// Decompresses `bytes` and passes the result to `use` in pieces.
  template <typename Use>
  void add(std::string_view bytes, const Use& use) {
    stream_.next_in = reinterpret_cast<const Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    bool full = false;
    while (stream_.avail_in > 0 || full) {
      if (ended_ && inflateReset(&stream_) != Z_OK) fail("gzip data are broken");
      ended_ = false;
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) fail("gzip data are broken");
      ended_ = status == Z_STREAM_END;
      full = stream_.avail_out == 0 && !ended_;
      use(std::string_view(buffer_.data(), buffer_.size() - stream_.avail_out));
    }
  }

  void finish() const {
    if (!ended_) fail("gzip data end too early");
  }

 private:
  [[noreturn]] void fail(std::string_view problem) const {
    throw InputError(fmt::format("{}: {} (the file is truncated or damaged) - unpack the rest with gzip -dc",
                                 readable(name_), problem));
  }

  std::string name_;
  std::vector<char> buffer_;
  z_stream stream_{};
  bool ended_ = false;
};

logs::ObservedLog read_log(const std::string& path, std::string_view format, StopToken stop,
                           const BytesRead& progress) {
  const std::string name = path == "-" ? "standard input" : path;
  InputReader file(path);
  Sha256 digest;
  logs::LogReader reader(name, format);
  std::unique_ptr<Gunzip> gunzip;
  std::string first;  // enough to recognize the format
  bool begun = false;
  std::uint64_t bytes = 0;
  const auto use = [&](std::string_view text) {
    stop.check();
    reader.add(text);
  };
  const auto add = [&](std::string_view text) { gunzip ? gunzip->add(text, use) : use(text); };
  for (std::string_view piece = file.read(); !piece.empty(); piece = file.read()) {
    digest.add(piece);
    bytes += piece.size();
    if (progress) progress(piece.size());
    if (begun) {
      add(piece);
      continue;
    }
    first += piece;
    if (first.size() < gzip_magic.size()) continue;
    if (first.starts_with(gzip_magic)) gunzip = std::make_unique<Gunzip>(name);
    begun = true;
    add(first);
  }
  if (!begun) add(first);
  if (gunzip) gunzip->finish();
  return {.file = name, .sha256 = digest.finish(), .contents = reader.finish(), .bytes = bytes};
}

}  // namespace

std::vector<logs::ObservedLog> read_logs(std::span<const std::string> paths, std::string_view format, OtherFiles others,
                                         StopToken stop, const BytesRead& progress) {
  std::vector<logs::ObservedLog> logs;
  std::vector<std::string> problems;  // of all files
  std::size_t of_notes = 0;           // of these, of files of no known format
  for (const std::string& path : paths) {
    try {
      logs::ObservedLog log = read_log(path, format, stop, progress);
      const auto same = std::ranges::find_if(logs, [&](const auto& other) { return other.sha256 == log.sha256; });
      if (same != logs.end()) {
        problems.push_back(
            fmt::format("{}: holds the same bytes as {} (its observations would count twice) - leave one out",
                        readable(log.file), readable(same->file)));
      }
      logs.push_back(std::move(log));
    } catch (const logs::UnknownFormat& error) {
      problems.emplace_back(error.what());
      ++of_notes;
    } catch (const InputError& error) {
      problems.emplace_back(error.what());
    }
  }
  if (others == OtherFiles::left_out && !logs.empty() && of_notes == problems.size()) {
    for (const std::string& one : problems)
      logs.front().contents.warnings.push_back({.code = "W18", .message = "left out: " + one});
    return logs;
  }
  if (!problems.empty()) throw InputError(fmt::format("{}", fmt::join(problems, "\n")));
  return logs;
}

namespace {

using logs::Observation;
using Observations = std::vector<const Observation*>;

[[noreturn]] void reject_log(const std::string& file, std::string text, std::string why = {},
                             std::string suggestion = {}, std::int64_t line = 0) {
  ProblemList problems(file);
  problems.add({line, "", std::move(text), std::move(why), std::move(suggestion)});
  throw InputError(problems.text());
}

bool has_trace(const Observation& observation) {
  return !observation.trace.by_position.empty() || (!observation.trace.by_step.empty() && observation.gamma);
}

/// The observations to use: the finest of requests, windows and runs, because the others contain the same steps.
Observations used_observations(const logs::LogContents& contents) {
  Observations used;
  for (const logs::Span span : {logs::Span::request, logs::Span::window, logs::Span::run}) {
    for (const Observation& observation : contents.observations) {
      if (observation.span == span && (has_trace(observation) || answers::has_counts(observation)))
        used.push_back(&observation);
    }
    if (!used.empty()) break;
  }
  return used;
}

/// Rejects observations that differ in a logged `value`.
template <class Value>
void check_equal(const std::string& file, const Observations& used, std::string_view name, std::string_view why,
                 const Value& value) {
  const Observation* first = nullptr;
  for (const Observation* observation : used) {
    const auto here = value(*observation);
    if (!here) continue;
    if (first == nullptr) first = observation;
    const auto before = value(*first);
    if (*before == *here) continue;
    reject_log(file, fmt::format("{} {} here and {} at line {}", name, *here, *before, first->line), std::string(why),
               "use a log with only one of them", observation->line);
  }
}

void check_settings(const std::string& file, const Observations& used) {
  constexpr std::string_view sampling = "acceptance depends on it";
  check_equal(file, used, "temperature", sampling, [](const auto& one) { return one.stratum.temperature; });
  check_equal(file, used, "top_p", sampling, [](const auto& one) { return one.stratum.top_p; });
  check_equal(file, used, "draft sampling", sampling, [](const auto& one) { return one.stratum.draft_sampling; });
  check_equal(file, used, "reasoning", sampling, [](const auto& one) { return one.stratum.reasoning; });
  // Lists by text position have the drafter's name here; other observations have the kind of prompts, which may be
  // mixed.
  check_equal(file, used, "drafter", "their acceptance differs",
              [](const auto& one) { return one.trace.by_position.empty() ? std::nullopt : one.stratum.category; });
}

// ---- Counts.

std::vector<analytic::AcceptanceCluster> clusters_of(const std::string& file, const Observations& used) {
  std::vector<analytic::AcceptanceCluster> clusters;
  for (const Observation* observation : used) {
    if (!answers::has_counts(*observation)) continue;
    if (!observation->gamma) {
      reject_log(file, "no draft length", "accepted counts mean nothing without the number of drafted tokens",
                 "write a table of your own with gamma: docs/logs.md", observation->line);
    }
    if (!answers::drafts_are_whole(*observation)) {
      reject_log(file, fmt::format("drafts of several lengths, at most {}", *observation->gamma),
                 "the fit needs drafts of one length", "log a run with a fixed draft length", observation->line);
    }
    if (auto counts = answers::counts_for_fit(*observation)) clusters.push_back(*std::move(counts));
  }
  return clusters;
}

[[noreturn]] void reject_fit(const std::string& file, const analytic::FitProblem& problem) {
  using enum analytic::FitProblem::Reason;
  switch (problem.reason) {
    case too_few_steps:
      reject_log(file, fmt::format("{} verification steps", number_text(problem.steps)),
                 fmt::format("at least {} are needed", number_text(analytic::min_steps)),
                 fmt::format("log {} more: then tokens per iteration are known to 2 %",
                             number_text(problem.more_steps_needed)));
    case all_accepted:
      reject_log(file, "every draft was accepted", "the counter may be 100 % by construction",
                 "check that drafts were verified");
    case rising:
      reject_log(file, fmt::format("position {} was accepted more often than the one before", problem.position),
                 fmt::format("at gamma {} a draft is accepted with all before it", problem.gamma),
                 "the counts are inconsistent");
  }
  throw std::logic_error("unknown reason");
}

/// Rejects a single draft length without positions or of one draft, with the range that it leaves open.
[[noreturn]] void reject_unidentified(const std::string& file, const analytic::AcceptanceFit& fit) {
  const analytic::PooledCounts& logged = fit.counts.front();
  const bool single = logged.gamma == 1;
  const std::int64_t other = single ? 3 : 1;
  const analytic::TokensAtGamma open = analytic::tokens_at(fit, other);
  reject_log(
      file,
      fmt::format("gamma {} {} does not determine other draft lengths", logged.gamma,
                  single ? "alone" : "without positions"),
      fmt::format("{} tokens per iteration there; at gamma {} anything from {} to {} is possible",
                  decimal_text(1.0 + logged.accepted, 4), other, decimal_text(open.low, 3), decimal_text(open.high, 3)),
      single ? "log a few minutes at gamma 3" : "log acceptance by position");
}

/// The log of a file and the observations to use.
struct UsedLog {
  FileDigest file;
  logs::ObservedLog log;
  Observations used;  ///< of the log
};

std::unique_ptr<const UsedLog> read_used_log(const std::string& path, StopToken stop) {
  auto logs = read_logs(std::span(&path, 1), "", OtherFiles::rejected, stop);
  auto result = std::make_unique<UsedLog>();
  result->log = std::move(logs.front());
  const std::string& file = result->log.file;
  result->file = {.path = file, .bytes = result->log.bytes, .sha256 = result->log.sha256};
  result->used = used_observations(result->log.contents);
  if (result->used.empty()) {
    reject_log(file, "no counts of acceptance",
               "the log is of autoregressive decoding, or its engine does not count drafts",
               "foredraft import shows what was read");
  }
  check_settings(file, result->used);
  return result;
}

analytic::AcceptanceFit fit_of(const UsedLog& used) {
  const std::string& file = used.file.path;
  const std::vector<analytic::AcceptanceCluster> clusters = clusters_of(file, used.used);
  if (clusters.empty()) {
    if (used.used.front()->trace.by_position.empty()) {
      reject_log(file, "no accepted drafts", "the log counts steps but not what they accepted");
    }
    reject_log(file, "acceptance by text position", "it can be replayed, but not fitted", "use foredraft simulate");
  }
  auto result =
      analytic::fit_acceptance(clusters, answers::drafter_class(used.log.contents.settings.method.value_or("")));
  if (const auto* problem = std::get_if<analytic::FitProblem>(&result)) reject_fit(file, *problem);
  auto& fit = std::get<analytic::AcceptanceFit>(result);
  if (!fit.model) reject_unidentified(file, fit);
  return std::move(fit);
}

// ---- Recordings.

std::shared_ptr<const Recording> recording_of(const std::string& file, const Observations& used) {
  if (!std::ranges::all_of(used, [](const Observation* one) { return has_trace(*one); })) return nullptr;
  Recording recording;
  for (const Observation* observation : used) {
    const logs::AcceptanceTrace& trace = observation->trace;
    if (!trace.by_position.empty()) {
      recording.accepted_from.push_back(trace.by_position);
      continue;
    }
    const std::vector<std::int64_t> accepted(trace.by_step.begin(), trace.by_step.end());
    try {
      recording.sequences.push_back(sim::trace_from_accepted_counts(accepted, *observation->gamma, Convention::bonus));
    } catch (const DomainError& error) {
      reject_log(file, error.what(), "", "", observation->line);
    }
  }
  return std::make_shared<const Recording>(std::move(recording));
}

}  // namespace

ObservedAcceptance read_observed_acceptance(const std::string& path, StopToken stop) {
  const auto used = read_used_log(path, stop);
  if (const auto recording = recording_of(path, used->used)) {
    std::int64_t shortest = 0;
    for (const Observation* one : used->used) {
      if (!one->trace.by_step.empty()) shortest = shortest == 0 ? *one->gamma : std::min(shortest, *one->gamma);
    }
    return {.file = used->file, .process = Trace{.recording = recording, .file = path}, .recorded_gamma = shortest};
  }
  return {.file = used->file, .process = fit_of(*used).model.value()};
}

answers::FittedAcceptance read_fitted_acceptance(const std::string& path, StopToken stop) {
  const auto used = read_used_log(path, stop);
  return {.file = used->file, .fit = fit_of(*used)};
}

}  // namespace foredraft::inputs
