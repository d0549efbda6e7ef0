// Takes text as it is made, so that no document is ever whole in memory.
#pragma once

#include <string_view>

namespace trainwatch {

class TextSink {
 public:
  virtual ~TextSink() = default;
  // The text is valid during the call only.
  virtual void write(std::string_view text) = 0;
};

}  // namespace trainwatch
