// SPDX-License-Identifier: Apache-2.0
// Keeps the model up to date: what is known first, then the stream from there on, so that history
// never comes as if it were now. A gap, a reset and a lost connection all begin again like that.
// While nobody sees the page there is no connection and no request.

const TICK_MS = 1000;
const RUNS_EVERY_MS = 5000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10000;

export function connect(model, page = document) {
  const {source, book, changed} = model;
  const connection = model.connection;
  let close = null;      // of the stream
  let attempt = 0;       // counts connections: an answer to an earlier one is dropped
  let wait = FIRST_WAIT_MS;
  let retry, ticking;
  let news = true;       // something new may be there to ask for
  let runsAsked = -Infinity;

  async function begin() {
    const mine = ++attempt;
    clearTimeout(retry);
    try {
      const [position] = await Promise.all([book.load(), model.loadRuns(), model.status ? null : model.loadStatus()]);
      if (mine !== attempt) return;
      model.urgent();
      if (!source.live) return showAll();
      close = source.subscribe({...position, streams: 'alerts,steps,status', parts: '1'},
        {message: (frame) => mine === attempt && receive(frame), close: () => mine === attempt && lost('')});
      await showAll();
    } catch (error) {
      if (mine === attempt) lost(error.message);
    }
  }

  async function showAll() {
    model.loader.expire();
    model.loader.refresh();
    await model.loadResolved();
  }

  function lost(error) {
    close = null;
    ++attempt;
    Object.assign(connection, {state: 'lost', lostSince: connection.lostSince ?? Date.now()});
    model.error = error;
    model.clock.stop();
    if (!page.hidden) retry = setTimeout(begin, wait);
    wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    changed();
  }

  function restart() {
    close?.();
    begin();
  }

  const handlers = {
    hello() {
      wait = FIRST_WAIT_MS;
      Object.assign(connection, {state: 'live', lostSince: null});
      model.error = '';
      model.clock.go();
    },
    alert(frame) {
      book.add(frame);
      news = true;
    },
    step() {
      news = true;
    },
    status(frame) {
      const newer = frame.latest_event_at !== model.status?.latest_event_at || frame.ready !== model.status?.ready;
      model.status = frame;
      news ||= newer;
    },
    gap: restart,
    reset: restart,
  };

  function receive(frame) {
    handlers[frame.op]?.(frame);
    changed();
  }

  async function tick() {
    changed();  // durations count on
    if (connection.state !== 'live') return;
    const now = performance.now();
    if (news || now - runsAsked >= RUNS_EVERY_MS) {
      runsAsked = now;
      await model.loadRuns().catch(() => {});
    }
    if (page.hidden) return;
    if (news) model.loader.expire();
    news = false;
    model.loader.refresh();
    model.loadResolved();
  }

  function seen() {
    if (page.hidden) {
      clearInterval(ticking);
      clearTimeout(retry);
      ++attempt;
      close?.();
      close = null;
      return;
    }
    ticking = setInterval(tick, TICK_MS);
    begin();
  }

  if (!source.live) return void begin();
  page.addEventListener('visibilitychange', seen);
  seen();
}
