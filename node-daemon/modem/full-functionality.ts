// Turns the radio on, in case a process turned it off and was then killed (3GPP TS 27.007 §8.2).
import { ask } from '../at/ask.ts';
import type { AtChannel } from '../at/channel.ts';
import { atCommand } from '../at/command.ts';
import { fieldsOf, integerField } from '../at/fields.ts';

const FULL = 1;
/** SIM and radio start within seconds. After that the session waits as for a busy SIM. */
const SETTLE_CHECKS = 5;
const SETTLE_CHECK_MS = 1_000;

/**
 * Turns on the modem's full functionality unless the modem reports it. A modem that does not support this
 * command is left as it is. Rejects with `AtTimeoutError` and `PortClosedError`.
 */
export async function setFullFunctionality(
  channel: AtChannel,
  pause: (delayMs: number) => Promise<void>,
): Promise<void> {
  if ((await readFunctionality(channel)) === FULL) return;
  if ((await ask(channel, atCommand('AT+CFUN=1'))) === undefined) return;
  for (let checks = 0; checks < SETTLE_CHECKS; checks += 1) {
    await pause(SETTLE_CHECK_MS);
    if ((await readFunctionality(channel)) === FULL) return;
  }
}

async function readFunctionality(channel: AtChannel): Promise<number | undefined> {
  const command = atCommand('AT+CFUN?', { answer: /^\+CFUN:/, answerSingle: true });
  const [line = ''] = (await ask(channel, command)) ?? [];
  return integerField(fieldsOf(line), 0);
}
