// A behavior: a family of commands that a modem answers.
import type { Answer } from '../at/answer.ts';
import { CME, CommandRefusal, cme, ok } from '../at/answer.ts';
import type { AtCommand } from '../at/at-line.ts';
import type { PortSettings } from '../at/settings.ts';
import type { MobileEquipment } from '../equipment/mobile-equipment.ts';

/** The equipment and the port of a command. */
export interface CommandContext {
  equipment: MobileEquipment;
  /** Settings of the port that the command came in on. */
  port: PortSettings;
}

export interface Behavior {
  /** Name of the family, as lists show it. */
  name: string;
  /** Names of its commands, such as `+CMGF`; absent in a behavior that decides by itself. */
  commands?: readonly string[];
  /** `undefined` leaves the command to the next behavior. May throw `CommandRefusal`. */
  answer(command: AtCommand, context: CommandContext): Answer | Promise<Answer> | undefined;
}

/** Answers one command; `undefined` leaves it to the next behavior. */
export type CommandHandler = (
  command: AtCommand,
  context: CommandContext,
) => Answer | Promise<Answer> | undefined;

/** A behavior made of one handler for each command name. */
export function commandFamily(name: string, handlers: Readonly<Record<string, CommandHandler>>): Behavior {
  const byName = new Map(Object.entries(handlers));
  return {
    name,
    commands: [...byName.keys()],
    answer: (command, context) => byName.get(command.name)?.(command, context),
  };
}

/** The four forms of an extended command (3GPP TS 27.007 §4.2). Without `test` that form answers OK, without another an error. */
interface CommandForms {
  execute?: CommandHandler;
  set?: CommandHandler;
  read?: CommandHandler;
  test?: CommandHandler;
}

/** A handler that picks by form. */
export function forms(handlers: CommandForms): CommandHandler {
  return (command, context) =>
    handlers[command.operation]?.(command, context) ??
    (command.operation === 'test' ? ok() : cme(CME.incorrectParameters));
}

/** The allowed values of a number. */
interface NumberRange {
  min: number;
  max: number;
  /** Value of an omitted parameter; without it the parameter is required. */
  fallback?: number;
  /** Answer to a bad value. */
  refusal?: Answer;
}

/** Parameter `index` as a whole number in range. Throws `CommandRefusal`. */
export function numberParameter(command: AtCommand, index: number, range: NumberRange): number {
  const text = command.parameters[index] ?? '';
  if (text === '' && range.fallback !== undefined) return range.fallback;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.min && value <= range.max) return value;
  throw new CommandRefusal(range.refusal ?? cme(CME.incorrectParameters));
}

/** Parameter `index` as text; `undefined` when omitted. */
export function textParameter(command: AtCommand, index: number): string | undefined {
  return command.parameters[index] || undefined;
}
