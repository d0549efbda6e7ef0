// SPDX-License-Identifier: Apache-2.0
// A link to something that the server makes for it. It is asked first, so that what it does not have is a line beside
// the link and not a page or a file of its own. A report has no such links.

import {html} from 'htm/preact';
import {useRef, useState} from 'preact/hooks';

export function Download({source, path, kind, text}) {
  const [problem, setProblem] = useState('');
  const asked = useRef(false);
  const href = source.link(path);
  if (!href) return null;
  const ask = async (event) => {
    if (asked.current) return;  // this click is ours, and downloads
    event.preventDefault();
    const link = event.currentTarget;
    const found = await source.problem(path);
    setProblem(found);
    asked.current = !found;
    if (!found) link.click();
    asked.current = false;
  };
  return html`<a class=${kind} href=${href} download onClick=${ask}>${text}</a>
    <span class="quiet problem" role="status">${problem}</span>`;
}
