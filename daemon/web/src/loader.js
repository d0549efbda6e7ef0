// SPDX-License-Identifier: Apache-2.0
// Fetches what the panels show. A result is {data, error, missing}: `missing` says that the server
// does not have this path. Older data stays until newer is there; answers to what is no longer asked
// are dropped.

import {joinColumns, nextColumns} from './columns.js';
import {PANELS} from './panels.js';

const ASK_AGAIN_MS = 60000;  // for what the server did not have
export const RETRY_MS = 5000;  // for what could not be read
const MOST_OF_ASKED = 1.25;  // columns that are joined before all are asked for again

export function createLoader(source, view, changed) {
  const panels = {};
  for (const name of Object.keys(PANELS)) panels[name] = {data: null, error: '', missing: false, asked: -Infinity, old: true};
  let question = '';  // what the panels are about: answers to another one are dropped

  // Something new may be there for every panel.
  function expire() {
    for (const panel of Object.values(panels)) panel.old = true;
  }

  // Asks for what is old, each panel as often as it may; for all of them if the view shows something else, or by `force`.
  function refresh(force = false) {
    const now = performance.now();
    const shown = view();
    const current = shown.key;
    const other = current !== question;
    question = current;
    for (const [name, spec] of Object.entries(PANELS)) {
      const panel = panels[name];
      if (spec.only && !spec.only(shown)) {
        panel.data = null;
        continue;
      }
      const wait = panel.missing ? ASK_AGAIN_MS : panel.error ? Math.max(RETRY_MS, spec.every) : spec.every;
      const due = force || other || (spec.only && panel.path !== spec.path(shown)) || (panel.old && wait > 0 && now - panel.asked >= wait);
      if (due && !(panel.busy && !other)) ask(name, spec, panel, other);
    }
  }

  async function ask(name, spec, panel, other) {
    const mine = question;
    const shown = view();
    panel.asked = performance.now();
    panel.path = spec.path(shown);
    panel.old = false;
    panel.busy = true;
    try {
      const data = name === 'steps' && !other ? await more(panel.data, shown) : await source.get(panel.path);
      if (mine !== question) return;
      if (data !== panel.data) Object.assign(panel, {data, error: '', missing: false});
    } catch (error) {
      if (mine !== question) return;
      if (other) panel.data = null;
      Object.assign(panel, {old: true, missing: error.status === 404, error: error.status === 404 ? '' : error.message});
    } finally {
      if (mine === question) panel.busy = false;
    }
    changed();
    if (spec.first) refresh();  // what others ask for depends on it
  }

  // The columns from the newest one on; all of them where that is not possible.
  async function more(data, shown) {
    const next = shown.end === undefined && shown.lastStepUs ? nextColumns(data, shown.lastStepUs(), MOST_OF_ASKED * shown.columns) : null;
    if (next) {
      const newer = await source.get(PANELS.steps.path({...shown, ...next}));
      const joined = joinColumns(data, newer);
      if (joined) return since(joined, shown.start);
    }
    return source.get(PANELS.steps.path(shown));
  }

  return {panels, expire, refresh};
}

// Without the columns before `start`, when the window moves on.
function since(answer, start) {
  const keep = start === undefined ? 0 : answer.columns.t_us.findIndex((time) => time + answer.width_us > start);
  if (keep <= 0) return answer;
  const cut = (value) => (Array.isArray(value) ? value.slice(keep) :
    Object.fromEntries(Object.entries(value || {}).map(([name, list]) => [name, list.slice(keep)])));
  return {...answer, columns: Object.fromEntries(Object.entries(answer.columns).map(([name, value]) => [name, cut(value)]))};
}
