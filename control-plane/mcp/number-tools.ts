// Tools for the number and its calls.
import * as z from 'zod';
import { OPERATION } from '#shared/api/operations.ts';
import { describeNumber } from '../handlers/subscription.ts';
import { dialCall, hangUpCall, type VoiceParts } from '../handlers/voice.ts';
import { bearerTool, type Tool } from './tool.ts';

export const numberTools = (parts: VoiceParts): Tool[] => [
  bearerTool({
    name: 'get_number',
    title: 'Your number',
    description: 'The phone number of the token, and when it expires.',
    input: z.object({}),
    output: OPERATION.number.answer,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    run: async ({ caller }) => describeNumber(caller.subscription),
  }),
  bearerTool({
    name: 'dial_call',
    title: 'Place a call',
    description:
      'Calls `to` from your number (`phone_number`), both E.164. Returns when the far end rings or has answered, which may take ' +
      'a minute. If you cancel earlier, the call ends. Its audio is the WebSocket at `stream_url`, with the same token.',
    input: OPERATION.dial.body,
    output: OPERATION.dial.answer,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    run: ({ input, caller, call }) => dialCall(parts, caller.subscription, input, call.signal),
  }),
  bearerTool({
    name: 'hangup_call',
    title: 'End a call',
    description: 'Ends a call of your number, or rejects a ringing one.',
    input: OPERATION.hangUp.body,
    output: OPERATION.hangUp.answer,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    run: ({ input, caller }) => hangUpCall(parts, caller.subscription, input),
  }),
];
