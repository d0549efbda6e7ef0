// SPDX-License-Identifier: Apache-2.0
// Colours. Series have those of Okabe and Ito, which differ for people with any
// kind of colour vision; nothing is said by colour alone.

export const PHASES = [
  ['data_wait', 'waiting for data', '#d55e00'],
  ['forward', 'forward', '#56b4e9'],
  ['backward', 'backward', '#0072b2'],
  ['optimizer', 'optimizer', '#009e73'],
  ['other', 'rest of the step', '#999999'],
  ['between', 'between steps', '#e69f00'],
];

// Of the parts of the wall time.
const PARTS = {
  training: '#9ccc65', startup: '#c9b18f', restore: '#a89f91', redone: '#aa4499', down: '#666633',
  checkpoint: '#009e73', evaluation: '#7fd1b9',
  input_wait: '#d55e00', io_wait: '#e69f00', cpu_saturation: '#f0e442', host_pause: '#cc79a7',
  communication: '#56b4e9', straggler: '#0072b2', elsewhere: '#4477aa',
  unattributed: '#999999', gpu_slowdown: '#8c564b', kernel_launch: '#5d4fa2', synchronization: '#b3a2dd',
  stalled: '#7a1f1f', memory_copy: '#3f7f93', compute_growth: '#b8860b',
};

export const partColour = (name) => PARTS[name];

export const isLost = (part) => !/^(training|startup|restore|checkpoint|evaluation)$/.test(part);

// Dark to yellow, evenly in lightness (as matplotlib's inferno): 0 is dark, 1 is bright.
const HEAT = [[0, 0, 4], [31, 12, 72], [85, 15, 109], [136, 34, 106], [186, 54, 85], [227, 89, 51],
  [249, 140, 10], [249, 201, 50], [252, 255, 164]];

// As 256 pixels of four bytes, each in the order of ImageData.
export const heatPixels = () => {
  const bytes = new Uint8ClampedArray(4 * 256);
  for (let i = 0; i < 256; ++i) {
    const place = (i / 255) * (HEAT.length - 1);
    const low = Math.min(HEAT.length - 2, Math.floor(place));
    bytes.set([...HEAT[low].map((from, k) => from + (place - low) * (HEAT[low + 1][k] - from)), 255], 4 * i);
  }
  return new Uint32Array(bytes.buffer);
};

export const heatGradient = () =>
  `linear-gradient(90deg, ${HEAT.map((colour) => `rgb(${colour})`).join(', ')})`;

// The colours of the style sheet, for what is drawn on a canvas.
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const named = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    text: named('text'), quiet: named('quiet'), line: named('line'), card: named('card'),
    accent: named('accent'), band: named('band'), ground: named('ground'),
    severity: {info: named('info'), warning: named('warning'), critical: named('critical')},
  };
}

export function onThemeChange(callback) {
  const queries = [matchMedia('(prefers-color-scheme: dark)'), matchMedia('print')];
  for (const query of queries) query.addEventListener('change', callback);
  return () => queries.forEach((query) => query.removeEventListener('change', callback));
}
