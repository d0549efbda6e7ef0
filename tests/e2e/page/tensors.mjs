// SPDX-License-Identifier: Apache-2.0
// A trial of SageMaker Debugger as the server tells of it. A picture says by its size what was asked for: it is as wide as the
// number of the step.

import {deflateSync} from 'node:zlib';

const SHAPES = {'gradient/dense/kernel:0': [4, 3], 'conv/kernel:0': [2, 2, 3, 3], 'loss': [], 'bias': [8], 'label': [2]};

export function makeTrial() {
  return {root: '/job', trial: 'debug', workers: ['worker_0', 'worker_1'], steps: {GLOBAL: [1, 2, 3], TRAIN: [1, 3]}, names: Object.keys(SHAPES).sort(),
    collections: {gradients: ['gradient/dense/kernel:0'], losses: ['loss'], none: []}, last_complete_step: 3, loaded_all_steps: false, rejected: []};
}

export function answer(trial, query) {
  if (!query.has('step')) return trial;
  const step = Number(query.get('step'));
  return {...trial, state: 'available', tensors: trial.names.flatMap((name) => trial.workers.map((worker) => (
    {name, worker, step, mode: 'GLOBAL', mode_step: step, shape: SHAPES[name], dtype: name === 'label' ? 'string' : 'float32', has_values: true, reductions: []})))};
}

export function value(trial, query) {
  const step = Number(query.get('step'));
  if (query.get('format') === 'png') return {picture: png(step, 2)};
  if (query.has('reduction')) return {name: query.get('name'), step, value: query.get('reduction') === 'min' ? -step : step / 4, computed: true};
  return {name: query.get('name'), step, shape: [], values: [1 / step]};
}

function png(width, height) {
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length);
    body.copy(out, 4);
    out.writeUInt32BE(crc(body), body.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([8, 0, 0, 0, 0], 8);  // shades of grey
  const rows = Buffer.concat(Array.from({length: height}, (_, y) => Buffer.from([0, ...Array.from({length: width}, (_, x) => 60 * (x + y))])));
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

function crc(bytes) {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; ++bit) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
