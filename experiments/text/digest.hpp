#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace foredraft::experiments {

/// SHA-256, fed piece by piece.
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

struct FileDigest {
  std::string sha256;
  std::uint64_t bytes;
};
/// Reads the file in pieces. Throws RunError where it cannot be read.
[[nodiscard]] FileDigest digest_file(const std::string& path);

}  // namespace foredraft::experiments
