#include "rules/series_builder.h"

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "rules/cycle_line.h"

namespace trainwatch::cases {
namespace {

Nanos nanos(double seconds) {
  return Nanos{static_cast<std::int64_t>(std::llround(seconds * 1e9))};
}

bool read_mode(std::string_view text, Mode& out) {
  constexpr std::string_view kNames[] = {"unknown", "train", "eval", "predict", "global"};
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (text == kNames[i]) out = static_cast<Mode>(i);
  }
  return text == kNames[static_cast<std::size_t>(out)];
}

// "97*7,40*3" -> seven times 97, three times 40; "-" is no sample, shown as an infinity.
bool read_cycle(std::string_view text, std::vector<double>& out) {
  for (const std::string_view part : split(text, ',')) {
    const Words factors = split(part, '*');
    double value = std::numeric_limits<double>::infinity();
    std::int64_t times = 1;
    if (factors.empty() || (factors[0] != "-" && !read(factors[0], value))) return false;
    if (factors.size() > 1 && !read(factors[1], times)) return false;
    out.insert(out.end(), static_cast<std::size_t>(times), value);
  }
  return !out.empty();
}

}  // namespace

struct SeriesBuilder::Options {
  double wait = 0;
  double jitter = 0;
  double growth = 0;
  double spike = 0;
  std::int64_t every = 0;
  std::int64_t from = 0;
  std::int64_t worker = kNoWorker;
  std::int64_t step = kNoStep;
  std::string_view name = "DataLoaderIter::GetNext";
  Mode mode = Mode::train;
  Origin origin = Origin::timeline;
};

Result<bool> SeriesBuilder::line(const Words& words) {
  Status done = success();
  double seconds = 0;
  if (words[0] == "steps") {
    done = steps(words);
  } else if (words[0] == "calls") {
    done = calls(words);
  } else if (words[0] == "ticks") {
    done = ticks(words);
  } else if (words[0] == "loaders") {
    done = loaders(words);
  } else if (words[0] == "clock") {
    done = clock(words);
  } else if (words[0] == "cycle") {
    done = cycle(words);
  } else if (words[0] == "end" && words.size() == 1) {
    add(EndOfInput{}, "end", 1);
  } else if (words[0] == "gap" && words.size() == 2 && read(words[1], seconds)) {
    now_ += nanos(seconds);
  } else if (words[0] == "rank" && words.size() == 2 && read(words[1], rank_)) {
    subject();
  } else if (words[0] == "node" && words.size() == 2) {
    node_ = words[1];
    subject();
  } else {
    return false;
  }
  if (!done.ok()) return done.error();
  return true;
}

Status SeriesBuilder::options(const Words& words, std::size_t from, Options& out) {
  for (std::size_t i = from; i < words.size(); i += 2) {
    const std::string_view key = words[i];
    const std::string_view text = i + 1 < words.size() ? words[i + 1] : "";
    bool ok = !text.empty();
    if (key == "wait")
      ok = read(text, out.wait);
    else if (key == "jitter")
      ok = read(text, out.jitter);
    else if (key == "growth")
      ok = read(text, out.growth);
    else if (key == "spike")
      ok = read(text, out.spike);
    else if (key == "every")
      ok = read(text, out.every);
    else if (key == "from")
      ok = read(text, out.from);
    else if (key == "worker")
      ok = read(text, out.worker);
    else if (key == "step")
      ok = read(text, out.step);
    else if (key == "mode")
      ok = read_mode(text, out.mode);
    else if (key == "name")
      out.name = text;
    else if (key == "origin")
      out.origin = text == "profiler" ? Origin::profiler : Origin::timeline;
    else
      ok = false;
    if (!ok) return Error{"cannot read '" + std::string(key) + " " + std::string(text) + "'"};
  }
  return success();
}

void SeriesBuilder::add(Event event, std::string kind, std::int64_t number) {
  case_.events.push_back(event);
  case_.labels.push_back({std::move(kind), number});
}

void SeriesBuilder::subject() {
  subject_ = case_.vocabulary.subjects.intern({"", node_, rank_, ""});
}

double SeriesBuilder::jittered(double value, double share) {
  if (share == 0) return value;
  const double uniform = static_cast<double>(random_() >> 11U) * 0x1p-53;
  return value * (1 + share * (2 * uniform - 1));
}

Status SeriesBuilder::steps(const Words& words) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  double seconds = 0;
  if (words.size() < 3 || !read_range(words[1], first, last) || !read(words[2], seconds)) {
    return Error{"steps A..B SECONDS [options]"};
  }
  Options options;
  if (Status read_all = this->options(words, 3, options); !read_all.ok()) return read_all;
  for (std::int64_t number = first; number <= last; ++number) {
    const bool slow =
        options.every > 0 && number >= options.from && (number - options.from) % options.every == 0;
    Step step;
    step.start = now_;
    step.duration = nanos(slow ? options.spike : jittered(seconds, options.jitter));
    step.data_wait = nanos(options.wait);
    step.number = options.step == kNoStep ? number : kNoStep;
    step.subject = subject_;
    step.mode = options.mode;
    step.origin = options.origin;
    now_ = step.end();
    seconds *= 1 + options.growth;
    add(step, "step", number);
  }
  return success();
}

Status SeriesBuilder::calls(const Words& words) {
  std::int64_t count = 0;
  double seconds = 0;
  if (words.size() < 3 || !read(words[1], count) || !read(words[2], seconds)) {
    return Error{"calls COUNT SECONDS [options]"};
  }
  Options options;
  if (Status read_all = this->options(words, 3, options); !read_all.ok()) return read_all;
  for (std::int64_t i = 0; i < count; ++i) {
    Span span;
    span.kind = SpanKind::data_wait;
    span.start = now_;
    span.duration = nanos(jittered(seconds, options.jitter));
    span.subject = subject_;
    span.name = case_.vocabulary.symbols.intern(options.name);
    span.worker = static_cast<std::int32_t>(options.worker);
    span.step = options.step;
    now_ = span.end() + std::chrono::milliseconds(100);
    add(span, "call", ++calls_);
  }
  return success();
}

// One second after the other in which PROCESSES loader workers are at work.
Status SeriesBuilder::loaders(const Words& words) {
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
      span.subject = subject_;
      span.phase = span.name = case_.vocabulary.symbols.intern("DataLoaderWorker");
      span.process = unnamed ? -1 : 1000 + process;
      add(span, "second", seconds_);
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

// One cycle of the profiler.
Status SeriesBuilder::cycle(const Words& words) {
  Result<CycleMeasure> made = read_cycle_line(words, now_);
  if (!made.ok()) return made.error();
  made->subject = subject_;
  made->number = cycles_++;
  now_ = time_from_ns(made->end_ns());
  case_.cycles.push_back(std::make_shared<const CycleMeasure>(*std::move(made)));
  add(Cycle{case_.cycles.back().get()}, "cycle", cycles_);
  return success();
}

Resource SeriesBuilder::resource_of(std::string_view device) {
  constexpr std::pair<std::string_view, Resource> kResources[] = {
      {"cpu", Resource::cpu_utilization},
      {"iow", Resource::cpu_io_wait},
      {"gpu", Resource::gpu_utilization},
      {"mem", Resource::gpu_memory_utilization}};
  for (const auto& [prefix, resource] : kResources) {
    if (device.size() > prefix.size() && device.starts_with(prefix)) return resource;
  }
  return Resource::other;
}

SeriesId SeriesBuilder::series(std::string_view device) {
  Vocabulary& vocabulary = case_.vocabulary;
  Series wanted;
  wanted.resource = resource_of(device);
  const bool gpu = wanted.resource == Resource::gpu_utilization ||
                   wanted.resource == Resource::gpu_memory_utilization;
  const std::string index(device.substr(3));
  wanted.subject = vocabulary.subjects.intern({"", node_, kNoRank, gpu ? index : ""});
  wanted.device = static_cast<std::uint32_t>(std::stoul(index));
  wanted.name = vocabulary.symbols.intern(device);
  for (std::size_t i = 0; i < vocabulary.series.size(); ++i) {
    const Series& known = vocabulary.series[static_cast<SeriesId>(i)];
    if (known.subject == wanted.subject && known.name == wanted.name) {
      return static_cast<SeriesId>(i);
    }
  }
  return vocabulary.series.add(wanted);
}

Status SeriesBuilder::ticks(const Words& words) {
  std::int64_t count = 0;
  if (words.size() < 3 || !read(words[1], count)) return Error{"ticks COUNT DEVICE=VALUES..."};
  struct Device {
    SeriesId id;
    std::vector<double> cycle;
  };
  std::vector<Device> devices;
  for (std::size_t i = 2; i < words.size(); ++i) {
    const Words parts = split(words[i], '=');
    const bool known = resource_of(parts[0]) != Resource::other;
    std::vector<double> cycle;
    if (parts.size() != 2 || !known || !read_cycle(parts[1], cycle)) {
      return Error{"cannot read '" + std::string(words[i]) + "'"};
    }
    devices.push_back({series(parts[0]), std::move(cycle)});
  }
  for (std::int64_t i = 0; i < count; ++i, now_ += std::chrono::milliseconds(500)) {
    ++ticks_;
    for (const Device& device : devices) {
      const double value = device.cycle[static_cast<std::size_t>(i) % device.cycle.size()];
      if (std::isinf(value)) continue;
      const Resource resource = case_.vocabulary.series[device.id].resource;
      const bool core = resource == Resource::cpu_utilization || resource == Resource::cpu_io_wait;
      const Nanos offset = std::chrono::milliseconds(core ? 0 : 2);
      add(Sample{now_ + offset, value, device.id, resource}, "tick", ticks_);
    }
  }
  return success();
}

}  // namespace trainwatch::cases
