// The state that the records of the journal add up to: cards, modems, messages. Pure.
import { BoundedLog } from './bounded-log.ts';
import type {
  HeardMessage,
  IssuedCard,
  MemoryName,
  RackRecord,
  StoredMessage,
  WaitingMessage,
} from './records.ts';

type Store = Map<number, StoredMessage>;

interface SimMemories {
  /** The memory SM. */
  store: Store;
  /** At the carrier, in the order of acceptance. A full store stops messages, but no reports. */
  waiting: Record<WaitingMessage['kind'], Map<number, WaitingMessage>>;
}

interface ModemMemories {
  stores: Record<'ME' | 'SR', Store>;
  /** TP-MR of the next SUBMIT. */
  nextReference: number;
  /** ICCID of the card in it; null for none; `undefined` as long as it has the one of its slot. */
  sim: string | null | undefined;
}

/** Everything that survives. */
export interface RackState {
  nextId: number;
  /** By ICCID. Cards and modems that the rack does not have today keep theirs. */
  sims: Map<string, SimMemories>;
  /** By IMEI. */
  modems: Map<string, ModemMemories>;
  heard: BoundedLog<HeardMessage>;
  /** Oldest first. */
  issued: IssuedCard[];
}

/** The state of a rack that was never used; it keeps the last `keepHeard` messages of its modems. */
export function emptyRackState(keepHeard: number): RackState {
  return { nextId: 1, sims: new Map(), modems: new Map(), heard: new BoundedLog(keepHeard), issued: [] };
}

/** The memories of a card, made on first use. */
export function simMemoriesOf(state: RackState, iccid: string): SimMemories {
  let memories = state.sims.get(iccid);
  if (memories === undefined) {
    memories = { store: new Map(), waiting: { deliver: new Map(), report: new Map() } };
    state.sims.set(iccid, memories);
  }
  return memories;
}

/** The memories of a modem, made on first use. */
export function modemMemoriesOf(state: RackState, imei: string): ModemMemories {
  let memories = state.modems.get(imei);
  if (memories === undefined) {
    memories = { stores: { ME: new Map(), SR: new Map() }, nextReference: 0, sim: undefined };
    state.modems.set(imei, memories);
  }
  return memories;
}

/** A store of a card (SM) or of a modem. */
export function storeOf(state: RackState, holder: string, memory: MemoryName): Store {
  if (memory === 'SM') return simMemoriesOf(state, holder).store;
  return modemMemoriesOf(state, holder).stores[memory];
}

/** Applies one record to the state, in place. Never fails: a record about something absent changes nothing. */
export function applyRecord(state: RackState, record: RackRecord): void {
  switch (record.kind) {
    case 'waiting': {
      const { message } = record;
      simMemoriesOf(state, message.iccid).waiting[message.kind].set(message.id, message);
      countId(state, message.id);
      return;
    }
    case 'taken':
      simMemoriesOf(state, record.iccid).waiting[record.message_kind].delete(record.waiting_id);
      return;
    case 'stored':
      storeOf(state, record.holder, record.memory).set(record.index, record.message);
      return;
    case 'status': {
      const store = storeOf(state, record.holder, record.memory);
      const message = store.get(record.index);
      if (message !== undefined) store.set(record.index, { ...message, status: record.status });
      return;
    }
    case 'deleted':
      storeOf(state, record.holder, record.memory).delete(record.index);
      return;
    case 'heard': {
      const { message } = record;
      state.heard.push(message);
      modemMemoriesOf(state, message.imei).nextReference = (message.message_reference + 1) & 0xff;
      countId(state, message.id);
      return;
    }
    case 'placed':
      modemMemoriesOf(state, record.imei).sim = record.iccid;
      return;
    case 'issued':
      state.issued.push(record.card);
      return;
    case 'next_id':
      countId(state, record.id - 1);
      return;
    case 'next_reference':
      modemMemoriesOf(state, record.imei).nextReference = record.reference;
  }
}

function countId(state: RackState, usedId: number): void {
  state.nextId = Math.max(state.nextId, usedId + 1);
}

/** The shortest list of records that adds up to `state`. */
export function* recordsOf(state: RackState): Generator<RackRecord> {
  for (const card of state.issued) yield { kind: 'issued', card };
  for (const message of state.heard.values()) yield { kind: 'heard', message };
  for (const [iccid, { store, waiting }] of state.sims) {
    for (const message of waiting.deliver.values()) yield { kind: 'waiting', message };
    for (const message of waiting.report.values()) yield { kind: 'waiting', message };
    yield* storedRecordsOf(iccid, 'SM', store);
  }
  for (const [imei, { stores, nextReference, sim }] of state.modems) {
    yield { kind: 'next_reference', imei, reference: nextReference };
    if (sim !== undefined) yield { kind: 'placed', imei, iccid: sim };
    yield* storedRecordsOf(imei, 'ME', stores.ME);
    yield* storedRecordsOf(imei, 'SR', stores.SR);
  }
  yield { kind: 'next_id', id: state.nextId };
}

function* storedRecordsOf(holder: string, memory: MemoryName, store: Store): Generator<RackRecord> {
  for (const [index, message] of store) yield { kind: 'stored', holder, memory, index, message };
}
