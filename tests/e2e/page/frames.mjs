// SPDX-License-Identifier: Apache-2.0
// How smooth the page is: the time between frames, and what the main thread did in each of them. The
// second is CPU time, which other programs on the machine do not change.

const CATEGORIES = ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline'];
const KINDS = {
  script: ['FunctionCall', 'EvaluateScript', 'FireAnimationFrame', 'TimerFire', 'EventDispatch', 'RunMicrotasks', 'v8.callFunction'],
  layout: ['UpdateLayoutTree', 'Layout', 'PrePaint', 'HitTest'],
  paint: ['Paint', 'Layerize', 'Commit'],
};

export function quantiles(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return {count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1)};
}

export const told = ({count, p50, p99, max}) =>
  `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, longest ${max.toFixed(1)} ms of ${count}`;

// While `act` runs: the time between frames, the work of the main thread for each frame, its tasks, all
// as quantiles of milliseconds; and how much of that time was script, layout and paint.
export async function measured(page, act) {
  const cdp = await page.context().newCDPSession(page);
  const events = [];
  cdp.on('Tracing.dataCollected', ({value}) => events.push(...value));
  await cdp.send('Tracing.start', {transferMode: 'ReportEvents', traceConfig: {includedCategories: CATEGORIES, excludedCategories: ['*']}});
  await page.evaluate(() => {
    const intervals = window.trainwatchFrames = [];
    let last = performance.now();
    const frame = (now) => {
      intervals.push(now - last);
      last = now;
      if (window.trainwatchFrames === intervals) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  await act();
  const intervals = await page.evaluate(() => {
    const found = window.trainwatchFrames;
    delete window.trainwatchFrames;
    return found.slice(2);
  });
  const complete = new Promise((done) => cdp.once('Tracing.tracingComplete', done));
  await cdp.send('Tracing.end');
  await complete;
  await cdp.detach();
  return {intervals: quantiles(intervals), ...worked(events)};
}

function worked(events) {
  const frames = events.filter((each) => each.name === 'FireAnimationFrame');
  const {pid, tid} = frames[0];
  const main = events.filter((each) => each.ph === 'X' && each.pid === pid && each.tid === tid);
  const tasks = outermost(main.filter((each) => each.name.endsWith('RunTask')));
  const draws = (task) => frames.some(({ts}) => ts >= task.ts && ts < task.ts + task.dur);
  const work = [];  // from the end of one frame to the end of the next
  let done = 0;
  for (const task of tasks) {
    done += milliseconds(task);
    if (draws(task)) done = work.push(done) && 0;
  }
  const parts = Object.fromEntries(Object.entries(KINDS).map(([kind, names]) =>
    [kind, sum(outermost(main.filter((each) => names.includes(each.name))).map(milliseconds))]));
  return {work: quantiles(work), tasks: quantiles(tasks.map(milliseconds)), parts: {...parts, all: sum(tasks.map(milliseconds))}};
}

const milliseconds = (event) => (event.tdur ?? event.dur) / 1000;
const sum = (values) => values.reduce((total, value) => total + value, 0);

// Those that lie in no other of them, in their order.
function outermost(events) {
  let end = -Infinity;
  return events.sort((a, b) => a.ts - b.ts || b.dur - a.dur).filter((each) => {
    if (each.ts < end) return false;
    end = each.ts + each.dur;
    return true;
  });
}
