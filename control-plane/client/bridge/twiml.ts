// TwiML, as far as a bridge can do it: connect to a stream, pause, hang up, reject. Pure.
// https://www.twilio.com/docs/voice/twiml/stream
import { DOMParser, type Element } from '@xmldom/xmldom';
import { jsonOf } from '#shared/json.ts';
import { BotError } from './bot.ts';
import { firstLineOf } from './bot-request.ts';

/** The instruction of a document. */
interface TwimlPlan {
  /** Seconds before it begins. */
  pauseSeconds: number;
  /** Undefined: the call ends, or is rejected. */
  stream: { url: string; parameters: Record<string, string> } | undefined;
  /** The verb that ends the call; undefined if the document just ends. */
  endsWith?: string;
}

/** Longer ones are no reception of a call. */
const PAUSE_SECONDS_MAX = 60;

/** A document for one call has some. */
const TAGS_MAX = 1_000;

const VERBS = ['Connect', 'Pause', 'Hangup', 'Reject'];

const PLAIN_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  Connect: [],
  Stream: ['url', 'name', 'track'],
  Parameter: ['name', 'value'],
  Pause: ['length'],
  Hangup: [],
  Reject: ['reason'],
};

/**
 * Reads a document. Verbs and attributes in `skipped` are left out. Throws `BotError`, which names the first one that the bridge cannot do.
 * `source`: where the document comes from.
 */
export function readTwiml(
  text: string,
  skipped: ReadonlySet<string> = new Set(),
  source = 'the answer',
): TwimlPlan {
  const verbs = childrenOf(responseOf(text, source));
  let pauseSeconds = 0;
  let stream: TwimlPlan['stream'];
  let endsWith: string | undefined;
  let isOver = false;
  for (const verb of verbs) {
    const name = verb.nodeName;
    if (skipped.has(name)) continue;
    if (!VERBS.includes(name)) throw cannotDoVerb(name, verbs);
    checkAttributes(verb, skipped);
    if (isOver) continue;
    if (name === 'Pause') pauseSeconds += secondsOf(verb);
    else {
      isOver = true;
      if (name === 'Connect') stream = streamOf(verb, skipped);
      else endsWith = name;
    }
  }
  return {
    pauseSeconds: Math.min(pauseSeconds, PAUSE_SECONDS_MAX),
    stream,
    ...(endsWith === undefined ? {} : { endsWith }),
  };
}

/** To leave out a verb helps only if a stream is left. */
function cannotDoVerb(name: string, verbs: readonly Element[]): BotError {
  const [next] = verbs.filter(({ nodeName }) => ['Connect', 'Hangup', 'Reject'].includes(nodeName));
  const hasStream = next !== undefined && childrenOf(next).some(({ nodeName }) => nodeName === 'Stream');
  if (hasStream) return cannot(`the TwiML verb <${name}>`, name);
  return new BotError(
    `The bridge cannot do the TwiML verb <${name}>. Without it, the TwiML has no <Connect><Stream>: it would only end the call.`,
  );
}

/** The `<Response>` of a document. Throws `BotError`. */
export function responseOf(text: string, source = 'the answer'): Element {
  const root = rootOf(text, source);
  if (root.nodeName === 'Response') return root;
  throw new BotError(`TwiML must begin with <Response>, not <${root.nodeName}>`);
}

/** Apps that fail answer with a page or with JSON. */
function checkKind(text: string, source: string): void {
  const other = /^\s*<(!doctype\s+)?html\b/i.test(text) ? 'HTML' : jsonOf(text) === undefined ? '' : 'JSON';
  if (other !== '') throw new BotError(`${source} is ${other}, not TwiML: ${firstLineOf(text)}`);
}

function rootOf(text: string, source: string): Element {
  checkKind(text, source);
  // Entities of a document type are not needed, and may be endless.
  // The parser takes a second for 64 KiB of "<".
  if (text.split('<').length > TAGS_MAX) throw new BotError(`TwiML has more than ${TAGS_MAX} tags`);
  if (/<!DOCTYPE/i.test(text)) throw new BotError('TwiML with a document type is not read');
  const refuse = (message: string): never => {
    throw new BotError(`${source} is not TwiML: ${message.split('\n', 1)[0]?.slice(0, 100)}`);
  };
  let problem: string | undefined;
  const onError = (_level: string, message: string): void => {
    problem ??= message;
  };
  let root: Element | null = null;
  try {
    root = new DOMParser({ onError }).parseFromString(text.trim(), 'text/xml').documentElement;
  } catch (error) {
    problem ??= (error as Error).message;
  }
  if (problem !== undefined) return refuse(problem);
  return root ?? refuse('it is empty');
}

export const childrenOf = (element: Element): Element[] =>
  [...element.childNodes].filter((node): node is Element => node.nodeType === node.ELEMENT_NODE);

function checkAttributes(element: Element, skipped: ReadonlySet<string>): void {
  const known = PLAIN_ATTRIBUTES[element.nodeName] ?? [];
  for (const { name } of element.attributes)
    if (!known.includes(name) && !skipped.has(name))
      throw cannot(`the attribute ${name} of <${element.nodeName}>`, name);
}

function streamOf(connect: Element, skipped: ReadonlySet<string>): TwimlPlan['stream'] {
  const [stream, ...more] = childrenOf(connect);
  if (stream?.nodeName !== 'Stream') throw cannot(`<Connect> with <${stream?.nodeName ?? 'nothing'}>`);
  if (more.length > 0) throw cannot('<Connect> with more than one <Stream>');
  checkAttributes(stream, skipped);
  const url = stream.getAttribute('url') ?? '';
  if (url === '') throw new BotError('<Stream> has no url');
  if (!/^wss?:\/\//.test(url))
    throw new BotError(`the url of <Stream> must begin with ws:// or wss://: ${url}`);
  if (!URL.canParse(url) || new URL(url).hash !== '')
    throw new BotError(`the url of <Stream> is not a WebSocket URL: ${url}`);
  const track = stream.getAttribute('track') ?? 'inbound_track';
  if (track !== 'inbound_track') throw cannot(`the track ${track} of <Stream>`);
  const parameters = childrenOf(stream).map((child) => {
    if (child.nodeName !== 'Parameter') throw cannot(`<${child.nodeName}> in <Stream>`);
    return [child.getAttribute('name') ?? '', child.getAttribute('value') ?? ''] as const;
  });
  return { url, parameters: Object.fromEntries(parameters) };
}

function secondsOf(pause: Element): number {
  const seconds = Number(pause.getAttribute('length') ?? '1');
  if (!Number.isInteger(seconds) || seconds < 0)
    throw new BotError('the length of <Pause> must be whole seconds');
  return seconds;
}

/** The error for something that the bridge does not do; `name` is a verb or an attribute that can be left out. */
export function cannot(what: string, name?: string): BotError {
  const hint = name === undefined ? '' : ` To go on without it, add --skip ${name}.`;
  return new BotError(`The bridge cannot do ${what}.${hint}`);
}
