// SPDX-License-Identifier: Apache-2.0
// Where the wall time of a run went: its parts as a bar, training first.

import {html} from 'htm/preact';
import {percent, seconds, words} from './format.js';
import {Bar} from './gpu_view.js';
import {partColour} from './theme.js';
import {Swatch} from './time_chart.js';

const WORTH_NAMING = 0.001;  // of the time

export function WallTime({life}) {
  const training = ([name]) => name === 'training';
  const parts = Object.entries(life.seconds).sort((a, b) => training(b) - training(a) || b[1] - a[1])
    .map(([name, spent]) => [words(name), spent / life.wall_seconds, partColour(name), spent]);
  if (!parts.length) return null;
  return html`<figure class="wall-time"><figcaption>Where the wall time went</figcaption>
    <${Bar} parts=${parts} />
    <ul class="legend">${parts.filter(([, share]) => share >= WORTH_NAMING).map(([name, share, colour, spent]) => html`<li key=${name}>
      <${Swatch} colour=${colour} /> ${name} <b>${percent(share)}</b> <span class="quiet">${seconds(spent)}</span></li>`)}</ul>
  </figure>`;
}
