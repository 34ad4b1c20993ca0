// One call of a bridge, from its ring to its end: the bot first, so that no call is answered without one.
import { setMaxListeners } from 'node:events';
import { ApiError, isApiError } from '../api-error.ts';
import type { SimrackClient } from '../simrack-client.ts';
import type { StreamEnd } from '../stream-end.ts';
import { type Bot, type BotCall, BotError, type BotHost, type ConnectBot } from './bot.ts';
import { type CallOutcome, END_WORDS, outcomeOf } from './call-outcome.ts';
import { ServiceStream } from './service-stream.ts';

/** How a call of a bridge went. */
export interface BridgedCall extends BotCall, CallOutcome {
  /** Whether the bot was connected with the call. */
  connected: boolean;
  /** Whether the bot was not reached, or failed during the call. */
  failed: boolean;
  /** Why it ended, for people. */
  words: string;
}

interface BridgedCallParts {
  client: SimrackClient;
  connect: ConnectBot;
  onNote: (call: BotCall, words: string) => void;
}

/** Resolves when the call has ended; never rejects. `signal` ends the call; `ended` is aborted when it has ended at the service. */
export async function bridgeCall(
  { client, connect, onNote }: BridgedCallParts,
  call: BotCall,
  { signal, ended }: { signal: AbortSignal; ended: AbortSignal },
): Promise<BridgedCall> {
  // A bridge has one signal for all its calls.
  setMaxListeners(0, signal, ended);
  let stream: ServiceStream | undefined;
  let bot: Bot | undefined;
  /** The first reason is the cause of the others. */
  let words: string | undefined;
  const failed = new AbortController();
  const noted = new Set<string>();
  const fail = (reason: string): void => {
    words ??= reason;
    failed.abort();
    stream?.close();
  };
  const host: BotHost = {
    send: (data) => stream?.send(data),
    done(reason) {
      words ??= reason;
      if (stream === undefined) fail(reason);
      else stream.finish();
    },
    failed(reason) {
      isBotLost = true;
      fail(reason);
    },
    note(text) {
      if (noted.has(text)) return;
      noted.add(text);
      onNote(call, text);
    },
  };
  const onAbort = (): void => fail('the bridge was stopped');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  // Later, the stream says why.
  const onGone = (): void => {
    if (stream === undefined) fail('the call ended before its audio was connected');
  };
  ended.addEventListener('abort', onGone, { once: true });
  let connected = false;
  let isBotLost = false;
  /** The service ended the call, and nothing on this side did before. */
  let end: StreamEnd | undefined;
  try {
    const taken = await connect(call, host, failed.signal);
    bot = taken;
    const { callId } = call;
    stream = new ServiceStream(client, { callId, protocol: taken.protocol }, taken);
    failed.signal.throwIfAborted();
    connected = true;
    const ending = await stream.run(failed.signal);
    if (words === undefined && hasEnded(ending)) end = ending;
    words ??= wordsOf(ending);
    if (ending.kind === 'lost' || ending.kind === 'restarting') await hangUp(client, call);
  } catch (error) {
    if (error instanceof BotError) isBotLost = true;
    words ??= error instanceof BotError || error instanceof ApiError ? error.message : String(error);
    await hangUp(client, call);
  } finally {
    signal.removeEventListener('abort', onAbort);
    bot?.end(words ?? '');
  }
  // A program that is ended from here on has not failed.
  const wasBotLost = isBotLost;
  const outcome = await outcomeOf(client, call.callId, { isOver: end !== undefined });
  if (end !== undefined) words = wordsOf(end, outcome.reason);
  return { ...call, ...outcome, connected, failed: wasBotLost, words };
}

const hasEnded = ({ kind }: StreamEnd): boolean => kind === 'call_ended' || kind === 'call_not_found';

const ENDS: Readonly<Record<Exclude<StreamEnd['kind'], 'call_ended'>, string>> = {
  unauthorized: 'the token is no longer valid',
  call_not_found: 'the call ended before its audio was connected',
  taken_over: 'another client took the call over',
  restarting: 'the service restarted, and the stream could not be opened again',
  lost: 'the connection to the service broke, and the stream could not be opened again',
  refused: 'the service refused what the bot sent',
  closed: 'hung up',
};

/** `why`: the reason in the record. The cause in the stream is the same for several reasons. */
function wordsOf({ kind, reason }: StreamEnd, why: CallOutcome['reason'] = null): string {
  if (kind === 'call_ended')
    return `the call ended: ${why === null ? reason : `${END_WORDS[why]} (${reason})`}`;
  if (kind === 'call_not_found' && why !== null) return `the call ended: ${END_WORDS[why]}`;
  return ENDS[kind] + (kind === 'refused' ? `: ${reason}` : '');
}

/** A call that has ended by itself needs no hang-up; one that cannot be hung up ends without a stream. */
async function hangUp(client: SimrackClient, { callId }: BotCall): Promise<void> {
  await client.hangUp({ call_id: callId }).catch((error: unknown) => {
    if (!isApiError(error)) throw error;
  });
}
