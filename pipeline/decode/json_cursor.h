// Reads the members of one complete JSON record front to back, as raw text and without copying.
//
// Tolerant where writers are known to be wrong (bare N/A, NaN or inf, nothing at all as a value, a
// comma too many), and only as far as it is asked: what nobody reads is not judged. It never looks
// outside its text. Nesting is counted, not recursed into.
#pragma once

#include <string_view>

namespace trainwatch {

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : p_(text.data()), end_(p_ + text.size()) {}

  // Steps into the object that stands here. False: there is none.
  bool enter();

  // The next key of the object stepped into last; its value must be consumed before the next call.
  // False at the end of that object, which is left, or when the text is broken: see failed().
  bool next(std::string_view& key);

  // Consumes the value of the current key. Strings come with their quotes, see json_text.h; objects
  // and arrays whole; a missing value is "".
  std::string_view value();

  // Nothing but white space is left.
  bool at_end();

  bool at_object() const { return p_ != end_ && *p_ == '{'; }
  bool failed() const { return failed_; }
  // It failed only because the text ended too early.
  bool ran_out() const { return ran_out_; }

 private:
  void skip_space();
  bool skip_string();  // p_ stands on the opening quote
  bool skip_nested();  // p_ stands on { or [
  bool fail(bool at_end = false) {
    failed_ = true;
    ran_out_ = at_end;
    return false;
  }

  const char* p_;
  const char* end_;
  bool first_ = true;  // no member of the current object was read yet
  bool failed_ = false;
  bool ran_out_ = false;
};

}  // namespace trainwatch
