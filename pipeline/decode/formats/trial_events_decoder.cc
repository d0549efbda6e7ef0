// SPDX-License-Identifier: Apache-2.0
// Event files of a trial (SageMaker Debugger): one per saved step and worker, with a record for
// each tensor. Each goes to the TensorSink; a loss is a Scalar as well, so that the rules on losses
// have it. Step and mode are in the record, the worker is in the name of the file:
// `events/000000000004/000000000004_worker_0.tfevents`.
//
// Which collections a tensor is in is read from the trial's collections when the first tensor
// comes: its writer leaves them before the first step.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/decode/event_file/record_file.h"
#include "pipeline/decode/event_file/tensor_collections.h"
#include "pipeline/decode/event_file/tensor_event.h"
#include "pipeline/decode/format.h"
#include "pipeline/decode/path_metadata.h"
#include "trainwatch/tensor.h"

namespace trainwatch {
namespace {

// Records above this are read as they come; below it, they are kept until they are whole, so that
// behind a damaged one the next is found.
constexpr std::size_t kMostKept = std::size_t{4} << 10U;
constexpr std::string_view kReductionPrefix = "smdebug/reductions/";
constexpr std::string_view kLosses = "losses";

bool mentions_loss(std::string_view name) {
  constexpr std::string_view kLoss = "loss";
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return std::search(name.begin(), name.end(), kLoss.begin(), kLoss.end(), same) != name.end();
}

class TrialEventsDecoder final : public Decoder, private LongPayload {
 public:
  explicit TrialEventsDecoder(const FileContext& context) : context_(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch& out) override;
  void cut_back(std::size_t bytes) override { splitter_.cut_back(bytes); }
  bool complete() const override { return false; }  // nothing marks the end
  bool mid_record() const override { return splitter_.mid_record(); }
  void state(StateIo& io) override;
  std::size_t unsaved_bytes() const override { return collections_ ? collections_->bytes() : 0; }
  std::uint64_t records() const override { return splitter_.records(); }
  ByteAccount bytes() const override {
    ByteAccount all = splitter_.bytes();
    if (finished_) all.skipped += splitter_.waiting();
    return all;
  }

 private:
  void begin(std::uint64_t bytes) override { reader_.begin(bytes, wants_tensors()); }
  void piece(std::string_view bytes) override { reader_.add(bytes); }
  bool end() override { return deliver(*out_); }

  bool wants_tensors() const {
    return context_.tensors != nullptr && context_.tensors->wants_tensors();
  }
  bool deliver(EventBatch& out);
  Rejection use(EventBatch& out);
  std::optional<Time> time() const;
  bool find_subject();
  void find_collections();
  void emit_loss(const Tensor& tensor, bool timed, EventBatch& out);

  const FileContext& context_;
  RecordFileSplitter splitter_{kMostKept};
  TensorEventReader reader_;
  EventBatch* out_ = nullptr;  // during feed()
  std::optional<SubjectId> subject_;
  std::optional<TensorCollections> collections_;  // nullopt: not read yet
  std::vector<Symbol> its_collections_;           // reused
  bool finished_ = false;
};

void TrialEventsDecoder::feed(std::string_view bytes, EventBatch& out) {
  finished_ = false;
  out_ = &out;
  splitter_.feed(
      bytes,
      [&](std::string_view payload) {
        begin(payload.size());
        piece(payload);
        return deliver(out);
      },
      [&](RejectReason reason, std::string_view beginning) {
        context_.diagnostics.reject(context_.file, reason, beginning);
      },
      this);
  out_ = nullptr;
  // Many files are open at once, and few of them in the middle of a large tensor.
  if (!splitter_.mid_record() && reader_.numbers().values().size() > Tensor::kMostSamples)
    reader_.release();
}

void TrialEventsDecoder::finish(EventBatch&) {
  const bool unreported = splitter_.waiting() > 0 && !splitter_.behind_damage();
  if (!std::exchange(finished_, true) && unreported) {
    context_.diagnostics.reject(context_.file, RejectReason::syntax, "a record without its end");
  }
}

bool TrialEventsDecoder::deliver(EventBatch& out) {
  Rejection rejection = reader_.end();
  if (!rejection && reader_.has_numbers()) rejection = use(out);
  if (rejection) context_.diagnostics.reject(context_.file, *rejection, reader_.tag());
  return !rejection;
}

Rejection TrialEventsDecoder::use(EventBatch& out) {
  const auto at = time();
  if (!at) return RejectReason::time;
  if (!find_subject()) return RejectReason::cardinality;
  find_collections();
  Tensor tensor;
  tensor.at = *at;
  tensor.step = reader_.step();
  const auto mode = reader_.plugin_number("mode").value_or(0);
  tensor.mode = mode > 0 && mode < static_cast<std::int64_t>(Mode::count_) ? static_cast<Mode>(mode)
                                                                           : Mode::global;
  tensor.mode_step = reader_.plugin_number("mode_step").value_or(tensor.step);
  tensor.subject = *subject_;
  const std::string_view name = reader_.tag().substr(0, SymbolTable::kLongestName);
  SymbolTable& symbols = context_.interner.symbols;
  tensor.name = symbols.intern(name);
  its_collections_.clear();
  bool is_loss = mentions_loss(name) && !name.starts_with(kReductionPrefix);
  collections_->for_each_of(name, [&](std::string_view collection) {
    its_collections_.push_back(symbols.intern(collection));
    is_loss = is_loss || collection == kLosses;
  });
  tensor.collections = its_collections_;
  tensor.shape = reader_.shape();
  tensor.statistics = reader_.numbers().statistics();
  tensor.sample = reader_.numbers().sample();
  tensor.values = reader_.numbers().values();
  if (is_loss && tensor.statistics.count == 1) emit_loss(tensor, reader_.wall_time() > 0, out);
  if (wants_tensors()) context_.tensors->tensor(tensor);
  return std::nullopt;
}

// nullopt: it is none. An event without a time has that of the file.
std::optional<Time> TrialEventsDecoder::time() const {
  constexpr double kLatest = 7.26e9;  // seconds, the year 2200; so that nanoseconds have room
  const double at = reader_.wall_time();
  if (at == 0) return context_.written;
  if (!(at > 0 && at < kLatest)) return std::nullopt;
  const double seconds = std::floor(at);
  const auto nanoseconds = static_cast<std::int64_t>((at - seconds) * 1e9);
  return time_from_ns(static_cast<std::int64_t>(seconds) * 1'000'000'000 + nanoseconds);
}

// False: there is no room for another one.
bool TrialEventsDecoder::find_subject() {
  if (!subject_) {
    Subject about{context_.job, "", context_.rank, ""};
    if (about.rank == kNoRank) about.rank = trial_path_metadata(context_.path).rank;
    context_.fill_in(about);
    subject_ = context_.interner.subjects.intern(about);
  }
  return subject_.has_value();
}

void TrialEventsDecoder::find_collections() {
  if (collections_) return;
  collections_.emplace();
  const std::string trial = trial_path_metadata(context_.path).trial;
  if (trial.empty() || !context_.list_directory || !context_.read_file) return;
  const std::string directory = trial + "/collections/000000000";
  std::vector<std::string> names = context_.list_directory(directory);
  std::ranges::sort(names);
  for (const std::string& name : names) {
    if (!name.ends_with("_collections.json")) continue;
    std::string path = directory;
    path.append("/").append(name);
    const auto json = context_.read_file(path, TensorCollections::kMaxFile);
    if (!json) continue;
    auto parsed = TensorCollections::parse(*json);
    if (!parsed) continue;
    collections_ = std::move(*parsed);
    return;  // the first one counts
  }
}

void TrialEventsDecoder::emit_loss(const Tensor& tensor, bool timed, EventBatch& out) {
  const TensorStatistics& figures = tensor.statistics;
  Scalar scalar;
  scalar.at = tensor.at;
  scalar.timed = timed;
  scalar.value = tensor.sample.empty() ? figures.mean : tensor.sample.front();
  scalar.step = std::max(tensor.step, kNoStep);
  scalar.subject = tensor.subject;
  scalar.tag = tensor.name;
  scalar.kind = tensor.mode == Mode::eval      ? ScalarKind::validation_loss
                : tensor.mode == Mode::predict ? ScalarKind::other
                                               : ScalarKind::loss;
  out.emplace_back(std::in_place_type<Scalar>, scalar);
}

void TrialEventsDecoder::state(StateIo& io) {
  io(splitter_);
  io(reader_);
  io(finished_);
}

// A record that is no version, in a file with such a name or behind which a time stands, as in
// every event. A damaged first record is passed over if the path is that of a trial.
Detection detect_trial_events(const FormatClue& clue) {
  if (clue.kind != FormatClue::Kind::head || !is_event_file(clue.path)) return Detection::no;
  const bool of_trial = !trial_path_metadata(clue.path).trial.empty();
  if (clue.head.size() < kRecordHeader) return Detection::undecided;
  if (begins_record(clue.head)) {
    constexpr char kWallTime = 0x09;  // the key of an event's first field
    const std::string_view payload = beginning_of_payload(clue.head);
    if (payload.empty() && !of_trial) return Detection::undecided;
    return of_trial || payload.front() == kWallTime ? Detection::yes : Detection::no;
  }
  if (!of_trial) return Detection::no;
  return has_record_behind_damage(clue.head) ? Detection::yes : Detection::undecided;
}

}  // namespace

extern const Format trial_events_format = {.name = "trial_events",
                                           .detect = &detect_trial_events,
                                           .make = &make_decoder<TrialEventsDecoder>};

}  // namespace trainwatch
