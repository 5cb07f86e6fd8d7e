// Rows that are elsewhere: what searches ask for becomes questions to whoever holds them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "counting/gathering.hpp"
#include "counting/questions.hpp"

namespace isinglass {

// Searches that wait for each other, and then ask once.
class RemoteGathering : public Gathering, public CellAsker {
 public:
  RemoteGathering(const Table& table, const std::atomic<bool>& interrupted, const Holder& holder)
      : Gathering(table, interrupted), holder_(holder) {}

  CellAsker* asker() override { return this; }

  void ask(const Cells& cells, std::span<CellQuestion> questions) override {
    std::vector<CountRequest> requests;
    for (CellQuestion& question : questions) {
      std::size_t size = cells.size();
      for (const std::size_t column : question.by) size *= static_cast<std::size_t>(table().states(column));
      question.counts.resize(size);
      requests.push_back({{.cells = &cells}, nullptr, {}, question.by, question.counts.data()});
    }
    count(requests);
  }

  void count_some(std::span<const RowSet> sets, std::span<const std::size_t> states, double* out) override {
    std::vector<CountRequest> requests;
    for (const RowSet& set : sets) {
      requests.push_back({set, nullptr, states, {}, out});
      out += states.size();
    }
    if (!states.empty()) count(requests);
  }

 protected:
  void count_all(std::span<const CountRequest> requests) const override {
    Questions questions;
    const Cells* cells = nullptr;
    for (const CountRequest& request : requests) {
      const RowSet& set = request.set;
      if (set.cells && set.cells != cells) questions.group(set.cells->support(), set.cells->counts());
      if (set.cells) cells = set.cells;
      if (!set.cells)
        questions.add_states(set.state, set.state + 1, 0);
      else if (request.by.empty())
        questions.add_set(*set.chosen, request.states);
      else
        questions.add_cells(request.by);
    }
    const std::vector<std::uint64_t> answers = holder_(questions.arrays());
    const std::uint64_t* answer = answers.data();
    for (const CountRequest& request : requests) {
      std::size_t size = request.states.empty() ? states() : request.states.size();
      if (!request.by.empty()) {
        size = request.set.cells->size();
        for (const std::size_t column : request.by) size *= static_cast<std::size_t>(table().states(column));
      }
      request.some ? void(std::copy_n(answer, size, request.some))
                   : copy_counts(answer, size, this->size(), request.counts);
      answer += size;
    }
  }

 private:
  const Holder& holder_;
};

}  // namespace isinglass
