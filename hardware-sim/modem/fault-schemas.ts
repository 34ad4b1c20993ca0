// The faults that a modem can be told to play, as data. Each schema says what its fault plays.
import * as z from 'zod';
import { USB_PATH } from '../usb/usb-path.ts';
import { COUNT as count, DURATION_MS_MAX, DURATION_MS as durationMs } from './fault-fields.ts';
import { VOICE_FAULTS } from './voice-fault-schemas.ts';

const delayMs = z.int().min(0).max(DURATION_MS_MAX);
const errorCode = z.int().min(0).max(999);
const octet = z.int().min(0).max(255);
const commandName = z
  .string()
  .regex(/^[+^$*%#]?[A-Z][A-Z0-9]*$/, 'must be the name of a command, such as +CMGL')
  .optional();
const slots = z.int().min(1).max(255).optional();

/** Faults of the whole device and of its place on the bus. */
const DEVICE_FAULTS = {
  /** The line stays, the modem is dead: it swallows everything and answers nothing. */
  silent: z.strictObject({ kind: z.literal('silent'), duration_ms: durationMs }),
  /**
   * The modem hangs until this step or a stronger one: ports closed and opened again; radio off and on (it
   * answers and has no network until then); a restart by command; its USB device reset or without power.
   */
  stuck: z.strictObject({
    kind: z.literal('stuck'),
    cured_by: z.enum(['reopen', 'radio', 'restart', 'usb_reset']),
  }),
  /** The device leaves; `as` is the name under which its ports come back, `usb_path` the place. */
  unplug: z.strictObject({
    kind: z.literal('unplug'),
    back_after_ms: delayMs.optional(),
    as: z
      .string()
      .regex(/^[a-z][a-z0-9]{0,31}$/, 'must be a name of lower case letters and digits')
      .optional(),
    usb_path: z.string().regex(USB_PATH, 'must be a place on the bus, such as 1-1.4').optional(),
  }),
  /** The device leaves by itself; its terminals come back under other numbers, as storage first if told. */
  port_gone: z.strictObject({
    kind: z.literal('port_gone'),
    back_after_ms: delayMs.default(5000),
    storage_ms: delayMs.default(0),
  }),
  /** The device leaves and comes back as the disk with its drivers, as which it has no ports. */
  storage: z.strictObject({ kind: z.literal('storage'), duration_ms: durationMs }),
  /** The modem restarts by itself: settings are lost, the ports stay. */
  reset: z.strictObject({ kind: z.literal('reset') }),
  /** The ports take what is written until they are full, and the modem reads nothing of it. */
  not_reading: z.strictObject({ kind: z.literal('not_reading'), duration_ms: durationMs }),
} as const;

/** Faults of the dialogue on a port. */
const DIALOGUE_FAULTS = {
  /** `command` defaults to sending: the network refuses the message. */
  cms_error: z.strictObject({ kind: z.literal('cms_error'), code: errorCode, count, command: commandName }),
  /** `command` defaults to any extended command. */
  cme_error: z.strictObject({ kind: z.literal('cme_error'), code: errorCode, count, command: commandName }),
  /** Answers come late. */
  slow_answer: z.strictObject({ kind: z.literal('slow_answer'), ms: delayMs, count }),
  /** The answer comes with the next command, in front of its answer, or after `ms` when there is none. */
  late_answer: z.strictObject({
    kind: z.literal('late_answer'),
    ms: z.int().min(1).max(DURATION_MS_MAX).default(60_000),
    count,
  }),
  /** The echo is switched by itself. */
  echo: z.strictObject({ kind: z.literal('echo'), to: z.enum(['on', 'off']) }),
  /** The modem waits for a message body without saying so. */
  lose_prompt: z.strictObject({ kind: z.literal('lose_prompt'), count }),
  /** The prompt comes, and the error while the body is still being written: the rest of it is noise. */
  error_after_prompt: z.strictObject({
    kind: z.literal('error_after_prompt'),
    code: errorCode.default(500),
    after_characters: z.int().min(1).max(300).default(10),
    count,
  }),
  /** The message goes out, its result never comes. */
  lose_result: z.strictObject({ kind: z.literal('lose_result'), count }),
  /** An unsolicited line inside an answer. */
  urc_mid_answer: z.strictObject({
    kind: z.literal('urc_mid_answer'),
    count,
    line: z
      .string()
      .regex(/^[ -~]{1,120}$/, 'must be 1 to 120 printable ASCII characters')
      .default('+QIND: "csq",21,99'),
  }),
  /** Pairs of unsolicited lines that come as one: with one line end between them, or with nothing. */
  glued_urcs: z.strictObject({
    kind: z.literal('glued_urcs'),
    apart_by: z.enum(['line_end', 'nothing']).default('line_end'),
    count,
  }),
  /** Unsolicited lines go to another port, or to none, whatever the settings say. */
  urc_port: z.strictObject({
    kind: z.literal('urc_port'),
    port: z.enum(['at', 'at2', 'none']),
    duration_ms: durationMs,
  }),
  /** Bytes of line noise in front of an answer. */
  garbage: z.strictObject({
    kind: z.literal('garbage'),
    count,
    hex: z
      .string()
      .regex(/^([0-9a-fA-F]{2}){1,1024}$/, 'must be 1 to 1024 octets in hex')
      .default('00FFFE0D0A7E4A8013FF'),
  }),
} as const;

/** Faults of the stores and of what is told of them. */
const STORE_FAULTS = {
  /** A message arrives and is not announced. */
  urc_lost: z.strictObject({ kind: z.literal('urc_lost'), count }),
  /**
   * What is wrong with an announcement. `no_memory`: `,-1`, the message is not stored and comes again after
   * `retry_ms`; `other_memory`: stored and announced in the memory that +CPMS did not choose; `empty_slot`:
   * an index where nothing lies; `mms_push`: as a notification of a multimedia message.
   */
  cmti: z.strictObject({
    kind: z.literal('cmti'),
    form: z.enum(['no_memory', 'other_memory', 'empty_slot', 'mms_push']),
    retry_ms: z.int().min(1).max(DURATION_MS_MAX).default(5000),
    count,
  }),
  /** A deletion that is refused, or that is confirmed and does not happen. */
  delete_fails: z.strictObject({
    kind: z.literal('delete_fails'),
    count,
    answer: z.enum(['error', 'ok']).default('error'),
  }),
  /** No room for received messages, whatever the stores hold. */
  store_full: z.strictObject({ kind: z.literal('store_full'), duration_ms: durationMs }),
  /** The stores have fewer slots. */
  capacity: z.strictObject({
    kind: z.literal('capacity'),
    SM: slots,
    ME: slots,
    SR: slots,
    duration_ms: durationMs,
  }),
} as const;

/** Faults of the card, the network and the carrier. */
const NETWORK_FAULTS = {
  /** `tries` are those left for the PIN; with `urc` the modem tells of a card that goes and comes. */
  sim: z.strictObject({
    kind: z.literal('sim'),
    state: z.enum(['not_inserted', 'pin', 'puk', 'busy', 'failure']),
    tries: z.int().min(1).max(3).optional(),
    urc: z.boolean().optional(),
    duration_ms: durationMs,
  }),
  /** The modem searches for a network and finds none. */
  not_registered: z.strictObject({ kind: z.literal('not_registered'), duration_ms: durationMs }),
  /** The network refuses the card; `cause` as in 3GPP TS 24.008 §10.5.3.6. */
  denied: z.strictObject({ kind: z.literal('denied'), cause: octet.optional(), duration_ms: durationMs }),
  /** Registered in a foreign network. */
  roaming: z.strictObject({ kind: z.literal('roaming'), duration_ms: durationMs }),
  /** +CREG says denied for ever and +CEREG says registered: everything works. */
  volte_only: z.strictObject({ kind: z.literal('volte_only'), duration_ms: durationMs }),
  /** The registration goes and comes, each half a period long. */
  flapping: z.strictObject({
    kind: z.literal('flapping'),
    period_ms: z.int().min(10).max(DURATION_MS_MAX),
    duration_ms: durationMs,
  }),
  /** Whatever needs the network takes this long: to register, to send, to receive each message. */
  slow_network: z.strictObject({ kind: z.literal('slow_network'), ms: delayMs, duration_ms: durationMs }),
  /** `rssi` of +CSQ: 0 to 31, or 99 for unknown. */
  signal: z.strictObject({
    kind: z.literal('signal'),
    rssi: z.int().min(0).max(99),
    duration_ms: durationMs,
  }),
  /** Each message takes this long on the air. */
  send_delay: z.strictObject({ kind: z.literal('send_delay'), ms: delayMs }),
  /** The network's time, in messages and in +CCLK: so many years off, or seven octets that are no time. */
  clock: z.strictObject({
    kind: z.literal('clock'),
    years: z.int().min(-60).max(60).default(0),
    scts: z
      .string()
      .regex(/^[0-9a-fA-F]{14}$/, 'must be 7 octets in hex')
      .optional(),
    duration_ms: durationMs,
  }),
  /** The modem gives all messages one reference. */
  message_reference: z.strictObject({
    kind: z.literal('message_reference'),
    value: octet.default(0),
    duration_ms: durationMs,
  }),
  /** What the carrier reports on this modem's messages, and where the modem keeps it. */
  status_report: z.strictObject({
    kind: z.literal('status_report'),
    tp_status: octet.optional(),
    withheld: z.boolean().optional(),
    duplicated: z.boolean().optional(),
    message_reference: octet.optional(),
    recipient: z.enum(['as_sent', 'national', 'digits']).optional(),
    yesterday: z.boolean().optional(),
    before_result: z.boolean().optional(),
    service_centre: z
      .string()
      .regex(/^\+\d{5,15}$/, 'must be E.164')
      .optional(),
    memory: z.enum(['SM', 'ME', 'SR']).optional(),
  }),
} as const;

/** All faults by kind. */
export const FAULT_SCHEMAS = {
  ...DEVICE_FAULTS,
  ...DIALOGUE_FAULTS,
  ...STORE_FAULTS,
  ...NETWORK_FAULTS,
  ...VOICE_FAULTS,
} as const;
