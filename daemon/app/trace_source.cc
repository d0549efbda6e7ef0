#include "daemon/app/trace_source.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "daemon/app/alert_mark.h"
#include "daemon/app/engine_thread.h"
#include "daemon/app/job_choice.h"
#include "pipeline/decode/gzip_stream.h"
#include "pipeline/decode/path_metadata.h"
#include "pipeline/timeline/span_totals.h"
#include "pipeline/timeline/spill_file.h"
#include "pipeline/timeline/window_trace.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMemory = std::size_t{4} << 20U;        // for sorting events
constexpr std::size_t kMostResponse = std::size_t{8} << 20U;  // as sent
constexpr std::size_t kMostInflated = std::size_t{64} << 20U;
constexpr std::uint64_t kMostRead = std::uint64_t{256} << 20U;
constexpr std::uint64_t kMostAlerts = 512;  // the latest that are looked at
// After an alert, its trace is made when what followed it has been read, or this much later.
constexpr int kPatienceSeconds = 60;

std::int64_t bound_ns(const std::optional<std::int64_t>& micros, std::int64_t otherwise) {
  return micros ? *micros * 1000 : otherwise;
}

TimeWindow time_window(const TraceQuery& query) {
  const TimeWindow always;
  return {bound_ns(query.start, always.from_ns), bound_ns(query.end, always.to_ns)};
}

// From the beginning of step `start` until that of step `end`, as exactly as the history knows: a
// column that holds more steps is taken whole.
TimeWindow step_window(const JobHistory& job, const TraceQuery& query) {
  TimeWindow window;
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
  std::int64_t before = kNoStep;  // the last step of the column before
  const auto* const columns = job.levels().back();
  columns->each(time_from_ns(0), time_from_ns(std::numeric_limits<std::int64_t>::max()),
                [&](Time start, const StepColumn& column) {
                  const std::int64_t begin_ns = to_ns(start);
                  if (!from && query.start && column.last_step >= *query.start) from = begin_ns;
                  if (query.end && before < *query.end) to = begin_ns + columns->width().count();
                  before = std::max(before, column.last_step);
                });
  constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::max();
  if (query.start) window.from_ns = from.value_or(kNothing);
  if (query.end) window.to_ns = to.value_or(window.to_ns);
  return window;
}

// As configured or as the trace says, else as the name of the file does.
std::int32_t rank_of(const FileWindow& file) {
  return file.rank != kNoRank ? file.rank : timeline_path_metadata(file.path).rank;
}

// Collects a document, compressed or not, up to the most that is sent.
class Document final : public TextSink {
 public:
  explicit Document(bool gzip) {
    if (gzip) deflate_.emplace([this](std::string_view bytes) { put(bytes); });
  }
  void write(std::string_view text) override { deflate_ ? deflate_->write(text) : put(text); }
  // nullopt: it is too long.
  std::optional<std::string> take() {
    if (deflate_) deflate_->finish();
    if (too_long_) return std::nullopt;
    return std::move(text_);
  }

 private:
  void put(std::string_view bytes) {
    too_long_ = too_long_ || text_.size() + bytes.size() > kMostResponse;
    if (!too_long_) text_.append(bytes);
  }

  std::optional<DeflateStream> deflate_;
  std::string text_;
  bool too_long_ = false;
};

std::optional<std::string> inflated(std::string_view compressed) {
  InflateStream stream;
  std::string text;
  stream.push(compressed);
  for (auto piece = stream.pull(); !piece.empty(); piece = stream.pull()) {
    text.append(piece);
    if (text.size() > kMostInflated) return std::nullopt;
  }
  return text;
}

HttpResponse trace_response(std::string body, bool gzip, const std::string& name) {
  HttpResponse response;
  response.body = std::move(body);
  response.headers.emplace_back("Content-Disposition", "attachment; filename=\"" + name + "\"");
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (gzip) response.headers.emplace_back("Content-Encoding", "gzip");
  return response;
}

HttpResponse too_long() {
  return error_response(413,
                        "the trace is too long; choose a shorter span of time, or use "
                        "'trainwatch timeline', which has no limit");
}

}  // namespace

struct TraceMaker::Request {
  TraceQuery query;
  int refused = 0;  // a status
  TimeWindow window;
  std::vector<FileWindow> files;
  std::vector<AlertMark> alerts;
  std::optional<AlertMark> about;  // of TraceView::alert, if it is stored
  bool complete = true;            // all of the window has been read
  bool keep = false;               // the trace of the alert

  // On the engine thread.
  static Request made(TraceQuery query, const Engine& engine, const Ingest& ingest,
                      StateStore& store);
  void choose_window(const Engine& engine, StateStore& store);
  void find_files(const Ingest& ingest);
};

TraceMaker::Request TraceMaker::Request::made(TraceQuery query, const Engine& engine,
                                              const Ingest& ingest, StateStore& store) {
  Request request;
  request.query = std::move(query);
  request.choose_window(engine, store);
  if (request.refused != 0) return request;
  request.complete = to_ns(engine.latest()) >= request.window.to_ns;
  request.find_files(ingest);
  if (request.query.view == TraceView::annotations) return request;
  const std::uint64_t last = store.last_seq();
  const auto alerts = store.alerts_after(last - std::min(last, kMostAlerts), kMostAlerts);
  if (alerts) request.alerts = alert_marks(*alerts);
  return request;
}

void TraceMaker::Request::choose_window(const Engine& engine, StateStore& store) {
  window = time_window(query);
  if (query.view == TraceView::alert) {
    const auto alert = store.latest(query.alert);
    if (alert && !alert->empty()) about = alert_mark(*alert->front());
    window = about ? incident_window(*about) : TimeWindow{0, 0};
  } else if (query.unit == TraceQuery::Unit::step) {
    const History& history = engine.history();
    std::vector<std::string> names;
    for (const auto& [job, kept] : history.jobs())
      names.push_back(history.interner().subjects[job].job);
    const JobChoice chosen = choose_job(names, query.job);
    refused = chosen.refused;
    for (const auto& [job, kept] : history.jobs()) {
      if (refused == 0 && history.interner().subjects[job].job == chosen.job)
        window = step_window(kept, query);
    }
  }
}

void TraceMaker::Request::find_files(const Ingest& ingest) {
  files = ingest.windows(window.from_ns, window.to_ns);
  if (query.job)
    std::erase_if(files, [this](const FileWindow& file) { return file.job != *query.job; });
  std::ranges::sort(
      files, {}, [](const FileWindow& file) { return std::tuple(file.job, file.rank, file.path); });
}

FileWorker::Options trace_worker_options() {
  FileWorker::Options options;
  options.queue = 8;
  options.busy = "other traces are being made; try again";
  options.too_slow =
      "there is too much to read in time; choose a shorter span of time, or use "
      "'trainwatch timeline', which has no limit";
  return options;
}

TraceMaker::TraceMaker(boost::asio::io_context& net, const std::unique_ptr<EngineThread>& engine,
                       FileWorker& worker, IncidentTraces incidents, std::string directory)
    : net_(net),
      engine_(engine),
      worker_(worker),
      incidents_(std::move(incidents)),
      directory_(std::move(directory)),
      timer_(net) {
  timer_.start(std::chrono::seconds(1), [this] { every_second(); });
}

void TraceMaker::answer(TraceQuery query, DeferredResponse::Done done) {
  if (engine_ == nullptr) return;
  engine_->inspect([this, query = std::move(query), done = std::move(done)](
                       const Engine& engine, const Ingest& ingest, StateStore& store) mutable {
    auto request =
        std::make_shared<Request>(Request::made(std::move(query), engine, ingest, store));
    boost::asio::post(net_, [this, request, done = std::move(done)]() mutable {
      worker_.ask([this, request](FileSystem& files) { return respond(files, *request); },
                  std::move(done));
    });
  });
}

// On the worker's thread.
HttpResponse TraceMaker::respond(FileSystem& files, const Request& request) {
  if (request.refused != 0) return error_response(request.refused);
  const TraceQuery& query = request.query;
  if (query.view == TraceView::alert) return alert_trace(files, request);
  HttpResponse response;
  if (query.view == TraceView::annotations) {
    TrackTable tracks;
    SpanTotals totals(tracks, request.window);
    WindowReader reader(files, tracks, totals, request.window, kMostRead,
                        [&totals](const FileWindow& file) { totals.begin(rank_of(file)); });
    reader.read(request.files);
    response.body = totals.json() + "\n";
    return response;
  }
  Document document(query.gzip);
  SpillFile runs(directory_);
  const Status written = write_window_trace(
      files, {request.window, request.files, request.alerts, kMostRead, kMemory}, &runs, document);
  if (!written) return error_response(503, written.error().message);
  auto text = document.take();
  if (!text) return too_long();
  return trace_response(std::move(*text), query.gzip, "trainwatch-timeline.json");
}

HttpResponse TraceMaker::alert_trace(FileSystem& files, const Request& request) {
  const TraceQuery& query = request.query;
  std::optional<std::string> kept = incidents_.read(query.alert);
  if (!kept && !request.about) return error_response(404);
  if (!kept) {
    Document document(true);
    SpillFile runs(directory_);
    std::vector<AlertMark> alerts = request.alerts;
    const bool marked = std::ranges::any_of(
        alerts, [&](const AlertMark& alert) { return alert.json == request.about->json; });
    if (!marked) alerts.push_back(*request.about);
    const Status written = write_window_trace(
        files, {request.window, request.files, std::move(alerts), kMostRead, kMemory}, &runs,
        document);
    if (!written) return error_response(503, written.error().message);
    kept = document.take();
    if (!kept) return too_long();
    if (request.keep) {
      if (const Status stored = incidents_.write(query.alert, *kept); !stored)
        return error_response(503, stored.error().message);
    }
  }
  if (!query.gzip) kept = inflated(*kept);
  if (!kept) return too_long();
  return trace_response(std::move(*kept), query.gzip, "trainwatch-" + query.alert + ".json");
}

void TraceMaker::published(const PublishedAlerts& alerts) {
  for (const PublishedAlertPtr& alert : alerts) {
    if (alert->part || alert->state != Alert::State::firing) continue;
    if (std::ranges::find(waiting_, alert->id, &Waiting::id) != waiting_.end()) continue;
    if (waiting_.size() < kMostWaiting) {
      waiting_.push_back({alert->id});
    } else {
      ++dropped_;
    }
  }
}

// One after another: the first whose time has come.
void TraceMaker::every_second() {
  for (Waiting& each : waiting_) ++each.seconds;
  if (making_ || waiting_.empty()) return;
  make(waiting_.front().id);
}

void TraceMaker::make(const std::string& id) {
  if (engine_ == nullptr) return;
  making_ = true;
  TraceQuery query;
  query.view = TraceView::alert;
  query.alert = id;
  query.gzip = true;
  engine_->inspect([this, query = std::move(query)](const Engine& engine, const Ingest& ingest,
                                                    StateStore& store) mutable {
    auto request =
        std::make_shared<Request>(Request::made(std::move(query), engine, ingest, store));
    request->keep = true;
    boost::asio::post(net_, [this, request] {
      making_ = false;
      if (waiting_.empty()) return;
      const bool due = request->complete || waiting_.front().seconds >= kPatienceSeconds;
      if (!due) {  // others may be due
        std::ranges::rotate(waiting_, waiting_.begin() + 1);
        return;
      }
      waiting_.pop_front();
      making_ = true;
      worker_.ask([this, request](FileSystem& files) { return respond(files, *request); },
                  [this](const HttpResponse& response) {
                    making_ = false;
                    ++(response.status == 200 ? made_ : failed_);
                  });
    });
  });
}

void TraceMaker::collect(std::vector<MetricFamily>& out) const {
  MetricFamily traces{"trainwatch_incident_traces_total",
                      "Traces of incidents: made, failed, or dropped because too many waited.",
                      MetricType::counter,
                      {},
                      {}};
  const auto add = [&traces](const char* result, std::uint64_t count) {
    traces.points.push_back({{{"result", result}}, static_cast<double>(count), {}, 0});
  };
  add("made", made_);
  add("failed", failed_);
  add("dropped", dropped_);
  out.push_back(std::move(traces));
}

}  // namespace trainwatch
