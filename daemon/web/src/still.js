// SPDX-License-Identifier: Apache-2.0
// A part of the page that is made again only if one of the values that it is made of is another one:
// html`<${Still} of=${[values]} draw=${() => html`…`} />`. What shows the time that passes is none.

import {Component} from 'preact';

export class Still extends Component {
  shouldComponentUpdate(next) {
    return next.of.some((value, i) => value !== this.props.of[i]);
  }

  render({draw}) {
    return draw();
  }
}
