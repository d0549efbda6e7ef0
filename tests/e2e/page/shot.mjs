// SPDX-License-Identifier: Apache-2.0
// A picture of the page: node shot.mjs URL OUT.png [light|dark] [WIDTH] [FROM TO, of its height]; prints what went wrong in it.
import {chromium} from 'playwright-core';

const [url, out, colorScheme = 'light', width = '1400', from, to] = process.argv.slice(2);
const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
const page = await browser.newPage({viewport: {width: Number(width), height: 1000}, colorScheme});
page.on('console', (message) => console.log(message.type(), message.text()));
page.on('pageerror', (error) => console.log('error', error.stack));
await page.goto(url);
await page.waitForTimeout(2500);
await page.screenshot({path: out, fullPage: true, ...(to && {clip: {x: 0, y: Number(from), width: Number(width), height: to - from}})});
await browser.close();
