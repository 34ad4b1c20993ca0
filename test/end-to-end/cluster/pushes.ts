// The webhook of one number: each text is pushed, under one id, whatever dies meanwhile.
import type { Test } from 'tap';
import { type EventReceiver, startEventReceiver } from '../../fixtures/agents/event-receiver.ts';
import { until } from '../../fixtures/until.ts';
import { ask } from './request.ts';
import type { Account } from './texts.ts';

/** A delivery that an instance took with it is due again after a minute. */
const PUSHED_TIMEOUT_MS = 120_000;

export class Pushes {
  readonly #receiver: EventReceiver;

  private constructor(receiver: EventReceiver) {
    this.#receiver = receiver;
  }

  /** Adds a webhook over the proxy at `url`. */
  static async start(t: Test, { url }: { url: string }, { headers }: Account): Promise<Pushes> {
    const receiver = await startEventReceiver(t);
    const { status, body } = await ask(`${url}/webhooks`, {
      headers,
      method: 'POST',
      body: { url: receiver.url, events: ['sms.received'] },
    });
    if (status !== 200) throw new Error(JSON.stringify(body));
    receiver.secrets.push(String(body['secret']));
    return new Pushes(receiver);
  }

  /** `delivered`: the texts that the carrier gave to the modem since the webhook was added. */
  async check(t: Test, delivered: readonly string[]): Promise<void> {
    const missing = (): string[] => {
      const pushed = new Set(this.#receiver.texts());
      return delivered.filter((body) => !pushed.has(body));
    };
    await until('each text is pushed', () => missing().length === 0, PUSHED_TIMEOUT_MS).catch(() =>
      t.same(missing(), [], 'each text is pushed'),
    );
    const textOf = new Map<string, string>();
    for (const { id, body } of this.#receiver.taken)
      if (body.type === 'sms.received') textOf.set(id, body.data.body);
    t.equal(new Set(textOf.values()).size, textOf.size, 'no text has two ids');
    t.comment(`${delivered.length} texts pushed in ${this.#receiver.taken.length} requests`);
  }
}
