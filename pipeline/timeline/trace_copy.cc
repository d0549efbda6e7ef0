// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/trace_copy.h"

namespace trainwatch {

void TraceWriter::begin(Root root) {
  root_ = root;
  if (root_ == Root::object) out_.write("{");
}

bool TraceWriter::member(std::string_view text) {
  if (root_ == Root::array) return false;
  if (in_events_) {
    if (late_.size() + text.size() > kMostLateBytes) return false;
    late_.append(",\n").append(text);
    return true;
  }
  out_.write(first_ ? "\n" : ",\n");
  out_.write(text);
  first_ = false;
  return true;
}

void TraceWriter::open_events() {
  if (root_ == Root::object) out_.write(first_ ? "\n\"traceEvents\": " : ",\n\"traceEvents\": ");
  out_.write("[");
  in_events_ = true;
  first_ = true;
}

void TraceWriter::event(std::string_view text) {
  if (!in_events_) open_events();
  out_.write(first_ ? "\n" : ",\n");
  out_.write(text);
  first_ = false;
}

void TraceWriter::finish() {
  if (!in_events_) open_events();
  out_.write("\n]");
  out_.write(late_);
  out_.write(root_ == Root::object ? "\n}\n" : "\n");
}

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

Rejection TraceCopy::record(std::string_view text) {
  if (!check_.is_object(text)) return RejectReason::syntax;
  ++events_;
  add(text);
  return std::nullopt;
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
