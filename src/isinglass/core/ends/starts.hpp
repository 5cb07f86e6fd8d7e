// Where the fits of a graph may start: from what the searches of single columns have found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/forms.hpp"

namespace isinglass {

// Numbers in the zero-sum gauge. For each column, where its field begins; for both ends of each edge, where
// its table begins, row by row, and whether it is the other end's, with that one's states in the rows. -1
// stands for nothing, and so do no numbers at all.
struct Starts {
  std::span<const double> numbers;
  std::span<const std::int64_t> fields, tables;
  std::span<const std::uint8_t> turned;

  bool of_column(std::size_t r) const { return r < fields.size() && fields[r] >= 0; }

  // Whether the k-th end of an edge chose it by its own search.
  bool chose(std::size_t e, std::size_t k) const { return tables[2 * e + k] >= 0 && !turned[2 * e + k]; }

  // The field of a column of so many states, against its first one.
  std::vector<double> field(std::size_t r, std::size_t states) const {
    const double* centred = &numbers[static_cast<std::size_t>(fields[r])];
    std::vector<double> found;
    for (std::size_t a = 1; a < states; ++a) found.push_back(centred[a] - centred[0]);
    return found;
  }

  // Appends the parameters of the k-th end of an edge, whose column and neighbour have so many states, and
  // adds to the field what the neighbour's first state does.
  void append(std::size_t e, std::size_t k, std::size_t states, std::size_t of_neighbour,
              const SmallDesign* small, std::vector<double>& field, std::vector<double>& parameters) const {
    const std::int64_t begin = tables[2 * e + k];
    const auto number = [&](std::size_t a, std::size_t c) {
      const std::size_t at = turned[2 * e + k] ? c * states + a : a * of_neighbour + c;
      return begin < 0 ? 0.0 : numbers[static_cast<std::size_t>(begin) + at];
    };
    std::vector<double> table;
    for (std::size_t c = 0; c < of_neighbour; ++c)
      for (std::size_t a = 1; a < states; ++a) {
        const double against_first = number(a, c) - number(0, c);
        if (c == 0)
          field[a - 1] += against_first;
        else
          table.push_back(against_first - (number(a, 0) - number(0, 0)));
      }
    if (!small) {
      parameters.insert(parameters.end(), table.begin(), table.end());
      return;
    }
    const std::size_t before = parameters.size();
    parameters.resize(before + small->size);
    small->project(table.data(), &parameters[before]);
  }
};

}  // namespace isinglass
