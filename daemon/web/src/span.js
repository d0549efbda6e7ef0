// SPDX-License-Identifier: Apache-2.0
// Which time the charts show: {kind: 'all'}, {kind: 'last', us}, or {kind: 'span', from, to} in
// microseconds. All charts show the same.

const SHORTEST_US = 1000;

// [from, to] of what is shown; null while nothing is known.
export function shownSpan(range, extent) {
  if (range.kind === 'span') return [range.from, range.to];
  if (!extent) return null;
  if (range.kind === 'last') return [Math.max(extent[0], extent[1] - range.us), extent[1]];
  return extent;
}

export function zoomed(from, to, extent) {
  if (from > to) [from, to] = [to, from];
  const width = Math.max(SHORTEST_US, to - from);
  if (extent && width >= extent[1] - extent[0]) return {kind: 'all'};
  if (extent) from = Math.min(Math.max(from, extent[0]), extent[1] - width);
  return {kind: 'span', from: Math.round(from), to: Math.round(from + width)};
}

export function zoomedBy(factor, [from, to], around, extent) {
  const centre = around === null || around < from || around > to ? (from + to) / 2 : around;
  return zoomed(centre - (centre - from) * factor, centre + (to - centre) * factor, extent);
}

export const movedBy = (share, [from, to], extent) =>
  zoomed(from + share * (to - from), to + share * (to - from), extent);

// As the part of the address behind '#': #job=bert&from=US&to=US, or last=US.
export function toHash({job, attempt, range}) {
  const query = new URLSearchParams();
  if (job) query.set('job', job);
  if (attempt !== undefined) query.set('attempt', attempt);
  if (range.kind === 'span') query.set('from', range.from), query.set('to', range.to);
  if (range.kind === 'last') query.set('last', range.us);
  return `${query}`;
}

export function fromHash(hash) {
  const query = new URLSearchParams(hash.replace(/^#/, ''));
  const number = (name) => (/^\d+$/.test(query.get(name) ?? '') ? Number(query.get(name)) : undefined);
  const [from, to, last] = [number('from'), number('to'), number('last')];
  let range = {kind: 'all'};
  if (from !== undefined && to > from) range = {kind: 'span', from, to};
  else if (last) range = {kind: 'last', us: last};
  return {job: query.get('job'), attempt: number('attempt'), range};
}
