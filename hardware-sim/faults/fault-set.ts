// The faults that a modem plays now, and reading the description of one.
import type * as z from 'zod';
import type { Clock, Timer } from '#shared/clock.ts';
import { FAULT_SCHEMAS } from './fault-schemas.ts';

type Schemas = typeof FAULT_SCHEMAS;
/** Names of the faults. */
export type FaultKind = keyof Schemas;
/** A fault of one kind, with defaults filled in. */
export type FaultOf<K extends FaultKind> = z.output<Schemas[K]>;
/** Any fault. */
export type Fault = { [K in FaultKind]: FaultOf<K> }[FaultKind];

/** A fault that the modem cannot play. The message says which values are allowed. */
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

  has(kind: FaultKind): boolean {
    return this.#active.has(kind);
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
