// SPDX-License-Identifier: Apache-2.0
// What the GPUs did in the last profiler cycles: busy, idle and why, communication that is hidden.

import {html} from 'htm/preact';
import {duration, percent, seconds} from './format.js';
import {Panel} from './panel.js';
import {Swatch} from './time_chart.js';

const MOST_RANKS = 64;
const KINDS = [['compute_time_ns', 'computation', '#009e73'], ['non_compute_time_ns', 'communication and copies, exposed', '#e69f00'],
  ['idle_time_ns', 'idle', '#999999']];
const IDLE = [['host_wait', 'waits for the host', '#d55e00'], ['kernel_wait', 'between kernels', '#56b4e9'], ['other', 'other', '#999999']];

const records = (table) => (table?.rows || []).map((row) => Object.fromEntries(table.columns.map((name, i) => [name, row[i]])));

// Sums of `fields` over the cycles of each rank, and of `key` (its value names the field) if given.
function byRank(rows, add) {
  const ranks = new Map();
  for (const row of rows) {
    const name = `${row.node ? `${row.node} ` : ''}${row.rank === null ? 'unnamed rank' : `rank ${row.rank}`}`;
    if (!ranks.has(name)) ranks.set(name, {name, rank: row.rank});
    add(ranks.get(name), row);
  }
  return [...ranks.values()].sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
}

export function GpuPanel({panels}) {
  const {breakdown, idle, overlap} = panels;
  const work = byRank(records(breakdown.data).filter((row) => row.kernel_time_ns > 0), (sum, row) => {
    for (const [field] of KINDS) sum[field] = (sum[field] || 0) + row[field];
    sum.cycles = (sum.cycles || 0) + 1;
  });
  const waits = byRank(records(idle.data), (sum, row) => {
    sum[row.idle_category] = (sum[row.idle_category] || 0) + row.idle_time_ns;
  });
  const hidden = byRank(records(overlap.data), (sum, row) => {
    sum.communication = (sum.communication || 0) + row.communication_time_ns;
    sum.overlapped = (sum.overlapped || 0) + row.overlapped_time_ns;
  });
  const find = (list, name) => list.find((each) => each.name === name) || {};
  return html`
    <${Panel} name="gpu" title="GPU time of the last profiler cycles" result=${breakdown}
      empty=${work.length ? '' : 'No profiler cycle with GPU activity.'}>
      <ul class="legend">${[...KINDS, ...IDLE.slice(0, 2)].map(([, label, colour]) => html`<li><${Swatch} colour=${colour} /> ${label}</li>`)}</ul>
      <div class="wide" tabindex="0" role="region" aria-label="GPU time of the last profiler cycles"><table class="bars">
        <thead><tr><th scope="col">rank</th><th scope="col">GPU time</th><th scope="col">busy</th><th scope="col">idle because it</th>
          <th scope="col">communication hidden</th></tr></thead>
        <tbody>${work.slice(0, MOST_RANKS).map((rank) => html`<${Rank} rank=${rank} idle=${find(waits, rank.name)}
          overlap=${find(hidden, rank.name)} />`)}</tbody></table></div>
      ${work.length > MOST_RANKS && html`<p class="quiet">and ${work.length - MOST_RANKS} more ranks</p>`}
    <//>`;
}

function Rank({rank, idle, overlap}) {
  const total = KINDS.reduce((sum, [field]) => sum + rank[field], 0);
  const waited = IDLE.reduce((sum, [name]) => sum + (idle[name] || 0), 0);
  return html`<tr>
    <th scope="row">${rank.name}</th>
    <td><${Bar} parts=${KINDS.map(([field, label, colour]) => [label, rank[field] / total, colour])} /></td>
    <td class="number">${percent((total - rank.idle_time_ns) / total)} of ${duration(total / 1e9) === '0 s' ? seconds(total / 1e9) : duration(total / 1e9)}</td>
    <td>${waited ? html`<${Bar} parts=${IDLE.map(([name, label, colour]) => [label, (idle[name] || 0) / waited, colour])} />
      ${IDLE.filter(([name]) => idle[name] > 0).map(([name, label]) => `${label} ${percent(idle[name] / waited)}`).join(', ')}` : '–'}</td>
    <td class="number">${overlap.communication ? `${percent(overlap.overlapped / overlap.communication)} of ${seconds(overlap.communication / 1e9)}` : '–'}</td>
  </tr>`;
}

// Shares as a bar: [label, share, colour].
export function Bar({parts}) {
  let x = 0;
  const label = parts.filter(([, share]) => share > 0).map(([name, share]) => `${name} ${percent(share)}`).join(', ');
  return html`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label=${label}><title>${label}</title>
    ${parts.map(([name, share, colour]) => {
      const at = x;
      x += 100 * share;
      return html`<rect key=${name} x=${at} width=${100 * share} height="10" fill=${colour} />`;
    })}</svg>`;
}
