// SPDX-License-Identifier: Apache-2.0
// Ranks over time and utilisation over time.

import {html} from 'htm/preact';
import {useState} from 'preact/hooks';
import {percent, seconds} from './format.js';
import {HeatMap} from './heat_map.js';
import {Panel} from './panel.js';
import {heatGradient} from './theme.js';

const MOST_ROWS = 160;  // at two pixels each; more are drawn together, the worst of each group

const Scale = ({low, high}) => html`<span class="heat-scale">${low} <i style=${{background: heatGradient()}}></i> ${high}</span>`;

// Rows in groups of neighbours, so that at most MOST_ROWS are left: the highest value counts.
function grouped(rows) {
  const size = Math.ceil(rows.length / MOST_ROWS);
  if (size <= 1) return rows;
  const groups = [];
  for (let i = 0; i < rows.length; i += size) {
    const some = rows.slice(i, i + size);
    const values = some[0].values.map((_, x) => some.reduce((worst, row) => {
      const value = row.values[x];
      return value === null || value === undefined || value <= worst ? worst : value;
    }, -1)).map((value) => (value < 0 ? null : value));
    groups.push({label: some[0].label, name: `${some[0].name} and ${some.length - 1} more, the worst`, values});
  }
  return groups;
}

export function RanksPanel({model, result, span: [from, to]}) {
  const answer = result.data;
  const rows = answer?.rows || [];
  const [byTime, setByTime] = useState(null);
  const hasLost = rows.some((row) => row.lost?.some((share) => share > 0));
  const showTime = byTime ?? !hasLost;
  let [low, high] = [Infinity, 0];
  for (const {values} of rows) {
    for (const value of values) {
      if (value !== null && value < low) low = value;
      if (value > high) high = value;
    }
  }
  const lines = rows.map((row) => ({label: String(row.rank ?? row.node), name: row.rank === null ? row.node : `rank ${row.rank}${row.node ? ` on ${row.node}` : ''}`,
    values: showTime ? row.values : row.lost || []}));
  const spread = Math.log(Math.max(high / low, 1.001));
  const share = showTime ? (value) => Math.log(value / low) / spread : (value) => value;
  return html`
    <${Panel} name="ranks" title="Ranks over time" result=${result} empty=${low < Infinity || hasLost ? '' : 'No steps in this time.'}>
      ${hasLost && html`<button class="scale" onClick=${() => setByTime(!showTime)}>
        ${showTime ? 'Show time lost' : 'Show iteration time'}</button>`}
      <${HeatMap} model=${model} data=${answer} rows=${grouped(lines)} variant=${showTime} startUs=${answer?.start_us}
        widthUs=${answer?.width_us} columns=${answer?.columns} from=${from} to=${to} share=${share} format=${showTime ? seconds : percent}
        label=${`${showTime ? 'Iteration time' : 'Share of time lost'} of ${rows.length} ranks`}
        legend=${html`<span>${showTime ? 'seconds per iteration' : 'share of the time lost'} of each rank</span>
          ${showTime ? html`<${Scale} low=${seconds(low)} high=${seconds(high)} />` : html`<${Scale} low="0 %" high="100 %" />`}`} />
    <//>`;
}

const RESOURCES = [['gpu', 'GPUs'], ['gpu_memory', 'GPU memory'], ['cpu', 'cores'], ['io_wait', 'I/O wait']];

export function UtilizationPanel({model, result, span: [from, to]}) {
  const answer = result.data;
  const [chosen, setChosen] = useState('');
  const rows = answer?.rows || [];
  const order = (row) => RESOURCES.findIndex(([name]) => name === row.resource);
  const present = RESOURCES.filter(([name]) => rows.some((row) => row.resource === name));
  const nodes = new Set(rows.map((row) => row.node)).size;
  const shown = rows.filter((row) => (chosen ? row.resource === chosen : row.resource !== 'io_wait' || present.length === 1))
    .map((row, i) => ({row, i})).sort((a, b) => order(a.row) - order(b.row) || a.i - b.i)
    .map(({row}) => ({label: row.resource === 'gpu_memory' ? `${row.device} m` : row.device, values: row.values,
      name: `${row.device}${row.resource === 'gpu_memory' ? ' memory' : row.resource === 'io_wait' ? ' I/O wait' : ''}` +
        `${nodes > 1 ? ` on ${row.node}` : ''}`}));
  return html`
    <${Panel} name="utilization" title="Utilisation of GPUs and cores" result=${result}
      empty=${rows.length ? '' : 'No system metrics in this time.'}>
      ${present.length > 1 && html`<label class="scale">show <select value=${chosen}
        onChange=${(event) => setChosen(event.currentTarget.value)}>
        <option value="">GPUs and cores</option>
        ${present.map(([name, label]) => html`<option value=${name}>${label}</option>`)}</select></label>`}
      <${HeatMap} model=${model} data=${answer} rows=${grouped(shown)} variant=${chosen} startUs=${answer?.start_us}
        widthUs=${answer?.width_us} columns=${answer?.columns} from=${from} to=${to} share=${(value) => value / 100}
        format=${(value) => percent(value / 100)} label=${`Utilisation of ${shown.length} devices`}
        legend=${html`<span>dark is idle, bright is busy</span> <${Scale} low="0 %" high="100 %" />`} />
    <//>`;
}
