import './base.css';
// The live page: alerts over the WebSocket, what is watched from the status frames. Everything that
// comes from outside is set as text, never as markup.

const MAX_ALERTS_SHOWN = 200;
const SILENCE_MS = 15000;  // three missed heartbeats

const byId = (id) => document.getElementById(id);

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

// ---- alerts ----

const alerts = new Map();  // id -> {alert, node}, newest change last

function subjectText(subject = {}) {
  const parts = [];
  if (subject.job) parts.push(subject.job);
  if (subject.node) parts.push(subject.node);
  if (subject.rank !== undefined) parts.push(`rank ${subject.rank}`);
  if (subject.process !== undefined) parts.push(`process ${subject.process}`);
  if (subject.gpu !== undefined) parts.push(`gpu ${subject.gpu}`);
  return parts.join(' · ');
}

function causeText(cause) {
  if (!cause || !cause.name) return '';
  if (cause.name === 'unattributed') {
    const missing = (cause.missing || []).join(', ');
    return missing ? `Cause unknown: no ${missing}` : 'Cause unknown';
  }
  const share = cause.coverage ? ` (${Math.round(cause.coverage * 100)} %)` : '';
  const why = cause.explanation ? `: ${cause.explanation}` : '';
  return `Cause: ${cause.name.replaceAll('_', ' ')}${share}${why}`;
}

function alertNode(alert) {
  const resolved = alert.state === 'resolved';
  const node = element('li', `${alert.severity || 'info'}${resolved ? ' resolved' : ''}`);
  const head = element('div', 'head');
  head.append(element('span', 'severity', resolved ? `${alert.severity}, resolved` : alert.severity));
  head.append(element('span', 'rule', alert.rule));
  const where = subjectText(alert.subject);
  if (where) head.append(element('span', 'subject', where));
  if (alert.step !== undefined && alert.step !== null) head.append(element('span', '', `step ${alert.step}`));
  if (alert.count > 1) head.append(element('span', '', `seen ${alert.count} times`));
  const started = new Date(alert.started_at);
  if (!Number.isNaN(started.getTime())) {
    const time = element('time', '', started.toLocaleString());
    time.dateTime = alert.started_at;
    head.append(time);
  }
  node.append(head, element('p', 'summary', alert.summary || ''));
  const cause = causeText(alert.cause);
  if (cause) node.append(element('p', 'cause', cause));
  if (alert.next && !resolved) node.append(element('p', 'next', alert.next));
  return node;
}

function showAlert(alert) {
  const known = alerts.get(alert.id);
  if (known) known.node.remove();
  alerts.delete(alert.id);
  const node = alertNode(alert);
  alerts.set(alert.id, {alert, node});
  byId('alerts').prepend(node);
  if (alerts.size > MAX_ALERTS_SHOWN) {
    const [oldest, {node: gone}] = alerts.entries().next().value;
    gone.remove();
    alerts.delete(oldest);
  }
  const firing = [...alerts.values()].filter((each) => each.alert.state !== 'resolved').length;
  byId('firing').textContent = `${firing} firing`;
  byId('no-alerts').hidden = true;
}

function forgetAlerts() {
  alerts.clear();
  byId('alerts').replaceChildren();
  byId('firing').textContent = '';
  byId('no-alerts').hidden = false;
}

function notice(text) {
  byId('notice').textContent = text;
  byId('notice').hidden = false;
}

// ---- what is watched ----

const count = (number) => (typeof number === 'number' ? number.toLocaleString() : '');

function bytes(number) {
  if (typeof number !== 'number') return '';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (number >= 1024 && unit < units.length - 1) {
    number /= 1024;
    ++unit;
  }
  return `${unit ? number.toFixed(1) : number} ${units[unit]}`;
}

const rejectText = (rejects) => Object.entries(rejects || {}).map(([why, n]) => `${why} ${n}`).join(', ');

// columns: [title, class, text of a row]
function table(id, caption, rows, columns) {
  const node = byId(id);
  node.hidden = !Array.isArray(rows) || rows.length === 0;
  if (node.hidden) return;
  const head = element('tr');
  for (const [title, className] of columns) head.append(element('th', className, title));
  const lines = rows.map((row) => {
    const line = element('tr');
    for (const [, className, text] of columns) line.append(element('td', className, text(row) ?? ''));
    return line;
  });
  node.replaceChildren(element('caption', '', caption), head, ...lines);
}

function showStatus(status) {
  byId('version').textContent = status.version || '';
  const parts = [status.ready ? 'Ready' : 'Reading existing files'];
  if (status.started_at) parts.push(`started ${new Date(status.started_at).toLocaleString()}`);
  if (typeof status.lag_seconds === 'number') parts.push(`${status.lag_seconds.toFixed(1)} s behind the files`);
  for (const root of status.missing_roots || []) parts.push(`waiting for ${root}, which does not exist`);
  byId('state').textContent = parts.join(', ') + '.';
  table('sources', 'Sources', status.sources, [
    ['source', 'path', (s) => s.source],
    ['files', 'number', (s) => count(s.files)],
    ['read', 'number', (s) => bytes(s.bytes)],
    ['unread', 'number', (s) => bytes(s.lag_bytes)],
    ['events', 'number', (s) => count(s.events)],
    ['rejected', '', (s) => rejectText(s.rejects)],
  ]);
  table('rules', 'Rules', status.rules, [
    ['rule', 'path', (r) => r.rule],
    ['instances', 'number', (r) => count(r.instances)],
    ['warming up', 'number', (r) => count(r.warming)],
    ['firing', 'number', (r) => count(r.firing)],
    ['missing input', '', (r) => (r.missing || []).join(', ')],
  ]);
  table('files', 'Files', (status.files || []).slice(0, 100), [
    ['file', 'path', (f) => f.path],
    ['format', '', (f) => f.error || f.format],
    ['size', 'number', (f) => bytes(f.size)],
    ['read', 'number', (f) => bytes(f.offset)],
    ['records', 'number', (f) => count(f.records)],
  ]);
  table('rejects', 'Rejected records', status.rejected_samples, [
    ['file', 'path', (r) => r.path],
    ['reason', '', (r) => r.reason],
    ['begins with', 'path', (r) => r.sample],
  ]);
}

// ---- the connection ----

const cursor = {after: 0, epoch: ''};
let wait = 500;

function connectionIs(state, text) {
  byId('connection').className = state;
  byId('connection').textContent = text;
}

const handlers = {
  hello(message) {
    if (cursor.epoch === '') cursor.epoch = message.epoch;
    connectionIs('live', 'live');
    wait = 500;
  },
  alert(message) {
    if (!message.provisional) cursor.after = message.seq;
    showAlert(message);
  },
  status: showStatus,
  heartbeat(message) {
    connectionIs('live', message.lag_seconds > 5 ? `live, ${message.lag_seconds.toFixed(0)} s behind` : 'live');
  },
  gap(message) {
    cursor.after = message.to;
    notice(`Alerts ${message.from} to ${message.to} are no longer kept.`);
  },
  reset(message) {
    cursor.after = 0;
    cursor.epoch = message.epoch;
    forgetAlerts();
    notice('trainwatch lost its state and started a new sequence.');
  },
};

function connect() {
  const url = new URL('/api/v1/stream', location.href);
  url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  url.search = new URLSearchParams({after: cursor.after, epoch: cursor.epoch, streams: 'alerts,status'});
  const socket = new WebSocket(url, 'trainwatch.v1.json');
  let silence;
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(() => socket.close(), SILENCE_MS);
  };
  socket.onopen = heard;
  socket.onmessage = (event) => {
    heard();
    const message = JSON.parse(event.data);
    const handler = handlers[message.op];
    if (handler) handler(message);
  };
  socket.onclose = () => {
    clearTimeout(silence);
    connectionIs('lost', 'connection lost, reconnecting');
    setTimeout(connect, wait);
    wait = Math.min(wait * 2, 10000);
  };
}

connect();
