// SPDX-License-Identifier: Apache-2.0
// The page, drawn into `place` from `source`: live_source.js or embedded_source.js.

import {render} from 'preact';
import {html} from 'htm/preact';
import {connect} from './connection.js';
import {createModel} from './model.js';
import {createRedraw} from './redraw.js';
import {Page} from './page.js';

export function start(source, place) {
  const redraw = createRedraw(() => render(html`<${Page} model=${model} />`, place));
  const model = createModel(source, {changed: redraw.soon, urgent: redraw.now});
  if (source.live) {
    model.fromAddress();
    window.addEventListener('hashchange', () => {
      model.fromAddress();
      model.loader.refresh();
      redraw.now();
    });
  }
  redraw.now();
  connect(model);
  return model;
}
