// SPDX-License-Identifier: Apache-2.0
// The page of a real trainwatch, beside a job that is recorded.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import WebSocket from 'ws';
import {alertOf, BINARY, isLabelled, live, panel, says, until, withPage} from './browser.mjs';
import {Daemon} from './daemon.mjs';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

async function play(into) {
  const player = spawn('python3', [join(ROOT, 'scripts/play.py'), join(ROOT, 'tests/data/recorded-job'), into, '--speed=0', '--as-recorded'], {stdio: 'ignore'});
  await once(player, 'exit');
}

async function watched(use) {
  const scratch = mkdtempSync(join(tmpdir(), 'trainwatch-job-'));
  const job = join(scratch, 'job');
  mkdirSync(job);
  const state = join(scratch, 'state');
  const daemon = await new Daemon(BINARY, job, {state}).ready();
  try {
    await use(daemon, job, state);
  } finally {
    await daemon.stop();
    rmSync(scratch, {recursive: true, force: true});
  }
}

// The latest state of each alert that stands for itself, by id.
async function incidentsOf(daemon) {
  const {alerts} = await daemon.json('/api/v1/alerts?limit=1000&parts=1');
  const latest = new Map(alerts.map((alert) => [alert.id, alert]));
  return new Map([...latest].filter(([id, alert]) => alert.incident === id));
}

const everything = (daemon) => until(async () => (await daemon.json('/api/v1/runs')).runs[0]?.step === 599, 'all is read');

test('an alert is on the page by itself; values equal the API', () => watched((daemon, job) =>
  withPage(daemon.url, async (page) => {
    await live(page);
    await page.getByText('No run yet').waitFor();
    const sent = new Map();
    const client = new WebSocket(daemon.url.replace('http', 'ws') + '/api/v1/stream', 'trainwatch.v1.json');
    client.on('message', (text) => {
      const frame = JSON.parse(text);
      if (frame.op === 'alert' && !sent.has(frame.id)) sent.set(frame.id, Date.now());
    });
    await once(client, 'open');
    const seen = until(async () => {
      for (const id of sent.keys()) if (await alertOf(page, id).count() > 0) return [id, Date.now()];
      return false;
    }, 'an alert on the page');
    await play(job);
    const [id, at] = await seen;
    console.log(`alert: shown ${at - sent.get(id)} ms after the message`);
    client.close();
    await everything(daemon);
    await says(page.locator('.figure-step dd'), /^599/);
    const latest = await incidentsOf(daemon);
    assert.ok(latest.size > 0);
    for (const alert of latest.values()) {
      const text = await alertOf(page, alert.id).textContent();
      assert.ok(text.includes(alert.summary) && text.includes(alert.rule) && text.includes(alert.severity), alert.id);
    }
    const run = await until(async () => {
      const [said] = (await daemon.json('/api/v1/runs')).runs;
      return said.life.open_seconds === 0 && said;
    }, 'all of its time is booked');
    await says(page.locator('.figure-lost dd'), new RegExp(`^${Number((100 * run.lost_share).toPrecision(2))} %`));
    await says(page.locator('.watched'), new RegExp(job));
    const runbook = [...latest.values()][0].runbook;
    assert.equal((await fetch(daemon.url + runbook)).status, 200);
    const steps = await fetch(`${daemon.url}/api/v1/steps`);
    const text = await panel(page, 'steps').textContent();
    if (steps.status === 404) assert.match(text, /This server does not have it/);
    else assert.match(text, /median/);
  })));

test('a restart loses nothing: the page comes back with the same alerts', () => watched((daemon, job, state) =>
  withPage(daemon.url, async (page) => {
    await live(page);
    await play(job);
    await everything(daemon);
    const alerts = await incidentsOf(daemon);
    const port = Number(new URL(daemon.url).port);
    daemon.process.kill('SIGKILL');
    await page.getByRole('alert').waitFor();
    const again = await new Daemon(BINARY, job, {state, port}).ready();
    try {
      await page.getByRole('alert').waitFor({state: 'detached'});
      for (const id of alerts.keys()) await alertOf(page, id).waitFor();
    } finally {
      await again.stop();
    }
  })));

test('of a job that only logs, the loss is drawn', () => watched((daemon, job) =>
  withPage(daemon.url, async (page) => {
    await live(page);
    const line = (step) => `[rank0]:[titan] - INFO - step: ${step}  loss: ${step >= 195 ? 'nan' : 5 - step / 100}  tps: 12,345\n`;
    writeFileSync(join(job, 'console.log'), Array.from({length: 200}, (_, i) => line(i)).join(''));
    const plot = panel(page, 'scalars0').locator('.plot');
    await plot.waitFor();
    const {series: [loss]} = await daemon.json('/api/v1/scalars?tag=loss');
    assert.equal(loss.points.length, 200);
    await isLabelled(plot, /^loss: latest NaN, 5 values not finite\. /);
  })));
