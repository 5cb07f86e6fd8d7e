// Cells of data frames as numbers, column by column: whole numbers and texts, each column with a dictionary
// that grows.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/dispatch.hpp"
#include "text/arrow.hpp"
#include "text/coder.hpp"

namespace isinglass {

// Differences of numbers to a first one, in bytes; returns which bits some difference has.
template <class Value>
ISINGLASS_INLINE inline std::uint64_t subtract_first_loop(const Value* values, std::size_t n,
                                                          std::int64_t first, std::uint8_t* __restrict out) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto difference = static_cast<std::uint64_t>(values[i]) - static_cast<std::uint64_t>(first);
    all |= difference;
    out[i] = static_cast<std::uint8_t>(difference);
  }
  return all;
}
template <class Value>
inline constexpr Vectorised<subtract_first_loop<Value>> subtract_first;

// One column. Whole numbers are kept in the dictionary as eight bytes each; those of a window of 256, where
// most are, have a look-up of their own.
class FrameColumn {
 public:
  const Dictionary& labels() const { return labels_; }

  void code_integers(const ArrowArray& column, char format, std::uint8_t* out) {
    switch (format) {
      case 'c':
        return code_integers<std::int8_t>(column, out);
      case 'C':
        return code_integers<std::uint8_t>(column, out);
      case 's':
        return code_integers<std::int16_t>(column, out);
      case 'S':
        return code_integers<std::uint16_t>(column, out);
      case 'i':
        return code_integers<std::int32_t>(column, out);
      case 'I':
        return code_integers<std::uint32_t>(column, out);
      case 'l':
        return code_integers<std::int64_t>(column, out);
      default:
        return code_integers<std::uint64_t>(column, out);
    }
  }

  // Texts are sixteen bytes each: their length, and they themselves if they are short, or where they are.
  void code_texts(const ArrowArray& column, std::uint8_t* out) {
    const char* views = static_cast<const char*>(column.buffers[1]) + 16 * column.offset;
    code_cells(column, out, [&](std::size_t i) {
      std::int32_t about[4];
      std::memcpy(about, views + 16 * i, 16);
      const auto length = static_cast<std::size_t>(about[0]);
      const char* text = views + 16 * i + 4;
      if (length > 12) text = static_cast<const char*>(column.buffers[2 + about[2]]) + about[3];
      if (length > 8) return labels_.find(std::string_view(text, length));
      std::uint64_t word = 0;
      std::memcpy(&word, text, length);
      return labels_.find(word, length);
    });
  }

 private:
  static constexpr std::size_t kWindow = 256, kBlock = 4096;
  static constexpr std::uint32_t kNone = 0xffffffff;

  template <class Value>
  void code_integers(const ArrowArray& column, std::uint8_t* out) {
    const auto* values = static_cast<const Value*>(column.buffers[1]) + column.offset;
    const auto length = static_cast<std::size_t>(column.length);
    if (has_nulls(column))
      return code_cells(column, out, [&](std::size_t i) { return number(word_of(values[i])); });
    for (std::size_t i = 0; i < length; i += kBlock)
      code_block(values + i, std::min(kBlock, length - i), out + i);
  }

  template <class Value>
  void code_block(const Value* values, std::size_t n, std::uint8_t* out) {
    std::uint64_t all = subtract_first<Value>(values, n, first_, out);
    if (all >= kWindow || fresh_) {
      move_window(static_cast<std::int64_t>(*std::min_element(values, values + n)));
      all = subtract_first<Value>(values, n, first_, out);
    }
    if (all >= kWindow) {
      for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(number(word_of(values[i])));
      return;
    }
    const std::size_t most = std::bit_ceil(all + 1);  // no difference is as large
    if (known_ < most) learn(out, n);
    if (same_ < most)
      for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(window_[out[i]]);
  }

  template <class Value>
  static std::uint64_t word_of(Value value) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }

  std::uint32_t number(std::uint64_t word) { return labels_.find(word, 8); }

  void move_window(std::int64_t first) {
    first_ = first;
    fresh_ = false;
    window_.fill(kNone);
    known_ = same_ = 0;
  }

  // Numbers that are new come in increasing order, so that most often they number themselves.
  void learn(const std::uint8_t* differences, std::size_t n) {
    std::array<bool, kWindow> seen{};
    for (std::size_t i = 0; i < n; ++i) seen[differences[i]] = true;
    for (std::size_t k = 0; k < kWindow; ++k)
      if (seen[k] && window_[k] == kNone) window_[k] = number(static_cast<std::uint64_t>(first_) + k);
    while (known_ < kWindow && window_[known_] != kNone) ++known_;
    while (same_ < kWindow && window_[same_] == same_) ++same_;
  }

  static bool has_nulls(const ArrowArray& column) { return column.null_count != 0 && column.buffers[0]; }

  template <class Number>
  void code_cells(const ArrowArray& column, std::uint8_t* out, const Number& of) {
    const auto length = static_cast<std::size_t>(column.length);
    if (!has_nulls(column)) {
      for (std::size_t i = 0; i < length; ++i) out[i] = static_cast<std::uint8_t>(of(i));
      return;
    }
    const auto* seen = static_cast<const std::uint8_t*>(column.buffers[0]);
    for (std::size_t i = 0; i < length; ++i) {
      const std::size_t at = i + static_cast<std::size_t>(column.offset);
      out[i] = static_cast<std::uint8_t>(seen[at / 8] >> (at % 8) & 1 ? of(i) : labels_.find_null());
    }
  }

  Dictionary labels_;
  bool fresh_ = true;       // no number was seen
  std::int64_t first_ = 0;  // of the window
  std::array<std::uint32_t, kWindow> window_{};
  std::size_t known_ = 0, same_ = 0;  // the first ones that have a number, and those that are it
};

class FrameCoder {
 public:
  explicit FrameCoder(std::size_t columns) : columns_(columns) {}

  const std::vector<FrameColumn>& columns() const { return columns_; }

  // Codes a column of some rows; false if it has neither whole numbers nor texts.
  bool code(std::size_t j, const ArrowSchema& type, const ArrowArray& column, std::uint8_t* out) {
    const std::string_view kind = type.format;
    if (type.dictionary) return false;
    if (kind == "vu")
      columns_[j].code_texts(column, out);
    else if (kind.size() == 1 && std::string_view("cCsSiIlL").find(kind) != kind.npos)
      columns_[j].code_integers(column, kind[0], out);
    else
      return false;
    return true;
  }

 private:
  std::vector<FrameColumn> columns_;
};

}  // namespace isinglass
