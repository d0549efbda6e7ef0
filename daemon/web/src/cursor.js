// The time under the pointer, the same in all charts. Charts follow it by themselves: moving it
// draws nothing else. Times are microseconds since the epoch.

export function createCursor() {
  const followers = new Set();
  let time = null;
  let anchor = null;  // where a span that is chosen by keyboard begins
  return {
    get time() { return time; },
    get anchor() { return anchor; },
    set(next) {
      if (next === time) return;
      time = next;
      for (const follow of followers) follow(time);
    },
    setAnchor(next) {
      anchor = next;
      for (const follow of followers) follow(time);
    },
    follow(callback) {
      followers.add(callback);
      return () => followers.delete(callback);
    },
  };
}
