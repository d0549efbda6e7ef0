// SPDX-License-Identifier: Apache-2.0
#include "rules/series_builder.h"

#include <cmath>
#include <memory>
#include <utility>

#include "rules/cycle_line.h"
#include "rules/rank_words.h"
#include "rules/scalar_line.h"
#include "rules/span_options.h"
#include "rules/tick_line.h"

namespace trainwatch::cases {
namespace {

Nanos nanos(double seconds) {
  return Nanos{static_cast<std::int64_t>(std::llround(seconds * 1e9))};
}

}  // namespace

Status SeriesBuilder::line(const Words& words) {
  constexpr std::pair<std::string_view, RankLine> kOfRanks[] = {
      {"steps", &SeriesBuilder::steps},     {"calls", &SeriesBuilder::calls},
      {"loaders", &SeriesBuilder::loaders}, {"close", &SeriesBuilder::close},
      {"cycle", &SeriesBuilder::cycle},     {"scalar", &SeriesBuilder::scalar},
      {"tensor", &SeriesBuilder::tensor}};
  constexpr std::pair<std::string_view, Status (SeriesBuilder::*)(const Words&)> kOthers[] = {
      {"rank", &SeriesBuilder::ranks},  {"ranks", &SeriesBuilder::ranks},
      {"node", &SeriesBuilder::node},   {"ticks", &SeriesBuilder::ticks},
      {"clock", &SeriesBuilder::clock}, {"gap", &SeriesBuilder::gap},
      {"end", &SeriesBuilder::end},     {"job", &SeriesBuilder::job}};
  for (const auto& [name, method] : kOfRanks) {
    if (words[0] == name) return each_rank(words, method);
  }
  for (const auto& [name, method] : kOthers) {
    if (words[0] == name) return (this->*method)(words);
  }
  return Error{"cannot read '" + std::string(words[0]) + "'"};
}

Status SeriesBuilder::each_rank(const Words& words, RankLine method) {
  Result<RankWords> parts = RankWords::read(words, first_rank_, last_rank_);
  if (!parts.ok()) return parts.error();
  const Time start = now_;
  Time end = now_;
  for (std::int32_t rank = first_rank_; rank <= last_rank_; ++rank) {
    now_ = start;
    const SubjectId subject = case_.interner.subjects.intern({job_, node_, rank, ""}).value();
    if (Status done = (this->*method)(parts->of(rank), subject); !done.ok()) return done;
    end = std::max(end, now_);
  }
  now_ = end;
  return success();
}

Status SeriesBuilder::steps(const Words& words, SubjectId rank) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  double seconds = 0;
  if (words.size() < 3 || !read_range(words[1], first, last) || !read(words[2], seconds)) {
    return Error{"steps A..B SECONDS [options]"};
  }
  const Result<SpanOptions> options = read_span_options(words);
  if (!options.ok()) return options.error();
  for (std::int64_t number = first; number <= last; ++number) {
    now_ += nanos(options->before);
    Span step;
    step.kind = SpanKind::step;
    step.start = now_;
    step.duration =
        nanos(options->spikes_at(number) ? options->spike : jittered(seconds, options->jitter));
    step.step = options->numbers ? number : kNoStep;
    step.subject = rank;
    step.mode = options->mode;
    step.origin = options->origin;
    step.process = options->process;
    if (options->wait > 0) {
      Span wait = step;
      wait.kind = SpanKind::data_wait;
      wait.duration = nanos(options->wait);
      add(wait, "wait", number);
    }
    now_ = step.end();
    seconds *= 1 + options->growth;
    add(step, "step", number);
  }
  return success();
}

Status SeriesBuilder::calls(const Words& words, SubjectId rank) {
  std::int64_t count = 0;
  double seconds = 0;
  if (words.size() < 3 || !read(words[1], count) || !read(words[2], seconds)) {
    return Error{"calls COUNT SECONDS [options]"};
  }
  const Result<SpanOptions> options = read_span_options(words);
  if (!options.ok()) return options.error();
  for (std::int64_t i = 0; i < count; ++i) {
    Span span;
    span.kind = SpanKind::data_wait;
    span.start = now_;
    span.duration = nanos(jittered(seconds, options->jitter));
    span.subject = rank;
    span.name = case_.interner.symbols.intern(options->name);
    span.worker = static_cast<std::int32_t>(options->worker);
    span.step = options->step;
    now_ = span.end() + std::chrono::milliseconds(100);
    add(span, "call", ++calls_);
  }
  return success();
}

Status SeriesBuilder::loaders(const Words& words, SubjectId rank) {
  std::int64_t count = 0;
  std::int64_t processes = 0;
  const bool unnamed = words.size() == 4 && words[3] == "unnamed";
  if (words.size() < 3 || !read(words[1], count) || !read(words[2], processes) ||
      (words.size() > 3 && !unnamed)) {
    return Error{"loaders SECONDS PROCESSES [unnamed]"};
  }
  for (std::int64_t i = 0; i < count; ++i, now_ += std::chrono::seconds(1)) {
    ++seconds_;
    for (std::int64_t process = 0; process < processes; ++process) {
      Span span;
      span.kind = SpanKind::data_worker;
      span.start = now_ + std::chrono::milliseconds(process % 1000);
      span.duration = std::chrono::milliseconds(100);
      span.subject = rank;
      span.phase = span.name = case_.interner.symbols.intern("DataLoaderWorker");
      span.process = unnamed ? -1 : 1000 + process;
      add(span, "second", seconds_);
    }
  }
  return success();
}

// The writer closes its timeline.
Status SeriesBuilder::close(const Words& words, SubjectId rank) {
  if (words.size() != 1) return Error{"close"};
  add(SourceNote{now_, LaneId{}, SourceNote::Kind::timeline_closed, rank}, "close", 1);
  return success();
}

Status SeriesBuilder::cycle(const Words& words, SubjectId rank) {
  Result<CycleSummary> made = read_cycle_line(words, now_);
  if (!made.ok()) return made.error();
  made->subject = rank;
  made->number = cycles_++;
  now_ = time_from_ns(made->end_ns());
  case_.cycles.push_back(std::make_shared<const CycleSummary>(*std::move(made)));
  add(Cycle{case_.cycles.back().get()}, "cycle", cycles_);
  return success();
}

Status SeriesBuilder::scalar(const Words& words, SubjectId rank) {
  const Result<ScalarLine> line = read_scalar_line(words);
  if (!line.ok()) return line.error();
  for (std::int64_t number = line->first; number <= line->last; ++number) {
    Scalar scalar;
    scalar.at = now_;
    scalar.value = jittered(line->value(number), line->jitter);
    scalar.step = line->numbers ? number * line->stride : kNoStep;
    scalar.subject = rank;
    scalar.tag = case_.interner.symbols.intern(line->tag);
    scalar.kind = line->kind;
    scalar.timed = line->timed;
    const bool waits = line->data >= 0;
    scalar.ends_record = !waits && line->beside.empty();
    add(scalar, "scalar", ++scalars_);
    for (std::string_view rest = line->beside; !rest.empty();) {
      const std::string_view tag = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(tag.size() + 1, rest.size()));
      scalar.ends_record = !waits && rest.empty();
      (void)read_kind(tag, scalar.kind);
      scalar.tag = case_.interner.symbols.intern(tag);
      add(scalar, "scalar", ++scalars_);
    }
    if (waits) {
      scalar.ends_record = true;
      scalar.kind = ScalarKind::data_seconds;
      scalar.tag = case_.interner.symbols.intern("data_time");
      scalar.value = jittered(line->data, line->jitter);
      add(scalar, "wait", ++waits_);
    }
    now_ += nanos(line->every);
  }
  return success();
}

Status SeriesBuilder::tensor(const Words& words, SubjectId rank) {
  const Result<TensorLine> line = read_tensor_line(words);
  if (!line.ok()) return line.error();
  for (std::int64_t number = line->first; number <= line->last; ++number) {
    auto made = std::make_shared<OwnedTensor>(*line, number, case_.interner);
    made->tensor.at = now_;
    made->tensor.subject = rank;
    add(SavedTensor{&made->tensor}, "tensor", ++tensors_);
    case_.tensors.push_back(std::move(made));
    now_ += nanos(line->every);
  }
  return success();
}

Status SeriesBuilder::ranks(const Words& words) {
  if (words.size() != 2 || !read_range(words[1], first_rank_, last_rank_) || first_rank_ < 0 ||
      last_rank_ < first_rank_) {
    return Error{"rank N, or ranks A..B"};
  }
  return success();
}

Status SeriesBuilder::job(const Words& words) {
  if (words.size() != 2) return Error{"job NAME"};
  job_ = words[1];
  return success();
}

Status SeriesBuilder::node(const Words& words) {
  if (words.size() != 2) return Error{"node NAME"};
  node_ = words[1];
  return success();
}

Status SeriesBuilder::ticks(const Words& words) {
  const Result<TickLine> line = read_tick_line(words);
  if (!line.ok()) return line.error();
  Interner& interner = case_.interner;
  std::vector<SeriesId> ids;
  for (const TickLine::Device& device : line->devices) {
    const std::string gpu = device.of_gpu() ? std::to_string(device.number) : "";
    Series series;
    series.subject = interner.subjects.intern({job_, node_, kNoRank, gpu}).value();
    series.resource = device.resource;
    series.device = device.number;
    series.name = interner.symbols.intern(device.name);
    ids.push_back(interner.series.intern(series).value());
  }
  for (std::int64_t i = 0; i < line->count; ++i, now_ += nanos(line->seconds)) {
    ++ticks_;
    for (std::size_t j = 0; j < ids.size(); ++j) {
      const TickLine::Device& device = line->devices[j];
      const double value = device.values[static_cast<std::size_t>(i) % device.values.size()];
      if (std::isinf(value)) continue;
      const Nanos offset = std::chrono::milliseconds(device.of_gpu() ? 2 : 0);
      add(Sample{now_ + offset, value, ids[j], device.resource}, "tick", ticks_);
    }
  }
  return success();
}

// The daemon's ticks, one a second.
Status SeriesBuilder::clock(const Words& words) {
  std::int64_t count = 0;
  if (words.size() != 2 || !read(words[1], count)) return Error{"clock SECONDS"};
  for (std::int64_t i = 0; i < count; ++i) {
    now_ += std::chrono::seconds(1);
    add(Tick{now_}, "clock", ++clock_);
  }
  return success();
}

Status SeriesBuilder::gap(const Words& words) {
  double seconds = 0;
  if (words.size() != 2 || !read(words[1], seconds)) return Error{"gap SECONDS"};
  now_ += nanos(seconds);
  return success();
}

Status SeriesBuilder::end(const Words& words) {
  if (words.size() != 1) return Error{"end"};
  add(EndOfInput{}, "end", 1);
  return success();
}

void SeriesBuilder::add(Input event, std::string kind, std::int64_t number) {
  case_.events.push_back(event);
  case_.labels.push_back({std::move(kind), number});
}

double SeriesBuilder::jittered(double value, double share) {
  if (share == 0) return value;
  const double uniform = static_cast<double>(random_() >> 11U) * 0x1p-53;
  return value * (1 + share * (2 * uniform - 1));
}

}  // namespace trainwatch::cases
