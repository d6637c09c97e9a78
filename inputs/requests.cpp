// SPDX-License-Identifier: Apache-2.0
#include "inputs/requests.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "core/csv.hpp"
#include "core/documents.hpp"
#include "core/files.hpp"
#include "core/names.hpp"
#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "core/table.hpp"

namespace foredraft::inputs {
namespace {

/// In the order of sent_names.
enum SentField : std::size_t { sent_prompt, sent_output, sent_arrival, sent_fields };
constexpr std::array<std::string_view, sent_fields> sent_names{"prompt_tokens", "output_tokens", "arrival_s"};

/// A name of a field, normalized by plain_name().
struct SentName {
  std::string_view name;
  SentField field;
  double seconds = 1.0;  ///< seconds per unit of an arrival
  bool weak = false;     ///< ambiguous (may be a text); ignored if the field has another name too
};

constexpr std::array known_sent_names{SentName{"prompttokens", sent_prompt},
                                      SentName{.name = "prompt", .field = sent_prompt, .weak = true},
                                      SentName{"promptlen", sent_prompt},
                                      SentName{"promptlength", sent_prompt},
                                      SentName{"inputtokens", sent_prompt},
                                      SentName{"inputlen", sent_prompt},
                                      SentName{"inputlength", sent_prompt},
                                      SentName{"contexttokens", sent_prompt},
                                      SentName{"requesttokens", sent_prompt},
                                      SentName{"numprefilltokens", sent_prompt},
                                      SentName{"isl", sent_prompt},
                                      SentName{"outputtokens", sent_output},
                                      SentName{.name = "output", .field = sent_output, .weak = true},
                                      SentName{"outputlen", sent_output},
                                      SentName{"outputlength", sent_output},
                                      SentName{"completiontokens", sent_output},
                                      SentName{"generatedtokens", sent_output},
                                      SentName{"responsetokens", sent_output},
                                      SentName{"numdecodetokens", sent_output},
                                      SentName{"osl", sent_output},
                                      SentName{"arrivals", sent_arrival},
                                      SentName{"arrival", sent_arrival},
                                      SentName{"arrivaltime", sent_arrival},
                                      SentName{"arrivedat", sent_arrival},
                                      SentName{"timestamp", sent_arrival},
                                      SentName{.name = "time", .field = sent_arrival, .weak = true},
                                      SentName{"arrivalms", sent_arrival, 1e-3},
                                      SentName{"timestampms", sent_arrival, 1e-3}};

constexpr std::int64_t longest_sent = 1'000'000'000;
constexpr double latest_date_s = 1e11;  ///< a date of the year 5138

const SentName* find_sent(std::string_view name) {
  const auto* found = std::ranges::find(known_sent_names, plain_name(name), &SentName::name);
  return found == known_sent_names.end() ? nullptr : found;
}

/// Parses "2023-11-16 18:17:03.97", optionally with T and Z; seconds since an epoch.
std::optional<double> parse_date(std::string_view text) {
  constexpr std::string_view shape = "dddd-dd-dd dd:dd:dd";
  if (text.ends_with('Z')) text.remove_suffix(1);
  if (text.size() < shape.size()) return std::nullopt;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    const bool same = text[i] == shape[i] || (shape[i] == ' ' && text[i] == 'T');
    if (shape[i] == 'd' ? !digit : !same) return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    for (const char digit : text.substr(at, digits)) value = 10 * value + (digit - '0');
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  const std::optional<double> seconds = parse_real(text.substr(17));
  if (!date.ok() || number(11, 2) > 23 || number(14, 2) > 59 || !seconds || !(*seconds < 61.0)) return std::nullopt;
  const std::chrono::seconds day = std::chrono::sys_days(date).time_since_epoch();
  return static_cast<double>((day + std::chrono::hours(number(11, 2)) + std::chrono::minutes(number(14, 2))).count()) +
         *seconds;
}

class RequestReader {
 public:
  explicit RequestReader(std::string file) : file_(std::move(file)), problems_(file_) {}

  RequestRecording read(std::string_view text) {
    ProblemList limits(file_);
    if (!check_line_limits(text, limits)) limits.raise();
    TextLines lines(text);
    bool in_table = false;
    for (bool readable = true; readable && lines.next();) {
      number_ = lines.number();
      if (in_table) {
        read_row(lines.line());
      } else if (lines.line().front() == '{') {
        read_object(lines.line());
      } else {
        readable = read_header(lines.line());
        in_table = true;
      }
    }
    return finish();
  }

 private:
  /// Name and position of a field's value.
  struct Place {
    const SentName* name = nullptr;
    std::string written;
    std::size_t column = 0;
  };
  using Places = std::array<Place, sent_fields>;
  /// The texts of the fields of one request.
  using Cells = std::array<std::optional<std::string>, sent_fields>;

  void reject(std::string key, std::string text, std::string why) {
    problems_.add({.line = number_, .key = std::move(key), .text = std::move(text), .why = std::move(why)});
  }

  /// Records a name of a line; adds a problem if another name means the same field.
  void take(const std::string& name, std::size_t column, Places& places) {
    const SentName* known = find_sent(name);
    if (known == nullptr) return;
    Place& place = places[known->field];
    if (place.name != nullptr && !place.name->weak && known->weak) return;
    if (place.name != nullptr && place.name->weak == known->weak) {
      return reject(name, "given twice", fmt::format("{} means the same", place.written));
    }
    place = {.name = known, .written = name, .column = column};
  }

  /// False, after problems, unless each field has one column.
  bool read_header(std::string_view line) {
    const std::vector<std::string> columns = split_csv_line(line).value_or(std::vector<std::string>{});
    width_ = columns.size();
    for (std::size_t i = 0; i < width_; ++i) take(columns[i], i, columns_);
    if (std::ranges::all_of(columns_, [](const Place& place) { return place.name == nullptr; })) {
      reject("", "no requests", "must begin with a header such as prompt_tokens,output_tokens,arrival_s, or be JSONL");
      return false;
    }
    for (std::size_t field = 0; field < sent_fields; ++field) {
      if (columns_[field].name != nullptr) continue;
      reject(std::string(sent_names[field]), "missing", "needs a column with this name or one of docs/load.md");
    }
    return problems_.empty();
  }

  void read_row(std::string_view line) {
    auto cells = split_csv_line(line);
    if (!cells || cells->size() != width_) {
      return reject("", "damaged row", fmt::format("must have {} cells", width_));
    }
    Cells found;
    for (std::size_t field = 0; field < sent_fields; ++field)
      found[field] = std::move((*cells)[columns_[field].column]);
    add(found, columns_[sent_arrival].name->seconds);
  }

  void read_object(std::string_view line) {
    ProblemList broken("");
    const auto json = parse_json(line, broken, number_);
    if (!broken.empty()) return problems_.add(broken.problems().front());
    Places places;
    for (const auto& [key, value] : json.items()) take(key, 0, places);
    Cells found;
    for (std::size_t field = 0; field < sent_fields; ++field) {
      if (places[field].name == nullptr) continue;
      const auto& value = json[places[field].written];
      found[field] = value.is_string() ? value.get<std::string>() : value.is_number() ? value.dump() : "";
    }
    const SentName* const time = places[sent_arrival].name;
    // These traces have milliseconds. [github.com/kvcache-ai/Mooncake]
    const bool in_ms = json.contains("hash_ids");
    add(found, in_ms ? 1e-3 : time != nullptr ? time->seconds : 1.0);
  }

  std::int64_t tokens(const Cells& cells, SentField field, std::int64_t least) {
    const std::string_view name = sent_names[field];
    if (!cells[field]) {
      reject(std::string(name), "missing", "each request needs its number of tokens");
      return least;
    }
    const std::optional<std::int64_t> count = parse_integer(*cells[field]);
    if (count && *count >= least && *count <= longest_sent) return *count;
    reject(std::string(name), fmt::format("invalid {}={}", name, *cells[field]),
           fmt::format("must be a whole number in {} to {}", least, longest_sent));
    return least;
  }

  double arrival_s(const Cells& cells, double unit_s) {
    const std::optional<std::string>& cell = cells[sent_arrival];
    if (!cell) {
      reject(std::string(sent_names[sent_arrival]), "missing", "each request needs its arrival time");
      return 0.0;
    }
    std::optional<double> seconds = parse_real(*cell);
    if (seconds) {
      *seconds *= unit_s;
    } else {
      seconds = parse_date(*cell);
    }
    if (seconds && *seconds >= 0.0 && *seconds <= latest_date_s) return *seconds;
    reject(std::string(sent_names[sent_arrival]), fmt::format("invalid arrival_s={}", *cell),
           fmt::format("must be a date, or a time in 0 to {:g} s", latest_date_s));
    return 0.0;
  }

  void add(const Cells& cells, double unit_s) {
    const std::int64_t prompt_tokens = tokens(cells, sent_prompt, 0);
    const std::int64_t output_tokens = tokens(cells, sent_output, 1);
    requests_.push_back(
        {.arrival_s = arrival_s(cells, unit_s), .prompt_tokens = prompt_tokens, .output_tokens = output_tokens});
  }

  RequestRecording finish() {
    std::ranges::stable_sort(requests_, {}, &RecordedRequest::arrival_s);
    number_ = 0;
    constexpr double longest_s = 1e7;
    if (problems_.empty() && requests_.size() < 2) {
      reject("", fmt::format("holds {} requests", requests_.size()), "must be two or more");
    } else if (problems_.empty()) {
      const double first_s = requests_.front().arrival_s;
      const double span_s = requests_.back().arrival_s - first_s;
      if (span_s == 0.0) reject("", "all requests arrive at one time", "the arrival rate follows from their times");
      if (span_s > longest_s)
        reject("", fmt::format("spans {:g} s", span_s), fmt::format("must be at most {:g} s", longest_s));
      for (RecordedRequest& request : requests_) request.arrival_s -= first_s;
    }
    problems_.raise();
    return {.requests = std::move(requests_)};
  }

  std::string file_;
  FirstProblems problems_;
  std::int64_t number_ = 0;  // line number
  Places columns_;
  std::size_t width_ = 0;  // columns of the header
  std::vector<RecordedRequest> requests_;
};

}  // namespace

RequestRecording parse_requests(std::string_view text, const std::string& file) {
  return RequestReader(file).read(text);
}

ReadRequests read_requests(const std::string& path) {
  const std::string text = read_file(path);
  return {.recording = std::make_shared<const RequestRecording>(parse_requests(text, path)),
          .digest = digest_text(path, text)};
}

}  // namespace foredraft::inputs
