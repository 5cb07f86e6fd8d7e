// Gains and costs of a target's edges on one scale, and the choice among them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "base/edge.hpp"
#include "base/forms.hpp"
#include "bits/table.hpp"
#include "gains/equivalent.hpp"
#include "gains/nulls.hpp"
#include "refit/refit.hpp"

namespace isinglass {

constexpr double kTie = 1e-9;    // gains and costs this close to the best are equal to it
constexpr double kZero = 1e-12;  // a smaller gain counts as none
constexpr double kPrice = 3;     // the deviance that a parameter of a table is to gain beyond a smaller form

// What a gain or a cost is of: an edge, in one of its forms; what a table has beyond the small edge, where
// the pair is not linked yet; and the same where the small edge is in.
enum class Of : std::uint8_t { small, table, departure, upgrade };

struct Choice {
  std::size_t column = 0;
  double value = 0;
  Of of = Of::table;
  double gain = 0;  // what is recorded, where another number is compared
};

// The lowest column whose value is within a tie of the best; of one column the first kind.
inline Choice first_within_tie(std::vector<Choice>& values) {
  std::sort(values.begin(), values.end(), [](const Choice& a, const Choice& b) {
    return a.column != b.column ? a.column < b.column : a.of < b.of;
  });
  double best = values.front().value;
  for (const Choice& choice : values) best = std::max(best, choice.value);
  for (const Choice& choice : values)
    if (choice.value >= best - kTie) return choice;
  return values.front();
}

// Gains per row as those of edges of one parameter. `scales`, columns x columns, say how many times the
// deviances of a pair without effect are what they are for rows drawn one by one; none is given where all
// are one. With an intercept pairs of few rows have nulls of their own.
//
// Scales say how sure a gain is, not how large. So candidates that gain more than `level` are ranked above
// all others, and among themselves by what they gain without scales: else a column that is known well comes
// in before the neighbour that it speaks through.
class Scale {
 public:
  Scale(const Table& table, bool intercept, std::span<const double> scales, double unit, double level,
        const Forms* forms = nullptr)
      : table_(table),
        scales_(scales),
        forms_(forms),
        unscaled_(1 / unit),
        level_(scales.empty() ? std::numeric_limits<double>::infinity() : level),
        plain_(scales.empty()) {
    for (std::size_t j = 0; j < table.columns(); ++j) many_ = many_ || (intercept && table.states(j) > 2);
    for (std::size_t j = 0; many_ && j < table.columns(); ++j)
      rows_.push_back(rows_of_states(table, j, unit));
  }

  void set_target(std::size_t target) {
    target_ = target;
    plain_ = true;
    least_ = usual_ = 1;
    least_unscaled_ = unscaled_;
    if ((scales_.empty() && !many_) || table_.states(target) < 2) return;
    of_column_.assign(table_.columns(), {});
    if (!scales_.empty()) least_ = usual_ = std::ranges::min(scales_.subspan(first(), table_.columns()));
    plain_ = scales_.empty();
    for (std::size_t j = 0; j < table_.columns(); ++j)
      if (j != target && table_.states(j) > 1) set_null(j);
  }

  // The same of any kind, and in the case of two forms by the best of two looks.
  double divided(double raw, std::size_t column, Of of) const {
    if (of == Of::table) return divided(raw, column);
    const Null null = null_of(column, of);
    return std::max(raw - null.shift, 0.0) / null.scale;
  }

  bool converted(std::size_t column, Of of) const {
    if (of == Of::table) return converted(column) || looks(column, of) > 1;
    return true;
  }

  double standardised(double raw, std::size_t column, Of of) const {
    const double times = looks(column, of);
    if (of == Of::table && times == 1) return standardised(raw, column);
    if (raw < kZero) return 0.0;
    const Null null = null_of(column, of);
    return one_parameter_gain(std::max(raw - null.shift, 0.0) / null.scale, null.df, table_.n(), times);
  }

  // Whether a table is worth what it has beyond a smaller form; `counts` are the common rows of the states.
  bool pays(double raw, std::size_t column, std::span<const double> counts) const {
    const Null null = null_of(column, Of::departure);
    const double of_empty = has_empty_cell(counts) ? 2 * std::log(1 / kRidge) : 0.0;
    return 2 * table_.n() * in_parts(raw, null) > kPrice * null.df + of_empty + kTie;
  }

  // About the rank of a gain: what is likely to be best is looked at first.
  double guess(double raw, std::size_t column, Of of) const {
    const Null null = null_of(column, of);
    const double a = 0.5 * null.df, x = table_.n() * in_parts(raw, null);
    if (!(x > a)) return 0.0;
    // The tail of a chi-square far out, by Stirling's formula; then that of one parameter.
    const double tail = x - a - a * std::log(x / a) + std::log((x - a + 1) / std::sqrt(a)) + 0.92;
    return std::max(tail - 0.5 * std::log(std::numbers::pi * std::max(tail, 1.0)), 0.0) / table_.n();
  }

  // A gain of a column, or a bound on it, in parts of a chi-square, which is at least what it is as one of
  // one parameter.
  double divided(double raw, std::size_t column) const {
    if (plain_) return raw;
    const Null& null = of_column_[column];
    return std::max(raw - null.shift, 0.0) / null.scale;
  }

  // The raw gain that no candidate has less than whose rank is above a cut; and what is usual.
  double limit(double cut) const {
    if (cut <= level_) return cut * least_;
    return std::max(level_ * least_, (cut - level_) * least_unscaled_);
  }
  double usual_limit(double cut) const {
    return cut <= level_ ? cut * usual_ : std::max(level_ * usual_, (cut - level_) * unscaled_);
  }

  // What candidates are chosen by.
  double rank(double raw, std::size_t column, Of of) const {
    const double gain = standardised(raw, column, of);
    if (!(gain > level_)) return gain;
    const Null null = without_scale(column, of);
    return level_ + one_parameter_gain(in_parts(raw, null), null.df, table_.n(), looks(column, of));
  }

  // Whether a candidate that gains no more than `raw` ranks no higher than a cut; quickly where it is clear.
  bool ranks_below(double raw, std::size_t column, Of of, double cut) const {
    if (divided(raw, column, of) <= std::min(cut, level_)) return true;
    if (cut > level_ && in_parts(raw, without_scale(column, of)) <= cut - level_) return true;
    return converted(column, of) && rank(raw, column, of) <= cut;
  }

  // Whether it is more than a division.
  bool converted(std::size_t column) const {
    return plain_ ? degrees_of_freedom(column) > 1 : of_column_[column].df != 1;
  }

  double standardised(double raw, std::size_t column) const {
    if (raw < kZero) return 0.0;
    const int df = degrees_of_freedom(column);
    if (plain_ || of_column_[column].df == df)
      return one_parameter_gain(divided(raw, column), df, table_.n());
    return one_parameter_gain(divided(raw, column), of_column_[column].df, table_.n());
  }

 private:
  // Whether a state of the target never meets one of a column, though both occur: by their common rows.
  bool has_empty_cell(std::span<const double> counts) const {
    const auto width = static_cast<std::size_t>(table_.states(target_));
    std::vector<double> own(width, 0.0), others(counts.size() / width, 0.0);
    for (std::size_t k = 0; k < counts.size(); ++k) {
      own[k % width] += counts[k];
      others[k / width] += counts[k];
    }
    for (std::size_t k = 0; k < counts.size(); ++k)
      if (!(counts[k] > 0) && own[k % width] > 0 && others[k / width] > 0) return true;
    return false;
  }

  static double in_parts(double raw, const Null& null) {
    return std::max(raw - null.shift, 0.0) / null.scale;
  }

  // Only where there are scales.
  Null without_scale(std::size_t column, Of of) const {
    const Null null = null_of(column, of);
    const double times = unscaled_ / scales_[first() + column];
    return {null.shift * times, null.scale * times, null.df};
  }

  double looks(std::size_t column, Of of) const {
    if (of == Of::upgrade || !forms_) return 1;
    return forms_->looks(target_, column, of == Of::small ? Form::small : Form::table);
  }

  // With its shift per row.
  Null null_of(std::size_t column, Of of) const {
    Null table{0, 1, static_cast<double>(degrees_of_freedom(column))};
    if (many_ || !scales_.empty()) table = of_column_[column];
    if (of == Of::table) return table;
    const double scale = scales_.empty() ? 1.0 : scales_[first() + column],
                 df = static_cast<double>(forms_->degrees(target_, column));
    return of == Of::small ? Null{0, scale, df} : beyond(table, scale, df);
  }

  // What a table has beyond a small edge of some degrees of freedom.
  Null beyond(const Null& table, double scale, double df) const {
    const double rows = 2 * table_.n();
    const Null left = Nulls::beyond({table.shift * rows / scale, table.scale / scale, table.df}, df);
    return {left.shift * scale / rows, left.scale * scale, left.df};
  }

  std::size_t first() const { return target_ * table_.columns(); }

  int degrees_of_freedom(std::size_t column) const {
    return static_cast<int>(isinglass::degrees_of_freedom(table_.states(target_), table_.states(column)));
  }

  // With its shift per row.
  void set_null(std::size_t column) {
    Null null{0, 1, static_cast<double>(degrees_of_freedom(column))};
    if (many_) null = nulls_.of(rows_[target_], rows_[column]);
    plain_ = plain_ && null.shift == 0 && null.scale == 1;
    const double scale = scales_.empty() ? 1.0 : scales_[first() + column];
    null.scale *= scale;
    null.shift *= scale / (2 * table_.n());
    allow_for(null, scale);
    if (forms_ && forms_->small(target_, column))
      allow_for(beyond(null, scale, static_cast<double>(forms_->degrees(target_, column))), scale);
    of_column_[column] = null;
  }

  void allow_for(const Null& null, double scale) {
    least_ = std::min(least_, null.shift < 0 ? 0.0 : null.scale);
    least_unscaled_ = std::min(least_unscaled_, null.shift < 0 ? 0.0 : null.scale * (unscaled_ / scale));
  }

  const Table& table_;
  std::span<const double> scales_;
  const Forms* forms_;
  double unscaled_, level_;
  bool many_ = false;                      // whether there may be pairs of few rows
  std::vector<std::vector<double>> rows_;  // of the states of every column
  Nulls nulls_;
  bool plain_;  // whether all of the target's are chi-squares
  double least_ = 1, usual_ = 1, least_unscaled_ = 1;
  std::vector<Null> of_column_;
  std::size_t target_ = 0;
};

}  // namespace isinglass
