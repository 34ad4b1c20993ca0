// A channel over a scripted port that answers AT and AT+CMEE?, and commands for it.
import { AtChannel } from '#node-daemon/at/channel.ts';
import { atQuery } from '#node-daemon/at/command.ts';
import type { Urc } from '#node-daemon/at/urc.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { lines, ScriptedPort } from '../../fixtures/nodes/scripted-port.ts';

export function setUp() {
  const port = new ScriptedPort();
  const clock = new ManualClock(0);
  const channel = new AtChannel(port, clock, silentLogger);
  const urcs: Urc[] = [];
  channel.onUrc((urc) => urcs.push(urc));
  port.on(/^AT$/, lines('OK')).on(/^AT\+CMEE\?$/, lines('+CMEE: 1', 'OK'));
  return { port, clock, channel, urcs };
}

export const csq = atQuery('AT+CSQ', '+CSQ:');
export const submit = atQuery('AT+CMGS=15', '+CMGS:', { body: '0011', timeoutMs: 60_000 });

export const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch((error: unknown) => error);
