// SPDX-License-Identifier: Apache-2.0
// Where the time goes, over time: all charts have one cursor and one span.

import {html} from 'htm/preact';
import {Component, createRef} from 'preact';
import {incidents} from './alert_book.js';
import {dataLoadingSpec, iterationSpec, phasesSpec} from './chart_specs.js';
import {micros} from './clock.js';
import {summary} from './columns.js';
import {clockSeconds, count, duration, percent, plural, seconds, zone} from './format.js';
import {GpuPanel} from './gpu_view.js';
import {HistogramPanel} from './histogram.js';
import {RanksPanel, UtilizationPanel} from './heat_panels.js';
import {Panel} from './panel.js';
import {ScalarPanels} from './scalars_view.js';
import {SpanPanel} from './span_view.js';
import {Still} from './still.js';
import {GUTTER, TimeChart} from './time_chart.js';

const LOG_FROM = 8;  // iteration times that differ by more are drawn on a logarithmic scale

export function Charts({model}) {
  const {panels, attempt, job, logScale} = model;
  const span = model.span();
  const alerts = JSON.stringify(span ? alertSpans(model) : []);
  // A panel is made again when what it shows is another, not with each redraw.
  const still = (results, more, draw) => html`<${Still} draw=${draw}
    of=${[job, attempt, ...(span || [null, null]), ...more, ...results.flatMap(({data, error, missing}) => [data, error, missing])]} />`;
  return html`
    <section id="charts" class="charts" aria-labelledby="charts-title" tabindex="-1">
      <h2 id="charts-title">Where the time goes${model.attempt === undefined ? '' : ` in attempt ${model.attempt}`}</h2>
      ${span && html`<${SpanBar} model=${model} span=${span} />`}
      <${Measured} model=${model}>
        ${span && still([panels.steps, panels.workers, panels.batches, panels.tags, panels.scalars], [alerts, logScale, ...model.tags], () => html`<${StepPanels} model=${model}
          result=${panels.steps} span=${span} alerts=${alerts}>
          <${ScalarPanels} model=${model} panels=${panels} span=${span} /><//>`)}
        ${!span && html`<${Panel} name="steps" title="Iteration time" result=${panels.steps} empty="No steps yet." />`}
        ${span && still([panels.ranks], [], () => html`<${RanksPanel} model=${model} result=${panels.ranks} span=${span} />`)}
        ${span && still([panels.utilization], [], () => html`<${UtilizationPanel} model=${model} result=${panels.utilization} span=${span} />`)}
        ${still([panels.stepHistogram], [], () => html`<${HistogramPanel} name="stepHistogram" title="How long iterations took"
          result=${panels.stepHistogram} format=${seconds} />`)}
        ${still([panels.utilizationHistogram], [], () => html`<${HistogramPanel} name="utilizationHistogram" title="How busy the machine was"
          result=${panels.utilizationHistogram} format=${(value) => percent(value / 100)} linear />`)}
        ${still([panels.breakdown, panels.idle, panels.overlap], [], () => html`<${GpuPanel} panels=${panels} />`)}
      <//>
      ${model.range.kind === 'span' && html`<${SpanPanel} model=${model} result=${panels.annotations} span=${span} />`}
    </section>`;
}

// As many columns as there are pixels, in hundreds: a small change of the window asks for nothing.
class Measured extends Component {
  constructor() {
    super();
    this.place = createRef();
  }

  componentDidMount() {
    const {model} = this.props;
    this.sizes = new ResizeObserver(([entry]) => {
      const width = entry.target.firstElementChild?.clientWidth ?? entry.contentRect.width;
      const columns = Math.min(1000, Math.max(200, Math.ceil((width - GUTTER) / 100) * 100));
      if (columns === model.columns) return;
      model.columns = columns;
      if (model.panels.steps.data) model.loader.refresh();
    });
    this.sizes.observe(this.place.current);
  }

  componentWillUnmount() {
    this.sizes.disconnect();
  }

  render({children}) {
    return html`<div class="panels" ref=${this.place}>${children}</div>`;
  }
}

const SPANS = [['10 min', 600e6], ['1 h', 3600e6], ['1 d', 86400e6]];

function SpanBar({model, span: [from, to]}) {
  const now = model.clock.now();
  const {range} = model;
  const extent = model.extent();
  const pressed = (on) => (on ? 'true' : 'false');
  return html`
    <div class="span-bar" role="group" aria-label="Time shown">
      <button aria-pressed=${pressed(range.kind === 'all')} onClick=${model.reset}>Whole run</button>
      ${SPANS.filter(([, us]) => extent && us < extent[1] - extent[0]).map(([name, us]) => html`<button key=${name}
        aria-pressed=${pressed(range.kind === 'last' && range.us === us)} onClick=${() => model.setRange({kind: 'last', us})}>
        Last ${name}</button>`)}
      <span class="pair"><button aria-label="Earlier" onClick=${() => model.moveBy(-0.5)}>◀</button><button
        aria-label="Later" onClick=${() => model.moveBy(0.5)}>▶</button></span>
      <span class="pair"><button aria-label="Zoom in" onClick=${() => model.zoomBy(0.5, model.cursor.time)}>+</button><button
        aria-label="Zoom out" onClick=${() => model.zoomBy(2, model.cursor.time)}>−</button></span>
      <span class="times">${clockSeconds(from / 1000, now)} to ${clockSeconds(to / 1000, now)}, ${duration((to - from) / 1e6)}</span>
      <span class="hint quiet">Times in ${zone()}. Drag to zoom, double-click to reset.</span>
    </div>`;
}

// When something was lost: alerts of the run from warning on, those that overlap as one.
function alertSpans(model) {
  const now = Math.ceil(model.clock.now() / 5000) * 5e6;  // every 5 s, not with each redraw
  const {job, book} = model;
  const spans = incidents([...book.firing(), ...book.resolved()])
    .map(({speaker}) => speaker)
    .filter((alert) => alert.severity !== 'info' && (!alert.subject?.job || alert.subject.job === job))
    .map((alert) => ({
      from: micros(alert.started_at), severity: alert.severity,
      to: micros(alert.ended_at) || Math.max(now, micros(alert.updated_at)),
    })).sort((a, b) => a.from - b.from);
  const joined = [];
  for (const span of spans) {
    const last = joined.findLast((each) => each.severity === span.severity);
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else joined.push(span);
  }
  return joined;
}

function StepPanels({model, result, span: [from, to], alerts, children}) {
  const answer = result.data;
  const empty = answer && !answer.columns.t_us.length ? 'No steps in this time.' : '';
  if (!answer || empty) return html`<${Panel} name="steps" title="Iteration time" result=${result} empty=${empty} />${children}`;
  const means = summary(answer);
  const {min, max, p50} = answer.columns;
  const wide = Math.max(...max) > LOG_FROM * (means.p50 || 1) && Math.min(...min) > 0;
  const logarithmic = (model.logScale ?? wide) && Math.min(...min) > 0;
  const spans = JSON.parse(alerts);
  const common = {model, data: answer, from, to, step: answer.width_us, marks: alerts};
  const phases = phasesSpec(answer);
  const loading = dataLoadingSpec(answer);
  const label = `Iteration time of ${plural(means.steps, 'step')}: median ${seconds(means.p50)}, 99 % below ${seconds(means.p99)}, ` +
    `longest ${seconds(Math.max(...max))}, latest median ${seconds(p50[p50.length - 1])}`;
  return html`
    <${Panel} name="steps" title="Iteration time" result=${result}>
      <button class="scale" aria-pressed=${logarithmic ? 'true' : 'false'}
        onClick=${() => { model.logScale = !logarithmic; model.urgent(); }}>logarithmic</button>
      <${TimeChart} ...${common} variant=${logarithmic} label=${label} spec=${iterationSpec(answer, spans, logarithmic)} />
    <//>
    ${children}
    <${Panel} name="phases" title="What an iteration consists of" result=${result} empty=${phases ? '' : 'No phases are written.'}>
      <${TimeChart} ...${common} label=${`Phases of an iteration: ${shares(means.phases, seconds)}`} spec=${phases} />
    <//>
    <${Panel} name="loading" title="Waiting for batches" result=${result} empty=${loading ? '' : 'No waits for data are written.'}
      note=${loadingNote(model.panels)}>
      <${TimeChart} ...${common} label="Waiting for the next batch" spec=${loading} />
    <//>`;
}

const shares = (table, format) => Object.entries(table).map(([name, value]) => `${name.replaceAll('_', ' ')} ${format(value)}`).join(', ');

// From the start of one fetch to that of the next, and the processes that fetch.
function loadingNote({batches: {data: batches}, workers: {data: workers}}) {
  const notes = [];
  if (batches?.count) {
    notes.push(`A batch takes ${seconds(batches.median_us / 1e6)} from fetch to fetch at the median, ${seconds(batches.max_us / 1e6)} at most.`);
  }
  if (workers?.count) {
    notes.push(`${count(workers.count)} data loading processes ran.`);
  }
  return notes.join(' ');
}
