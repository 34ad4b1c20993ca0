// A call from a terminal: says a file, presses keys, records what is heard, until the call ends or its time is over.
import type { SimrackClient } from '../simrack-client.ts';
import type { StreamEnd } from '../stream-end.ts';
import type { Session } from './session.ts';
import { Recording, readAudio } from './wave-file.ts';

export interface ConversationOptions {
  say?: string;
  record?: string;
  press?: string;
  for?: number;
}

/** What is read and opened before there is a call: a bad file costs nobody a ring. Throws `UsageError`. */
export function prepare({ say, record }: ConversationOptions) {
  return {
    speech: say === undefined ? undefined : readAudio(say),
    recording: record === undefined ? undefined : new Recording(record),
  };
}

export interface Conversation {
  answered: boolean;
  end: StreamEnd;
  recorded_ms?: number;
}

const BYTES_PER_MS = 32;

/** Opens the stream of a call, which answers one that rings. Ctrl-C hangs up. */
export async function converse(
  { client, callId, session }: { client: SimrackClient; callId: string; session: Session },
  options: ConversationOptions,
  { speech, recording }: ReturnType<typeof prepare>,
): Promise<Conversation> {
  let onAnswered: (isAnswered: boolean) => void = () => undefined;
  const answered = new Promise<boolean>((resolve) => {
    onAnswered = resolve;
  });
  let isAnswered = false;
  const stream = await client.stream(callId, {
    onAudio: (frame) => recording?.add(frame),
    onEvent(event) {
      if (event.type === 'dtmf') session.note(`the far end pressed ${event.digit}`);
      if (event.type !== 'answered') return;
      session.note('answered');
      isAnswered = true;
      onAnswered(true);
    },
  });
  const hangUp = (): void => stream.close();
  process.once('SIGINT', hangUp);
  let timer: NodeJS.Timeout | undefined;
  const talk = async (): Promise<void> => {
    if (!(await answered)) return;
    if (options.for !== undefined) timer = setTimeout(hangUp, options.for * 1000);
    if (options.press !== undefined) stream.press(options.press);
    if (speech !== undefined) await stream.play(speech);
    // Who only says something has nothing to wait for.
    if (speech !== undefined && recording === undefined && options.for === undefined) hangUp();
  };
  const talking = talk();
  const end = await stream.ended;
  onAnswered(false);
  await talking;
  clearTimeout(timer);
  process.off('SIGINT', hangUp);
  recording?.close();
  return {
    ...{ answered: isAnswered, end },
    ...(recording === undefined ? {} : { recorded_ms: recording.bytes / BYTES_PER_MS }),
  };
}
