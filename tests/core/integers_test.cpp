// Integers to codes, in every layout, against a sorted list of the values.
#include <limits>
#include <map>

#include "bits/integers.hpp"
#include "core_test.hpp"

namespace core_test {
namespace {

using namespace isinglass;

// Beside factors: the values themselves, by column.
void codes_count_the_values(const Factors& factors, const std::vector<std::vector<std::int64_t>>& columns) {
  check(factors.fits, "the values fit");
  for (std::size_t j = 0; j < columns.size(); ++j) {
    std::map<std::int64_t, std::int64_t> rows;
    for (const std::int64_t value : columns[j]) ++rows[value];
    check(factors.least[j] == rows.begin()->first, "the smallest value");
    std::array<std::int64_t, 256> counts{};
    std::map<std::int64_t, std::size_t> number;
    for (const auto& [value, count] : rows) {
      counts[static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(factors.least[j])] = count;
      number.emplace(value, number.size());
    }
    check(factors.counts[j] == counts, "rows of each value");
    for (std::size_t i = 0; i < columns[j].size(); ++i)
      check(factors.codes[j * columns[j].size() + i] == number[columns[j][i]],
            "codes count the values that occur");
  }
}

template <class Value>
void codes_count_the_values(const IntegerTable<Value>& table) {
  std::vector<std::vector<std::int64_t>> columns(table.columns);
  for (std::size_t j = 0; j < table.columns; ++j)
    for (std::size_t i = 0; i < table.rows; ++i) columns[j].push_back(*table.cell(i, j));
  codes_count_the_values(factorise_integers(table, 2), columns);
}

// Both layouts, every other row and column, and both directions.
template <class Value>
void every_layout(const std::vector<Value>& data, std::size_t rows, std::size_t columns) {
  const auto r = static_cast<std::int64_t>(rows), c = static_cast<std::int64_t>(columns);
  codes_count_the_values(IntegerTable<Value>{data.data(), rows, columns, c, 1});
  codes_count_the_values(IntegerTable<Value>{data.data(), rows, columns, 1, r});
  codes_count_the_values(IntegerTable<Value>{data.data(), (rows + 1) / 2, columns, 2 * c, 1});
  codes_count_the_values(IntegerTable<Value>{data.data(), rows, (columns + 1) / 2, c, 2});
  codes_count_the_values(IntegerTable<Value>{data.data() + (r - 1) * c, rows, columns, -c, 1});
  codes_count_the_values(IntegerTable<Value>{data.data() + r * c - 1, rows, columns, -1, -r});
}

template <class Value>
void values_from(Value least, std::size_t span, std::size_t step) {
  Random random(21);
  for (const auto& [rows, columns] :
       {std::pair<std::size_t, std::size_t>{1, 1}, {5, 3}, {20, 70}, {600, 2}}) {
    std::vector<Value> data;
    for (std::size_t k = 0; k < rows * columns; ++k)
      data.push_back(static_cast<Value>(least + static_cast<Value>(step * random.below(span))));
    every_layout(data, rows, columns);
  }
}

template <class Value>
void every_kind_of_value() {
  using Limits = std::numeric_limits<Value>;
  values_from<Value>(Limits::min(), 2, 1);
  values_from<Value>(Limits::max(), 1, 1);
  values_from<Value>(static_cast<Value>(Limits::max() - 1), 2, 1);
  values_from<Value>(3, 5, 1);
  values_from<Value>(3, 4, 30);
  values_from<Value>(0, 2, 100);
}

template <class Value>
bool fits(std::initializer_list<Value> column) {
  return factorise_integers(IntegerTable<Value>{column.begin(), column.size(), 1, 1, 1}, 1).fits;
}

void at_most_256_values() {
  values_from<std::int16_t>(-128, 256, 1);
  values_from<std::int8_t>(std::numeric_limits<std::int8_t>::min(), 128, 1);
  values_from<std::uint8_t>(0, 256, 1);
  using Limits = std::numeric_limits<std::int64_t>;
  check(fits<std::int64_t>({-5, 250}), "256 values fit");
  check(!fits<std::int64_t>({-5, 251}), "257 values do not");
  check(!fits<std::int64_t>({Limits::min(), Limits::max()}), "all values do not");
  check(fits<std::int8_t>({-128, 127}), "a byte always fits");
}

}  // namespace

void test_integers() {
  every_kind_of_value<std::int8_t>();
  every_kind_of_value<std::uint8_t>();
  every_kind_of_value<std::int16_t>();
  every_kind_of_value<std::int32_t>();
  every_kind_of_value<std::int64_t>();
  at_most_256_values();
}

}  // namespace core_test
