// gammu-smsd on a modem of each make: receive, send, delivery report.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { run, skipWithout, start } from '../../fixtures/foreign-program.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { startModem } from '../fixtures/rack.ts';

const skip = skipWithout('gammu-smsd', '--version');
// The programs pause most of the time.
t.jobs = 4;
/** It pauses when it opens a port and between its rounds. */
const WAIT_MS = 40_000;

/** A daemon with folders for everything. */
function configure(t: Test, device: string) {
  const folder = temporaryFolder(t);
  const paths = ['inbox', 'outbox', 'sent', 'error'].map((name) => {
    mkdirSync(join(folder, name));
    return `${name}${name === 'sent' || name === 'error' ? 'sms' : ''}path = ${join(folder, name)}/`;
  });
  const configuration = join(folder, 'smsdrc');
  const log = join(folder, 'log');
  writeFileSync(
    configuration,
    `[gammu]\ndevice = ${device}\nconnection = at115200\n[smsd]\nservice = files\nlogfile = ${log}\ndebuglevel = 1
commtimeout = 1\nsendtimeout = 10\nreceivefrequency = 1\nloopsleep = 1\ndeliveryreport = sms\n${paths.join('\n')}\n`,
  );
  const files = (name: string): string[] => readdirSync(join(folder, name)).sort();
  const read = (name: string, file: string): string => readFileSync(join(folder, name, file), 'utf8');
  return { configuration, files, read, log: () => readFileSync(log, 'utf8') };
}

for (const make of ['quectel', 'simcom', 'huawei', 'generic'] as const) {
  t.test(`gammu-smsd works with ${make}`, { skip }, async (t) => {
    const { rack, modem, terminal } = await startModem(t, { makes: [make] });
    await terminal.close();
    const smsd = configure(t, modem.portPaths.at);
    const inject = ['-c', smsd.configuration, 'TEXT', '+12065550101', '-report', '-text', 'from smsd'];
    await run('gammu-smsd-inject', inject);
    for (const [from, body] of [
      ['GOOGLE', 'to smsd: ж'],
      ['+15550000012', 'once more'],
    ] as const) {
      rack.carrier.send({ from, to: modem.number, body });
    }
    // With its usual checks on: PIN, battery, signal, network.
    const output = start(t, 'gammu-smsd', ['-c', smsd.configuration]);
    const done = () =>
      smsd.files('sent').length === 1 && modem.stores.used('SM') === 0 && smsd.files('inbox').length === 3;
    await until('all is received, sent and reported', done, WAIT_MS).catch((error) => {
      throw new Error(`${error.message}: ${output()} ${smsd.log()}`);
    });
    const texts = smsd.files('inbox').map((file) => smsd.read('inbox', file));
    t.same(texts.filter((text) => text !== '').sort(), ['once more', 'to smsd: ж']);
    t.ok(smsd.files('inbox').some((file) => file.includes('GOOGLE')));
    t.match(smsd.log(), /Delivery report/);
    t.match([...rack.carrier.heard()], [{ to: '+12065550101', body: 'from smsd', message_reference: 0 }]);
    t.same(smsd.files('error'), []);
  });
}
