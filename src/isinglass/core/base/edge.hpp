// The form of an edge: how many parameters it has, and where they stand.
//
// A whole table: a neighbour of m states has m - 1 features, one for each state but the first, and each
// feature has a parameter for each of the target's states but the first. Whatever depends on that asks here:
// the scale on which gains are compared (degrees of freedom), refits, removal costs, deviances, flat results,
// group penalties. Smaller forms are in base/forms.hpp: refits sum slopes and curvatures in the numbers of
// whole tables, and then go over to the parameters that these are made of.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace isinglass {

// Features of a column of so many states in the design of a column that it is a neighbour of.
constexpr std::size_t edge_features(int states) { return static_cast<std::size_t>(states) - 1; }

// Parameters of a feature, or of the field: what can be distinguished in a target of so many states.
constexpr std::size_t target_parameters(int target_states) {
  return static_cast<std::size_t>(target_states) - 1;
}

constexpr std::size_t degrees_of_freedom(int target_states, int states) {
  return target_parameters(target_states) * edge_features(states);
}

// Orthonormal contrasts of m states, an m x (m - 1) matrix whose columns sum to zero.
inline std::vector<double> zero_sum_contrasts(std::size_t m) {
  std::vector<double> basis(m * (m - 1), 0.0);
  for (std::size_t k = 1; k < m; ++k)
    for (std::size_t i = 0; i <= k; ++i)
      basis[i * (m - 1) + k - 1] =
          (i < k ? -1.0 : static_cast<double>(k)) / std::sqrt(static_cast<double>(k * (k + 1)));
  return basis;
}

// Features of a field and some edges, one after another: feature 0 is the field.
class Design {
 public:
  explicit Design(std::span<const int> states) : first_{1} {
    for (const int m : states) first_.push_back(first_.back() + edge_features(m));
  }

  std::size_t edges() const { return first_.size() - 1; }
  std::size_t features() const { return first_.back(); }
  // Where those of an edge begin, and how many they are.
  std::size_t first(std::size_t edge) const { return first_[edge]; }
  std::size_t features_of(std::size_t edge) const { return first_[edge + 1] - first_[edge]; }

 private:
  std::vector<std::size_t> first_;
};

}  // namespace isinglass
