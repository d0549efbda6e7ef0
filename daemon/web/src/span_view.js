// SPDX-License-Identifier: Apache-2.0
// What ran in the chosen span of time, and the trace of it.

import {html} from 'htm/preact';
import {Download} from './download.js';
import {clockSeconds, count, duration, plural, seconds} from './format.js';
import {Panel} from './panel.js';
import {Table} from './watched.js';

const MOST_ROWS = 50;

export function SpanPanel({model, result, span: [from, to]}) {
  const {job, source, clock} = model;
  const query = new URLSearchParams({start: Math.round(from), end: Math.round(to), ...(job === null ? {} : {job})});
  const names = result.data?.columns || [];
  const at = (name) => names.indexOf(name);
  const rows = (result.data?.rows || []).slice(0, MOST_ROWS);
  const left = (result.data?.left_out || 0) + (result.data?.rows.length || 0) - rows.length;
  const now = clock.now();
  return html`
    <div class="chosen-span">
      <p class="span-actions">Chosen: ${clockSeconds(from / 1000, now)} to ${clockSeconds(to / 1000, now)} (${duration((to - from) / 1e6)}).
        ${' '}<${Download} key=${`${query}`} source=${source} path=${`/api/v1/timeline?${query}`} kind="download" text="Download the trace of this span" />
        ${' '}<button onClick=${model.reset}>Show the whole run</button></p>
      <${Panel} name="annotations" title="What ran in this span" result=${result}
        empty=${rows.length ? '' : 'Nothing that was recorded.'}>
        <${Table} caption="The longest in total first" rows=${rows} columns=${[
          ['name', 'path', (row) => row[at('name')]],
          ['phase', '', (row) => row[at('phase')]],
          ['rank', 'number', (row) => row[at('rank')]],
          ['how often', 'number', (row) => count(row[at('count')])],
          ['total', 'number', (row) => seconds(row[at('total_us')] / 1e6)],
          ['first at', 'number', (row) => clockSeconds(row[at('first_us')] / 1000, now)],
        ]} />
        ${left > 0 && html`<p class="quiet">and ${plural(left, 'more name')}</p>`}
      <//>
    </div>`;
}
