// Counts facts when they become durable, and commands when they are answered.
import type { Fact } from '#shared/link/messages.ts';
import type { Journal } from '../journal/journal.ts';
import type { CommandHandler } from '../link/command-handler.ts';
import type { NodeMetrics } from './node-metrics.ts';

/** Calls `count` once for each fact that becomes durable from now on, with its SIM if known. */
export function countFacts(journal: Journal, count: (fact: Fact, iccid: string | undefined) => void): void {
  let { journalId, nextSequence: next } = journal.state;
  const known = new WeakSet<Fact>(journal.state.facts.values());
  journal.onFact(() => {
    const { facts, nextSequence } = journal.state;
    // A new identity gives the same facts other numbers.
    if (journalId !== journal.state.journalId) next = 1;
    journalId = journal.state.journalId;
    for (; next < nextSequence; next += 1) {
      const fact = facts.get(next);
      if (fact === undefined || known.has(fact)) continue;
      known.add(fact);
      count(fact, iccidOf(fact, journal));
    }
  });
}

/** An outcome does not contain its SIM, but its command does. */
const iccidOf = (fact: Fact, { state }: Journal): string | undefined =>
  fact.kind === 'sms_outcome' ? state.commands.get(fact.command_id)?.iccid : fact.iccid;

/** Returns a command handler that counts commands by their answers. */
export function countCommands(
  commands: Pick<CommandHandler, 'handle'>,
  metrics: Pick<NodeMetrics, 'command'>,
): Pick<CommandHandler, 'handle'> {
  return {
    async handle(command) {
      const answer = await commands.handle(command);
      metrics.command(command.name, answer);
      return answer;
    },
  };
}
