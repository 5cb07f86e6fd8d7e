// The answers of a block of packed rows to questions about them: see questions.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bits/cells.hpp"
#include "bits/table.hpp"
#include "counting/questions.hpp"
#include "counting/tiles.hpp"

namespace isinglass {

// One question, looked up in the arrays. What is not as it should be is refused: arrays may come from far.
class Question {
 public:
  Question(const QuestionArrays& all, std::span<const int> states, std::size_t at)
      : grouping(all.grouping[at]),
        chosen(part(all.chosen, all.chosen_begin, at)),
        listed(part(all.states, all.states_begin, at)),
        by(part(all.by, all.by_begin, at)) {
    std::size_t every = 0;
    for (const int m : states) every += static_cast<std::size_t>(m) - 1;
    if (grouping < 0) {
      first = number(all.range[3 * at], every + 1);
      last = number(all.range[3 * at + 1], every + 1);
      from = number(all.range[3 * at + 2], every + 1);
      if (last < first) throw_unknown();
      size = (last - first) * (every - from);
      return;
    }
    const std::size_t cells = number(all.cells[number(grouping, all.cells.size())], std::size_t{1} << 40);
    if (by.empty()) {
      if (chosen.size() != cells) throw_unknown();
      for (const std::int64_t state : listed) number(state, every);
      size = listed.empty() ? every : listed.size();
      return;
    }
    size = cells;
    for (const std::int64_t column : by)
      size *= static_cast<std::size_t>(states[number(column, states.size())]);
  }

  template <class T>
  static std::span<const T> part(std::span<const T> list, std::span<const std::int64_t> begin,
                                 std::size_t at) {
    if (at + 1 >= begin.size()) throw_unknown();
    const std::size_t first = number(begin[at], list.size() + 1),
                      last = number(begin[at + 1], list.size() + 1);
    if (last < first) throw_unknown();
    return list.subspan(first, last - first);
  }

  static std::size_t number(std::int64_t number, std::size_t below) {
    if (number < 0 || std::cmp_greater_equal(number, below)) throw_unknown();
    return static_cast<std::size_t>(number);
  }

  [[noreturn]] static void throw_unknown() {
    throw std::invalid_argument("a question that does not fit the table");
  }

  std::int64_t grouping;
  std::size_t first = 0, last = 0, from = 0;  // states
  std::span<const std::uint8_t> chosen;
  std::span<const std::int64_t> listed, by;
  std::size_t size = 0;  // of the answer
};

// How many numbers the answers to all questions are.
inline std::size_t size_of_answers(const QuestionArrays& questions, std::span<const int> states) {
  std::size_t size = 0;
  for (std::size_t at = 0; at < questions.size(); ++at) size += Question(questions, states, at).size;
  return size;
}

template <class Count>
class Answers {
 public:
  // Adds the counts of a block of rows to those that `out` has.
  Answers(const Table& rows, std::span<const int> states, const QuestionArrays& questions,
          std::span<Count> out)
      : rows_(rows), states_(states), questions_(questions), every_(rows.first(rows.columns())) {
    if (questions.range.size() != 3 * questions.size() ||
        questions.support_begin.size() != questions.cells.size() + 1)
      Question::throw_unknown();
    std::vector<std::vector<Place>> of_grouping(questions.cells.size());
    std::size_t next = 0;
    for (std::size_t at = 0; at < questions.size(); ++at) {
      const Question question(questions, states, at);
      if (question.size > out.size() - next) Question::throw_unknown();
      Count* const own = out.data() + next;
      next += question.size;
      if (question.grouping < 0)
        count_states(question, own);
      else
        of_grouping[static_cast<std::size_t>(question.grouping)].push_back({question, own});
    }
    const std::uint8_t* codes = questions.codes.data();
    std::size_t left = questions.codes.size();
    for (std::size_t g = 0; g < of_grouping.size(); ++g) {
      std::vector<std::size_t> support;
      for (const std::int64_t column : Question::part(questions.support, questions.support_begin, g))
        support.push_back(Question::number(column, states.size()));
      const auto cells = static_cast<std::size_t>(questions.cells[g]);
      if (!support.empty() && cells > left / support.size()) Question::throw_unknown();
      answer_about({support, codes, cells}, of_grouping[g]);
      codes += cells * support.size();
      left -= cells * support.size();
    }
    count_sets();
  }

 private:
  struct Place {
    Question question;
    Count* out;
  };

  struct Grouping {
    std::vector<std::size_t> support;
    const std::uint8_t* codes;
    std::size_t cells;

    // The number of a cell whose codes begin with those of the support.
    std::size_t find(const std::uint8_t* own) const {
      const std::size_t k = support.size();
      std::size_t low = 0, high = cells;
      while (low < high) {
        const std::size_t middle = (low + high) / 2;
        const int order = k ? std::memcmp(codes + middle * k, own, k) : 0;
        if (order == 0) return middle;
        order > 0 ? low = middle + 1 : high = middle;
      }
      throw std::invalid_argument("rows with a combination of states that was not there before");
    }
  };

  static constexpr std::size_t kSetsAtOnce = 256;

  void count_states(const Question& question, Count* out) {
    for (std::size_t begin = question.first; begin < question.last; begin += kSetsAtOnce) {
      const std::size_t end = std::min(begin + kSetsAtOnce, question.last);
      SetsInPlanes sets(rows_, end - begin);
      std::vector<Count*> to;
      for (std::size_t u = begin; u < end; ++u) {
        sets.add(rows_.row(u));
        to.push_back(out + (u - question.first) * (every_ - question.from));
      }
      count(sets, to, question.from);
    }
  }

  // Counts against all states from `from` on, each set's in a place of its own.
  void count(const SetsInPlanes& sets, const std::vector<Count*>& to, std::size_t from) {
    count_tiles(rows_, sets.rows(), from, every_,
                [&](std::size_t first, std::size_t states, const std::uint32_t* found) {
                  for (Count* const own : to)
                    for (std::size_t plane = 0; plane < rows_.planes(); ++plane, found += states)
                      for (std::size_t i = 0; i < states; ++i)
                        own[first - from + i] += static_cast<Count>(found[i]) << plane;
                });
  }

  void answer_about(const Grouping& grouping, const std::vector<Place>& places) {
    if (places.empty()) return;
    Cells cells(rows_, 0);
    cells.become(grouping.support);
    std::vector<std::size_t> numbers(cells.size());
    for (std::size_t s = 0; s < cells.size(); ++s) numbers[s] = grouping.find(codes_of(cells, s));
    for (const auto& [question, out] : places) {
      if (question.by.empty())
        take_set(cells, numbers, question, out);
      else if (question.by.size() == 1)
        count_cells(cells, numbers, static_cast<std::size_t>(question.by[0]), out);
      else
        count_parts(grouping, question, out);
    }
  }

  static const std::uint8_t* codes_of(const Cells& cells, std::size_t s) {
    return cells.counts().codes.data() + s * cells.support().size();
  }

  // Sets that are counted against all states wait for each other.
  void take_set(const Cells& cells, const std::vector<std::size_t>& numbers, const Question& question,
                Count* out) {
    std::vector<char> chosen(numbers.size());
    for (std::size_t s = 0; s < numbers.size(); ++s)
      chosen[s] = static_cast<char>(question.chosen[numbers[s]]);
    Words rows;
    cells.rows_of(chosen, rows);
    if (question.listed.empty()) {
      sets_.emplace_back(std::move(rows), out);
      if (sets_.size() == kSetsAtOnce) count_sets();
      return;
    }
    SetsInPlanes planes(rows_, 1);
    planes.add(rows.data());
    for (std::size_t i = 0; i < question.listed.size(); ++i)
      for (std::size_t plane = 0; plane < rows_.planes(); ++plane)
        out[i] +=
            static_cast<Count>(count_common(
                planes.rows()[plane], rows_.row(static_cast<std::size_t>(question.listed[i])), rows_.words()))
            << plane;
  }

  void count_sets() {
    SetsInPlanes planes(rows_, sets_.size());
    std::vector<Count*> to;
    for (const auto& [rows, out] : sets_) {
      planes.add(rows.data());
      to.push_back(out);
    }
    if (!sets_.empty()) count(planes, to, 0);
    sets_.clear();
  }

  void count_cells(const Cells& cells, const std::vector<std::size_t>& numbers, std::size_t column,
                   Count* out) const {
    const auto m = static_cast<std::size_t>(states_[column]);
    std::vector<double> counts;
    cells.split_counts(column, counts);
    for (std::size_t s = 0; s < numbers.size(); ++s)
      for (std::size_t c = 0; c < m; ++c) out[numbers[s] * m + c] += static_cast<Count>(counts[s * m + c]);
  }

  // Cells that are split by all columns but the last, by the states of that.
  void count_parts(const Grouping& grouping, const Question& question, Count* out) const {
    const auto target = static_cast<std::size_t>(question.by.back());
    std::vector<std::size_t> support = grouping.support;
    for (std::size_t i = 0; i + 1 < question.by.size(); ++i)
      support.push_back(static_cast<std::size_t>(question.by[i]));
    Cells parts(rows_, target);
    parts.become(support);
    for (std::size_t s = 0; s < parts.size(); ++s) {
      const std::uint8_t* codes = codes_of(parts, s);
      std::size_t at = grouping.find(codes);
      for (std::size_t i = grouping.support.size(); i < support.size(); ++i)
        at = at * static_cast<std::size_t>(states_[support[i]]) + codes[i];
      for (std::size_t a = 0; a < parts.width(); ++a)
        out[at * parts.width() + a] += static_cast<Count>(parts.count(s, static_cast<int>(a)));
    }
  }

  const Table& rows_;
  std::span<const int> states_;
  const QuestionArrays& questions_;
  std::size_t every_;  // states but the first of each column
  std::vector<std::pair<Words, Count*>> sets_;
};

}  // namespace isinglass
