// The faults that a modem can be told to play, as data, and the ones it plays now.
import { z } from 'zod';
import type { Clock, Timer } from '#shared/clock.ts';
import { USB_PATH } from '../usb/usb-path.ts';

/** Longest duration of a fault: a day. Whoever wants more leaves the duration out. */
const DURATION_MS_MAX = 86_400_000;
const COUNT_MAX = 1_000_000;

const durationMs = z.int().min(1).max(DURATION_MS_MAX).optional();
const delayMs = z.int().min(0).max(DURATION_MS_MAX);
const count = z.int().min(1).max(COUNT_MAX).default(1);
const errorCode = z.int().min(0).max(999);
const commandName = z
  .string()
  .regex(/^[+^$*%#]?[A-Z][A-Z0-9]*$/, 'must be the name of a command, such as +CMGL')
  .optional();

const FAULT_SCHEMAS = {
  /** The line stays, the modem is dead: it swallows everything and answers nothing. */
  silent: z.strictObject({ kind: z.literal('silent'), duration_ms: durationMs }),
  /** The device leaves; `as` is the name under which its ports come back, `usb_path` the place. */
  unplug: z.strictObject({
    kind: z.literal('unplug'),
    back_after_ms: z.int().min(0).max(DURATION_MS_MAX).optional(),
    as: z
      .string()
      .regex(/^[a-z][a-z0-9]{0,31}$/, 'must be a name of lower case letters and digits')
      .optional(),
    usb_path: z.string().regex(USB_PATH, 'must be a place on the bus, such as 1-1.4').optional(),
  }),
  /** The device leaves and comes back as the disk with its drivers, as which it has no ports. */
  storage: z.strictObject({ kind: z.literal('storage'), duration_ms: durationMs }),
  /** The modem restarts by itself: settings are lost, the ports stay. */
  reset: z.strictObject({ kind: z.literal('reset') }),
  /** `command` defaults to sending: the network refuses the message. */
  cms_error: z.strictObject({
    kind: z.literal('cms_error'),
    code: errorCode,
    count,
    command: commandName,
  }),
  /** `command` defaults to any extended command. */
  cme_error: z.strictObject({
    kind: z.literal('cme_error'),
    code: errorCode,
    count,
    command: commandName,
  }),
  /** Answers come late. */
  slow_answer: z.strictObject({ kind: z.literal('slow_answer'), ms: delayMs, count }),
  /** Each message takes this long on the air. */
  send_delay: z.strictObject({ kind: z.literal('send_delay'), ms: delayMs }),
  /** The modem waits for a message body without saying so. */
  lose_prompt: z.strictObject({ kind: z.literal('lose_prompt'), count }),
  /** The message goes out, its result never comes. */
  lose_result: z.strictObject({ kind: z.literal('lose_result'), count }),
  /** A message arrives and is not announced. */
  urc_lost: z.strictObject({ kind: z.literal('urc_lost'), count }),
  /** An unsolicited line inside an answer. */
  urc_mid_answer: z.strictObject({
    kind: z.literal('urc_mid_answer'),
    count,
    line: z
      .string()
      .regex(/^[ -~]{1,120}$/, 'must be 1 to 120 printable ASCII characters')
      .default('+QIND: "csq",21,99'),
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
  /** A deletion that is refused, or that is confirmed and does not happen. */
  delete_fails: z.strictObject({
    kind: z.literal('delete_fails'),
    count,
    answer: z.enum(['error', 'ok']).default('error'),
  }),
  /** No room for received messages, whatever the stores hold. */
  store_full: z.strictObject({ kind: z.literal('store_full'), duration_ms: durationMs }),
  /** The modem searches for a network and finds none. */
  not_registered: z.strictObject({ kind: z.literal('not_registered'), duration_ms: durationMs }),
  /** The network refuses the SIM. */
  denied: z.strictObject({ kind: z.literal('denied'), duration_ms: durationMs }),
  /** +CREG says denied for ever and +CEREG says registered: everything works. */
  volte_only: z.strictObject({ kind: z.literal('volte_only'), duration_ms: durationMs }),
  sim: z.strictObject({
    kind: z.literal('sim'),
    state: z.enum(['not_inserted', 'pin', 'puk', 'busy', 'failure']),
    duration_ms: durationMs,
  }),
  /** What the carrier reports on this modem's messages: another TP-ST, nothing, or everything twice. */
  status_report: z.strictObject({
    kind: z.literal('status_report'),
    tp_status: z.int().min(0).max(255).optional(),
    withheld: z.boolean().optional(),
    duplicated: z.boolean().optional(),
  }),
} as const;

type Schemas = typeof FAULT_SCHEMAS;
/** Names of the faults. */
export type FaultKind = keyof Schemas;
/** A fault of one kind, with defaults filled in. */
export type FaultOf<K extends FaultKind> = z.output<Schemas[K]>;
/** Any fault. */
export type Fault = { [K in FaultKind]: FaultOf<K> }[FaultKind];

/** A fault that cannot be played as it was described; the message says what can. */
export class FaultError extends Error {
  override name = 'FaultError';
}

/** Checks a fault as it came over HTTP and fills in the defaults. Throws `FaultError`. */
export function parseFault(value: unknown): Fault {
  const kind = typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined;
  if (typeof kind !== 'string' || !Object.hasOwn(FAULT_SCHEMAS, kind)) {
    throw new FaultError(`kind must be one of ${Object.keys(FAULT_SCHEMAS).join(', ')}`);
  }
  const schema = FAULT_SCHEMAS[kind as FaultKind];
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => `${[...issue.path, issue.message].join(': ')}`);
  const allowed = Object.keys(schema.shape).join(', ');
  throw new FaultError(`${issues.join('; ')}. Fields of ${kind}: ${allowed}`);
}

interface Active {
  fault: Fault;
  expiry: Timer | undefined;
}

/** The faults of one modem, at most one of each kind. */
export class FaultSet {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #active = new Map<FaultKind, Active>();

  /** `onChange` is called after a fault came or went. */
  constructor(clock: Clock, onChange: () => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** Active faults, with what is left of their counts. */
  list(): Fault[] {
    return [...this.#active.values()].map(({ fault }) => fault);
  }

  /** Replaces an active fault of the same kind. */
  set(fault: Fault): void {
    this.#remove(fault.kind);
    const duration = 'duration_ms' in fault ? fault.duration_ms : undefined;
    const expiry =
      duration === undefined ? undefined : this.#clock.after(duration, () => this.end(fault.kind));
    this.#active.set(fault.kind, { fault, expiry });
    this.#onChange();
  }

  end(kind: FaultKind): void {
    if (this.#remove(kind)) this.#onChange();
  }

  clear(): void {
    const kinds = [...this.#active.keys()];
    for (const kind of kinds) this.#remove(kind);
    if (kinds.length > 0) this.#onChange();
  }

  get<K extends FaultKind>(kind: K): FaultOf<K> | undefined {
    return this.#active.get(kind)?.fault as FaultOf<K> | undefined;
  }

  /** The active fault of a kind that counts, counted down; it ends with its last use. */
  take<K extends FaultKind>(kind: K): FaultOf<K> | undefined {
    const active = this.#active.get(kind);
    if (active === undefined) return undefined;
    const { fault } = active;
    if ('count' in fault) {
      if (fault.count <= 1) this.#remove(kind);
      else active.fault = { ...fault, count: fault.count - 1 };
    }
    return fault as FaultOf<K>;
  }

  #remove(kind: FaultKind): boolean {
    this.#active.get(kind)?.expiry?.cancel();
    return this.#active.delete(kind);
  }
}
