#include "pipeline/timeline/trace_copy.h"

namespace trainwatch {

void TraceCopy::begin() {
  if (begun_ || mover_ != nullptr) return;
  begun_ = true;
  const bool object = splitter_.object_root();
  writer_.begin(object ? TraceWriter::Root::object : TraceWriter::Root::array);
}

void TraceCopy::add(std::string_view event) {
  begin();
  writer_.event(mover_ != nullptr ? mover_->move(event) : event);
}

void TraceCopy::record(std::string_view text) {
  if (!check_.is_object(text)) return rejected(RejectReason::syntax, text);
  ++events_;
  add(text);
}

void TraceCopy::member(std::string_view key, std::string_view value) {
  begin();
  text_.assign("{\"").append(key).append("\": ").append(value).append("}");
  if (!check_.is_object(text_)) return rejected(RejectReason::syntax, text_);
  const std::string_view member = std::string_view(text_).substr(1, text_.size() - 2);
  if (!(mover_ != nullptr ? keep_apart(member) : writer_.member(member)))
    rejected(RejectReason::too_long, text_);
}

bool TraceCopy::keep_apart(std::string_view member) {
  if (members_.size() + member.size() > TraceWriter::kMostLateBytes) return false;
  if (!members_.empty()) members_ += ", ";
  members_ += member;
  return true;
}

void TraceCopy::rejected(RejectReason, std::string_view) {
  ++left_out_;
}

void TraceCopy::finish() {
  splitter_.finish(*this);
  begin();
}

}  // namespace trainwatch
