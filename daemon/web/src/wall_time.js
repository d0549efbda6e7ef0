// SPDX-License-Identifier: Apache-2.0
// Where the wall time of a run went: its parts over time, and all together, training first.

import {html} from 'htm/preact';
import {wallTimeSpec} from './chart_specs.js';
import {percent, seconds, words} from './format.js';
import {partColour} from './theme.js';
import {Swatch, TimeChart} from './time_chart.js';

const WORTH_NAMING = 0.001;  // of the time

export function WallTime({life, model}) {
  const parts = Object.entries(life.seconds).sort(([a, x], [b, y]) => (b === 'training') - (a === 'training') || y - x)
    .map(([name, spent]) => [words(name), spent / life.wall_seconds, partColour(name), spent]).filter(([, share]) => share >= WORTH_NAMING);
  if (!parts.length) return null;
  const {data} = model.panels.wallTime;
  const [from, to] = model.span();
  const label = parts.map(([name, share]) => `${name} ${percent(share)}`).join(', ');
  const spec = wallTimeSpec(data);
  return html`<figure class="wall-time"><figcaption>Where the wall time went</figcaption>
    ${spec && html`<${TimeChart} ...${{model, data, from, to, label, spec}} step=${data.width_us} />`}
    <ul class="legend">${parts.map(([name, share, colour, spent]) => html`<li key=${name}>
      <${Swatch} colour=${colour} /> ${name} <b>${percent(share)}</b> <span class="quiet">${seconds(spent)}</span></li>`)}</ul>
  </figure>`;
}
