// SPDX-License-Identifier: Apache-2.0
// What fires, pinned and worst first; what is resolved, newest first and in pages; filters of both.

import {html} from 'htm/preact';
import {useState} from 'preact/hooks';
import {AlertCard} from './alert_card.js';
import {incidents, matches, newestFirst, SEVERITIES, worstFirst} from './alert_book.js';
import {count, plural} from './format.js';

const FIRST_SHOWN = 50;

export function FiringAlerts({model}) {
  const {book} = model;
  const [most, setMost] = useState(FIRST_SHOWN);
  const firing = book.firing().filter((alert) => matches(model.filter, alert));
  const groups = incidents(firing);
  const hidden = book.firing().length - firing.length;
  return html`
    <section aria-labelledby="firing-title" class="firing">
      <h2 id="firing-title">Firing ${book.known && html`<span class="quiet">${count(groups.length)}</span>`}</h2>
      ${book.known && book.firing().length + book.resolved().length > 1 && html`<${Filters} model=${model} />`}
      <div aria-live="polite">
        ${!book.known && html`<p class="quiet">Reading…</p>`}
        ${book.known && !groups.length && html`<p class="nothing"><span aria-hidden="true">✓</span>
          ${' '}Nothing fires${hidden ? ' that the filter lets through' : ''}.</p>`}
      </div>
      <ol class="alerts">${groups.slice(0, most).map(({speaker, others}) => html`
        <${AlertCard} key=${speaker.id} alert=${speaker} others=${others} model=${model} />`)}</ol>
      ${groups.length > most && html`<button onClick=${() => setMost(most + FIRST_SHOWN)}>
        Show more of ${plural(groups.length - most, 'other')}</button>`}
      ${hidden > 0 && html`<p class="quiet">${plural(hidden, 'firing alert')} hidden by the filter.</p>`}
    </section>`;
}

export function ResolvedAlerts({model}) {
  const {book, source} = model;
  const [busy, setBusy] = useState(false);
  const [most, setMost] = useState(source.live ? 20 : Infinity);
  const shown = book.resolved().filter((alert) => matches(model.filter, alert));
  const groups = incidents(shown, source.live ? newestFirst : worstFirst);
  const more = async () => {
    setBusy(true);
    if (groups.length < most + 20 && book.hasOlder()) await model.loadOlder();
    setMost(most + 20);
    setBusy(false);
  };
  const rest = groups.length > most || (source.live && book.hasOlder());
  return html`
    <section aria-labelledby="resolved-title" class="resolved">
      <h2 id="resolved-title">${source.live ? 'Resolved' : 'What was resolved, worst first'}</h2>
      ${book.scanned === null ? html`<p class="quiet">Reading…</p>` :
        !groups.length && html`<p class="quiet">None${book.hasOlder() ? ' among the latest' : ''}.</p>`}
      <ol class="alerts">${groups.slice(0, most).map(({speaker, others}) => html`
        <${AlertCard} key=${speaker.id} alert=${speaker} others=${others} model=${model} />`)}</ol>
      ${book.scanned !== null && rest && html`<button class="older" disabled=${busy} onClick=${more}>
        ${busy ? 'Reading…' : 'Older'}</button>`}
    </section>`;
}

function Filters({model}) {
  const {book, filter} = model;
  const all = [...book.firing(), ...book.resolved()];
  const among = (values, current) => [...new Set([...values, current])].filter(Boolean).sort();
  const rules = among([...all.map((alert) => alert.rule), ...(model.status?.rules || []).map((each) => each.rule)], filter.rule);
  const runs = among(all.map((alert) => alert.subject?.job), filter.run);
  const set = (name) => (event) => model.setFilter({[name]: event.currentTarget.value.trim()});
  const active = Object.values(filter).some(Boolean);
  return html`
    <form class="filters" aria-label="Filter of alerts" onSubmit=${(event) => event.preventDefault()}>
      <label>rule <select value=${filter.rule} onChange=${set('rule')}>
        <option value="">all</option>${rules.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>
      <label>severity <select value=${filter.severity} onChange=${set('severity')}>
        <option value="">all</option>${SEVERITIES.map((name) => html`<option value=${name}>
          ${name}${name === 'critical' ? '' : ' and above'}</option>`)}</select></label>
      <label>rank <input value=${filter.rank} onInput=${set('rank')} inputmode="numeric" pattern="[0-9]*" size="4" placeholder="all" /></label>
      ${runs.length > 0 && html`<label>run <select value=${filter.run} onChange=${set('run')}>
        <option value="">all</option>${runs.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>`}
      ${active && html`<button type="button" onClick=${() => model.setFilter({rule: '', severity: '', rank: '', run: ''})}>
        Clear the filter</button>`}
    </form>`;
}
