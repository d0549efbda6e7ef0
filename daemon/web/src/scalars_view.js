// SPDX-License-Identifier: Apache-2.0
// What the job logs about itself, over time: two charts, each of one tag. The first shows the loss unless another is chosen.

import {html} from 'htm/preact';
import uPlot from 'uplot';
import {drawMarks, drawSpans} from './chart_marks.js';
import {bytes, digits, percent, plural, seconds, words} from './format.js';
import {Panel} from './panel.js';
import {PHASES} from './theme.js';
import {TimeChart} from './time_chart.js';

const FORMATS = {seconds, bytes, ratio: percent};
const COLOURS = PHASES.map(([, , colour]) => colour);  // as many ranks are drawn
const STEP = 0, TIME = 1, VALUE = 2;

// Of the tags in `answer`, those that are shown: what was chosen, else the first of each kind.
export function shownTags(answer, chosen) {
  const series = answer?.series || [];
  const usual = series.filter(({kind}, i) => series.findIndex((each) => each.kind === kind) === i);
  const tags = [...new Set([...usual, ...series].map(({tag}) => tag))];
  return chosen.map((tag, i) => (tags.includes(tag) ? tag : tags[i])).filter(Boolean);
}

export function ScalarPanels({model, panels: {tags, scalars}, span}) {
  const all = [...new Set((tags.data?.series || []).map(({tag}) => tag))];
  const shown = shownTags(tags.data, model.tags);
  if (!shown.length) return html`<${Panel} name="scalars" title="What the job logs" result=${tags} empty="No loss or other values are logged." />`;
  return shown.map((tag, i) => {
    const ranks = (scalars.data?.series || []).filter((each) => each.tag === tag);
    const series = ranks.slice(0, COLOURS.length);
    const choice = html`<label class="scale">show <select value=${tag} onChange=${(event) => model.chooseTag(i, event.currentTarget.value)}>
      ${all.map((each) => html`<option>${each}</option>`)}</select></label>`;
    return html`<${Panel} key=${i} name=${`scalars${i}`} title=${words(tag)} result=${series.length ? scalars : {...scalars, data: null}}
      note=${noteOn(ranks)}>
      ${choice}<${ScalarChart} model=${model} tag=${tag} data=${scalars.data} series=${series} span=${span} /><//>`;
  });
}

function noteOn(ranks) {
  if (!ranks.every(hasTimes)) return 'Its log has no times: the values are spread evenly.';
  return ranks.length > COLOURS.length ? `The first ${COLOURS.length} of ${ranks.length} ranks.` : '';
}

// Without times of their own, many values have that of the reading.
const hasTimes = ({points}) => 2 * new Set(points.map((point) => point[TIME])).size > points.length;

// In microseconds.
function timesOf(series, [from, to]) {
  const {points} = series;
  if (hasTimes(series)) return points.map((point) => point[TIME]);
  return points.map((_, i) => from + ((to - from) * i) / (points.length - 1));
}

function ScalarChart({model, tag, data, series, span: [from, to]}) {
  const points = series.flatMap((each) => each.points);
  const bad = points.filter((point) => !Number.isFinite(point[VALUE]));
  const last = points[points.length - 1]?.[VALUE];
  const format = FORMATS[series[0].unit] || number;
  const label = `${tag}: latest ${read(last, format)}` +
    `${bad.length ? `, ${plural(bad.length, 'value')} not finite` : ''}`;
  return html`<${TimeChart} model=${model} data=${data} from=${from} to=${to} step=${(to - from) / 200} variant=${tag} label=${label}
    spec=${scalarSpec(tag, series, model.extent(), format)} />`;
}

const number = (value) => digits(value, 4);
const read = (value, format) => (typeof value === 'number' ? format(value) : value ?? '–');

// All curves at the times of any of them. What is not finite is a bar, a further attempt a dashed line.
function scalarSpec(tag, series, extent, format) {
  const own = series.map((each) => timesOf(each, extent));
  const times = [...new Set(own.flat())].sort((a, b) => a - b);
  const place = new Map(times.map((time, i) => [time, i]));
  const curves = series.map(({points}, k) => {
    const curve = new Array(times.length);
    points.forEach((point, i) => { curve[place.get(own[k][i])] = point; });
    return curve;
  });
  const latest = (curve, i, what) => {
    while (i > 0 && !curve[i]) --i;
    return curve[i]?.[what];
  };
  const spans = series.flatMap(({points}, k) => points.flatMap((point, i) => (Number.isFinite(point[VALUE]) ? [] :
    [{from: own[k][i], to: own[k][i], severity: 'critical'}])));
  const marks = series.flatMap(({attempts}, k) => attempts.map((i) => ({kind: 'attempt', start_us: own[k][i], end_us: own[k][i]})));
  return (colours) => ({
    key: `${tag} ${series.length}`, format, index: times.map((_, i) => i),
    data: [times.map((time) => time / 1e6), ...curves.map((curve) => curve.map((point) => (Number.isFinite(point?.[VALUE]) ? point[VALUE] : undefined)))],
    y: {range: (_, low, high) => (low === null ? [0, 1] : uPlot.rangeNum(low, high, 0.1, true))},
    series: series.map((_, k) => ({stroke: COLOURS[k], width: 1.5, spanGaps: true})),
    under: (plot) => drawSpans(plot, spans, colours),
    over: (plot) => drawMarks(plot, marks, colours),
    legend: [...series.map(({rank}, k) => ({label: rank === null ? 'value' : `rank ${rank}`, colour: COLOURS[k], mark: 'line',
      value: (i) => read(latest(curves[k], i, VALUE), format)})),
    {label: 'step', colour: 'none', value: (i) => String(latest(curves[0], i, STEP) ?? '–')}],
  });
}
