// SPDX-License-Identifier: Apache-2.0
// Where a report gets its answers from: a block in the same file, recorded when it was written.
//   <script type="application/json" id="trainwatch-answers">{"/api/v1/runs": {…}, …}</script>
// The keys are the paths that README.md of this folder lists. A query names only what identifies the
// answer (job, what, attempt): which part of it is shown is chosen here, as nothing else is recorded.

const PARTS_OF_AN_ANSWER = ['start', 'end', 'columns', 'after', 'limit', 'last', 'state', 'parts', 'rule', 'tag'];

export function embeddedSource(answers) {
  return {
    live: false,
    get: (path) => new Promise((resolve, reject) => {
      const found = candidates(path).find((key) => Object.hasOwn(answers, key));
      if (found !== undefined) return resolve(answers[found]);
      reject(Object.assign(new Error('not part of this report'), {status: 404}));
    }),
    subscribe: () => () => {},
    link: () => null,
  };
}

// As it was asked, without what selects a part of it, and without the job.
function candidates(path) {
  const [place, text = ''] = path.split('?');
  const query = new URLSearchParams(text);
  const key = () => (`${query}` ? `${place}?${query}` : place);
  const keys = [path];
  for (const name of PARTS_OF_AN_ANSWER) query.delete(name);
  keys.push(key());
  query.delete('job');
  keys.push(key());
  return keys;
}

// The answers in this document; null if there are none.
export function embeddedAnswers(place = document) {
  const block = place.getElementById('trainwatch-answers');
  return block ? JSON.parse(block.textContent) : null;
}
