// What is known of columns that may become neighbours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

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

// The candidates of a step that nothing has ruled out yet. While they are very many, the most promising
// alone is listed.
struct OpenCandidates {
  std::vector<Candidate> listed;    // in increasing order of their columns
  std::size_t more = 0;             // that are not listed
  std::vector<std::size_t> closed;  // columns that were taken out

  std::size_t size() const { return listed.size() + more; }
  bool empty() const { return size() == 0; }

  void clear() {
    listed.clear();
    closed.clear();
    more = 0;
  }

  // The most promising; something is listed whenever there is any.
  const Candidate& top() const { return *std::max_element(listed.begin(), listed.end(), less_promising); }

  Candidate take_top() {
    const Candidate taken = top();
    closed.push_back(taken.column);
    std::erase_if(listed, [&](const Candidate& candidate) { return candidate.column == taken.column; });
    return taken;
  }
};

}  // namespace isinglass
