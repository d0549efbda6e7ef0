// SPDX-License-Identifier: Apache-2.0
// transform.cjs < REQUEST: what Grafana's own library makes of units and transformations. The request has `units`, and
// `panels` with their `transformations` and the `frames` that queries gave; the answer the units that Grafana does not
// know, and for each panel the fields and rows of its first frame.
globalThis.navigator = { languages: ['en'], language: 'en' };  // it expects a browser
const { firstValueFrom } = require('rxjs');
const grafana = require('@grafana/data');
globalThis.window = globalThis; // after its own tests of what it runs in

grafana.standardTransformersRegistry.setInit(() =>
  [...new Map(Object.values(grafana.standardTransformers).map((one) => [one.id, one])).values()].map((transformation) => ({
    id: transformation.id, name: transformation.name, transformation: async () => transformation, editor: () => null,
  })));

async function transformed(panel) {
  const frames = panel.frames.map((frame) => grafana.toDataFrame(frame));
  const made = await firstValueFrom(grafana.transformDataFrame(panel.transformations, frames, { interpolate: (text) => text }));
  return made.map((frame) => ({
    fields: frame.fields.map((field) => ({ name: field.name, type: field.type })),
    rows: Array.from({ length: frame.length }, (_, row) => frame.fields.map((field) => field.values[row] ?? null)),
  }));
}

async function main() {
  const request = JSON.parse(require('fs').readFileSync(0, 'utf8'));
  const known = new Set(grafana.getValueFormats().flatMap((category) => category.submenu.map((unit) => unit.value)));
  process.stdout.write(JSON.stringify({
    unknownUnits: request.units.filter((unit) => !known.has(unit)),
    panels: await Promise.all(request.panels.map(transformed)),
  }));
}

main();
