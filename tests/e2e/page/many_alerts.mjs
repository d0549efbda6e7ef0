// SPDX-License-Identifier: Apache-2.0
// Loads the page of URL three times, reads PAGES pages of resolved alerts, and prints what took how long,
// milliseconds, as JSON: node many_alerts.mjs URL PAGES

import {chromium} from 'playwright-core';
import {PATIENCE_SECONDS} from './patience.mjs';

const [url, pages] = process.argv.slice(2);
const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
const page = await browser.newPage({viewport: {width: 1280, height: 900}});
page.setDefaultTimeout(1000 * PATIENCE_SECONDS);
const errors = [];
page.on('pageerror', (error) => errors.push(error.stack));
const failed = [];
let asked = 0;  // how often for alerts
page.on('request', (request) => { if (new URL(request.url()).pathname === '/api/v1/alerts') ++asked; });
page.on('requestfailed', (request) => failed.push(`${request.url()}: ${request.failure()?.errorText}`));
await page.addInitScript(() => {
  const wanted = new Map([['firing', '.firing .alert'], ['resolved', '.resolved .alert']]);
  window.trainwatchShown = {};
  new MutationObserver(() => {
    for (const [name, selector] of wanted) {
      if (!document.querySelector(selector)) continue;
      wanted.delete(name);
      requestAnimationFrame(() => setTimeout(() => { window.trainwatchShown[name] = performance.now(); }));  // it was painted
    }
  }).observe(document, {childList: true, subtree: true});
});

const loads = [];
for (let i = 0; i < 3; ++i) {
  await page.goto('about:blank');
  asked = 0;
  await page.goto(url);
  await page.waitForFunction(() => window.trainwatchShown.firing && window.trainwatchShown.resolved).catch(async (error) => {
    const painted = await page.evaluate(() => window.trainwatchShown);
    console.error('failed on this page:', {load: i, errors, failed, painted, shown: await page.locator('body').innerText()});
    throw error;
  });
  loads.push({asked, ...await page.evaluate(() => ({...window.trainwatchShown,
    paint: performance.getEntriesByName('first-contentful-paint')[0].startTime}))});
}
const cards = page.locator('.resolved .alert');
const older = [];
asked = 0;
for (let i = 0; i < Number(pages); ++i) {
  await page.getByRole('button', {name: 'Older'}).scrollIntoViewIfNeeded();
  older.push(await page.evaluate(() => new Promise((done) => {
    const cards = () => document.querySelectorAll('.resolved .alert').length;
    const before = cards(), begin = performance.now();
    new MutationObserver((_, observer) => {
      if (cards() === before) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));
    }).observe(document.querySelector('.resolved'), {childList: true, subtree: true});
    document.querySelector('button.older').click();
  })));
}
const ids = await cards.evaluateAll((all) => all.map((each) => each.dataset.id));
console.log(JSON.stringify({loads, older, asked, ids, errors}));
await browser.close();
