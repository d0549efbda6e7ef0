// SPDX-License-Identifier: Apache-2.0
import 'uplot/dist/uPlot.min.css';
import './base.css';
import './alerts.css';
import './charts.css';
import './print.css';
import {embeddedAnswers, embeddedSource} from './embedded_source.js';
import {liveSource} from './live_source.js';
import {start} from './start.js';

const answers = embeddedAnswers();
start(answers ? embeddedSource(answers) : liveSource(), document.getElementById('page'));
