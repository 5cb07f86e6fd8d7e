// The data as the engine sees them: bits for each state of each column, and weights.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/threads.hpp"
#include "bits/kernels.hpp"

namespace isinglass {

// Rows that are packed already: bits for each state but the first of each column, as many words each as the
// rows need, and those of the binary digits of the weights, none if all are one.
struct PackedRows {
  std::size_t rows;
  const Word* bits;
  const Word* planes;
  std::size_t n_planes;
};

// Rows that somebody else holds: how many, the weight of each state of each column, column by column, and how
// many binary digits the weights have.
struct RemoteRows {
  std::size_t rows;
  std::span<const double> marginals;
  std::size_t n_planes;
};

// Only counts are ever asked of a table. Whole weights are kept as bit planes, so that a count
// is a sum of popcounts. Any other weights are summed row by row; where bounds will do, they are
// counted in units small enough, and by how much such a count can be off is known.
class Table {
 public:
  // codes: column-major, rows x columns, looked at as long as the table lives; weights: empty for ones.
  Table(const std::uint8_t* codes, std::size_t rows, std::span<const int> states, std::vector<double> weights,
        double n, unsigned threads, std::span<const int> answers = {})
      : rows_(rows),
        words_(words_for(rows)),
        codes_(codes),
        states_(states.begin(), states.end()),
        answers_(answers.begin(), answers.end()),
        weights_(std::move(weights)) {
    number_states();
    bits_.assign((first_.back() + states_.size()) * words_, 0);
    mark_all();
    make_planes();
    marginals_.resize(first_.back() + states_.size());
    share_out(states_.size(), threads, [&](std::size_t j) {
      pack(j);
      for (int c = 0; c < states_[j]; ++c) marginals_[state(j, c)] = count(bits(j, c), all_.data());
    });
    n_ = n > 0 ? n : count(all_.data(), all_.data());
  }

  // A block of packed rows, which is asked for counts alone, by one thread: it knows no marginals.
  Table(const PackedRows& packed, std::span<const int> states)
      : rows_(packed.rows),
        words_(words_for(packed.rows)),
        states_(states.begin(), states.end()),
        n_planes_(packed.n_planes),
        unpacked_(states.size()) {
    number_states();
    mark_all();
    bits_.resize((first_.back() + states_.size()) * words_);
    std::copy_n(packed.bits, first_.back() * words_, bits_.begin());
    for (std::size_t j = 0; j < states_.size(); ++j) pack_first(j);
    for (std::size_t p = 0; p < n_planes_; ++p)
      planes_.emplace_back(packed.planes + p * words_, packed.planes + (p + 1) * words_);
    if (n_planes_ == 0) return;
    weights_.resize(rows_);
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t p = 0; p < n_planes_; ++p)
        if (planes_[p][i / 64] >> (i % 64) & 1) weights_[i] += std::ldexp(1.0, static_cast<int>(p));
  }

  // A table whose rows are elsewhere, and have whole weights: whoever holds them counts.
  Table(const RemoteRows& remote, std::span<const int> states, double n, std::span<const int> answers = {})
      : rows_(remote.rows),
        words_(words_for(remote.rows)),
        states_(states.begin(), states.end()),
        answers_(answers.begin(), answers.end()),
        n_planes_(remote.n_planes) {
    number_states();
    marginals_.resize(first_.back() + states_.size());
    const double* marginal = remote.marginals.data();
    for (std::size_t j = 0; j < states_.size(); ++j)
      for (int c = 0; c < states_[j]; ++c) marginals_[state(j, c)] = *marginal++;
    for (int c = 0; !states_.empty() && c < states_[0]; ++c) units_ += marginals_[state(0, c)];
    n_ = n > 0 ? n : units_;
  }

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return states_.size(); }
  std::size_t words() const { return words_; }
  double n() const { return n_; }
  int states(std::size_t j) const { return states_[j]; }
  std::span<const int> states() const { return states_; }
  // How many of them, the first ones, are answers; the rest stand for missing values.
  int answers(std::size_t j) const { return answers_.empty() ? states_[j] : answers_[j]; }
  // States are numbered over all columns: all but the first of each column, then the first ones.
  // So the rows of bits that searches run through lie side by side.
  std::size_t first(std::size_t j) const { return first_[j]; }
  std::size_t state(std::size_t j, int c) const {
    return c == 0 ? first_.back() + j : first_[j] + static_cast<std::size_t>(c) - 1;
  }
  const Word* bits(std::size_t j, int c) const { return row(state(j, c)); }
  const Word* row(std::size_t state) const { return bits_.data() + state * words_; }
  const Word* all() const { return all_.data(); }
  const std::uint8_t* codes(std::size_t j) const {
    if (codes_) return codes_ + j * rows_;
    if (unpacked_[j].empty()) unpack(j);
    return unpacked_[j].data();
  }
  const double* weights() const { return weights_.empty() ? nullptr : weights_.data(); }
  double weight(std::size_t i) const { return weights_.empty() ? 1.0 : weights_[i]; }
  // Weight of the rows of a state.
  double marginal(std::size_t state) const { return marginals_[state]; }
  // How many rows have a state, whatever their weights.
  std::size_t rows_in(std::size_t column, std::size_t code) const {
    const Word* rows = bits(column, static_cast<int>(code));
    return static_cast<std::size_t>(count_common(rows, rows, words_));
  }
  // Whether counting by bits is exact and cheap.
  bool countable() const { return slack_ == 0; }
  // The most by which a rough count differs from the exact one; rough counts of sets of rows that do
  // not meet are off by no more than that together.
  double slack() const { return slack_; }
  // Popcounts behind one count.
  std::size_t planes() const { return std::max<std::size_t>(n_planes_, 1); }
  // Rough counts are whole multiples of a unit; how many of them all rows are.
  double unit() const { return unit_; }
  double units() const { return units_; }

  // The rows of a set whose weight has a binary digit, for each digit: one after another. Where nothing has
  // weights, the set itself.
  void in_planes(const Word* set, Word* out) const {
    if (weights_.empty()) std::copy_n(set, words_, out);
    if (!weights_.empty() && planes_.empty()) std::fill_n(out, words_, Word{0});  // no row has any weight
    for (const Words& plane : planes_)
      for (std::size_t w = 0; w < words_; ++w) *out++ = set[w] & plane[w];
  }

  // Weight of the rows that two rows of bits have in common.
  double count(const Word* a, const Word* b) const {
    if (weights_.empty()) return static_cast<double>(count_common(a, b, words_));
    if (!countable()) return sum(a, b);
    Words both(words_);
    for (std::size_t w = 0; w < words_; ++w) both[w] = a[w] & b[w];
    return count_planes(both.data());
  }

  // Counts of one set of rows against many states: the set is met with the planes once.
  void count_many(const Word* a, std::span<const std::size_t> states, double* out) const {
    if (weights_.empty()) {
      for (std::size_t i = 0; i < states.size(); ++i)
        out[i] = static_cast<double>(count_common(a, row(states[i]), words_));
      return;
    }
    if (!countable()) {
      for (std::size_t i = 0; i < states.size(); ++i) out[i] = sum(a, row(states[i]));
      return;
    }
    count_in_planes(a, states, out);
  }

  // Rough counts of several sets of rows against many states, in units: sets x states. Where nothing has
  // weights the bits of a state are fetched once for all sets.
  void count_sets(std::span<const Words> sets, std::span<const std::size_t> states, double* out) const {
    if (!weights_.empty()) {
      for (std::size_t k = 0; k < sets.size(); ++k)
        count_in_planes(sets[k].data(), states, out + k * states.size());
      return;
    }
    for (std::size_t i = 0; i < states.size(); ++i)
      for (std::size_t k = 0; k < sets.size(); ++k)
        out[k * states.size() + i] =
            static_cast<double>(count_common(sets[k].data(), row(states[i]), words_));
  }

 private:
  void number_states() {
    first_.push_back(0);
    for (const int m : states_) first_.push_back(first_.back() + static_cast<std::size_t>(m) - 1);
  }

  void mark_all() {
    all_.assign(words_, 0);
    for (std::size_t i = 0; i < rows_; ++i) all_[i / 64] |= Word{1} << (i % 64);
  }

  // The rows of a column that no other state has.
  void pack_first(std::size_t j) {
    Word* first = bits_.data() + state(j, 0) * words_;
    std::copy_n(all_.data(), words_, first);
    for (int c = 1; c < states_[j]; ++c)
      for (std::size_t w = 0; w < words_; ++w) first[w] &= ~bits(j, c)[w];
  }

  void unpack(std::size_t j) const {
    unpacked_[j].assign(rows_, 0);
    for (int c = 1; c < states_[j]; ++c)
      for (std::size_t w = 0; w < words_; ++w)
        for (Word word = bits(j, c)[w]; word; word &= word - 1)
          unpacked_[j][w * 64 + static_cast<std::size_t>(std::countr_zero(word))] =
              static_cast<std::uint8_t>(c);
  }

  void count_in_planes(const Word* a, std::span<const std::size_t> states, double* out) const {
    Words met(words_);
    for (std::size_t i = 0; i < states.size(); ++i) out[i] = 0;
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      for (std::size_t w = 0; w < words_; ++w) met[w] = a[w] & planes_[p][w];
      for (std::size_t i = 0; i < states.size(); ++i)
        out[i] += std::ldexp(static_cast<double>(count_common(met.data(), row(states[i]), words_)),
                             static_cast<int>(p));
    }
  }

  void pack(std::size_t j) {
    const std::uint8_t* column = codes(j);
    for (int c = 0; c < states_[j]; ++c) {
      Word* bits = bits_.data() + state(j, c) * words_;
      std::size_t i = 0;
      for (; i + 64 <= rows_; i += 64) bits[i / 64] = equal_bits(column + i, static_cast<std::uint8_t>(c));
      for (; i < rows_; ++i) bits[i / 64] |= Word{column[i] == c} << (i % 64);
    }
  }

  void make_planes() {
    constexpr double kUnits = 4095;  // of the largest weight, where weights are not whole
    double most = 0;
    bool whole = true;
    for (const double w : weights_) {
      whole = whole && w == std::floor(w) && w <= 1e9;
      most = std::max(most, w);
    }
    unit_ = whole ? 1.0 : most / kUnits;
    units_ = weights_.empty() ? static_cast<double>(rows_) : 0.0;
    std::vector<std::uint64_t> units;
    for (const double w : weights_) {
      units.push_back(static_cast<std::uint64_t>(std::llround(w / unit_)));
      units_ += static_cast<double>(units.back());
      if (!whole) slack_ += std::abs(w - unit_ * static_cast<double>(units.back())) + 1e-15 * w;
    }
    for (std::uint64_t bit = 1; bit <= static_cast<std::uint64_t>(std::llround(most / unit_)); bit <<= 1) {
      Words plane(words_, 0);
      for (std::size_t i = 0; i < rows_; ++i)
        if (units[i] & bit) plane[i / 64] |= Word{1} << (i % 64);
      planes_.push_back(std::move(plane));
    }
    n_planes_ = planes_.size();
  }

  double count_planes(const Word* a) const {
    double total = 0;
    for (std::size_t p = 0; p < planes_.size(); ++p)
      total +=
          std::ldexp(static_cast<double>(count_common(a, planes_[p].data(), words_)), static_cast<int>(p));
    return total;
  }

  double sum(const Word* a, const Word* b) const {
    double total = 0;
    for (std::size_t w = 0; w < words_; ++w)
      for (Word both = a[w] & b[w]; both; both &= both - 1)
        total += weights_[w * 64 + static_cast<std::size_t>(std::countr_zero(both))];
    return total;
  }

  std::size_t rows_, words_;
  const std::uint8_t* codes_ = nullptr;
  std::vector<int> states_, answers_;
  std::vector<double> weights_;
  std::vector<std::size_t> first_;
  Words bits_, all_;
  std::vector<Words> planes_;
  std::size_t n_planes_ = 0;
  mutable std::vector<std::vector<std::uint8_t>> unpacked_;  // codes of packed columns, once somebody asks
  std::vector<double> marginals_;
  double n_ = 0, unit_ = 1, units_ = 0, slack_ = 0;
};

}  // namespace isinglass
