// Whether a text is JSON to the letter, as other programs want it. Decoders do not ask: they read
// what they need of a record and leave the rest of it unjudged.
#pragma once

#include <memory>
#include <string_view>

namespace trainwatch {

class JsonCheck {
 public:
  JsonCheck();
  ~JsonCheck();

  // False also for text that is not UTF-8, and for numbers that neither 64 bits nor a double hold.
  bool is_object(std::string_view text);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace trainwatch
