// SPDX-License-Identifier: Apache-2.0
// What the charts over time draw; see time_chart.js.

import uPlot from 'uplot';
import {drawable, wallTime} from './columns.js';
import {percent, seconds} from './format.js';
import {isLost, partColour, PHASES} from './theme.js';
import {drawMarks, drawSpans} from './chart_marks.js';

const stepped = uPlot.paths.stepped({align: 1});
const noPoints = {show: false};
const WORTH_A_DOT = 1.2;  // an iteration outside of p5 to p99 by this factor
const SHORTEST = 1e-6;    // seconds

// Of seconds, whose lowest and highest are null where nothing is shown. A logarithmic scale begins at one digit above 0:
// from 0, and from most numbers above 9.5, 0.95 and so on, uPlot makes ticks without end.
const oneDigit = (value) => Number(value.toExponential(0));
const scaleOfSeconds = (logarithmic) => (logarithmic ?
  {distr: 3, range: (_, low, high) => [oneDigit(0.7 * Math.max(low ?? 0, SHORTEST)), Math.max(high ?? 0, 10 * SHORTEST) * 1.25]} :
  {range: (_, low, high) => [0, Math.max(high ?? 0, SHORTEST) * 1.05]});

// Iteration time: median, p5 to p99, what lies outside of them, alerts, evaluation, checkpoints.
export function iterationSpec(answer, alerts, logarithmic) {
  const {p5, p50, p99, min, max} = answer.columns;
  const above = max.map((value, i) => (value > p99[i] * WORTH_A_DOT ? value : null));
  const below = min.map((value, i) => (value < p5[i] / WORTH_A_DOT ? value : null));
  const points = drawable(answer, [p99, p5, p50, above, below]);
  return (colours) => ({
    key: `iteration ${logarithmic}`,
    data: [points.times, ...points.lists], index: points.index, format: seconds,
    y: scaleOfSeconds(logarithmic),
    series: [
      {paths: stepped, stroke: colours.band, width: 1, points: noPoints},
      {paths: stepped, stroke: colours.band, width: 1, points: noPoints},
      {paths: stepped, stroke: colours.accent, width: 2, points: noPoints},
      {paths: () => null, stroke: colours.accent, points: {show: true, size: 5, fill: colours.card}},
      {paths: () => null, stroke: colours.quiet, points: {show: true, size: 4, fill: colours.card}},
    ],
    bands: [{series: [1, 2], fill: colours.band}],
    under: (plot) => drawSpans(plot, alerts, colours),
    over: (plot) => drawMarks(plot, answer.marks || [], colours),
    legend: [
      {label: 'median', colour: colours.accent, mark: 'line', value: (i) => seconds(p50[i])},
      {label: 'p5 to p99', colour: colours.band, value: (i) => `${seconds(p5[i])} to ${seconds(p99[i])}`},
      {label: 'extremes', colour: colours.accent, mark: 'dot', value: (i) => `${seconds(min[i])}, ${seconds(max[i])}`},
    ],
  });
}

// Stacked lists, the first at the bottom.
function stackedSpec(key, answer, layers, format, topOf) {
  const sums = [];
  for (const {values} of layers) {
    const below = sums[sums.length - 1];
    sums.push(values.map((value, i) => (value ?? 0) + (below ? below[i] : 0)));
  }
  // The highest first, so that each covers the lower part of the one before.
  const points = drawable(answer, sums.reverse());
  const top = topOf(sums[0]);
  return () => ({
    key: `${key} ${layers.map((layer) => layer.label)}`, format,
    data: [points.times, ...points.lists], index: points.index,
    y: {range: () => [0, top]},
    series: [...layers].reverse().map((layer) => ({paths: stepped, stroke: layer.colour, width: 1, fill: layer.colour, points: noPoints})),
    legend: layers.map(({label, colour, values}) => ({label, colour, value: (i) => format(values[i])})),
  });
}

// The highest of `values`, but for single ones that would make everything else flat: they are cut off.
function usualTop(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const usual = sorted[Math.floor(0.97 * (sorted.length - 1))];
  return Math.max(1e-9, Math.min(sorted[sorted.length - 1], 1.5 * usual || Infinity));
}

export function phasesSpec(answer) {
  const {phases} = answer.columns;
  const layers = PHASES.filter(([name]) => phases[name]).map(([name, label, colour]) => ({label, colour, values: phases[name]}));
  return layers.length ? stackedSpec('phases', answer, layers, seconds, (totals) => usualTop(totals) * 1.05) : null;
}

// How the wall time was spent: what is not lost at the bottom.
export function wallTimeSpec(answer) {
  const {t_us, parts, shares} = wallTime(answer);
  const layers = Object.keys(parts)
    .sort((a, b) => isLost(a) - isLost(b) || shares[b] - shares[a])
    .map((name) => ({label: name, colour: partColour(name), values: parts[name]}));
  const spec = layers.length && stackedSpec('wallTime', {...answer, columns: {t_us}}, layers, percent, () => 1);
  return spec && (() => ({...spec(), legend: []}));
}

export function dataLoadingSpec(answer) {
  const {count = [], mean = [], max = []} = answer.columns.getnext || {};
  if (!count.some((n) => n > 0)) return null;
  const without = (values) => values.map((value, i) => (count[i] > 0 ? value : null));
  const points = drawable(answer, [without(max), without(mean)]);
  const wide = Math.max(...max) > 10 * Math.min(...mean.filter((value, i) => count[i] > 0 && value > 0));
  return (colours) => ({
    key: `getnext ${wide}`, format: seconds, data: [points.times, ...points.lists], index: points.index,
    y: scaleOfSeconds(wide),
    series: [
      {paths: stepped, stroke: colours.quiet, width: 1, dash: [4, 3], points: noPoints},
      {paths: stepped, stroke: colours.accent, width: 2, points: noPoints},
    ],
    legend: [
      {label: 'mean wait', colour: colours.accent, mark: 'line', value: (i) => (count[i] ? seconds(mean[i]) : '–')},
      {label: 'longest', colour: colours.quiet, mark: 'line', value: (i) => (count[i] ? seconds(max[i]) : '–')},
      {label: 'batches', colour: 'none', value: (i) => String(count[i] ?? '–')},
    ],
  });
}
