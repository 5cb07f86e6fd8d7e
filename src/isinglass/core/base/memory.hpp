// How much memory this process may still take.
#pragma once

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace isinglass {

namespace detail {

// The number in a file of a control group; none if it sets no limit.
inline std::optional<double> number_in(const char* path) {
  std::ifstream file(path);
  double number;
  return file >> number ? std::optional(number) : std::nullopt;
}

// What Linux says can be had without others giving way.
inline std::optional<double> available_in_system() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (double kilobytes; file >> name >> kilobytes; std::getline(file, unit))
    if (name == "MemAvailable:") return 1024 * kilobytes;
  return std::nullopt;
}

}  // namespace detail

// Bytes; 4 GB where the system does not say.
inline double available_memory() {
  double available = detail::available_in_system().value_or(4e9);
  const auto most = detail::number_in("/sys/fs/cgroup/memory.max"),
             taken = detail::number_in("/sys/fs/cgroup/memory.current");
  if (most && taken) available = std::min(available, *most - *taken);
  return std::max(available, 0.0);
}

}  // namespace isinglass
