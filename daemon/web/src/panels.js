// SPDX-License-Identifier: Apache-2.0
// What each panel is drawn from: the path to ask for, and how often while new data comes.
// `view` has job, attempt, tags and, in microseconds or undefined, start and end.

const query = (values) => new URLSearchParams(Object.entries(values)
  .filter(([, value]) => value !== undefined && value !== null)).toString();  // the job of an unnamed run is ''

const withQuery = (path, values) => {
  const text = query(values);
  return text ? `${path}?${text}` : path;
};

const span = ({job, start, end}) => ({job, start, end});
const analysis = (name) => ({every: 30000, path: ({job}) => withQuery(`/api/v1/analyses/${name}`, {job})});

const map = (what, every) => ({
  every,
  path: (view) => withQuery('/api/v1/heatmap', {...span(view), what, columns: Math.min(400, view.columns)}),
});

export const PANELS = {
  steps: {
    every: 900,  // a little less than what the clock of connection.js ticks
    path: (view) => withQuery('/api/v1/steps', {...span(view), columns: view.columns, attempt: view.attempt}),
  },
  wallTime: map('wall_time', 2000),
  ranks: map('ranks', 5000),
  utilization: map('utilization', 5000),
  stepHistogram: {
    every: 10000,
    path: (view) => withQuery('/api/v1/histogram', {job: view.job, what: 'steps', start: view.start, end: view.end}),
  },
  utilizationHistogram: {
    every: 10000,
    path: (view) => withQuery('/api/v1/histogram', {job: view.job, what: 'utilization', start: view.start,
      end: view.end}),
  },
  tags: {
    every: 10000, first: true,
    path: ({job}) => withQuery('/api/v1/scalars', {job, last: 1}),
  },
  scalars: {
    every: 2000,
    only: (view) => view.tags.length > 0,
    path: ({job, tags}) => `/api/v1/scalars?${new URLSearchParams([...(job === null ? [] : [['job', job]]), ...tags.map((tag) => ['tag', tag])])}`,
  },
  trials: {
    every: 30000,  // tensors.js hears of what is new in them
    path: () => '/api/v1/tensors',
  },
  annotations: {
    every: 0,  // of a chosen span, which does not change
    only: (view) => view.start !== undefined && view.end !== undefined,
    path: (view) => withQuery('/api/v1/annotations', span(view)),
  },
  workers: analysis('dataloader_workers'),
  batches: analysis('batchtime'),
  breakdown: analysis('temporal_breakdown'),
  idle: analysis('idle_time_breakdown'),
  overlap: analysis('comm_comp_overlap'),
};
