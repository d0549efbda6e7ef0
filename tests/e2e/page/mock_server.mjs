// SPDX-License-Identifier: Apache-2.0
// A server that keeps the contract between trainwatch and its page, with jobs and alerts that a test
// makes. What is served as the page comes from the real program.
//   node mock_server.mjs BINARY [slow|healthy|straggler|stalled|large|trial]    serves until it is ended

import http from 'node:http';
import {once} from 'node:events';
import {fileURLToPath} from 'node:url';
import {WebSocketServer} from 'ws';
import {makeAlert, makeHistory} from './alerts.mjs';
import {assetsOf} from './daemon.mjs';
import * as jobs from './jobs.mjs';
import * as tensors from './tensors.mjs';

const SLOWEST_MS = Number(process.env.TRAINWATCH_SLOWEST_MS ?? 0);  // what is asked is answered after up to so long

export class MockServer {
  constructor(assets, {runs = [], alerts = [], monitor = '', status = {}, missing = [], failing = [], trials = []} = {}) {
    Object.assign(this, {assets, jobs: runs, monitor, missing, failing, trials, epoch: 'epoch-1', requests: [], log: [], streams: new Set(), unanswered: 0});
    this.status = {version: '0.0.0-mock', ready: true, started_at: new Date().toISOString(), latest_event_at: new Date().toISOString(),
      lag_seconds: 0, watch_degraded: '', missing_roots: [], state_degraded: '', sources: [{source: '/job', files: 3, bytes: 123456,
        lag_bytes: 0, lag_seconds: 0, events: 999, rejects: {}}], files: [{path: '/job/a.json', format: 'timeline', size: 10, offset: 10,
        records: 1, rejects: 0, error: ''}], rules: [{rule: 'step_spike', instances: 8, warming: 0, firing: 1, abstaining: 0, missing: []},
        {rule: 'gpu_idle', instances: 1, warming: 1, firing: 0, abstaining: 1, missing: ['gpu activity']}], ...status};
    this.runExtras = {};
    for (const alert of alerts) this.store(alert);
  }

  async listen(port = 0) {
    this.http = http.createServer((request, response) => this.answer(request, response));
    this.sockets = new WebSocketServer({server: this.http, path: '/api/v1/stream', handleProtocols: () => 'trainwatch.v1.json'});
    this.sockets.on('connection', (socket, request) => this.subscribe(socket, new URL(request.url, 'http://x').searchParams));
    this.http.listen(port, '127.0.0.1');
    await once(this.http, 'listening');
    this.port = this.http.address().port;
    this.url = `http://127.0.0.1:${this.port}`;
    this.timer = setInterval(() => this.send({op: 'heartbeat', lag_seconds: 0}), 2000);
    return this;
  }

  async close() {
    clearInterval(this.timer);
    for (const socket of this.streams) socket.terminate();
    this.http.closeAllConnections();
    await new Promise((done) => this.http.close(done));
  }

  store(alert) {
    const stored = {...alert, epoch: this.epoch, seq: this.log.length + 1};
    this.log.push(stored);
    return stored;
  }

  // Stores an alert and sends it to who listens.
  publish(alert) {
    const stored = this.store(alert);
    for (const socket of this.streams) if (stored.incident === stored.id || socket.parts) socket.send(JSON.stringify({op: 'alert', ...stored}));
    return stored;
  }

  send(frame) {
    for (const socket of this.streams) socket.send(JSON.stringify(frame));
  }

  // Something was read.
  stepped() {
    this.status.latest_event_at = new Date().toISOString();
    this.send({op: 'step', dropped: 0, steps: []});
    this.send({op: 'status', ...this.status});
  }

  // A step of the first trial is complete.
  saved(step) {
    for (const steps of Object.values(this.trials[0].steps)) steps.push(step);
    this.send({op: 'tensor', dropped: 0, trials: []});
  }

  subscribe(socket, query) {
    this.requests.push('stream');
    this.streams.add(socket);
    socket.parts = query.get('parts') === '1';
    socket.on('close', () => this.streams.delete(socket));
    socket.send(JSON.stringify({op: 'hello', epoch: this.epoch, first_seq: 1, last_seq: this.log.length}));
    if (query.get('epoch') && query.get('epoch') !== this.epoch) socket.send(JSON.stringify({op: 'reset', epoch: this.epoch}));
    const after = Number(query.get('after') ?? this.log.length);
    for (const alert of this.log.slice(after).filter((each) => socket.parts || each.incident === each.id)) socket.send(JSON.stringify({op: 'alert', ...alert}));
  }

  answer(request, response) {
    const url = new URL(request.url, this.url);
    const asset = this.assets.get(url.pathname);
    if (asset && !this.fails(url)) return response.writeHead(200, asset.headers).end(asset.body);
    this.requests.push(request.url);
    ++this.unanswered;
    response.once('close', () => { --this.unanswered; });
    if (!SLOWEST_MS) return this.respond(url, response);
    return setTimeout(() => this.respond(url, response), SLOWEST_MS * Math.random());
  }

  fails(url) {
    return this.failing.some((start) => (url.pathname + url.search).startsWith(start));
  }

  respond(url, response) {
    if (this.fails(url)) {
      return response.writeHead(503, {'Content-Type': 'application/json'}).end(JSON.stringify({status: 503, error: 'the index is not ready'}));
    }
    const value = this.missing.some((path) => url.pathname.startsWith(path)) ? undefined : this.json(url.pathname, url.searchParams);
    if (value?.picture) return response.writeHead(200, {'Content-Type': 'image/png'}).end(value.picture);
    if (value?.download) return response.writeHead(200, {'Content-Type': 'application/json'}).end(JSON.stringify(value.download));
    const status = value === undefined ? 404 : 200;
    response.writeHead(status, {'Content-Type': 'application/json', 'Cache-Control': 'no-store'})
      .end(JSON.stringify(value ?? {status, error: 'Not Found'}));
  }

  json(path, query) {
    const job = this.jobs.find((each) => each.job === (query.get('job') ?? each.job));
    const number = (name) => (query.has(name) ? Number(query.get(name)) : undefined);
    const span = {start: number('start'), end: number('end'), columns: number('columns')};
    switch (path) {
      case '/api/v1/runs':
        return {now: new Date().toISOString(), monitor: this.monitor, runs: this.jobs.map((each) => jobs.run(each, this.runExtras[each.job]))};
      case '/api/v1/status': return this.status;
      case '/api/v1/alerts': return this.alerts(query);
      case '/api/v1/steps': return job && jobs.steps(job, span);
      case '/api/v1/heatmap': return job && jobs.heatmap(job, query.get('what'), span);
      case '/api/v1/histogram': return job && jobs.histogram(job, query.get('what'), span);
      case '/api/v1/scalars': return job && jobs.scalars(job, query.getAll('tag'), number('last'));
      case '/api/v1/annotations': return job && jobs.annotations(job, span);
      case '/api/v1/tensors': return {trials: this.trials.map((trial) => tensors.answer(trial, query))};
      case '/api/v1/tensors/value': return tensors.value(this.trials[0], query);
      case '/api/v1/timeline': return {download: {traceEvents: [], span}};
    }
    if (path.startsWith('/api/v1/analyses/')) return (job && jobs.analysis(path.split('/').pop(), job)) ?? undefined;
    if (path.endsWith('/trace')) return {download: {traceEvents: []}};
    return undefined;
  }

  alerts(query) {
    const [state, rule] = [query.get('state'), query.get('rule')];
    const parts = query.get('parts') === '1';
    const wanted = (alert) => (parts || alert.incident === alert.id) && (!rule || alert.rule === rule) && (!state || alert.state === state);
    let found = this.log.slice(Number(query.get('after') ?? 0)).filter(wanted);
    if (state === 'firing') {
      const latest = new Map(this.log.map((alert) => [alert.id, alert]));
      found = [...latest.values()].filter(wanted);
    }
    return {epoch: this.epoch, first_seq: 1, last_seq: this.log.length, alerts: found.slice(0, Number(query.get('limit') ?? 1000))};
  }
}

// What `name` shows: jobs and alerts.
export function scene(name, now = Date.now()) {
  const ends = now * 1000;
  const make = (options) => jobs.makeJob({ends, ...options});
  const firing = [makeAlert('waits', {severity: 'warning', at: now - 38 * 60000}),
    makeAlert('part of waits', {incident: 'waits', rank: 3, rule: 'step_spike', at: now - 37 * 60000, summary: 'Rank 3 waits.'})];
  switch (name) {
    case 'healthy': return {runs: [make({job: 'bert'})], alerts: makeHistory(30, now)};
    case 'straggler': return {runs: [make({job: 'bert', kind: 'straggler', ranks: 16})],
      alerts: [...makeHistory(30, now), makeAlert('late', {rule: 'straggler', rank: 15, summary: 'All ranks wait for rank 15.', lost: 600})]};
    case 'stalled': return {runs: [make({job: 'bert', kind: 'stalled'})],
      alerts: [makeAlert('stands still', {rule: 'stall', severity: 'critical', summary: 'No step ended for 25 s.', at: now - 25000})]};
    case 'large': return {runs: [make({job: 'bert', kind: 'slow', steps: 100000, ranks: 64, cores: 64})], alerts: [...makeHistory(100000, now), ...firing]};
    case 'trial': return {runs: [make({job: 'bert'})], alerts: [], trials: [tensors.makeTrial()]};
    default: return {runs: [make({job: 'bert', kind: 'slow', seconds: 1.2, steps: 3800, scalars: true}), make({job: 'resnet', seed: 5, steps: 3000}),
      make({job: 'a-run-with-a-very-long-name-that-somebody-generated-2026-11-24T10-00-00', seed: 9})], alerts: [...makeHistory(120, now), ...firing]};
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await new MockServer(await assetsOf(process.argv[2]), scene(process.argv[3] ?? 'slow')).listen(Number(process.env.PORT ?? 0));
  setInterval(() => server.stepped(), 1000);
  console.log(server.url);
}
