// SPDX-License-Identifier: Apache-2.0
// Histograms, drawn as SVG: one for each group.

import {html} from 'htm/preact';
import {count, plural} from './format.js';
import {Panel} from './panel.js';

const WIDTH = 300, HEIGHT = 90;

export function HistogramPanel({name, title, result, format, linear = false}) {
  const groups = (result.data?.groups || []).filter((group) => group.counts.some((n) => n > 0));
  return html`
    <${Panel} name=${name} title=${title} result=${result} empty=${groups.length ? '' : 'Nothing was measured in this time.'}>
      <div class="histograms">${groups.map((group) => html`<${Histogram} key=${group.name} group=${group} format=${format} linear=${linear} />`)}</div>
    <//>`;
}

function Histogram({group, format, linear}) {
  const {counts, bounds} = group;
  const first = linear ? 0 : counts.findIndex((n) => n > 0);
  const last = linear ? counts.length - 1 : counts.findLastIndex((n) => n > 0);
  const shown = counts.slice(first, last + 1);
  const most = Math.max(...shown);
  const total = shown.reduce((sum, n) => sum + n, 0);
  const step = WIDTH / shown.length;
  const upper = (i) => format(bounds[i]);
  const lower = (i) => (i > 0 ? format(bounds[i - 1]) : format(0));
  const top = shown.indexOf(most) + first;
  const label = `${group.name}: ${plural(total, 'measurement')}, from ${lower(first)} to ${upper(last)}, ` +
    `most (${count(most)}) from ${lower(top)} to ${upper(top)}`;
  return html`
    <figure class="histogram">
      <figcaption><b>${group.name}</b> <span class="quiet">${count(total)}</span></figcaption>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${label} preserveAspectRatio="none">
        ${shown.map((n, i) => html`<rect key=${i} x=${i * step + 0.5} width=${Math.max(0.5, step - 1)}
          y=${HEIGHT - height(n, most)} height=${height(n, most)}><title>${lower(first + i)} to ${upper(first + i)}: ${count(n)}</title></rect>`)}
      </svg>
      <div class="bounds"><span>${lower(first)}</span><span>${lower(Math.round((first + last + 1) / 2))}</span><span>${upper(last)}</span></div>
    </figure>`;
}

// A single measurement among thousands can be seen.
const height = (n, most) => (n > 0 ? Math.max(2, (HEIGHT * n) / most) : 0);
