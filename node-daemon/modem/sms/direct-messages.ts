// Records messages and reports that the modem forwards directly, and acknowledges them if the network waits for it.
import { crc32 } from 'node:zlib';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { AtError, CmsError, PortClosedError } from '../../at/at-error.ts';
import type { AtChannel } from '../../at/channel.ts';
import { atCommand } from '../../at/command.ts';
import type { Journal } from '../../journal/journal.ts';
import { entryKey } from '../../journal/journal-state.ts';
import type { StorageEntry } from '../../journal/record.ts';
import { type ReceivedPdu, readPdu } from '../../sms/received-pdu.ts';
import { RefusedMessages } from './refused-messages.ts';
import { type SmsRecorder, UnrecordedEntries } from './sms-recorder.ts';
import { pduDigestOf } from './storage/sms-storage.ts';

/** 3GPP TS 27.005 §3.2.5: no +CNMA acknowledgement expected. */
const CMS_NO_ACKNOWLEDGEMENT_EXPECTED = 340;
/** `+CSMS: 1,…`: phase 2+, in which directly forwarded messages must be acknowledged (3GPP TS 27.005 §3.2.1). */
const PHASE_2_PLUS = /^\+CSMS: ?1/;
/** 3GPP TS 27.005 §4.7: received; and not received, so that the network sends it again. */
const POSITIVE = 1;
const NEGATIVE = 2;

/** The storage of messages that are in the journal and not acknowledged yet. 3GPP TS 27.005 §3.1 names none like it. */
const STORAGE = 'direct';
/** The network sends one message at a time to a SIM. If the modem refuses every acknowledgement, the journal keeps no more than these. */
const PLACES = 256;

const UNACKNOWLEDGED =
  'the port closed before a directly forwarded message was acknowledged; the network sends it again';

/** The parts that direct messages use. */
interface DirectMessagesParts {
  readonly iccid: string;
  readonly channel: AtChannel;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly log: Logger;
  /** Resolves if the SIM is still the owner of these messages. */
  readonly confirmSim: () => Promise<void>;
}

/** Records direct messages. The journal has their only copy. The network sends a message again until it is acknowledged. */
export class DirectMessages {
  readonly #parts: DirectMessagesParts;
  readonly #recorder: SmsRecorder;
  readonly #refused: RefusedMessages;
  #awaitsAcknowledgements: Promise<boolean> | undefined;

  constructor(parts: DirectMessagesParts, recorder: SmsRecorder) {
    this.#parts = parts;
    this.#recorder = recorder;
    this.#refused = new RefusedMessages(parts, 'refused messages that the modem forwarded directly');
  }

  /** Records a PDU. Acknowledges it when it is durable. Refuses it if the journal refuses, so that the network keeps it. */
  take(pdu: string): void {
    const { log } = this.#parts;
    this.#recordAndAcknowledge(pdu).catch((error: unknown) => {
      // Each stop of the program closes the port, also of a modem that is receiving.
      if (error instanceof PortClosedError) log.info({}, UNACKNOWLEDGED);
      else log.warn({ err: error }, 'failed to acknowledge a directly forwarded message');
    });
  }

  async #recordAndAcknowledge(pdu: string): Promise<void> {
    const { confirmSim, journal, log } = this.#parts;
    const received = readPdu(pdu);
    const entry = this.#entryOf(received);
    // Lets tasks that wait for an answer of the modem go first.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      await confirmSim();
      await this.#record(received, entry);
    } catch (error) {
      if (error instanceof PortClosedError) throw error;
      this.#refused.refused(pdu, error);
      this.#refused.logRefused();
      return this.#acknowledge(NEGATIVE);
    }
    this.#refused.recorded(pdu);
    await this.#acknowledge(POSITIVE);
    if (entry === undefined) return;
    journal.appendLazily({ kind: 'gone', entry }).durable.catch((error: unknown) => {
      log.warn({ err: error }, 'failed to write that a directly forwarded message was acknowledged');
    });
  }

  /** Returns the journal's entry of a message; none for a report, which may be repeated. */
  #entryOf({ pdu, decoded }: ReceivedPdu): StorageEntry | undefined {
    if (decoded?.kind === 'statusReport') return undefined;
    const { iccid, journal } = this.#parts;
    const digest = journal.digestOf(pduDigestOf(pdu));
    return { iccid, storage: STORAGE, index: crc32(digest) % PLACES, digest };
  }

  /** Writes a message to the journal, unless an earlier session did so and could not acknowledge it. */
  #record(received: ReceivedPdu, entry: StorageEntry | undefined): Promise<void> {
    if (entry === undefined) return this.#recorder.record(received);
    const { journal } = this.#parts;
    return UnrecordedEntries.of(journal).once(entry, async () => {
      const known = journal.state.entries.get(entryKey(entry));
      if (known?.entry.digest !== entry.digest) await this.#recorder.record(received, entry);
    });
  }

  async #acknowledge(kind: number): Promise<void> {
    this.#awaitsAcknowledgements ??= this.#askService();
    if (!(await this.#awaitsAcknowledgements)) return;
    try {
      await this.#parts.channel.send(atCommand(`AT+CNMA=${kind}`), 'urgent');
    } catch (error) {
      const isLate = error instanceof CmsError && error.code === CMS_NO_ACKNOWLEDGEMENT_EXPECTED;
      if (!isLate) throw error;
    }
  }

  async #askService(): Promise<boolean> {
    try {
      const command = atCommand('AT+CSMS?', { answer: /^\+CSMS:/ });
      const [answer] = await this.#parts.channel.send(command, 'urgent');
      return PHASE_2_PLUS.test(answer?.line ?? '');
    } catch (error) {
      if (error instanceof AtError) return false;
      throw error;
    }
  }
}
