// Accepts messages and reports that the modem forwards directly, and acknowledges them if the network waits for it.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { AtError, CmsError, PortClosedError } from '../../at/at-error.ts';
import type { AtChannel } from '../../at/channel.ts';
import { atCommand } from '../../at/command.ts';
import { readPdu } from '../../sms/received-pdu.ts';
import { RefusedMessages } from './refused-messages.ts';
import type { SmsAcceptance } from './sms-acceptance.ts';

/** 3GPP TS 27.005 §3.2.5: no +CNMA acknowledgement expected. */
const CMS_NO_ACKNOWLEDGEMENT_EXPECTED = 340;
/** `+CSMS: 1,…`: phase 2+, in which directly forwarded messages must be acknowledged (3GPP TS 27.005 §3.2.1). */
const PHASE_2_PLUS = /^\+CSMS: ?1/;
/** 3GPP TS 27.005 §4.7: received; and not received, so that the network sends it again. */
const POSITIVE = 1;
const NEGATIVE = 2;

const UNACKNOWLEDGED =
  'the port closed before a directly forwarded message was acknowledged; the network sends it again';

/** The parts that direct messages use. */
interface DirectMessagesParts {
  readonly channel: AtChannel;
  readonly clock: Clock;
  readonly log: Logger;
  /** Resolves if the SIM is still the owner of these messages. */
  readonly confirmSim: () => Promise<void>;
}

/** Accepts direct messages. The journal has their only copy. */
export class DirectMessages {
  readonly #parts: DirectMessagesParts;
  readonly #acceptance: SmsAcceptance;
  readonly #refused: RefusedMessages;
  #awaitsAcknowledgements: Promise<boolean> | undefined;

  constructor(parts: DirectMessagesParts, acceptance: SmsAcceptance) {
    this.#parts = parts;
    this.#acceptance = acceptance;
    this.#refused = new RefusedMessages(parts, 'refused messages that the modem forwarded directly');
  }

  /** Accepts a PDU. Acknowledges it when it is durable. Refuses it if the journal refuses, so that the network keeps it. */
  take(pdu: string): void {
    const { confirmSim, log } = this.#parts;
    const acknowledge = (kind: number): Promise<void> =>
      this.#acknowledge(kind).catch((error: unknown) => {
        if (error instanceof PortClosedError) log.info({}, UNACKNOWLEDGED);
        else log.warn({ err: error }, 'failed to acknowledge a directly forwarded message');
      });
    // Lets tasks that wait for an answer of the modem go first.
    const accepted = new Promise((resolve) => setImmediate(resolve))
      .then(confirmSim)
      .then(() => this.#acceptance.accept(readPdu(pdu)));
    void accepted.then(
      () => {
        this.#refused.accepted(pdu);
        return acknowledge(POSITIVE);
      },
      (error: unknown) => {
        // Each stop of the program closes the port, also of a modem that is receiving.
        if (error instanceof PortClosedError) return log.info({}, UNACKNOWLEDGED);
        this.#refused.refused(pdu, error);
        this.#refused.logRefused();
        return acknowledge(NEGATIVE);
      },
    );
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
