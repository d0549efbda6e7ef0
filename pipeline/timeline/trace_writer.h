// Writes one document of Chrome's trace format: the array of events alone, or an object with that
// array and other members around it.
//
// Members that come after the first event stand behind the array, because events may still follow:
// they are kept until the end, up to a bound.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pipeline/timeline/text_sink.h"

namespace trainwatch {

class TraceWriter {
 public:
  enum class Root : std::uint8_t { object, array };
  static constexpr std::size_t kMostLateBytes = std::size_t{8} << 20U;

  explicit TraceWriter(TextSink& out) : out_(out) {}

  // Before anything else.
  void begin(Root root);
  // `text` is `"key":value`. False: of an array, or beyond the bound; it is left out.
  bool member(std::string_view text);
  // One whole event.
  void event(std::string_view text);
  // The document is complete.
  void finish();

 private:
  void open_events();

  TextSink& out_;
  Root root_ = Root::object;
  bool in_events_ = false;
  bool first_ = true;  // nothing was written yet where commas separate
  std::string late_;   // members for behind the events, each after a comma
};

}  // namespace trainwatch
