// Makes are recognized by USB id and by their identification; their lines are distinguished.
import t from 'tap';
import { atCommand } from '#node-daemon/at/command.ts';
import { modelOf } from '#node-daemon/modem/identity.ts';
import { findProfile, findUsbProduct, isStorageMode, PROFILES } from '#node-daemon/profiles/find-profile.ts';
import type { ModemProfile } from '#node-daemon/profiles/profile.ts';

const nameOf = (identification: readonly string[], usbId?: { vendor: string; product: string }): string =>
  findProfile(identification, usbId).name;

t.test("the profile follows the modem's own name, then its USB id, then it is the generic one", async (t) => {
  t.equal(nameOf(['Quectel', 'EC25', 'Revision: EC25AFFAR07A08M4G']), 'Quectel EC2x');
  t.equal(nameOf(['Manufacturer: SIMCOM INCORPORATED', 'Model: SIMCOM_SIM7600E-H']), 'SIMCom SIM7600');
  t.equal(nameOf(['Manufacturer: huawei', 'Model: E173']), 'Huawei');
  t.equal(nameOf(['Acme', 'Rack 1']), 'generic 3GPP');
  t.equal(nameOf([]), 'generic 3GPP');
  t.equal(
    nameOf(['Acme'], { vendor: '1e0e', product: '9001' }),
    'SIMCom SIM7600',
    'another name on the case',
  );
  t.equal(nameOf(['Quectel', 'EC25'], { vendor: '1e0e', product: '9001' }), 'Quectel EC2x');
  t.equal(nameOf([], { vendor: 'ffff', product: '0001' }), 'generic 3GPP');
});

t.test('a USB product says which of its ports are for commands and which for audio', async (t) => {
  t.match(findUsbProduct({ vendor: '2c7c', product: '0125' }), { atInterfaces: [2, 3], audioInterface: 1 });
  t.match(findUsbProduct({ vendor: '1e0e', product: '9001' }), { atInterfaces: [2, 3], audioInterface: 4 });
  t.ok(findUsbProduct({ vendor: '12d1', product: '1001' }));
  t.equal(findUsbProduct({ vendor: '12d1', product: '1446' }), undefined);
  t.ok(isStorageMode({ vendor: '12d1', product: '1446' }));
  t.notOk(isStorageMode({ vendor: '12d1', product: '1001' }));
});

t.test('the data of all makes is sound', async (t) => {
  const seen = new Set<string>();
  for (const { usb, usbStorage } of PROFILES) {
    for (const { vendor, product } of [...usb, ...usbStorage]) {
      t.match(`${vendor}:${product}`, /^[0-9a-f]{4}:[0-9a-f]{4}$/);
      t.notOk(seen.has(`${vendor}:${product}`), 'each is of one make and one mode');
      seen.add(`${vendor}:${product}`);
    }
  }
  for (const { iccidCommands, indications, pinTries, restartCommand, setUp, usb } of PROFILES) {
    for (const text of [...setUp, ...iccidCommands, restartCommand, pinTries?.command ?? 'AT'])
      atCommand(text);
    for (const value of indications) t.match(value, /^[012],[0123](,\d,[012],[01])?$/);
    for (const { atInterfaces } of usb) t.ok(atInterfaces.length > 0);
  }
});

t.test('lines of each make do what they should, and only that', async (t) => {
  const kindsOf = (profile: ModemProfile, line: string): string[] => {
    const { doubtful, ignorable, networkChanged, restarted, signal, simChanged, storeFull } = profile.urcs;
    const signalled = signal.some(({ match }) => match.test(line));
    const kinds = { restarted, doubtful, simChanged, storeFull, networkChanged, ignorable };
    const matching = Object.entries(kinds).filter(([, match]) => match?.test(line) === true);
    return [...matching.map(([kind]) => kind), ...(signalled ? ['signal'] : [])];
  };
  const lines: Record<string, readonly [string, string][]> = {
    'Quectel EC2x': [
      ['RDY', 'restarted'],
      ['+CFUN: 1', 'restarted'],
      ['POWERED DOWN', 'restarted'],
      ['+CPIN: NOT READY', 'simChanged'],
      ['+QUSIM: 1', 'simChanged'],
      ['+QSIMSTAT: 1,0', 'simChanged'],
      ['+QIND: "smsfull","ME"', 'storeFull'],
      ['+QIND: "csq",21,99', 'signal'],
      ['+QIND: "act","LTE"', 'networkChanged'],
      ['+QIND: SMS DONE', 'ignorable'],
      ['+QIND: PB DONE', 'ignorable'],
      ['+QPCMV: 0,0', 'ignorable'],
    ],
    'SIMCom SIM7600': [
      ['RDY', 'restarted'],
      ['+CPIN: READY', 'simChanged'],
      ['+SIMCARD: NOT AVAILABLE', 'simChanged'],
      ['+SMS FULL', 'storeFull'],
      ['+CSQ: 20,99', 'signal'],
      ['+CNSMOD: 8', 'networkChanged'],
      ['SMS DONE', 'ignorable'],
      ['PB DONE', 'ignorable'],
      ['MISSED_CALL: 10:23AM 0155', 'ignorable'],
    ],
    Huawei: [
      ['^SYSSTART', 'restarted'],
      ['^BOOT:35323129,0,0,0,26', 'doubtful'],
      ['^SIMST:255', 'simChanged'],
      ['^SMMEMFULL:"SM"', 'storeFull'],
      ['^RSSI:17', 'signal'],
      ['^HCSQ:"LTE",50,44,131,20', 'signal'],
      ['^MODE:5,4', 'networkChanged'],
      ['^SRVST:2', 'networkChanged'],
      ['^DSFLOWRPT:0000000A,00000000,00000000', 'ignorable'],
      ['^STIN: 0,0,0', 'ignorable'],
    ],
    'generic 3GPP': [
      ['+CFUN: 1', 'restarted'],
      ['^BOOT:1,0,0,0,1', 'doubtful'],
      ['+CPIN: READY', 'simChanged'],
      ['^SMMEMFULL:"SM"', 'storeFull'],
      ['+SMS FULL', 'storeFull'],
      ['+QIND: "smsfull","SM"', 'storeFull'],
      ['+CIEV: "smsfull",1', 'storeFull'],
      ['RING', 'ignorable'],
    ],
  };
  for (const profile of PROFILES) {
    for (const [line, kind] of lines[profile.name] ?? []) {
      t.same(kindsOf(profile, line), [kind], `${profile.name}: ${line}`);
    }
    for (const line of ['+CMTI: "SM",3', '+CDS: 25', '+CREG: 1', '+CMGS: 7', 'OK']) {
      t.same(kindsOf(profile, line), [], `${profile.name}: ${line}`);
    }
  }
});

t.test('the tries of the PIN are read in the form of each make', async (t) => {
  const tries = (name: string, line: string): string | undefined => {
    const query = PROFILES.find((profile) => profile.name === name)?.pinTries;
    return query?.answer.test(line) === true ? query.tries.exec(line)?.[1] : undefined;
  };
  t.equal(tries('Quectel EC2x', '+QPINC: "SC",3,10'), '3');
  t.equal(tries('Quectel EC2x', '+QPINC: "P2",2,10'), undefined, 'PIN2');
  t.equal(tries('SIMCom SIM7600', '+SPIC: 1,3,10,10'), '1');
  // ^CPIN: <code>,[<times>],<puk_times>,<pin_times>,<puk2_times>,<pin2_times>
  t.equal(tries('Huawei', '^CPIN: SIM PIN,2,10,2,10,3'), '2');
  t.equal(tries('Huawei', '^CPIN: READY,,10,3,10,3'), '3');
  t.equal(tries('generic 3GPP', '+CPINR: SIM PIN,3,3'), '3');
  t.equal(tries('generic 3GPP', '+CPINR: "SIM PIN",2,3'), '2');
  t.equal(tries('generic 3GPP', '+CPINR: SIM PIN2,3,3'), undefined);
});

t.test('maker and model are one name, without saying the maker twice', async (t) => {
  t.equal(modelOf('Quectel', 'EC25'), 'Quectel EC25');
  t.equal(modelOf('SIMCOM INCORPORATED', 'SIMCOM_SIM7600E-H'), 'SIMCOM_SIM7600E-H');
  t.equal(modelOf('huawei', 'E173'), 'huawei E173');
  t.equal(modelOf(undefined, 'E173'), 'E173');
  t.equal(modelOf('Acme', undefined), 'Acme');
  t.equal(modelOf(undefined, undefined), undefined);
  t.equal(modelOf('x'.repeat(80), 'y')?.length, 64);
});
