// What the deviance of a pair of columns is when nothing links them; isinglass/losses/nulls.py says how.
//
// Given the rows of all states, the count of a cell is hypergeometric. Its share of the deviance is a sum of
// orthogonal polynomials of degree 1 to 4 and a rest. Those of equal degree go together from cell to cell,
// by falling factorials; others do not. That gives the mean and the variance; the third cumulant is nearly
// right. A chi-square, scaled and shifted, has all three.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bits/table.hpp"

namespace isinglass {

// A deviance without effect: shift + scale * chi-square with df degrees of freedom.
struct Null {
  double shift = 0, scale = 1, df = 1;
};

// A null without a shift, its mean and variance those of a given one; degrees of freedom as shares of `df`.
inline Null relative(const Null& null, double df) {
  if (!std::isfinite(null.shift)) return {0, std::numeric_limits<double>::infinity(), 1};
  const double mean = null.shift + null.scale * null.df, variance = 2 * null.scale * null.scale * null.df;
  return {0, variance / (2 * mean), 2 * mean * mean / (variance * df)};
}

class Nulls {
 public:
  // What is left of a deviance without a chi-square that is part of it.
  static Null beyond(const Null& null, double df) {
    if (null.shift == 0 && null.scale == 1) return {0, 1, null.df - df};
    const double mean = null.shift + null.scale * null.df - df,
                 variance = 2 * null.scale * null.scale * null.df - 2 * df,
                 third = 8 * null.scale * null.scale * null.scale * null.df - 8 * df;
    if (!(mean > 0 && mean < std::numeric_limits<double>::infinity() && variance > 0))
      return {std::numeric_limits<double>::infinity(), 1, 1};  // too few rows to tell
    return matched({mean, variance, third});
  }

  // Of two columns whose states have so many rows each, as a whole number of degrees of freedom and a plain
  // chi-square where rows are plenty.
  Null of(std::span<const double> rows, std::span<const double> other) {
    const double df = static_cast<double>((rows.size() - 1) * (other.size() - 1));
    double n = 0;
    for (const double count : rows) n += count;
    if (df < 2 || !sparse(rows, other, n, df)) return {0, 1, df};
    round(rows, a_);
    round(other, b_);
    return matched(cumulants(std::nearbyint(n)));
  }

 private:
  static constexpr std::size_t kDegrees = 4, kMostKept = 200'000, kListed = 1024;
  static constexpr double kTolerated = 0.1, kWide = 6, kMore = 8, kLarge = 4, kLeastSkew = 0.5, kMostSkew = 2;

  // Moments of one cell's share of the deviance; the factors of the polynomials and their variances.
  struct Cell {
    double mean = 0, rest = 0, third = 0, spread = 0;
    std::array<double, kDegrees> factor{}, variance{};
  };

  struct Cumulants {
    double mean = 0, variance = 0, third = 0;
  };

  // Williams's correction of the mean (1976), as far as it moves the tail.
  static bool sparse(std::span<const double> rows, std::span<const double> other, double n, double df) {
    const auto unevenness = [n](std::span<const double> counts) {
      double sum = 0;
      for (const double count : counts) sum += 1 / count;
      return n * sum - 1;
    };
    const double excess = unevenness(rows) * unevenness(other) / (6 * n);
    return excess * (df + 4 * std::sqrt(2 * df) + 10) > 2 * kTolerated * df;
  }

  static void round(std::span<const double> counts, std::vector<double>& out) {
    out.assign(counts.begin(), counts.end());
    for (double& count : out) count = std::nearbyint(count);
  }

  static Null matched(const Cumulants& found) {
    const auto [mean, variance, skew] = found;
    if (variance <= 1e-9 * mean * mean) return {std::numeric_limits<double>::infinity(), 1, 1};
    const double usual = 2 * variance * variance / mean,
                 third = std::clamp(skew, kLeastSkew * usual, kMostSkew * usual),
                 df = std::max(8 * variance * variance * variance / (third * third), 1.0),
                 scale = std::sqrt(variance / (2 * df));
    return {mean - scale * df, scale, df};
  }

  Cumulants cumulants(double n) {
    const std::size_t size = a_.size() * b_.size();
    cells_.clear();
    for (const double x : a_)
      for (const double y : b_) cells_.push_back(&cell(n, std::min(x, n), std::min(y, n)));
    Cumulants sum;
    for (const Cell* one : cells_) {
      sum.mean += one->mean;
      sum.variance += one->rest;
      sum.third += one->third;
    }
    double squares = 0;
    std::vector<double> factor(size), weighted(size);
    for (std::size_t k = 0; k < kDegrees; ++k) {
      for (std::size_t i = 0; i < size; ++i) {
        factor[i] = cells_[i]->factor[k];
        weighted[i] = factor[i] * cells_[i]->variance[k];
      }
      const double shared = product(weighted, carried(a_, n, k + 1), factor, carried(b_, n, k + 1));
      sum.variance += shared;
      if (k == 1) squares = shared;
    }
    sum.third += third_between(n, squares);
    return sum;
  }

  // The sum over cells of `left` times (one x right x other').
  double product(const std::vector<double>& left, const std::vector<double>& one,
                 const std::vector<double>& right, const std::vector<double>& other) const {
    const std::vector<double> moved = sandwich(one, right, other);
    double sum = 0;
    for (std::size_t i = 0; i < left.size(); ++i) sum += left[i] * moved[i];
    return sum;
  }

  std::vector<double> sandwich(const std::vector<double>& one, const std::vector<double>& middle,
                               const std::vector<double>& other) const {
    const std::size_t m = a_.size(), w = b_.size();
    std::vector<double> half(m * w, 0.0), whole(m * w, 0.0);
    for (std::size_t c = 0; c < m; ++c)
      for (std::size_t d = 0; d < m; ++d)
        for (std::size_t x = 0; x < w; ++x) half[c * w + x] += one[c * m + d] * middle[d * w + x];
    for (std::size_t c = 0; c < m; ++c)
      for (std::size_t x = 0; x < w; ++x)
        for (std::size_t y = 0; y < w; ++y) whole[c * w + x] += half[c * w + y] * other[x * w + y];
    return whole;
  }

  // What the polynomial of one state's count says of another's.
  static std::vector<double> carried(const std::vector<double>& rows, double n, std::size_t degree) {
    const std::size_t m = rows.size();
    std::vector<double> matrix(m * m);
    const auto falling = [degree](double count) {
      double value = 1;
      for (std::size_t i = 0; i < degree; ++i) value *= count - static_cast<double>(i);
      return value;
    };
    for (std::size_t c = 0; c < m; ++c) {
      const double others = falling(n - rows[c]), sign = degree % 2 ? -1.0 : 1.0;
      for (std::size_t d = 0; d < m; ++d)
        matrix[c * m + d] = c == d ? 1.0 : others > 0 ? sign / others * falling(rows[d]) : 0.0;
    }
    return matrix;
  }

  // The third cumulant beyond that of single cells: terms of degree 1 and 2, as if normal.
  double third_between(double n, double shared) const {
    const std::size_t size = cells_.size();
    std::vector<double> linear(size), square(size);
    double total = 0, squares = 0, cubes = 0;
    for (std::size_t i = 0; i < size; ++i) {
      linear[i] = cells_[i]->factor[0];
      square[i] = cells_[i]->factor[1];
      const double own = square[i] * cells_[i]->spread;
      total += own;
      squares += own * own;
      cubes += own * own * own;
    }
    if (!(total > 0 && shared > 0)) return 0;
    const double count = n * n / (n - 1);
    std::vector<double> first = covariance(a_, n), second = covariance(b_, n);
    const std::vector<double> pulled = sandwich(first, linear, second);
    double mixed = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const double own = linear[i] * cells_[i]->spread, all = count * pulled[i];
      mixed += square[i] * (all * all - own * own);
    }
    for (double& number : first) number *= number;
    for (double& number : second) number *= number;
    const double normal = count * count * product(square, first, square, second);
    const double of_squares = cubes * total / (squares * squares) * std::pow(0.5 * shared, 1.5) *
                              std::sqrt(std::max(normal, 0.0)) / total;
    return 8 * (of_squares - cubes) + 6 * mixed;
  }

  static std::vector<double> covariance(const std::vector<double>& rows, double n) {
    const std::size_t m = rows.size();
    std::vector<double> matrix(m * m);
    for (std::size_t c = 0; c < m; ++c)
      for (std::size_t d = 0; d < m; ++d)
        matrix[c * m + d] = (c == d ? rows[c] / n : 0.0) - rows[c] / n * (rows[d] / n);
    return matrix;
  }

  // Many cells of a table have the same rows: what was found is kept.
  const Cell& cell(double n, double a, double b) {
    if (n != n_ || (kept_.size() > kMostKept && cells_.empty())) kept_.clear();
    n_ = n;
    if (a > b) std::swap(a, b);
    const std::uint64_t key = static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint64_t>(b);
    const auto found = kept_.find(key);
    return found != kept_.end() ? found->second : kept_.emplace(key, moments(n, a, b)).first->second;
  }

  Cell moments(double n, double a, double b) {
    if (!(a > 0 && a < n && b > 0 && b < n)) return {};
    const double p = a / n, q = b / n, spread = n * p * q * (1 - p) * (1 - q) * n / (n - 1);
    if (spread >= kLarge * kLarge) return large_cell(n, p, q, spread);
    list_counts(n, a, b, kWide * std::sqrt(spread) + kMore);
    const double expected = a * b / n, log_expected = std::log(expected);
    const std::size_t size = counts_.size();
    Cell cell;
    cell.spread = spread;
    g_.resize(size);
    before_.assign(size, 0.0);
    now_.assign(size, 1.0);
    for (std::size_t i = 0; i < size; ++i) {
      const double x = counts_[i];
      g_[i] = 2 * ((x > 0 ? x * (log_of(x) - log_expected) : 0.0) - (x - expected));
      cell.mean += share_[i] * g_[i];
    }
    for (std::size_t i = 0; i < size; ++i) {
      const double off = g_[i] - cell.mean;
      cell.rest += share_[i] * off * off;
      cell.third += share_[i] * off * off * off;
    }
    double var_before = 1, var = 1;
    for (std::size_t k = 0; k + 1 < size && k < kDegrees; ++k) {
      double centre = 0;
      for (std::size_t i = 0; i < size; ++i)
        centre += share_[i] * (counts_[i] - expected) * now_[i] * now_[i];
      centre /= var;
      const double back = k > 0 ? var / var_before : 0.0;
      double next_var = 0, along = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const double next = (counts_[i] - expected - centre) * now_[i] - back * before_[i];
        before_[i] = std::exchange(now_[i], next);
        next_var += share_[i] * next * next;
        along += share_[i] * g_[i] * next;
      }
      var_before = std::exchange(var, next_var);
      cell.factor[k] = along / var;
      cell.variance[k] = var;
      cell.rest -= cell.factor[k] * cell.factor[k] * var;
    }
    cell.rest = std::max(cell.rest, 0.0);
    return cell;
  }

  // The counts of a cell, as far as they are likely, and their probabilities.
  void list_counts(double n, double a, double b, double reach) {
    const double expected = a * b / n, low = std::ceil(std::max({0.0, a + b - n, expected - reach})),
                 high = std::floor(std::min({a, b, expected + reach})),
                 middle = std::clamp(std::floor(expected), low, high);
    const auto size = static_cast<std::size_t>(high - low) + 1, at = static_cast<std::size_t>(middle - low);
    counts_.resize(size);
    share_.resize(size);
    for (std::size_t i = 0; i < size; ++i) counts_[i] = low + static_cast<double>(i);
    // How many times as likely one more is.
    const auto next = [&](double x) { return (a - x) * (b - x) / ((x + 1) * (n - a - b + x + 1)); };
    double whole = share_[at] = 1;
    for (std::size_t i = at + 1; i < size; ++i) whole += share_[i] = share_[i - 1] * next(counts_[i - 1]);
    for (std::size_t i = at; i-- > 0;) whole += share_[i] = share_[i + 1] / next(counts_[i]);
    for (double& share : share_) share /= whole;
  }

  // Where counts are many: by the first terms of g in powers of the deviation.
  static Cell large_cell(double n, double p, double q, double spread) {
    const double e = n * p * q, third = spread * (1 - 2 * p) * (1 - 2 * q) * n / (n - 2),
                 fourth = 3 * spread * spread + spread * (1 - 6 * p * (1 - p)) * (1 - 6 * q * (1 - q)),
                 cube = spread * spread * spread;
    Cell cell;
    cell.mean = spread / e - third / (3 * e * e) + fourth / (6 * e * e * e);
    cell.spread = spread;
    const double linear = (third - fourth / (3 * e)) / (e * spread),
                 square = 1 / e - third / (e * e * spread) + spread / (e * e * e);
    cell.third = 8 * square * square * square * cube + 6 * square * linear * linear * spread * spread;
    cell.factor = {linear, square, -1 / (3 * e * e), 1 / (6 * e * e * e)};
    cell.variance = {spread, fourth - third * third / spread - spread * spread, 6 * cube, 24 * cube * spread};
    return cell;
  }

  // Of small whole numbers, from a list.
  double log_of(double x) {
    const auto at = static_cast<std::size_t>(x);
    if (at >= kListed) return std::log(x);
    for (std::size_t i = logs_.size(); i <= at; ++i) logs_.push_back(std::log(static_cast<double>(i)));
    return logs_[at];
  }

  std::vector<double> a_, b_;  // rows of the states, rounded
  std::vector<const Cell*> cells_;
  std::unordered_map<std::uint64_t, Cell> kept_;  // of tables of n_ rows; its elements stay where they are
  double n_ = 0;
  std::vector<double> counts_, share_, g_, before_, now_;  // of the cell in hand
  std::vector<double> logs_;
};

// How often each state of a column occurs, if a weight of one stands for `unit` rows.
inline std::vector<double> rows_of_states(const Table& table, std::size_t column, double unit) {
  std::vector<double> rows;
  for (int c = 0; c < table.states(column); ++c)
    rows.push_back(unit * table.marginal(table.state(column, c)));
  return rows;
}

}  // namespace isinglass
