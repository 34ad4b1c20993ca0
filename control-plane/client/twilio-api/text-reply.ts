// The TwiML with which an app answers a text: <Message>, or nothing. Pure.
// https://www.twilio.com/docs/messaging/twiml
import type { Element } from '@xmldom/xmldom';
import { BotError } from '../bridge/bot.ts';
import { cannot, childrenOf, responseOf } from '../bridge/twiml.ts';

export interface TextReply {
  body: string;
  /** By default the sender of the text. */
  to: string | undefined;
  statusCallback: string | undefined;
}

const REPLIES_MAX = 10;

/** In order. Verbs and attributes in `skipped` are left out. Throws `BotError`, which names the first one that is not known here. */
export function readTextReplies(text: string, skipped: ReadonlySet<string> = new Set()): TextReply[] {
  if (text.trim() === '') return [];
  const verbs = childrenOf(responseOf(text)).filter(({ nodeName }) => !skipped.has(nodeName));
  if (verbs.length > REPLIES_MAX) throw new BotError(`TwiML has more than ${REPLIES_MAX} verbs`);
  return verbs.map((verb) => {
    const { nodeName } = verb;
    if (nodeName !== 'Message' && nodeName !== 'Sms') throw cannot(`the TwiML verb <${nodeName}>`, nodeName);
    for (const { name } of verb.attributes)
      if (!['to', 'statusCallback'].includes(name) && !skipped.has(name))
        throw cannot(`the attribute ${name} of <${nodeName}>`, name);
    return {
      body: bodyOf(verb, skipped),
      to: verb.getAttribute('to') ?? undefined,
      statusCallback: verb.getAttribute('statusCallback') ?? undefined,
    };
  });
}

function bodyOf(verb: Element, skipped: ReadonlySet<string>): string {
  const children = childrenOf(verb).filter(({ nodeName }) => !skipped.has(nodeName));
  const other = children.find(({ nodeName }) => nodeName !== 'Body');
  if (other !== undefined) throw cannot(`<${other.nodeName}> in <${verb.nodeName}>`, other.nodeName);
  const body =
    children.length > 0
      ? children.map(({ textContent }) => textContent).join('')
      : [...verb.childNodes]
          .map((node) => (node.nodeType === node.ELEMENT_NODE ? '' : node.nodeValue))
          .join('');
  return body.trim();
}
