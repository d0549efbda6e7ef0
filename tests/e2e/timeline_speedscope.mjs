// SPDX-License-Identifier: Apache-2.0
// Loads a trace into speedscope, in Chromium, and prints what it says:
// {"title":…,"profiles":[[the frames of one thread]],"failures":[…]}.
//
//   timeline_speedscope.mjs URL CHROMIUM
import { chromium } from "playwright-core";

const [, , url, executablePath] = process.argv;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const page = await browser.newPage();
  const failures = [];
  page.on("pageerror", (error) => failures.push(String(error)));
  page.on("dialog", (dialog) => {
    failures.push(dialog.message());
    dialog.dismiss();
  });
  await page.goto(url);
  await page.waitForFunction(() => /Time Order/.test(document.body.innerText) ||
                                   /went wrong|error/i.test(document.body.innerText), null, { timeout: 60000 });
  const count = Number(/\(1\/(\d+)\)/.exec(await page.evaluate(() => document.body.innerText))?.[1] ?? 1);
  await page.getByText("Sandwich").click();
  const profiles = [];
  for (let number = 1; number <= count; ++number) {
    const shown = `(${number}/${count})`;
    await page.waitForFunction((text) => document.body.innerText.includes(text), count > 1 ? shown : "");
    const names = await page.waitForFunction(() => {
      const cells = [...document.querySelectorAll("table tr")].map((row) => row.lastChild.innerText.trim());
      const header = cells.indexOf("Symbol Name"); // before it stands the axis of time
      return header >= 0 && header + 1 < cells.length && cells.slice(header + 1); // the table comes after the thread's number
    });
    profiles.push(await names.jsonValue());
    await page.keyboard.press("n");
  }
  console.log(JSON.stringify({ title: await page.title(), profiles, failures }));
} finally {
  await browser.close();
}
