// SPDX-License-Identifier: Apache-2.0
// Where the page gets its answers from while trainwatch runs: HTTP and the WebSocket.
//   get(path)               resolves with the JSON of GET path, rejects with {status, message}
//   subscribe(query, on)    one connection of the stream; on.message(frame), on.close(); returns close()
//   link(path)              what an <a> may refer to; null if to nothing
//   problem(path)           resolves with why it cannot be had, in a sentence; '' if it can
// embedded_source.js has the same interface.
// Addresses are made from the origin: the page's own may have user and password in it, which neither takes.

const PATIENCE_MS = 20000;
const SILENCE_MS = 15000;  // three missed heartbeats

export function liveSource(place = window.location) {
  async function get(path) {
    const answer = await fetch(place.origin + path, {signal: AbortSignal.timeout(PATIENCE_MS)});
    if (answer.ok) return answer.json();
    throw Object.assign(new Error(await reason(answer)), {status: answer.status});
  }

  function subscribe(query, on) {
    const url = new URL('/api/v1/stream', place.origin);
    url.protocol = place.protocol === 'https:' ? 'wss:' : 'ws:';
    url.search = new URLSearchParams(query);
    const socket = new WebSocket(url, 'trainwatch.v1.json');
    let silence;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => socket.close(), SILENCE_MS);
    };
    const end = () => {
      clearTimeout(silence);
      socket.onclose = socket.onmessage = null;
    };
    heard();
    socket.onmessage = (event) => {
      heard();
      on.message(JSON.parse(event.data));
    };
    socket.onclose = () => {
      end();
      on.close();
    };
    return () => {
      end();
      socket.close();
    };
  }

  async function problem(path) {
    const stop = new AbortController();
    try {
      const answer = await fetch(place.origin + path, {signal: stop.signal});
      if (answer.ok) return '';
      return answer.status === 404 ? 'This server does not have it.' : `It could not be read: ${await reason(answer)}.`;
    } catch (error) {
      return `It could not be read: ${error.message}.`;
    } finally {
      stop.abort();
    }
  }

  return {live: true, get, subscribe, problem, link: (path) => path};
}

async function reason(answer) {
  try {
    return (await answer.json()).error || answer.statusText;
  } catch {
    return answer.statusText || `status ${answer.status}`;
  }
}
