// SPDX-License-Identifier: Apache-2.0
// The time under the pointer, the same in all charts. Charts follow it by themselves, at most once a
// frame: moving it draws nothing else. Times are microseconds since the epoch.

export function createCursor(nextFrame = requestAnimationFrame) {
  const followers = new Set();
  let time = null;
  let anchor = null;  // where a span that is chosen by keyboard begins
  let shown = true;

  function showLater() {
    if (!shown) return;
    shown = false;
    nextFrame(() => {
      shown = true;
      for (const follow of followers) follow(time);
    });
  }

  return {
    get time() { return time; },
    get anchor() { return anchor; },
    set(next) {
      time = next;
      showLater();
    },
    setAnchor(next) {
      anchor = next;
      showLater();
    },
    follow(callback) {
      followers.add(callback);
      return () => followers.delete(callback);
    },
  };
}
