// Counts what passes by: facts as they become durable, commands as they are answered.
import type { Journal } from '../journal/journal.ts';
import type { CommandHandler } from '../link/command-handler.ts';
import type { NodeMetrics } from './node-metrics.ts';

/** Counts the facts that become durable from here on. */
export function countFacts(journal: Journal, metrics: Pick<NodeMetrics, 'fact'>): void {
  let next = journal.state.nextSequence;
  journal.onFact(() => {
    const { facts, nextSequence } = journal.state;
    // A journal that was given a new identity counts from 1 again.
    if (next > nextSequence) next = nextSequence;
    for (; next < nextSequence; next += 1) {
      const fact = facts.get(next);
      if (fact !== undefined) metrics.fact(fact);
    }
  });
}

/** The same commands, counted by their answers. */
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
