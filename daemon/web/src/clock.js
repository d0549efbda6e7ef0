// SPDX-License-Identifier: Apache-2.0
// What time it is: that of the server, as clocks differ, and in a report the time of its newest event.

// A time of the server as the charts have it, microseconds since the epoch; NaN: none.
export const micros = (text) => (text ? Date.parse(text) * 1000 : NaN);

export function createClock(source, machine = Date) {
  let offset = 0;
  let fixed = null;
  return {
    now: () => fixed ?? machine.now() + offset,
    // While the connection is lost nothing lasts any longer, as far as anybody knows.
    stop: () => { fixed ??= machine.now() + offset; },
    go: () => { if (source.live) fixed = null; },
    // `text` is the server's time as of now.
    set(text) {
      const time = Date.parse(text);
      if (Number.isNaN(time)) return;
      if (source.live) offset = time - machine.now();
      else fixed = time;
    },
  };
}
