// SPDX-License-Identifier: Apache-2.0
// The frame of a panel: a title, and one quiet line where there is nothing to draw.

import {html} from 'htm/preact';

export function Panel({title, result, empty, note, children, name}) {
  const line = quietLine(result, empty);
  if (line) return html`<section class="panel quiet-panel" data-panel=${name}><h3>${title}</h3><p class="quiet">${line}</p></section>`;
  return html`<section class="panel" data-panel=${name}>
    <h3>${title}</h3>${note && html`<p class="note quiet">${note}</p>`}
    ${result.error && html`<p class="note quiet">Older data: ${result.error}.</p>`}
    ${children}
  </section>`;
}

// `empty` says what is missing if there is data without anything to draw; '' otherwise.
function quietLine(result, empty) {
  if (result.missing) return 'This server does not have it.';
  if (!result.data) return result.error ? `It could not be read: ${result.error}.` : 'Reading…';
  return empty;
}
