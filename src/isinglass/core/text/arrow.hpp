// Arrow's C data interface, by which libraries of data frames lend their columns: three structures whose
// layout is fixed. See https://arrow.apache.org/docs/format/CDataInterface.html.
#pragma once

#include <cstdint>

namespace isinglass {

struct ArrowSchema {
  const char *format, *name, *metadata;
  std::int64_t flags, n_children;
  ArrowSchema **children, *dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray **children, *dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

// One of them that is ours to give back.
template <class Lent>
struct Borrowed : Lent {
  Borrowed() : Lent{} {}
  ~Borrowed() {
    if (this->release) this->release(this);
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
};

}  // namespace isinglass
