// A session that changes settings for calls: never during a call, not too often, and to the end after a kill.
import t, { type Test } from 'tap';
import { POLL_MS } from '#node-daemon/modem/pauses.ts';
import { lines, type ScriptedPort } from '../../../fixtures/nodes/scripted-port.ts';
import { SessionRig } from '../session-rig.ts';

const CALL = '+CLCC: 1,0,0,0,0,"+13105550188",145';
const RESTART = /^AT\+CFUN=1,1$/;
const SELECT = /^AT\+QMBNCFG="Select","Commercial-TMO_VoLTE"$/;
const PAUSE_MS = 10 * 60_000;

/** A Quectel with a generic profile that keeps what it is sent, and shows it after a restart. */
class Quectel {
  hasCall = false;
  active = 'ROW_Generic_3GPP';
  selected = this.active;

  script(port: ScriptedPort): void {
    const flag = (is: boolean): string => (is ? '1' : '0');
    const row = (name: string, index: number): string =>
      `+QMBNCFG: "List",${index},${flag(name === this.selected)},${flag(name === this.active)},"${name}",0x0501081F,202108201`;
    port
      .on(/^AT\+CIMI$/, lines('310260000000017', 'OK'))
      .on(/^ATI$/, lines('Quectel', 'EG25', 'Revision: EG25GGBR07A08M2G', 'OK'))
      .on(/^AT\+CLCC$/, () => (this.hasCall ? lines(CALL, 'OK') : lines('OK')))
      .on(/^AT\+QMBNCFG="List"$/, () =>
        lines(...['ROW_Generic_3GPP', 'Commercial-TMO_VoLTE', 'VoLTE-ATT'].map(row), 'OK'),
      )
      .on(/^AT\+QMBNCFG="AutoSel"$/, lines('+QMBNCFG: "AutoSel",0', 'OK'))
      .on(/^AT\+QMBNCFG="Select","(.+)"$/, ([, name = '']) => {
        this.selected = name;
        return lines('OK');
      })
      .on(/^AT\+QCFG="ims"$/, lines('+QCFG: "ims",1,1', 'OK'))
      .on(/^AT\+CGDCONT\?$/, lines('+CGDCONT: 1,"IPV4V6","ims","0.0.0.0",0,0', 'OK'))
      .on(RESTART, () => {
        this.active = this.selected;
        return lines('OK');
      });
  }
}

async function start(t: Test, modem: Quectel) {
  const rig = await SessionRig.create(t);
  return { rig, run: () => rig.run((port) => modem.script(port)) };
}

t.test('a call is up: nothing is written, and afterwards it is, with one restart', async (t) => {
  const modem = new Quectel();
  modem.hasCall = true;
  const { rig, run } = await start(t, modem);
  const ended = run();
  await rig.inService();
  t.match(rig.slot.voice_settings, { network: '310260', state: 'differs', why: 'call' });
  await rig.pass(3 * POLL_MS);
  t.equal(rig.port.count(SELECT) + rig.port.count(RESTART), 0);
  modem.hasCall = false;
  rig.startTime();
  t.match(await ended, { trouble: 'restarted' });
  rig.stopTime();
  t.equal(rig.port.count(SELECT), 1);
  t.equal(rig.port.count(RESTART), 1);
  void run();
  await rig.inService();
  t.match(rig.slot.voice_settings, { state: 'right', why: null });
  t.equal(rig.port.count(/^AT\+QMBNCFG="(Select|Deactivate)"/), 0);
});

t.test('a call that begins before the restart is not cut off', async (t) => {
  const modem = new Quectel();
  const { rig } = await start(t, modem);
  const ended = rig.run((port) => {
    modem.script(port);
    port.on(SELECT, () => {
      modem.selected = 'Commercial-TMO_VoLTE';
      modem.hasCall = true;
      return lines('OK');
    });
  });
  await rig.inService();
  t.match(rig.slot.voice_settings, { state: 'differs', why: 'restart' });
  await rig.pass(2 * POLL_MS);
  t.equal(rig.port.count(RESTART), 0);
  modem.hasCall = false;
  rig.startTime();
  t.match(await ended, { trouble: 'restarted' });
  rig.stopTime();
  t.equal(rig.port.count(SELECT), 1, 'sent once');
});

t.test('a kill between the settings and the restart: the next session restarts, once', async (t) => {
  const modem = new Quectel();
  const { rig, run } = await start(t, modem);
  const killed = rig.run((port) => {
    modem.script(port);
    port.on(SELECT, () => {
      modem.selected = 'Commercial-TMO_VoLTE';
      modem.hasCall = true;
      return lines('OK');
    });
  });
  await rig.inService();
  t.match(rig.slot.voice_settings, { state: 'differs', why: 'restart' });
  rig.startTime();
  rig.port.hangUp();
  t.match(await killed, { trouble: 'port_gone' });
  rig.stopTime();
  await rig.restartDaemon();
  modem.hasCall = false;
  rig.startTime();
  t.match(await run(), { trouble: 'restarted' });
  rig.stopTime();
  t.equal(rig.port.count(SELECT), 0, 'not sent again');
  t.equal(rig.port.count(RESTART), 1);
  void run();
  await rig.inService();
  t.match(rig.slot.voice_settings, { state: 'right', why: null });
});

t.test('cards that come and go: the next restart waits ten minutes', async (t) => {
  const modem = new Quectel();
  const { rig, run } = await start(t, modem);
  rig.startTime();
  t.match(await run(), { trouble: 'restarted' });
  rig.stopTime();
  const restartedAt = Date.parse([...rig.journal.state.voiceSettings.values()][0]?.at ?? '');
  // The other card was in a modem that chose another profile.
  rig.device.iccid = '8901000000000000025';
  modem.active = modem.selected = 'VoLTE-ATT';
  const ended = run();
  await rig.inService();
  t.match(rig.slot.voice_settings, { state: 'differs', why: 'recent_restart' });
  t.equal(rig.port.count(SELECT), 0);
  rig.startTime();
  t.match(await ended, { trouble: 'restarted' });
  rig.stopTime();
  t.ok(rig.clock.now() - restartedAt >= PAUSE_MS);
  t.equal(rig.port.count(RESTART), 1);
});

t.test('a kill between two commands: they are sent again, three times at most', async (t) => {
  const modem = new Quectel();
  const { rig } = await start(t, modem);
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    const ended = rig.run((port) => {
      modem.script(port);
      port.on(/^AT\+QMBNCFG="Deactivate"$/, () => {
        setImmediate(() => port.hangUp());
        return undefined;
      });
    });
    if (attempt === 4) break;
    rig.startTime();
    t.match(await ended, { trouble: 'port_gone' }, `attempt ${attempt}`);
    rig.stopTime();
    await rig.restartDaemon();
  }
  await rig.inService();
  t.match(rig.slot.voice_settings, { state: 'differs', why: 'not_kept' });
  t.equal(rig.port.count(/Deactivate/), 0);
});
