// SPDX-License-Identifier: Apache-2.0
#include "inputs/corpus.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <set>
#include <stdexcept>

#include "core/digest.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::inputs {
namespace {

namespace fs = std::filesystem;

/// A separate folder for one test, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "foredraft-corpus-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    path_ = fs::canonical(name);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;

  fs::path write(const std::string& name, const std::string& content) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

constexpr std::uint64_t no_cap = 1'000'000;

Corpus read(const std::vector<fs::path>& paths, std::uint64_t max_bytes = no_cap) {
  return read_corpus(paths, max_bytes);
}

std::uint64_t bytes_of(const Corpus& corpus) {
  std::uint64_t bytes = 0;
  for (const FileDigest& file : corpus.files) bytes += file.bytes;
  return bytes;
}

}  // namespace

TEST_CASE("a corpus holds the files of its list and folders in order of their paths, each with size and digest") {
  const Folder folder;
  const auto b = folder.write("b.txt", "second");
  const auto a = folder.write("sub/a.txt", "abc");
  const auto z = folder.write("z.txt", "third \n");
  const Corpus corpus = read({z, folder.path() / "sub", b, z});
  REQUIRE(corpus.files.size() == 3);
  CHECK(corpus.files[0].path == b.string());
  CHECK(corpus.files[1].path == a.string());
  CHECK(corpus.files[1].bytes == 3);
  CHECK(corpus.files[1].sha256 == sha256("abc"));
  CHECK(corpus.texts == std::vector<std::string>{"second", "abc", "third \n"});
  // A file named twice counts once toward the cap: 6 + 3 + 7 bytes; if z counted twice, a would not fit.
  CHECK(read({z, z, z, b, a, z}, 20).files.size() == 3);
}

TEST_CASE("a text is read once in spite of links and copies, and files without words are skipped") {
  const Folder folder;
  const auto original = folder.write("m-original", "some text");
  fs::create_symlink(original, folder.path() / "a-link");
  folder.write("n-copy", "some text");
  folder.write("blank", " \n\t\n");
  folder.write("empty", "");
  const Corpus corpus = read({folder.path()});
  REQUIRE(corpus.files.size() == 1);
  CHECK(corpus.files[0].path == original.string());
}

TEST_CASE("a corpus that is missing, empty or not text is rejected by name") {
  const Folder folder;
  CHECK_THROWS_WITH(read({folder.path() / "nowhere"}), Catch::Contains("nowhere") && Catch::Contains("must be a file"));
  CHECK_THROWS_WITH(read({folder.path()}), Catch::Contains("corpus=empty") && Catch::Contains("0 files"));
  CHECK_THROWS_WITH(read({}), Catch::Contains("corpus=empty"));
  const auto blank = folder.write("blank", "\n \n");
  CHECK_THROWS_WITH(read({blank}), Catch::Contains("1 files found"));
  folder.write("good.txt", "text");
  const auto binary = folder.write("picture.png", std::string("\x89PNG\r\n\x1a\n\0\0", 10));
  CHECK_THROWS_WITH(read({folder.path()}), Catch::Contains("picture.png") && Catch::Contains("byte 6 is 0x1a"));
  folder.write("picture.png", std::string("ab\0c", 4));
  CHECK_THROWS_WITH(read({binary}), Catch::Contains("picture.png") && Catch::Contains("byte 2 is 0x00"));
  CHECK_THROWS_AS(read({binary}), DomainError);
  CHECK_THROWS_WITH(read({"/dev/null"}), Catch::Contains("/dev/null") && Catch::Contains("regular file"));
  CHECK_THROWS_WITH(read({folder.path()}, 0), Catch::Contains("max_bytes=0"));
}

TEST_CASE("text beyond ASCII and the layout characters of old files are text") {
  const Folder folder;
  const auto file = folder.write("old.txt", "caf\xe9 \f\x1b[1m\xc3\xa9\v\b\r\n");
  CHECK(read({file}).texts.size() == 1);
}

TEST_CASE("a capped corpus fills its cap with files from all over the list") {
  const Folder folder;
  for (int i = 0; i < 200; ++i) {
    const std::string number = std::to_string(1000 + i);
    folder.write("f" + number, number + std::string(96, 'x'));  // 100 bytes each
  }
  const Corpus corpus = read({folder.path()}, 2'050);
  REQUIRE(corpus.files.size() == 20);
  CHECK(bytes_of(corpus) == 2'000);
  CHECK(std::is_sorted(corpus.files.begin(), corpus.files.end(),
                       [](const FileDigest& a, const FileDigest& b) { return a.path < b.path; }));
  // Twenty of 200: between one and three in each tenth of the list.
  std::array<int, 10> in_tenth{};
  for (const std::string& text : corpus.texts) ++in_tenth.at(static_cast<std::size_t>(std::stoi(text) - 1000) / 20);
  for (const int count : in_tenth) {
    CHECK(count >= 1);
    CHECK(count <= 3);
  }
  CHECK(read({folder.path()}, 20'000).files.size() == 200);
  CHECK_THROWS_WITH(read({folder.path()}, 99), Catch::Contains("0 of them within 99 bytes"));
}

TEST_CASE("the default corpora are text of the installed packages, within their size and without repetition") {
  for (const DefaultCorpus kind : {DefaultCorpus::prose, DefaultCorpus::code}) {
    const Corpus corpus = default_corpus(kind);
    CHECK(corpus.files.size() > 100);
    CHECK(bytes_of(corpus) > 1'000'000);
    CHECK(bytes_of(corpus) <= default_corpus_bytes);
    std::set<std::string> digests;
    std::set<std::string> folders;
    for (const FileDigest& file : corpus.files) {
      digests.insert(file.sha256);
      folders.insert(fs::path(file.path).parent_path().string());
    }
    CHECK(digests.size() == corpus.files.size());
    CHECK(folders.size() > 10);
  }
}

}  // namespace foredraft::inputs
