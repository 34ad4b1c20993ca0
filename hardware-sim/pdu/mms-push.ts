// The announcement of an MMS, as a carrier's MMS center pushes it: M-Notification.ind (OMA-TS-MMS_ENC) in a WSP push, cut into
// short messages of 8 bit data for port 2948.
import { PduError } from './octets.ts';
import type { UserData } from './user-data.ts';

/** 8 bit data, class 1 (3GPP TS 23.038 §4), as MMS centers send it. */
const DCS_8_BIT = 0x15;
const USER_DATA_OCTETS_MAX = 140;
const SEGMENTS_MAX = 255;
/** Destination port 2948, source port 9200. */
const PORTS = [0x05, 0x04, 0x0b, 0x84, 0x23, 0xf0];
const MEDIA = 'application/vnd.wap.mms-message';

/** An MMS that waits in the MMS center. */
export interface WaitingMms {
  /** Transaction of its announcements. */
  transaction: string;
  /** E.164; null: withheld. */
  from: string | null;
  sizeBytes: number;
  /** Until when it waits, from now on. */
  expiresInSeconds: number;
  subject?: string | undefined;
  /** Where a phone would fetch it. */
  location: string;
}

const text = (value: string): number[] => [...Buffer.from(value, 'utf8'), 0];
const withLength = (octets: number[]): number[] => [
  ...(octets.length <= 30 ? [octets.length] : [31, ...uintvar(octets.length)]),
  ...octets,
];

function uintvar(value: number): number[] {
  const octets = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) octets.unshift((rest & 0x7f) | 0x80);
  return octets;
}

function longInteger(value: number): number[] {
  const octets: number[] = [];
  for (let rest = value; rest > 0 || octets.length === 0; rest = Math.floor(rest / 256)) {
    octets.unshift(rest % 256);
  }
  return [octets.length, ...octets];
}

/** The push, before it is cut. */
function pushOf(mms: WaitingMms): Buffer {
  const from = mms.from === null ? [0x81] : [0x80, ...text(`${mms.from}/TYPE=PLMN`)];
  // 0xea: UTF-8.
  const subject = mms.subject === undefined ? [] : [0x96, ...withLength([0xea, ...text(mms.subject)])];
  const headers = [...text(MEDIA), 0xaf, 0x84];
  return Buffer.from([
    0x01,
    0x06,
    ...uintvar(headers.length),
    ...headers,
    ...[0x8c, 0x82],
    ...[0x98, ...text(mms.transaction)],
    ...[0x8d, 0x90],
    ...[0x89, ...withLength(from)],
    ...subject,
    ...[0x8a, 0x80],
    ...[0x8e, ...longInteger(mms.sizeBytes)],
    ...[0x88, ...withLength([0x81, ...longInteger(mms.expiresInSeconds)])],
    ...[0x83, ...text(mms.location)],
  ]);
}

/** Cuts the announcement into short messages with this reference. Throws `PduError` if they are too many. */
export function mmsSegments(mms: WaitingMms, reference: number): UserData[] {
  const push = pushOf(mms);
  const single = USER_DATA_OCTETS_MAX - PORTS.length - 1;
  if (push.length <= single) return [segmentOf(PORTS, push)];
  const size = single - 5;
  const total = Math.ceil(push.length / size);
  if (total > SEGMENTS_MAX) throw new PduError(`the announcement needs more than ${SEGMENTS_MAX} segments`);
  return Array.from({ length: total }, (_, index) =>
    segmentOf(
      [0x00, 0x03, reference % 256, total, index + 1, ...PORTS],
      push.subarray(index * size, (index + 1) * size),
    ),
  );
}

function segmentOf(elements: number[], data: Buffer): UserData {
  const octets = Buffer.concat([Buffer.from([elements.length, ...elements]), data]);
  return { dataCodingScheme: DCS_8_BIT, hasHeader: true, length: octets.length, octets };
}
