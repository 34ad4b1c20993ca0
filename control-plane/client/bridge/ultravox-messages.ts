// Keys in the data messages of Ultravox: https://docs.ultravox.ai/apps/datamessages. Pure.
import * as z from 'zod';
import { dtmfDigitsSchema } from '#shared/voice/media.ts';
import type { BotMessages } from './bot-messages.ts';

/** The client tool of an agent that presses keys. Its own `playDtmfSounds` sends tones as audio, which a mobile network distorts. */
const PRESS_KEYS = 'pressKeys';

const invocationSchema = z.object({
  type: z.literal('client_tool_invocation'),
  toolName: z.string(),
  invocationId: z.string(),
  parameters: z.record(z.string(), z.unknown()).optional(),
});

export const ULTRAVOX_MESSAGES: BotMessages = {
  /** As on its own telephone lines: https://docs.ultravox.ai/telephony/ivr-flows. */
  key: (digit) => ({ type: 'user_text_message', text: digit }),

  /** The conversation stops until a tool has a result: every invocation has one. */
  answer(message) {
    const invocation = invocationSchema.safeParse(message).data;
    if (invocation === undefined) return undefined;
    const { toolName, invocationId, parameters } = invocation;
    const result = { type: 'client_tool_result', invocationId };
    if (toolName !== PRESS_KEYS) return { reply: { ...result, errorType: 'undefined' } };
    const { data: digits, error } = dtmfDigitsSchema.safeParse(parameters?.['digits']);
    if (digits !== undefined)
      return { request: { type: 'dtmf', digits }, reply: { ...result, result: `pressed ${digits}` } };
    const errorMessage = `digits ${error.issues[0]?.message}`;
    return { reply: { ...result, errorType: 'implementation-error', errorMessage } };
  },
};
