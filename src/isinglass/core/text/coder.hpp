// Cells of separated text, without quotes, as numbers: each column has a dictionary of its texts, which
// grows.
//
// Texts of a discrete table are short and few. So a cell is a word of eight bytes and its length, looked up
// in a small table by one product; longer texts go through a map.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace isinglass {

// The texts of one column, numbered as they are first seen.
class Dictionary {
 public:
  std::size_t size() const { return texts_.size(); }
  const std::vector<std::string>& texts() const { return texts_; }

  // The number of a text of one byte: a look-up without a jump, as most cells have one digit.
  std::uint32_t find(unsigned char byte) {
    if (of_byte_[byte] == kFree) of_byte_[byte] = find(std::uint64_t{byte}, 1);
    return of_byte_[byte];
  }

  // The number of a text of at most eight bytes, which are the lowest of a word; the others are zero.
  std::uint32_t find(std::uint64_t word, std::size_t length) {
    if (word == last_word_ && length == last_length_) return last_;
    last_word_ = word;
    last_length_ = length;
    for (std::size_t at = place(word, length);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.length == kFree) {
        slot = {word, static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(texts_.size())};
        char bytes[8];
        std::memcpy(bytes, &word, 8);
        texts_.emplace_back(bytes, length);
        last_ = slot.number;
        if (2 * ++taken_ > slots_.size()) grow();
        return last_;
      }
      if (slot.word == word && slot.length == length) return last_ = slot.number;
    }
  }

  // The number of a cell that is null, which is not the empty text.
  std::uint32_t find_null() {
    if (null_ == kFree) {
      null_ = static_cast<std::uint32_t>(size());
      texts_.emplace_back();
    }
    return null_;
  }
  bool is_null(std::size_t number) const { return number == null_; }

  std::uint32_t find(std::string_view text) {
    const auto [found, added] = longer_.try_emplace(std::string(text), static_cast<std::uint32_t>(size()));
    if (added) texts_.emplace_back(text);
    return found->second;
  }

 private:
  static constexpr std::uint32_t kFree = 0xffffffff;

  struct Slot {
    std::uint64_t word = 0;
    std::uint32_t length = kFree, number = 0;
  };

  std::size_t place(std::uint64_t word, std::size_t length) const {
    return ((word + length) * 0x9e3779b97f4a7c15u >> 32) & (slots_.size() - 1);
  }

  static std::array<std::uint32_t, 256> filled() {
    std::array<std::uint32_t, 256> numbers;
    numbers.fill(kFree);
    return numbers;
  }

  void grow() {
    std::vector<Slot> before(4 * slots_.size());
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.length == kFree) continue;
      std::size_t at = place(slot.word, slot.length);
      while (slots_[at].length != kFree) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_{std::vector<Slot>(16)};
  std::size_t taken_ = 0;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t> longer_;
  std::array<std::uint32_t, 256> of_byte_ = filled();
  std::uint64_t last_word_ = 0;
  std::size_t last_length_ = kFree;
  std::uint32_t last_ = 0, null_ = kFree;
};

// How far a text was coded.
struct Coded {
  std::size_t rows = 0;      // whole rows
  std::size_t consumed = 0;  // bytes
  bool broken = false;       // the row that comes next has too few or too many cells, or a zero byte
};

// What becomes of the cells of a column: they have few texts, and numbers of one byte; they may have many; or
// nobody wants them.
enum class Kept : std::uint8_t { few, many, not_at_all };

// Where numbers of cells go, with room for so many rows: columns of few texts one after the other, and those
// of many.
struct CodeColumns {
  std::uint8_t* few;
  std::uint32_t* many;
  std::size_t room;
};

class TextCoder {
 public:
  TextCoder(std::vector<Kept> kept, char delimiter)
      : columns_(kept.size()), kept_(std::move(kept)), delimiter_(delimiter) {}

  const std::vector<Dictionary>& columns() const { return columns_; }
  // How many are kept so.
  std::size_t columns(Kept kept) const {
    return static_cast<std::size_t>(std::count(kept_.begin(), kept_.end(), kept));
  }

  // Codes whole rows of text, each of which ends with a newline, while there is room for them after the first
  // ones; blank lines are none.
  Coded code(std::string_view text, const CodeColumns& codes, std::size_t first) {
    Coded done;
    const char *at = text.data(), *const end = at + text.size();
    while (first + done.rows < codes.room && at < end) {
      const char* next = row(at, end, codes, first + done.rows);
      if (!next) {
        done.broken = true;
        return done;
      }
      done.rows += next != blank(at, end);
      done.consumed += static_cast<std::size_t>(next - at);
      at = next;
    }
    return done;
  }

 private:
  static constexpr std::uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;

  // A byte that is zero has its highest bit here; bytes above it may have theirs by mistake.
  static std::uint64_t zeros(std::uint64_t word) { return (word - kOnes) & ~word & kHighs; }

  // Where the next line begins, if this one is blank; else nothing.
  static const char* blank(const char* at, const char* end) {
    if (*at == '\n') return at + 1;
    return *at == '\r' && at + 1 < end && at[1] == '\n' ? at + 2 : nullptr;
  }

  // The row that begins somewhere; returns where the next one begins, or nothing if it is broken.
  const char* row(const char* at, const char* end, const CodeColumns& codes, std::size_t i) {
    if (const char* next = blank(at, end)) return next;
    const std::size_t count = columns_.size();
    std::uint8_t* few = codes.few + i;
    std::uint32_t* many = codes.many + i;
    for (std::size_t j = 0; j < count; ++j) {
      const std::size_t length = length_of(at, end);
      const char* const stop = at + length;
      if (stop == end) return nullptr;
      const bool last = *stop == '\n';
      if (last != (j + 1 == count)) return nullptr;
      const std::size_t own = last && length > 0 && stop[-1] == '\r' ? length - 1 : length;
      if (kept_[j] == Kept::few) {
        *few = static_cast<std::uint8_t>(number(columns_[j], at, own, end));
        few += codes.room;
      } else if (kept_[j] == Kept::many) {
        *many = number(columns_[j], at, own, end);
        many += codes.room;
      }
      at = stop + 1;
    }
    return at;
  }

  // Bytes up to a delimiter or a newline.
  std::size_t length_of(const char* at, const char* end) const {
    if constexpr (std::endian::native == std::endian::little) {
      const std::uint64_t delimiters = kOnes * static_cast<unsigned char>(delimiter_);
      for (const char* from = at; end - from >= 8; from += 8) {
        std::uint64_t word;
        std::memcpy(&word, from, 8);
        if (const std::uint64_t found = zeros(word ^ delimiters) | zeros(word ^ (kOnes * '\n')))
          return static_cast<std::size_t>(from - at) + static_cast<std::size_t>(std::countr_zero(found)) / 8;
      }
    }
    const char* from = at;
    while (from < end && *from != delimiter_ && *from != '\n') ++from;
    return static_cast<std::size_t>(from - at);
  }

  static std::uint32_t number(Dictionary& column, const char* at, std::size_t length, const char* end) {
    if (length == 1) return column.find(static_cast<unsigned char>(*at));
    if (length > 8) return column.find(std::string_view(at, length));
    std::uint64_t word = 0;
    if (end - at >= 8 && std::endian::native == std::endian::little) {
      std::memcpy(&word, at, 8);
      word = length == 0 ? 0 : word << (64 - 8 * length) >> (64 - 8 * length);
    } else {
      std::memcpy(&word, at, length);
    }
    return column.find(word, length);
  }

  std::vector<Dictionary> columns_;
  std::vector<Kept> kept_;
  char delimiter_;
};

}  // namespace isinglass
