// WebSocket frames as no library would write them (RFC 6455 §5.2).
import fc, { type Arbitrary } from 'fast-check';

export interface Frame {
  isFinal: boolean;
  /** The three reserved bits. */
  reserved: number;
  opcode: number;
  isMasked: boolean;
  payload: Uint8Array;
  /** The value of the header in place of the length of the payload. */
  length?: bigint | undefined;
}

export function encodeFrame({ isFinal, reserved, opcode, isMasked, payload, length }: Frame): Buffer {
  const size = length ?? BigInt(payload.length);
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const mask = Buffer.from([1, 2, 3, 4]);
  const bit = isMasked ? 0x80 : 0;
  let header: Buffer;
  if (size < 126n) header = Buffer.from([first, bit | Number(size)]);
  else if (size < 65_536n) {
    header = Buffer.from([first, bit | 126, 0, 0]);
    header.writeUInt16BE(Number(size), 2);
  } else {
    header = Buffer.from([first, bit | 127, 0, 0, 0, 0, 0, 0, 0, 0]);
    header.writeBigUInt64BE(size, 2);
  }
  if (!isMasked) return Buffer.concat([header, payload]);
  const masked = Buffer.from(payload.map((octet, index) => octet ^ (mask[index % 4] ?? 0)));
  return Buffer.concat([header, mask, masked]);
}

const TEXT = 1;
const BINARY = 2;

/** A frame of text or of octets that a library would write, too. */
const plain = (opcode: number, payload: Uint8Array): Frame => ({
  isFinal: true,
  reserved: 0,
  opcode,
  isMasked: true,
  payload,
});

/** Frames that carry these texts, and frames that are broken in every way. */
export function frames(texts: Arbitrary<Buffer>): Arbitrary<Frame> {
  const octets = fc.oneof(
    fc.uint8Array({ maxLength: 700 }),
    fc.constantFrom(640, 641, 65_536, 65_537, 200_000).map((size) => new Uint8Array(size)),
  );
  const broken = fc.record({
    isFinal: fc.boolean(),
    reserved: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(7)),
    opcode: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(0, TEXT, BINARY, 8, 9, 10) }, fc.nat(15)),
    isMasked: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false)),
    payload: fc.oneof(texts, fc.uint8Array({ maxLength: 130 })),
    length: fc.option(fc.constantFrom(0n, 126n, 65_535n, 2n ** 31n, 2n ** 53n, 2n ** 64n - 1n), {
      nil: undefined,
      freq: 8,
    }),
  });
  return fc.oneof(
    { weight: 3, arbitrary: texts.map((text) => plain(TEXT, text)) },
    { weight: 2, arbitrary: octets.map((some) => plain(BINARY, some)) },
    { weight: 2, arbitrary: broken },
  );
}
