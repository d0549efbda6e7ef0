// SPDX-License-Identifier: Apache-2.0
// The views of tensors: a choice among the names of a trial, and a picture of each at one step, the newest one unless another
// is chosen. A bundle of its own; what it shares with the page is passed in.

const MOST_PICTURES = 12;
const LEAST_BETWEEN_MS = 500;  // requests for the trials
const RETRY_MS = 5000;
const MOST_NAMES = 500;  // of the choice

const address = (trial, name, step, more) => '/api/v1/tensors/value?' +
  new URLSearchParams({root: trial.root, trial: trial.trial, name, step: step.number, mode: step.mode, ...more});

// Two dimensions of it: of more, the first of each of the others.
export function usualSlice(shape) {
  return shape.length > 2 ? [...shape.slice(2).map(() => '0'), ':', ':'].join(',') : '';
}

// The steps of a mode, in order; of all modes where it is GLOBAL.
export const stepsOf = (trial, mode) => trial.steps[mode] || [];

// Names of the collection that match; a pattern that is none matches nothing.
export function chosenNames(trial, collection, pattern) {
  const names = collection ? trial.collections[collection] || [] : trial.names;
  try {
    const wanted = new RegExp(pattern);
    return names.filter((name) => wanted.test(name));
  } catch {
    return [];
  }
}

const STYLE = `
.tensors .choices { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: center; font-size: .9rem; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 13rem), 1fr)); gap: .8rem; padding: 0; list-style: none; }
.pictures figure { margin: 0; }
.pictures img { display: block; width: 100%; max-height: 16rem; min-height: 1.5rem; object-fit: contain; object-position: left; image-rendering: pixelated; outline: 1px solid var(--line); background: var(--band); }
.pictures figure { border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
.pictures .number { margin: 0; font-size: 1.4rem; font-variant-numeric: tabular-nums; }
.pictures figcaption { font-size: .83rem; overflow-wrap: anywhere; }
`;

// The policy of the server allows no style element; a sheet made by a script is none.
function addStyle() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

export function tensorViews({html, hooks: {useEffect, useState}, Panel}) {
  addStyle();
  const nameOf = (trial) => (trial.trial === '.' ? trial.root : trial.trial);

  const Choice = ({label, value, all, onChange}) => html`<label>${label} <select value=${value} onChange=${(event) => onChange(event.currentTarget.value)}>
    ${all.map(([key, text]) => html`<option value=${key}>${text}</option>`)}</select></label>`;

  // An answer of `source`, asked for when `path` changes. Older data stays until newer is there.
  function useAnswer(source, path) {
    const [answer, setAnswer] = useState({data: null, error: ''});
    useEffect(() => {
      if (!path) return undefined;
      let mine = true;
      source.get(path).then((data) => mine && setAnswer({path, data, error: ''}),
        (error) => mine && setAnswer({path, data: null, error: error.message}));
      return () => { mine = false; };
    }, [path]);
    return answer;
  }

  // The trials, asked for again when the stream says that a step is complete; nothing while nobody sees the page.
  function useTrials(source, first) {
    const [result, setResult] = useState(first);
    useEffect(() => {
      let close, timer, asked = -Infinity;
      const load = () => {
        asked = performance.now();
        source.get('/api/v1/tensors').then((data) => setResult({data, error: ''}), (error) => setResult((old) => ({...old, error: error.message})));
      };
      const later = () => {
        clearTimeout(timer);
        timer = setTimeout(load, Math.max(0, asked + LEAST_BETWEEN_MS - performance.now()));
      };
      const end = () => {
        clearTimeout(timer);
        close?.();
      };
      const begin = () => {
        end();
        if (document.hidden) return;
        close = source.subscribe({streams: 'tensors'}, {
          message: ({op}) => (op === 'hello' || op === 'tensor') && later(),
          close: () => { timer = setTimeout(begin, RETRY_MS); },
        });
      };
      document.addEventListener('visibilitychange', begin);
      begin();
      return () => {
        document.removeEventListener('visibilitychange', begin);
        end();
      };
    }, [source]);
    return result;
  }

  function TensorPanel({model}) {
    const result = useTrials(model.source, model.panels.trials);
    const trials = result.data?.trials || [];
    const [chosen, choose] = useState({trial: '', collection: '', pattern: '', mode: 'GLOBAL', worker: '', at: null});
    const change = (more) => choose({...chosen, ...more});
    const trial = trials.find((each) => each.root + each.trial === chosen.trial) || trials[0];
    if (!trial) return null;
    const modes = Object.keys(trial.steps);
    const mode = modes.includes(chosen.mode) ? chosen.mode : modes[0];
    const steps = stepsOf(trial, mode);
    const place = steps.includes(chosen.at) ? steps.indexOf(chosen.at) : steps.length - 1;
    const step = {number: steps[place], mode};
    const names = chosenNames(trial, chosen.collection, chosen.pattern);
    const collections = Object.entries(trial.collections).filter(([, members]) => members.length);
    return html`<section class="tensors" aria-label="Tensors"><h2>Tensors</h2>
      <${Panel} name="tensors" title=${nameOf(trial)} result=${result} empty=${steps.length ? '' : 'No step is complete yet.'}
        note=${names.length > MOST_PICTURES ? `The first ${MOST_PICTURES} of ${names.length} tensors.` : ''}>
        <div class="choices">
          ${trials.length > 1 && html`<${Choice} label="trial" value=${trial.root + trial.trial} onChange=${(each) => change({trial: each, at: null})}
            all=${trials.slice(0, MOST_NAMES).map((each) => [each.root + each.trial, nameOf(each)])} />`}
          ${collections.length > 0 && html`<${Choice} label="collection" value=${chosen.collection} onChange=${(collection) => change({collection})}
            all=${[['', 'all'], ...collections.map(([name]) => [name, name])]} />`}
          <label>name <input type="search" placeholder="regular expression" value=${chosen.pattern}
            onInput=${(event) => change({pattern: event.currentTarget.value})} /></label>
          ${modes.length > 1 && html`<${Choice} label="mode" value=${mode} onChange=${(each) => change({mode: each, at: null})} all=${modes.map((each) => [each, each])} />`}
          ${trial.workers.length > 1 && html`<${Choice} label="worker" value=${chosen.worker} onChange=${(worker) => change({worker})}
            all=${[['', 'first'], ...trial.workers.map((each) => [each, each])]} />`}
          <label>step <input type="range" min="0" max=${steps.length - 1} value=${place} aria-valuetext=${`step ${step.number}`}
            onInput=${(event) => change({at: steps[Number(event.currentTarget.value)]})} /> <output>${step.number}</output></label>
          ${place < steps.length - 1 && html`<button class="link" onClick=${() => change({at: null})}>newest</button>`}
          <span class="quiet">${trial.loaded_all_steps ? 'The job has ended.' : ''}</span>
        </div>
        <${Pictures} model=${model} trial=${trial} step=${step} names=${names.slice(0, MOST_PICTURES)} worker=${chosen.worker} />
      <//></section>`;
  }

  function Pictures({model, trial, step, names, worker}) {
    const path = names.length ? '/api/v1/tensors?' + new URLSearchParams({root: trial.root, trial: trial.trial, step: step.number, mode: step.mode}) : '';
    const {data, error} = useAnswer(model.source, path);
    const saved = data?.trials?.[0]?.tensors || [];
    if (error) return html`<p class="quiet">They could not be read: ${error}.</p>`;
    if (!names.length) return html`<p class="quiet">No name fits.</p>`;
    return html`<ul class="pictures">${names.map((name) => {
      const own = saved.find((each) => each.name === name && each.has_values && (!worker || each.worker === worker));
      return html`<${Picture} key=${name} source=${model.source} trial=${trial} name=${name} step=${step} worker=${worker} own=${own} known=${data} />`;
    })}</ul>`;
  }

  const number = (value) => (typeof value === 'number' ? String(Number(value.toPrecision(4))) : value ?? '–');

  function Picture({source, trial, name, step, worker, own, known}) {
    const [slice, setSlice] = useState(null);
    const size = own ? own.shape.reduce((product, each) => product * each, 1) : 0;
    const drawn = own && size > 1 && !/complex|string/.test(own.dtype);
    const chosen = slice ?? (own ? usualSlice(own.shape) : '');
    const which = {...(worker ? {worker} : {})};
    const reduced = (reduction) => (drawn ? address(trial, name, step, {...which, reduction}) : '');
    const low = useAnswer(source, reduced('min')), high = useAnswer(source, reduced('max'));
    const single = useAnswer(source, own && size === 1 ? address(trial, name, step, which) : '');
    const shape = own ? `${own.dtype}, ${own.shape.length ? own.shape.join(' × ') : 'one number'}` : '';
    const range = low.data && high.data ? `${number(low.data.value)} to ${number(high.data.value)}` : '';
    const text = `${name} at step ${step.number}${shape && `: ${shape}`}${range && `, from ${range}`}`;
    return html`<li><figure>
      ${drawn ? html`<img src=${source.link(address(trial, name, step, {...which, format: 'png', ...(chosen ? {slice: chosen} : {})}))} alt=${text} />` :
        html`<p class="number">${single.data ? number(single.data.values[0]) : known && !own ? 'not saved at this step' : size > 1 ? 'no picture' : '–'}</p>`}
      <figcaption><b>${name}</b> <span class="quiet">${shape}${range && `, ${range}`}</span>
        ${own?.shape.length > 2 && html` <label>slice <input value=${chosen} size="10" onChange=${(event) => setSlice(event.currentTarget.value)} /></label>`}
      </figcaption></figure></li>`;
  }

  return {TensorPanel};
}
