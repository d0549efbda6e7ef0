// SPDX-License-Identifier: Apache-2.0
// The sentence on top: of the chosen run in full, of the others in a line each.

import {html} from 'htm/preact';
import {ago, clock, count, duration, percent, plural} from './format.js';
import {Gain} from './gain.js';
import {worstRunFirst} from './model.js';
import {WallTime} from './wall_time.js';

// Shape, word: never colour alone.
const STATES = {
  starting: '◔', running: '▶', slow: '▲', stalled: '■', finished: '✓', failed: '✖', cancelled: '⊘', gone: '?',
};
const MOST_RUNS = 6;

export const runName = (run) => run.job || 'unnamed run';

// The headline with the clock time and the duration filled in.
export function headline(run, now) {
  const {text, since} = run.headline;
  const start = Date.parse(since);
  return text.replaceAll('{since}', Number.isNaN(start) ? 'the beginning' : clock(start, now))
    .replaceAll('{for}', Number.isNaN(start) ? 'unknown' : duration((now - start) / 1000));
}

export function Runs({model}) {
  const {runs, status} = model;
  if (!runs) return html`<section class="runs" aria-label="Runs"><p class="sentence quiet">Reading…</p></section>`;
  if (!runs.length) return html`<section class="runs" aria-label="Runs"><${NoRun} status=${status} /></section>`;
  const sorted = [...runs].sort(worstRunFirst);
  const chosen = model.run() || sorted[0];
  const others = sorted.filter((run) => run !== chosen);
  return html`
    <section class="runs" aria-label="Runs">
      <${Sentence} run=${chosen} model=${model} alone=${runs.length === 1} />
      ${others.length > 0 && html`<ul class="others">
        ${others.slice(0, MOST_RUNS).map((run) => html`<${OtherRun} key=${run.job} run=${run} model=${model} />`)}
      </ul>`}
      ${others.length > MOST_RUNS && html`<details class="others">
        <summary>${plural(others.length - MOST_RUNS, 'more run')}</summary>
        <ul>${others.slice(MOST_RUNS).map((run) => html`<${OtherRun} key=${run.job} run=${run} model=${model} />`)}</ul>
      </details>`}
    </section>`;
}

function NoRun({status}) {
  if (!status || !status.ready) return html`<p class="sentence quiet">Reading the files that are there…</p>`;
  const roots = (status.sources || []).map((each) => each.source).join(', ');
  return html`<p class="sentence">No run yet: no training step was found below ${roots || 'the watched paths'}.</p>`;
}

const State = ({state}) => html`<span class="state ${state}"><span aria-hidden="true">${STATES[state]}</span> ${state}</span>`;

function Sentence({run, model, alone}) {
  const last = Date.parse(run.last_step_at);
  const {end, life} = run;
  const {book} = model;
  const now = model.clock.now();
  return html`
    <div class="sentence-box ${run.state}">
      <p class="of">${!(alone && !run.job) && html`<b class="job">${runName(run)}</b> `}<${State} state=${run.state} /></p>
      <p class="sentence">${headline(run, now)}</p>
      ${end?.evidence && html`<p class="end"><q>${end.evidence}</q> <span class="quiet">${end.file}</span></p>`}
      <${Gain} run=${run} book=${book} />
      <dl class="figures">
        <${Figure} name="rate" value=${rate(run)} />
        <${Figure} name="step" value=${count(run.step) + (life.total_steps ? ` of ${count(life.total_steps)}` : '')}
          more=${Number.isNaN(last) ? '' : ago(last, now)} />
        ${life.eta_seconds !== null && html`<${Figure} name="left" value=${duration(life.eta_seconds)} />`}
        <${Figure} name="goodput" value=${percent(life.wall_seconds ? life.goodput : null)} />
        <${Figure} name="lost" value=${percent(life.wall_seconds ? run.lost_share : null)} />
        <${Figure} name="ranks" value=${run.ranks || '–'} />
        <${Figure} name="attempt" value=${count(run.attempt)} />
        <${Figure} name="time" value=${duration(life.wall_seconds || null)} />
      </dl>
      <${WallTime} life=${life} model=${model} />
    </div>`;
}

const Figure = ({name, value, more}) => html`
  <div class="figure-${name}"><dt>${name}</dt><dd>${value}${more && html` <span class="quiet">${more}</span>`}</dd></div>`;

export function rate(run) {
  const each = run.steps_per_second;
  if (!each) return '–';
  return each >= 0.1 ? `${Number(each.toPrecision(3))} steps/s` : `${Number((each * 60).toPrecision(3))} steps/min`;
}

function OtherRun({run, model}) {
  return html`<li>
    <button class="link" onClick=${() => model.choose(run.job)}>${runName(run)}</button>
    ${' '}<${State} state=${run.state} /> <span class="text">${headline(run, model.clock.now())}</span>
    ${' '}<span class="quiet">${rate(run)}, step ${count(run.step)}</span>
  </li>`;
}
