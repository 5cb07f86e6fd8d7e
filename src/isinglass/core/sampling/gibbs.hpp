// Gibbs sampling of a pairwise model: many chains, each with random numbers of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "base/threads.hpp"

namespace isinglass {

// Log-odds of each state of a column against its first. What column i adds by itself stands in
// `fields` from field_begin[i], one number for each state but the first. Its neighbours are numbers
// neighbour_begin[i] to neighbour_begin[i + 1] of `neighbours`; what number e adds stands in `tables`
// from table_begin[e], one row for each state of the neighbour.
struct PairwiseModel {
  std::span<const std::int32_t> states;
  std::span<const std::int64_t> field_begin;
  std::span<const double> fields;
  std::span<const std::int64_t> neighbour_begin;
  std::span<const std::int64_t> neighbours;
  std::span<const std::int64_t> table_begin;
  std::span<const double> tables;

  std::size_t columns() const { return states.size(); }
};

struct Schedule {
  std::size_t chains;
  std::size_t burn_in;  // sweeps before the first draw
  std::size_t thin;     // sweeps from one draw to the next
  std::size_t draws;    // kept of each chain
};

// One chain. It starts from states drawn evenly; a sweep draws every column once, in order, given
// the present states of its neighbours.
class GibbsChain {
 public:
  GibbsChain(const PairwiseModel& model, std::uint64_t seed, std::uint64_t stream)
      : model_(model), random_(seed, stream) {
    std::int32_t most = 1;
    for (const std::int32_t m : model.states) {
      most = std::max(most, m);
      present_.push_back(static_cast<std::uint8_t>(random_.uniform() * m));
    }
    odds_.resize(static_cast<std::size_t>(most));
  }

  void sweep() {
    for (std::size_t i = 0; i < present_.size(); ++i)
      if (model_.states[i] == 2)
        present_[i] = random_.uniform() * (1 + std::exp(-log_odds(i))) < 1;
      else if (model_.states[i] > 2)
        present_[i] = draw_of_many(i);
  }

  std::span<const std::uint8_t> present() const { return present_; }

 private:
  // The second of two states against the first.
  double log_odds(std::size_t i) const {
    double sum = model_.fields[at(model_.field_begin[i])];
    for (auto e = at(model_.neighbour_begin[i]); e < at(model_.neighbour_begin[i + 1]); ++e)
      sum += model_.tables[at(model_.table_begin[e]) + present_[at(model_.neighbours[e])]];
    return sum;
  }

  std::uint8_t draw_of_many(std::size_t i) {
    const auto others = at(model_.states[i]) - 1;
    odds_[0] = 0;
    for (std::size_t k = 0; k < others; ++k) odds_[k + 1] = model_.fields[at(model_.field_begin[i]) + k];
    for (auto e = at(model_.neighbour_begin[i]); e < at(model_.neighbour_begin[i + 1]); ++e) {
      const std::size_t row = at(model_.table_begin[e]) + present_[at(model_.neighbours[e])] * others;
      for (std::size_t k = 0; k < others; ++k) odds_[k + 1] += model_.tables[row + k];
    }
    const double top = *std::max_element(odds_.begin(), odds_.begin() + model_.states[i]);
    double total = 0;
    for (std::size_t k = 0; k <= others; ++k) total += odds_[k] = std::exp(odds_[k] - top);
    double rest = random_.uniform() * total;
    std::size_t k = 0;
    while (k < others && (rest -= odds_[k]) >= 0) ++k;
    return static_cast<std::uint8_t>(k);
  }

  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

  const PairwiseModel& model_;
  Xoshiro random_;
  std::vector<std::uint8_t> present_;
  std::vector<double> odds_;
};

// Codes, column by column; row d * chains + c is draw d of chain c. Whatever the number of threads,
// a seed gives the same codes. `watch` is called now and then with the number of chains done; if it
// returns false, the work is given up.
inline std::vector<std::uint8_t> gibbs_sample(const PairwiseModel& model, const Schedule& schedule,
                                              std::uint64_t seed, unsigned threads,
                                              const std::function<bool(std::size_t)>& watch) {
  const std::size_t rows = schedule.chains * schedule.draws;
  std::vector<std::uint8_t> codes(rows * model.columns());
  std::atomic<bool> interrupted{false};
  const auto run_chain = [&](std::size_t number) {
    GibbsChain chain(model, seed, number);
    const auto sweeps = [&](std::size_t count) {
      for (std::size_t s = 0; s < count && !interrupted; ++s) chain.sweep();
    };
    sweeps(schedule.burn_in);
    for (std::size_t draw = 0; draw < schedule.draws && !interrupted; ++draw) {
      sweeps(schedule.thin);
      const auto present = chain.present();
      for (std::size_t j = 0; j < present.size(); ++j)
        codes[j * rows + draw * schedule.chains + number] = present[j];
    }
  };
  share_out_watched(schedule.chains, std::max(threads, 1u), interrupted, watch,
                    [&](std::size_t number, unsigned) { run_chain(number); });
  return codes;
}

}  // namespace isinglass
