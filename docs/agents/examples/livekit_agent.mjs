// A LiveKit agent takes the calls of a number, without a room or a LiveKit server.
// npm i @livekit/agents @livekit/rtc-node ws <path of simrack-client-0.1.0.tgz>
import { ReadableStream } from 'node:stream/web';
import { voice } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';
import { SimrackClient } from 'simrack-client';
import { createSession } from './session.mjs'; // yours: returns { session, agent, onKey }

const RATE_HZ = 16_000;
const WAITING_FRAMES_MAX = 500; // 10 s of 20 ms frames: an agent that is slower misses audio

class CallInput extends voice.AudioInput {
  #frames;

  constructor() {
    super();
    this.multiStream.addInputStream(new ReadableStream({ start: (frames) => void (this.#frames = frames) }));
  }

  push(audio) {
    if (this.#frames.desiredSize < -WAITING_FRAMES_MAX) return;
    const samples = new Int16Array(new Uint8Array(audio).buffer); // a copy
    this.#frames.enqueue(new AudioFrame(samples, RATE_HZ, 1, samples.length));
  }
}

class CallOutput extends voice.AudioOutput {
  #stream;
  #segments = []; // not finished yet; the last one may still grow

  constructor(stream) {
    super(RATE_HZ, undefined, { pause: false });
    this.#stream = stream;
  }

  async captureFrame(frame) {
    await super.captureFrame(frame);
    let segment = this.#segments.at(-1);
    if (segment === undefined || segment.isFlushed) {
      segment = { ms: 0, isFlushed: false };
      this.#segments.push(segment);
      this.onPlaybackStarted(Date.now());
    }
    segment.ms += (frame.samplesPerChannel / RATE_HZ) * 1_000;
    this.#stream.send(new Uint8Array(frame.data.buffer, frame.data.byteOffset, frame.data.byteLength));
  }

  flush() {
    super.flush();
    const segment = this.#segments.at(-1);
    if (segment === undefined || segment.isFlushed) return;
    segment.isFlushed = true;
    void this.#stream.mark().then((isPlayed) => {
      if (this.#segments.includes(segment)) this.#finish(segment, isPlayed ? segment.ms : 0, !isPlayed);
    });
  }

  clearBuffer() {
    super.flush();
    const cleared = this.#segments.splice(0);
    const totalMs = cleared.reduce((sum, { ms }) => sum + ms, 0);
    const dropped = this.#stream.clear().then(
      ({ dropped_ms: ms }) => ms,
      () => totalMs, // the call has ended
    );
    void dropped.then((droppedMs) => {
      let heardMs = Math.max(0, totalMs - droppedMs);
      for (const segment of cleared) {
        const ms = Math.min(segment.ms, heardMs);
        heardMs -= ms;
        this.#finish(segment, ms, true);
      }
    });
  }

  #finish(segment, ms, interrupted) {
    this.#segments = this.#segments.filter((each) => each !== segment);
    this.onPlaybackFinished({ playbackPosition: ms / 1_000, interrupted });
  }
}

const client = new SimrackClient({ baseUrl: process.env.SIMRACK_URL, token: process.env.SIMRACK_TOKEN });

async function take({ call_id: callId, caller }) {
  const input = new CallInput();
  let onKey = () => undefined;
  const stream = await client.stream(callId, {
    onAudio: (audio) => input.push(audio),
    onEvent: (event) => void (event.type === 'dtmf' && onKey(event.digit)),
  });
  const call = { caller, press: (keys) => stream.press(keys), hangUp: () => stream.finish() };
  const { session, agent, ...handlers } = createSession(call);
  onKey = handlers.onKey ?? onKey;
  session.input.audio = input;
  session.output.audio = new CallOutput(stream);
  await session.start({ agent });
  await stream.ended;
  await session.close();
}

const { number } = await client.number();
await client.watchCalls(number, {
  onState: ({ connected }) => connected && console.log('waiting for calls to', number),
  onEvent: (event) => void (event.kind === 'ringing' && take(event).catch(console.error)),
});
