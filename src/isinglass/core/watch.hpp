// Progress of work without Python's lock, and Ctrl-C on the way.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace nb = nanobind;

// Called from the waiting thread: shows progress, and sees to Ctrl-C.
class Watch {
 public:
  // `stop` makes whoever else is at work give up, if there is somebody.
  explicit Watch(nb::object progress, nb::object stop = nb::none())
      : progress_(std::move(progress)), stop_(std::move(stop)) {}

  bool operator()(std::size_t done) {
    const nb::gil_scoped_acquire gil;
    if (failed_) return false;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!progress_.is_none()) progress_(done);
    } catch (nb::python_error& error) {
      failed_ = std::make_unique<nb::python_error>(std::move(error));
      if (!stop_.is_none()) stop_();
      return false;
    }
    return true;
  }

  void rethrow() {
    if (failed_) throw std::move(*failed_);
  }

 private:
  nb::object progress_, stop_;
  std::unique_ptr<nb::python_error> failed_;
};
