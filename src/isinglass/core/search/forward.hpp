// The best candidate of a forward step: bounds first, ever sharper; what they leave is evaluated exactly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <vector>

#include "gains/candidate.hpp"
#include "gains/gains.hpp"
#include "gains/slopes.hpp"
#include "screen/screen.hpp"
#include "search/choice.hpp"
#include "search/path.hpp"

namespace isinglass {

struct Forward {
  Choice choice;
  Added added;  // where the refit with it starts
};

class ForwardSearch {
 public:
  ForwardSearch(const Table& table, const Pairs& pairs, Counter& counter, Pairs::Reader& reader,
                const Cells& cells, const Scale& scale, const Settings& settings)
      : n_(table.n()),
        cells_(cells),
        scale_(scale),
        settings_(settings),
        gains_(table, reader, cells, settings.intercept),
        slopes_(table, reader, cells, settings.intercept, settings.forms),
        screen_(table, pairs, counter, reader, cells) {}

  // The candidate that ranks highest at a fit, and its gain on one scale; a gain of zero if all are sure to
  // be below the threshold. `upgrades` are neighbours whose small edge may become a table.
  Forward best(const CurrentFit& fit, std::span<const std::size_t> candidates,
               std::span<const std::size_t> upgrades = {}) {
    Evaluated exact;
    evaluate_hopeful(fit, candidates, upgrades, exact);
    if (exact.gains.empty()) return {};
    Choice choice = first_within_tie(exact.gains);
    choice.value = choice.gain;
    if (!(choice.value > settings_.threshold)) return {choice, {}};
    if (choice.column != exact.best.column || choice.of != exact.best.of)  // a lower column, within a tie
      take_again(fit, choice, exact);
    if (choice.of == Of::small && has_table({.column = choice.column}))
      return small_or_table(fit, choice, exact);
    return {choice, {choice.column, std::move(exact.start)}};
  }

  // All candidates that gain more than the threshold, each in the form that it would come in with.
  std::vector<Choice> all_above(const CurrentFit& fit, std::span<const std::size_t> candidates) {
    Evaluated exact;
    exact.all = true;
    evaluate_hopeful(fit, candidates, {}, exact);
    std::map<std::size_t, std::vector<Choice>> by_column;
    for (const Choice& choice : exact.gains) by_column[choice.column].push_back(choice);
    std::vector<Choice> found;
    for (auto& [column, looks] : by_column) {
      Choice choice = first_within_tie(looks);
      choice.value = choice.gain;
      if (!(choice.value > settings_.threshold)) continue;
      if (choice.of == Of::small && has_table({.column = column})) {
        take_again(fit, choice, exact);
        choice = small_or_table(fit, choice, exact).choice;
      }
      found.push_back(choice);
    }
    return found;
  }

  Gain exact_gain(const CurrentFit& fit, std::size_t column, Of of = Of::table) {
    split_column_ = kNone;  // the fit may be another one
    split(fit, column);
    return gain_of_split(column, of);
  }

  // How many gains were computed exactly since the last reset.
  std::int64_t evaluated() const { return evaluated_; }
  void reset_evaluated() { evaluated_ = 0; }

 private:
  static constexpr int kMostRounds = 16;  // of sharpening
  static constexpr std::size_t kMostExpected =
      8;                                 // candidates that are split at once, where rows are elsewhere
  static constexpr double kEarly = 0.7;  // the share of the threshold that a first gain must promise

  static constexpr auto kNone = static_cast<std::size_t>(-1);

  // The ranks and gains of a step so far; of the best of them what it gains, and where a refit with it
  // starts.
  struct Evaluated {
    std::vector<Choice> gains;
    Choice best = {kNone};
    double raw = 0;
    std::vector<double> start;
    bool all = false;  // whether whatever is above the threshold is wanted
  };

  // Gains of all candidates that bounds do not rule out.
  void evaluate_hopeful(const CurrentFit& fit, std::span<const std::size_t> candidates,
                        std::span<const std::size_t> upgrades, Evaluated& exact) {
    open_.clear();
    split_column_ = kNone;
    if (!candidates.empty()) screen_candidates(fit, candidates, exact);
    const bool screened = !candidates.empty() && screen_.works();
    std::vector<Candidate>& open = open_.listed;
    for (const std::size_t t : upgrades) open.push_back({.column = t, .upgrade = true});
    if (!screened) slopes_.bound(fit, open);
    drop_hopeless(exact);
    if (!screened && settings_.forms && cells_.width() > 2) bound_small_forms(exact);
    if (settings_.forms) promise_on_one_scale();
    std::stable_sort(open.begin(), open.end(),
                     [](const Candidate& a, const Candidate& b) { return less_promising(b, a); });
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (hopeless(open[i], exact)) continue;
      if (cells_.remote()) expect(std::span(open).subspan(i), exact);
      evaluate(fit, open[i], exact);
    }
    if (settings_.check) assert_best(fit, candidates, upgrades, exact);
  }

  // What a choice gains, and where a refit with it starts.
  void take_again(const CurrentFit& fit, const Choice& choice, Evaluated& exact) {
    const Gain gain = exact_gain(fit, choice.column, choice.of);
    exact.raw = gain.value;
    exact.start = start_of(choice.of, gain);
  }

  // A pair that comes in by its smaller form is a table at once if that pays.
  Forward small_or_table(const CurrentFit& fit, Choice choice, Evaluated& exact) {
    const std::size_t t = choice.column;
    split(fit, t);
    const auto falls_short = [&](double whole) { return !pays(whole - exact.raw, t); };
    Candidate candidate{.column = t};
    if (slopes_.rule_out(candidate, split_, [&](const Candidate& c) { return falls_short(c.bound / n_); }))
      return {choice, {t, std::move(exact.start)}};
    const Gain table = gain_of_split(t, Of::table);
    if (falls_short(table.value)) return {choice, {t, std::move(exact.start)}};
    choice.of = Of::table;
    return {choice, {t, start_of(Of::table, table)}};
  }

  // Whether a table of the column whose cells are split is worth what it has beyond the smaller form.
  bool pays(double beyond, std::size_t column) const { return scale_.pays(beyond, column, split_.counts); }

  void split(const CurrentFit& fit, std::size_t column) {
    if (column != split_column_) gains_.split(fit, column, split_);
    split_column_ = column;
  }

  // What a candidate's rank must exceed. Above the level of ranks the threshold is not one of them.
  double cut(const Evaluated& exact) const {
    const double threshold = std::min(settings_.threshold, settings_.level);
    return (exact.all ? threshold : std::max(exact.best.value, threshold)) - kTie;
  }

  // The log-likelihood that no hopeful candidate gains less than, whatever its scale; and what most must.
  double limit(const Evaluated& exact) const { return scale_.limit(cut(exact)) * n_; }
  double usual_limit(const Evaluated& exact) const { return scale_.usual_limit(cut(exact)) * n_; }

  bool has_small(const Candidate& candidate) const {
    return settings_.forms && !candidate.upgrade && settings_.forms->small(cells_.target(), candidate.column);
  }
  bool has_table(const Candidate& candidate) const {
    return !settings_.forms || settings_.forms->table(cells_.target(), candidate.column);
  }

  bool hopeless(const Candidate& candidate, const Evaluated& exact) const {
    return table_hopeless(candidate, exact) && small_hopeless(candidate, exact);
  }

  bool table_hopeless(const Candidate& candidate, const Evaluated& exact) const {
    return !has_table(candidate) ||
           hopeless(candidate.bound - candidate.small_floor, candidate.column, as_table(candidate), exact);
  }

  // What a table of a candidate is compared by: all of it, or what it has beyond a smaller form.
  Of as_table(const Candidate& candidate) const {
    if (candidate.upgrade) return Of::upgrade;
    return has_small(candidate) ? Of::departure : Of::table;
  }

  // A small edge gains no more than a whole table.
  bool small_hopeless(const Candidate& candidate, const Evaluated& exact) const {
    return !has_small(candidate) ||
           hopeless(std::min(candidate.small_bound, candidate.bound), candidate.column, Of::small, exact);
  }

  bool hopeless(double bound, std::size_t column, Of of, const Evaluated& exact) const {
    return bound != kNoBound && scale_.ranks_below(bound / n_, column, of, cut(exact));
  }

  void drop_hopeless(const Evaluated& exact) {
    std::erase_if(open_.listed, [&](const Candidate& candidate) { return hopeless(candidate, exact); });
  }

  // What is left of the candidates after bounds on their tables gets bounds on its smaller forms.
  void bound_small_forms(const Evaluated& exact) {
    for (Candidate& candidate : open_.listed)
      if (has_small(candidate)) slopes_.bound_small(candidate);
    drop_hopeless(exact);
  }

  // Guesses at gains of either form, as those of one parameter: what gains most comes first.
  void promise_on_one_scale() {
    for (Candidate& candidate : open_.listed) {
      const std::size_t t = candidate.column;
      double promise = 0;
      if (has_table(candidate))
        promise = scale_.guess((candidate.promise - candidate.small_promise) / n_, t, as_table(candidate));
      if (has_small(candidate))
        promise = std::max(promise, scale_.guess(candidate.small_promise / n_, t, Of::small));
      candidate.promise = promise;
    }
  }

  // Opens the candidates and rules out what bounds from pair counts, and from more and more sets of rows,
  // can.
  void screen_candidates(const CurrentFit& fit, std::span<const std::size_t> candidates, Evaluated& exact) {
    screen_.begin(fit.probabilities, candidates);
    screen_.look(open_, limit(exact));
    drop_hopeless(exact);
    for (int round = 0; round < kMostRounds && screen_.works() && !open_.empty(); ++round) {
      // A gain that is likely to raise the cut rules out more than another set of rows does.
      if (screen_.guess(open_.top()) > (exact.best.value > 0 ? 1.0 : kEarly) * usual_limit(exact)) {
        const double before = cut(exact);
        evaluate(fit, open_.take_top(), exact);
        if (cut(exact) > before) assess(exact);
      }
      if (!screen_.pays_to_sharpen(open_.size()) || !screen_.sharpen(open_, usual_limit(exact))) break;
      assess(exact);
    }
    screen_.list(open_, limit(exact));
    if (screen_.sharp()) screen_.bound(open_.listed);
  }

  void assess(const Evaluated& exact) {
    screen_.assess(open_, limit(exact));
    drop_hopeless(exact);
  }

  // Asks for what the next candidates need, from the first on, if they are hopeful.
  void expect(std::span<const Candidate> open, const Evaluated& exact) {
    expected_.clear();
    for (const Candidate& candidate : open) {
      if (expected_.size() == kMostExpected) break;
      if (!hopeless(candidate, exact)) expected_.push_back(candidate.column);
    }
    cells_.expect(expected_);
  }

  // The exact gain of a candidate, in each of its forms, unless bounds from its split cells rule it out.
  void evaluate(const CurrentFit& fit, Candidate candidate, Evaluated& exact) {
    split(fit, candidate.column);
    bool small = !has_small(candidate);  // whether all is known of its smaller form
    if (!small) {
      slopes_.bound_forms(candidate, split_);
      if (!small_hopeless(candidate, exact)) small = take_small(candidate, exact);
    }
    const auto out = [&](const Candidate& c) {
      return table_hopeless(c, exact) || (c.upgrade && !pays(c.bound / n_, c.column));
    };
    if (settings_.forms && out(candidate)) return;
    if (slopes_.rule_out(candidate, split_, out)) return;
    if (!small && take_small(candidate, exact) && out(candidate)) return;
    const Of of = as_table(candidate);
    const Gain gain = gain_of_split(candidate.column, of);
    take(candidate.column, of, gain.value - candidate.small_floor / n_, gain, exact);
  }

  bool take_small(Candidate& candidate, Evaluated& exact) {
    ++evaluated_;
    const Gain gain = slopes_.small_gain(candidate.column, split_);
    candidate.small_floor = n_ * gain.value;
    take(candidate.column, Of::small, gain.value, gain, exact);
    return true;
  }

  void take(std::size_t column, Of of, double value, const Gain& gain, Evaluated& exact) {
    if (of == Of::upgrade && !pays(value, column)) return;
    exact.gains.push_back(
        {column, scale_.rank(value, column, of), of, scale_.standardised(value, column, of)});
    if (!(exact.gains.back().value > exact.best.value)) return;
    exact.best = exact.gains.back();
    exact.raw = value;
    exact.start = start_of(of, gain);
  }

  Gain gain_of_split(std::size_t column, Of of) {
    ++evaluated_;
    if (of != Of::small) return gains_.gain(split_);
    return gains_.small_gain(split_, settings_.forms->design(cells_.target(), column));
  }

  std::vector<double> start_of(Of of, const Gain& gain) const {
    if (of != Of::small) return gains_.start(split_, gain);
    return settings_.intercept ? gain.shifts : std::vector<double>();
  }

  void assert_best(const CurrentFit& fit, std::span<const std::size_t> candidates,
                   std::span<const std::size_t> upgrades, const Evaluated& exact) {
    const auto check = [&](std::size_t j, Of of) {
      const bool known =
          std::ranges::any_of(exact.gains, [&](const Choice& c) { return c.column == j && c.of == of; });
      double value = known ? 0 : exact_gain(fit, j, of).value;
      if (!known && of == Of::departure) value -= exact_gain(fit, j, Of::small).value;
      if (!known && of == Of::upgrade && !pays(value, j)) value = 0;
      const double rank = scale_.rank(value, j, of);
      if (rank > cut(exact) + 1e-12)
        throw std::logic_error("a skipped candidate was better than the chosen one");
    };
    for (const std::size_t j : candidates) {
      if (has_table({.column = j})) check(j, as_table({.column = j}));
      if (has_small({.column = j})) check(j, Of::small);
    }
    for (const std::size_t j : upgrades) check(j, Of::upgrade);
  }

  double n_;
  const Cells& cells_;
  const Scale& scale_;
  const Settings& settings_;
  Gains gains_;
  SlopeBounds slopes_;
  Screen screen_;
  SplitCells split_;  // of the candidate in hand; kept for its memory
  std::size_t split_column_ = kNone;
  std::vector<std::size_t> expected_;  // kept for its memory
  OpenCandidates open_;
  std::int64_t evaluated_ = 0;
};

}  // namespace isinglass
