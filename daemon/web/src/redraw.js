// SPDX-License-Identifier: Apache-2.0
// When to draw: at most four times a second for what comes in, at once for what the user does, and
// not at all while nobody can see it.

const INTERVAL_MS = 250;

export function createRedraw(draw, page = document) {
  let last = -INTERVAL_MS;
  let timer = null;
  let wanted = false;

  function run() {
    timer = null;
    if (page.hidden) return;
    wanted = false;
    last = performance.now();
    draw();
  }

  page.addEventListener('visibilitychange', () => {
    if (!page.hidden && wanted) run();
  });

  return {
    soon() {
      wanted = true;
      if (timer !== null || page.hidden) return;
      timer = setTimeout(run, Math.max(0, last + INTERVAL_MS - performance.now()));
    },
    now() {
      clearTimeout(timer);
      wanted = true;
      run();
    },
  };
}
