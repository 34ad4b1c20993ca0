// Connects the calls of a number with a bot that runs beside the bridge: no server of the service connects to the bot.
import type { PresenceEvent } from '#shared/api/voice-frames.ts';
import type { ApiError } from '../api-error.ts';
import type { SimrackClient } from '../simrack-client.ts';
import type { BotCall, ConnectBot } from './bot.ts';
import { type BridgedCall, bridgeCall } from './bridged-call.ts';

interface BridgeOptions {
  /** Makes the bot of each call: `socketBot`, `twimlBot`, `commandBot`, or your own. */
  connect: ConnectBot;
  /** A call is taken, and then something happened to it, or it ended. */
  onCall?: (call: BotCall) => void;
  onNote?: (call: BotCall, words: string) => void;
  onEnd?: (call: BridgedCall) => void;
  /** Connected to the service; or the error, and the time until the next attempt. */
  onState?: (state: { connected: boolean; error?: ApiError; retryInMs?: number }) => void;
  /** How bots for Twilio know a call and its account, if not as the service names them. */
  nameCall?: (callId: string) => Pick<BotCall, 'accountId' | 'callSid'>;
  /** Ends the bridge, and its calls with it. */
  signal?: AbortSignal | undefined;
}

/**
 * Answers each call of the token's number with a bot. Resolves when `signal` is aborted and all calls have ended. Throws `ApiError` if the
 * token is not valid (any more).
 */
export async function bridgeCalls(client: SimrackClient, options: BridgeOptions): Promise<void> {
  const { number, sub_account_id: accountId } = await client.number();
  const running = new Map<string, { ended: AbortController; call: Promise<unknown> }>();
  const take = (event: PresenceEvent): void => {
    const { call_id: callId, caller } = event;
    if (running.has(callId)) return;
    const ended = new AbortController();
    const names = options.nameCall?.(callId) ?? { accountId };
    const call: BotCall = { callId, ...names, direction: 'inbound', from: caller, to: number };
    const work = run(client, call, options, ended.signal).finally(() => running.delete(callId));
    running.set(callId, { ended, call: work });
  };
  try {
    await client.watchCalls(number, {
      ...(options.onState === undefined ? {} : { onState: options.onState }),
      signal: options.signal,
      onEvent(event) {
        if (event.kind === 'ringing') take(event);
        // A bot that is being connected is not needed any more.
        if (event.kind === 'ended') running.get(event.call_id)?.ended.abort();
      },
    });
  } finally {
    await Promise.all([...running.values()].map(({ call }) => call));
  }
}

/** Calls `to` from the token's number, and connects the call with a bot. Resolves when it has ended. Throws the errors of `client.dial`. */
export async function bridgeDial(
  client: SimrackClient,
  to: string,
  options: Omit<BridgeOptions, 'onState'>,
): Promise<BridgedCall> {
  const { number, sub_account_id: accountId } = await client.number();
  const { call_id: callId } = await client.dial({ phone_number: number, to });
  const call: BotCall = { callId, accountId, direction: 'outbound', from: number, to };
  return run(client, call, options, undefined);
}

const NEVER = new AbortController().signal;

async function run(
  client: SimrackClient,
  call: BotCall,
  { connect, onCall, onNote, onEnd, signal }: BridgeOptions,
  ended: AbortSignal | undefined,
): Promise<BridgedCall> {
  onCall?.(call);
  const parts = { client, connect, onNote: onNote ?? (() => undefined) };
  const result = await bridgeCall(parts, call, { signal: signal ?? NEVER, ended: ended ?? NEVER });
  onEnd?.(result);
  return result;
}
