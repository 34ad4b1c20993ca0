// The options of `simrack bridge` that name the bot.
import type { Command } from 'commander';
import type { ConnectBot } from '../bridge/bot.ts';
import { commandBot } from '../bridge/command-bot.ts';
import { joinedBot } from '../bridge/joined-bot.ts';
import { socketBot } from '../bridge/socket-bot.ts';
import { twimlApiBot, twimlBot } from '../bridge/twiml-bot.ts';
import { readInput, UsageError } from './failures.ts';
import type { Environment } from './session.ts';

export interface BotOptions {
  twiml?: string;
  vonage?: string;
  raw?: string;
  command?: string;
  skip?: string[];
  header?: string[];
  body?: string;
  control?: true;
}

export const addBotOptions = (command: Command): Command =>
  command
    .argument('[url]', 'A server for Twilio Media Streams, such as ws://localhost:7860/ws')
    .option('--twiml <url>', 'Ask this URL for TwiML, as Twilio does; signed if TWILIO_AUTH_TOKEN is set')
    .option('--vonage <url>', 'A WebSocket server for Vonage: L16 audio, 16 kHz')
    .option(
      '--raw <url>',
      'A WebSocket server for plain audio: 16 kHz samples, 16 bit, mono. An http: or https: URL is asked for its address',
    )
    .option('--command <command>', 'Run this program for each call: samples on its standard input and output')
    .option(
      '--skip <names...>',
      'Leave out these verbs and attributes of TwiML, and parameters of --api, such as Say or Record. Put it after the URL',
    )
    .option(
      '--header <line>',
      'Send this header to the bot, such as "X-API-Key: …"; @<file> reads lines of a file',
      (line: string, lines: string[] = []) => [...lines, line],
    )
    .option(
      '--body <json>',
      'Post this JSON to the URL of --twiml or --raw; {from}, {to}, {call_id} and {direction} are replaced. @<file> reads a file',
    )
    .option(
      '--control',
      'Send a --raw bot keys, marks and clears as JSON text; a --command reads them from file descriptor 3, and writes its requests to 4',
    );

/** Undefined if there is none, which `isOptional` allows. Throws `UsageError`. */
export function botOf(
  url: string | undefined,
  options: BotOptions,
  { env, authToken, isOptional }: { env: Environment; authToken: string | undefined; isOptional: boolean },
): ConnectBot | undefined {
  const { twiml, vonage, raw, command, skip = [], control = false } = options;
  checkSkipped(skip);
  const given = [url, twiml, vonage, raw, command].filter((each) => each !== undefined);
  if (given.length === 0 && isOptional) return undefined;
  if (given.length !== 1) throw new UsageError('name one bot: a URL, --twiml, --vonage, --raw or --command');
  const isAsked = twiml !== undefined || /^https?:/.test(raw ?? '');
  if (options.body !== undefined && !isAsked)
    throw new UsageError('--body needs --twiml, or --raw with an http: or https: URL');
  if (control && raw === undefined && command === undefined)
    throw new UsageError('--control needs --raw or --command');
  if (command !== undefined) {
    if (options.header !== undefined) throw new UsageError('--header needs a URL');
    return commandBot(command, env, { control });
  }
  const headers = headersOf(options.header ?? []);
  const body = options.body === undefined ? undefined : bodyOf(options.body);
  if (twiml !== undefined) {
    const address = checked(twiml, ['http:', 'https:']);
    return body === undefined
      ? twimlBot({ url: address, authToken, headers, skipped: skip })
      : twimlApiBot({ url: address, headers, body, skipped: skip });
  }
  if (raw !== undefined && isAsked)
    return joinedBot({ url: checked(raw, ['http:', 'https:']), headers, body, control });
  const protocol = vonage === undefined ? (raw === undefined ? 'twilio' : 'raw') : 'vonage';
  const address = checked(String(vonage ?? raw ?? url), ['ws:', 'wss:']);
  return socketBot({ url: address, protocol, headers, control });
}

/** The option takes all words after it, a URL as well. */
function checkSkipped(names: readonly string[]): void {
  const url = names.find((name) => /^(wss?|https?):/.test(name));
  if (url !== undefined) throw new UsageError(`--skip took ${url} as a name: put the URL before --skip`);
  const wrong = names.find((name) => !/^[A-Za-z]\w*$/.test(name));
  if (wrong !== undefined)
    throw new UsageError(`--skip: "${wrong}" is not a name. Put a space between names: --skip Say action`);
}

function checked(url: string, schemes: readonly string[]): string {
  const scheme = URL.canParse(url) ? new URL(url).protocol : '';
  if (schemes.includes(scheme)) return url;
  const problem = `not a ${schemes.map((each) => `${each}//`).join(' or ')} URL: ${url}`;
  const other = COUNTERPARTS[scheme];
  throw new UsageError(
    other === undefined ? problem : `${problem}\n${otherwise(url.slice(scheme.length), other)}`,
  );
}

/** The schemes that servers of the same kind of security have, for HTTP and for WebSockets. */
const COUNTERPARTS: Readonly<Record<string, string>> = {
  'http:': 'ws:',
  'https:': 'wss:',
  'ws:': 'http:',
  'wss:': 'https:',
};

const otherwise = (rest: string, scheme: string): string =>
  scheme.startsWith('ws')
    ? `For a WebSocket server: ${scheme}${rest}. For a web server that answers with TwiML: --twiml.`
    : `For a web server: ${scheme}${rest}. For a WebSocket server that speaks as Twilio does: give the URL without --twiml.`;

/** Reads `Name: value` lines. Error messages do not contain values: they may be keys. */
function headersOf(given: readonly string[]): Record<string, string> {
  const lines = given.flatMap((line) =>
    (line.startsWith('@') ? readInput(line.slice(1)).toString().split(/\r?\n/) : [line]).filter(
      (each) => each.trim() !== '',
    ),
  );
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\t\x20-\x7e]*?)[ \t]*$/.exec(line) ?? [];
      if (name === undefined || value === undefined)
        throw new UsageError(`--header must be "Name: value", in ASCII: ${line.split(':', 1)[0]}`);
      return [name, value];
    }),
  );
}

function bodyOf(given: string): unknown {
  const text = given.startsWith('@') ? readInput(given.slice(1)).toString() : given;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--body is not JSON: ${(error as Error).message}`);
  }
}
