// SPDX-License-Identifier: Apache-2.0
// The name, the connection, links; and below it what must be known before anything else is trusted.

import {html} from 'htm/preact';
import {ago, clockSeconds} from './format.js';

const LINKS = [['/metrics', 'metrics'], ['/api/v1/runs', 'runs'], ['/api/v1/alerts', 'alerts'], ['/api/v1/status', 'status']];

const STATES = {connecting: ['◌', 'connecting'], live: ['●', 'live'], lost: ['✕', 'connection lost']};

export function TopBar({model}) {
  const {source, status, connection} = model;
  const [sign, word] = STATES[connection.state];
  return html`
    <header>
      <h1><${Icon} /> trainwatch <span class="quiet">${status?.version ?? ''}</span></h1>
      ${source.live && html`
        <p class="connection ${connection.state}" role="status"><span aria-hidden="true">${sign}</span> ${word}</p>
        <nav aria-label="Data">${LINKS.map(([path, name]) => html`<a href=${path}>${name}</a>`)}</nav>`}
      ${!source.live && html`<p class="connection">report of ${clockSeconds(model.clock.now(), Date.now())}</p>`}
    </header>`;
}

const Icon = () => html`
  <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
    <rect width="32" height="32" rx="7" fill="#14323f" />
    <path d="M4 19h6l3-9 5 14 4-9h6" fill="none" stroke="#5fd0c5" stroke-width="3"
      stroke-linecap="round" stroke-linejoin="round" />
  </svg>`;

// Whether what the page shows can be relied on.
export function Connection({model}) {
  const {connection, source, monitor, book} = model;
  const lost = source.live && connection.state === 'lost';
  return html`
    ${lost && html`
      <p class="banner critical" role="alert"><b>✕ Connection lost</b> ${ago(connection.lostSince, Date.now())}, at
        ${' '}${clockSeconds(connection.lostSince, Date.now())}. What you see is from then. Reconnecting.
        ${model.error && html` <span class="quiet">(${model.error})</span>`}</p>`}
    ${monitor && html`<p class="banner warning monitor"><b>▲ trainwatch itself</b>: ${monitor}</p>`}
    ${book.notice && html`<p class="banner">${book.notice}</p>`}`;
}
