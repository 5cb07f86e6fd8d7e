// The missing cells of rows, drawn together given the cells that are seen.
//
// In a row, missing columns that touch each other in the graph have to be drawn together; others are
// independent once the seen cells are known. So a row falls into pieces. The columns of a piece are summed
// out one by one, each with the columns that it meets, and then drawn backwards: exactly, and as often as
// wanted for one summing out. A piece that would need too large a table is drawn by Gibbs sweeps instead.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "base/threads.hpp"
#include "sampling/gibbs.hpp"

namespace isinglass {

struct CompletionSettings {
  std::size_t draws;
  std::size_t most_cells;  // of a table of columns that are summed out together
  std::size_t sweeps;      // of a piece that has larger ones
};

// Draws the missing cells of one row after the other.
class Completion {
 public:
  Completion(const PairwiseModel& model, const CompletionSettings& settings)
      : model_(model), settings_(settings), place_(model.columns(), kSeen) {}

  // `row` holds a code per column, those from the number of states on are missing. Random numbers come from
  // a stream per draw and row, one for each missing cell in the order of columns. So the same cells meet the
  // same numbers whatever the model is. Returns whether all was exact.
  bool draw(std::span<const std::uint8_t> row, std::uint64_t seed, std::uint64_t stream, std::uint8_t* out,
            std::size_t step) {
    row_ = row;
    missing_.clear();
    for (std::size_t j = 0; j < row.size(); ++j)
      if (row[j] >= model_.states[j]) missing_.push_back(j);
    random_.clear();
    uniform_.clear();
    for (std::size_t d = 0; d < settings_.draws; ++d) {
      random_.emplace_back(splitmix64(seed, d), stream);
      for (std::size_t k = 0; k < missing_.size(); ++k) uniform_.push_back(random_[d].uniform());
    }
    for (std::size_t k = 0; k < missing_.size(); ++k) place_[missing_[k]] = static_cast<int>(k);
    taken_.assign(missing_.size(), false);
    drawn_.assign(settings_.draws * missing_.size(), 0);
    bool exact = true;
    for (std::size_t k = 0; k < missing_.size(); ++k) {
      if (taken_[k]) continue;
      gather(k);
      if (summed_out())
        draw_backwards();
      else {
        sweep();
        exact = false;
      }
    }
    for (std::size_t d = 0; d < settings_.draws; ++d)
      std::copy_n(drawn_.data() + d * missing_.size(), missing_.size(), out + d * step);
    for (const std::size_t j : missing_) place_[j] = kSeen;
    return exact;
  }

 private:
  static constexpr int kSeen = -1;

  // A column that was summed out: what it met, and where its cumulative probabilities stand.
  struct Summed {
    std::size_t at;                   // in the piece
    std::vector<std::size_t> others;  // in the piece; the first one changes slowest
    std::vector<double> below;        // for each combination of the others, all states but the last
  };
  struct Message {
    std::vector<std::size_t> about;  // in the piece
    std::vector<double> logs;        // the first one changes slowest
  };

  std::size_t states(std::size_t at) const {
    return static_cast<std::size_t>(model_.states[missing_[piece_[at]]]);
  }

  // The piece of a missing cell, and what its columns' neighbours say: of seen ones what they are, of missing
  // ones what their first state would say; the rest is left to `pull`.
  void gather(std::size_t first) {
    piece_.assign(1, first);
    taken_[first] = true;
    for (std::size_t at = 0; at < piece_.size(); ++at) {
      const std::size_t j = missing_[piece_[at]];
      if (model_.states[j] < 2) continue;
      for (auto e = begin(j); e < begin(j + 1); ++e)
        if (const int k = place_[other(e)]; speaks(e) && k != kSeen && !taken_[static_cast<std::size_t>(k)]) {
          taken_[static_cast<std::size_t>(k)] = true;
          piece_.push_back(static_cast<std::size_t>(k));
        }
    }
    std::ranges::sort(piece_);
    own_.resize(piece_.size());
    met_.assign(piece_.size(), {});
    for (std::size_t at = 0; at < piece_.size(); ++at) add_own(at);
  }

  void add_own(std::size_t at) {
    const std::size_t j = missing_[piece_[at]], others = states(at) - 1;
    std::vector<double>& own = own_[at];
    own.assign(others + 1, 0.0);
    for (std::size_t a = 0; a < others; ++a) own[a + 1] = model_.fields[index(model_.field_begin[j]) + a];
    if (others == 0) return;
    for (auto e = begin(j); e < begin(j + 1); ++e) {
      const int k = place_[other(e)];
      const std::size_t code = k == kSeen ? row_[other(e)] : 0;
      const double* table = &model_.tables[index(model_.table_begin[e])] + code * others;
      for (std::size_t a = 0; a < others; ++a) own[a + 1] += table[a];
      if (k != kSeen && speaks(e)) {
        const auto found = std::ranges::lower_bound(piece_, static_cast<std::size_t>(k));
        met_[at].push_back({static_cast<std::size_t>(found - piece_.begin()), e});
      }
    }
  }

  // What state b of a neighbour adds to state a, more than the first states do.
  double pull(std::size_t e, std::size_t others, std::size_t a, std::size_t b) const {
    if (a == 0 || b == 0) return 0.0;
    const double* table = &model_.tables[index(model_.table_begin[e])];
    return table[b * others + a - 1] - table[a - 1];
  }

  // Sums out the piece, the column that needs the smallest table first; false if one is too large.
  bool summed_out() {
    const std::size_t k = piece_.size();
    std::vector<std::vector<std::size_t>> touches(k);
    for (std::size_t at = 0; at < k; ++at)
      for (const Met& met : met_[at]) touches[at].push_back(met.at);
    for (auto& some : touches) std::ranges::sort(some);
    summed_.clear();
    messages_.clear();
    gone_.assign(k, false);
    for (std::size_t step = 0; step < k; ++step) {
      std::size_t best = k;
      double least = 0;
      for (std::size_t at = 0; at < k; ++at) {
        if (gone_[at]) continue;
        double size = static_cast<double>(states(at));
        for (const std::size_t other : touches[at]) size *= static_cast<double>(states(other));
        if (best == k || size < least) best = at, least = size;
      }
      if (least > static_cast<double>(settings_.most_cells)) return false;
      sum_out(best, touches[best]);
      take_out(best, touches);
    }
    return true;
  }

  // Those that met a column that is gone meet each other.
  void take_out(std::size_t at, std::vector<std::vector<std::size_t>>& touches) {
    gone_[at] = true;
    const std::vector<std::size_t> around = touches[at];
    for (const std::size_t one : around) {
      std::vector<std::size_t> with;
      std::ranges::set_union(touches[one], around, std::back_inserter(with));
      std::erase_if(with, [&](std::size_t other) { return other == one || other == at; });
      touches[one] = std::move(with);
    }
  }

  void sum_out(std::size_t at, const std::vector<std::size_t>& others) {
    const std::size_t m = states(at);
    std::size_t combinations = 1;
    for (const std::size_t other : others) combinations *= states(other);
    std::vector<const Message*> about;
    for (const Message& message : messages_)
      if (std::ranges::find(message.about, at) != message.about.end()) about.push_back(&message);
    Summed summed{at, others, std::vector<double>(combinations * (m - 1))};
    Message message{others, std::vector<double>(combinations)};
    std::vector<double> logs(m);
    codes_.assign(piece_.size(), 0);
    for (std::size_t c = 0; c < combinations; ++c) {
      spell(c, others);
      for (std::size_t a = 0; a < m; ++a) {
        codes_[at] = a;
        logs[a] = own_[at][a] + pulls(at, a, others);
        for (const Message* other : about) logs[a] += other->logs[number(other->about)];
      }
      message.logs[c] = cumulate(logs, summed.below.data() + c * (m - 1));
    }
    std::erase_if(messages_,
                  [&](const Message& old) { return std::ranges::find(old.about, at) != old.about.end(); });
    if (!others.empty()) messages_.push_back(std::move(message));
    summed_.push_back(std::move(summed));
  }

  // What those of its neighbours that are left add to a state.
  double pulls(std::size_t at, std::size_t a, const std::vector<std::size_t>& left) const {
    double sum = 0;
    for (const Met& met : met_[at])
      if (!gone_[met.at] && std::ranges::binary_search(left, met.at))
        sum += pull(met.entry, own_[at].size() - 1, a, codes_[met.at]);
    return sum;
  }

  // Cumulative probabilities of all states but the last, and the log of the sum.
  static double cumulate(const std::vector<double>& logs, double* below) {
    const double top = *std::ranges::max_element(logs);
    double total = 0;
    for (std::size_t a = 0; a < logs.size(); ++a) {
      total += std::exp(logs[a] - top);
      if (a + 1 < logs.size()) below[a] = total;
    }
    for (std::size_t a = 0; a + 1 < logs.size(); ++a) below[a] /= total;
    return std::log(total) + top;
  }

  // The codes of a combination, and its number.
  void spell(std::size_t combination, const std::vector<std::size_t>& columns) {
    for (std::size_t k = columns.size(); k-- > 0; combination /= states(columns[k]))
      codes_[columns[k]] = combination % states(columns[k]);
  }
  std::size_t number(const std::vector<std::size_t>& columns) const {
    std::size_t sum = 0;
    for (const std::size_t at : columns) sum = sum * states(at) + codes_[at];
    return sum;
  }

  void draw_backwards() {
    for (std::size_t d = 0; d < settings_.draws; ++d) {
      codes_.assign(piece_.size(), 0);
      for (std::size_t step = summed_.size(); step-- > 0;) {
        const Summed& summed = summed_[step];
        const std::size_t m = states(summed.at);
        const double* below = summed.below.data() + number(summed.others) * (m - 1);
        const double uniform = uniform_[d * missing_.size() + piece_[summed.at]];
        std::size_t a = 0;
        while (a + 1 < m && uniform >= below[a]) ++a;
        codes_[summed.at] = a;
      }
      for (std::size_t at = 0; at < piece_.size(); ++at)
        drawn_[d * missing_.size() + piece_[at]] = static_cast<std::uint8_t>(codes_[at]);
    }
  }

  // A chain per draw, begun with each column by itself.
  void sweep() {
    std::vector<double> logs, below;
    for (std::size_t d = 0; d < settings_.draws; ++d) {
      codes_.assign(piece_.size(), 0);
      for (std::size_t s = 0; s <= settings_.sweeps; ++s)
        for (std::size_t at = 0; at < piece_.size(); ++at) {
          const std::size_t m = states(at);
          const double uniform = s == 0 ? uniform_[d * missing_.size() + piece_[at]] : random_[d].uniform();
          logs.assign(m, 0.0);
          below.resize(m);
          for (std::size_t a = 0; a < m; ++a) {
            logs[a] = own_[at][a];
            for (const Met& met : met_[at])
              if (s > 0 || met.at < at) logs[a] += pull(met.entry, m - 1, a, codes_[met.at]);
          }
          cumulate(logs, below.data());
          std::size_t a = 0;
          while (a + 1 < m && uniform >= below[a]) ++a;
          codes_[at] = a;
        }
      for (std::size_t at = 0; at < piece_.size(); ++at)
        drawn_[d * missing_.size() + piece_[at]] = static_cast<std::uint8_t>(codes_[at]);
    }
  }

  static std::size_t index(std::int64_t number) { return static_cast<std::size_t>(number); }
  std::size_t begin(std::size_t j) const { return index(model_.neighbour_begin[j]); }
  std::size_t other(std::size_t e) const { return index(model_.neighbours[e]); }
  // A column of one state says nothing.
  bool speaks(std::size_t e) const { return model_.states[other(e)] > 1; }

  struct Met {
    std::size_t at;     // in the piece
    std::size_t entry;  // of the model's neighbours
  };

  const PairwiseModel& model_;
  CompletionSettings settings_;
  std::vector<int> place_;  // of each column among the missing ones of this row
  std::span<const std::uint8_t> row_;
  std::vector<std::size_t> missing_, piece_;
  std::vector<bool> taken_, gone_;
  std::vector<Xoshiro> random_;
  std::vector<double> uniform_;  // draws x missing
  std::vector<std::uint8_t> drawn_;
  std::vector<std::vector<double>> own_;
  std::vector<std::vector<Met>> met_;
  std::vector<std::size_t> codes_;  // of the piece
  std::vector<Summed> summed_;
  std::vector<Message> messages_;
};

struct Completed {
  std::vector<std::uint8_t> codes;  // draws x missing cells, row by row
  std::size_t rows_by_gibbs = 0;    // rows that were not drawn exactly
};

// Codes come row by row. Whatever the number of threads and the order of rows, a seed and a row's stream give
// the same codes. `watch` is called now and then with the rows done; if it returns false, the work is given
// up.
inline Completed complete_rows(const PairwiseModel& model, std::span<const std::uint8_t> codes,
                               std::span<const std::uint64_t> streams, const CompletionSettings& settings,
                               std::uint64_t seed, unsigned threads, const WatchWork& watch) {
  constexpr std::size_t kRows = 64;  // taken at a time
  const std::size_t p = model.columns(), rows = streams.size();
  std::vector<std::size_t> begin{0};
  for (std::size_t i = 0; i < rows; ++i) {
    std::size_t count = 0;
    for (std::size_t j = 0; j < p; ++j) count += codes[i * p + j] >= model.states[j];
    begin.push_back(begin.back() + count);
  }
  Completed found{std::vector<std::uint8_t>(settings.draws * begin.back())};
  threads = std::max(threads, 1u);
  std::vector<Completion> completions(threads, Completion(model, settings));
  std::atomic<bool> interrupted{false};
  std::atomic<std::size_t> by_gibbs{0}, done{0};
  const auto watch_rows = [&](std::size_t) { return watch(done); };
  share_out_watched((rows + kRows - 1) / kRows, threads, interrupted, watch_rows,
                    [&](std::size_t part, unsigned thread) {
                      const std::size_t last = std::min(rows, (part + 1) * kRows);
                      for (std::size_t i = part * kRows; i < last; ++i, ++done)
                        by_gibbs += !completions[thread].draw(codes.subspan(i * p, p), seed, streams[i],
                                                              found.codes.data() + begin[i], begin.back());
                    });
  found.rows_by_gibbs = by_gibbs;
  return found;
}

}  // namespace isinglass
