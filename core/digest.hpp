// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/csv.hpp"
#include "core/intervals.hpp"
#include "core/numbers.hpp"

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
/// Digest of a file in a results folder, read in constant memory. Throws RunError as ResultReader does.
[[nodiscard]] FileDigest digest_file(const std::string& path);

/// Builds CSV text from rows of numbers and words. Missing values are empty cells.
class DataText {
 public:
  explicit DataText(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  /// Starts a row; append its cells from left to right.
  DataText& row();
  DataText& cell(std::string_view text) { return add(csv_cell(text)); }
  DataText& cell(double number) { return add(number_text(number)); }
  DataText& cell(std::optional<double> number) { return add(number ? number_text(*number) : ""); }
  /// Two cells: mean and standard error, or two empty ones.
  DataText& cell(const std::optional<Estimate>& estimate);

  /// The whole text. Throws std::logic_error when a row has the wrong number of cells.
  [[nodiscard]] std::string csv() const;

 private:
  DataText& add(std::string cell);

  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace foredraft
