// SPDX-License-Identifier: Apache-2.0
// Chromium with the page in it, and questions about what it shows.

import assert from 'node:assert/strict';
import {after} from 'node:test';
import {createRequire} from 'node:module';
import {chromium} from 'playwright-core';
import {PATIENCE_SECONDS} from './patience.mjs';

export const BINARY = process.env.TRAINWATCH_BINARY;
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

let browser;
after(() => browser?.close());

// Shows `url`; `use(page)` fails if the page reported an error.
export async function withPage(url, use, options = {}) {
  browser ??= await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
  const context = await browser.newContext({viewport: {width: 1280, height: 900}, locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options});
  context.setDefaultTimeout(1000 * PATIENCE_SECONDS);
  const page = await context.newPage();
  const errors = [];
  const failed = [];
  page.on('requestfailed', (request) => failed.push(`${request.url()}: ${request.failure()?.errorText}`));
  page.on('pageerror', (error) => errors.push(error.stack));
  page.on('console', (message) => {
    const quiet = /Failed to load resource|WebSocket connection/.test(message.text());  // what a test provokes
    if (message.type() === 'error' && !quiet) errors.push(message.text());
  });
  try {
    await page.goto(url);
    await use(page);
    assert.deepEqual(errors, []);
  } catch (error) {
    const shown = await page.locator('body').innerText().catch((gone) => gone.message);
    console.log('failed on this page:', {errors, failed, shown});
    throw error;
  } finally {
    await context.close();
  }
}

export const live = (page) => page.locator('.connection.live').waitFor();
export const alertOf = (page, id) => page.locator(`.alert[data-id="${id}"]`);
export const panel = (page, name) => page.locator(`[data-panel="${name}"]`);
export const drawn = (page) => panel(page, 'steps').locator('.plot').waitFor();

// Waits until `question` has an answer; `what` is waited for, or a function that says it in the end.
export async function until(question, what) {
  const end = Date.now() + 1000 * PATIENCE_SECONDS;
  for (;;) {
    const answer = await question();
    if (answer) return answer;
    assert.ok(Date.now() < end, `not within ${PATIENCE_SECONDS} s: ${typeof what === 'function' ? what() : what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

// Waits until what `locator` finds says what `pattern` wants: by its text, or by its label. Much of the page comes a request later.
export const says = (locator, pattern) => becomes(() => locator.textContent(), pattern);
export const isLabelled = (locator, pattern) => becomes(() => locator.getAttribute('aria-label'), pattern);

async function becomes(read, pattern) {
  let text;
  await until(async () => pattern.test(text = await read()), () => `${JSON.stringify(text)} becomes ${pattern}`);
}

// What axe finds wrong, in a line each. The script is evaluated by the debugger, which the page's policy does not bind.
export async function violations(page) {
  const {readFileSync} = await import('node:fs');
  await page.evaluate(readFileSync(AXE, 'utf8'));
  const found = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
  return found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target} ${node.failureSummary}`));
}
