// The findings of a checker: every violation counted, the first of each rule kept with their story.

export const RULES = {
  lost: 'each message that the carrier accepted for a SIM is in the history',
  not_delivered: 'every modem took in the end what the carrier had for it',
  doubled: 'nothing is in the history more often than it was sent',
  part_doubled: 'no part of a message is reported twice',
  altered: 'a text arrives as it was sent, from whom it was sent',
  partial: 'a message is reported in part only when parts are missing',
  foreign: 'nothing is in the history that was never sent',
  claimed_twice: 'no message is claimed twice',
  claim_altered: 'a claimed message equals its row in the history',
  claim_lost: 'a claimed message was in an answer, unless the answer was cut',
  unclaimed: 'everything can be claimed',
  claim_order: 'claims come in the order of the history',
  order: 'messages of one sender keep their order',
  sent_twice: 'no modem sends a message, or a part, twice',
  sent_altered: 'a text goes on the air as it was given, to whom it was given',
  sent_foreign: 'no modem sends a text that no client asked for',
  row_missing: 'every answered send is in the history',
  row_doubled: 'every send is in the history once',
  accepted_not_sent: 'a message that counts as sent is on the air, whole',
  failed_but_sent: 'a message that counts as failed is not on the air',
  answer_changed: 'the history does not take back the answer to a send',
  unsettled: 'no send stays open',
  unknown_without_cause: 'a send is unknown only when something was broken',
  report_without_cause: 'a status from reports has such a report behind it',
  rogue_asked: 'a node is asked nothing about a SIM that it does not hold',
  forged_call: 'no call is in a list that was never made',
  report_ignored: 'a report that nothing disturbed settles its message',
} as const;

export type Rule = keyof typeof RULES;

interface Violation {
  rule: Rule;
  /** The message, or what stands for it. */
  key: string;
  story: string;
}

const EXAMPLES_MAX = 20;

export class Findings {
  readonly #counts = new Map<Rule, number>();
  readonly #examples: Violation[] = [];

  add(rule: Rule, key: string, story: string): void {
    const count = (this.#counts.get(rule) ?? 0) + 1;
    this.#counts.set(rule, count);
    if (count <= EXAMPLES_MAX) this.#examples.push({ rule, key, story });
  }

  /** How often each rule was broken; those that held are not named. */
  get counts(): ReadonlyMap<Rule, number> {
    return this.#counts;
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The first of each rule. */
  get examples(): readonly Violation[] {
    return this.#examples;
  }
}

/** Counts by name, as text. */
export const listOf = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
