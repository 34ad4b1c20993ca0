// Settles through an x402 facilitator, which verifies authorizations and puts them on the chain (x402 v2, POST /verify and /settle).
import type { Hex } from 'viem';
import * as z from 'zod';
import { caip2 } from '#shared/api/payment-networks.ts';
import { BAZAAR } from '#shared/api/x402-extensions.ts';
import { type Clock, withDeadline } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { startOfBody } from '#shared/response-body.ts';
import type { TransferAuthorization } from '../domain/transfer-authorization.ts';
import { requirementsOf, resourceOf } from './challenge.ts';
import type { Offer, Sale } from './offer.ts';
import type { Payment, PaymentLedger } from './payment.ts';
import type { Submission, Submitter } from './submitter.ts';

const VERIFY_TIMEOUT_MS = 10_000;
/** It responds when the transfer is mined. */
const SETTLE_TIMEOUT_MS = 30_000;
const ANSWER_BYTES_MAX = 64 * 1024;

const verifySchema = z.object({ isValid: z.boolean(), invalidReason: z.string().max(200).nullish() });
const settleSchema = z.object({
  success: z.boolean(),
  errorReason: z.string().max(200).nullish(),
  transaction: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/)
    .transform((hash) => hash.toLowerCase() as Hex)
    .nullish()
    .catch(undefined),
});

interface FacilitatorParts {
  url: string;
  sale: Sale;
  ledger: PaymentLedger;
  clock: Clock;
  log: Logger;
}

export class Facilitator implements Submitter {
  readonly #parts: FacilitatorParts;

  constructor(parts: FacilitatorParts) {
    this.#parts = parts;
  }

  /**
   * A facilitator that was shown an authorization can settle it, whatever it responds, and can present it here itself. Only an
   * authorization that it certainly has not seen can be presented again.
   */
  async submit(payment: Payment): Promise<Submission> {
    const { ledger, log } = this.#parts;
    // Its time stays that of the first hand-over: from then on its number is held for some minutes only.
    const handedOverAt = payment.state === 'in_flight' ? payment.updatedAt : this.#now();
    if (!(await ledger.setInFlight(payment.id, undefined, handedOverAt))) {
      return { kind: 'unsigned', cause: new Error('the claim was released meanwhile') };
    }
    if (payment.state === 'claimed') {
      try {
        await this.#verify(payment.authorization);
      } catch (cause) {
        if (isNeverSent(cause)) {
          await ledger.releaseUnshown(payment.id, 'the facilitator could not be reached', this.#now());
          return { kind: 'unsigned', cause };
        }
        log.warn({ err: cause, payment: payment.id }, 'facilitator rejected a payment');
        await ledger.setReverted(payment.id, 'the facilitator rejected it', this.#now());
        return { kind: 'refused' };
      }
    }
    return { kind: 'handed_over', hash: await this.#settle(payment) };
  }

  async sendAgain(payment: Payment): Promise<void> {
    await this.#settle(payment);
  }

  /** There is no transaction of ours that could still be mined: the facilitator is asked again. */
  push(): Promise<boolean> {
    return Promise.resolve(false);
  }

  advance(): Promise<void> {
    return Promise.resolve();
  }

  isWaiting(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async #verify(authorization: TransferAuthorization): Promise<void> {
    const answer = await withDeadline(this.#parts.clock, VERIFY_TIMEOUT_MS, (signal) =>
      this.#ask('verify', authorization, signal),
    );
    const { isValid, invalidReason } = verifySchema.parse(answer);
    if (!isValid) throw new Error(`the facilitator rejected the payment: ${invalidReason}`);
  }

  /** The response of the facilitator proves nothing: only the chain proves the result. */
  async #settle({ id, authorization }: Payment): Promise<Hex | undefined> {
    const { clock, log } = this.#parts;
    try {
      const answer = settleSchema.parse(
        await withDeadline(clock, SETTLE_TIMEOUT_MS, (signal) => this.#ask('settle', authorization, signal)),
      );
      if (!answer.success)
        log.warn({ payment: id, reason: answer.errorReason }, 'facilitator did not settle a payment');
      return answer.transaction ?? undefined;
    } catch (error) {
      log.warn({ err: error, payment: id }, 'facilitator did not respond');
      return undefined;
    }
  }

  async #ask(
    path: 'verify' | 'settle',
    authorization: TransferAuthorization,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { sale, url } = this.#parts;
    const offer = offerOf(sale, authorization);
    const paymentRequirements = requirementsOf(offer);
    const response = await fetch(`${url.replace(/\/+$/, '')}/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify({
        x402Version: 2,
        paymentPayload: {
          x402Version: 2,
          resource: resourceOf(sale),
          accepted: paymentRequirements,
          payload: payloadOf(authorization),
          // Ours, not the payer's: a facilitator lists what it reads here.
          extensions: BAZAAR,
        },
        paymentRequirements,
      }),
      redirect: 'error',
      signal,
    });
    const { text, isWhole } = await startOfBody(response, ANSWER_BYTES_MAX);
    if (!isWhole) throw new Error('the response of the facilitator is too long');
    // A rejection may come with 400 or 402 and still be a valid response.
    if (response.status >= 500) throw new Error(`the facilitator responded with status ${response.status}`);
    return JSON.parse(text);
  }

  #now(): Date {
    return new Date(this.#parts.clock.now());
  }
}

/** No connection was made. After any other error the facilitator may have received the request. */
const isNeverSent = (error: unknown): boolean => {
  const { cause } = error instanceof Error ? error : {};
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return NEVER_SENT.has(code);
};

const NEVER_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function offerOf({ offers }: Sale, { chainId, asset }: TransferAuthorization): Offer {
  const offer = offers.find((one) => one.chainId === chainId && one.asset === asset);
  if (offer === undefined)
    throw new Error(`there is no offer for ${asset} on ${caip2(chainId as Offer['chainId'])}`);
  return offer;
}

function payloadOf({ signature, from, to, value, validAfter, validBefore, nonce }: TransferAuthorization) {
  const [amount, after, before] = [value, validAfter, validBefore].map(String);
  return {
    signature,
    authorization: { from, to, value: amount, validAfter: after, validBefore: before, nonce },
  };
}
