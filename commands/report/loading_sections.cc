// SPDX-License-Identifier: Apache-2.0
// How PyTorch's loaders were set up and how long they took; which Python functions took the time.
#include <algorithm>

#include "commands/report/format.h"
#include "commands/report/sections.h"
#include "commands/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kIteratorsShown = 64;
constexpr std::size_t kOutliersShown = 20;

void write_iterators(HtmlWriter& html, const std::vector<IteratorFigures>& iterators) {
  if (iterators.empty()) return;
  TableWriter table(html, "iterators", "Iterators",
                    {{"iterator"},
                     {"pin_memory"},
                     {"workers", true},
                     {"initializations", true},
                     {"median", true},
                     {"max", true},
                     {"outliers", true}});
  for (std::size_t i = 0; i < std::min(iterators.size(), kIteratorsShown); ++i) {
    const IteratorFigures& iterator = iterators[i];
    table.begin_row();
    table.name(iterator.name);
    table.name(iterator.pin_memory ? (*iterator.pin_memory ? "yes" : "no") : "\xE2\x80\x93");
    table.number(iterator.num_workers, report_format::count);
    table.number(iterator.initializations.count, report_format::count);
    table.number(iterator.initializations.median_us, report_format::duration);
    table.number(iterator.initializations.max_us, report_format::duration);
    table.number(iterator.initializations.outlier_count, report_format::count);
    table.end_row();
  }
  table.end();
  write_left_out(html, iterators.size(), kIteratorsShown, "iterators");
}

void write_calls(TableWriter& table, std::string_view name, const CallFigures& calls) {
  table.begin_row();
  table.name(name);
  table.number(calls.count, report_format::count(calls.count));
  table.number(calls.median_us, report_format::duration(calls.median_us));
  table.number(calls.max_us, report_format::duration(calls.max_us));
  table.number(calls.outlier_count, report_format::count(calls.outlier_count));
  table.end_row();
}

void write_outliers(HtmlWriter& html, std::string_view id, std::string_view caption,
                    const CallFigures& calls) {
  if (calls.outliers.empty()) return;
  TableWriter table(html, id, caption,
                    {{"start, UTC"}, {"duration", true}, {"worker", true}, {"rank"}});
  for (std::size_t i = 0; i < std::min(calls.outliers.size(), kOutliersShown); ++i) {
    const CallFigures::Outlier& call = calls.outliers[i];
    auto worker = call.worker;
    if (worker && *worker < 0) worker.reset();  // the file does not say
    table.begin_row();
    table.name(report_format::moment(call.start_us.value_or(0)));
    table.number(call.duration_us, report_format::duration);
    table.number(worker, report_format::count);
    table.name(call.rank);
    table.end_row();
  }
  table.end();
  write_left_out(html, static_cast<std::size_t>(calls.outlier_count), kOutliersShown, "outliers");
}

}  // namespace

void write_data_loading(HtmlWriter& html, const ReportContent& content) {
  const JobFigures& job = content.figures;
  if (job.iterators.empty() && job.getnext.count == 0 && job.workers.count == 0) {
    write_nothing(html,
                  "These files have no calls of PyTorch's data loaders. SageMaker's hook writes "
                  "them into the timelines below framework/.");
    return;
  }
  write_iterators(html, job.iterators);
  TableWriter table(
      html, "loader-calls", "Calls; an outlier takes at least twice the median",
      {{"call"}, {"count", true}, {"median", true}, {"max", true}, {"outliers", true}});
  write_calls(table, "fetching the next batch (GetNext)", job.getnext);
  write_calls(table, "worker processes", job.workers);
  write_calls(table, "batch time, from one GetNext to the next", job.batches);
  table.end();
  write_outliers(html, "getnext-outliers", "The longest GetNext calls", job.getnext);
  write_outliers(html, "worker-outliers", "The longest worker processes", job.workers);
  write_outliers(html, "batch-outliers", "The longest batch times", job.batches);
}

namespace {

constexpr std::size_t kFunctionsShown = 20;
constexpr std::size_t kRejectedProfilesShown = 20;

std::string of_nanoseconds(double number) {
  return report_format::duration(number / 1e3);
}

// "training_loop" -> "training loop"
std::string in_words(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

void write_functions(HtmlWriter& html, const ProfileFigures& part) {
  const std::string id = "functions-" + part.profiler + "-" + part.part;
  const bool counts_calls = part.profiler == "cprofile";
  TableWriter table =
      counts_calls
          ? TableWriter(html, id, "",
                        {{"function"},
                         {"where"},
                         {"calls", true},
                         {"own time", true},
                         {"with callees", true}})
          : TableWriter(html, id, "",
                        {{"function"}, {"where"}, {"own time", true}, {"with callees", true}});
  for (std::size_t i = 0; i < std::min(part.functions.size(), kFunctionsShown); ++i) {
    const ProfileFigures::Function& function = part.functions[i];
    std::string where = function.file;
    if (function.line.value_or(0) > 0) where += ":" + report_format::exact(*function.line);
    table.begin_row();
    table.name(function.name);
    table.name(where);
    if (counts_calls) table.number(function.calls, report_format::count);
    table.number(function.own_ns, of_nanoseconds);
    table.number(function.with_callees_ns, of_nanoseconds);
    table.end_row();
  }
  table.end();
  write_left_out(html, part.functions.size(), kFunctionsShown, "functions");
}

void write_rejected(HtmlWriter& html, const std::vector<RejectedProfile>& rejected) {
  if (rejected.empty()) return;
  TableWriter table(html, "rejected-profiles", "Unreadable profiles", {{"file"}, {"reason"}});
  for (std::size_t i = 0; i < std::min(rejected.size(), kRejectedProfilesShown); ++i) {
    table.begin_row();
    table.name(rejected[i].path);
    table.name(rejected[i].reason);
    table.end_row();
  }
  table.end();
  write_left_out(html, rejected.size(), kRejectedProfilesShown, "profiles");
}

}  // namespace

void write_python_profiles(HtmlWriter& html, const ReportContent& content) {
  const JobFigures& job = content.figures;
  if (job.profiles.empty()) {
    write_nothing(html,
                  "There are no Python profiles below these paths. SageMaker's hook writes them if "
                  "cProfile or pyinstrument is enabled in its Python profiling configuration.");
  }
  for (const ProfileFigures& part : job.profiles) {
    const char* profiles = part.profiles == 1 ? " profile" : " profiles";
    html.element("h4", in_words(part.part) + ", " + part.profiler + ", " +
                           report_format::count(part.profiles) + profiles);
    write_functions(html, part);
  }
  write_rejected(html, job.rejected_profiles);
}

}  // namespace trainwatch
