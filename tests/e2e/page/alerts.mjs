// SPDX-License-Identifier: Apache-2.0
// Alerts as the server sends them.

import {createHash} from 'node:crypto';

const CAUSES = [{name: 'input_wait', coverage: 0.87, explanation: 'It waited 3.65 s for its input, 3.65 s longer than usual.'},
  {name: 'unattributed', missing: ['gpu samples']}, {name: 'straggler', coverage: 0.62, explanation: 'Rank 7 computed longer.'}];
export const RULES = ['step_spike', 'input_bound', 'straggler', 'stall', 'low_gpu_utilization'];

export const idOf = (name) => createHash('sha256').update(String(name)).digest('hex').slice(0, 32);

export function makeAlert(name, {state = 'firing', severity = 'warning', rule = 'input_bound', at = Date.now() - 60000, job = 'bert',
  ranks = '0-7', rank, incident, lost = 41.2, summary = `Every step waits for data (${name}).`, lasted = 30000} = {}) {
  const started = new Date(at).toISOString();
  return {
    id: idOf(name), epoch: 'epoch-1', state, rule, severity, started_at: started, updated_at: started,
    ended_at: state === 'resolved' ? new Date(at + lasted).toISOString() : null, ended_because: state === 'resolved' ? 'recovered' : null,
    subject: {job, attempt: 1, node: 'node-0', ...(rank === undefined ? {ranks} : {rank})}, incident: incident ? idOf(incident) : idOf(name),
    count: 1, step: 120, value: 0.61, threshold: 0.42, baseline: 0.21, unit: 'seconds', lost_seconds: lost, summary,
    cause: CAUSES[summary.length % CAUSES.length],
    evidence: {pattern: 'lasting', lost_percent: 31.25, recent_steps: [350, 351], note: '<img src=x onerror="window.pwned=1">'},
    next: 'Look at the data loader: more workers, a longer prefetch queue or faster storage would hide this wait.',
    runbook: `/docs/rules/${rule}`,
  };
}

// `count` resolved alerts of the past, oldest first.
export function makeHistory(count, now = Date.now()) {
  return Array.from({length: count}, (_, i) => makeAlert(`old ${i}`, {
    state: 'resolved', rule: RULES[i % RULES.length], severity: ['info', 'warning', 'critical'][i % 3], at: now - (count - i) * 2000 - 3600e3,
    summary: `Old alert ${i}.`, lost: i % 7, rank: i % 8}));
}
