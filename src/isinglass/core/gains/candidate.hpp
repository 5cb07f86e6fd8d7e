// What is known of a column that may become a neighbour.
#pragma once

#include <cstddef>

#include "gains/bounds.hpp"

namespace isinglass {

// Both numbers are log-likelihoods, not divided by n.
struct Candidate {
  std::size_t column;
  double bound = kNoBound;        // on what it can gain
  double promise = 0;             // a guess at that gain, or a number that is ordered as such guesses are
  double small_bound = kNoBound;  // on what its smaller form can gain, if it has one
  double small_promise = 0;
  double small_floor = 0;  // what it gains at least
  bool upgrade = false;    // it is a neighbour already, and may become a whole table
};

inline bool less_promising(const Candidate& a, const Candidate& b) { return a.promise < b.promise; }

}  // namespace isinglass
