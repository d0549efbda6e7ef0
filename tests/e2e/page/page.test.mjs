// SPDX-License-Identifier: Apache-2.0
// The page against a server of our own, which can be made to do anything.

import assert from 'node:assert/strict';
import {mkdtempSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {after, before, describe, test} from 'node:test';
import {idOf, makeAlert} from './alerts.mjs';
import {alertOf, BINARY, drawn, isLabelled, live, panel, says, until, violations, withPage} from './browser.mjs';
import {assetsOf} from './daemon.mjs';
import {addSteps, life} from './jobs.mjs';
import {MockServer, scene} from './mock_server.mjs';

const MOST_BYTES = 60000;  // of what every page loads
const MOST_BYTES_OF_TENSORS = 4000;
const MOST_ALERTS = 1000;  // that a page asks for at first
const MOST_TEXTS = 1000;  // on the axes, however often they are drawn
let assets;
before(async () => { assets = await assetsOf(BINARY); });

async function served(name, use, change = (made) => made) {
  const made = change(scene(name));
  const server = await new MockServer(assets, made).listen();
  Object.assign(server.runExtras, made.extras);
  try {
    await use(server);
  } finally {
    await server.close();
  }
}
const shown = (name, use, {change, hash = '', ...options} = {}) =>
  served(name, (server) => withPage(server.url + '/' + hash, async (page) => {
    await live(page);
    await use(page, server);
  }, options), change);

// What was on its way is answered, and nothing more is asked: the page has had its turn twice since.
const settled = async (server, page) => {
  for (let quiet = 0, before; quiet < 2; before = server.requests.length) {
    await new Promise((done) => setTimeout(done, 500));
    await page.evaluate(() => new Promise((done) => setTimeout(done)));
    quiet = before === server.requests.length && server.unanswered === 0 ? quiet + 1 : 0;
  }
};

test('the page is small', () => {
  const loaded = [...assets].filter(([path]) => !path.includes('/tensors-'));
  const more = [...assets].filter(([path]) => path.includes('/tensors-')).map(([, {body}]) => gzipSync(body, {level: 9}).length);
  assert.ok(more.length === 1 && more[0] <= MOST_BYTES_OF_TENSORS, `tensors: ${more} bytes`);
  const sizes = loaded.map(([path, {body}]) => [path, gzipSync(body, {level: 9}).length]);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  assert.ok(total <= MOST_BYTES, `${total} bytes: ${JSON.stringify(sizes)}`);
  console.log(`bundle: ${total} bytes compressed`);
});

describe('the sentence', () => {
  test('has the clock time, the zone and a duration that counts on', () => shown('slow', async (page) => {
    const text = page.locator('.sentence-box .sentence');
    await says(text, /^Slow: since (\d+ \w+, )?\d\d:\d\d (CET|CEST) \((\d+ h )?\d+ min\) every step waits for data on ranks 0-7: 31 %/);
    await says(page.locator('.sentence-box .state'), /slow/);
    await says(page.locator('.figure-rate dd'), /^0.833 steps\/s/);
    await says(page.locator('.figure-step dd'), /^3,799/);
  }));

  test('shows no loss before anything is known of it', () => shown('slow', async (page) => {
    for (const name of ['goodput', 'lost', 'time']) {
      assert.equal(await page.locator(`.figure-${name} dd`).textContent(), '–');
    }
    assert.equal(await page.locator('.wall-time').count(), 0);
  }, {change: (made) => ({...made, extras: {bert: {elapsed_seconds: 0, lost_seconds: {}, lost_share: 0, life: life({}, {wall_seconds: 0})}}}), hash: '#job=bert'}));

  test('is followed by what fixing the worst cause gives, and how', () => shown('slow', async (page) => {
    const gain = page.locator('.gain');
    await gain.locator('.next').waitFor();
    await says(gain, /^Without waiting for data it would be 1\.4 times as fast: 31 min or 31 % of the time so far\. Look at the data loader: /);
    await page.getByRole('button', {name: 'resnet'}).click();
    await page.locator('.sentence-box .job', {hasText: 'resnet'}).waitFor();
    assert.equal(await gain.count(), 0, 'it loses nothing');
  }));

  test('of a run that is over, and of a part of the time that no alert is about', () => shown('slow', async (page) => {
    await says(page.locator('.gain'), /^Without steps done again it would have been 11 % faster: 10 s or 10 % of the time\.\s*$/);
  }, {change: (made) => ({...made, extras: {bert: {state: 'finished', elapsed_seconds: 100, lost_seconds: {redone: 10, input_wait: 1}}}}), hash: '#job=bert'}));

  test('is not followed by what to do about an alert that cost no time', () => shown('slow', async (page, server) => {
    await says(page.locator('.gain'), /^Without memory copy it would be 11 % faster/);
    await settled(server, page);
    assert.equal(await page.locator('.gain .next').count(), 0);
  }, {change: (made) => ({...made, alerts: [...made.alerts, {...makeAlert('nan', {lost: 0}), cause: {name: 'memory_copy'}}],
    extras: {bert: {elapsed_seconds: 100, lost_seconds: {memory_copy: 10}}}}), hash: '#job=bert'}));

  test('is followed by where the wall time went, training first', () => shown('slow', async (page) => {
    const picture = page.locator('.wall-time');
    await isLabelled(picture.locator('.plot'), /^training 34 %, down 60 %, startup 5 %, redone 1 %\. /);
    const names = await picture.locator('> .legend li').allTextContents();
    assert.deepEqual(names.map((text) => text.trim().replace(/\s+/g, ' ')), ['training 34 % 11 min', 'down 60 % 20 min', 'startup 5 % 1 min', 'redone 1 % 20 s']);
    await says(page.locator('.figure-time dd'), /^33 min$/);
    await says(page.locator('.figure-goodput dd'), /^34 %$/);
    await says(page.locator('.figure-left dd'), /^2 h 5 min$/);
    await says(page.locator('.figure-step dd'), /^3,799 of 10,000/);
  }, {change: (made) => ({...made, extras: {bert: {life: life({startup: 100, redone: 20, down: 1200}, {wall_seconds: 2000,
    eta_seconds: 7500, total_steps: 10000})}}}), hash: '#job=bert'}));

  test('of a run that failed says what was read about its end, and where', () => shown('slow', async (page) => {
    await says(page.locator('.sentence-box .state'), /✖ failed/);
    await says(page.locator('.end'), /^torch.OutOfMemoryError: <b>CUDA<\/b> out of memory\.\s+job\/rank3\.log$/);
    await says(page.locator('.gain'), /would have been/);
  }, {change: (made) => ({...made, extras: {bert: {state: 'failed', end: {class: 'cuda_out_of_memory', rank: 3, node: 'node-0', signal: null,
    exit_code: 1, at: '2026-11-24T10:00:00Z', evidence: 'torch.OutOfMemoryError: <b>CUDA</b> out of memory.', file: 'job/rank3.log'}}}}), hash: '#job=bert'}));

  test('has no rate while nothing ends; the charts go on until now', () => shown('stalled', async (page) => {
    await says(page.locator('.figure-rate dd'), /^–$/);
    await isLabelled(page.locator('.wall-time .plot'), /^training 50 %, stalled 50 %\. /);
    await says(page.locator('.times'), /, 2 h$/);
  }, {change: (made) => {
    const {begin} = made.runs[0];
    const at = (us) => new Date(us / 1000).toISOString();
    const account = life({stalled: 3600}, {began_at: at(begin), until: at(begin + 7200e6), wall_seconds: 7200});
    return {...made, extras: {bert: {life: account}}};
  }}));

  test('is never "nothing" before anything is known', () => served('healthy', async (server) => {
    let answer;
    const held = new Promise((resolve) => { answer = resolve; });
    const original = server.answer.bind(server);
    server.answer = async (request, response) => {
      if (request.url.startsWith('/api/')) await held;
      original(request, response);
    };
    await withPage(server.url, async (page) => {
      await page.locator('main').waitFor();
      const text = await page.locator('main').textContent();
      assert.match(text, /Reading…/);
      assert.doesNotMatch(text, /Nothing fires|None|No run/);
      answer();
      await live(page);
      await page.getByText('Nothing fires').waitFor();
    });
  }));

  test('of the monitor itself', () => shown('slow', async (page) => {
    await says(page.locator('.monitor'), /trainwatch itself.*\/job is 40 s behind/);
  }, {change: (made) => ({...made, monitor: '/job is 40 s behind.'})}));

  test('is chosen by the address and by a click', () => shown('slow', async (page) => {
    assert.equal(await page.locator('.sentence-box .job').textContent(), 'resnet');
    await page.getByRole('button', {name: 'bert', exact: true}).click();
    await page.locator('.sentence-box .job', {hasText: 'bert'}).waitFor();
    assert.match(page.url(), /#job=bert$/);
  }, {hash: '#job=resnet'}));
});

describe('alerts', () => {
  test('what fires is pinned, with all that is known of it', () => shown('slow', async (page, server) => {
    const alert = server.log.find((each) => each.id === idOf('waits'));
    const card = page.locator('.firing').locator(`[data-id="${alert.id}"]`);
    const text = await card.textContent();
    for (const part of ['warning', alert.rule, 'ranks 0-7', 'step 120', alert.summary, alert.next]) assert.ok(text.includes(part), part);
    assert.ok(!text.includes('41.2 s'), 'what it costs is in the account');
    assert.match(text, /since .*, for (38|39|40) min/);
    assert.equal(await card.getByRole('link', {name: 'runbook'}).getAttribute('href'), '/docs/rules/input_bound');
    assert.equal(await card.getByRole('link', {name: 'trace of it'}).getAttribute('href'), `/api/v1/alerts/${alert.id}/trace`);
    await card.getByText('Evidence').click();
    await says(card.locator('.evidence'), /lost percent31.25/);
    assert.equal(await page.evaluate('window.pwned'), undefined);
  }));

  test('parts unfold on demand', () => shown('slow', async (page, server) => {
    assert.ok(!server.requests.some((path) => path.includes('parts=1')));
    const card = alertOf(page, idOf('waits'));
    await card.getByText('Parts of this incident').click();
    await card.getByText('Rank 3 waits.').waitFor();
    assert.ok(server.requests.some((path) => path.includes('parts=1')));
    assert.equal(await page.locator('.firing > ol > li').count(), 1);
  }));

  test('one that becomes part of another no longer stands for itself', () => shown('healthy', async (page, server) => {
    server.publish(makeAlert('first', {rule: 'getnext_outlier'}));
    await alertOf(page, idOf('first')).waitFor();
    server.publish(makeAlert('speaker', {rule: 'step_spike'}));
    server.publish(makeAlert('first', {rule: 'getnext_outlier', incident: 'speaker'}));
    await until(async () => (await page.locator('.firing > ol > li').count()) === 1, 'one incident');
    const card = alertOf(page, idOf('speaker'));
    await card.getByText('Parts of this incident').click();
    await card.locator(`[data-id="${idOf('first')}"]`).waitFor();
    server.publish(makeAlert('second', {rule: 'input_bound', incident: 'speaker'}));
    await card.getByText('2 parts of this incident').waitFor();
  }));

  test('one appears by its message alone', () => shown('healthy', async (page, server) => {
    await page.getByText('Nothing fires').waitFor();
    await settled(server, page);
    server.requests.length = 0;
    const began = Date.now();
    server.publish(makeAlert('new', {severity: 'critical'}));
    await alertOf(page, idOf('new')).waitFor();
    assert.ok(!server.requests.some((path) => path.startsWith('/api/v1/alerts')), server.requests.join());
    console.log(`alert: shown ${Date.now() - began} ms after the message`);
  }));

  test('more than 200 changes never push out what fires', () => shown('healthy', async (page, server) => {
    server.publish(makeAlert('stays', {at: Date.now() - 600000}));
    for (let i = 0; i < 1500; ++i) {
      server.publish(makeAlert(`noise ${i}`, {state: 'firing', rank: i % 8}));
      server.publish(makeAlert(`noise ${i}`, {state: 'resolved', rank: i % 8}));
    }
    await until(async () => (await page.locator('#firing-title').textContent()).trim() === 'Firing 1', 'one fires');
    assert.equal(await alertOf(page, idOf('stays')).count(), 1);
  }));

  test('history is not played: it is below, newest first, in pages', () => shown('slow', async (page) => {
    const titles = page.locator('.resolved .summary');
    await titles.first().waitFor();
    assert.equal(await titles.first().textContent(), 'Old alert 119.');
    assert.equal(await titles.count(), 20);
    await page.getByRole('button', {name: 'Older'}).click();
    await until(async () => await titles.count() === 40, 'another page');
    assert.equal(await titles.nth(39).textContent(), 'Old alert 80.');
  }));

  test('history that could not be read is read again', () => shown('slow', async (page, server) => {
    await page.locator('.banner', {hasText: 'Older alerts could not be read: the index is not ready'}).waitFor();
    await says(page.locator('section.resolved'), /Reading…/);
    server.failing = [];
    await page.locator('.resolved .alert').first().waitFor();
    await says(page.locator('main'), /^(?!.*could not be read)/s);
  }, {change: (made) => ({...made, failing: ['/api/v1/alerts?state=resolved']})}));

  test('the filter selects by rule, severity, rank and run', () => shown('slow', async (page) => {
    const titles = page.locator('.resolved .summary');
    await titles.first().waitFor();
    await page.locator('.filters').getByLabel('rule').selectOption('stall');
    await until(async () => (await page.locator('.resolved .rule').allTextContents()).every((rule) => rule === 'stall'), 'only stall');
    await says(page.locator('.firing'), /Nothing fires that the filter lets through.*2? ?1 firing alert hidden/s);
    await page.locator('.filters').getByLabel('rule').selectOption('');
    await page.locator('.filters').getByLabel('severity').selectOption('critical');
    await until(async () => (await page.locator('.resolved .severity').allTextContents()).every((text) => /critical/.test(text)), 'only critical');
    await page.locator('.filters').getByLabel('severity').selectOption('');
    await page.locator('.filters').getByLabel('rank').fill('3');
    await until(async () => (await page.locator('.resolved .where').allTextContents()).every((text) => /rank 3/.test(text)), 'only rank 3');
    assert.equal(await page.locator('.firing > ol > li').count(), 1, 'ranks 0-7 have it');
    await page.getByRole('button', {name: 'Clear the filter'}).click();
    assert.equal(await page.locator('.firing > ol > li').count(), 1);
  }));

  test('100,000 stored alerts: the first paint waits for none, and few are asked for', () => served('large', async (server) => {
    let answer;
    const held = new Promise((resolve) => { answer = resolve; });
    const original = server.answer.bind(server);
    server.answer = async (request, response) => {
      if (request.url.startsWith('/api/')) await held;
      original(request, response);
    };
    let given = 0;
    const alerts = server.alerts.bind(server);
    server.alerts = (query) => {
      const found = alerts(query);
      given += found.alerts.length;
      return found;
    };
    await withPage(server.url, async (page) => {
      const paint = await until(() => page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime), 'the first paint');
      answer();
      await alertOf(page, idOf('waits')).waitFor();
      const alertAt = await page.evaluate(() => performance.now());
      console.log(`first paint: ${Math.round(paint)} ms, what fires is shown after ${Math.round(alertAt)} ms; ${given} alerts were sent`);
      await drawn(page);
      await page.locator('.resolved .alert').first().waitFor();
      assert.equal(await page.locator('.resolved .summary').first().textContent(), 'Old alert 99999.');
      assert.ok(given <= MOST_ALERTS, `${given} alerts`);
    });
  }));
});

describe('charts', () => {
  test('values at the cursor are those of the API; missing endpoints say so quietly', () => shown('slow', async (page, server) => {
    await drawn(page);
    const answer = server.json('/api/v1/steps', new URLSearchParams(server.requests.findLast((path) => path.startsWith('/api/v1/steps')).split('?')[1]));
    const values = await panel(page, 'phases').locator('.legend [data-value]').allTextContents();
    const latest = answer.columns.phases.data_wait[answer.columns.phases.data_wait.length - 1];
    assert.equal(values[0], `${Number((latest * 1000).toPrecision(3))} ms`);
    await says(panel(page, 'ranks'), /This server does not have it/);
    await says(panel(page, 'loading'), /A batch takes 1.21 s from fetch to fetch at the median, 9.8 s at most. 8 data loading processes ran/);
  }, {change: (made) => ({...made, missing: ['/api/v1/heatmap']})}));

  test('dragging zooms all charts, asks for new columns, and shows what ran', () => shown('slow', async (page, server) => {
    await drawn(page);
    const plot = panel(page, 'phases').locator('.u-over');
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 60, {steps: 5});
    await page.mouse.up();
    const row = page.getByRole('cell', {name: 'aten::convolution'});
    await row.waitFor();
    assert.ok(await page.getByText('<b>not markup</b>').count(), 'names are text');
    const query = new URLSearchParams(server.requests.findLast((path) => path.startsWith('/api/v1/steps')).split('?')[1]);
    const job = server.jobs[0];
    const share = (Number(query.get('end')) - Number(query.get('start'))) / (job.end - job.begin);
    assert.ok(Math.abs(share - 0.2) < 0.02, String(share));
    const link = page.getByRole('link', {name: /Download the trace/});
    assert.equal(await link.getAttribute('href'), `/api/v1/timeline?start=${query.get('start')}&end=${query.get('end')}&job=bert`);
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    assert.ok(await download.path());
    assert.match(page.url(), /from=\d+&to=\d+/);
    await page.getByRole('button', {name: 'Show the whole run'}).click();
    await row.waitFor({state: 'detached'});
  }));

  test('what the server lacks, or cannot give now, is a line beside the link', () => shown('slow', async (page, server) => {
    await drawn(page);
    const card = alertOf(page, idOf('waits'));
    const problem = card.locator('.problem');
    await card.getByRole('link', {name: 'trace of it'}).click();
    await problem.getByText('This server does not have it.').waitFor();
    server.missing = [];
    const [download] = await Promise.all([page.waitForEvent('download'), card.getByRole('link', {name: 'trace of it'}).click()]);
    assert.ok(await download.path());
    assert.equal(await problem.textContent(), '');
    await page.getByRole('button', {name: 'Zoom in'}).click();
    await page.getByRole('link', {name: /Download the trace/}).click();
    await page.locator('.chosen-span .problem', {hasText: 'It could not be read: the index is not ready.'}).waitFor();
    await panel(page, 'annotations').getByText('It could not be read: the index is not ready.').waitFor();
    server.failing = [];
    await page.getByRole('cell', {name: 'aten::convolution'}).waitFor();
    assert.ok(page.url().startsWith(server.url), 'it is the same page');
  }, {change: (made) => ({...made, missing: ['/api/v1/alerts/'], failing: ['/api/v1/annotations', '/api/v1/timeline']})}));

  test('what ran in a span: names, how often, how long, on which rank', () => shown('slow', async (page, server) => {
    await drawn(page);
    await page.getByRole('button', {name: 'Zoom in'}).click();
    const rows = panel(page, 'annotations').locator('tbody tr');
    await rows.first().waitFor();
    const asked = server.requests.findLast((path) => path.startsWith('/api/v1/annotations'));
    const answer = server.json('/api/v1/annotations', new URLSearchParams(asked.split('?')[1]));
    const cells = await rows.evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.deepEqual(cells.map((row) => row.slice(0, 3)), answer.rows.map(([name, phase, rank]) => [name, phase, rank === null ? '' : String(rank)]));
    assert.equal(cells[0][3], answer.rows[0][3].toLocaleString('en'));
    assert.match(cells[3][4], /^1\.2 ms$/);
    assert.match(cells[0][5], /^(\d+ \w+, )?\d\d:\d\d:\d\d CES?T$/);
    await panel(page, 'annotations').getByText('and 7 more names').waitFor();
  }));

  test('a logarithmic scale is drawn at once, wherever it begins', () => served('slow', async (server) => {
    const original = server.json.bind(server);
    let lowest;
    server.json = (path, query) => {
      const answer = original(path, query);
      if (path === '/api/v1/steps') {
        for (const name of ['min', 'p5', 'p50']) answer.columns[name].fill(lowest);
        for (const name of ['p95', 'p99', 'max']) answer.columns[name].fill(0.5);
      }
      return answer;
    };
    for (lowest of [0.0121, 0.0139, 1e-3, 9.6e-6]) {
      await withPage(server.url, async (page) => {
        await drawn(page);
        assert.equal(await page.getByRole('button', {name: 'logarithmic'}).getAttribute('aria-pressed'), 'true');
        await page.evaluate(() => {
          window.texts = 0;
          const original = CanvasRenderingContext2D.prototype.fillText;
          CanvasRenderingContext2D.prototype.fillText = function (...rest) {
            ++window.texts;
            return original.apply(this, rest);
          };
        });
        await panel(page, 'steps').locator('.plot').focus();
        await page.keyboard.press('+');
        await page.getByText('Chosen:').waitFor();
        const texts = await page.evaluate('window.texts');
        assert.ok(texts > 0 && texts < MOST_TEXTS, `${texts} texts are drawn`);
      });
    }
  }));

  test('the keyboard moves the cursor in all charts, zooms and resets', () => shown('slow', async (page, server) => {
    await drawn(page);
    await settled(server, page);
    await panel(page, 'phases').locator('.plot').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowRight');
    let times;
    await until(async () => {
      times = await page.locator('.legend .when').allTextContents();
      return new Set(times).size === 1;
    }, 'one time in all charts');
    assert.match(times[0], /\d\d:\d\d:\d\d/);
    await says(panel(page, 'utilization').locator('.readout'), /gpu0: \d+ %/);
    await page.keyboard.press('Enter');
    for (let i = 0; i < 5; ++i) await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByRole('link', {name: /Download the trace/}).waitFor();
    await page.keyboard.press('-');
    await page.keyboard.press('Escape');
    await page.getByRole('link', {name: /Download the trace/}).waitFor({state: 'detached'});
  }));

  test('everything can be reached with Tab, in order, and shows its focus', () => shown('slow', async (page, server) => {
    await drawn(page);
    await settled(server, page);
    const seen = [];
    for (let i = 0; i < 45; ++i) {
      await page.keyboard.press('Tab');
      const focused = await page.evaluate(() => {
        const node = document.activeElement;
        return {name: node.textContent.trim().slice(0, 40) || node.getAttribute('aria-label') || node.tagName, outline: getComputedStyle(node).outlineStyle};
      });
      assert.notEqual(focused.outline, 'none', focused.name);
      seen.push(focused.name);
    }
    for (const name of ['Skip to the charts', 'metrics', 'resnet', 'Evidence', 'runbook', 'Whole run', 'Older']) {
      assert.ok(seen.some((each) => each.startsWith(name)) || name === 'Older', `${name} in ${seen}`);
    }
  }));

  test('new steps come by themselves, from the newest column on', () => shown('healthy', async (page, server) => {
    await drawn(page);
    await until(() => server.streams.size, 'the stream');
    const before = server.requests.filter((path) => path.startsWith('/api/v1/steps')).length;
    const start = server.jobs[0].end;
    addSteps(server.jobs[0], 5);
    server.stepped();
    await says(page.locator('.figure-step dd'), /^2,004/);
    const asked = await until(() => server.requests.filter((path) => path.startsWith('/api/v1/steps')).slice(before)[0], 'more columns');
    const from = Number(new URLSearchParams(asked.split('?')[1]).get('start'));
    assert.ok(from > start - 2e6, 'only the newest columns');
  }));

  test('the loss and what else is logged, beside the iteration time', () => shown('slow', async (page, server) => {
    const [loss, other] = [panel(page, 'scalars0'), panel(page, 'scalars1')];
    await other.locator('canvas').waitFor();
    await isLabelled(loss.locator('.plot'), /^train\/loss: latest 1\.\d+, 1 value not finite\. /);
    assert.deepEqual(await other.locator('.legend li').evaluateAll((all) => all.map((each) => each.textContent.trim().split(/ {2,}|(?<=\d) /)[0])).then((all) => all.slice(1, 3)),
      ['rank 0', 'rank 1']);
    const titles = await page.locator('.panels .panel').evaluateAll((all) => all.map((each) => each.dataset.panel));
    assert.deepEqual(titles.slice(0, 3), ['steps', 'scalars0', 'scalars1']);
    // NaN is a red bar with a sign, and the value under the cursor says it.
    const job = server.jobs[0];
    const [, at] = server.json('/api/v1/scalars', new URLSearchParams('job=bert&tag=train/loss')).series[0].points[100];
    const box = await loss.locator('.u-over').boundingBox();
    const nan = loss.locator('[data-value]').first();
    const critical = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--critical').trim());
    await loss.locator('.u-over').hover({position: {x: box.width * (at - job.begin) / (job.end - job.begin) + 1, y: 40}});
    await says(nan, /^NaN$/);  // under the cursor
    assert.ok(await loss.locator('canvas').evaluate((canvas, colour) => {
      const context = canvas.getContext('2d');
      context.fillStyle = colour;
      const wanted = context.fillStyle.match(/[0-9a-f]{2}/gi).map((each) => parseInt(each, 16));
      const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
      for (let i = 0; i < data.length; i += 4) if (wanted.every((value, k) => Math.abs(data[i + k] - value) < 3)) return true;
      return false;
    }, critical), 'a bar where the loss is not a number');
    await other.locator('select').selectOption('<b>accuracy</b>');
    await isLabelled(other.locator('.plot'), /^<b>accuracy/);
    assert.equal(await other.locator('h3').textContent(), '<b>accuracy</b>');
    await page.getByRole('button', {name: 'resnet'}).click();
    await panel(page, 'scalars').getByText('No loss or other values are logged.').waitFor();
  }));

  test('a log without times is drawn over the whole run', () => served('slow', async (server) => {
    const original = server.json.bind(server);
    server.json = (path, query) => {
      const answer = original(path, query);
      if (path === '/api/v1/scalars') for (const {points} of answer.series) for (const point of points) point[1] = 17e14;
      return answer;
    };
    await withPage(server.url, async (page) => {
      const loss = panel(page, 'scalars0');
      await loss.getByText('Its log has no times: the values are spread evenly.').waitFor();
      const box = await loss.locator('.u-over').boundingBox();
      await loss.locator('.u-over').hover({position: {x: box.width / 2, y: 40}});
      const step = loss.locator('[data-value]').last();
      await until(async () => Math.abs(Number(await step.textContent()) - 1900) < 30, 'the step at half of the run');
    });
  }));

  test('new values of the loss come by themselves', () => shown('slow', async (page, server) => {
    const step = panel(page, 'scalars0').locator('[data-value]').last();
    await panel(page, 'scalars0').locator('canvas').waitFor();
    const then = await until(() => step.textContent(), 'the latest step');
    addSteps(server.jobs[0], 200);
    server.stepped();
    await until(async () => (await step.textContent()) !== then, 'a later step');
    assert.ok(!server.requests.some((path) => /scalars\?job=bert$/.test(path)), 'only what is shown is asked for');
  }));

  test('two runs side by side', () => shown('slow', async (page, server) => {
    await page.getByText('Compare two runs or attempts').click();
    const then = page.locator('.pick select').first();
    await then.selectOption({label: await then.locator('option', {hasText: 'resnet'}).textContent()});
    const row = page.getByRole('row', {name: /median iteration/});
    await row.waitFor();
    const expected = server.json('/api/v1/steps', new URLSearchParams('job=resnet&columns=1')).columns.p50[0];
    await until(async () => (await row.textContent()).includes(`${Number((expected * 1000).toPrecision(3))} ms`), 'its median');
    await says(page.locator('.compare'), /waiting for data.*lost: input wait/s);
  }));
});

describe('what it costs', () => {
  test('at most four redraws a second, whatever comes', () => shown('healthy', async (page, server) => {
    await drawn(page);
    await page.evaluate(() => {
      window.redraws = 0;
      window.began = performance.now();
      new MutationObserver(() => ++window.redraws).observe(document.querySelector('.firing'), {subtree: true, childList: true, characterData: true});
    });
    for (let i = 0; i < 300; ++i) {
      server.publish(makeAlert(`busy ${i % 7}`, {summary: `Change ${i}.`}));
      if (i % 10 === 9) await new Promise((done) => setTimeout(done, 100));
    }
    await page.getByText('Change 299.').first().waitFor();
    const [redraws, seconds] = await page.evaluate('[window.redraws, (performance.now() - window.began) / 1000]');
    assert.ok(redraws >= 1 && redraws <= 4 * seconds + 4, `${redraws} in ${seconds} s`);
    console.log(`redraws: ${redraws} for 300 changes in ${seconds.toFixed(1)} s`);
  }));
});

describe('a report', () => {
  // The same program in one file, with the answers in it.
  const report = (server) => {
    const job = server.jobs[0];
    const answers = {};
    for (const path of ['/api/v1/runs', '/api/v1/status', '/api/v1/alerts', ...['', '/heatmap?what=wall_time', '/heatmap?what=ranks', '/heatmap?what=utilization',
      '/histogram?what=steps', '/histogram?what=utilization'].map((rest) => `/api/v1${rest || '/steps'}${rest.includes('?') ? '&' : '?'}job=${job.job}`),
    '/api/v1/analyses/temporal_breakdown?job=bert', '/api/v1/scalars?job=bert']) {
      const url = new URL(path, server.url);
      const [place, query] = [url.pathname, url.searchParams];
      answers[query.size && query.has('what') ? `${place}?job=${query.get('job')}&what=${query.get('what')}` : path] = server.json(place, query);
    }
    const text = (ending) => [...assets].find(([path]) => path.endsWith(ending))[1].body.toString();
    return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>report</title><style>${text('.css')}</style></head><body>
      <div id="page"></div><script type="application/json" id="trainwatch-answers">${JSON.stringify(answers).replaceAll('<', '\\u003c')}</script>
      <script>${text('.js').replaceAll('</script', '<\\/script')}</script></body></html>`;
  };

  test('draws everything from its own file and asks nobody', () => served('slow', async (server) => {
    const file = join(mkdtempSync(join(tmpdir(), 'trainwatch-report-')), 'report.html');
    writeFileSync(file, report(server));
    await withPage('about:blank', async (page) => {
      const requests = [];
      page.on('request', (request) => requests.push(request.url()));
      await page.goto(`file://${file}`);
      await drawn(page);
      await page.locator('.wall-time canvas').waitFor();
      for (const name of ['phases', 'loading', 'ranks', 'utilization', 'stepHistogram', 'gpu', 'scalars0', 'scalars1']) {
        assert.equal(await panel(page, name).locator('.plot, svg').first().count(), 1, name);
      }
      await says(page.locator('.sentence-box .sentence'), /^Slow: since .* every step waits for data/);
      await alertOf(page, idOf('waits')).waitFor();
      assert.equal(await page.locator('.resolved .severity').first().textContent().then((each) => each.trim().slice(2)), 'critical', 'worst first');
      assert.equal(await page.locator('a[download], .connection.live, a[href^="/"]').count(), 0);
      assert.deepEqual(requests.filter((url) => !url.startsWith('file:')), []);
      await panel(page, 'phases').locator('.plot').focus();
      await page.keyboard.press('+');
      await page.getByText('Chosen:').waitFor();
      assert.deepEqual(await violations(page), []);
      const pdf = await page.pdf();
      assert.ok(pdf.length > 10000);
    });
  }));
});

describe('the connection', () => {
  test('lost: stale, says since when, and comes back with what is true then', () => served('slow', async (server) => {
    await withPage(server.url, async (page) => {
      await live(page);
      const {port} = server;
      await server.close();
      const banner = page.getByRole('alert');
      await banner.waitFor();
      await says(banner, /Connection lost.*at (\d+ \w+, )?\d\d:\d\d:\d\d CE/);
      assert.equal(await page.locator('main.stale').count(), 1);
      const lasts = () => page.locator('.figure-step dd').textContent();
      const then = await lasts();
      await page.waitForTimeout(2500);
      assert.equal(await lasts(), then, 'what is not known does not count on');
      const again = await new MockServer(assets, scene('healthy')).listen(port);
      try {
        again.epoch = 'epoch-2';
        again.publish(makeAlert('after the restart'));
        await alertOf(page, idOf('after the restart')).waitFor();
        assert.equal(await alertOf(page, idOf('waits')).count(), 0, 'it does not fire any more');
        await page.locator('main.stale').waitFor({state: 'detached'});  // when the stream is there, too
      } finally {
        await again.close();
      }
    });
  }));

  test('gap and reset begin again from what fires now', () => shown('healthy', async (page, server) => {
    for (const frame of [{op: 'gap', from: 1, to: 9}, {op: 'reset', epoch: 'epoch-2'}]) {
      server.store(makeAlert(`missed ${frame.op}`));
      server.send(frame);
      await alertOf(page, idOf(`missed ${frame.op}`)).waitFor();
    }
  }));

  test('hidden: no request, no connection; shown again: what came meanwhile', () => shown('healthy', async (page, server) => {
    const hide = (hidden) => page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', {value, configurable: true});
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
    await drawn(page);
    await hide(true);
    await until(() => server.streams.size === 0, 'the stream is closed');
    await settled(server, page);
    server.requests.length = 0;
    server.publish(makeAlert('while hidden'));
    await new Promise((done) => setTimeout(done, 3000));
    assert.deepEqual(server.requests, []);
    await hide(false);
    await alertOf(page, idOf('while hidden')).waitFor();
  }));
});

describe('tensors', () => {
  const pictures = (page) => page.locator('.pictures img');
  const widths = (page) => pictures(page).evaluateAll((images) => images.map((image) => image.naturalWidth));
  const figure = (page, name) => page.locator('.pictures li', {hasText: name});

  test('of the newest step are drawn, and new ones as they come', () => shown('trial', async (page, server) => {
    await until(async () => (await widths(page)).join() === '3,3,3', 'pictures of step 3');
    const range = 'conv/kernel:0 at step 3: float32, 2 × 2 × 3 × 3, from -3 to 0.75';
    await until(async () => await pictures(page).nth(1).getAttribute('alt') === range, 'its range, which comes behind the picture');
    await says(figure(page, 'loss'), /0\.3333.*one number/);
    await says(figure(page, 'label'), /no picture/);
    server.saved(7);
    await until(async () => (await widths(page)).join() === '7,7,7', 'pictures of step 7');
    const slice = server.requests.find((path) => path.includes('conv') && path.includes('slice'));
    assert.equal(new URLSearchParams(slice).get('slice'), '0,0,:,:');
  }));

  test('of an earlier step, by the keyboard too; it stays until the newest is wanted again', () => shown('trial', async (page, server) => {
    await until(async () => (await widths(page)).join() === '3,3,3', 'pictures of step 3');
    await page.locator('.tensors input[type=range]').focus();
    await page.keyboard.press('ArrowLeft');
    await until(async () => (await widths(page)).join() === '2,2,2', 'pictures of step 2');
    server.saved(7);
    await page.getByRole('button', {name: 'newest'}).waitFor();
    assert.equal((await widths(page)).join(), '2,2,2');
    await page.getByRole('button', {name: 'newest'}).click();
    await until(async () => (await widths(page)).join() === '7,7,7', 'pictures of step 7');
  }));

  test('are chosen by collection, name, mode and worker', () => shown('trial', async (page, server) => {
    await pictures(page).first().waitFor();
    await page.getByLabel('name').fill('^(bias|conv)');
    await until(async () => await page.locator('.pictures li').count() === 2, 'two names fit');
    await page.getByLabel('name').fill('(');
    await page.getByText('No name fits.').waitFor();
    await page.getByLabel('name').fill('');
    await page.getByLabel('collection').selectOption('gradients');
    await until(async () => await page.locator('.pictures li').count() === 1, 'one is in the collection');
    assert.equal(await page.getByLabel('collection').getByText('none').count(), 0, 'it has no names');
    server.requests.length = 0;
    await page.getByLabel('worker').selectOption('worker_1');
    await page.getByLabel('mode').selectOption('TRAIN');
    await until(() => server.requests.some((path) => /value.*mode=TRAIN.*worker=worker_1/.test(path)), 'they are asked for');
  }));

  test('are shown after their script failed to load once', () => shown('trial', async (page, server) => {
    await until(() => server.requests.some((path) => path.startsWith('/assets/tensors-')), 'the script is asked for');
    server.failing = [];
    await pictures(page).first().waitFor();
  }, {change: (made) => ({...made, failing: ['/assets/tensors-']})}));

  test('ask for nothing while the page is hidden', () => shown('trial', async (page, server) => {
    await pictures(page).first().waitFor();
    const hide = (hidden) => page.evaluate((state) => {
      Object.defineProperty(document, 'hidden', {configurable: true, get: () => state});
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
    await hide(true);
    await until(() => server.streams.size === 0, 'the streams are closed');
    await settled(server, page);
    server.requests.length = 0;
    server.saved(7);
    await new Promise((done) => setTimeout(done, 1500));
    assert.deepEqual(server.requests, []);
    await hide(false);
    await until(async () => (await widths(page)).join() === '7,7,7', 'pictures of step 7');
  }));

  test('are nothing that an ordinary page loads', () => shown('healthy', async (page) => {
    await drawn(page);
    const scripts = await page.evaluate(() => performance.getEntriesByType('resource').map(({name}) => name));
    assert.ok(!scripts.some((name) => name.includes('/tensors-')), scripts.join());
  }));

  for (const width of [360, 1920]) {
    test(`axe finds nothing: ${width} px; nothing is wider than the window`, () => shown('trial', async (page) => {
      await pictures(page).first().waitFor();
      assert.deepEqual(await violations(page), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'scrolls sideways');
    }, {viewport: {width, height: 900}}));
  }
});

test('a hang shows where the ranks of its group are', () => shown('healthy', async (page, server) => {
  const evidence = {suspects: [2], waiting: '0-1,3', absent: '2', done: '', unknown: '', group: '0', collective: 'all_reduce', sequence: 17};
  server.publish({...makeAlert('hangs', {rule: 'collective_hang', severity: 'critical'}), evidence});
  const rows = alertOf(page, idOf('hangs')).locator('.hang');
  await rows.first().waitFor();
  assert.deepEqual((await rows.allTextContents()).map((text) => text.replace(/\s+/g, ' ').trim()), ['✕ not entered 2', '… waiting 0 1 3']);
  assert.equal(await rows.locator('i').count(), 4);
  server.publish({...makeAlert('large', {rule: 'collective_hang'}), evidence: {...evidence, waiting: '0-9999'}});
  const large = alertOf(page, idOf('large')).locator('.hang');
  await large.first().waitFor();
  await says(large.nth(1), /waiting 0-9999/);
  assert.deepEqual(await violations(page), []);
}));

describe('everybody can use it', () => {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [360, 1920]) {
      test(`axe finds nothing: ${colorScheme}, ${width} px; nothing is wider than the window`, () => shown('slow', async (page) => {
        await drawn(page);
        await page.locator('.resolved .alert').first().waitFor();
        for (const name of ['Evidence', 'Sources, rules and files', 'Compare two runs or attempts']) await page.getByText(name).first().click();
        await page.getByRole('button', {name: 'Zoom in'}).click();
        await page.getByRole('cell', {name: 'aten::convolution'}).waitFor();
        assert.deepEqual(await violations(page), []);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'scrolls sideways');
      }, {colorScheme, viewport: {width, height: 900}}));
    }
  }
});
