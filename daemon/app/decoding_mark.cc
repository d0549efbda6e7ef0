// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/decoding_mark.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>

#include "pipeline/tail/file_handle.h"

namespace trainwatch {

// As it lies in the file.
struct DecodingMark::Slot {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint32_t length = 0;  // of the path; 0: nothing is marked
  std::array<char, PATH_MAX> path{};
};

DecodingMark::~DecodingMark() {
  if (slots_ != nullptr) ::munmap(slots_, threads_.size() * sizeof(Slot));
}

Result<std::vector<DecodingMark::Place>> DecodingMark::open(const std::string& directory) {
  const std::string path = directory + "/decoding";
  const std::size_t size = threads_.size() * sizeof(Slot);
  const auto failed = [&path](int error) { return Error{path + ": " + std::strerror(error)}; };
  const FileHandle file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return failed(errno);
  // All of it: a write to a hole would be fatal on a full disk.
  if (const int full = ::posix_fallocate(file.get(), 0, static_cast<off_t>(size)); full != 0)
    return failed(full);
  void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) return failed(errno);
  slots_ = static_cast<Slot*>(mapped);
  std::vector<Place> left;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    Slot& slot = slots_[i];
    const std::size_t length = std::min<std::size_t>(slot.length, slot.path.size());
    if (length > 0) left.push_back({std::string(slot.path.data(), length), slot.from, slot.to});
    slot.length = 0;
    threads_[i].slot = &slot;
  }
  return left;
}

void DecodingMark::Thread::begins(std::string_view path, std::uint64_t from, std::uint64_t to) {
  if (slot == nullptr) return;
  slot->from = from;
  slot->to = to;
  const std::size_t length = std::min(path.size(), slot->path.size());
  std::memcpy(slot->path.data(), path.data(), length);
  std::atomic_ref(slot->length)
      .store(static_cast<std::uint32_t>(length), std::memory_order_release);
}

void DecodingMark::Thread::ended() {
  if (slot != nullptr) std::atomic_ref(slot->length).store(0, std::memory_order_release);
}

}  // namespace trainwatch
