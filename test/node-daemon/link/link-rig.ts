// The real link of a node with a real journal, a slot and commands of the test, against a scripted control plane.
import type { Test } from 'tap';
import { Journal } from '#node-daemon/journal/journal.ts';
import type { CommandAnswer, LinkCommand } from '#node-daemon/link/command-handler.ts';
import { ControlLink } from '#node-daemon/link/control-link.ts';
import type { Identity } from '#node-daemon/link/identity.ts';
import { type Clock, systemClock } from '#shared/clock.ts';
import type { Fact } from '#shared/link/messages.ts';
import type { Slot } from '#shared/link/slot.ts';
import { silentLogger } from '#shared/log.ts';
import { newKey } from '../../fixtures/nodes/enrolled-node.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { ScriptedControlPlane } from './scripted-control-plane.ts';

export const SLOT: Slot = {
  slot: 'm0',
  state: 'registered',
  device_id: '350000000000017',
  iccid: '8901000000000000017',
  number: null,
  operator: null,
  signal_dbm: null,
  model: 'EC25',
  usb_path: '1-1.2',
  reason: null,
  storage: null,
  swept_at: null,
};

export const receivedFact = (body: string): Fact => ({
  kind: 'sms_received',
  iccid: '8901000000000000017',
  from: '+15550000012',
  body,
  sent_at: null,
  received_at: '2026-11-21T08:00:00.000Z',
  partial: false,
});

/** An identity that a test changes by hand. */
class ScriptedIdentity {
  #current: Identity | undefined;
  #handler: () => void = () => undefined;

  constructor(current: Identity | undefined) {
    this.#current = current;
  }

  get current(): Identity | undefined {
    return this.#current;
  }

  onChange(handler: () => void): void {
    this.#handler = handler;
  }

  change(current: Identity | undefined): void {
    this.#current = current;
    this.#handler();
  }
}

/** The steps of a test before there is a link: `journal` is as an earlier process left it. */
type Prepare = (plane: ScriptedControlPlane, journal: Journal) => unknown;

export async function createLink(t: Test, prepare: Prepare = () => undefined, time: Clock = systemClock) {
  const folder = temporaryFolder(t);
  const plane = await ScriptedControlPlane.start();
  const journal = await Journal.open({ folder, clock: systemClock, log: silentLogger });
  await prepare(plane, journal);
  const slots = [SLOT];
  const alarms: string[] = [];
  const commands: LinkCommand[] = [];
  /** Waits of the link that are longer than a test, as they were asked for. */
  const longWaits: number[] = [];
  /** By how much the clock of this node is wrong. */
  let clockOffsetMs = 0;
  const clock: Clock = {
    now: () => time.now() + clockOffsetMs,
    after(delayMs, callback) {
      if (delayMs >= 30_000) longWaits.push(delayMs);
      return time.after(delayMs, callback);
    },
  };
  let answer: (command: LinkCommand) => Promise<CommandAnswer> = async () => ({ ok: true, result: {} });
  const identity = new ScriptedIdentity({ nodeId: 'n-1', controlPlaneUrl: plane.url, key: newKey() });
  const link = new ControlLink({
    random: Math.random,
    identity,
    journal,
    clock,
    log: silentLogger,
    alarms: () => alarms,
    slots: () => slots,
    commands: {
      handle: (command) => {
        commands.push(command);
        return answer(command);
      },
    },
  });
  t.teardown(async () => {
    await link.stop();
    await plane.stop();
    await journal.close();
  });
  return {
    plane,
    journal,
    link,
    slots,
    alarms,
    commands,
    longWaits,
    identity,
    append: (...bodies: string[]) =>
      journal.append(...bodies.map((body) => ({ kind: 'fact' as const, fact: receivedFact(body) }))),
    sequences: (): number[] => plane.facts.map(({ sequence }) => sequence),
    linked: (count = 1) => until('a link', () => plane.framesOf('hello').length >= count),
    setAnswer(next: typeof answer): void {
      answer = next;
    },
    setClockOffset(ms: number): void {
      clockOffsetMs = ms;
    },
  };
}

/** The same, started. */
export async function startLink(t: Test, prepare?: Prepare, time?: Clock) {
  const rig = await createLink(t, prepare, time);
  rig.link.start();
  return rig;
}
