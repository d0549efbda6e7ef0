// SPDX-License-Identifier: Apache-2.0
// Keeps the page of URL open for so many minutes, as somebody who looks at it now and then would, and
// prints what it holds after a garbage collection, in a line of JSON for each sample: node soak.mjs URL MINUTES

import {chromium} from 'playwright-core';
import {PATIENCE_SECONDS} from './patience.mjs';

const SAMPLES = 30;
const LOOKS = 10;  // seconds of each sample's time, at most, in which the cursor moves

const [url, minutes] = process.argv.slice(2);
const panel = (page, name) => page.locator(`[data-panel="${name}"]`);
const each = (Number(minutes) * 60000) / SAMPLES;
const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
const page = await browser.newPage({viewport: {width: 1280, height: 900}});
page.setDefaultTimeout(1000 * PATIENCE_SECONDS);
const errors = [];
page.on('pageerror', (error) => errors.push(error.stack));
await page.goto(url);
await panel(page, 'utilization').locator('canvas').waitFor();
const cdp = await page.context().newCDPSession(page);

// Times between frames, counted by the millisecond: what is measured must not grow.
await page.evaluate(() => {
  window.trainwatchFrames = new Uint32Array(2000);
  let last = performance.now();
  const frame = (now) => {
    ++window.trainwatchFrames[Math.min(1999, Math.round(now - last))];
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
});

async function look(until) {
  for (const name of ['phases', 'utilization']) {
    const plot = panel(page, name).locator('.plot');
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    const end = Math.min(until, Date.now() + LOOKS * 500);
    for (let i = 0; Date.now() < end; ++i) {
      await page.mouse.move(box.x + 70 + ((i * 7) % (box.width - 90)), box.y + 20 + (i % 60));
      await page.waitForTimeout(10);
    }
    await plot.focus();
    await page.keyboard.press('+');
    await page.waitForTimeout(Math.min(1000, Math.max(0, end - Date.now() + 500)));
    await page.keyboard.press('Escape');
  }
  await page.mouse.move(1, 1);
}

async function sample(minute) {
  await cdp.send('HeapProfiler.collectGarbage');
  const {usedSize} = await cdp.send('Runtime.getHeapUsage');
  const {nodes, jsEventListeners} = await cdp.send('Memory.getDOMCounters');
  const shown = await page.evaluate(() => {
    const frames = [...window.trainwatchFrames];
    window.trainwatchFrames.fill(0);
    return {frames, elements: document.querySelectorAll('*').length, step: document.querySelector('.figure-step dd')?.textContent,
      alerts: document.querySelectorAll('.alert').length};
  });
  console.log(JSON.stringify({minute, heap: usedSize, nodes, listeners: jsEventListeners, errors, ...shown}));
}

const begin = Date.now();
for (let i = 1; i <= SAMPLES; ++i) {
  const end = begin + i * each;
  await look(end - each / 2);
  await page.waitForTimeout(Math.max(0, end - Date.now()));
  await sample((Date.now() - begin) / 60000);
}
await browser.close();
