// SPDX-License-Identifier: Apache-2.0
#include "core/files.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/documents.hpp"
#include "tests/support/errors.hpp"

namespace foredraft {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// A folder of its own for one test.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "foredraft_files_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;
  ~Folder() { fs::remove_all(path_); }

  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }
  void put(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
  void link(const std::string& name, const std::string& to) const { fs::create_symlink(to, path_ / name); }

 private:
  fs::path path_;
};

/// Limits the size of this process's files to `bytes` during its lifetime, like a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  FullDisk(FullDisk&&) = delete;
  FullDisk& operator=(FullDisk&&) = delete;
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST_CASE("a file is replaced whole without leftovers, and a failure keeps the old text") {
  const Folder folder;
  replace_file(folder / "file", "a long first text");
  replace_file(folder / "file", "second");
  CHECK(text_of(folder / "file") == "second");
  CHECK(folder.count() == 1);
  fs::create_directory(folder / "taken");
  CHECK_THROWS_MATCHES(replace_file(folder / "taken", "new"), RunError,
                       Says((folder / "taken") + ": cannot be written"));
  CHECK_THROWS_MATCHES(replace_file(folder / "no/file", "new"), RunError,
                       Says((folder / "no/file") + ": cannot be written"));
  {
    const FullDisk full(8);
    CHECK_THROWS_WITH(replace_file(folder / "file", "longer than eight bytes"),
                      Catch::StartsWith(folder / "file") && Catch::Contains("File too large"));
  }
  CHECK(text_of(folder / "file") == "second");
  {
    Replacement dropped(folder / "file");
    dropped.append("never committed");
  }
  CHECK(text_of(folder / "file") == "second");
  CHECK(folder.count() == 2);
}

TEST_CASE("the target of a link in a results folder is neither written nor read") {
  const Folder folder;
  folder.put("victim", "mine");
  folder.link("report.html", "victim");
  replace_file(folder / "report.html", "ours");
  CHECK(text_of(folder / "victim") == "mine");
  CHECK(text_of(folder / "report.html") == "ours");
  CHECK_FALSE(fs::is_symlink(folder / "report.html"));

  folder.link("link", "victim");
  const std::string why = "(it is a link, and links in a results folder are not followed)";
  CHECK_THROWS_WITH(AppendFile(folder / "link"), (folder / "link") + ": cannot be written " + why);
  CHECK_THROWS_WITH(read_result_file(folder / "link"), (folder / "link") + ": cannot be read " + why);
  CHECK_THROWS_AS(read_result_file(folder / "link"), InputError);
  CHECK_THROWS_WITH(ResultReader(folder / "link"), (folder / "link") + ": cannot be read " + why);
  CHECK_THROWS_AS(ResultReader(folder / "link"), RunError);
  CHECK(read_file(folder / "link") == "mine");  // named by the user

  fs::create_hard_link(folder / "victim", folder / "second_name");
  CHECK_THROWS_WITH(AppendFile(folder / "second_name"), Catch::Contains("it has several hard links"));
  CHECK(text_of(folder / "victim") == "mine");
}

TEST_CASE("pipes, devices and folders are no files of a results folder, and reading does not wait for one") {
  const Folder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_WITH(read_result_file(folder / "pipe"), Catch::Contains("it is not a regular file"));
  CHECK_THROWS_WITH(AppendFile(folder / "pipe"), Catch::Contains("it is not a regular file"));
  CHECK_THROWS_MATCHES(ResultReader("/dev/zero"), RunError, Says("/dev/zero: cannot be read"));
  CHECK_THROWS_WITH(ResultReader(folder.path()), Catch::Contains("it is not a regular file"));
  CHECK_THROWS_MATCHES(read_file(folder.path()), InputError, Says(folder.path() + ": is a folder"));
}

TEST_CASE("an input that grows while it is read ends where it ended when it was opened") {
  const Folder folder;
  folder.put("log", "first");
  InputReader reader(folder / "log");
  CHECK(reader.size() == 5);
  std::string text;
  for (std::string_view piece = reader.read(); !piece.empty() && text.size() < 1000; piece = reader.read()) {
    text += piece;
    std::ofstream(folder / "log", std::ios::app) << "more";
  }
  CHECK(text == "first");
  InputReader of_unknown_size("/proc/self/status");
  CHECK(of_unknown_size.size() == 0);
  CHECK_FALSE(of_unknown_size.read().empty());
}

TEST_CASE("reading a file stops at a bound of bytes, or of lines") {
  const Folder folder;
  folder.put("file", "12345678");
  CHECK(read_file(folder / "file", 8) == "12345678");
  CHECK_THROWS_MATCHES(read_file(folder / "file", 7), InputError, Says((folder / "file") + ": is larger than 7 bytes"));
  CHECK_THROWS_MATCHES(read_file("/dev/zero", 1000), InputError, Says("/dev/zero: is larger than 1000 bytes"));
  CHECK_THROWS_WITH(read_result_file(folder / "file", 7), Catch::Contains("is larger than 7 bytes"));
  folder.put("long", std::string(max_line_bytes, 'x') + "\n" + std::string(max_line_bytes + 1, 'y'));
  ResultReader reader(folder / "long");
  std::string line;
  CHECK(reader.next_line(line));
  CHECK(line.size() == max_line_bytes);
  CHECK_THROWS_WITH(reader.next_line(line), Catch::EndsWith("long:2: a line of more than 1048576 bytes"));
}

TEST_CASE("lines come one by one, and the last reports whether it was terminated") {
  const Folder folder;
  const auto lines_of = [&](const std::string& text) {
    folder.put("file", text);
    ResultReader reader(folder / "file");
    std::string lines;
    std::string line;
    while (reader.next_line(line)) lines += "[" + line + (reader.line_ended() ? "]" : ")");
    return lines;
  };
  CHECK(lines_of("").empty());
  CHECK(lines_of("a") == "[a)");
  CHECK(lines_of("a\n\nb\n") == "[a][][b]");
  CHECK(lines_of("a\nb") == "[a][b)");
  // Longer than one read.
  const std::string wide(300'000, 'w');
  CHECK(lines_of(wide + "\n" + wide) == "[" + wide + "][" + wide + ")");
}

TEST_CASE("bytes come in pieces no larger than asked for") {
  const Folder folder;
  folder.put("file", "abcdef");
  ResultReader reader(folder / "file");
  CHECK(reader.size() == 6);
  CHECK(reader.read(0).empty());
  CHECK(reader.read(2) == "ab");
  CHECK(reader.read() == "cdef");
  CHECK(reader.read().empty());
  ResultReader again(folder / "file");
  again.skip(5);
  CHECK(again.read() == "f");
  CHECK_THROWS_MATCHES(again.skip(1), RunError, Says((folder / "file") + ": ends early"));
}

TEST_CASE("an append that fails leaves whole rows and gives the reason") {
  const Folder folder;
  AppendFile file(folder / "rows");
  file.append("1,2\n");
  const FullDisk full(6);
  CHECK_THROWS_WITH(file.append("3,4\n"), Catch::StartsWith(folder / "rows") && Catch::Contains("File too large"));
  CHECK(text_of(folder / "rows") == "1,2\n");
}

TEST_CASE("one writer has a folder at a time, and leaves no lock behind") {
  const Folder folder;
  {
    const WriteLock lock = WriteLock::of_folder(folder / "a/b");
    CHECK_THROWS_MATCHES(WriteLock::of_folder(folder / "a/b"), InputError,
                         Says((folder / "a/b") + ": another run is writing it"));
    CHECK_THROWS_AS(WriteLock::of_folder(folder / "a/b"), InputError);
    CHECK_NOTHROW(WriteLock::of_folder(folder / "a"));
    CHECK(names_in_folder(folder / "a/b").empty());
  }
  CHECK(folder.count() == 0);  // unused folders are removed too
  {
    const WriteLock lock = WriteLock::of_folder(folder / "a/b");
    replace_file(folder / "a/b/file", "kept");
  }
  CHECK(fs::exists(folder / "a/b/file"));
  CHECK_FALSE(fs::exists(folder / "a/b/.foredraft-lock"));
  folder.put("file", "mine");
  CHECK_THROWS_WITH(WriteLock::of_folder(folder / "file"), Catch::Contains("is a file"));
}

TEST_CASE("a lock passes to the next holder, for any leftover of its last one or a foreign link") {
  const Folder folder;
  folder.put(".foredraft-lock", "");  // of a killed process
  folder.put(".foredraft-tmp-0123456789abcdef", "half");
  folder.put("points.csv", "kept");
  {
    const WriteLock lock = WriteLock::of_folder(folder.path());
    CHECK(folder.count() == 2);  // points.csv and the lock
    CHECK(names_in_folder(folder.path()) == std::vector<std::string>{"points.csv"});
  }
  CHECK(folder.count() == 1);
  folder.link(".foredraft-lock", "points.csv");
  CHECK_THROWS_WITH(WriteLock::of_folder(folder.path()), Catch::Contains("it is a link"));
  CHECK(text_of(folder / "points.csv") == "kept");
}

TEST_CASE("files of one folder are locked one by one") {
  const Folder folder;
  const WriteLock lock = WriteLock::of_file(folder / "cpu.json");
  CHECK_THROWS_WITH(WriteLock::of_file(folder / "cpu.json"), Catch::Contains("another run is writing it"));
  CHECK_NOTHROW(WriteLock::of_file(folder / "gpu.json"));
  // Leftovers of killed processes are removed with the next lock of the file, and nothing of another file.
  folder.put(".foredraft-tmp-0123456789abcdef-gpu.json", "half");
  folder.put(".foredraft-tmp-0123456789abcdef-my-gpu.json", "half");
  CHECK_NOTHROW(WriteLock::of_file(folder / "gpu.json"));
  CHECK_FALSE(fs::exists(folder / ".foredraft-tmp-0123456789abcdef-gpu.json"));
  CHECK(fs::exists(folder / ".foredraft-tmp-0123456789abcdef-my-gpu.json"));
  CHECK_THROWS_MATCHES(WriteLock::of_file(folder / "no/cpu.json"), InputError,
                       Says((folder / "no") + ": no such folder"));
}

}  // namespace foredraft
