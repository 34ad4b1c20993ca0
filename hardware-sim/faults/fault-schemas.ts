// The faults that a modem can play, as data. The comment of each schema says what the fault does.
import * as z from 'zod';
import { USB_PATH } from '../usb/usb-path.ts';
import { count, DURATION_MS_MAX, durationMs, faultsOf } from './fault-fields.ts';
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
const DEVICE_FAULTS = faultsOf({
  /** The port stays open, but the modem reads and answers nothing. Messages wait at the carrier. */
  silent: { duration_ms: durationMs },
  /**
   * The modem hangs until `cured_by` or a stronger step happens. The steps, from weak to strong: `reopen` (close
   * and open the port), `radio` (radio off and on), `restart` (restart by command), `usb_reset` (USB reset or power
   * cycle). With `radio`, the modem answers but has no network until then.
   */
  stuck: {
    /** The weakest step that ends the hang. */
    cured_by: z.enum(['reopen', 'radio', 'restart', 'usb_reset']),
  },
  /**
   * The device is unplugged. With `back_after_ms` it comes back, under the port name `as` and at the place
   * `usb_path` if given.
   */
  unplug: {
    /** Comes back after this time. Without it, the device stays away. */
    back_after_ms: delayMs.optional(),
    /** Name of the ports when it is back. */
    as: z
      .string()
      .regex(/^[a-z][a-z0-9]{0,31}$/, 'must be a name of lower case letters and digits')
      .optional(),
    /** Place on the bus when it is back. The place must be free. */
    usb_path: z.string().regex(USB_PATH, 'must be a place on the bus, such as 1-1.4').optional(),
  },
  /**
   * The device disappears and comes back with other port numbers. With `storage_ms` it first shows its driver disk
   * for that time.
   */
  port_gone: {
    /** Comes back after this time. */
    back_after_ms: delayMs.default(5000),
    /** Shows its driver disk for this time first. */
    storage_ms: delayMs.default(0),
  },
  /** The device disappears and comes back as its driver disk, without ports. */
  storage: { duration_ms: durationMs },
  /** The modem forgets its stored settings at each start: carrier profile, calls over LTE, contexts, radio mode. */
  settings_lost: { duration_ms: durationMs },
  /** The firmware of a Quectel modem has only these carrier profiles (`+QMBNCFG`). */
  carrier_profiles: {
    /** Names out of its list. */
    names: z.array(z.string().max(64)).max(32),
  },
  /** The modem restarts on its own: all settings are lost, the ports stay. */
  reset: {},
  /** The port accepts bytes until it is full, but the modem reads none of them. */
  not_reading: { duration_ms: durationMs },
});

/** Faults of the dialogue on a port. */
const DIALOGUE_FAULTS = faultsOf({
  /** The next commands fail with `+CMS ERROR`. Without `command`, sending fails: the network refuses the message. */
  cms_error: {
    /** Error code. */
    code: errorCode,
    count,
    command: commandName,
  },
  /** The next commands fail with `+CME ERROR`. Without `command`, any extended command fails. */
  cme_error: {
    /** Error code. */
    code: errorCode,
    count,
    command: commandName,
  },
  /** Answers come this much later, and the modem does nothing else meanwhile. */
  slow_answer: { /** Delay. */ ms: delayMs, count },
  /** The answer comes before the answer to the next command, or after `ms` if no other command comes. */
  late_answer: {
    /** Latest time of the answer. */
    ms: z.int().min(1).max(DURATION_MS_MAX).default(60_000),
    count,
  },
  /** The echo switches on or off on its own. */
  echo: { to: z.enum(['on', 'off']) },
  /** The modem sends no `>` prompt and waits for a message body until an escape. */
  lose_prompt: { count },
  /**
   * The prompt comes, and `+CMS ERROR` while the body is still being written; the rest of the body is read as
   * garbage.
   */
  error_after_prompt: {
    /** Error code. */
    code: errorCode.default(500),
    /** Characters of the body before the error. */
    after_characters: z.int().min(1).max(300).default(10),
    count,
  },
  /** The message is sent, but its result never comes. */
  lose_result: { count },
  /** An unsolicited line appears inside an answer. */
  urc_mid_answer: {
    count,
    line: z
      .string()
      .regex(/^[ -~]{1,120}$/, 'must be 1 to 120 printable ASCII characters')
      .default('+QIND: "csq",21,99'),
  },
  /** Two unsolicited lines come as one, with one line end or nothing between them. */
  glued_urcs: { apart_by: z.enum(['line_end', 'nothing']).default('line_end'), count },
  /** Unsolicited lines go to this port, or to none, regardless of the settings. */
  urc_port: { port: z.enum(['at', 'at2', 'none']), duration_ms: durationMs },
  /** Line noise comes before an answer. */
  garbage: {
    count,
    hex: z
      .string()
      .regex(/^([0-9a-fA-F]{2}){1,1024}$/, 'must be 1 to 1024 octets in hex')
      .default('00FFFE0D0A7E4A8013FF'),
  },
});

/** Faults of the stores and of announcements. */
const STORE_FAULTS = faultsOf({
  /** A message arrives without an announcement. */
  urc_lost: { count },
  /**
   * The announcement is wrong. `no_memory`: index -1, and the message comes again after `retry_ms`.
   * `other_memory`: the message is in the memory that `+CPMS` did not choose. `empty_slot`: nothing is at the
   * index. `mms_push`: a multimedia notification.
   */
  cmti: {
    form: z.enum(['no_memory', 'other_memory', 'empty_slot', 'mms_push']),
    /** With `no_memory`: time until the message comes again. */
    retry_ms: z.int().min(1).max(DURATION_MS_MAX).default(5000),
    count,
  },
  /** A deletion fails: refused (`error`), or confirmed but not done (`ok`). */
  delete_fails: { count, answer: z.enum(['error', 'ok']).default('error') },
  /** The modem reports no room for received messages, regardless of its stores. */
  store_full: { duration_ms: durationMs },
  /** The stores have this many slots. */
  capacity: { SM: slots, ME: slots, SR: slots, duration_ms: durationMs },
});

/** Faults of the card, the network and the carrier. */
const NETWORK_FAULTS = faultsOf({
  /**
   * The SIM card is in this state. `tries`: tries left for the PIN. `urc`: the modem announces that the card goes
   * and comes.
   */
  sim: {
    state: z.enum(['not_inserted', 'pin', 'puk', 'busy', 'failure']),
    tries: z.int().min(1).max(3).optional(),
    urc: z.boolean().optional(),
    duration_ms: durationMs,
  },
  /** The modem searches for a network and finds none. */
  not_registered: { duration_ms: durationMs },
  /** The network refuses the card, with a cause of 3GPP TS 24.008 §10.5.3.6. */
  denied: { cause: octet.optional(), duration_ms: durationMs },
  /** The modem is registered in a foreign network. Everything works. */
  roaming: { duration_ms: durationMs },
  /** `+CREG` reports denied and `+CEREG` reports registered. Everything works. */
  volte_only: { duration_ms: durationMs },
  /** The modem loses and regains its registration: half of each period without, half with. */
  flapping: { period_ms: z.int().min(10).max(DURATION_MS_MAX), duration_ms: durationMs },
  /** Registering, sending and receiving take this long each. */
  slow_network: {
    /** Delay. */
    ms: delayMs,
    duration_ms: durationMs,
  },
  /** The signal in `+CSQ`: 0 to 31, or 99 for unknown. */
  signal: { rssi: z.int().min(0).max(99), duration_ms: durationMs },
  /** Each message takes this long on the air. */
  send_delay: { /** Time on the air. */ ms: delayMs },
  /**
   * The time of the network is wrong, in messages and in `+CCLK`: off by `years`, or with time stamp octets `scts`
   * that are not a time.
   */
  clock: {
    years: z.int().min(-60).max(60).default(0),
    scts: z
      .string()
      .regex(/^[0-9a-fA-F]{14}$/, 'must be 7 octets in hex')
      .optional(),
    duration_ms: durationMs,
  },
  /** All messages get this reference. */
  message_reference: { value: octet.default(0), duration_ms: durationMs },
  /** The delivery reports for messages of this modem are unusual in the given ways. */
  status_report: {
    /** TP-Status of the report (3GPP TS 23.040 §9.2.3.15). */
    tp_status: octet.optional(),
    /** No report comes. */
    withheld: z.boolean().optional(),
    /** Each report comes twice. */
    duplicated: z.boolean().optional(),
    /** Reference in the report. */
    message_reference: octet.optional(),
    /** How the report writes the recipient: without the country code, or as digits of unknown type. */
    recipient: z.enum(['as_sent', 'national', 'digits']).optional(),
    /** A report for an older message with the same reference comes first, and says that it expired. */
    yesterday: z.boolean().optional(),
    /** The report comes before `+CMGS`. */
    before_result: z.boolean().optional(),
    /** Number of the service center. */
    service_centre: z
      .string()
      .regex(/^\+\d{5,15}$/, 'must be E.164')
      .optional(),
    /** Memory in which `+CDSI` announces the report. */
    memory: z.enum(['SM', 'ME', 'SR']).optional(),
  },
});

export const FAULT_SCHEMAS = {
  ...DEVICE_FAULTS,
  ...DIALOGUE_FAULTS,
  ...STORE_FAULTS,
  ...NETWORK_FAULTS,
  ...VOICE_FAULTS,
} as const;
