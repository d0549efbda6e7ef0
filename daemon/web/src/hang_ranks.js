// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a process group are in the collective that hangs: a row for each place, with a sign as well as a colour.

import {html} from 'htm/preact';

const PLACES = [['absent', '✕ not entered'], ['waiting', '… waiting'], ['done', '✓ done'], ['unknown', '? unknown']];
const MOST_CELLS = 256;

// The numbers in "0-3,7"; null if there are too many to draw.
export function ranksIn(ranges) {
  const ranks = [];
  for (const range of ranges.split(',')) {
    const [first, last = first] = range.split('-').map(Number);
    if (last - first + ranks.length >= MOST_CELLS) return null;
    for (let rank = first; rank <= last; ++rank) ranks.push(rank);
  }
  return ranks;
}

export const HangRanks = ({evidence}) => evidence?.waiting && PLACES.map(([place, text]) => evidence[place] && html`
  <p class="hang ${place}">${text} ${ranksIn(evidence[place])?.map((rank) => html`<i>${rank}</i> `) ?? evidence[place]}</p>`);
