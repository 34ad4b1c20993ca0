// smstools (smsd) on a modem of each make: receive, send, delivery report.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { skipWithout, start } from '../../fixtures/foreign-program.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { startModem } from '../fixtures/rack.ts';

const PROGRAM = '/usr/sbin/smsd';
const skip = skipWithout(PROGRAM, '-V');
// The programs pause most of the time.
t.jobs = 4;
const WAIT_MS = 40_000;

function configure(t: Test, device: string) {
  const folder = temporaryFolder(t);
  const names = ['outgoing', 'checked', 'incoming', 'report', 'sent', 'failed'];
  for (const name of names) mkdirSync(join(folder, name));
  const paths = [...names, 'logfile', 'pidfile', 'infofile'].map((name) => `${name} = ${join(folder, name)}`);
  const configuration = join(folder, 'smsd.conf');
  writeFileSync(
    configuration,
    `devices = M1\nloglevel = 5\ndelaytime = 1\nreceive_before_send = no\n${paths.join('\n')}
[M1]\ndevice = ${device}\nincoming = yes\nreport = yes\nbaudrate = 115200\ninit = AT+CNMI=2,1,0,2,0\n`,
  );
  const files = (name: string): string[] => readdirSync(join(folder, name));
  return {
    configuration,
    files,
    texts: (name: string) => files(name).map((file) => readFileSync(join(folder, name, file), 'utf8')),
    /** As its manual says: written elsewhere, then moved. */
    queue: (text: string): void => {
      writeFileSync(join(folder, 'message'), text);
      renameSync(join(folder, 'message'), join(folder, 'outgoing', 'message'));
    },
  };
}

for (const make of ['quectel', 'simcom', 'huawei', 'generic'] as const) {
  t.test(`smstools works with ${make}`, { skip }, async (t) => {
    const { rack, modem, terminal } = await startModem(t, { makes: [make] });
    await terminal.close();
    // It reads one memory only.
    modem.play(parseFault({ kind: 'status_report', memory: 'SM' }));
    const smsd = configure(t, modem.portPaths.at);
    const send = (from: string, body: string) => rack.carrier.send({ from, to: modem.number, body });
    send('GOOGLE', 'to smstools [€]');
    send('+15550000012', 'once more');
    smsd.queue('To: 12065550101\nReport: yes\n\nfrom smstools');
    const output = start(t, PROGRAM, ['-c', smsd.configuration, '-t']);
    const done = () =>
      smsd.files('incoming').length === 2 &&
      smsd.files('report').length === 1 &&
      smsd.files('sent').length === 1 &&
      modem.stores.used('SM') === 0;
    await until('all is received, sent and reported', done, WAIT_MS).catch((error) => {
      throw new Error(`${error.message}: ${output()}`);
    });
    const received = smsd.texts('incoming').join('\n');
    t.match(received, /From: GOOGLE\n/);
    t.match(received, /From: 15550000012\n/);
    t.match(received, 'once more');
    t.match(smsd.texts('report')[0], /SMS STATUS REPORT\n.*Status: 0,Ok,short message received by the SME/s);
    t.match(smsd.texts('sent')[0], /Message_id: 0\n/);
    t.match([...rack.carrier.heard()], [{ to: '+12065550101', body: 'from smstools' }]);
    t.same(smsd.files('failed'), []);
  });
}
