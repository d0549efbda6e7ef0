// SPDX-License-Identifier: Apache-2.0
// What each thread is decoding, known after the process has died of it: a file in the state
// directory, written through a mapping before bytes are decoded and cleared afterwards. It need not
// survive a power failure, after which the bytes are simply decoded again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/engine/decode_watch.h"
#include "trainwatch/result.h"

namespace trainwatch {

class DecodingMark {
 public:
  // Bytes of a file.
  struct Place {
    std::string path;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };

  // Marks nothing until it is opened.
  DecodingMark() = default;
  ~DecodingMark();
  DecodingMark(const DecodingMark&) = delete;
  DecodingMark& operator=(const DecodingMark&) = delete;

  // Call once, before other threads use this, with the directory locked. Returns what the last
  // process had marked when it ended. Fails if the file cannot be made.
  Result<std::vector<Place>> open(const std::string& directory);

  // Each for one thread.
  DecodeWatch& engine() { return threads_[0]; }
  DecodeWatch& reader() { return threads_[1]; }

 private:
  struct Slot;

  class Thread final : public DecodeWatch {
   public:
    void begins(std::string_view path, std::uint64_t from, std::uint64_t to) override;
    void ended() override;

    Slot* slot = nullptr;
  };

  std::array<Thread, 2> threads_;
  Slot* slots_ = nullptr;  // mapped; one for each thread
};

}  // namespace trainwatch
