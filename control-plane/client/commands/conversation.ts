// A call from a terminal: plays a file, presses keys and records, until the call ends or its time is over.
import type { Answerer } from '#shared/voice/call.ts';
import type { CallStream } from '../call-stream.ts';
import type { SimrackClient } from '../simrack-client.ts';
import type { StreamEnd } from '../stream-end.ts';
import { UsageError } from './failures.ts';
import type { Output } from './output.ts';
import { Recording, readAudio } from './wave-file.ts';

export interface ConversationOptions {
  say?: string;
  raw?: boolean;
  record?: string;
  press?: string;
  for?: number;
}

/** Opens the files before the call, so that a bad file makes no phone ring. Throws `UsageError`. */
export function prepare({ say, raw, record }: ConversationOptions) {
  if (raw === true && say === undefined) throw new UsageError('--raw needs --say');
  return {
    speech: say === undefined ? undefined : readAudio(say, { isRaw: raw }),
    recording: record === undefined ? undefined : new Recording(record),
  };
}

interface Conversation {
  answered: boolean;
  /** If asked for. `unknown` also if the call ended before it was judged. */
  answered_by?: Answerer;
  end: StreamEnd;
  recorded_ms?: number;
}

const BYTES_PER_MS = 32;

const ANSWERERS: Readonly<Record<Answerer, string>> = {
  human: 'a person answered',
  machine: 'a machine answered',
  unknown: 'it is unknown who answered',
};

interface ConversationParts {
  client: SimrackClient;
  call: { call_id: string };
  output: Output;
  /** Hangs up, also when it was aborted before. */
  interrupted: AbortSignal;
  /** It was asked who answers. */
  detects?: boolean;
}

/** Opens the stream of a call, which answers a ringing one. */
export async function converse(
  { client, call, output, interrupted, detects = false }: ConversationParts,
  options: ConversationOptions,
  { speech, recording }: ReturnType<typeof prepare>,
): Promise<Conversation> {
  let onAnswered: (isAnswered: boolean) => void = () => undefined;
  const answered = new Promise<boolean>((resolve) => {
    onAnswered = resolve;
  });
  let answeredBy: Answerer = 'unknown';
  const stream = await client.stream(call.call_id, {
    onAudio: (frame) => recording?.add(frame),
    onEvent(event) {
      if (event.type === 'dtmf') output.note(`the far end pressed ${event.digit}`);
      if (event.type === 'answered') onAnswered(true);
      if (event.type === 'answered_by') {
        answeredBy = event.answered_by;
        output.note(ANSWERERS[answeredBy]);
      }
    },
  });
  const hangUp = (): void => stream.close();
  interrupted.addEventListener('abort', hangUp, { once: true });
  if (interrupted.aborted) hangUp();
  void answered.then(async (isAnswered) => {
    if (!isAnswered) return;
    output.waiting('answered');
    await talk(stream, options, { speech, recording });
  });
  const end = await stream.ended;
  onAnswered(false);
  recording?.close();
  if (recording?.problem !== undefined) output.note(recording.problem);
  return {
    answered: await answered,
    ...(detects ? { answered_by: answeredBy } : {}),
    end,
    ...(recording === undefined ? {} : { recorded_ms: recording.bytes / BYTES_PER_MS }),
  };
}

async function talk(
  stream: CallStream,
  options: ConversationOptions,
  { speech, recording }: ReturnType<typeof prepare>,
): Promise<void> {
  const timer = options.for === undefined ? undefined : setTimeout(() => stream.close(), options.for * 1000);
  if (options.press !== undefined) stream.press(options.press);
  if (speech !== undefined) await stream.play(speech);
  // Without a recording or a timer, the call ends when the far end has heard the speech: modem and network still hold its end.
  if (speech !== undefined && recording === undefined && timer === undefined) stream.finish();
  await stream.ended;
  clearTimeout(timer);
}
