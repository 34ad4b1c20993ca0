// `simrack dial | listen | hangup`: calls from a terminal.
import type { Command } from 'commander';
import type { PresenceEvent } from '#shared/api/voice-frames.ts';
import { ApiError, noAnswer } from '../api-error.ts';
import { wholeNumber } from './arguments.ts';
import { type ConversationOptions, converse, prepare } from './conversation.ts';
import type { Session } from './session.ts';

const withAudio = (command: Command): Command =>
  command
    .option('--say <file>', 'play this to the far end: WAVE, or samples alone; 16 kHz, 16 bit, mono')
    .option('--record <file>', 'write what the far end says, as WAVE where it ends in .wav')
    .option('--press <keys>', 'press these keys once it is answered')
    .option('--for <seconds>', 'hang up this long after the answer', wholeNumber);

interface ListenOptions extends ConversationOptions {
  answer?: boolean;
  wait?: number;
}

export function addVoiceCommands(program: Command, session: () => Session): void {
  withAudio(program.command('dial'))
    .description('call a number, and talk until the call ends; Ctrl-C hangs up')
    .argument('<number>', 'E.164')
    .option('--detach', 'only place the call; it ends after 30 s unless its stream is opened')
    .action((to: string, options: ConversationOptions & { detach?: boolean }) =>
      dial(session(), to, options),
    );
  withAudio(program.command('listen'))
    .description('tell of calls as they ring, are answered and end, a line of JSON each')
    .option('--answer', 'answer the first one that rings, and end with it')
    .option('--wait <seconds>', 'give up after this long', wholeNumber)
    .action((options: ListenOptions) => listen(session(), options));
  program
    .command('hangup')
    .description('end a call, or reject one that rings')
    .argument('<call_id>')
    .action(async (callId: string) => {
      const at = session();
      at.answer(await at.client().hangUp({ call_id: callId }));
    });
}

async function dial(
  at: Session,
  to: string,
  { detach, ...options }: ConversationOptions & { detach?: boolean },
): Promise<void> {
  const client = at.client();
  const files = prepare(options);
  const { number } = await client.number();
  at.note(`calling ${to} …`);
  const call = await client.dial({ phone_number: number, to });
  if (detach === true) {
    at.answer(call);
    return;
  }
  at.note('it rings');
  const talk = await converse({ client, callId: call.call_id, session: at }, options, files);
  at.answer({ ...call, ...talk });
  if (!talk.answered) throw notAnswered(talk.end.reason);
}

async function listen(at: Session, { answer, wait, ...options }: ListenOptions): Promise<void> {
  const client = at.client();
  const files = prepare(options);
  const { number } = await client.number();
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  process.once('SIGINT', stop);
  const timer = wait === undefined ? undefined : setTimeout(stop, wait * 1000);
  let rings: PresenceEvent | undefined;
  await client.watchCalls(number, {
    signal: controller.signal,
    onEvent(event) {
      if (answer !== true) at.line(event);
      else if (event.kind === 'ringing' && rings === undefined) {
        rings = event;
        stop();
      }
    },
    onState: ({ connected, error }) =>
      at.note(connected ? `listening for calls to ${number} …` : `${error?.message}: connecting again …`),
  });
  clearTimeout(timer);
  process.off('SIGINT', stop);
  if (answer !== true) return;
  if (rings === undefined) throw noAnswer('timeout', 'no call came in');
  at.note(`${rings.caller ?? 'somebody'} calls`);
  const talk = await converse({ client, callId: rings.call_id, session: at }, options, files);
  at.answer({ ...rings, ...talk });
}

const notAnswered = (reason: string): ApiError =>
  new ApiError({
    status: 200,
    code: 'not_answered',
    message: reason || 'the call ended before it was answered',
  });
