// SPDX-License-Identifier: Apache-2.0
// The columns of /api/v1/steps: joining newer ones to those that are there, and averages over them.
// Times are microseconds.

const PLAIN = ['t_us', 'steps', 'last_step', 'attempt', 'min', 'p5', 'p50', 'p95', 'p99', 'max'];
const NESTED = ['phases', 'getnext'];

// Where to ask on from, so that the columns that come are as wide as those that are there; null if
// all must be asked for again.
export function nextColumns(answer, toUs, most) {
  const times = answer?.columns?.t_us;
  if (!times?.length || !answer.width_us) return null;
  const start = times[times.length - 1];
  const wanted = Math.max(1, Math.ceil((toUs - start) / answer.width_us) + 1);
  const held = Math.round((start - times[0]) / answer.width_us);
  if (held + wanted > most) return null;
  return {start, end: start + wanted * answer.width_us, columns: wanted};
}

// `older` with the columns of `newer` in place of its own from their first on; null if they differ in width.
export function joinColumns(older, newer) {
  if (older.width_us !== newer.width_us) return null;
  const first = newer.columns.t_us[0];
  if (first === undefined) return older;
  const found = older.columns.t_us.findIndex((time) => time >= first);
  const keep = found < 0 ? older.columns.t_us.length : found;
  const added = newer.columns.t_us.length;
  const joined = {};
  for (const name of PLAIN) joined[name] = joinOne(older.columns[name], newer.columns[name], keep, added);
  for (const name of NESTED) {
    const names = new Set([...Object.keys(older.columns[name] || {}), ...Object.keys(newer.columns[name] || {})]);
    joined[name] = {};
    for (const each of names) {
      joined[name][each] = joinOne(older.columns[name]?.[each], newer.columns[name]?.[each], keep, added);
    }
  }
  return {...newer, from_us: Math.min(older.from_us, newer.from_us), columns: joined,
    marks: joinMarks(older.marks, newer.marks)};
}

function joinOne(older, newer, keep, added) {
  const before = older ? older.slice(0, keep) : new Array(keep).fill(0);
  return before.concat(newer || new Array(added).fill(0));
}

function joinMarks(older = [], newer = []) {
  const byStart = new Map(older.map((mark) => [`${mark.kind} ${mark.start_us}`, mark]));
  for (const mark of newer) byStart.set(`${mark.kind} ${mark.start_us}`, mark);
  return [...byStart.values()];
}

// Means over all columns, weighted by steps: p50, p99 and phases; and the number of steps.
export function summary(answer) {
  const {steps = [], phases = {}, p50 = [], p99 = []} = answer.columns;
  const total = steps.reduce((sum, n) => sum + n, 0);
  const mean = (weights) => {
    const all = weights.reduce((sum, weight) => sum + weight, 0);
    return (values) => (all ? values.reduce((sum, v, i) => sum + (v ?? 0) * weights[i], 0) / all : null);
  };
  const each = (table, of) => Object.fromEntries(Object.entries(table).map(([name, values]) => [name, of(values)]));
  const ofSteps = mean(steps);
  return {steps: total, p50: ofSteps(p50), p99: ofSteps(p99), phases: each(phases, ofSteps)};
}

// The columns of /api/v1/heatmap?what=wall_time in which the run was there, those from `from` to `to` where these are given:
// {t_us, parts: {part: its share of each}, shares: {part: its share of all}}.
export function wallTime(answer, from = -Infinity, to = Infinity) {
  const {rows = [], start_us: start, width_us: width} = answer || {};
  const sums = (rows[0]?.values || []).map((_, i) => rows.reduce((sum, {values}) => sum + values[i], 0));
  const at = (i) => start + i * width;
  const kept = [...sums.keys()].filter((i) => sums[i] > 0 && at(i + 1) > from && at(i) < to);
  const total = (values) => kept.reduce((sum, i) => sum + values[i], 0);
  const each = (of) => Object.fromEntries(rows.map(({part, values}) => [part, of(values)]));
  return {t_us: kept.map(at), parts: each((values) => kept.map((i) => values[i] / sums[i])),
    shares: each((values) => total(values) / total(sums))};
}

// For a chart that draws steps: `lists` with a null where no steps were for a while, and the last
// column drawn to its end. {times in seconds, lists, index of the column at each point}.
export function drawable(answer, lists) {
  const {t_us: times = [], p50 = []} = answer.columns;
  const width = answer.width_us;
  const gap = (i) => times[i + 1] - times[i] > Math.max(2.5 * width, 6e6 * (p50[i] || 0));
  const out = {times: [], lists: lists.map(() => []), index: []};
  const push = (time, i, values) => {
    out.times.push(time / 1e6);
    out.index.push(i);
    values.forEach((value, k) => out.lists[k].push(value));
  };
  const at = (i) => lists.map((list) => list[i] ?? null);
  for (let i = 0; i < times.length; ++i) {
    push(times[i], i, at(i));
    if (i + 1 === times.length) push(times[i] + width, i, at(i));
    else if (gap(i)) push(times[i] + width, i, lists.map(() => null));
  }
  return out;
}
