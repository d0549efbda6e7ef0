// SPDX-License-Identifier: Apache-2.0
// Numbers and times as people read them. Times are milliseconds since the epoch, durations seconds.

const NOTHING = '–';
const missing = (value) => value === null || value === undefined || Number.isNaN(value);

export const digits = (value, most = 3) => String(Number(value.toPrecision(most)));

const grouped = new Intl.NumberFormat('en');

export function count(value) {
  return missing(value) ? NOTHING : grouped.format(value);
}

export function seconds(value) {
  if (missing(value)) return NOTHING;
  const size = Math.abs(value);
  if (size === 0) return '0 s';
  if (size < 1e-3) return `${digits(value * 1e6)} µs`;
  if (size < 0.9995) return `${digits(value * 1e3)} ms`;
  if (size < 99.95) return `${digits(value)} s`;
  return duration(value);
}

// "45 s", "38 min", "2 h 5 min", "3 d 4 h": what has passed, not what was measured.
export function duration(value) {
  if (missing(value)) return NOTHING;
  const whole = Math.max(0, Math.round(value));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  const days = Math.floor(hours / 24);
  return hours % 24 ? `${days} d ${hours % 24} h` : `${days} d`;
}

export function percent(share) {
  if (missing(share)) return NOTHING;
  const value = 100 * share;
  return `${value !== 0 && Math.abs(value) < 9.95 ? Number(value.toPrecision(2)) : Math.round(value)} %`;
}

export function bytes(value) {
  if (missing(value)) return NOTHING;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    ++unit;
  }
  return `${unit ? value.toFixed(1) : value} ${units[unit]}`;
}

const WITH_ZONE = {hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short'};
const toTheSecond = new Intl.DateTimeFormat('en-GB', {...WITH_ZONE, second: '2-digit'});
const toTheMinute = new Intl.DateTimeFormat('en-GB', WITH_ZONE);
const ON_THE_AXIS = {hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23'};
const onTheAxis = [{}, ...[1, 2, 3].map((digits) => ({fractionalSecondDigits: digits}))]
  .map((fraction) => new Intl.DateTimeFormat('en-GB', {...ON_THE_AXIS, ...fraction}));
const dayOfYear = new Intl.DateTimeFormat('en-GB', {day: 'numeric', month: 'short'});
const fullDay = new Intl.DateTimeFormat('en-GB', {day: 'numeric', month: 'short', year: 'numeric'});

function withDay(text, ms, now) {
  const day = new Date(ms), today = new Date(now);
  if (day.toDateString() === today.toDateString()) return text;
  return `${(day.getFullYear() === today.getFullYear() ? dayOfYear : fullDay).format(day)}, ${text}`;
}

// "14:02 CET", with the day unless that is today.
export const clock = (ms, now) => withDay(toTheMinute.format(ms), ms, now);
export const clockSeconds = (ms, now) => withDay(toTheSecond.format(ms), ms, now);
// With enough digits to distinguish times that are `apart` milliseconds apart.
export const axisTime = (ms, apart = 1000) => onTheAxis[apart >= 1000 ? 0 : apart >= 100 ? 1 : apart >= 10 ? 2 : 3].format(ms);

export function zone() {
  const part = toTheMinute.formatToParts(Date.now()).find((each) => each.type === 'timeZoneName');
  return part ? part.value : '';
}

export function ago(ms, now) {
  const passed = (now - ms) / 1000;
  if (passed < -1) return `in ${duration(-passed)}`;
  return passed < 1 ? 'just now' : `${duration(passed)} ago`;
}

// "input_wait" as words.
export const words = (name) => String(name ?? '').replaceAll('_', ' ');

export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
