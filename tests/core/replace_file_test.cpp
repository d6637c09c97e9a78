#include "core/replace_file.hpp"

#include <unistd.h>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace foredraft {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a file is replaced whole and nothing else stays, a failure keeps the old text") {
  const fs::path folder = fs::temp_directory_path() / ("foredraft_replace_" + std::to_string(::getpid()));
  fs::create_directories(folder / "taken.tmp");
  const fs::path path = folder / "file";
  replace_file(path.string(), "a long first text");
  replace_file(path.string(), "second");
  CHECK(text_of(path) == "second");
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 2);
  std::ofstream(folder / "taken") << "old";
  CHECK_THROWS_WITH(replace_file((folder / "taken").string(), "new"),
                    (folder / "taken").string() + ": cannot be written (Is a directory)");
  CHECK(text_of(folder / "taken") == "old");
  CHECK_THROWS_WITH(replace_file((folder / "no" / "file").string(), "new"),
                    (folder / "no" / "file").string() + ": cannot be written (No such file or directory)");
  fs::remove_all(folder);
}

}  // namespace foredraft
