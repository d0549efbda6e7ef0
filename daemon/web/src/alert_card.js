// SPDX-License-Identifier: Apache-2.0
// One incident: the alert that speaks for it, and its parts on demand.

import {html} from 'htm/preact';
import {useState} from 'preact/hooks';
import {micros} from './clock.js';
import {Download} from './download.js';
import {ago, clockSeconds, count, duration, percent, plural, words} from './format.js';
import {HangRanks} from './hang_ranks.js';
import {Still} from './still.js';

// A shape for each severity, so that it shows without colour.
export const SIGNS = {critical: '⬣', warning: '▲', info: '●'};

export function where(subject = {}) {
  const parts = [];
  if (subject.job) parts.push(subject.job);
  if (subject.node) parts.push(subject.node);
  if (subject.ranks) parts.push(`ranks ${subject.ranks}`);
  else if (subject.rank !== undefined) parts.push(`rank ${subject.rank}`);
  if (subject.process !== undefined) parts.push(`process ${subject.process}`);
  if (subject.gpu !== undefined) parts.push(`gpu ${subject.gpu}`);
  if (subject.attempt > 1) parts.push(`attempt ${subject.attempt}`);
  return parts.join(' · ');
}

export function causeText(cause) {
  if (!cause?.name) return '';
  if (cause.name === 'unattributed') {
    const missing = (cause.missing || []).join(', ');
    return missing ? `not known; it would take ${missing}` : 'not known';
  }
  const share = cause.coverage ? ` (explains ${percent(cause.coverage)})` : '';
  return `${words(cause.name)}${share}${cause.explanation ? `: ${cause.explanation}` : ''}`;
}

function when(alert, now) {
  const start = Date.parse(alert.started_at);
  if (Number.isNaN(start)) return '';
  const end = Date.parse(alert.ended_at ?? '');
  if (alert.state !== 'resolved' || Number.isNaN(end)) return `since ${clockSeconds(start, now)}, for ${duration((now - start) / 1000)}`;
  const lasted = (end - start) / 1000;
  const because = alert.ended_because ? `, ${words(alert.ended_because)}` : '';
  return `${clockSeconds(start, now)}${lasted >= 1 ? `, for ${duration(lasted)}` : ''} (ended ${ago(end, now)}${because})`;
}

const Severity = ({alert}) => html`<span class="severity ${alert.severity}">
  <span aria-hidden="true">${SIGNS[alert.severity] || '●'}</span> ${alert.severity}</span>`;

export function AlertCard({alert, others = [], model}) {
  const time = when(alert, model.clock.now());
  return html`<${Still} of=${[alert, others.map((other) => other.id + other.seq).join(), model.book.parts(alert.incident), time]}
    draw=${() => card(alert, others, time, model)} />`;
}

function card(alert, others, time, model) {
  const resolved = alert.state === 'resolved';
  return html`
    <li class="alert ${alert.severity} ${resolved ? 'resolved' : 'firing'}" data-id=${alert.id}>
      <div class="head">
        <${Severity} alert=${alert} />
        <span class="rule">${alert.rule}</span>
        <span class="where">${where(alert.subject)}</span>
        ${alert.step !== null && alert.step !== undefined && html`<span>step ${count(alert.step)}</span>`}
        ${alert.count > 1 && html`<span>seen ${count(alert.count)} times</span>`}
        <time datetime=${alert.started_at}>${time}</time>
      </div>
      <p class="summary">${alert.summary}</p>
      <${HangRanks} evidence=${alert.evidence} />
      <dl>
        ${alert.cause?.name && html`<dt>cause</dt><dd class="cause">${causeText(alert.cause)}</dd>`}
        ${alert.next && html`<dt>next</dt><dd class="next">${alert.next}</dd>`}
      </dl>
      <div class="more">
        <${Evidence} alert=${alert} />
        <${Parts} alert=${alert} others=${others} model=${model} />
        <span class="links"><${Links} alert=${alert} model=${model} /></span>
      </div>
    </li>`;
}

function Links({alert, model}) {
  const runbook = alert.runbook?.startsWith('/docs/') && model.source.link(alert.runbook);
  const start = micros(alert.started_at);
  const end = micros(alert.ended_at ?? alert.updated_at);
  const margin = Math.max(5e6, (end - start) / 4);
  return html`
    ${runbook && html`<a class="runbook" href=${runbook}>runbook</a>`}
    <${Download} source=${model.source} path=${`/api/v1/alerts/${encodeURIComponent(alert.id)}/trace`} kind="trace" text="trace of it" />
    ${Number.isFinite(start) && Number.isFinite(end) && html`<button class="link show"
      onClick=${() => model.zoom(start - margin, end + margin)}>show in the charts</button>`}`;
}

function Evidence({alert}) {
  const rows = Object.entries(alert.evidence || {});
  if (!rows.length) return null;
  return html`<details class="evidence"><summary>Evidence</summary>
    <table><tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${words(name)}</th><td>${text(value)}</td></tr>`)}</tbody></table>
  </details>`;
}

function text(value) {
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

// The other alerts of the incident, asked for when unfolded.
function Parts({alert, others, model}) {
  const [error, setError] = useState('');
  const loaded = model.book.parts(alert.incident);
  const parts = [...others, ...(loaded || []).filter((part) => !others.some((each) => each.id === part.id))];
  const load = (event) => {
    if (!event.currentTarget.open || loaded) return;
    setError('');
    model.book.loadParts(alert).then(model.urgent, (problem) => setError(problem.message));
  };
  return html`<details class="parts" onToggle=${load}>
    <summary>${parts.length ? plural(parts.length, 'part') : loaded ? 'No parts' : 'Parts'} of this incident</summary>
    ${error ? html`<p class="quiet">They could not be read: ${error}</p>` :
      !loaded && !parts.length ? html`<p class="quiet">Reading…</p>` :
      !parts.length ? html`<p class="quiet">None: this alert is all of it.</p>` :
      html`<ul>${parts.map((part) => html`<li key=${part.id} data-id=${part.id}>
        <${Severity} alert=${part} /> <span class="rule">${part.rule}</span> ${where(part.subject)}: ${part.summary}</li>`)}</ul>`}
  </details>`;
}
