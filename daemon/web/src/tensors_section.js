// SPDX-License-Identifier: Apache-2.0
// What SageMaker Debugger saves, where a trial is watched: the views are a script of their own, which other jobs never load.

import {html} from 'htm/preact';
import * as hooks from 'preact/hooks';
import {RETRY_MS} from './loader.js';
import {Panel} from './panel.js';

/* global TENSORS */  // where the script is served, see build.mjs

export function Tensors({model}) {
  const trials = model.panels.trials.data?.trials.length;
  const [views, setViews] = hooks.useState(null);
  hooks.useEffect(() => {
    if (!trials || views) return undefined;
    let retry;
    const load = () => import(TENSORS).then(
      (loaded) => setViews(loaded.tensorViews({html, hooks, Panel})),
      () => { retry = setTimeout(load, RETRY_MS); });
    load();
    return () => clearTimeout(retry);
  }, [trials > 0]);
  return views && html`<${views.TensorPanel} model=${model} />`;
}
