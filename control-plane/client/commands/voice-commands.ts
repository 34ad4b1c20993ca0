// `simrack dial | listen | hangup`: calls in a terminal.
import type { Command } from 'commander';
import { OPERATION } from '#shared/api/operations.ts';
import { type PresenceEvent, presenceEventSchema } from '#shared/api/voice-frames.ts';
import { ApiError, noAnswer } from '../api-error.ts';
import { answering, answers, fieldsOf, keys, wholeNumber } from './arguments.ts';
import { type ConversationOptions, converse, prepare } from './conversation.ts';
import { InterruptedError, interruptible } from './failures.ts';
import type { CommandSession } from './session.ts';

const CONVERSATION = ['answered', 'answered_by', 'end', 'recorded_ms'];
const EVENT = presenceEventSchema.options.flatMap(({ shape }) => Object.keys(shape));

const withAudio = (command: Command): Command =>
  command
    .option('--say <file>', 'Play this WAVE file to the far end: PCM, mono, 16 kHz, 16 bit')
    .option('--raw', 'The file of --say has raw samples and no header, in the same format')
    .option('--record <file>', 'Record the far end into this file; WAVE if the name ends in .wav')
    .option('--press <keys>', 'Press these keys after the answer', keys)
    .option('--for <seconds>', 'Hang up this many seconds after the answer', wholeNumber);

type DialOptions = ConversationOptions & { detach?: boolean; detectMachine?: boolean };

interface ListenOptions extends ConversationOptions {
  answer?: boolean;
  wait?: number;
}

export function addVoiceCommands(program: Command, session: () => CommandSession): void {
  withAudio(answering(program.command('dial'), [...fieldsOf(OPERATION.dial), ...CONVERSATION]))
    .description('Call a number and stay until the call ends. Ctrl-C hangs up.')
    .argument('<number>', 'E.164')
    .option('--detach', 'Only place the call; it ends after 30 s unless a client opens its stream')
    .option('--detect-machine', 'Judge whether a person or a machine answers; see answered_by')
    .action((to: string, options: DialOptions) => dial(session(), to, options));
  withAudio(answering(program.command('listen'), [...new Set([...EVENT, ...CONVERSATION])]))
    .description('Print a line of JSON when a call rings, is answered or ends, until Ctrl-C.')
    .option('--answer', 'Answer the first call that rings, and stop when it ends')
    .option('--wait <seconds>', 'Stop waiting for a call after this many seconds', wholeNumber)
    .action((options: ListenOptions) => listen(session(), options));
  answering(program.command('hangup'), fieldsOf(OPERATION.hangUp))
    .description('End a call, or reject one that rings.')
    .argument('<call_id>')
    .action(answers(session, async (at, callId: string) => (await at.client()).hangUp({ call_id: callId })));
}

async function dial(
  at: CommandSession,
  to: string,
  { detach, detectMachine: detects = false, ...options }: DialOptions,
): Promise<void> {
  const client = await at.client();
  const files = prepare(options);
  const { number } = await client.number();
  at.output.waiting(`calling ${to}`);
  const request = { phone_number: number, to, ...(detects ? { detect_machine: true } : {}) };
  if (detach === true) {
    at.output.answer(await client.dial(request));
    return;
  }
  // From the request on: Ctrl-C before its answer hangs up, too.
  await interruptible(async (interrupted) => {
    const call = await client.dial(request);
    at.output.waiting('ringing');
    const talking = { client, call, output: at.output, interrupted, detects };
    const talk = await converse(talking, options, files);
    at.output.answer({ ...call, ...talk });
    if (!talk.answered) throw notAnswered(talk.end.reason);
  });
}

async function listen(at: CommandSession, { answer, wait, ...options }: ListenOptions): Promise<void> {
  const client = await at.client();
  const files = prepare(options);
  const { number } = await client.number();
  await interruptible(async (interrupted) => {
    const call = await watch(at, { number, answers: answer === true, wait, interrupted });
    if (call === undefined) return;
    at.output.note(`${call.caller ?? 'an unknown number'} is calling`);
    const talk = await converse({ client, call, output: at.output, interrupted }, options, files);
    at.output.answer({ ...call, ...talk });
  });
}

/** The call to answer; undefined if calls are only printed. */
async function watch(
  at: CommandSession,
  {
    number,
    answers,
    wait,
    interrupted,
  }: {
    number: string;
    answers: boolean;
    wait: number | undefined;
    interrupted: AbortSignal;
  },
): Promise<PresenceEvent | undefined> {
  const { output } = at;
  const found = new AbortController();
  const ends = [interrupted, found.signal, ...(wait === undefined ? [] : [AbortSignal.timeout(wait * 1000)])];
  let rings: PresenceEvent | undefined;
  let hasCall = false as boolean;
  await (await at.client()).watchCalls(number, {
    signal: AbortSignal.any(ends),
    onEvent(event) {
      hasCall = true;
      if (!answers) output.line(event);
      else if (event.kind === 'ringing' && rings === undefined) {
        rings = event;
        found.abort();
      }
    },
    onState: ({ connected, error }) =>
      output.waiting(connected ? `waiting for calls to ${number}` : `${error?.message}: connecting again`),
  });
  if (rings !== undefined || (!answers && (hasCall || interrupted.aborted || wait === undefined)))
    return rings;
  throw interrupted.reason instanceof InterruptedError
    ? interrupted.reason
    : noAnswer('timeout', 'no call arrived');
}

const notAnswered = (reason: string): ApiError =>
  new ApiError({
    status: 200,
    code: 'not_answered',
    message: reason || 'the call ended before it was answered',
  });
