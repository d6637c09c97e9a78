// SPDX-License-Identifier: Apache-2.0
#include "inputs/llama_bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "core/csv.hpp"
#include "core/documents.hpp"
#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "core/readable.hpp"
#include "core/table.hpp"
#include "foredraft/errors.hpp"
#include "latency/devices/device_registry.hpp"
#include "latency/profile/profile.hpp"
#include "latency/surfaces/few_tokens.hpp"
#include "logs/line_fields.hpp"
#include "scenario/value.hpp"

namespace foredraft::inputs {
namespace {

using Json = nlohmann::ordered_json;

constexpr double us_per_ns = 1e-3;
constexpr double us_per_s = 1e6;

/// A test of a run: its fields as text, and samples, which only JSON has.
struct BenchRow {
  std::int64_t line = 0;
  std::map<std::string, std::string> fields = {};
  std::vector<std::string> samples = {};  ///< samples_ns
};

std::string plain_text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

BenchRow row_of(const Json& object, std::int64_t line) {
  BenchRow row{.line = line};
  for (const auto& [key, value] : object.items()) {
    if (value.is_primitive()) row.fields[key] = plain_text(value);
    if (key != "samples_ns" || !value.is_array()) continue;
    for (const Json& sample : value) row.samples.push_back(plain_text(sample));
  }
  return row;
}

/// The line where each object of a JSON list begins.
std::vector<std::int64_t> lines_of_objects(std::string_view text) {
  std::vector<std::int64_t> found;
  std::int64_t line = 1;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
      continue;
    }
    quoted = c == '"';
    if (c == '{' && depth == 1) found.push_back(line);
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
  }
  return found;
}

std::vector<BenchRow> rows_of_list(std::string_view text, ProblemList& problems) {
  std::vector<BenchRow> rows;
  const Json list = parse_json(text, problems);
  if (!problems.empty()) return rows;
  const std::vector<std::int64_t> lines = lines_of_objects(text);
  for (const Json& entry : list) {
    if (!entry.is_object() || rows.size() >= lines.size()) {
      problems.add({.text = "an entry is not an object", .why = "llama-bench -o json writes one object per test"});
      return {};
    }
    rows.push_back(row_of(entry, lines[rows.size()]));
  }
  return rows;
}

std::vector<BenchRow> rows_of_objects(std::string_view text, ProblemList& problems) {
  std::vector<BenchRow> rows;
  for (TextLines lines(text); lines.next();) {
    const std::size_t before = problems.problems().size();
    const Json object = parse_json(lines.line(), problems, lines.number());
    if (problems.problems().size() > before) continue;
    if (object.is_object()) {
      rows.push_back(row_of(object, lines.number()));
    } else {
      problems.add({.line = lines.number(), .text = "no JSON object"});
    }
  }
  return rows;
}

std::vector<BenchRow> rows_of_csv(std::string_view text, ProblemList& problems) {
  std::vector<BenchRow> rows;
  std::vector<std::string> header;
  for (TextLines lines(text); lines.next();) {
    const std::int64_t number = lines.number();
    const auto cells = split_csv_line(lines.line());
    if (!cells) {
      problems.add({.line = number, .text = "a quote is not closed"});
    } else if (header.empty()) {
      header = *cells;
      if (std::ranges::find(header, "avg_ns") == header.end()) {
        problems.add({.line = number,
                      .text = "not output of llama-bench or llama-batched-bench",
                      .why = "a CSV of llama-bench has a column avg_ns",
                      .suggestion = "run it with -o csv, json or jsonl, batched-bench with --output-format jsonl"});
        return {};
      }
    } else if (cells->size() != header.size()) {
      problems.add({.line = number, .text = fmt::format("{} cells below {} columns", cells->size(), header.size())});
    } else {
      BenchRow& row = rows.emplace_back(BenchRow{.line = number});
      for (std::size_t i = 0; i < header.size(); ++i) row.fields[header[i]] = (*cells)[i];
    }
  }
  return rows;
}

std::vector<BenchRow> rows_of(std::string_view text, ProblemList& problems) {
  if (!check_line_limits(text, problems)) return {};
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '[') return rows_of_list(text, problems);
  if (first != std::string_view::npos && text[first] == '{') return rows_of_objects(text, problems);
  return rows_of_csv(text, problems);
}

/// Reads the fields of a row; reports each problem once.
class Fields {
 public:
  Fields(const BenchRow& row, ProblemList& problems) : row_(row), problems_(problems) {}

  [[nodiscard]] bool has(const std::string& name) const { return row_.fields.contains(name); }
  [[nodiscard]] bool rejected() const { return rejected_; }

  [[nodiscard]] std::string text(const std::string& name) const {
    const auto found = row_.fields.find(name);
    return found == row_.fields.end() ? "" : found->second;
  }

  void reject(const std::string& name, const std::string& text, const std::string& why) {
    problems_.add({.line = row_.line, .key = name, .text = text, .why = why});
    rejected_ = true;
  }

  std::int64_t count(const std::string& name, std::int64_t least, std::optional<std::int64_t> otherwise = {}) {
    if (!has(name) && otherwise) return *otherwise;
    const auto number = parse_integer(text(name));
    if (number && *number >= least && *number <= max_table_count) return *number;
    reject(name, has(name) ? fmt::format("invalid {}=\"{}\"", name, text(name)) : "missing",
           fmt::format("must be a whole number from {} to {}", least, max_table_count));
    return least;
  }

  double positive(const std::string& name, const std::string& written) {
    const auto number = parse_real(written);
    if (number && *number > 0.0) return *number;
    reject(name, written.empty() ? "missing" : fmt::format("invalid {}=\"{}\"", name, written),
           "must be a number above 0");
    return 1.0;
  }

  bool flag(const std::string& name) {
    const std::string word = text(name);
    if (word == "true" || word == "1") return true;
    if (!word.empty() && word != "false" && word != "0") {
      reject(name, fmt::format("invalid {}=\"{}\"", name, word), "must be true or false");
    }
    return false;
  }

  /// Times of the test in ns: samples if present, else the mean.
  std::vector<double> times_ns() {
    std::vector<double> times;
    for (const std::string& sample : row_.samples) times.push_back(positive("samples_ns", sample));
    if (times.empty()) times.push_back(positive("avg_ns", text("avg_ns")));
    return times;
  }

 private:
  const BenchRow& row_;
  ProblemList& problems_;
  bool rejected_ = false;
};

struct ForwardPass {
  std::string model;
  latency::Role role = latency::Role::decoder_pass;
  std::int64_t batch = 1, tokens = 1, context = 0;
  bool all_logits = true;
  auto operator<=>(const ForwardPass&) const = default;
};

/// Device and build of a run; equal for all tests of a profile.
struct Machine {
  std::string device, build, date;
};

std::string model_name(Fields& fields, const BenchFile& file) {
  if (!file.model.empty()) return file.model;
  const std::string path = fields.text("model_filename");
  if (path.empty()) {
    fields.reject("model_filename", "missing", "say whose times these are: NAME=FILE");
    return "";
  }
  const std::filesystem::path name = std::filesystem::path(path).filename();
  return name.extension() == ".gguf" ? name.stem().string() : name.string();
}

/// Makes names of models and devices valid in CSV cells.
std::string cell_name(std::string text) {
  std::erase_if(text, [](char c) { return c == '"' || c == '\n' || c == '\r'; });
  std::ranges::replace(text, ',', ';');
  return readable(text);
}

/// Data collected from the files.
struct Found {
  std::map<ForwardPass, std::vector<double>> times_us = {};
  std::map<std::string, double> parameters = {};  ///< by model, if tests state them
  std::optional<Machine> machine = {};            ///< of the first test
};

std::int64_t mean_context(std::int64_t context, std::int64_t steps) { return context + (steps - 1) / 2; }

void read_batched(Fields& fields, const BenchFile& file, Found& found) {
  if (file.model.empty()) {
    fields.reject("", "llama-batched-bench names no model", "say whose times these are: NAME=FILE");
  }
  const std::int64_t prompt = fields.count("pp", 0);
  const std::int64_t steps = fields.count("tg", 1);
  const ForwardPass pass{.model = file.model, .batch = fields.count("pl", 1), .context = mean_context(prompt, steps)};
  const double us = us_per_s * fields.positive("t_tg", fields.text("t_tg")) / static_cast<double>(steps);
  if (!fields.rejected()) found.times_us[pass].push_back(us);
}

void read_test(Fields& fields, const BenchFile& file, Found& found) {
  const std::int64_t prompt = fields.count("n_prompt", 0);
  const std::int64_t steps = fields.count("n_gen", 0);
  const std::int64_t context = fields.count("n_depth", 0, 0);
  const bool embeddings = fields.flag("embeddings");
  const std::string model = model_name(fields, file);
  const std::vector<double> times = fields.times_ns();
  if (fields.rejected()) return;
  if ((prompt == 0) == (steps == 0)) {
    fields.reject("n_prompt", fmt::format("n_prompt={} and n_gen={}", prompt, steps),
                  "a test times a prompt or decode steps: run llama-bench without -pg");
    return;
  }
  const ForwardPass pass{.model = model,
                         .tokens = std::max<std::int64_t>(prompt, 1),
                         .context = prompt > 0 ? context : mean_context(context, steps),
                         .all_logits = embeddings || prompt <= 1};
  const double scale = us_per_ns / static_cast<double>(std::max<std::int64_t>(steps, 1));
  for (const double ns : times) found.times_us[pass].push_back(scale * ns);
  if (fields.has("model_n_params")) {
    found.parameters[model] = fields.positive("model_n_params", fields.text("model_n_params"));
  }
  const std::string gpu = fields.text("gpu_info");
  const Machine machine{.device = gpu.empty() ? fields.text("cpu_info") : gpu,
                        .build = fields.text("build_commit"),
                        .date = fields.text("test_time")};
  if (!found.machine) found.machine = machine;
  const Machine& first = *found.machine;
  if (std::tie(machine.device, machine.build) != std::tie(first.device, first.build)) {
    fields.reject("", fmt::format("on {} by build {}", machine.device, machine.build),
                  fmt::format("the first test ran on {} by build {}: a profile is of one machine and one build",
                              first.device, first.build));
  }
}

/// Data printed by llama-speculative-simple -lv 4.
struct LoopLog {
  std::optional<double> prompt = {}, output = {};           ///< tokens
  std::optional<double> gamma = {}, drafted = {}, ms = {};  ///< requested gamma; total drafts; their time
  std::int64_t line = 0;                                    ///< line of the statistics
};

LoopLog read_loop_log(std::string_view text) {
  LoopLog log;
  for (TextLines lines(text); lines.next();) {
    const std::string_view line = lines.line();
    if (const auto prompt = logs::number_after(line, "encoded")) log.prompt = prompt;
    if (const auto output = logs::number_after(line, "decoded")) log.output = output;
    if (const auto gamma = logs::number_after(line, "n_draft   =")) log.gamma = gamma;
    const std::size_t durations = line.find("dur(b,g,a) =");
    if (durations == std::string_view::npos || line.find("draft-simple:") == std::string_view::npos) continue;
    log.line = lines.number();
    log.drafted = logs::number_after(line, "#gen tokens =");
    const std::size_t second = line.find(',', durations + std::string_view("dur(b,g,a) =").size());
    if (second == std::string_view::npos) continue;
    std::string_view rest = line.substr(second + 1);
    log.ms = logs::take_number(rest);
  }
  return log;
}

/// Reads drafting times in the loop: gamma drafts after each verification.
void read_loop(const BenchFile& file, ProblemList& problems, Found& found) {
  const LoopLog log = read_loop_log(file.text);
  if (file.model.empty()) {
    problems.add({.text = "a log of llama-speculative-simple names no drafter in its statistics",
                  .why = "say whose drafting it is: NAME=FILE"});
  }
  const auto valid = [](const std::optional<double>& number) {
    return number && *number >= 1.0 && *number <= static_cast<double>(max_table_count);
  };
  if (!valid(log.prompt) || !valid(log.output) || !valid(log.gamma) || !valid(log.drafted) || !log.ms ||
      !(*log.ms > 0.0)) {
    problems.add({.line = log.line,
                  .text = "the log lacks the time of drafting",
                  .why = "it needs encoded, decoded, n_draft and statistics draft-simple with dur(b,g,a)",
                  .suggestion = "run llama-speculative-simple with --spec-type draft-simple -lv 4"});
    return;
  }
  const ForwardPass pass{.model = file.model,
                         .role = latency::Role::autoregressive_drafting,
                         .tokens = std::llround(*log.gamma),
                         .context = std::llround(*log.prompt + *log.output / 2.0)};
  // The last drafts of a run are shorter.
  found.times_us[pass].push_back(scenario::us_per_ms * *log.ms * *log.gamma / *log.drafted);
}

void read_file_rows(const BenchFile& file, ProblemList& problems, Found& found) {
  if (file.text.find("#calls(b,g,a)") != std::string::npos) return read_loop(file, problems, found);
  const std::vector<BenchRow> rows = rows_of(file.text, problems);
  for (const BenchRow& row : rows) {
    Fields fields(row, problems);
    if (fields.has("t_tg")) {
      read_batched(fields, file, found);
    } else {
      read_test(fields, file, found);
    }
  }
  if (rows.empty() && problems.empty()) problems.add({.text = "holds no test"});
}

/// Assigns one context to runs of the loop with mean contexts that differ by a few tokens, so that all draft lengths of
/// a model have the same contexts.
void put_loops_together(Found& found) {
  constexpr std::int64_t near_tokens = 8;
  std::map<std::string, std::map<std::int64_t, std::vector<ForwardPass>>> by_context;
  for (const auto& [pass, times] : found.times_us) {
    if (pass.role == latency::Role::autoregressive_drafting) by_context[pass.model][pass.context].push_back(pass);
  }
  for (const auto& [model, contexts] : by_context) {
    std::int64_t first = -near_tokens - 1;
    for (const auto& [context, passes] : contexts) {
      if (context - first > near_tokens) first = context;
      for (ForwardPass pass : passes) {
        const std::vector<double> times = found.times_us.extract(pass).mapped();
        pass.context = first;
        std::vector<double>& together = found.times_us[pass];
        together.insert(together.end(), times.begin(), times.end());
      }
    }
  }
}

/// Models with timed verifications: passes over several tokens with the logits of all.
std::set<std::string> verifying(const Found& found) {
  std::set<std::string> models;
  for (const auto& [pass, times] : found.times_us) {
    if (pass.role == latency::Role::decoder_pass && pass.tokens > 1 && pass.all_logits) models.insert(pass.model);
  }
  return models;
}

/// "0.52 (0.48 to 0.55)"
std::string fit_text(const latency::FewTokensFit& fit, double scale) {
  return fmt::format("{} ({} to {})", decimal_text(scale * fit.value, 2), decimal_text(scale * fit.range.low, 2),
                     decimal_text(scale * fit.range.high, 2));
}

/// Adds up to two notes per model about the cost per token in passes over few tokens.
void note_few_tokens(const std::string& model, double parameters, const std::string& gpu, latency::Profile& profile) {
  std::vector<latency::PassTime> times;
  for (const latency::StepRow& row : profile.steps) {
    const latency::Cell& cell = row.cell;
    if (cell.model != model || cell.role != latency::Role::decoder_pass || cell.batch != 1) continue;
    times.push_back({cell.tokens, cell.context, row.timing.summary.median_us});
  }
  if (const auto computing = latency::computing_us_per_token(times)) {
    constexpr double flop_per_parameter = 2.0, per_tera_us = 1e-6;
    const double flop = per_tera_us * flop_per_parameter * parameters;
    const latency::FewTokensFit attained{.value = flop / computing->value,
                                         .range = {flop / computing->range.high, flop / computing->range.low}};
    std::string text = fmt::format("{}: over 1 to 8 tokens each computes {} us: {} TFLOP/s", model,
                                   fit_text(*computing, 1.0), fit_text(attained, 1.0));
    const latency::DeviceSheet* sheet = latency::find_device(gpu);
    const auto peak = sheet == nullptr ? std::nullopt : sheet->profile.limits.matrix_peak_fp32_flop_per_s.value;
    if (peak) text += fmt::format(", {} of the fp32 peak (vector_efficiency)", fit_text(attained, 1e12 / *peak));
    profile.notes.push_back({"few_tokens", text});
  }
  if (const auto reread = latency::kv_reread(times)) {
    profile.notes.push_back(
        {"kv_reread", fmt::format("{}: each query after the first reads the KV cache {} times again (kv_reread)", model,
                                  fit_text(*reread, 1.0))});
  }
}

}  // namespace

BenchFile bench_file_of(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0 || argument.find('/') < equals) return {.path = argument};
  return {.path = argument.substr(equals + 1), .model = argument.substr(0, equals)};
}

latency::Profile parse_llama_bench(std::span<const BenchFile> files, const latency::EngineLoop& loop) {
  Found found;
  std::vector<std::string> errors;
  for (const BenchFile& file : files) {
    ProblemList problems(file.path);
    read_file_rows(file, problems, found);
    if (!problems.empty()) errors.push_back(problems.text());
  }
  if (!errors.empty()) throw InputError(fmt::format("{}", fmt::join(errors, "\n")));
  put_loops_together(found);
  latency::Profile profile;
  profile.source = latency::Source::engine;
  const Machine machine = found.machine.value_or(Machine{});
  profile.device.name =
      machine.device.empty() ? "llama.cpp" : fmt::format("{} under llama.cpp", cell_name(machine.device));
  profile.identity.tool_version = readable(fmt::format("llama.cpp {}", machine.build));
  profile.identity.date_utc = readable(machine.date);
  profile.engine_loop = loop;
  const std::set<std::string> verified = verifying(found);
  std::set<std::string> last_only;
  for (const auto& [pass, times] : found.times_us) {
    if (!pass.all_logits && verified.contains(pass.model)) continue;
    if (!pass.all_logits) last_only.insert(pass.model);
    // One setting for all models regardless of format, because it is not compared with others.
    latency::StepRow row{.cell = {.model = cell_name(pass.model), .role = pass.role, .dtype = "engine"}, .timing = {}};
    row.cell.batch = pass.batch;
    row.cell.tokens = pass.tokens;
    row.cell.context = pass.context;
    row.timing.summary = times.size() == 1 ? latency::one_sample(times.front()) : latency::summarise(times);
    profile.steps.push_back(std::move(row));
  }
  for (const std::string& model : last_only) {
    profile.notes.push_back({"logits", fmt::format("{}: passes of several tokens with the logits of the last one only; "
                                                   "a verification computes all of them (llama-bench -embd 1)",
                                                   cell_name(model))});
  }
  for (const auto& [model, parameters] : found.parameters) {
    note_few_tokens(cell_name(model), parameters, machine.device, profile);
  }
  try {
    latency::check_profile(profile);
  } catch (const DomainError& error) {
    throw InputError(fmt::format("{}: {}", files.front().path, error.what()));
  }
  return profile;
}

std::string bench_text(const latency::Profile& profile) {
  Table table;
  for (const char* title : {"model", "role"}) table.columns.push_back({title, Table::Align::left});
  for (const char* title : {"batch", "tokens", "context", "ms"}) table.columns.push_back({title, Table::Align::right});
  for (const latency::StepRow& row : profile.steps) {
    table.rows.push_back({row.cell.model, std::string(to_string(row.cell.role)), fmt::format("{}", row.cell.batch),
                          fmt::format("{}", row.cell.tokens), fmt::format("{}", row.cell.context),
                          decimal_text(row.timing.summary.median_us / scenario::us_per_ms, 2)});
  }
  std::string text = fmt::format("{}, {}\n\n{}\n", profile.device.name, profile.identity.tool_version, to_text(table));
  const latency::EngineLoop loop = profile.engine_loop.value_or(latency::EngineLoop{});
  text += loop.draft_catch_up == latency::CatchUp::verified
              ? "catch-up  after each verification the drafter passes over the gamma + 1 tokens that the target read\n"
              : "catch-up  none\n";
  text += loop.draw_us.value
              ? fmt::format("draws     {} us a token, on the host\n", decimal_text(*loop.draw_us.value, 1))
              : std::string("draws     not charged: --draw-us says how long choosing a token takes\n");
  for (const latency::Note& note : profile.notes) text += fmt::format("note      {}\n", note.text);
  return text;
}

}  // namespace foredraft::inputs
