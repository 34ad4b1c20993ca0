// Client tools of Ultravox: keys are pressed, and no invocation stays without a result, for which the conversation waits.
import t from 'tap';
import { ULTRAVOX_MESSAGES } from '#control-plane/client/bridge/ultravox-messages.ts';

const invocation = (toolName: string, parameters?: unknown): object => ({
  type: 'client_tool_invocation',
  toolName,
  invocationId: 'f1-1',
  parameters,
});

t.test('pressKeys presses keys and has a result', async (t) => {
  t.same(ULTRAVOX_MESSAGES.answer(invocation('pressKeys', { digits: '12#' })), {
    request: { type: 'dtmf', digits: '12#' },
    reply: { type: 'client_tool_result', invocationId: 'f1-1', result: 'pressed 12#' },
  });
});

t.test('keys that do not exist, and tools that do not exist, have an error as result', async (t) => {
  for (const parameters of [undefined, {}, { digits: '' }, { digits: 12 }, { digits: 'one' }])
    t.match(ULTRAVOX_MESSAGES.answer(invocation('pressKeys', parameters)), {
      request: undefined,
      reply: { invocationId: 'f1-1', errorType: 'implementation-error', errorMessage: /^digits .*0-9/ },
    });
  t.same(ULTRAVOX_MESSAGES.answer(invocation('transfer')), {
    reply: { type: 'client_tool_result', invocationId: 'f1-1', errorType: 'undefined' },
  });
});

t.test('other messages are none of it', async (t) => {
  for (const message of [undefined, null, 'text', { type: 'transcript' }, { type: 'client_tool_invocation' }])
    t.equal(ULTRAVOX_MESSAGES.answer(message), undefined);
});
