// The best candidate of a forward step: bounds first, ever sharper; what they leave is evaluated exactly.
#pragma once

#include <algorithm>
#include <cstdint>
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
  std::vector<double> start;  // what the candidate alone adds to the scores: where the refit with it starts
};

class ForwardSearch {
 public:
  ForwardSearch(const Table& table, const Pairs& pairs, Counter& counter, Pairs::Reader& reader,
                const Cells& cells, const Scale& scale, const Settings& settings)
      : n_(table.n()),
        scale_(scale),
        settings_(settings),
        gains_(table, reader, cells, settings.intercept),
        slopes_(table, reader, cells, settings.intercept),
        screen_(table, pairs, counter, reader, cells) {}

  // The candidate that gains most at a fit, by its gain on one scale; a gain of zero if all are sure to be
  // below the threshold.
  Forward best(const CurrentFit& fit, std::span<const std::size_t> candidates) {
    Evaluated exact;
    screen_candidates(fit, candidates, exact);
    if (!screen_.works()) slopes_.bound(fit, open_);
    drop_hopeless(exact);
    std::stable_sort(open_.begin(), open_.end(),
                     [](const Candidate& a, const Candidate& b) { return less_promising(b, a); });
    for (const Candidate& candidate : open_)
      if (!hopeless(candidate, exact)) evaluate(fit, candidate, exact);
    if (settings_.check) assert_best(fit, candidates, exact);
    if (exact.gains.empty()) return {{candidates.front(), 0.0}, {}};
    const Choice choice = first_within_tie(exact.gains);
    if (choice.column == exact.best_column || !(choice.value > settings_.threshold))
      return {choice, std::move(exact.start)};
    const Gain gain = exact_gain(fit, choice.column);  // of a lower column, within a tie of the best
    return {choice, gains_.start(split_, gain)};
  }

  Gain exact_gain(const CurrentFit& fit, std::size_t column) {
    gains_.split(fit, column, split_);
    return gain_of_split();
  }

  // How many gains were computed exactly since the last reset.
  std::int64_t evaluated() const { return evaluated_; }
  void reset_evaluated() { evaluated_ = 0; }

 private:
  static constexpr int kMostRounds = 16;  // of sharpening
  static constexpr double kEarly = 0.7;   // the share of the threshold that a first gain must promise

  // The gains of a step so far, on one scale, and where a refit with the best of them starts.
  struct Evaluated {
    std::vector<Choice> gains;
    double best = 0;
    std::size_t best_column = static_cast<std::size_t>(-1);
    std::vector<double> start;
  };

  // What a candidate must exceed.
  double cut(const Evaluated& exact) const { return std::max(exact.best, settings_.threshold) - kTie; }

  // The log-likelihood that no hopeful candidate gains less than, whatever its scale; and what most must.
  double limit(const Evaluated& exact) const { return cut(exact) * scale_.least() * n_; }
  double usual_limit(const Evaluated& exact) const { return cut(exact) * scale_.usual() * n_; }

  bool hopeless(const Candidate& candidate, const Evaluated& exact) const {
    if (candidate.bound == kNoBound) return false;
    const double bound = candidate.bound / n_;
    return scale_.divided(bound, candidate.column) <= cut(exact) ||
           (scale_.converted(candidate.column) && scale_.standardised(bound, candidate.column) <= cut(exact));
  }

  void drop_hopeless(const Evaluated& exact) {
    std::erase_if(open_, [&](const Candidate& candidate) { return hopeless(candidate, exact); });
  }

  // Opens the candidates and rules out what bounds from pair counts, and from more and more sets of rows,
  // can.
  void screen_candidates(const CurrentFit& fit, std::span<const std::size_t> candidates, Evaluated& exact) {
    screen_.begin(fit.probabilities, candidates);
    screen_.look_at(candidates, open_, limit(exact));
    drop_hopeless(exact);
    for (int round = 0; round < kMostRounds && screen_.works() && !open_.empty(); ++round) {
      // A gain that is likely to raise the cut rules out more than another set of rows does.
      const auto top = std::max_element(open_.begin(), open_.end(), less_promising);
      if (screen_.guess(*top) > (exact.best > 0 ? 1.0 : kEarly) * usual_limit(exact)) {
        const double before = cut(exact);
        evaluate(fit, *top, exact);
        open_.erase(top);
        if (cut(exact) > before) assess(exact);
      }
      if (!screen_.pays_to_sharpen(open_.size()) || !screen_.sharpen(open_, usual_limit(exact))) break;
      assess(exact);
    }
    if (screen_.sharp()) screen_.bound(open_);
  }

  void assess(const Evaluated& exact) {
    screen_.assess(open_, limit(exact));
    drop_hopeless(exact);
  }

  // The exact gain of a candidate, unless bounds from its split cells rule it out.
  void evaluate(const CurrentFit& fit, Candidate candidate, Evaluated& exact) {
    gains_.split(fit, candidate.column, split_);
    if (slopes_.rule_out(candidate, split_, [&](const Candidate& c) { return hopeless(c, exact); })) return;
    const Gain gain = gain_of_split();
    exact.gains.push_back({candidate.column, scale_.standardised(gain.value, candidate.column)});
    if (!(exact.gains.back().value > exact.best)) return;
    exact.best = exact.gains.back().value;
    exact.best_column = candidate.column;
    exact.start = gains_.start(split_, gain);
  }

  Gain gain_of_split() {
    ++evaluated_;
    return gains_.gain(split_);
  }

  void assert_best(const CurrentFit& fit, std::span<const std::size_t> candidates, const Evaluated& exact) {
    for (const std::size_t j : candidates) {
      const bool known = std::ranges::any_of(exact.gains, [&](const Choice& c) { return c.column == j; });
      const double gain = known ? 0 : scale_.standardised(exact_gain(fit, j).value, j);
      if (gain > cut(exact) + 1e-12)
        throw std::logic_error("a skipped candidate was better than the chosen one");
    }
  }

  double n_;
  const Scale& scale_;
  const Settings& settings_;
  Gains gains_;
  SlopeBounds slopes_;
  Screen screen_;
  SplitCells split_;             // of the candidate in hand; kept for its memory
  std::vector<Candidate> open_;  // candidates of the step that nothing has ruled out yet
  std::int64_t evaluated_ = 0;
};

}  // namespace isinglass
