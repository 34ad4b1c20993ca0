// Switches the radio on again, in case a process that switched it off was killed before it did (3GPP TS 27.007 §8.2).
import { ask } from '../at/ask.ts';
import type { AtChannel } from '../at/channel.ts';
import { atCommand } from '../at/command.ts';
import { fieldsOf, integerField } from '../at/fields.ts';

const FULL = 1;
/** SIM and radio come up within seconds. For longer delays the session waits as for a busy SIM. */
const SETTLE_CHECKS = 5;
const SETTLE_CHECK_MS = 1_000;

/**
 * Gives the modem its full functionality unless it says that it has it. A modem that knows nothing of this is
 * left as it is. Rejects with `AtTimeoutError` and `PortClosedError`.
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
