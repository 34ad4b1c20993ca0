// Faults that spoil the answer to a command: wrong, late, lost, noisy.
import { type Clock, sleep } from '#shared/clock.ts';
import { type Answer, CMS, CommandRefusal, cme, cms, type Prompt } from '../at/answer.ts';
import type { AtCommand } from '../at/at-line.ts';
import { JournalError } from '../state/rack-journal.ts';
import type { FaultSet } from './fault-set.ts';

/** Commands that put a message on the air. */
const SEND_COMMANDS = ['+CMGS', '+CMSS'];

/** A command about to be carried out. */
interface Attempt {
  command: AtCommand;
  answer: () => Answer | Promise<Answer>;
  /** Aborted when the modem loses power. */
  signal: AbortSignal;
  /** Called for errors of the simulator itself. */
  onFailure: (error: unknown) => void;
}

/** The faults of one modem as they act on answers. */
export interface AnswerFaults {
  /** The command's answer with the faults of the moment. Never throws or rejects. */
  applyTo(attempt: Attempt): Answer | Promise<Answer>;
  /** Bytes to send in front of an answer. */
  noise(): Buffer | undefined;
  /** A line to send in the middle of an answer. */
  intruder(): string | undefined;
  /** How long the answer to come waits for the next command. */
  latenessMs(): number | undefined;
}

/** Each strike of a fault uses up one of its count. */
export function answerFaultsOf(faults: FaultSet, clock: Clock): AnswerFaults {
  return {
    noise: () => {
      const hex = faults.take('garbage')?.hex;
      return hex === undefined ? undefined : Buffer.from(hex, 'hex');
    },
    intruder: () => faults.take('urc_mid_answer')?.line,
    latenessMs: () => faults.take('late_answer')?.ms,
    applyTo: (attempt) => {
      const given = errorInstead(faults, attempt.command) ?? answered(attempt, attempt.answer);
      const answer = mapAnswer(given, (value) => spoiled(faults, attempt, value));
      const delayMs = faults.take('slow_answer')?.ms;
      if (delayMs === undefined) return answer;
      return sleep(clock, delayMs, attempt.signal).then(
        () => answer,
        () => ({ kind: 'nothing' }),
      );
    },
  };
}

/** Refusals that come before the command is carried out. */
function errorInstead(faults: FaultSet, command: AtCommand): Answer | undefined {
  const cmeFault = faults.get('cme_error');
  const isHit = cmeFault?.command === undefined ? command.name.length > 1 : cmeFault.command === command.name;
  if (cmeFault !== undefined && isHit) {
    faults.take('cme_error');
    return cme(cmeFault.code);
  }
  const cmsFault = faults.get('cms_error');
  if (cmsFault?.command !== command.name || SEND_COMMANDS.includes(command.name)) return undefined;
  faults.take('cms_error');
  return cms(cmsFault.code);
}

/** Turns what a behavior throws into an answer. */
function answered(attempt: Attempt, answer: () => Answer | Promise<Answer>): Answer | Promise<Answer> {
  try {
    const given = answer();
    return given instanceof Promise ? given.catch((error) => answerTo(error, attempt)) : given;
  } catch (error) {
    return answerTo(error, attempt);
  }
}

function answerTo(error: unknown, attempt: Attempt): Answer {
  if (error instanceof CommandRefusal) return error.answer;
  attempt.onFailure(error);
  return cms(error instanceof JournalError ? CMS.memoryFailure : CMS.unknownError);
}

function mapAnswer(
  given: Answer | Promise<Answer>,
  map: (answer: Answer) => Answer,
): Answer | Promise<Answer> {
  return given instanceof Promise ? given.then(map) : map(given);
}

/** A prompt is guarded in its turn: what follows the body can fail and be lost, too. */
function spoiled(faults: FaultSet, attempt: Attempt, answer: Answer): Answer {
  const { command } = attempt;
  if (command.name === '+CMSS' && command.operation === 'set') return withoutLostResult(faults, answer);
  if (answer.kind !== 'prompt') return answer;
  const failure = SEND_COMMANDS.includes(command.name) ? faults.take('error_after_prompt') : undefined;
  const prompt: Prompt = {
    ...answer,
    ...(failure === undefined
      ? {}
      : { failure: { afterCharacters: failure.after_characters, answer: cms(failure.code) } }),
    isShown: faults.take('lose_prompt') === undefined,
    complete: (body) => {
      const given = answered(attempt, () => answer.complete(body));
      if (!SEND_COMMANDS.includes(command.name)) return given;
      return mapAnswer(given, (result) => withoutLostResult(faults, result));
    },
  };
  return prompt;
}

function withoutLostResult(faults: FaultSet, result: Answer): Answer {
  if (result.kind !== 'ok') return result;
  return faults.take('lose_result') === undefined ? result : { kind: 'nothing' };
}
