// Answers an operator on the modems that this process has: in the daemon, and in a tool that found none.
import type { SmsOutcome } from '#shared/link/messages.ts';
import { closest } from '#shared/process/suggestion.ts';
import { AtError, AtTimeoutError, CmeError, PortClosedError } from '../at/at-error.ts';
import type { Host } from '../host/host.ts';
import type { CommandHandler } from '../link/command-handler.ts';
import type { Modem } from '../modem/modem.ts';
import { UssdBusyError, UssdCancelledError, UssdTimeoutError } from '../modem/network/ussd.ts';
import { SendingError } from '../modem/outside-change.ts';
import type { ModemSession } from '../modem/session.ts';
import { cmeMeaning } from '../modem/sms/sms-errors.ts';
import { askModem } from './at-answer.ts';
import { judge } from './at-safety.ts';
import type {
  AtAnswer,
  DeskAnswers,
  DeskStreams,
  NodeDesk,
  SendAnswer,
  SlotMessages,
  UssdAnswer,
} from './desk.ts';
import { DeskError } from './desk-error.ts';
import {
  type CheckedInput,
  DESK_INPUTS,
  type DeskCall,
  type DeskInput,
  SEGMENTS_MAX,
} from './desk-inputs.ts';
import type { RecentLog } from './recent-log.ts';
import { digestOf, SentBefore } from './sent-before.ts';
import type { SlotActivity } from './slot-activity.ts';
import { slotMessages } from './slot-messages.ts';

/** A message waits no longer in the queue of its SIM. */
const SEND_WITHIN_MS = 60_000;
/** While everything changes at once, a watcher is notified this often. */
const WATCH_EVERY_MS = 200;

interface HostDeskParts {
  readonly host: Host;
  readonly commands: Pick<CommandHandler, 'handle'>;
  readonly activity: SlotActivity;
  /** Of the daemon. */
  readonly recentLog?: RecentLog | undefined;
  readonly onClose?: () => Promise<void>;
}

export class HostDesk implements NodeDesk {
  readonly isRunningDaemon: boolean = false;
  readonly #parts: HostDeskParts;
  readonly #sentBefore = new SentBefore(() => this.#parts.host.journal.state.commands);

  constructor(parts: HostDeskParts) {
    this.#parts = parts;
  }

  /** Checks each request, whatever its source. */
  async ask<C extends DeskCall>(call: C, input: DeskInput<C>, signal?: AbortSignal): Promise<DeskAnswers[C]> {
    const parsed = DESK_INPUTS[call].safeParse(input);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new DeskError('refused', issue?.message ?? `what is asked of ${call} cannot be`);
    }
    return (await this.#answers[call](parsed.data as never, signal)) as DeskAnswers[C];
  }

  async *follow<S extends keyof DeskStreams>(
    stream: S,
    { signal, isFollowed = true }: { signal: AbortSignal; isFollowed?: boolean },
  ): AsyncGenerator<DeskStreams[S]> {
    if (stream === 'watch') yield* this.#watch(signal) as AsyncIterable<DeskStreams[S]>;
    else yield* this.#logs(signal, isFollowed) as AsyncIterable<DeskStreams[S]>;
  }

  async close(): Promise<void> {
    this.#parts.activity.stop();
    await this.#parts.onClose?.();
  }

  readonly #answers: {
    [C in DeskCall]: (input: CheckedInput<C>, signal?: AbortSignal) => Promise<DeskAnswers[C]>;
  } = {
    slots: async () => this.#parts.host.rack.slots(),
    at: (input) => this.#at(input),
    send: (input) => this.#send(input),
    ussd: (input, signal) => this.#ussd(input, signal),
    messages: (input) => this.#messages(input),
  };

  #at({ slot, command, unsafe, timeout_ms: timeoutMs }: CheckedInput<'at'>): Promise<AtAnswer> {
    const verdict = judge(command);
    if (verdict.kind === 'never') {
      throw new DeskError('refused', `${verdict.command} is never given to a modem: ${verdict.reason}`);
    }
    if (verdict.kind === 'unsafe' && !unsafe) {
      const { command: name, hint } = verdict;
      const instead = hint === undefined ? '' : ` (${hint})`;
      throw new DeskError(
        'refused',
        `${name} may change something, or takes long${instead}: --unsafe gives it all the same`,
      );
    }
    const session = this.#session(slot);
    const ask = (): Promise<AtAnswer> => askModem(session.channel, command, timeoutMs);
    if (verdict.kind === 'safe') return ask();
    return session.changing(ask).catch((error) => {
      throw error instanceof SendingError ? new DeskError('unavailable', error.message, error) : error;
    });
  }

  #send({ slot, id, to, text }: CheckedInput<'send'>): Promise<SendAnswer> {
    const { commands, host } = this.#parts;
    const digest = host.journal.digestOf(digestOf(text));
    return this.#sentBefore.give(id, { to, digest }, async (isRepeat) => {
      // A message that was given before is known with any SIM in the slot now.
      const iccid = host.journal.state.commands.get(id)?.iccid ?? this.#modem(slot).slot.iccid;
      if (iccid === null) throw this.#notInService(slot);
      const answer = await commands.handle({
        id,
        name: 'send_sms',
        timeLeftMs: SEND_WITHIN_MS,
        digest,
        params: { iccid, to, body: text, segments_max: SEGMENTS_MAX },
      });
      if (answer.ok) return { ...(answer.result as SmsOutcome), is_repeat: isRepeat };
      const isOfInput = ['params_invalid', 'destination_not_allowed', 'rate_limited'].includes(answer.code);
      throw new DeskError(
        isOfInput ? 'refused' : 'unavailable',
        `not sent (${answer.code}): ${answer.message}`,
      );
    });
  }

  async #ussd(
    { slot, code, replies, timeout_ms: timeoutMs }: CheckedInput<'ussd'>,
    signal?: AbortSignal,
  ): Promise<UssdAnswer> {
    const { state } = this.#modem(slot).slot;
    if (state !== 'registered') throw this.#notInService(slot);
    try {
      return await this.#session(slot).ussd.run(code, replies, { timeoutMs, signal });
    } catch (error) {
      throw ussdError(error);
    }
  }

  async #messages({ slot }: CheckedInput<'messages'>): Promise<SlotMessages> {
    const { iccid } = this.#modem(slot).slot;
    const { inbox } = this.#session(slot);
    if (inbox === undefined || iccid === null) throw this.#notInService(slot);
    return slotMessages(await inbox.readAll(), iccid, this.#parts.host.journal.state);
  }

  async *#logs(signal: AbortSignal, isFollowed: boolean): AsyncGenerator<DeskStreams['logs']> {
    const { recentLog } = this.#parts;
    if (recentLog === undefined) {
      throw new DeskError(
        'unreachable',
        'no daemon runs here, and only a running one has its log; older lines: journalctl -u simrack-node-daemon',
      );
    }
    for await (const line of recentLog.lines(signal, isFollowed)) {
      yield JSON.parse(line) as DeskStreams['logs'];
    }
  }

  async *#watch(signal: AbortSignal): AsyncGenerator<DeskStreams['watch']> {
    const { activity, host } = this.#parts;
    let hasChanged = true;
    let wakeUp = (): void => undefined;
    const onChange = (): void => {
      hasChanged = true;
      wakeUp();
    };
    const forget = activity.onChange(onChange);
    signal.addEventListener('abort', onChange);
    try {
      while (!signal.aborted) {
        if (hasChanged) {
          hasChanged = false;
          yield activity.now;
          await new Promise<void>((resolve) => host.clock.after(WATCH_EVERY_MS, resolve));
        } else await new Promise<void>((resolve) => (wakeUp = resolve));
      }
    } finally {
      forget();
      signal.removeEventListener('abort', onChange);
    }
  }

  #modem(name: string): Modem {
    const { rack } = this.#parts.host;
    const modem = rack.inSlot(name);
    if (modem !== undefined) return modem;
    const names = rack.slots().map(({ slot }) => slot);
    if (names.includes(name)) throw new DeskError('unavailable', `${name}: no modem is in this slot`);
    const meant = closest(name, names);
    const known = names.length === 0 ? 'there are no slots' : `there are ${names.join(', ')}`;
    throw new DeskError(
      'refused',
      `there is no slot "${name}"; ${meant === undefined ? known : `did you mean ${meant}?`}`,
    );
  }

  #session(name: string): ModemSession {
    const { session } = this.#modem(name);
    if (session === undefined) throw this.#notInService(name);
    return session;
  }

  #notInService(name: string): DeskError {
    const { state, reason } = this.#modem(name).slot;
    return new DeskError('unavailable', `${name} is ${state}${reason === null ? '' : ` (${reason})`}`);
  }
}

function ussdError(error: unknown): DeskError {
  if (error instanceof UssdBusyError) return new DeskError('unavailable', error.message, error);
  if (error instanceof UssdCancelledError) return new DeskError('refused', error.message, error);
  if (error instanceof UssdTimeoutError) return new DeskError('unanswered', error.message, error);
  if (error instanceof CmeError) {
    return new DeskError('refused', `+CME ERROR: ${error.code} (${cmeMeaning(error.code).name})`, error);
  }
  if (error instanceof AtTimeoutError) return new DeskError('unanswered', error.message, error);
  if (error instanceof PortClosedError) return new DeskError('unavailable', 'the modem went away', error);
  if (error instanceof AtError) return new DeskError('refused', `the modem refuses: ${error.message}`, error);
  throw error;
}
