// SPDX-License-Identifier: Apache-2.0
// A client of the alert stream with npm's `ws`: prints every frame as one line until it is closed.
// usage: node ws_client.js URL
'use strict';
const WebSocket = require('ws');

const socket = new WebSocket(process.argv[2], ['trainwatch.v1.json']);
socket.on('message', (data) => process.stdout.write(`${data}\n`));
socket.on('close', (code) => process.exit(code === 1001 ? 0 : 1));
socket.on('error', (error) => {
  process.stderr.write(`${error}\n`);
  process.exit(1);
});
