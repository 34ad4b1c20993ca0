// Commands of the control plane: checked, tried at most once, answered from the journal when repeated.
import type { Clock } from '#shared/clock.ts';
import type { CommandErrorCode } from '#shared/link/error-code.ts';
import {
  type CommandName,
  type CommandParams,
  commandSchemas,
  type SmsOutcome,
} from '#shared/link/messages.ts';
import type { Logger } from '#shared/log.ts';
import type { CommandState } from '../journal/command-map.ts';
import type { Journal } from '../journal/journal.ts';
import type { Rack } from '../modem/rack.ts';
import { CommandRefusal } from '../modem/refusal.ts';

/** A command as it came over the link. */
export interface LinkCommand {
  readonly id: string;
  readonly name: string;
  readonly params: unknown;
  /** See the frame `command`. */
  readonly timeLeftMs: number;
}

/** What goes back: a result, or a refusal of what was not tried. */
export type CommandAnswer =
  | { readonly ok: true; readonly result: unknown }
  | {
      readonly ok: false;
      readonly code: CommandErrorCode;
      readonly message: string;
      /** With `rate_limited`: when another command may pass. */
      readonly retryAfterMs?: number | undefined;
    };

/** What commands act on. */
export interface CommandHandlerParts {
  readonly rack: Pick<Rack, 'find'>;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
}

const LEFT_BEHIND = 'the node stopped while the modem had the message';

/** Lives as long as the daemon: links come and go over a command that is under way. */
export class CommandHandler {
  readonly #parts: CommandHandlerParts;
  readonly #underWay = new Map<string, Promise<SmsOutcome>>();
  /** Outcomes that the disk refused and the outbox still tries to record. */
  readonly #unrecorded = new Map<string, SmsOutcome>();

  constructor(parts: CommandHandlerParts) {
    this.#parts = parts;
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
      this.#parts.log.error({ err: error, command: command.id }, 'a command failed unexpectedly');
      return { ok: false, code: 'slot_unavailable', message: 'the node failed' };
    }
  }

  #run(command: LinkCommand): Promise<unknown> {
    switch (command.name) {
      case 'bind_sim':
        return this.#bindSim(paramsOf('bind_sim', command.params));
      case 'send_sms':
        return this.#sendSms(command, paramsOf('send_sms', command.params));
      default:
        throw new CommandRefusal('command_unknown', 'this node does not know the command');
    }
  }

  async #bindSim({ iccid }: CommandParams<'bind_sim'>): Promise<Record<string, never>> {
    const modem = this.#parts.rack.find(iccid);
    if (modem === undefined) throw new CommandRefusal('sim_absent', 'no slot holds the SIM');
    const { state } = modem.slot;
    if (state !== 'registered') throw new CommandRefusal('slot_unavailable', `the slot is ${state}`);
    return {};
  }

  async #sendSms(command: LinkCommand, params: CommandParams<'send_sms'>): Promise<SmsOutcome> {
    const { id: commandId, timeLeftMs } = command;
    const underWay = this.#underWay.get(commandId);
    if (underWay !== undefined) return await underWay;
    const known = this.#parts.journal.state.commands.get(commandId);
    if (known !== undefined) return this.#recorded(commandId, known);
    if (timeLeftMs === 0) throw new CommandRefusal('deadline_passed', 'the deadline is over');
    const modem = this.#parts.rack.find(params.iccid);
    if (modem === undefined) throw new CommandRefusal('sim_absent', 'no slot holds the SIM');
    const { outbox } = modem;
    if (outbox === undefined) throw new CommandRefusal('slot_unavailable', `the slot is ${modem.slot.state}`);
    const sending = outbox
      .send({ commandId, params, deadlineAt: this.#parts.clock.now() + timeLeftMs })
      .finally(() => this.#underWay.delete(commandId));
    this.#underWay.set(commandId, sending);
    const outcome = await sending;
    if (this.#parts.journal.state.commands.get(commandId)?.outcome === undefined) {
      this.#unrecorded.set(commandId, outcome);
    }
    return outcome;
  }

  /** The outcome of a command that was tried before. It must not be refused: refused is never tried. */
  #recorded(commandId: string, { at, outcome }: CommandState): SmsOutcome {
    if (outcome === undefined) {
      return this.#unrecorded.get(commandId) ?? { status: 'unknown', message: LEFT_BEHIND, at };
    }
    this.#unrecorded.delete(commandId);
    return outcome;
  }
}

function paramsOf<N extends CommandName>(name: N, params: unknown): CommandParams<N> {
  const parsed = commandSchemas[name].safeParse(params);
  if (parsed.success) return parsed.data as CommandParams<N>;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') ?? '';
  throw new CommandRefusal('params_invalid', `${where}: ${issue?.message ?? 'invalid'}`);
}

/** While the disk refuses the outcomes of an earlier process. */
const SETTLE_RETRY_MS = 5_000;

/**
 * Ends what an earlier process left behind: a command whose intent is journalled without an outcome may
 * or may not have reached the network, so that its outcome is `unknown`. Called before new commands are
 * taken. Resolves after the first attempt; where the disk refuses it is tried again.
 */
export async function settleIntents({
  journal,
  clock,
  log,
}: Omit<CommandHandlerParts, 'rack'>): Promise<void> {
  const at = new Date(clock.now()).toISOString();
  const outcome = {
    status: 'unknown' as const,
    message: LEFT_BEHIND,
    at,
  };
  const open = [...journal.state.commands].filter(([, command]) => command.outcome === undefined);
  const facts = open.map(([commandId]) => ({ kind: 'sms_outcome' as const, command_id: commandId, outcome }));
  if (facts.length === 0) return;
  const settle = async (): Promise<void> => {
    try {
      await journal.append(...facts.map((fact) => ({ kind: 'fact' as const, fact })));
      log.warn({ commands: facts.length }, 'commands of an earlier process have an unknown outcome');
    } catch (error) {
      log.error({ err: error }, 'outcomes of an earlier process are not journalled yet');
      if (!journal.isClosed) clock.after(SETTLE_RETRY_MS, () => void settle());
    }
  };
  await settle();
}
