// SPDX-License-Identifier: Apache-2.0
// The real trainwatch: started for a test, or only for the page that it serves.

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

export class Daemon {
  constructor(binary, watched, {state, port = 0} = {}) {
    this.scratch = mkdtempSync(join(tmpdir(), 'trainwatch-page-'));
    this.watched = watched ?? this.scratch;
    this.log = '';
    this.process = spawn(binary, ['run', `--watch=${this.watched}`, `--web.listen-address=127.0.0.1:${port}`,
      `--storage.path=${state ?? join(this.scratch, 'state')}`], {stdio: ['ignore', 'ignore', 'pipe']});
    this.process.stderr.setEncoding('utf8').on('data', (text) => { this.log += text; });
  }

  async ready() {
    for (;;) {
      const found = /listening.*address="?([\d.]+:\d+)/.exec(this.log);
      if (found) this.url = `http://${found[1]}`;
      if (this.url && (await fetch(`${this.url}/-/ready`)).ok) return this;
      if (this.process.exitCode !== null) throw new Error(`trainwatch ended: ${this.log}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  async json(path) {
    return (await fetch(this.url + path)).json();
  }

  async stop() {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill();
      await once(this.process, 'exit');
    }
    rmSync(this.scratch, {recursive: true, force: true});
  }
}

// path -> {headers, body}: the page and what it refers to, as the program serves them.
export async function assetsOf(binary) {
  const daemon = await new Daemon(binary).ready();
  const assets = new Map();
  const take = async (path) => {
    const answer = await fetch(daemon.url + path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    const headers = Object.fromEntries([...answer.headers].filter(([name]) =>
      ['content-type', 'content-security-policy', 'cache-control', 'etag', 'x-content-type-options'].includes(name)));
    const body = Buffer.from(await answer.arrayBuffer());
    assets.set(path, {headers, body});
    return body.toString();
  };
  const index = await take('/');
  for (const [, path] of index.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
    const text = await take(path);
    for (const [more] of text.matchAll(/\/assets\/tensors-\w+\.js/g)) await take(more);
  }
  await daemon.stop();
  return assets;
}
