// SPDX-License-Identifier: Apache-2.0
// What is drawn into a chart besides its series: when alerts fired, evaluation, checkpoints, attempts.

const LETTERS = {evaluation: 'E', checkpoint: 'C'};
const SIGNS = {critical: '⬣', warning: '▲', info: '●'};
const MOST_SPANS = 200;

const onCanvas = (plot, us) => plot.valToPos(us / 1e6, 'x', true);

// The part of [from, to] that the chart shows, as x and width; null if it shows none.
function visible(plot, from, to) {
  const {left, width} = plot.bbox;
  const a = Math.max(left, onCanvas(plot, from));
  const b = Math.min(left + width, onCanvas(plot, to));
  return b < left || a > left + width ? null : {x: a, width: Math.max(2, b - a)};
}

// Alerts as a tinted span with a bar on top and the sign of the severity.
export function drawSpans(plot, alerts, colours) {
  const {ctx, bbox} = plot;
  const pixel = devicePixelRatio;
  ctx.save();
  ctx.font = `${10 * pixel}px system-ui, sans-serif`;
  let lastSign = -Infinity;
  for (const {from, to, severity} of alerts.slice(0, MOST_SPANS)) {
    const place = visible(plot, from, to);
    if (!place) continue;
    ctx.fillStyle = colours.severity[severity] || colours.quiet;
    ctx.globalAlpha = 0.1;
    ctx.fillRect(place.x, bbox.top, place.width, bbox.height);
    ctx.globalAlpha = 1;
    ctx.fillRect(place.x, bbox.top, place.width, 3 * pixel);
    if (Math.abs(place.x - lastSign) < 12 * pixel) continue;
    lastSign = place.x;
    ctx.fillText(SIGNS[severity] || '●', place.x, bbox.top + 14 * pixel);
  }
  ctx.restore();
}

// Evaluation and checkpoints as a span with a letter, attempts as a dashed line.
export function drawMarks(plot, marks, colours) {
  const {ctx, bbox} = plot;
  const pixel = devicePixelRatio;
  ctx.save();
  ctx.font = `${10 * pixel}px system-ui, sans-serif`;
  ctx.fillStyle = ctx.strokeStyle = colours.text;
  const bottom = bbox.top + bbox.height;
  let lastLetter = -Infinity;
  for (const mark of marks) {
    const place = visible(plot, mark.start_us, mark.end_us);
    if (!place) continue;
    if (mark.kind === 'attempt') {
      ctx.setLineDash([4 * pixel, 4 * pixel]);
      ctx.beginPath();
      ctx.moveTo(place.x, bbox.top);
      ctx.lineTo(place.x, bottom);
      ctx.stroke();
      ctx.setLineDash([]);
    } else {
      ctx.globalAlpha = 0.18;
      ctx.fillRect(place.x, bbox.top, place.width, bbox.height);
      ctx.globalAlpha = 1;
    }
    if (place.x - lastLetter < 14 * pixel) continue;  // letters would cover each other
    lastLetter = place.x;
    ctx.fillText(LETTERS[mark.kind] || 'A', place.x + 1 * pixel, bottom - 3 * pixel);
  }
  ctx.restore();
}
