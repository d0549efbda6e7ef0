// How PyTorch's loaders were set up, how long they took, and the slow calls.
#include <algorithm>

#include "daemon/report/figures.h"
#include "daemon/report/sections.h"
#include "daemon/report/table_writer.h"

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
    table.number(iterator.num_workers, figures::count);
    table.number(iterator.initializations.count, figures::count);
    table.number(iterator.initializations.median_us, figures::duration);
    table.number(iterator.initializations.max_us, figures::duration);
    table.number(iterator.initializations.outlier_count, figures::count);
    table.end_row();
  }
  table.end();
  write_left_out(html, iterators.size(), kIteratorsShown, "iterators");
}

void write_calls(TableWriter& table, std::string_view name, const CallFigures& calls) {
  table.begin_row();
  table.name(name);
  table.number(calls.count, figures::count(calls.count));
  table.number(calls.median_us, figures::duration(calls.median_us));
  table.number(calls.max_us, figures::duration(calls.max_us));
  table.number(calls.outlier_count, figures::count(calls.outlier_count));
  table.end_row();
}

void write_outliers(HtmlWriter& html, std::string_view id, std::string_view caption,
                    const CallFigures& calls, std::string_view duration) {
  const FigureTable& outliers = calls.outliers;
  if (outliers.rows.empty()) return;
  TableWriter table(html, id, caption,
                    {{"start, UTC"}, {"duration", true}, {"worker", true}, {"rank"}});
  for (std::size_t row = 0; row < std::min(outliers.rows.size(), kOutliersShown); ++row) {
    auto worker = outliers.number(row, "worker_id");
    if (worker && *worker < 0) worker.reset();  // the file does not say
    table.begin_row();
    table.name(figures::moment(outliers.number(row, "start_time_us").value_or(0)));
    table.number(outliers.number(row, duration), figures::duration);
    table.number(worker, figures::count);
    table.name(outliers.text(row, "nodeID"));
    table.end_row();
  }
  table.end();
  write_left_out(html, static_cast<std::size_t>(calls.outlier_count), kOutliersShown, "outliers");
}

}  // namespace

void write_data_loading(HtmlWriter& html, const ReportContent& content) {
  const JobFigures& job = content.figures;
  if (job.iterators.empty() && job.getnext.count == 0 && job.workers.count == 0) {
    write_nothing(
        html,
        "There are no calls of PyTorch's data loaders in these files. SageMaker's hook writes "
        "them into the timelines below framework/.");
    return;
  }
  write_iterators(html, job.iterators);
  TableWriter table(
      html, "loader-calls", "Calls; an outlier takes twice the median or more",
      {{"call"}, {"count", true}, {"median", true}, {"max", true}, {"outliers", true}});
  write_calls(table, "fetching the next batch (GetNext)", job.getnext);
  write_calls(table, "worker processes", job.workers);
  write_calls(table, "batch time, from one GetNext to the next", job.batches);
  table.end();
  write_outliers(html, "getnext-outliers", "The longest GetNext calls", job.getnext, "duration_us");
  write_outliers(html, "worker-outliers", "The longest worker processes", job.workers,
                 "duration_us");
  write_outliers(html, "batch-outliers", "The longest batch times", job.batches, "batch_time_us");
}

}  // namespace trainwatch
