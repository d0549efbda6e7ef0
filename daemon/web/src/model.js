// SPDX-License-Identifier: Apache-2.0
// What the page shows, and what can be done with it. Views read it and call its methods; whoever
// changes it calls changed(), which draws a little later, or urgent(), which draws at once.

import {createAlertBook} from './alert_book.js';
import {createClock, micros} from './clock.js';
import {createCursor} from './cursor.js';
import {createLoader} from './loader.js';
import {shownTags} from './scalars_view.js';
import {fromHash, movedBy, shownSpan, toHash, zoomed, zoomedBy} from './span.js';

const BADNESS = ['stalled', 'slow', 'starting', 'running', 'failed', 'gone', 'cancelled', 'finished'];
const SETTLE_MS = 150;  // while a key repeats, nothing is asked for

export const worstRunFirst = (a, b) => BADNESS.indexOf(a.state) - BADNESS.indexOf(b.state) ||
  micros(b.last_step_at) - micros(a.last_step_at) || (a.job < b.job ? -1 : 1);

export const isOver = (run) => BADNESS.indexOf(run.state) >= BADNESS.indexOf('failed');

export function createModel(source, {changed, urgent}) {
  const model = {
    source, changed, urgent,
    clock: createClock(source),
    cursor: createCursor(),
    connection: {state: 'connecting', lostSince: null},
    runs: null, monitor: '', status: null, error: '',
    job: null, attempt: undefined, range: {kind: 'all'}, columns: 500,
    filter: {rule: '', severity: '', rank: '', run: ''},
    tags: [null, null],  // of scalars that were chosen; null: the usual ones
    logScale: null,  // of iteration time; null: as the data needs
  };
  model.book = createAlertBook(source);
  model.loader = createLoader(source, () => viewOf(model), changed);
  model.panels = model.loader.panels;
  let settle;
  let reading = 0;  // reads of resolved alerts that are in progress

  model.run = () => (model.runs || []).find((run) => run.job === model.job) || null;

  // The time of the run, until now while it goes on, else of what is logged, microseconds; null while unknown.
  model.extent = () => {
    const life = model.run()?.life;
    const logged = (model.panels.scalars.data?.series || []).flatMap(({points}) => [points[0][1], points.at(-1)[1]]);
    const [from, to] = life ? [micros(life.began_at), micros(life.until)] : [Math.min(...logged), Math.max(...logged)];
    return Number.isFinite(from) ? [from, Math.max(to, from + 1e6)] : null;
  };
  model.span = () => shownSpan(model.range, model.extent());

  model.loadRuns = async () => {
    const answer = await source.get('/api/v1/runs');
    if (answer.now) model.clock.set(answer.now);
    Object.assign(model, {runs: answer.runs, monitor: answer.monitor ?? ''});
    if (!model.run()) model.job = [...model.runs].sort(worstRunFirst)[0]?.job ?? null;
  };
  model.loadStatus = async () => {
    model.status = await source.get('/api/v1/status');
  };

  function show(change) {
    Object.assign(model, change);
    if (source.live) history.replaceState(null, '', `#${toHash(model)}`);
    urgent();
    clearTimeout(settle);
    settle = setTimeout(() => model.loader.refresh(), SETTLE_MS);
  }
  model.choose = (job, attempt) => show({job, attempt, range: {kind: 'all'}});
  model.setRange = (range) => show({range});
  model.zoom = (from, to) => show({range: zoomed(from, to, model.extent())});
  model.zoomBy = (factor, around = null) => {
    if (model.span()) show({range: zoomedBy(factor, model.span(), around, model.extent())});
  };
  model.moveBy = (share) => {
    if (model.span()) show({range: movedBy(share, model.span(), model.extent())});
  };
  model.reset = () => show({range: {kind: 'all'}});
  model.chooseTag = (i, tag) => {
    model.tags = model.tags.map((each, k) => (k === i ? tag : each));
    urgent();
    model.loader.refresh();
  };
  model.setFilter = (change) => {
    const rule = change.rule !== undefined && change.rule !== model.filter.rule;
    Object.assign(model.filter, change);
    urgent();
    if (rule) model.loadOlder(true);
  };

  // Resolved alerts further back; from the newest on if `again`.
  model.loadOlder = async (again = false) => {
    if (again) model.book.startAgain();
    let notice = '';
    ++reading;
    try {
      await model.book.loadOlder(model.filter.rule);
    } catch (error) {
      notice = `Older alerts could not be read: ${error.message}`;
    }
    --reading;
    model.book.notice = notice;
    changed();
  };
  // The newest resolved alerts, unless they are known; to be called again, since reading them may fail.
  model.loadResolved = async () => {
    if (model.book.scanned === null && reading === 0) await model.loadOlder();
  };

  model.fromAddress = () => {
    const {job, attempt, range} = fromHash(location.hash);
    Object.assign(model, {attempt, range}, job === null ? {} : {job});
  };
  return model;
}

// What the panels are asked about. A report has one answer to each question, and selects from it.
function viewOf(model) {
  const {job, attempt, range, columns, source} = model;
  const view = {job, attempt, columns, tags: shownTags(model.panels.tags.data, model.tags), key: JSON.stringify([job, attempt, source.live ? [range, columns] : 0])};
  view.lastStepUs = () => micros(model.run()?.last_step_at);
  if (!source.live) return view;
  if (range.kind === 'span') Object.assign(view, {start: range.from, end: range.to});
  if (range.kind === 'last') view.start = shownSpan(range, model.extent())?.[0];
  return view;
}
