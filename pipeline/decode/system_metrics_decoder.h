// SageMaker's system metrics: one JSON object a line, see specs of the Profiler. Every line is one
// Sample; where a line break was lost, objects may follow each other.
//
// A node writes the same few hundred series in the same order again and again, and of a line only
// two numbers change. So a line is first compared with the layout of the line that followed last
// time: when all of it but the two numbers is equal, the numbers are read and that is all. Any
// other line is parsed, in any order of keys and any spacing.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/decode/decoder.h"
#include "pipeline/decode/json_text.h"
#include "pipeline/decode/line_splitter.h"

namespace trainwatch {

// What a series measures, from its type, name and dimension.
Resource resource_of(std::string_view type, std::string_view name, std::string_view dimension);

class SystemMetricsDecoder final : public Decoder {
 public:
  explicit SystemMetricsDecoder(const FileContext& context) : context_(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch& out) override;
  void cut_back(std::size_t bytes) override { lines_.cut_back(bytes); }
  bool complete() const override { return false; }  // a file of lines has no end mark
  bool mid_record() const override { return lines_.mid_line(); }
  void state(StateIo& io) override;
  std::uint64_t records() const override { return records_; }

 private:
  // The constant parts of a line around its two numbers.
  struct Layout {
    std::string before;
    std::string between;
    std::string after;
    bool value_first = true;
    SeriesId series{};
    Resource resource = Resource::other;
    std::uint32_t next = 0;  // the layout of the line that followed last time
  };
  // The values of one line as raw tokens.
  struct Tokens {
    std::string_view type, name, dimension, node, value, timestamp;
  };
  using Refusal = std::optional<RejectReason>;

  void line(std::string_view text, EventBatch& out);
  void begun_line(EventBatch& out);
  void accept(const Sample& sample, EventBatch& out);
  bool read_expected(std::string_view text, Sample& sample);
  // The first object in the text; `size` is how much of it that takes.
  Refusal parse(std::string_view text, Sample& sample, std::size_t& size);
  // The layout of the series that these tokens name; a new series gets one.
  Refusal find_layout(const Tokens& tokens, std::uint32_t& number);
  Refusal make_series(const Tokens& tokens, Layout& layout);
  std::optional<SubjectId> subject_of(Symbol node, Symbol gpu);
  static void set_layout(std::string_view text, const Tokens& tokens, Layout& layout);

  const FileContext& context_;
  LineSplitter lines_;
  StringReader strings_;
  std::uint64_t records_ = 0;
  std::vector<Layout> layouts_;                                    // one per series
  std::uint32_t last_ = 0;                                         // the layout of the last line
  std::unordered_map<std::string, std::uint32_t> layout_of_name_;  // by the tokens as written
  std::string name_;  // reused: the name of the series of one line
  std::map<std::pair<Symbol, Symbol>, SubjectId> subjects_;  // by node and gpu
};

}  // namespace trainwatch
