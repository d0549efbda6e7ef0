// SPDX-License-Identifier: Apache-2.0
// Two runs, or two attempts of one, side by side: where did the time go then and now.

import {html} from 'htm/preact';
import {useEffect, useState} from 'preact/hooks';
import {micros} from './clock.js';
import {summary, wallTime} from './columns.js';
import {clock, count, duration, percent, seconds, words} from './format.js';
import {Bar} from './gpu_view.js';
import {runName} from './runs_view.js';
import {isLost, partColour, PHASES} from './theme.js';
import {Swatch} from './time_chart.js';

// What can be compared: each attempt of each run, latest first.
export function choices(runs, now) {
  return runs.flatMap((run) => {
    const attempts = [...run.attempts].reverse();
    return attempts.map(({number: attempt, began_at: begin, ended_at: end}) => ({
      key: `${run.job} ${attempt}`, job: run.job, attempt, begin, end,
      label: `${runName(run)}${attempts.length > 1 ? `, attempt ${attempt}` : ''}, ${clock(Date.parse(begin), now)}`,
    }));
  });
}

export function Compare({model}) {
  const all = choices(model.runs || [], model.clock.now());
  const [keys, setKeys] = useState([null, null]);
  const [open, setOpen] = useState(false);
  if (all.length < 2) return null;
  const present = all.find((each) => each.job === model.job) || all[0];
  const pick = (i) => all.find((each) => each.key === keys[i]) || (i ? present : all.find((each) => each !== present && each.job === present.job) ||
    all.find((each) => each !== present));
  const [then, now] = [pick(0), pick(1)];
  const choose = (i) => (event) => setKeys(keys.map((key, k) => (k === i ? event.currentTarget.value : key)));
  return html`
    <section aria-labelledby="compare-title" class="compare">
      <h2 id="compare-title">Then and now</h2>
      <details onToggle=${(event) => setOpen(event.currentTarget.open)}><summary>Compare two runs or attempts</summary>
        <div class="pick">${[['then', then], ['now', now]].map(([name, chosen], i) => html`<label>${name}
          ${' '}<select value=${chosen.key} onChange=${choose(i)}>${all.map((each) => html`<option value=${each.key}>${each.label}</option>`)}</select></label>`)}</div>
        ${open && html`<${Comparison} key=${`${then.key} ${now.key}`} model=${model} then=${then} now=${now} />`}
      </details>
    </section>`;
}

const ask = async (model, {job, attempt, begin, end}) => {
  const of = job === null ? {} : {job};
  const [from, to] = [micros(begin), end ? micros(end) : undefined];
  const steps = new URLSearchParams({...of, columns: 1, ...(attempt === undefined ? {} : {attempt})});
  const spent = new URLSearchParams({...of, what: 'wall_time', start: from, ...(to === undefined ? {} : {end: to + 1})});
  const [means, answer] = await Promise.all([model.source.get(`/api/v1/steps?${steps}`).then(summary),
    model.source.get(`/api/v1/heatmap?${spent}`)]);
  return {...means, lost: wallTime(answer, from, to).shares};
};

function Comparison({model, then, now}) {
  const [state, setState] = useState({});
  useEffect(() => {
    let shown = true;
    Promise.all([ask(model, then), ask(model, now)])
      .then((sides) => shown && setState({sides}), (error) => shown && setState({error}));
    return () => { shown = false; };
  }, []);
  if (state.error) {
    return html`<p class="quiet">It could not be read: ${state.error.message}.</p>`;
  }
  if (!state.sides) return html`<p class="quiet">Reading…</p>`;
  const [a, b] = state.sides;
  const phases = PHASES.filter(([name]) => a.phases[name] !== undefined || b.phases[name] !== undefined);
  const causes = [...new Set([...Object.keys(a.lost), ...Object.keys(b.lost)])].filter((name) => isLost(name) && (a.lost[name] || b.lost[name]));
  const lasted = ({begin, end}) => (begin && end ? duration((Date.parse(end) - Date.parse(begin)) / 1000) : '–');
  const bars = (side) => {
    const total = phases.reduce((sum, [name]) => sum + (side.phases[name] || 0), 0) || 1;
    return html`<${Bar} parts=${phases.map(([name, label, colour]) => [label, (side.phases[name] || 0) / total, colour])} />`;
  };
  return html`<div class="wide" tabindex="0" role="region" aria-label="Comparison"><table>
    <thead><tr><td></td><th scope="col" class="number">then</th><th scope="col" class="number">now</th><th scope="col" class="number">difference</th></tr></thead>
    <tbody>
      <${Row} name="median iteration" a=${a.p50} b=${b.p50} format=${seconds} />
      <${Row} name="99 % below" a=${a.p99} b=${b.p99} format=${seconds} />
      <tr><th scope="row">steps</th><td class="number">${count(a.steps)}</td><td class="number">${count(b.steps)}</td><td></td></tr>
      <tr><th scope="row">lasted</th><td class="number">${lasted(then)}</td><td class="number">${lasted(now)}</td><td></td></tr>
      ${phases.length > 0 && html`<tr><th scope="row">an iteration</th><td>${bars(a)}</td><td>${bars(b)}</td><td></td></tr>`}
      ${phases.map(([name, label, colour]) => html`<${Row} key=${name} name=${label} colour=${colour} a=${a.phases[name]} b=${b.phases[name]} format=${seconds} />`)}
      ${causes.map((name) => html`<${Row} key=${name} name=${`lost: ${words(name)}`} colour=${partColour(name)} a=${a.lost[name] ?? 0} b=${b.lost[name] ?? 0} format=${percent} points />`)}
    </tbody></table></div>`;
}

function Row({name, a, b, format, colour, points = false}) {
  const known = Number.isFinite(a) && Number.isFinite(b);
  const change = b - a;
  const sign = change > 0 ? '+' : change < 0 ? '−' : '±';
  const times = a > 0 ? b / a : 1;
  const ratio = points || Math.abs(times - 1) < 0.005 ? '' :
    times < 2 ? ` (${sign}${percent(Math.abs(times - 1))})` : ` (${Number(times.toPrecision(2))} times)`;
  return html`<tr><th scope="row">${colour && html`<${Swatch} colour=${colour} /> `}${name}</th>
    <td class="number">${format(a)}</td><td class="number">${format(b)}</td>
    <td class="number">${known ? `${sign}${format(Math.abs(change))}${ratio}` : '–'}</td></tr>`;
}
