// SPDX-License-Identifier: Apache-2.0
// Bundles the page: node build.mjs SOURCE OUT. esbuild is taken from the node_modules beside this
// file, which build.cmake copies there.
//   OUT/page.js, OUT/page.css   one minified file each
//   OUT/tensors.js              a module that the page loads where a trial is watched
//   OUT/index.html              SOURCE/index.html with the names under which these two are served
//   OUT/icon.svg
//   OUT/*.gz                    each of them, compressed as far as gzip goes
import {createHash} from 'node:crypto';
import {copyFileSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {build} from 'esbuild';

const [source, out] = process.argv.slice(2);
const own = new URL('node_modules', import.meta.url).pathname;

// The indentation of templates, which htm drops as well.
const unindented = {
  name: 'unindented',
  setup({onLoad}) {
    onLoad({filter: /\/src\/\w+\.js$/}, ({path}) => ({contents: readFileSync(path, 'utf8').replace(/\n\s+/g, '\n')}));
  },
};

// Without the rules for what the page draws itself or not at all.
const plainPlots = {
  name: 'plain-plots',
  setup({onLoad}) {
    const unused = /[^{}]*\.u-(legend|title|inline|series|marker)[^{}]*\{[^}]*\}/g;
    onLoad({filter: /uPlot\.min\.css$/}, ({path}) => ({contents: readFileSync(path, 'utf8').replace(unused, ''), loader: 'css'}));
  },
};

const common = {
  outdir: out,
  bundle: true,
  minify: true,
  target: ['chrome100', 'firefox100', 'safari15'],
  nodePaths: [own],
  charset: 'utf8',
  legalComments: 'none',
  external: ['/assets/*'],
  plugins: [unindented, plainPlots],
};

// As scripts/embed.cmake names them.
function served(name) {
  const hash = createHash('sha256').update(readFileSync(join(out, name))).digest('hex').slice(0, 16);
  return '/assets/' + name.replace('.', `-${hash}.`);
}

await build({...common, entryPoints: [join(source, 'src/tensors.js')], format: 'esm', banner: {js: '/* trainwatch (Apache-2.0) */'}});
await build({
  ...common,
  entryPoints: [{in: join(source, 'src/main.js'), out: 'page'}],
  format: 'iife',
  define: {TENSORS: JSON.stringify(served('tensors.js'))},
  banner: {js: '/* trainwatch, htm (Apache-2.0); uPlot, preact (MIT) */'},
});

const index = readFileSync(join(source, 'index.html'), 'utf8')
    .replace('/page.js', served('page.js'))
    .replace('/page.css', served('page.css'));
writeFileSync(join(out, 'index.html'), index);
copyFileSync(join(source, 'icon.svg'), join(out, 'icon.svg'));

for (const name of ['index.html', 'page.js', 'page.css', 'tensors.js', 'icon.svg']) {
  writeFileSync(join(out, name + '.gz'), gzipSync(readFileSync(join(out, name)), {level: 9}));
}
