// SPDX-License-Identifier: Apache-2.0
// The alerts that the page knows: all that fire, and the resolved ones that were asked for or came
// meanwhile. One row per id, the highest seq counts. What fires is never pushed out.

const MOST_RESOLVED = 1000;
const WINDOW = 500;   // seqs of the log that one request for older alerts looks through
const PAGE = 20;      // resolved alerts that one click wants
const MOST_WINDOWS = 20;

export const SEVERITIES = ['critical', 'warning', 'info'];

export const severityRank = (alert) => SEVERITIES.indexOf(alert.severity);

export function createAlertBook(source) {
  const firing = new Map();
  let resolved = new Map();
  const parts = new Map();  // incident -> alerts, once asked for
  const book = {
    known: false,      // false: nothing is known yet
    epoch: '', lastSeq: 0, firstSeq: 1,
    scanned: null,     // resolved alerts above this seq are known; null: none were read
    notice: '',
    firing: () => [...firing.values()],
    resolved: () => [...resolved.values()],
    parts: (incident) => parts.get(incident),
  };

  // What fires now, instead of what was known. Resolves with the position to subscribe at.
  book.load = async () => {
    const state = await source.get('/api/v1/alerts?state=firing');
    if (state.epoch !== book.epoch) book.startAgain();
    firing.clear();
    for (const alert of state.alerts) add(alert);
    Object.assign(book, {epoch: state.epoch ?? '', firstSeq: state.first_seq ?? 1, known: true});
    book.lastSeq = state.last_seq ?? 0;
    return {after: book.lastSeq, epoch: book.epoch};
  };

  // One that came. It may be, or have become, part of an incident: then it does not stand for itself,
  // and is kept only where the parts of that incident are shown.
  book.add = (alert) => {
    if (alert.provisional) return add(alert);
    book.lastSeq = Math.max(book.lastSeq, alert.seq ?? 0);
    if (!isPart(alert)) return add(alert);
    firing.delete(alert.id);
    resolved.delete(alert.id);
    const shown = parts.get(alert.incident);
    if (shown) parts.set(alert.incident, [...shown.filter((part) => part.id !== alert.id), alert]);
  };

  function add(alert) {
    const known = firing.get(alert.id) || resolved.get(alert.id);
    if (known && known.seq > alert.seq) return;
    firing.delete(alert.id);
    resolved.delete(alert.id);
    (alert.state === 'resolved' ? resolved : firing).set(alert.id, alert);
    if (resolved.size > MOST_RESOLVED) resolved.delete(oldest(resolved));
  }

  // Resolved alerts before those that are known, newest first: at least a page, if there are so many.
  book.loadOlder = async (rule = '') => {
    let wanted = PAGE;
    let scanned = book.scanned ?? book.lastSeq;
    const mine = resolved;
    for (let i = 0; i < MOST_WINDOWS && wanted > 0 && scanned >= book.firstSeq; ++i) {
      const from = Math.max(book.firstSeq - 1, scanned - WINDOW);
      const page = await source.get(`/api/v1/alerts?state=resolved&after=${from}&limit=${WINDOW}` +
                                    (rule ? `&rule=${encodeURIComponent(rule)}` : ''));
      if (mine !== resolved) return;
      const found = page.alerts.filter((alert) => alert.state === 'resolved' &&
          (alert.seq === undefined || alert.seq <= scanned) && !resolved.has(alert.id) && !firing.has(alert.id));
      found.forEach(add);
      wanted -= found.length;
      book.firstSeq = page.first_seq ?? book.firstSeq;
      book.scanned = scanned = from;
    }
    book.scanned = scanned;
  };
  book.hasOlder = () => book.scanned === null || book.scanned >= book.firstSeq;
  book.startAgain = () => {
    resolved = new Map();
    book.scanned = null;
  };

  // The alerts that belong to the incident of `alert`, without the one that speaks for it.
  book.loadParts = async (alert) => {
    const where = alert.state === 'firing' ? 'state=firing' :
      `state=resolved&after=${Math.max(0, alert.seq - WINDOW)}&limit=1000`;
    const answer = await source.get(`/api/v1/alerts?parts=1&${where}`);
    const found = new Map();
    for (const part of answer.alerts) {
      if (part.incident === alert.incident && part.id !== alert.id) found.set(part.id, part);
    }
    parts.set(alert.incident, [...found.values()]);
  };
  return book;
}

export const isPart = (alert) => Boolean(alert.incident) && alert.incident !== alert.id;

function oldest(resolved) {
  let found = null;
  for (const alert of resolved.values()) if (!found || alert.seq < found.seq) found = alert;
  return found.id;
}

export const whenEnded = (alert) => Date.parse(alert.ended_at || alert.updated_at || alert.started_at);
export const newestFirst = (a, b) => whenEnded(b) - whenEnded(a) || (b.seq ?? 0) - (a.seq ?? 0);
export const worstFirst = (a, b) => severityRank(a) - severityRank(b) ||
  (b.lost_seconds ?? 0) - (a.lost_seconds ?? 0) || Date.parse(b.started_at) - Date.parse(a.started_at);

// Incidents: {speaker, others}, worst first. Who speaks is the alert whose id the incident has.
export function incidents(alerts, order = worstFirst) {
  const groups = new Map();
  for (const alert of alerts) {
    const key = alert.incident || alert.id;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(alert);
  }
  return [...groups.entries()].map(([key, group]) => {
    const speaker = group.find((alert) => alert.id === key) || group.sort(worstFirst)[0];
    return {speaker, others: group.filter((alert) => alert !== speaker)};
  }).sort((a, b) => order(a.speaker, b.speaker));
}

// Filter: {rule, severity, rank, run}, each '' for all. Severity is the least one.
export function matches(filter, alert) {
  const subject = alert.subject || {};
  if (filter.rule && alert.rule !== filter.rule) return false;
  if (filter.severity && severityRank(alert) > SEVERITIES.indexOf(filter.severity)) return false;
  if (filter.run !== '' && (subject.job ?? '') !== filter.run) return false;
  return filter.rank === '' || ranksOf(subject).some(([from, to]) => filter.rank >= from && filter.rank <= to);
}

// The ranks of a subject as ranges: "0-3,7" is [[0, 3], [7, 7]].
export function ranksOf(subject) {
  if (subject.ranks) {
    return subject.ranks.split(',').map((range) => {
      const [from, to] = range.split('-').map(Number);
      return [from, to ?? from];
    });
  }
  return subject.rank === undefined ? [] : [[subject.rank, subject.rank]];
}
