// SPDX-License-Identifier: Apache-2.0
#include "latency/devices/device_registry.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>

#include "latency/toml_tables.hpp"

namespace foredraft::latency {
namespace {

constexpr double giga = 1e9;
constexpr double tera = 1e12;
constexpr double kibi = 1024.0;
constexpr double mebi = 1024.0 * 1024.0;

/// A number of a table. Values outside of [low, high] are implausible and usually have another unit.
template <typename Owner>
struct FigureKey {
  std::string_view key;
  Figure Owner::*member;
  double scale;  ///< factor to the profile's unit
  double low, high;
};

constexpr std::string_view memory_key = "memory_gb";
constexpr std::string_view usable_key = "driver_memory_mib";
constexpr std::string_view unified_key = "unified_memory";
constexpr std::string_view bandwidth_key = "memory_bandwidth_gb_per_s";

constexpr std::array device_keys{
    FigureKey<Device>{"multiprocessors", &Device::multiprocessors, 1.0, 1.0, 10'000.0},
    FigureKey<Device>{memory_key, &Device::memory_bytes, giga, 1.0, 5'000.0},
    FigureKey<Device>{usable_key, &Device::usable_memory_bytes, mebi, 900.0, 5e6},
    FigureKey<Device>{"memory_bus_bits", &Device::memory_bus_bits, 1.0, 32.0, 65'536.0},
    FigureKey<Device>{"l2_kib", &Device::l2_bytes, kibi, 64.0, 4e6},
    FigureKey<Device>{"shared_memory_kib", &Device::shared_memory_bytes, kibi, 8.0, 4'096.0},
    FigureKey<Device>{"base_clock_mhz", &Device::base_clock_mhz, 1.0, 100.0, 10'000.0},
    FigureKey<Device>{"boost_clock_mhz", &Device::boost_clock_mhz, 1.0, 100.0, 10'000.0},
    FigureKey<Device>{"memory_clock_mhz", &Device::memory_clock_mhz, 1.0, 100.0, 50'000.0},
    FigureKey<Device>{"power_limit_w", &Device::power_limit_w, 1.0, 5.0, 10'000.0},
};
constexpr std::array limit_keys{
    FigureKey<Limits>{bandwidth_key, &Limits::memory_bandwidth_bytes_per_s, giga, 15.0, 50'000.0},
    FigureKey<Limits>{"link_bandwidth_gb_per_s", &Limits::link_bandwidth_bytes_per_s, giga, 1.0, 10'000.0},
};
constexpr double min_peak = 0.1;
constexpr double max_peak = 100'000.0;
constexpr std::array peak_keys{
    FigureKey<Limits>{"matrix_peak_fp16_tflop_per_s", &Limits::matrix_peak_fp16_flop_per_s, tera, min_peak, max_peak},
    FigureKey<Limits>{"matrix_peak_bf16_tflop_per_s", &Limits::matrix_peak_bf16_flop_per_s, tera, min_peak, max_peak},
    FigureKey<Limits>{"matrix_peak_tf32_tflop_per_s", &Limits::matrix_peak_tf32_flop_per_s, tera, min_peak, max_peak},
    FigureKey<Limits>{"matrix_peak_fp32_tflop_per_s", &Limits::matrix_peak_fp32_flop_per_s, tera, min_peak, max_peak},
    FigureKey<Limits>{"matrix_peak_fp8_tflop_per_s", &Limits::matrix_peak_fp8_flop_per_s, tera, min_peak, max_peak},
    FigureKey<Limits>{"matrix_peak_int8_tflop_per_s", &Limits::matrix_peak_int8_flop_per_s, tera, min_peak, max_peak},
    FigureKey<Limits>{"matrix_peak_fp4_tflop_per_s", &Limits::matrix_peak_fp4_flop_per_s, tera, min_peak, max_peak},
};
/// Plausible range of flop per byte. Shipped devices have 9 (fp32 of B200) to 1,250 (fp4 of GB200); a peak in PFLOP/s
/// or GFLOP/s is off by a factor of a thousand.
constexpr double min_flop_a_byte = 2.0;
constexpr double max_flop_a_byte = 5'000.0;
/// Minimum of memory reported by drivers divided by the manufacturer's. Actual values are 0.93 to 1.07, depending on
/// the unit (GB or GiB).
constexpr double min_of_printed = 0.85;
constexpr double max_of_printed = 1.15;
/// The same for memory shared with the processor, of which systems give at least about half to the device: 62 of 128
/// GiB on Strix Halo.
constexpr double min_of_unified = 0.45;

/// Suggests the figure in another common unit if it is in range there: "write 3350".
std::string in_other_unit(double value, double low, double high) {
  for (const double factor : {1e3, 1e-3, 1e6, 1e-6, 1e9, 1e-9, 1e12, 1e-12}) {
    if (value * factor >= low && value * factor <= high) return fmt::format("did you mean {:.6g}?", value * factor);
  }
  return "";
}

class SheetReader {
 public:
  explicit SheetReader(TomlTable table) : table_(std::move(table)) {
    sheet_.name = table_.name();
    sheet_.profile.source = Source::datasheet;
  }

  DeviceSheet read() {
    Device& device = sheet_.profile.device;
    Limits& limits = sheet_.profile.limits;
    device.name = table_.value<std::string>("name").value_or(sheet_.name);
    source_ = table_.value<std::string>("source").value_or("");
    if (!table_.has("source")) table_.reject_missing("source", "a figure needs its origin");
    device.compute_capability = table_.value<std::string>("compute_capability").value_or("");
    sheet_.aliases = table_.value<std::vector<std::string>>("aliases").value_or(sheet_.aliases);
    unified_ = table_.value<bool>(unified_key).value_or(false);
    for (const auto& key : device_keys) read_figure(key, device);
    for (const auto& key : limit_keys) read_figure(key, limits);
    for (const auto& key : peak_keys) read_figure(key, limits);
    for (const std::string_view key : {memory_key, bandwidth_key}) {
      if (!table_.has(key)) table_.reject_missing(key, "required");
    }
    table_.reject_unknown_keys();
    // Further problems would follow from what is missing or mistyped.
    if (table_.sound()) check_peaks(limits);
    if (table_.sound()) check_usable_memory(device);
    if (table_.sound()) check_whole();
    return std::move(sheet_);
  }

 private:
  template <typename Owner>
  void read_figure(const FigureKey<Owner>& key, Owner& owner) {
    const toml::node* node = table_.take(key.key);
    if (node == nullptr) return;
    std::string origin = source_;
    const toml::node* figure = node;
    if (const toml::table* pair = node->as_table()) {
      figure = pair->get("value");
      const toml::node* source = pair->get("source");
      if (figure == nullptr || source == nullptr || pair->size() != 2 || !source->is_string()) {
        return table_.reject(line_of(node->source()), key.key, "not {value, source}",
                             "a figure with a source needs both");
      }
      origin = source->value_or(std::string());
    }
    const std::optional<double> number = number_of(*figure);
    if (!number) return table_.reject_type(key.key, *figure, "a number, or {value, source}");
    const double value = *number;
    if (!(value >= key.low && value <= key.high)) {
      return table_.reject(line_of(node->source()), key.key, fmt::format("{} is implausible", value),
                           fmt::format("must be {} to {}", key.low, key.high), in_other_unit(value, key.low, key.high));
    }
    // Rounds to an integer, because figures in giga or tera are integers in the base unit: 989.4e12 and not its
    // neighbor.
    const double scaled = value * key.scale;
    owner.*key.member = {.value = key.scale > 1.0 ? std::round(scaled) : scaled, .ci95 = {}, .origin = origin};
  }

  void check_peaks(const Limits& limits) {
    const double bandwidth = limits.memory_bandwidth_bytes_per_s.value.value();
    bool any = false;
    for (const auto& key : peak_keys) {
      const Figure& peak = limits.*key.member;
      if (!peak.value) continue;
      any = true;
      const double low = min_flop_a_byte * bandwidth / tera;
      const double high = max_flop_a_byte * bandwidth / tera;
      const double value = *peak.value / tera;
      if (value >= low && value <= high) continue;
      table_.reject(table_.line_at(key.key), key.key, fmt::format("{:.6g} is implausible", value),
                    fmt::format("a device of this memory bandwidth has {:.4g} to {:.4g}", low, high),
                    in_other_unit(value, low, high));
    }
    if (!any) table_.reject_missing(peak_keys.front().key, "at least one matrix peak is required", "give that of fp16");
  }

  void check_usable_memory(const Device& device) {
    if (!device.usable_memory_bytes.value) return;
    const double share = *device.usable_memory_bytes.value / *device.memory_bytes.value;
    const double least = unified_ ? min_of_unified : min_of_printed;
    if (share >= least && share <= max_of_printed) return;
    table_.reject(table_.line_at(usable_key), usable_key,
                  fmt::format("{:.6g} is implausible", *device.usable_memory_bytes.value / mebi),
                  fmt::format("drivers report {} to {} times the printed size", least, max_of_printed));
  }

  void check_whole() {
    try {
      check_profile(sheet_.profile);
    } catch (const DomainError& error) {
      table_.reject(table_.line_at(""), "name", error.what());
    }
  }

  TomlTable table_;
  DeviceSheet sheet_;
  std::string source_;
  bool unified_ = false;
};

}  // namespace

std::vector<SheetFigure> sheet_figures(const Profile& profile) {
  std::vector<SheetFigure> figures;
  const auto add = [&figures](const auto& keys, const auto& owner) {
    for (const auto& key : keys) {
      const Figure& figure = owner.*key.member;
      if (figure.value) figures.push_back({key.key, *figure.value / key.scale, figure.origin});
    }
  };
  add(device_keys, profile.device);
  add(limit_keys, profile.limits);
  add(peak_keys, profile.limits);
  return figures;
}

std::vector<DeviceSheet> parse_devices(std::string_view text, const std::string& name) {
  return parse_tables<DeviceSheet>(text, name, "device", "begin it with [\"its name\"]",
                                   [](TomlTable table, ProblemList&) { return SheetReader(std::move(table)).read(); });
}

namespace {

std::vector<DeviceSheet> all_shipped_sheets() {
  std::vector<DeviceSheet> devices;
  for (const EmbeddedFile& file : device_texts()) {
    std::vector<DeviceSheet> family = parse_devices(file.text, fmt::format("latency/devices/{}.toml", file.name));
    std::move(family.begin(), family.end(), std::back_inserter(devices));
  }
  std::sort(devices.begin(), devices.end(), [](const DeviceSheet& a, const DeviceSheet& b) { return a.name < b.name; });
  return devices;
}

}  // namespace

const std::vector<DeviceSheet>& device_registry() {
  static const std::vector<DeviceSheet> devices = all_shipped_sheets();
  return devices;
}

}  // namespace foredraft::latency
