// Runs commands of the control plane: checks them, tries each at most once, and answers repeated ones from the journal.
import type { Clock } from '#shared/clock.ts';
import { problemOfDestination } from '#shared/destination.ts';
import { DEFAULT_DESTINATIONS, type Destinations } from '#shared/destination-list.ts';
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import type { CommandErrorCode } from '#shared/link/frame.ts';
import {
  type CommandName,
  type CommandParams,
  commandSchemas,
  type SmsOutcome,
} from '#shared/link/messages.ts';
import type { Logger } from '#shared/log.ts';
import type { DialOutcome } from '#shared/voice/call.ts';
import type { LiveSimSettings } from '../config/live-sim-settings.ts';
import type { CommandState } from '../journal/command-map.ts';
import type { Journal } from '../journal/journal.ts';
import type { Rack } from '../modem/rack.ts';
import { TAKES_PIN } from '../modem/sim/sim-pin.ts';
import type { SendLimits } from '../modem/sms/send-limits.ts';
import { NODE_STOPPED } from '../modem/sms/unfinished-commands.ts';
import type { CallRegistry } from '../voice/call-registry.ts';
import type { MediaEnd, MediaEvents, Telephone } from '../voice/telephone.ts';
import type { PinBox } from './pin-box.ts';
import { RecentIds } from './recent-ids.ts';
import { SLOT_WORDS } from './slot-words.ts';

/** A command from the link. */
export interface LinkCommand {
  readonly id: string;
  readonly name: string;
  readonly params: unknown;
  /** See the frame `command`. */
  readonly timeLeftMs: number;
  /** As in `SendRequest`. */
  readonly digest?: string;
}

/** The answer to a command: a result, or a refusal of a command that was not tried. */
export type CommandAnswer =
  | { readonly ok: true; readonly result: unknown }
  | {
      readonly ok: false;
      readonly code: CommandErrorCode;
      readonly message: string;
      /** With `rate_limited`: the time until another command may pass. */
      readonly retryAfterMs?: number | undefined;
    };

/** The parts that commands act on. */
interface CommandHandlerParts {
  readonly rack: Pick<Rack, 'find' | 'inSlot'>;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
  readonly calls?: Pick<CallRegistry, 'find' | 'isDraining'> | undefined;
  /** Opens a media link at a base URL, or at that of the control link. */
  readonly openMedia?:
    | ((baseUrl: string | null, ticket: string, events: MediaEvents) => Promise<MediaEnd>)
    | undefined;
  /** The operator's limits. Default: none. */
  readonly limits?: SendLimits | undefined;
  /** Opens the PINs of the control plane, and keeps them. Default: the node takes none. */
  readonly pins?: { box: Pick<PinBox, 'open'>; sims: Pick<LiveSimSettings, 'addCentral'> } | undefined;
  /** Allowed destinations of texts and calls. Default: the US and its territories. */
  readonly destinations?: Destinations | undefined;
}

/** Exists as long as the daemon, because a command may outlast a link. */
export class CommandHandler {
  readonly #parts: CommandHandlerParts;
  readonly #underWay = new Map<string, Promise<SmsOutcome>>();
  /** Outcomes that the disk refused and that the outbox still tries to record. */
  readonly #unrecorded = new Map<string, SmsOutcome>();
  /** Ids that the server counts as never sent. */
  readonly #refused: RecentIds;
  /** Ids of other commands. One that a stranger recorded and sent again has no effect. */
  readonly #tried: RecentIds;
  readonly #running = new Map<string, Promise<unknown>>();
  /** Allowed destinations that were used lately: people answer each other, and a check costs a twentieth of a text. */
  readonly #allowed = new Set<string>();

  constructor(parts: CommandHandlerParts) {
    this.#parts = parts;
    this.#refused = new RecentIds(parts.clock);
    this.#tried = new RecentIds(parts.clock);
  }

  /** Answers one command; never rejects. */
  async handle(command: LinkCommand): Promise<CommandAnswer> {
    try {
      return { ok: true, result: await this.#run(command) };
    } catch (error) {
      if (error instanceof CommandRefusal) {
        const { code, message, retryAfterMs } = error;
        return { ok: false, code, message: message.slice(0, 512), retryAfterMs };
      }
      this.#parts.log.error(
        { err: error, command: command.id },
        'a command failed because of an internal error',
      );
      return { ok: false, code: 'slot_unavailable', message: 'The node failed. Try again.' };
    }
  }

  #run(command: LinkCommand): Promise<unknown> {
    // The journal has the outcomes of texts.
    if (command.name === 'send_sms') return this.#sendSms(command, paramsOf('send_sms', command.params));
    return this.#once(command.id, () => this.#perform(command));
  }

  /** One that comes again while it runs has the same answer: a refusal would mean that it was never tried. */
  async #once(id: string, perform: () => Promise<unknown>): Promise<unknown> {
    const running = this.#running.get(id);
    if (running !== undefined) return running;
    if (this.#tried.has(id))
      throw new CommandRefusal('params_invalid', 'id: a command with this id was tried before');
    this.#tried.add(id);
    const answer = perform().finally(() => this.#running.delete(id));
    this.#running.set(id, answer);
    return answer;
  }

  async #perform(command: LinkCommand): Promise<unknown> {
    switch (command.name) {
      case 'bind_sim':
        return this.#bindSim(paramsOf('bind_sim', command.params));
      case 'dial':
        return this.#dial(command, paramsOf('dial', command.params));
      case 'answer':
        return this.#telephoneOf(paramsOf('answer', command.params)).answer().then(nothing);
      case 'hang_up':
        return this.#hangUp(paramsOf('hang_up', command.params)).then(nothing);
      case 'open_media':
        return this.#openMedia(paramsOf('open_media', command.params)).then(nothing);
      case 'restart_modem':
        return this.#restartModem(paramsOf('restart_modem', command.params)).then(nothing);
      case 'unlock_sim':
        return this.#unlockSim(paramsOf('unlock_sim', command.params)).then(nothing);
      default:
        throw new CommandRefusal('command_unknown', 'This version of the node does not support the command.');
    }
  }

  async #restartModem({ slot, force }: CommandParams<'restart_modem'>): Promise<void> {
    const modem = this.#parts.rack.inSlot(slot);
    if (modem === undefined) throw new CommandRefusal('slot_unavailable', `Slot ${slot} has no modem.`);
    await modem.restart({ force });
  }

  /** The session of the modem tries the PIN, by the rules of `enterPin`. */
  async #unlockSim({ iccid, sealed_pin: sealed }: CommandParams<'unlock_sim'>): Promise<void> {
    const { pins } = this.#parts;
    if (pins === undefined)
      throw new CommandRefusal('command_unknown', 'This node takes no PINs of the control plane.');
    const modem = this.#modemOf(iccid);
    const { reason, state } = modem.slot;
    if (state !== 'sim_locked' || reason === null || !TAKES_PIN.has(reason))
      throw new CommandRefusal('slot_unavailable', `The slot is ${state} (${reason ?? 'in service'}).`);
    const opened = await pins.box.open(sealed);
    if (opened === undefined || opened.iccid !== iccid)
      throw new CommandRefusal('params_invalid', 'sealed_pin: is not sealed for this node and this SIM');
    if (!pins.sims.addCentral(iccid, opened.pin))
      throw new CommandRefusal(
        'slot_unavailable',
        "The node's configuration file has a PIN for the SIM: it is used instead.",
      );
    modem.simsChanged();
  }

  #hangUp(params: CommandParams<'hang_up'>): Promise<void> {
    return this.#telephoneOf(params).hangUp(params.reason);
  }

  async #dial({ timeLeftMs }: LinkCommand, params: CommandParams<'dial'>): Promise<DialOutcome> {
    if (timeLeftMs === 0) throw new CommandRefusal('deadline_passed', 'The deadline has passed.');
    if (this.#parts.calls?.isDraining === true)
      throw new CommandRefusal('slot_unavailable', 'The node is stopping.');
    this.#checkDestination(params.to);
    const modem = this.#modemOf(params.iccid);
    const { telephone } = modem;
    if (telephone === undefined) throw new CommandRefusal('slot_unavailable', SLOT_WORDS[modem.slot.state]);
    return await telephone.dial(params.call_id, params.to);
  }

  #checkDestination(to: string): void {
    if (this.#allowed.has(to)) return;
    const problem = problemOfDestination(to, this.#parts.destinations ?? DEFAULT_DESTINATIONS);
    if (problem === undefined) {
      if (this.#allowed.size >= ALLOWED_MAX) this.#allowed.clear();
      this.#allowed.add(to);
      return;
    }
    const { kind, message } = problem;
    throw new CommandRefusal(kind === 'malformed' ? 'params_invalid' : 'destination_not_allowed', message);
  }

  #modemOf(iccid: string) {
    const modem = this.#parts.rack.find(iccid);
    if (modem === undefined) throw new CommandRefusal('sim_absent', 'No slot of the node has the SIM.');
    return modem;
  }

  #telephoneOf({ call_id: callId }: { call_id: string }): Telephone {
    const telephone = this.#parts.calls?.find(callId);
    if (telephone === undefined)
      throw new CommandRefusal('call_unknown', 'The call does not exist or has ended.');
    return telephone;
  }

  async #openMedia(params: CommandParams<'open_media'>): Promise<void> {
    const telephone = this.#telephoneOf(params);
    const { openMedia } = this.#parts;
    if (openMedia === undefined)
      throw new CommandRefusal('slot_unavailable', 'This node does not support call audio.');
    await telephone.attach(params.call_id, (events) => openMedia(params.base_url, params.ticket, events));
  }

  async #bindSim({ iccid }: CommandParams<'bind_sim'>): Promise<Record<string, never>> {
    const { state } = this.#modemOf(iccid).slot;
    if (state !== 'registered') throw new CommandRefusal('slot_unavailable', SLOT_WORDS[state]);
    return {};
  }

  async #sendSms(command: LinkCommand, params: CommandParams<'send_sms'>): Promise<SmsOutcome> {
    const { id: commandId, timeLeftMs } = command;
    const underWay = this.#underWay.get(commandId);
    if (underWay !== undefined) return await underWay;
    const known = this.#parts.journal.state.commands.get(commandId);
    if (known !== undefined) return this.#recorded(commandId, known);
    if (timeLeftMs === 0) this.#refused.add(commandId);
    if (this.#refused.has(commandId)) throw new CommandRefusal('deadline_passed', 'The deadline has passed.');
    this.#checkDestination(params.to);
    const modem = this.#modemOf(params.iccid);
    const { outbox } = modem;
    if (outbox === undefined) throw new CommandRefusal('slot_unavailable', SLOT_WORDS[modem.slot.state]);
    const now = this.#parts.clock.now();
    const takeBack = this.#parts.limits?.admit(params.iccid, params.to, now);
    const sending = outbox
      .send({ commandId, params, deadlineAt: now + timeLeftMs, digest: command.digest })
      .finally(() => this.#underWay.delete(commandId));
    this.#underWay.set(commandId, sending);
    try {
      const outcome = await sending;
      this.#noteUnrecorded(commandId, outcome);
      return outcome;
    } catch (refusal) {
      takeBack?.();
      throw refusal;
    }
  }

  #noteUnrecorded(commandId: string, outcome: SmsOutcome): void {
    const { commands } = this.#parts.journal.state;
    if (commands.get(commandId)?.outcome !== undefined) return;
    for (const recorded of this.#unrecorded.keys()) {
      if (commands.get(recorded)?.outcome !== undefined) this.#unrecorded.delete(recorded);
    }
    this.#unrecorded.set(commandId, outcome);
  }

  /** Returns the outcome of a command that was tried before. It must not be refused, because a refused command counts as never tried. */
  #recorded(commandId: string, { at, outcome }: CommandState): SmsOutcome {
    if (outcome === undefined) {
      return this.#unrecorded.get(commandId) ?? { status: 'unknown', message: NODE_STOPPED, at };
    }
    this.#unrecorded.delete(commandId);
    return outcome;
  }
}

/** About 100 kB. */
const ALLOWED_MAX = 1_000;

const nothing = (): Record<string, never> => ({});

function paramsOf<N extends CommandName>(name: N, params: unknown): CommandParams<N> {
  const parsed = commandSchemas[name].safeParse(params);
  if (parsed.success) return parsed.data as CommandParams<N>;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') ?? '';
  throw new CommandRefusal('params_invalid', `${where}: ${issue?.message ?? 'invalid'}`);
}
