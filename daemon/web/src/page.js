// SPDX-License-Identifier: Apache-2.0
// The whole page, from top to bottom: what each run is doing, what fires, where the time goes, what
// was, runs side by side, what is watched.

import {html} from 'htm/preact';
import {FiringAlerts, ResolvedAlerts} from './alerts_view.js';
import {Charts} from './charts.js';
import {Compare} from './compare.js';
import {Connection, TopBar} from './top_bar.js';
import {Runs} from './runs_view.js';
import {Tensors} from './tensors_section.js';
import {Watched} from './watched.js';

export function Page({model}) {
  const {connection, source} = model;
  const stale = source.live && connection.state === 'lost';
  return html`
    <a class="skip" href="#charts">Skip to the charts</a>
    <${TopBar} model=${model} />
    <main class=${stale ? 'stale' : ''}>
      <${Connection} model=${model} />
      <${Runs} model=${model} />
      ${source.live && html`<${FiringAlerts} model=${model} />`}
      <${Charts} model=${model} />
      ${!source.live && model.book.firing().length > 0 && html`<${FiringAlerts} model=${model} />`}
      <${Tensors} model=${model} />
      <${ResolvedAlerts} model=${model} />
      <${Compare} model=${model} />
      <${Watched} model=${model} />
    </main>`;
}
