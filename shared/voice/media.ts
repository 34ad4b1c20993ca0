// The media link: one WebSocket for the audio of one call, opened by the node to the instance that has the client.
//
// Binary frames carry 20 ms of audio each way. The modem is the clock: a capture frame comes for each 20 ms that the
// modem took and gave, says how far the client's audio was played, and grants what may be sent next. Text frames are JSON.
import * as z from 'zod';

/** Signed 16 bit little-endian, mono. */
export const SAMPLE_RATE_HZ = 16_000;
export const FRAME_MS = 20;
export const FRAME_SAMPLES = 320;
export const FRAME_BYTES = 640;

/** Path of the media link below the base URL of the control plane or of one of its instances. */
export const MEDIA_PATH = '/nodes/media';

/**
 * Interval in which each side of a media link pings the other (RFC 6455 §5.5.2). Without a response until the next ping, it ends the link: a
 * host that loses power closes nothing.
 */
export const MEDIA_PING_MS = 3_000;

/** Header `Authorization` of the upgrade, with the ticket from `open_media`. */
export const mediaAuthorization = (ticket: string): string => `SimrackMedia ${ticket}`;

/** Audio of the far end. All numbers count frames of this link from 0 and never decrease. */
export interface CaptureFrame {
  /** Number of this capture frame. A missing number means that the node lost a frame. */
  readonly sequence: number;
  /** All playout frames below this number were played or cleared. */
  readonly played: number;
  /** Playout frames below this number may be sent. */
  readonly granted: number;
  /** 640 bytes of audio. */
  readonly audio: Uint8Array;
}

/** Audio of the client. */
export interface PlayoutFrame {
  /** Number of this playout frame. */
  readonly sequence: number;
  /** The client speaks in real time, so queued audio is delay. */
  readonly isLive: boolean;
  /** 640 bytes of audio. */
  readonly audio: Uint8Array;
}

const CAPTURE_HEADER_BYTES = 12;
const PLAYOUT_HEADER_BYTES = 5;
const LIVE = 1;

/** The longest frame of either kind, binary or text. */
export const MEDIA_FRAME_BYTES_MAX = 4096;

export class MediaFrameError extends Error {
  override name = 'MediaFrameError';
}

/** Three unsigned 32 bit little-endian numbers in front of the audio. */
export function encodeCapture({ sequence, played, granted, audio }: CaptureFrame): Uint8Array {
  const bytes = new Uint8Array(CAPTURE_HEADER_BYTES + FRAME_BYTES);
  const header = new DataView(bytes.buffer);
  header.setUint32(0, sequence, true);
  header.setUint32(4, played, true);
  header.setUint32(8, granted, true);
  bytes.set(audio, CAPTURE_HEADER_BYTES);
  return bytes;
}

/** The audio is a view into `bytes`. Throws `MediaFrameError`. */
export function decodeCapture(bytes: Uint8Array): CaptureFrame {
  const header = headerOf(bytes, CAPTURE_HEADER_BYTES);
  return {
    sequence: header.getUint32(0, true),
    played: header.getUint32(4, true),
    granted: header.getUint32(8, true),
    audio: bytes.subarray(CAPTURE_HEADER_BYTES),
  };
}

/** An unsigned 32 bit little-endian number and an octet of flags in front of the audio; bit 0: live. */
export function encodePlayout({ sequence, isLive, audio }: PlayoutFrame): Uint8Array {
  // Shorter audio would send what was in the memory before.
  if (audio.length !== FRAME_BYTES) throw new RangeError(`a frame has ${FRAME_BYTES} bytes of audio`);
  // From Node's pool: a call sends fifty a second, and a buffer of its own would cost more than all else here.
  const bytes = Buffer.allocUnsafe(PLAYOUT_HEADER_BYTES + FRAME_BYTES);
  bytes.writeUInt32LE(sequence, 0);
  bytes[4] = isLive ? LIVE : 0;
  bytes.set(audio, PLAYOUT_HEADER_BYTES);
  return bytes;
}

/** The audio is a view into `bytes`. Throws `MediaFrameError`. */
export function decodePlayout(bytes: Uint8Array): PlayoutFrame {
  const header = headerOf(bytes, PLAYOUT_HEADER_BYTES);
  return {
    sequence: header.getUint32(0, true),
    isLive: (header.getUint8(4) & LIVE) !== 0,
    audio: bytes.subarray(PLAYOUT_HEADER_BYTES),
  };
}

/** Audio of a frame as samples: a copy, for it may begin at an odd place. Octets are little-endian, as the machine's. */
export const samplesOf = (audio: Uint8Array): Int16Array => new Int16Array(new Uint8Array(audio).buffer);

function headerOf(bytes: Uint8Array, headerBytes: number): DataView {
  if (bytes.length !== headerBytes + FRAME_BYTES)
    throw new MediaFrameError(`${bytes.length} bytes are not a frame`);
  return new DataView(bytes.buffer, bytes.byteOffset, headerBytes);
}

/** Keys of a telephone (ITU-T Q.23). */
const DIGITS_FORM = 'must be 1 to 32 of 0-9, *, # and A-D';
export const dtmfDigitsSchema = z.string(DIGITS_FORM).regex(/^[0-9*#A-D]{1,32}$/, DIGITS_FORM);

export const serverMediaSchema = z.discriminatedUnion('type', [
  /** Drop the audio that was sent and not played. The node answers with `cleared`. */
  z.object({ type: z.literal('clear'), id: z.number().int().min(0) }),
  /** Press these keys. */
  z.object({ type: z.literal('dtmf'), digits: dtmfDigitsSchema }),
]);
export type ServerMediaMessage = z.infer<typeof serverMediaSchema>;

export const nodeMediaSchema = z.discriminatedUnion('type', [
  /** Answer to `clear`. `played` is as in a capture frame; `dropped` frames of those were dropped. */
  z.object({
    type: z.literal('cleared'),
    id: z.number().int().min(0),
    played: z.number().int().min(0),
    dropped: z.number().int().min(0),
  }),
  /** The far end pressed a key. */
  z.object({ type: z.literal('dtmf'), digit: z.string().regex(/^[0-9*#A-D]$/) }),
]);
export type NodeMediaMessage = z.infer<typeof nodeMediaSchema>;

/** Throws `MediaFrameError`. */
export const parseServerMedia = (text: string): ServerMediaMessage => parse(serverMediaSchema, text);
/** Throws `MediaFrameError`. */
export const parseNodeMedia = (text: string): NodeMediaMessage => parse(nodeMediaSchema, text);

function parse<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new MediaFrameError('not a message of the media link', { cause });
  }
}
