// The metrics and pages of a running daemon: they match the reference, and contain all that the alert rules use.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { freePort } from '../fixtures/network/free-port.ts';
import { startDaemonOnUsb } from '../fixtures/nodes/daemon-on-usb.ts';
import { documentedMetrics } from '../fixtures/service/documented-metrics.ts';
import { type Family, readExposition, readingOf } from '../fixtures/service/exposition.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';

const PEER = '+12065559999';
const TEXT = 'a text that no metric shows';
/** Made by Prometheus itself. */
const OF_PROMETHEUS = ['up'];

const port = await freePort();
const { modem, plane, serves, simulator } = await startDaemonOnUsb(t, {
  modems: 2,
  makes: ['quectel', 'simcom'],
  config: `metrics: { port: ${port} }`,
});
const scrape = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
const inFolder = (...path: string[]): string =>
  readFileSync(join(PROJECT_FOLDER, 'node-daemon', ...path), 'utf8');

let exported = new Map<string, Family>();

t.test('events of two modems are counted by their slots', async (t) => {
  await serves('1-1.1', modem(0));
  await serves('1-1.2', modem(1));
  const { iccid, number } = modem(0).identity;
  simulator.carrier.send({ from: PEER, to: number, body: TEXT });
  await until('the message', () => plane.factsOf('sms_received').length === 1);
  await plane.command('send_sms', { iccid, to: PEER, body: TEXT, segments_max: 1 });
  const read = async () => readExposition(await scrape());
  const first = { slot: '1-1.1' };
  await until('a storage that is empty again', async () => {
    exported = await read();
    return (
      readingOf(exported, 'simrack_node_sms_sent_total', first) === 1 &&
      readingOf(exported, 'simrack_node_storage_used', first) !== undefined
    );
  });
  t.equal(readingOf(exported, 'simrack_node_registered', first), 1);
  t.equal(readingOf(exported, 'simrack_node_sms_received_total', first), 1);
  t.equal(readingOf(exported, 'simrack_node_sms_received_total', { slot: '1-1.2' }), undefined);
  t.equal(
    readingOf(exported, 'simrack_node_at_commands_total', { ...first, command: '+CMGS', result: 'ok' }),
    1,
  );
  t.equal(readingOf(exported, 'simrack_node_at_command_duration_seconds_count', { command: '+CMGS' }), 1);
  t.equal(readingOf(exported, 'simrack_node_port_opens_total', first), 1);
  t.ok(Number(readingOf(exported, 'simrack_node_storage_size', first)) > 0);
  t.equal(readingOf(exported, 'simrack_node_link_up'), 1);
});

t.test('every AT command of a whole life has its name', async (t) => {
  t.equal(readingOf(exported, 'simrack_node_at_commands_total', { command: 'other' }), undefined);
});

t.test('the status page shows the same modems, and what happened to them', async (t) => {
  const page = await (await fetch(`http://127.0.0.1:${port}/`)).text();
  t.match(page, /<dd>2 of 2<\/dd>/);
  for (const slot of ['1-1.1', '1-1.2']) t.match(page, `<li class="tile good" id="slot-${slot}"`);
  t.match(page, /<a href="\/slots\/1-1\.1">1-1\.1<\/a> <span>in service<\/span>/, 'an event');
  t.match(await (await fetch(`http://127.0.0.1:${port}/slots/1-1.2`)).text(), /SIM7600|SIMCOM/i);
});

t.test('no number, ICCID, IMEI or text is shown', async (t) => {
  const pages = ['', 'slots/1-1.1', 'slots/1-1.2'].map(async (path) =>
    (await fetch(`http://127.0.0.1:${port}/${path}`)).text(),
  );
  const text = [await scrape(), ...(await Promise.all(pages))].join('\n');
  for (const { iccid, imei, number } of [modem(0).identity, modem(1).identity]) {
    for (const secret of [iccid, imei, number, PEER, TEXT]) t.notOk(text.includes(secret.replace('+', '')));
  }
});

t.test('the reference has every metric, with its labels, and no other', async (t) => {
  const documented = documentedMetrics('node-daemon');
  t.same([...documented.keys()].sort(), [...exported.keys()].sort());
  for (const { name, samples } of exported.values()) {
    for (const { labels } of samples) {
      const { le: _, ...reported } = labels;
      t.same(Object.keys(reported).sort(), documented.get(name), name);
    }
  }
});

t.test('every metric that an alert rule names is exported, with the labels that it asks for', async (t) => {
  const rules: { alert: string; expr: string }[] = parse(inFolder('metrics', 'alerts.yaml')).groups[0].rules;
  for (const { alert, expr } of rules) {
    const named = [...expr.matchAll(/\b(simrack_\w+|up)\b(?:\{(\w+)!?=[^}]*\})?/g)];
    t.ok(named.length > 0, alert);
    for (const [, name = '', label] of named) {
      if (OF_PROMETHEUS.includes(name)) continue;
      const family = exported.get(name);
      t.ok(family !== undefined, `${alert}: ${name}`);
      const [sample] = family?.samples ?? [];
      if (label !== undefined && sample !== undefined)
        t.ok(label in sample.labels, `${alert}: ${name}{${label}}`);
    }
  }
});
