// SPDX-License-Identifier: Apache-2.0
// The keyboard in charts: the same keys in each.

export const HELP = 'Arrow keys move the cursor, with Shift ten times as far; plus and minus zoom; Page Up and Page Down ' +
  'move the window; Enter marks the ends of a span; Escape shows the whole run.';

// A handler of keydown. `step` is the width of a column, microseconds.
export function chartKeys(model, step) {
  const {cursor} = model;

  function moveCursor(by) {
    const span = model.span();
    if (!span) return;
    const from = cursor.time ?? (by > 0 ? span[0] - by : span[1] - by);
    cursor.set(Math.min(span[1], Math.max(span[0], from + by)));
  }

  function mark() {
    if (cursor.time === null) return;
    if (cursor.anchor === null) return cursor.setAnchor(cursor.time);
    const from = cursor.anchor;
    cursor.setAnchor(null);
    if (from !== cursor.time) model.zoom(from, cursor.time);
  }

  const actions = {
    ArrowLeft: (event) => moveCursor(event.shiftKey ? -10 * step() : -step()),
    ArrowRight: (event) => moveCursor(event.shiftKey ? 10 * step() : step()),
    Home: () => model.span() && cursor.set(model.span()[0]),
    End: () => model.span() && cursor.set(model.span()[1]),
    PageUp: () => model.moveBy(-0.5),
    PageDown: () => model.moveBy(0.5),
    '+': () => model.zoomBy(0.5, cursor.time),
    '=': () => model.zoomBy(0.5, cursor.time),
    '-': () => model.zoomBy(2, cursor.time),
    Enter: mark,
    Escape: () => (cursor.anchor === null ? model.reset() : cursor.setAnchor(null)),
  };
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key](event);
  };
}
