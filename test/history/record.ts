// The records of a run: the requests, the carrier's data, the API's data. Plain data.

/** A text to a SIM of the rack; all posts of it are equal. */
export interface InboundRecord {
  key: string;
  /** The receiving modem, from 0. */
  modem: number;
  from: string;
  text: string;
  parts: readonly string[];
  /** Each time that the carrier accepted it, in order. */
  posts: InboundPost[];
}

interface InboundPost {
  /** Id of the first part at the carrier; the others follow without a gap. */
  id: number;
  /** Around the moment of acceptance. */
  fromMs: number;
  untilMs: number;
}

/** The API's answer to a send. */
export type SendAnswer =
  | { kind: 'accepted'; messageId: string }
  /** Certainly not sent, with the reason. */
  | { kind: 'refused'; reason: string }
  /** 502 without a reason: the history decides. */
  | { kind: 'open' }
  /** 500 or 503: the service failed, before or after it noted the request. */
  | { kind: 'broken' }
  /** The connection broke: the request may have been read. */
  | { kind: 'cut' };

/** A text that a subscriber asked to send, once. */
export interface OutboundRecord {
  key: string;
  /** The sending modem, from 0. */
  modem: number;
  to: string;
  /** The recipient's modem, if it has one. */
  toModem: number | undefined;
  text: string;
  parts: readonly string[];
  fromMs: number;
  untilMs: number;
  answer: SendAnswer;
}

/** A segment that the carrier heard: `GET /sms` of the simulator. */
export interface HeardRecord {
  id: number;
  atMs: number;
  /** E.164. */
  from: string;
  to: string;
  body: string;
}

/** A message or report that a modem took: event `sms_delivered` of the simulator. */
export interface DeliveredRecord {
  /** At the carrier. */
  id: number;
  /** Counts events: the order in which modems took messages. */
  order: number;
  atMs: number;
  modem: number;
  kind: 'deliver' | 'report';
  /** Null when it was handed to the terminal and is in no store. */
  memory: string | null;
  index: number | null;
}

/** One request to /sms/receive. */
export interface ClaimRecord {
  fromMs: number;
  untilMs: number;
  /** `undefined` when the answer never came. */
  messages: Array<{ id: number; digest: number }> | undefined;
}

/** A row of /sms/messages. */
export interface HistoryRow {
  id: number;
  direction: 'sent' | 'received';
  from: string;
  to: string;
  body: string;
  messageId: string | null;
  status: string | null;
  createdAt: string;
  deliveredAt: string | null;
}

/** Something that was broken on purpose. */
export interface DisturbanceRecord {
  /** A fault's name, `kill` or `stall`. */
  what: string;
  /** The modem, from 0, or the program. */
  target: number | 'node-daemon' | 'control-plane';
  fromMs: number;
  untilMs: number;
  mayReorder: boolean;
  /** The simulator's instructions, for the reader of a report. */
  detail: string;
}

/** Everything of a run but the rows, which are read number by number. */
export interface RunRecord {
  /** E.164, by modem. */
  numbers: readonly string[];
  inbound: ReadonlyMap<string, InboundRecord>;
  outbound: ReadonlyMap<string, OutboundRecord>;
  heard: readonly HeardRecord[];
  /** By id at the carrier. */
  delivered: ReadonlyMap<number, DeliveredRecord>;
  /** By modem. */
  claims: readonly (readonly ClaimRecord[])[];
  /** When the last claim was begun; `Infinity` while claims go on. */
  claimedUntilMs: number;
  disturbances: readonly DisturbanceRecord[];
  /** The event stream broke: what modems took meanwhile is not known. */
  eventsLost: boolean;
  /** Commands that a node got which holds no SIM, as text. */
  rogueCommands: readonly string[];
  /** Calls in the lists of all numbers; the run makes none. */
  calls: number;
}
