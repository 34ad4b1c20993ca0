// Parses a command line, as a modem does (ITU-T V.250 §5). Pure.

/** The forms of a command: AT+X, AT+X=…, AT+X?, AT+X=?. */
type Operation = 'execute' | 'set' | 'read' | 'test';

export interface AtCommand {
  /** Upper case: "E", "&F", "S3", "D", "+CMGF", "^DSCI". */
  name: string;
  operation: Operation;
  /** The text after the name or the "=", unchanged: digits, a dial string, parameters. */
  value: string;
  /** `value` of an extended command, split at commas: without quotes, empty when omitted. */
  parameters: readonly string[];
}

/** §5.4.1: characters of an extended command's name. */
const EXTENDED_NAME = /^[+^$*%#][A-Z][A-Z0-9!%\-./:_]*/i;
const BASIC = /^(&?[A-Z])(\d*)/i;
const S_PARAMETER = /^(S\d+)(=(\d*)|\?)/i;

/**
 * Commands of a line, without the "AT". Returns `undefined` for a line that breaks the grammar. The modem must
 * not execute any part of it, since it does not know where the error starts.
 */
export function parseCommandLine(body: string): AtCommand[] | undefined {
  const commands: AtCommand[] = [];
  let rest = body.trimStart();
  while (rest !== '') {
    const step = nextCommand(rest);
    if (step === undefined) return undefined;
    commands.push(step.command);
    rest = step.rest.trimStart();
  }
  return commands;
}

interface Step {
  command: AtCommand;
  rest: string;
}

function nextCommand(text: string): Step | undefined {
  if (text.startsWith(';')) return nextCommand(text.slice(1).trimStart());
  if (EXTENDED_NAME.test(text)) return extendedCommand(text);
  if (/^D/i.test(text)) return dialCommand(text);
  return sParameter(text) ?? basicCommand(text);
}

/** §6.3.1: a dial string takes the rest of the line, or up to the semicolon that makes it a voice call. */
function dialCommand(text: string): Step {
  const end = text.indexOf(';');
  const value = end === -1 ? text.slice(1) : text.slice(1, end + 1);
  return {
    command: { name: 'D', operation: 'execute', value, parameters: [] },
    rest: text.slice(1 + value.length),
  };
}

function sParameter(text: string): Step | undefined {
  const match = S_PARAMETER.exec(text);
  if (match === null) return undefined;
  const [whole, name = '', tail, value = ''] = match;
  const operation = tail === '?' ? 'read' : 'set';
  return {
    command: { name: name.toUpperCase(), operation, value, parameters: [] },
    rest: text.slice(whole.length),
  };
}

function basicCommand(text: string): Step | undefined {
  const match = BASIC.exec(text);
  if (match === null) return undefined;
  const [whole, name = '', value = ''] = match;
  return {
    command: { name: name.toUpperCase(), operation: 'execute', value, parameters: [] },
    rest: text.slice(whole.length),
  };
}

/** §5.4.2 to §5.4.5: the command ends at a semicolon outside quotes. */
function extendedCommand(text: string): Step | undefined {
  const name = EXTENDED_NAME.exec(text)?.[0] ?? '';
  const end = endOfCommand(text);
  const tail = text.slice(name.length, end).trim();
  const rest = text.slice(end + 1);
  const head = { name: name.toUpperCase(), value: '', parameters: [] };
  if (tail === '') return { command: { ...head, operation: 'execute' }, rest };
  if (tail === '?') return { command: { ...head, operation: 'read' }, rest };
  if (tail === '=?') return { command: { ...head, operation: 'test' }, rest };
  if (!tail.startsWith('=')) return undefined;
  const value = tail.slice(1);
  const parameters = parseParameters(value);
  if (parameters === undefined) return undefined;
  return { command: { ...head, operation: 'set', value, parameters }, rest };
}

function endOfCommand(text: string): number {
  let isQuoted = false;
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if (character === '"') isQuoted = !isQuoted;
    if (character === ';' && !isQuoted) return index;
  }
  return text.length;
}

/** Splits at commas outside quotes. `undefined` for a quote that is never closed or stands in mid-value. */
function parseParameters(value: string): string[] | undefined {
  const parameters: string[] = [];
  let rest = value;
  for (;;) {
    const match = /^\s*(?:"([^"]*)"|([^",]*?))\s*(,|$)/.exec(rest);
    if (match === null) return undefined;
    const [whole, quoted, plain = '', separator] = match;
    parameters.push(quoted ?? plain);
    if (separator === '') return parameters;
    rest = rest.slice(whole.length);
  }
}
