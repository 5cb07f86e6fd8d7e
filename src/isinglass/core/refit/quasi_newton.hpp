// Steps towards a minimum, with a curvature that is nearly right.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/vectors.hpp"

namespace isinglass {

// Steps towards a minimum with the inverse of a curvature that is nearly right, and with what the slopes at
// earlier steps have shown of the right one (Liu and Nocedal 1989).
class QuasiNewton {
 public:
  // The next move from where the slope is this; `multiply` is by the inverse.
  template <class Multiply>
  const std::vector<double>& move(const std::vector<double>& slope, const Multiply& multiply) {
    const std::size_t size = slope.size();
    if (!slope_.empty()) {
      std::vector<double> change = slope;
      add_multiple(change.data(), -1.0, slope_.data(), size);
      const double curvature = dot(change.data(), move_.data(), size);
      if (curvature > 0) seen_.push_back({move_, std::move(change), 1 / curvature, 0});
    }
    slope_ = move_ = slope;
    for (std::size_t k = seen_.size(); k-- > 0;) {
      seen_[k].share = seen_[k].scale * dot(seen_[k].move.data(), move_.data(), size);
      add_multiple(move_.data(), -seen_[k].share, seen_[k].change.data(), size);
    }
    move_ = multiply(move_);
    for (const Seen& seen : seen_)
      add_multiple(move_.data(), seen.share - seen.scale * dot(seen.change.data(), move_.data(), size),
                   seen.move.data(), size);
    for (double& number : move_) number = -number;
    return move_;
  }

 private:
  struct Seen {
    std::vector<double> move, change;  // and how the slope changed
    double scale, share;
  };
  std::vector<Seen> seen_;
  std::vector<double> slope_, move_;
};

}  // namespace isinglass
