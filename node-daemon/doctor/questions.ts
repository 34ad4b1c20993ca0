// Sends a modem the queries that the checks need, one at a time.
import { messageOf } from '#shared/error-message.ts';
import { OperatorError } from '#shared/operator/operator-error.ts';
import { findProfile } from '../profiles/find-profile.ts';
import type { UsbId } from '../usb/usb-device.ts';
import { REGISTRATION_QUERIES } from './checks/network.ts';
import { diagnosisOf } from './makes/find-diagnosis.ts';
import { type AskModem, type ModemAnswer, ModemView } from './seen/slot-view.ts';

const IDENTIFICATION = ['ATI', 'AT+CGMI', 'AT+CGMM', 'AT+CGMR'] as const;
/** 3GPP TS 27.007 and 27.005. */
const STANDARD = [
  'AT+CFUN?',
  'AT+CPIN?',
  ...REGISTRATION_QUERIES,
  'AT+CEER',
  'AT+COPS?',
  'AT+CSQ',
  'AT+CESQ',
  'AT+CPMS?',
  'AT+CSCA?',
  'AT+CCLK?',
  'AT+CNUM',
] as const;
/** A query was not made. */
class OutOfTime extends Error {}

/** Doctor stops after this many unanswered queries in a row. */
const UNANSWERED_MAX = 2;

/**
 * Returns the modem's answers to all queries, or to those before the signal, or before the modem was busy. Rejects with the last query's
 * error when the modem stops answering, or is busy from the start. Rejects, too, if the modem had not identified itself before the signal.
 */
export async function askAll(
  ask: AskModem,
  { usbId, signal }: { usbId: UsbId | undefined; signal: AbortSignal },
): Promise<ModemView> {
  const answers = new Map<string, ModemAnswer>();
  let unanswered = 0;
  const unansweredQueries: string[] = [];
  const put = async (command: string): Promise<void> => {
    if (signal.aborted) throw new OutOfTime('it answers slowly, and the time for its queries is over');
    try {
      answers.set(command, await ask(command));
      unanswered = 0;
    } catch (error) {
      if (isUntried(error)) throw error;
      unanswered += 1;
      unansweredQueries.push(command);
      if (unanswered >= UNANSWERED_MAX) throw new Error(messageOf(error), { cause: error });
    }
  };
  for (const command of IDENTIFICATION) await put(command);
  const identification = IDENTIFICATION.slice(0, 2).flatMap((command) => answers.get(command)?.lines ?? []);
  const profile = findProfile(identification, usbId);
  const askFurther = async (): Promise<void> => {
    for (const command of STANDARD) await put(command);
    for (const command of profile.iccidCommands) {
      await put(command);
      if ((answers.get(command)?.lines.length ?? 0) > 0) break;
    }
    if (profile.pinTries !== undefined) await put(profile.pinTries.command);
    for (const command of diagnosisOf(profile).questions) await put(command);
  };
  try {
    await askFurther();
  } catch (error) {
    const isOutOfTime = error instanceof OutOfTime;
    if (!isOutOfTime && !isUntried(error)) throw error;
    // One that did not answer the last query is mute, and not slow.
    if (!isOutOfTime || unanswered === 0)
      return new ModemView(profile, answers, { notAsked: messageOf(error) });
  }
  return new ModemView(profile, answers, { unanswered: unansweredQueries, isMute: unanswered > 0 });
}

/** The daemon answered that the modem did not get the query: it works on a long command, or is being set up. */
export function isUntried(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof OperatorError && cause.reason !== 'unanswered';
}
