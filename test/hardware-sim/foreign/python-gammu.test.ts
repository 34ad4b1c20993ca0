// python3-gammu on a modem of each make: identify, list, read, delete, send.
import { join } from 'node:path';
import t from 'tap';
import { PYTHON, run, skipWithoutPythonGammu } from '../../fixtures/foreign-program.ts';
import { startModem } from '../fixtures/rack.ts';

const CLIENT = join(import.meta.dirname, '../fixtures/gammu-client.py');
const skip = skipWithoutPythonGammu();
// The programs pause most of the time.
t.jobs = 4;

for (const [make, manufacturer, model] of [
  ['quectel', 'Quectel', 'EC25'],
  ['simcom', 'SIMCOM INCORPORATED', 'SIMCOM_SIM7600G-H'],
  ['huawei', 'Huawei', 'E1750'],
  ['huawei-e303', 'Huawei', 'E303'],
  ['generic', 'Generic', 'W14'],
] as const) {
  t.test(`python3-gammu works with ${make}`, { skip }, async (t) => {
    const { rack, modem, terminal } = await startModem(t, { makes: [make] });
    await terminal.close();
    const send = (from: string, body: string) => rack.carrier.send({ from, to: modem.number, body });
    send('GOOGLE', 'Your code is [€] 123456');
    send('+15550000012', 'Привет 😀');
    const output = await run(PYTHON, [CLIENT, modem.portPaths.at, '+12065550101', 'from Python']);
    t.match(JSON.parse(output), {
      manufacturer,
      model,
      firmware: modem.make.revision,
      imei: modem.imei,
      imsi: modem.identity.imsi,
      signal: -71,
      network: 'HomeNetwork',
      service_centre: '+12065550000',
      stores: { SIMUsed: 2, SIMSize: 50, PhoneUsed: 0, PhoneSize: 255 },
      messages: [
        { from: 'GOOGLE', text: 'Your code is [€] 123456' },
        { from: '+15550000012', text: 'Привет 😀' },
      ],
      used_after_delete: 1,
      reference: 0,
    });
    t.match([...rack.carrier.heard()], [{ to: '+12065550101', body: 'from Python' }]);
    t.equal(rack.modems[1]?.stores.used('SM'), 1);
  });
}
