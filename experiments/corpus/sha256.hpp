#pragma once

#include <string>
#include <string_view>

namespace foredraft::experiments {

/// SHA-256 as 64 lower-case hexadecimal digits [FIPS180-4]. Throws std::runtime_error when OpenSSL fails.
[[nodiscard]] std::string sha256_hex(std::string_view data);

}  // namespace foredraft::experiments
