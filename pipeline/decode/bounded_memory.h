// SPDX-License-Identifier: Apache-2.0
// Memory for what a decoder keeps of a file, limited in bytes. A limit on the number of values does
// not limit memory: an empty list takes one byte in a pickle and about a hundred in memory.
//
// Standard containers can report exhausted memory only by an exception. It is caught where the
// dump is read, and the dump is rejected.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <new>

namespace trainwatch {

class OverBudget final : public std::bad_alloc {
 public:
  const char* what() const noexcept override { return "more than a file may hold"; }
};

// Used by one thread. Must outlive everything allocated from it.
class BoundedMemory final : public std::pmr::memory_resource {
 public:
  explicit BoundedMemory(std::size_t most) : most_(most) {}

  std::size_t held() const { return held_; }

 private:
  // What malloc() adds to each piece.
  static std::size_t cost(std::size_t bytes) { return bytes + 16; }

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (bytes > most_ || cost(bytes) > most_ - held_) throw OverBudget();
    void* const made = std::pmr::new_delete_resource()->allocate(bytes, alignment);
    held_ += cost(bytes);
    return made;
  }
  void do_deallocate(void* made, std::size_t bytes, std::size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(made, bytes, alignment);
    held_ -= cost(bytes);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::size_t most_;
  std::size_t held_ = 0;
};

}  // namespace trainwatch
