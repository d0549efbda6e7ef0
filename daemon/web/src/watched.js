// SPDX-License-Identifier: Apache-2.0
// What is read, how far, what was rejected, and which rules lack input; folded.

import {html} from 'htm/preact';
import {useState} from 'preact/hooks';
import {bytes, clock, count, plural, seconds} from './format.js';

const MOST_FILES = 100;

const rejectText = (rejects) => Object.entries(rejects || {}).map(([why, n]) => `${why} ${count(n)}`).join(', ');

export function Watched({model}) {
  const {status} = model;
  const [open, setOpen] = useState(false);
  return html`
    <section aria-labelledby="watched-title" class="watched">
      <h2 id="watched-title">Watched</h2>
      ${!status ? html`<p class="quiet">Reading…</p>` : html`
        <p>${summary(status, model.clock.now())}</p>
        <details onToggle=${(event) => setOpen(event.currentTarget.open)}><summary>Sources, rules and files</summary>
          ${open && html`<${Tables} status=${status} />`}</details>`}
    </section>`;
}

function summary(status, now) {
  const sources = status.sources || [];
  const sum = (name) => sources.reduce((total, each) => total + (each[name] || 0), 0);
  const rules = status.rules || [];
  const missing = rules.filter((rule) => rule.missing?.length).length;
  const parts = [
    `${sources.map((each) => each.source).join(', ') || 'Nothing'}: ${plural(sum('files'), 'file')}, ` +
      `${bytes(sum('bytes'))} read, ${bytes(sum('lag_bytes'))} unread`,
    missing ? `${missing} of ${plural(rules.length, 'rule')} lack input` : plural(rules.length, 'rule'),
  ];
  const rejects = sources.reduce((all, each) => all + Object.values(each.rejects || {}).reduce((a, b) => a + b, 0), 0);
  if (rejects) parts.push(`${plural(rejects, 'record')} rejected`);
  if (status.started_at) parts.push(`started ${clock(Date.parse(status.started_at), now)}`);
  return `${parts.join('; ')}.`;
}

function Tables({status}) {
  const files = status.files || [];
  const left = files.length - MOST_FILES + (status.files_left_out || 0);
  return html`
    <${Table} caption="Sources" rows=${status.sources} columns=${[
      ['source', 'path', (s) => s.source],
      ['files', 'number', (s) => count(s.files)],
      ['read', 'number', (s) => bytes(s.bytes)],
      ['unread', 'number', (s) => bytes(s.lag_bytes)],
      ['behind', 'number', (s) => seconds(s.lag_seconds)],
      ['events', 'number', (s) => count(s.events)],
      ['rejected', '', (s) => rejectText(s.rejects)],
    ]} />
    <${Table} caption="Rules" rows=${status.rules} columns=${[
      ['rule', 'path', (r) => r.rule],
      ['instances', 'number', (r) => count(r.instances)],
      ['warming up', 'number', (r) => count(r.warming)],
      ['firing', 'number', (r) => count(r.firing)],
      ['abstaining', 'number', (r) => count(r.abstaining)],
      ['missing input', '', (r) => (r.missing || []).join(', ')],
    ]} />
    <${Table} caption="Files" rows=${files.slice(0, MOST_FILES)} columns=${[
      ['file', 'path', (f) => f.path],
      ['format', '', (f) => f.error || f.format],
      ['size', 'number', (f) => bytes(f.size)],
      ['read', 'number', (f) => bytes(f.offset)],
      ['records', 'number', (f) => count(f.records)],
      ['rejected', 'number', (f) => count(f.rejects)],
    ]} />
    ${left > 0 && html`<p class="quiet">${plural(left, 'more file')}.</p>`}
    <${Table} caption="Rejected records" rows=${status.rejected_samples} columns=${[
      ['file', 'path', (r) => r.path],
      ['reason', '', (r) => r.reason],
      ['begins with', 'path', (r) => r.sample],
    ]} />`;
}

// columns: [title, class, text of a row]
export function Table({caption, rows, columns}) {
  if (!rows?.length) return null;
  return html`<div class="wide" tabindex="0" role="region" aria-label=${caption}><table>
    <caption>${caption}</caption>
    <thead><tr>${columns.map(([title, kind]) => html`<th scope="col" class=${kind}>${title}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${columns.map(([, kind, text]) => html`<td class=${kind}>${text(row) ?? ''}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}
