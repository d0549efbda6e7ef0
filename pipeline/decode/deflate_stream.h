// Writes one gzip member as a stream, the counterpart of InflateStream.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace trainwatch {

class DeflateStream {
 public:
  // Gets the compressed bytes in order; each piece is valid during the call only.
  using Take = std::function<void(std::string_view)>;

  explicit DeflateStream(Take take);
  ~DeflateStream();

  void write(std::string_view contents);
  // The contents are complete: the trailer follows. Once, and last.
  void finish();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace trainwatch
