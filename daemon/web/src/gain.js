// SPDX-License-Identifier: Apache-2.0
// What avoiding the worst of what is lost would give, and how to begin.

import {html} from 'htm/preact';
import {isPart, worstFirst} from './alert_book.js';
import {percent, seconds, words} from './format.js';
import {isOver} from './model.js';

const WORTH_SAYING = 0.01;  // of the time
const WITHOUT = {
  input_wait: 'waiting for data', straggler: 'the slowest rank', elsewhere: 'other nodes', redone: 'steps done again', down: 'down time',
  stalled: 'stalls', unattributed: 'unknown causes',
};

// {cause, share, seconds, factor} of the part of the time that costs most; null if nothing is worth fixing. `factor` is how many
// times as fast the run would have been without it.
export function gainOf({lost_seconds: lost, elapsed_seconds: elapsed}) {
  const [cause, seconds] = Object.entries(lost).reduce((most, each) => (each[1] > most[1] ? each : most), ['', 0]);
  if (!(seconds >= WORTH_SAYING * elapsed && seconds < elapsed)) return null;
  return {cause, seconds, share: seconds / elapsed, factor: elapsed / (elapsed - seconds)};
}

const faster = (factor) => (factor < 1.2 ? `${percent(factor - 1)} faster` : `${Number(factor.toPrecision(factor < 10 ? 2 : 3))} times as fast`);

export function Gain({run, book}) {
  const gain = gainOf(run);
  if (!gain) return null;
  const over = isOver(run);
  const {next} = [...book.firing(), ...book.resolved()].sort((a, b) => isPart(a) - isPart(b) || worstFirst(a, b))
    .find((alert) => alert.lost_seconds && alert.cause?.name === gain.cause && (alert.subject?.job ?? '') === run.job) || {};
  return html`<p class="gain">Without ${WITHOUT[gain.cause] || words(gain.cause)} it would
    ${over ? ' have been' : ' be'} <b>${faster(gain.factor)}</b>: ${seconds(gain.seconds)} or ${percent(gain.share)} of the time${over ? '' : ' so far'}.
    ${next && html` <span class="next">${next}</span>`}</p>`;
}
