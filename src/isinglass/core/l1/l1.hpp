// One regression under an l1 penalty, or a group penalty, along a path of penalties.
//
// `Problem` is a loss of blocks of parameters: one block for each column, and last the field, which
// bears no penalty. At each penalty a quadratic model of the loss is minimised over the columns that
// matter, again and again (proximal Newton). Three things make it quick: the fit at the last penalty
// is the start; columns that the sequential strong rule (Tibshirani et al. 2012) sets aside are looked
// at only when all is done, and let in if it was wrong; curvatures are computed for columns in use
// only, and kept as long as they serve.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <vector>

#include "l1/quadratic.hpp"

namespace isinglass {

struct L1Fit {
  double loss = 0;                          // plain: without the penalty
  double distance = 0;                      // from optimality, relative to the penalty
  std::vector<std::size_t> support;         // columns, in order
  std::vector<std::vector<double>> blocks;  // of the support, then the field
};

template <class Problem>
class L1Path {
 public:
  L1Path(Problem& problem, double tolerance, const std::atomic<bool>& interrupted)
      : problem_(problem), tolerance_(tolerance), interrupted_(interrupted) {
    const std::size_t blocks = problem.columns() + 1;
    coef_.resize(blocks);
    slope_.resize(blocks);
    modelled_.assign(blocks, 0);
    for (std::size_t t = 0; t < blocks; ++t) {
      coef_[t].assign(problem.size(t), 0.0);
      slope_[t].assign(problem.size(t), 0.0);
    }
    start_near();
    solve_near(1.0);
    look_at_rest();
  }

  // The smallest penalty at which every column is left out.
  double largest_penalty() const {
    double most = 0;
    for (std::size_t t = 0; t < field(); ++t)
      if (problem_.size(t) > 0) most = std::max(most, norm(slope_[t]) / problem_.weight(t));
    return most;
  }

  // Fits at penalties that fall; those after an interruption are missing.
  std::vector<L1Fit> run(std::span<const double> penalties) {
    std::vector<L1Fit> fits;
    double before = largest_penalty();
    for (const double penalty : penalties) {
      if (interrupted_) break;
      fits.push_back(solve(penalty, before));
      before = std::min(before, penalty);
    }
    return fits;
  }

 private:
  static constexpr int kSteps = 200;
  static constexpr double kFarthest = 500;
  static constexpr double kSlow = 0.1;  // a step that leaves more of the distance calls for new curvatures

  std::size_t field() const { return problem_.columns(); }
  double pull(double penalty, std::size_t t) const { return penalty * problem_.weight(t); }
  bool pushes(std::size_t t, double limit) const {
    return problem_.size(t) > 0 && norm(slope_[t]) > pull(limit, t);
  }

  L1Fit solve(double penalty, double before) {
    const double cut = std::max(2 * penalty - before, 0.8 * penalty);
    start_near();
    for (std::size_t t = 0; t < field(); ++t)
      if (norm(coef_[t]) > 0 || pushes(t, cut)) bring_near(t);
    L1Fit fit;
    for (bool wrong = true; wrong && !interrupted_ && !runs_away();) {
      fit.distance = solve_near(penalty);
      look_at_rest();
      wrong = false;
      for (std::size_t t = 0; t < field(); ++t)
        if (!is_near_[t] && pushes(t, (1 + tolerance_) * penalty)) wrong = bring_near(t);
    }
    fit.loss = problem_.loss();
    for (std::size_t t = 0; t < field(); ++t)
      if (norm(coef_[t]) > 0) {
        fit.support.push_back(t);
        fit.blocks.push_back(coef_[t]);
      }
    fit.blocks.push_back(coef_[field()]);
    return fit;
  }

  // The field, and what the model knows: its slopes must be up to date.
  void start_near() {
    near_.clear();
    is_near_.assign(field() + 1, 0);
    for (const std::size_t t : in_model_) bring_near(t);
    if (!is_near_[field()]) bring_near(field());
  }

  bool bring_near(std::size_t t) {
    is_near_[t] = 1;
    near_.push_back(t);
    return true;
  }

  // Whether a number is so large that no table can ask for it: where columns separate, some losses fall
  // faster than any penalty rises.
  bool runs_away() const {
    return std::ranges::any_of(near_, [&](std::size_t t) { return !(norm(coef_[t]) < kFarthest); });
  }

  // Minimises over the near columns; returns the distance left.
  double solve_near(double penalty) {
    double last = 0;
    for (int i = 0;; ++i) {
      double now = look(penalty);
      if (i > 0 && !(now <= 0.5 * last) && shorten(penalty)) {
        now = look(penalty);
        last = 0;
      }
      if (now <= tolerance_ || i == kSteps || interrupted_ || runs_away()) return now;
      if (model_.blocks() == 0 || (i > 0 && now > kSlow * last)) renew();
      step(penalty, now);
      last = now;
    }
  }

  // Slopes of the near columns, and the farthest distance from optimality, relative to the penalty.
  double look(double penalty) {
    problem_.look();
    double most = 0;
    for (const std::size_t t : near_) {
      problem_.slope(t, slope_[t].data());
      most = std::max(most, distance(slope_[t], coef_[t], pull(penalty, t)) / scale(penalty, t));
    }
    return most;
  }

  void look_at_rest() {
    for (std::size_t t = 0; t < field(); ++t)
      if (!is_near_[t] && problem_.size(t) > 0) problem_.slope(t, slope_[t].data());
  }

  double scale(double penalty, std::size_t t) const { return t == field() ? penalty : pull(penalty, t); }

  // From here on curvatures are those of the present fit.
  void renew() {
    problem_.hold();
    model_.clear();
    in_model_.clear();
    std::fill(modelled_.begin(), modelled_.end(), 0);
  }

  // To the minimum of the model.
  void step(double penalty, double now) {
    for (const std::size_t t : near_)
      if (!modelled_[t] && problem_.size(t) > 0 && (t == field() || norm(coef_[t]) > 0 || pushes(t, penalty)))
        join_model(t);
    for (std::size_t i = 0; i < in_model_.size(); ++i) {
      const std::size_t t = in_model_[i];
      model_.block(i).penalty = pull(penalty, t);
      model_.block(i).scale = scale(penalty, t);
      std::copy(coef_[t].begin(), coef_[t].end(), model_.x(i).begin());
      std::copy(slope_[t].begin(), slope_[t].end(), model_.slope(i).begin());
    }
    model_.minimise(std::max(1e-2 * now, 0.1 * tolerance_));
    problem_.remember();
    before_.resize(in_model_.size());
    std::vector<double> change;
    for (std::size_t i = 0; i < in_model_.size(); ++i) {
      std::vector<double>& coef = coef_[in_model_[i]];
      const std::span<const double> x = model_.x(i);
      change.assign(x.begin(), x.end());
      for (std::size_t k = 0; k < coef.size(); ++k) change[k] -= coef[k];
      before_[i] = coef;
      coef.assign(x.begin(), x.end());
      if (norm(change) > 0) problem_.move(in_model_[i], change.data());
    }
  }

  void join_model(std::size_t t) {
    modelled_[t] = 1;
    in_model_.push_back(t);
    model_.add(problem_.size(t),
               [&](std::size_t i, double* out) { problem_.curvature(t, in_model_[i], out); });
  }

  // If the last step went uphill it is halved until it does not; whether it was.
  bool shorten(double penalty) {
    double here = problem_.remembered_loss();
    for (std::size_t i = 0; i < in_model_.size(); ++i) here += pull(penalty, in_model_[i]) * norm(before_[i]);
    for (int halvings = 0; halvings < 60; ++halvings) {
      double there = problem_.loss();
      for (const std::size_t t : in_model_) there += pull(penalty, t) * norm(coef_[t]);
      if (there <= here + 1e-13 * (1 + std::abs(here))) return halvings > 0;
      problem_.halve();
      for (std::size_t i = 0; i < in_model_.size(); ++i)
        for (std::size_t k = 0; k < before_[i].size(); ++k)
          coef_[in_model_[i]][k] = 0.5 * (coef_[in_model_[i]][k] + before_[i][k]);
    }
    return true;
  }

  Problem& problem_;
  double tolerance_;
  const std::atomic<bool>& interrupted_;
  std::vector<std::vector<double>> coef_, slope_;  // of every column, then of the field
  std::vector<std::size_t> near_;                  // columns looked at in every step, and the field
  std::vector<char> is_near_, modelled_;
  Quadratic model_;
  std::vector<std::size_t> in_model_;        // the model's blocks, which are all near
  std::vector<std::vector<double>> before_;  // their parameters before the last step
};

}  // namespace isinglass
