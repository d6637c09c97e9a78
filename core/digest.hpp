// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace foredraft {

/// Incremental SHA-256.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  /// 64 hexadecimal digits; call once.
  [[nodiscard]] std::string finish();

 private:
  struct Closer {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Closer> context_;
};

[[nodiscard]] std::string sha256(std::string_view bytes);

/// A file's entry in a manifest.
struct FileDigest {
  std::string path;  ///< as written in the manifest; relative to the folder for files of a results folder
  std::uint64_t bytes;
  std::string sha256;  ///< 64 lower-case hexadecimal digits
  bool operator==(const FileDigest&) const = default;
};
/// Digest of a file with the contents `text`.
[[nodiscard]] FileDigest digest_text(std::string path, std::string_view text);
/// Reads an input file and adds the digest of the bytes it returns to `files`. Throws InputError as read_file does.
[[nodiscard]] std::string read_input(const std::string& path, std::vector<FileDigest>& files);
/// Texts of input files by path.
using FileTexts = std::map<std::string, std::string>;
/// The same for a file that may be asked for again: a text that `texts` lacks is read and added to it, so text and
/// digest are those of the first reading, even if the file has changed since.
[[nodiscard]] const std::string& read_input_once(const std::string& path, FileTexts& texts,
                                                 std::vector<FileDigest>& files);
/// Digest of a file in a results folder, read in constant memory. Throws RunError as ResultReader does.
[[nodiscard]] FileDigest digest_file(const std::string& path);

}  // namespace foredraft
