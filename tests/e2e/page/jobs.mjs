// SPDX-License-Identifier: Apache-2.0
// Training jobs that never were, and what the server would answer about them: the contract of
// /api/v1/{runs,steps,heatmap,histogram,scalars,annotations}. The same arguments give the same job.

export const MICRO = 1e6;

export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// kind: healthy, slow (waits for data from the middle on), straggler (the last rank), stalled
// (nothing for the last tenth), warming. `ends` in microseconds; the steps before it are made.
export function makeJob({job, kind = 'healthy', steps = 2000, seconds = 0.1, ranks = 8, cores = 8, gpus = 8, ends, seed = 1, scalars = false}) {
  const next = random(seed);
  const iteration = new Float64Array(steps), wait = new Float64Array(steps), checkpoint = new Float64Array(steps);
  for (let i = 0; i < steps; ++i) {
    const slow = kind === 'slow' && i >= steps / 2;
    wait[i] = seconds * (slow ? 0.5 + 0.2 * next() : 0.02 + 0.01 * next());
    checkpoint[i] = i && i % 500 === 0 ? 8 * seconds : 0;
    const spike = next() < 0.001 ? 5 * seconds : 0;
    const straggling = kind === 'straggler' && i >= steps / 3 ? 0.4 * seconds : 0;
    iteration[i] = seconds * (0.9 + 0.2 * next()) + wait[i] + checkpoint[i] + spike + straggling;
  }
  const total = iteration.reduce((sum, value) => sum + value, 0);
  const quiet = kind === 'stalled' ? total * 0.1 : 0;
  const at = new Float64Array(steps);  // when each ended
  let time = ends - (total + quiet) * MICRO;
  const begin = time;
  for (let i = 0; i < steps; ++i) at[i] = time += iteration[i] * MICRO;
  return {job, kind, seconds, ranks, cores, gpus, seed, scalars, begin, at, iteration, wait, checkpoint, get end() { return at[at.length - 1]; }};
}

// So many steps more, each as long as usual; up to `now`, if that is later.
export function addSteps(job, count = 1, now = 0) {
  const length = Math.max(job.seconds, (now - job.end) / MICRO / count);
  const grown = (list, value) => {
    const longer = new Float64Array(list.length + count);
    longer.set(list);
    for (let i = 0; i < count; ++i) longer[list.length + i] = value(i);
    return longer;
  };
  const {end} = job;
  job.at = grown(job.at, (i) => end + (i + 1) * length * MICRO);
  job.iteration = grown(job.iteration, () => length);
  job.wait = grown(job.wait, () => 0.02 * length);
  job.checkpoint = grown(job.checkpoint, () => 0);
}

const iso = (us) => new Date(us / 1000).toISOString();

export function run(job, extra = {}) {
  const states = {healthy: 'running', slow: 'slow', straggler: 'slow', stalled: 'stalled'};
  const until = job.kind === 'stalled' ? Math.max(job.end, Date.now() * 1000) : job.end;
  const elapsed = (until - job.begin) / MICRO;
  const lost = job.kind === 'slow' ? {input_wait: 0.31 * elapsed} : job.kind === 'straggler' ? {straggler: 0.22 * elapsed} :
    job.kind === 'stalled' ? {stalled: (until - job.end) / MICRO} : {};
  return {
    job: job.job, state: states[job.kind],
    headline: {text: HEADLINES[job.kind](job), since: iso((job.begin + job.end) / 2)},
    since: iso((job.begin + job.end) / 2), attempt: 1, step: job.at.length - 1, seconds_per_step: job.seconds,
    steps_per_second: job.kind === 'stalled' ? 0 : 1 / job.seconds, begin: iso(job.begin), last_step_at: iso(job.end),
    ranks: `0-${job.ranks - 1}`, elapsed_seconds: elapsed, lost_seconds: lost, lost_share: sum(lost) / elapsed, end: null,
    attempts: [{number: 1, began_at: iso(job.begin), ended_at: null, first_step: 0, last_step: job.at.length - 1, ranks: job.ranks, end: null}],
    life: life({checkpoint: 0.01 * elapsed, ...lost}, {began_at: iso(job.begin), until: iso(until), wall_seconds: elapsed, steps: job.at.length}),
    ...extra,
  };
}

const sum = (parts) => Object.values(parts).reduce((a, b) => a + b, 0);

// The account of a run that did nothing but train, besides `parts`.
export function life(parts, {wall_seconds: wall, ...extra}) {
  const training = wall - sum(parts);
  return {
    began_at: iso(0), until: iso(0), wall_seconds: wall, gpu_seconds: wall, goodput: wall && training / wall, steps: 0, redone_steps: 0,
    steps_per_second: 0, eta_seconds: null, total_steps: null, open_seconds: 0, seconds: wall ? {training, ...parts} : {}, ...extra,
  };
}

const HEADLINES = {
  healthy: () => 'Running: since {since} ({for}) at the usual rate.',
  slow: (job) => `Slow: since {since} ({for}) every step waits for data on ranks 0-${job.ranks - 1}: 31 % of the time is lost, 41 GPU minutes so far.`,
  straggler: (job) => `Slow: since {since} ({for}) all ranks wait for rank ${job.ranks - 1}: 22 % of the time is lost.`,
  stalled: () => 'Stalled: since {since} ({for}) no step ended.',
};

// Steps in [start, end), in columns of a width.
function columnsOf(job, {start = job.begin, end = job.end + 1, columns = 500}) {
  const width = Math.max(1, Math.ceil((end - start) / Math.min(columns, 2000)));
  const found = new Map();
  for (let i = 0; i < job.at.length; ++i) {
    if (job.at[i] < start || job.at[i] >= end) continue;
    const column = Math.floor((job.at[i] - start) / width);
    if (!found.has(column)) found.set(column, []);
    found.get(column).push(i);
  }
  return {start, width, found};
}

export function steps(job, query) {
  const {start, width, found} = columnsOf(job, query);
  const out = {t_us: [], steps: [], last_step: [], attempt: [], min: [], p5: [], p50: [], p95: [], p99: [], max: [],
    phases: {data_wait: [], forward: [], backward: [], optimizer: [], other: [], between: []},
    getnext: {count: [], mean: [], max: []}};
  for (const [column, members] of found) {
    const sorted = members.map((i) => job.iteration[i]).sort((a, b) => a - b);
    const at = (q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
    const mean = (list) => members.reduce((sum, i) => sum + list[i], 0) / members.length;
    const [total, wait, checkpoint] = [mean(job.iteration), mean(job.wait), mean(job.checkpoint)];
    const rest = total - wait - checkpoint;
    out.t_us.push(start + column * width);
    out.steps.push(members.length);
    out.last_step.push(members[members.length - 1]);
    out.attempt.push(1);
    Object.entries({min: at(0), p5: at(0.05), p50: at(0.5), p95: at(0.95), p99: at(0.99), max: sorted[sorted.length - 1]})
      .forEach(([name, value]) => out[name].push(value));
    Object.entries({data_wait: wait, forward: rest * 0.3, backward: rest * 0.5, optimizer: rest * 0.1, other: rest * 0.04,
      between: rest * 0.06 + checkpoint}).forEach(([name, value]) => out.phases[name].push(value));
    out.getnext.count.push(members.length);
    out.getnext.mean.push(wait);
    out.getnext.max.push(Math.max(...members.map((i) => job.wait[i])));
  }
  const marks = [];
  job.checkpoint.forEach((length, i) => {
    if (length) marks.push({kind: 'checkpoint', start_us: job.at[i] - length * MICRO, end_us: job.at[i]});
  });
  return {job: job.job, from_us: Math.round(job.begin), to_us: Math.round(job.end), width_us: width, columns: out, marks};
}

export function heatmap(job, what, query) {
  const start = query.start ?? job.begin, end = query.end ?? job.end;
  const columns = Math.min(query.columns ?? 500, 2000);
  const next = random(job.seed + 7);
  const series = (level) => Array.from({length: columns}, (_, i) => (i % 97 === 96 ? null : level(i / columns, next())));
  const head = {job: job.job, what, start_us: Math.round(start), width_us: Math.ceil((end - start) / columns), columns};
  const late = (rank) => job.kind === 'straggler' && rank === job.ranks - 1;
  if (what === 'ranks') {
    return {...head, rows: Array.from({length: job.ranks}, (_, rank) => ({rank, node: `node-${rank >> 3}`,
      values: series((x, r) => job.seconds * (1 + 0.1 * r + (late(rank) && x > 1 / 3 ? 0.4 : 0))),
      lost: series((x, r) => (job.kind === 'slow' && x > 0.5 ? 0.3 + 0.1 * r : late(rank) && x > 1 / 3 ? 0.3 : 0.01 * r))}))};
  }
  if (what === 'wall_time') {
    const lost = job.kind === 'straggler' ? ['straggler', 1 / 3, 0.3] : ['input_wait', job.kind === 'slow' ? 0.5 : 1, 0.62];
    const shares = (x) => ({startup: x < 0.02 ? 1 : 0, checkpoint: x < 0.02 ? 0 : 0.01, [lost[0]]: x > lost[1] ? lost[2] : 0});
    const seconds = (x, part) => (part === 'training' ? 1 - sum(shares(x)) : shares(x)[part]) * head.width_us / MICRO;
    return {...head, rows: ['training', ...Object.keys(shares(0))].map((part) => ({part, values: series((x) => seconds(x, part))}))
      .filter((row) => row.values.some((value) => value > 0))};
  }
  const busy = (x, r) => Math.min(100, (job.kind === 'slow' && x > 0.5 ? 45 : 88) + 12 * r);
  const row = (resource, device, level) => ({node: 'node-0', resource, device, values: series(level)});
  return {...head, rows: [
    ...Array.from({length: job.gpus}, (_, i) => row('gpu', `gpu${i}`, busy)),
    ...Array.from({length: job.gpus}, (_, i) => row('gpu_memory', `gpu${i}`, (x, r) => 60 + 5 * r)),
    ...Array.from({length: job.cores}, (_, i) => row('cpu', `cpu${i}`, (x, r) => (i === 0 ? 92 : 25) + 8 * r)),
  ]};
}

export function histogram(job, what, {start = job.begin, end = job.end + 1}) {
  const groups = what === 'steps' ?
    [group('train', Array.from({length: 60}, (_, i) => 1e-3 * 1.2 ** i), [...job.iteration].filter((_, i) => job.at[i] >= start && job.at[i] < end))] :
    ['gpu', 'cpu'].map((name, k) => {
      const next = random(k + 3);
      return group(name, Array.from({length: 20}, (_, i) => 5 * (i + 1)), Array.from({length: 500}, () => (name === 'gpu' ? 60 : 10) + 39 * next()));
    });
  return {job: job.job, what, groups};
}

function group(name, bounds, values) {
  const counts = bounds.map(() => 0);
  for (const value of values) counts[Math.max(0, bounds.findIndex((bound) => value <= bound))]++;
  return {name, bounds, counts};
}

// Of a job that logs: a loss with a spike, a NaN and a resume from a checkpoint at two thirds; a learning rate of two ranks.
export function scalars(job, tags, last = 1000) {
  const every = Math.max(1, Math.ceil(job.at.length / 400));
  const logged = [...job.at.keys()].filter((i) => i % every === 0);
  const resumed = Math.floor(logged.length * 2 / 3), back = Math.floor(logged.length / 10);
  const curve = (tag, kind, rank, value, attempts = []) => ({job: job.job, rank, tag, kind, unit: '', attempts,
    points: logged.map((i, k) => [attempts.length && k >= resumed ? i - back * every : i, Math.round(job.at[i]), value(i / job.at.length, k)])});
  const all = job.scalars ? [
    curve('train/loss', 'loss', null, (x, k) => (k === 100 ? 'NaN' : k === 60 ? 9 : 1 + 4 * Math.exp(-3 * x) + 0.02 * (k % 7)), [resumed]),
    curve('lr', 'learning_rate', 0, (x) => 3e-5 * (1 - x)), curve('lr', 'learning_rate', 1, (x) => 2e-5 * (1 - x)),
    curve('<b>accuracy</b>', 'other', null, (x) => x)] : [];
  return {job: job.job, columns: ['step', 't_us', 'value'], series: all.filter(({tag}) => !tags.length || tags.includes(tag))
    .map((series) => ({...series, attempts: last < 1000 ? [] : series.attempts, points: series.points.slice(-last)}))};
}

export function annotations(job, {start, end}) {
  const inside = [...job.at].filter((time) => time >= start && time < end).length;
  const rows = [['aten::convolution', 'Forward', 0, 12 * inside, Math.round(30000 * inside), Math.round(start)],
    ['autograd::engine', 'Backward', 0, inside, Math.round(21000 * inside), Math.round(start)],
    ['DataLoader.__next__ <b>not markup</b>', 'DataLoader', 0, inside, Math.round(2000 * inside), Math.round(start)],
    ['void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<CUDAFunctor_add<float>>>(int, float)', '', null, 3, 1200, Math.round(start)]];
  return {columns: ['name', 'phase', 'rank', 'count', 'total_us', 'first_us'], rows: inside ? rows : [], left_out: 7};
}

export function analysis(name, job) {
  const rows = (make) => Array.from({length: job.ranks}, (_, rank) => make(rank)).flat();
  const node = 'node-0';
  const table = (columns, values) => ({columns, rows: values, left_out: 0});
  switch (name) {
    case 'temporal_breakdown':
      return table(['rank', 'idle_time_ns', 'compute_time_ns', 'non_compute_time_ns', 'kernel_time_ns', 'cycle', 'node'],
        rows((rank) => [[rank, 3e8 + 1e7 * rank, 6e8, 1e8, 1e9 + 1e7 * rank, 0, node]]));
    case 'idle_time_breakdown':
      return table(['rank', 'stream', 'idle_category', 'idle_time_ns', 'idle_time_ratio', 'cycle', 'node'],
        rows((rank) => [['host_wait', 2e8], ['kernel_wait', 5e7], ['other', 5e7]].map(([kind, ns]) => [rank, 7, kind, ns, 0.5, 0, node])));
    case 'comm_comp_overlap':
      return table(['rank', 'comp_comm_overlap_pctg', 'communication_time_ns', 'overlapped_time_ns', 'cycle', 'node'],
        rows((rank) => [[rank, 62.5, 2e8, 1.25e8, 0, node]]));
    case 'batchtime':
      return {count: 800, median_us: 1.21e6, max_us: 9.8e6, outlier_count: 0, outliers: {columns: [], rows: []}};
    case 'dataloader_workers':
      return {count: 8, median_us: 4e7, max_us: 5e7, outlier_count: 0, outliers: {columns: [], rows: []}};
    default:
      return null;
  }
}
