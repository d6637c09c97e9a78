// SPDX-License-Identifier: Apache-2.0
#include "experiments/inputs/log_file.hpp"

#include <fmt/format.h>
#define ZLIB_CONST  // what is read is not changed
#include <zlib.h>
#include <algorithm>
#include <memory>

#include "core/files.hpp"
#include "core/readable.hpp"
#include "experiments/text/digest.hpp"
#include "logs/log_reader.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b";
constexpr std::size_t unpacked_bytes = std::size_t{1} << 18U;

/// Unpacks what comes in pieces: one gzip file, or several one behind the other.
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

  /// Hands on what `bytes` unpack to, a piece at a time.
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
    throw InputError(
        fmt::format("{}: {} (the file is cut or damaged) - unpack what is there: gzip -dc", readable(name_), problem));
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
  std::string first;  // enough to tell what the file is
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

std::vector<logs::ObservedLog> read_logs(std::span<const std::string> paths, std::string_view format, StopToken stop,
                                         const BytesRead& progress) {
  std::vector<logs::ObservedLog> logs;
  std::vector<std::string> problems;  // of all files
  for (const std::string& path : paths) {
    try {
      logs::ObservedLog log = read_log(path, format, stop, progress);
      const auto same =
          std::find_if(logs.begin(), logs.end(), [&](const auto& other) { return other.sha256 == log.sha256; });
      if (same != logs.end()) {
        problems.push_back(
            fmt::format("{}: holds the same bytes as {} (its observations would count twice) - leave one out",
                        readable(log.file), readable(same->file)));
      }
      logs.push_back(std::move(log));
    } catch (const InputError& error) {
      problems.emplace_back(error.what());
    }
  }
  if (!problems.empty()) throw InputError(fmt::format("{}", fmt::join(problems, "\n")));
  return logs;
}

}  // namespace foredraft::experiments
