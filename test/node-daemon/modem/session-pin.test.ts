// A PIN is entered once when it is wrong, whatever is killed when, and never as the last try.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { simSettings } from '#node-daemon/config/node-config.ts';
import { lines, type ScriptedPort, TEST_ICCID } from '../../fixtures/nodes/scripted-port.ts';
import { until } from '../../fixtures/until.ts';
import { SessionRig } from './session-rig.ts';

const RIGHT = '73519';
const WRONG = '80246';
const MINUTES_MS = 60_000;
const ENTERED = /^AT\+CPIN="/;

/** A card behind a modem; what it was asked and answers outlives both. */
class Card {
  tries = 3;
  isOpen = false;
  /** Some makes of modems report the tries, some do not. */
  isMute = false;
  /** The modem is cut off when it has the PIN: before or after the card saw it. */
  cut: 'before' | 'after' | undefined;
  /** +CME ERROR of a wrong PIN. */
  refusal = 16;
  readonly entered: string[] = [];

  prepare = (port: ScriptedPort): void => {
    port.on(/^AT\+CPIN\?$/, () => this.#state());
    port.on(/^AT\+CPINR="SIM PIN"$/, () =>
      this.isMute ? lines('ERROR') : lines(`+CPINR: SIM PIN,${this.tries},3`, 'OK'),
    );
    port.on(/^AT\+CPIN="(\d+)"$/, ([, pin = '']) => {
      this.entered.push(pin);
      if (this.cut !== 'before') this.#see(pin);
      if (this.cut === undefined)
        return this.isOpen ? lines('OK', '+CPIN: READY') : lines(`+CME ERROR: ${this.refusal}`);
      port.hangUp();
      return undefined;
    });
  };

  #see(pin: string): void {
    this.isOpen = pin === RIGHT;
    this.tries = this.isOpen ? 3 : this.tries - 1;
  }

  #state(): string {
    if (this.isOpen) return lines('+CPIN: READY', 'OK');
    return lines(this.tries > 0 ? '+CPIN: SIM PIN' : '+CPIN: SIM PUK', 'OK');
  }
}

const configured = (pin: string) => ({ sims: simSettings({ [TEST_ICCID]: { pin } }) });

async function setUp(t: Test) {
  const rig = await SessionRig.create(t);
  return { rig, card: new Card() };
}

/** Lets the daemon check the card for some minutes, and the disk answer. */
async function waitLong(rig: SessionRig): Promise<void> {
  rig.startTime();
  await until('a reason', () => typeof rig.slot.reason === 'string' && rig.slot.state === 'sim_locked');
  rig.stopTime();
  await rig.pass(5 * MINUTES_MS);
}

t.test('the right PIN opens the card, once, and leaves no trace', async (t) => {
  const { rig, card } = await setUp(t);
  void rig.run(card.prepare, configured(RIGHT));
  await rig.inService();
  t.same(card.entered, [RIGHT]);
  t.match(rig.slot, { state: 'registered', reason: null, iccid: TEST_ICCID });
  t.equal(rig.journal.state.pins.size, 0);
  t.notOk(rig.reports.some(({ state }) => state === 'sim_locked'));
});

t.test('a wrong one is not entered again: in this session, the next one, the next daemon', async (t) => {
  const { rig, card } = await setUp(t);
  void rig.run(card.prepare, configured(WRONG));
  await waitLong(rig);
  t.match(rig.slot, { state: 'sim_locked', reason: 'sim_pin_wrong', iccid: TEST_ICCID });
  for (let times = 0; times < 3; times += 1) {
    await rig.restartDaemon();
    void rig.run(card.prepare, configured(WRONG));
    await waitLong(rig);
    t.equal(rig.slot.reason, 'sim_pin_wrong');
  }
  t.same(card.entered, [WRONG]);
});

t.test('another PIN in the configuration is a new chance', async (t) => {
  const { rig, card } = await setUp(t);
  void rig.run(card.prepare, configured(WRONG));
  await waitLong(rig);
  await rig.restartDaemon();
  void rig.run(card.prepare, configured(RIGHT));
  await rig.inService();
  t.same(card.entered, [WRONG, RIGHT]);
});

t.test('the try is on disk before the modem has the PIN, which is not', async (t) => {
  const { rig, card } = await setUp(t);
  void rig.run((port) => {
    card.prepare(port);
    port.on(ENTERED, () => undefined);
  }, configured(WRONG));
  rig.startTime();
  await until('the PIN', () => rig.port.count(ENTERED) === 1);
  const journal = await readFile(join(rig.folder, 'journal.log'), 'utf8');
  t.match(journal, /"kind":"pin"/);
  t.notMatch(journal, `"${WRONG}"`);
});

t.test(
  'killed while the card judged a wrong PIN: the remaining tries show it, and it is not entered again',
  async (t) => {
    const { rig, card } = await setUp(t);
    card.cut = 'after';
    await rig.run(card.prepare, configured(WRONG)).catch(() => undefined);
    card.cut = undefined;
    for (let times = 0; times < 2; times += 1) {
      await rig.restartDaemon();
      void rig.run(card.prepare, configured(WRONG));
      await waitLong(rig);
      t.equal(rig.slot.reason, 'sim_pin_wrong');
      // The card is opened with another device: its tries are whole again.
      card.tries = 3;
    }
    t.same(card.entered, [WRONG]);
  },
);

t.test('killed before the card saw it: as many tries as before, and it is entered', async (t) => {
  const { rig, card } = await setUp(t);
  card.cut = 'before';
  await rig.run(card.prepare, configured(RIGHT)).catch(() => undefined);
  card.cut = undefined;
  await rig.restartDaemon();
  void rig.run(card.prepare, configured(RIGHT));
  await rig.inService();
  t.same(card.entered, [RIGHT, RIGHT]);
});

t.test('killed at that moment where the modem reports no tries: it is not entered again', async (t) => {
  const { rig, card } = await setUp(t);
  card.isMute = true;
  card.cut = 'after';
  await rig.run(card.prepare, configured(WRONG)).catch(() => undefined);
  card.cut = undefined;
  await rig.restartDaemon();
  void rig.run(card.prepare, configured(WRONG));
  await waitLong(rig);
  t.match(rig.slot, { state: 'sim_locked', reason: 'sim_pin_unproved' });
  t.same(card.entered, [WRONG]);
});

t.test('the last try is never used', async (t) => {
  const { rig, card } = await setUp(t);
  card.tries = 1;
  void rig.run(card.prepare, configured(RIGHT));
  await waitLong(rig);
  t.match(rig.slot, { state: 'sim_locked', reason: 'sim_pin_last_try' });
  t.same(card.entered, []);
});

t.test('without reported tries, two refused PINs are the last', async (t) => {
  const { rig, card } = await setUp(t);
  card.isMute = true;
  for (const [pin, reason, entered] of [
    [WRONG, 'sim_pin_wrong', 1],
    ['1111', 'sim_pin_wrong', 2],
    ['2222', 'sim_pin_last_try', 2],
  ] as const) {
    void rig.run(card.prepare, configured(pin));
    rig.startTime();
    await until(reason, () => card.entered.length === entered && rig.slot.reason === reason);
    rig.stopTime();
    await rig.restartDaemon();
  }
  t.same(card.entered, [WRONG, '1111']);
});

t.test('without reported tries, the right PIN restarts the count', async (t) => {
  const { rig, card } = await setUp(t);
  card.isMute = true;
  const refused = async (pin: string) => {
    void rig.run(card.prepare, configured(pin));
    rig.startTime();
    await until('it is refused', () => card.entered.at(-1) === pin && rig.slot.reason === 'sim_pin_wrong');
    rig.stopTime();
    await rig.restartDaemon();
  };
  await refused(WRONG);
  void rig.run(card.prepare, configured(RIGHT));
  await rig.inService();
  card.isOpen = false;
  await rig.restartDaemon();
  await refused('1111');
  await refused('2222');
  t.same(card.entered, [WRONG, RIGHT, '1111', '2222']);
});

t.test('without a PIN, and with locks that no PIN opens, nothing is entered', async (t) => {
  const locks: Record<string, string> = {
    'SIM PUK': 'sim_puk',
    'PH-NET PIN': 'ph_net_pin',
    'PH-SIM PIN': 'ph_sim_pin',
  };
  for (const [lock, reason] of Object.entries(locks)) {
    const { rig, card } = await setUp(t);
    void rig.run((port) => {
      card.prepare(port);
      port.on(/^AT\+CPIN\?$/, lines(`+CPIN: ${lock}`, 'OK'));
    }, configured(RIGHT));
    await waitLong(rig);
    t.match(rig.slot, { state: 'sim_locked', reason, iccid: TEST_ICCID });
    t.same(card.entered, []);
  }
  const { rig, card } = await setUp(t);
  void rig.run(card.prepare);
  await waitLong(rig);
  t.match(rig.slot, { state: 'sim_locked', reason: 'sim_pin' });
  t.same(card.entered, []);
});

t.test('a PIN is not tried if the journal cannot record the try', async (t) => {
  const { rig, card } = await setUp(t);
  await rig.journal.close();
  void rig.run(card.prepare, configured(RIGHT));
  await waitLong(rig);
  t.match(rig.slot, { state: 'sim_locked', reason: 'journal_unavailable' });
  t.same(card.entered, []);
});

const ICCID_ASKED = /^AT\+(CCID|ICCID|CRSM.*)$|^AT\^ICCID\?$/;

t.test('a card without an ICCID while it is locked is known by its device', async (t) => {
  const { rig, card } = await setUp(t);
  const sims = simSettings({}, WRONG);
  const prepare = (port: ScriptedPort): void => {
    card.prepare(port);
    port.on(ICCID_ASKED, lines('+CME ERROR: 11'));
  };
  for (let times = 0; times < 2; times += 1) {
    void rig.run(prepare, { sims });
    await waitLong(rig);
    t.match(rig.slot, { state: 'sim_locked', reason: 'sim_pin_wrong', iccid: null });
    await rig.restartDaemon();
  }
  void rig.run(card.prepare, { sims });
  await waitLong(rig);
  t.match(rig.slot, { reason: 'sim_pin_wrong', iccid: TEST_ICCID }, 'under its ICCID neither');
  t.same(card.entered, [WRONG]);
});

t.test('a locked card without an ICCID gets no PIN without knowing all tries are left', async (t) => {
  for (const isMute of [true, false]) {
    const { rig, card } = await setUp(t);
    card.isMute = isMute;
    card.tries = 2;
    void rig.run(
      (port) => {
        card.prepare(port);
        port.on(ICCID_ASKED, lines('+CME ERROR: 11'));
      },
      { sims: simSettings({}, RIGHT) },
    );
    await waitLong(rig);
    t.match(rig.slot, { state: 'sim_locked', reason: 'sim_pin_no_iccid' });
    t.same(card.entered, []);
  }
});

t.test('an ICCID that is reported some seconds after power names the card', async (t) => {
  for (const isMute of [true, false]) {
    const { rig, card } = await setUp(t);
    card.isMute = isMute;
    let asked = 0;
    void rig.run(
      (port) => {
        card.prepare(port);
        port.on(ICCID_ASKED, lines('+CME ERROR: 14'));
        port.on(/^AT\+CCID$/, () =>
          ++asked > 4 ? lines(`+CCID: ${TEST_ICCID}`, 'OK') : lines('+CME ERROR: 14'),
        );
      },
      { sims: simSettings({}, WRONG) },
    );
    await waitLong(rig);
    t.match(rig.slot, { state: 'sim_locked', reason: 'sim_pin_wrong', iccid: TEST_ICCID });
    t.same(card.entered, [WRONG]);
  }
});

t.test('a wrong PIN that is "not allowed" or "not supported" is not entered again', async (t) => {
  for (const refusal of [3, 4]) {
    for (const isMute of [true, false]) {
      const { rig, card } = await setUp(t);
      Object.assign(card, { isMute, refusal });
      void rig.run(card.prepare, configured(WRONG));
      rig.startTime();
      const verdict = isMute ? 'sim_pin_unproved' : 'sim_pin_wrong';
      await until(verdict, () => rig.slot.reason === verdict);
      await waitLong(rig);
      t.equal(rig.slot.reason, verdict);
      t.same(card.entered, [WRONG]);
    }
  }
});
