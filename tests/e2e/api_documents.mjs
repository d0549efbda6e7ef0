// SPDX-License-Identifier: Apache-2.0
// Validates the documents of the API with the tools of their makers: node api_documents.mjs FOLDER
import {Parser} from '@asyncapi/parser';
import {createConfig, lint} from '@redocly/openapi-core';
import {readFile} from 'node:fs/promises';
import {join, resolve} from 'node:path';

const folder = resolve(process.argv[2]);
const problems = [];

const asyncapi = join(folder, 'asyncapi.yaml');
const {document, diagnostics} = await new Parser().parse(await readFile(asyncapi, 'utf8'), {source: asyncapi});
if (!document) problems.push('asyncapi.yaml cannot be parsed');
for (const each of diagnostics) {
  if (each.severity <= 1) problems.push(`asyncapi.yaml: ${each.path.join('/')}: ${each.message}`);
}

const config = await createConfig({extends: ['recommended-strict'], rules: {'security-defined': 'error'}});
for (const each of await lint({ref: join(folder, 'openapi.yaml'), config})) {
  problems.push(`openapi.yaml: ${each.location[0]?.pointer}: ${each.message} (${each.ruleId})`);
}

console.log(problems.length === 0 ? 'the documents are valid' : problems.join('\n'));
process.exit(problems.length === 0 ? 0 : 1);
