// SPDX-License-Identifier: Apache-2.0
// A chart over time, drawn by uPlot. Its cursor and its span are those of all charts; dragging
// chooses a span. The legend shows the values at the cursor, else the latest.
//   spec(theme) returns {key, data, index, series, bands, y, hooks, legend}; another key makes
//   another chart. legend: [{label, colour, mark, value(i)}], i an index of the data;

import uPlot from 'uplot';
import {Component, createRef} from 'preact';
import {html} from 'htm/preact';
import {axisTime, clockSeconds} from './format.js';
import {chartKeys, HELP} from './keys.js';
import {onThemeChange, theme} from './theme.js';

export const GUTTER = 62;  // left of every chart, so that times are below each other
export const RIGHT = 30;   // half of a time on the axis
const HEIGHT = 190;

// Sets the text of an element, which costs nothing if it is the same.
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export class TimeChart extends Component {
  constructor() {
    super();
    this.plotPlace = createRef();
    this.readout = createRef();
    this.stops = [];
    this.keys = null;
  }

  shouldComponentUpdate(next) {
    return ['data', 'marks', 'from', 'to', 'variant'].some((name) => next[name] !== this.props[name]);
  }

  componentDidMount() {
    const {model} = this.props;
    this.keys = chartKeys(model, () => this.props.step);
    this.make();
    this.stops = [onThemeChange(() => this.make()), model.cursor.follow((time) => this.follow(time))];
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(this.plotPlace.current);
  }

  componentWillUnmount() {
    this.sizes.disconnect();
    for (const stop of this.stops) stop();
    this.plot?.destroy();
  }

  componentDidUpdate() {
    const spec = this.props.spec(theme());
    if (spec.key !== this.spec?.key) return this.make(spec);
    this.spec = spec;
    this.plot.setData(spec.data, true);
    this.follow(this.props.model.cursor.time);
  }

  make(spec = this.props.spec(theme())) {
    this.plot?.destroy();
    this.spec = spec;
    this.plot = new uPlot(this.options(spec, theme()), spec.data, this.plotPlace.current);
    this.follow(this.props.model.cursor.time);
  }

  options(spec, colours) {
    const {model} = this.props;
    const axis = {stroke: colours.quiet, grid: {stroke: colours.line, width: 1}, ticks: {stroke: colours.line, width: 1}, font: '11px system-ui, sans-serif'};
    return {
      width: this.plotPlace.current.clientWidth || 600, height: HEIGHT, legend: {show: false},
      padding: [8, RIGHT, 0, 0], focus: {alpha: 1},
      cursor: {y: false, drag: {x: true, y: false, setScale: false}, points: {show: false}, bind: {dblclick: () => () => model.reset()}},
      scales: {x: {time: true, range: () => [this.props.from / 1e6, this.props.to / 1e6]}, y: spec.y},
      axes: [
        {...axis, size: 26, space: 90, values: (_, splits, axisIndex, space, apart) => splits.map((time) => axisTime(time * 1000, apart * 1000))},
        {...axis, size: GUTTER, values: (_, splits) => splits.map((value) => (value === null ? '' : spec.format(value)))},
      ],
      series: [{}, ...spec.series], bands: spec.bands,
      hooks: {
        ...spec.hooks,
        drawClear: [(plot) => this.spec.under?.(plot)],
        draw: [(plot) => this.spec.over?.(plot)],
        setCursor: [(plot) => this.moved(plot)],
        setSelect: [(plot) => this.selected(plot)],
      },
    };
  }

  moved(plot) {
    if (this.following) return;
    const {left} = plot.cursor;
    const time = left === undefined || left < 0 ? NaN : plot.posToVal(left, 'x') * 1e6;
    this.props.model.cursor.set(Number.isFinite(time) ? time : null);
  }

  selected(plot) {
    const {left, width} = plot.select;
    if (width < 4) return;
    const at = (x) => plot.posToVal(x, 'x') * 1e6;
    const [from, to] = [at(left), at(left + width)];
    plot.setSelect({left: 0, width: 0, top: 0, height: 0}, false);
    this.props.model.zoom(from, to);
  }

  // The cursor is elsewhere now: here, in another chart, or moved by a key.
  follow(time) {
    const {plot} = this;
    if (!plot) return;
    this.following = true;
    const left = time === null ? -10 : plot.valToPos(time / 1e6, 'x');
    plot.setCursor({left, top: time === null ? -10 : 1}, false);
    this.following = false;
    this.read(time);
  }

  read(time) {
    const data = this.spec.data[0];
    let i = data.length - 1;
    if (time !== null && i > 0) {
      i = this.plot.valToIdx(time / 1e6);
      if (i > 0 && data[i] * 1e6 > time) --i;
    }
    const {cursor, clock} = this.props.model;
    const values = this.spec.legend.map((item) => item.value(this.spec.index[i]));
    const anchor = cursor.anchor === null ? '' : `from ${clockSeconds(cursor.anchor / 1000, clock.now())} to `;
    const at = time === null || i < 0 ? (values.length ? 'latest' : '') : anchor + clockSeconds(time / 1000, clock.now());
    const [when, ...items] = this.readout.current.children;
    write(when, at);
    items.forEach((item, k) => write(item.lastElementChild, i < 0 ? '–' : values[k]));
  }

  resize() {
    const width = this.plotPlace.current.clientWidth;
    if (width && width !== this.plot.width) this.plot.setSize({width, height: HEIGHT});
  }

  render({label, spec}) {
    const {legend} = spec(theme());
    return html`<div class="chart">
      <ul class="legend" ref=${this.readout}>
        <li class="when" data-when></li>
        ${legend.map((item) => html`<li key=${item.label}><${Swatch} ...${item} /> ${item.label} <b data-value></b></li>`)}
      </ul>
      <div class="plot" tabindex="0" role="application" aria-roledescription="chart" aria-label=${`${label}. ${HELP}`}
        ref=${this.plotPlace} onKeyDown=${(event) => this.keys(event)}></div>
    </div>`;
  }
}

export const Swatch = ({colour, mark = 'area'}) => html`<svg class="swatch" viewBox="0 0 16 10" aria-hidden="true">
  ${mark === 'line' ? html`<path d="M0 5h16" stroke=${colour} stroke-width="2.5" />` :
    mark === 'dot' ? html`<circle cx="8" cy="5" r="3" fill="none" stroke=${colour} stroke-width="1.5" />` :
    html`<rect width="16" height="10" rx="2" fill=${colour} />`}</svg>`;
