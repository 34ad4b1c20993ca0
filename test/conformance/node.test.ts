// The node's half of the link: every scenario with frames of a control plane against the real link of a daemon.
import t, { type Test } from 'tap';
import { CommandHandler } from '#node-daemon/link/command-handler.ts';
import { systemClock } from '#shared/clock.ts';
import type { NodeFrame } from '#shared/link/frame.ts';
import type { Slot } from '#shared/link/slot.ts';
import { silentLogger } from '#shared/log.ts';
import { until } from '../fixtures/until.ts';
import { createLink } from '../node-daemon/link/link-rig.ts';
import { blankOpenValues, fillOpenValues } from './match-frame.ts';
import { DEPTH, SCENARIOS, type Scenario, type Step, slot } from './scenarios.ts';

const OPEN_VALUES = {
  heartbeat_ms: 60_000,
  stream_hold_ms: 5_000,
  window: 8,
  id: 'c1',
  time_left_ms: 1_000,
  within_ms: 2_000,
};

type Rig = Awaited<ReturnType<typeof createLink>>;

/** Makes a node send a frame. */
async function provoke({ journal, link, slots, alarms }: Rig, frame: NodeFrame): Promise<void> {
  if (frame.type === 'hello') link.start();
  if (frame.type === 'fact') await journal.append({ kind: 'fact', fact: frame.fact });
  if (frame.type === 'event') link.sendEvent(frame.event);
  if (frame.type === 'call') link.callChanged(frame.call);
  if (frame.type === 'slots') {
    slots.splice(0, slots.length, ...frame.slots);
    alarms.push(...frame.alarms);
    link.slotsChanged();
  }
}

/** Answers the command that comes next as the step after it says. */
function prepareAnswer({ setAnswer, journal }: Rig, frame: NodeFrame | undefined): void {
  const handler = new CommandHandler({
    rack: { find: () => undefined, inSlot: () => undefined },
    journal,
    clock: systemClock,
    log: silentLogger,
  });
  setAnswer(async (command) => {
    if (frame?.type === 'result') return { ok: true, result: frame.result };
    if (frame?.type !== 'refusal' || command.name !== 'send_sms') return handler.handle(command);
    const { code, message, retry_after_ms: retryAfterMs } = frame;
    return { ok: false, code, message, retryAfterMs };
  });
}

const frameOf = (step: Step | undefined): NodeFrame | undefined =>
  step !== undefined && 'frame' in step && step.from === 'node' ? (step.frame as NodeFrame) : undefined;

async function play(t: Test, scenario: Scenario): Promise<void> {
  const rig = await createLink(t, (plane) => {
    plane.welcome = () => undefined;
    plane.acknowledges = false;
  });
  const { plane, slots } = rig;
  slots.splice(0, slots.length, slot() as Slot);
  // Sent once by itself when the link is up: what changed since the hello.
  const afterWelcome = { type: 'slots', slots: [slot()], alarms: [], ...DEPTH };
  let read = 0;
  const next = async (what: string): Promise<unknown> => {
    for (;;) {
      await until(what, () => plane.texts.length > read);
      const frame: unknown = JSON.parse(String(plane.texts[read]));
      read += 1;
      if (JSON.stringify(blankOpenValues(frame, afterWelcome)) !== JSON.stringify(afterWelcome)) return frame;
    }
  };
  for (const [index, step] of scenario.steps.entries()) {
    if ('closes' in step) {
      await until(`close code ${step.code}`, () => plane.closes.length > 0);
      t.equal(plane.closes[0]?.code, step.code);
    } else if (step.from === 'server') {
      prepareAnswer(rig, frameOf(scenario.steps[index + 1]));
      plane.socket?.send(
        'text' in step ? step.text : JSON.stringify(fillOpenValues(step.frame, OPEN_VALUES)),
      );
      if ('frame' in step && step.frame.type === 'welcome') {
        await until('the link is up', () => plane.framesOf('slots').length > 0);
      }
      if ('frame' in step && step.frame.type === 'drain') {
        await until('a second link', () => plane.upgrades.length === 2);
        t.equal(plane.closes.length, 0, 'before the first is left');
      }
    } else if ('frame' in step) {
      const stimulus = frameOf(step);
      if (stimulus !== undefined) await provoke(rig, stimulus);
      const frame = await next(step.frame.type);
      t.strictSame(blankOpenValues(frame, step.frame), step.frame, `${step.frame.type}, exactly`);
    }
  }
}

for (const scenario of SCENARIOS)
  if (scenario.only !== 'server') t.test(scenario.name, (t) => play(t, scenario));
