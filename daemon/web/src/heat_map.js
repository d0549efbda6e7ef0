// SPDX-License-Identifier: Apache-2.0
// Rows over time as colours, on a canvas. Its cursor and its span are those of all charts.
//   rows: [{label, values}], values one per column or null; share(value): 0 is dark, 1 bright;
//   format(value) for the readout.

import {Component, createRef} from 'preact';
import {html} from 'htm/preact';
import {axisTime, clockSeconds} from './format.js';
import {chartKeys, HELP} from './keys.js';
import {heatPixels, onThemeChange, theme} from './theme.js';
import {GUTTER, RIGHT, write} from './time_chart.js';

const TALLEST = 320;
const AXIS = 20;
const LABEL_NEEDS = 11;  // pixels of height

const rowHeight = (rows) => Math.min(22, Math.max(2, Math.floor(TALLEST / rows)));

const colours = heatPixels();

// The cells as an image of one pixel each.
function paint({rows, columns, share}) {
  const image = new ImageData(Math.max(1, columns), Math.max(1, rows.length));
  const pixels = new Uint32Array(image.data.buffer);
  rows.forEach(({values}, y) => {
    for (let x = 0; x < columns; ++x) {
      const value = values[x];
      if (value === null || value === undefined) continue;
      pixels[y * columns + x] = colours[Math.min(255, Math.max(0, Math.round(255 * share(value))))];
    }
  });
  return image;
}

export class HeatMap extends Component {
  constructor() {
    super();
    this.canvas = createRef();
    this.line = createRef();
    this.readout = createRef();
    this.row = 0;
    this.dragFrom = null;
  }

  shouldComponentUpdate(next) {
    return ['data', 'from', 'to', 'variant'].some((name) => next[name] !== this.props[name]);
  }

  componentDidMount() {
    const {model} = this.props;
    this.keys = chartKeys(model, () => this.props.widthUs);
    this.stops = [onThemeChange(() => this.draw()), model.cursor.follow(() => this.follow())];
    this.sizes = new ResizeObserver(() => this.draw());
    this.sizes.observe(this.canvas.current.parentElement);
    this.componentDidUpdate({});
  }

  componentWillUnmount() {
    this.sizes.disconnect();
    for (const stop of this.stops) stop();
  }

  componentDidUpdate(before) {
    const {data, variant} = this.props;
    if (data !== before.data || variant !== before.variant) {
      const image = paint(this.props);
      this.cells ??= document.createElement('canvas');
      Object.assign(this.cells, {width: image.width, height: image.height}).getContext('2d').putImageData(image, 0, 0);
    }
    this.draw();
  }

  toX(us) {
    const {from, to} = this.props;
    return GUTTER + ((us - from) / (to - from)) * this.plotWidth;
  }

  toTime(x) {
    const {from, to} = this.props;
    return from + Math.min(1, Math.max(0, (x - GUTTER) / this.plotWidth)) * (to - from);
  }

  draw() {
    const canvas = this.canvas.current;
    const width = canvas.parentElement.clientWidth;
    if (!width) return;
    this.plotWidth = width - GUTTER - RIGHT;
    const {rows, startUs, widthUs, columns} = this.props;
    const each = rowHeight(rows.length);
    const height = Math.min(TALLEST, each * rows.length);
    const pixel = devicePixelRatio;
    const [across, down] = [Math.round(width * pixel), Math.round((height + AXIS) * pixel)];
    if (canvas.width !== across || canvas.height !== down) {
      Object.assign(canvas, {width: across, height: down});
      canvas.style.height = `${height + AXIS}px`;
    }
    const ctx = canvas.getContext('2d');
    ctx.setTransform(pixel, 0, 0, pixel, 0, 0);
    ctx.clearRect(0, 0, width, height + AXIS);
    ctx.save();
    ctx.beginPath();
    ctx.rect(GUTTER, 0, width - GUTTER - RIGHT, height);
    ctx.clip();
    ctx.imageSmoothingEnabled = false;
    const left = this.toX(startUs);
    ctx.drawImage(this.cells, left, 0, this.toX(startUs + columns * widthUs) - left, height);
    ctx.restore();
    this.drawLabels(ctx, height, width);
    this.follow();
  }

  drawLabels(ctx, height, width) {
    const {rows, from, to} = this.props;
    const colours = theme();
    ctx.font = '11px system-ui, sans-serif';
    ctx.fillStyle = colours.quiet;
    ctx.textAlign = 'right';
    ctx.textBaseline = 'middle';
    const each = height / rows.length;
    const every = Math.max(1, Math.ceil(LABEL_NEEDS / each));
    for (let y = 0; y < rows.length; y += every) {
      ctx.fillText(rows[y].label, GUTTER - 6, (y + 0.5) * each + (every > 1 ? 3 : 0), GUTTER - 8);
    }
    ctx.textBaseline = 'top';
    const labels = Math.max(2, Math.floor((width - GUTTER) / 130));
    for (let i = 0; i < labels; ++i) {
      const time = from + (i / (labels - 1)) * (to - from);
      ctx.textAlign = i === 0 ? 'left' : i === labels - 1 ? 'right' : 'center';
      ctx.fillText(axisTime(time / 1000, (to - from) / (labels - 1) / 1000), this.toX(time), height + 5);
    }
  }

  follow() {
    const {cursor} = this.props.model;
    const {from, to} = this.props;
    const inside = cursor.time !== null && cursor.time >= from && cursor.time <= to;
    this.line.current.style.transform = `translateX(${inside ? this.toX(cursor.time) : -9}px)`;
    write(this.readout.current, inside ? this.valueAt(cursor.time) : '');
  }

  valueAt(time) {
    const {rows, startUs, widthUs, format, model} = this.props;
    const row = rows[Math.min(this.row, rows.length - 1)];
    const value = row?.values[Math.floor((time - startUs) / widthUs)];
    return `${clockSeconds(time / 1000, model.clock.now())}, ${row?.name ?? row?.label}: ` +
      (value === null || value === undefined ? 'nothing' : format(value, row));
  }

  pointer(event) {
    const box = this.canvas.current.getBoundingClientRect();
    const rows = this.props.rows.length;
    this.row = Math.min(rows - 1, Math.max(0, Math.floor(((event.clientY - box.top) / (box.height - AXIS)) * rows)));
    return this.toTime(event.clientX - box.left);
  }

  key(event) {
    const rows = this.props.rows.length;
    const move = {ArrowUp: -1, ArrowDown: 1}[event.key];
    if (!move) return this.keys(event);
    event.preventDefault();
    this.row = Math.min(rows - 1, Math.max(0, this.row + move));
    this.follow();
  }

  up(event) {
    const {model, from, to} = this.props;
    const end = this.pointer(event);
    if (this.dragFrom !== null && Math.abs(end - this.dragFrom) > (to - from) / 100) model.zoom(this.dragFrom, end);
    this.dragFrom = null;
  }

  render({label, model, legend}) {
    return html`<div class="heat-map">
      <p class="legend">${legend} <span class="readout" ref=${this.readout}></span></p>
      <div class="plot" tabindex="0" role="application" aria-roledescription="heat map"
        aria-label=${`${label}. Up and down choose a row. ${HELP}`}
        onKeyDown=${(event) => this.key(event)}
        onPointerMove=${(event) => model.cursor.set(this.pointer(event))}
        onPointerLeave=${() => { this.dragFrom = null; model.cursor.set(null); }}
        onPointerDown=${(event) => { this.dragFrom = this.pointer(event); }}
        onPointerUp=${(event) => this.up(event)} onDblClick=${() => model.reset()}>
        <canvas ref=${this.canvas}></canvas><div class="cursor-line" ref=${this.line}></div>
      </div>
    </div>`;
  }
}
