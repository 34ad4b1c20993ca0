// A list, read by each choice of its filters, and each of these from its second page on: they are statements of their own.
import { until } from '../../../fixtures/until.ts';
import type { Answer } from './ask.ts';

export const SINCE = '2026-01-01T00:00:00Z';
export const PERIOD = { since: SINCE, until: '2126-01-01T00:00:00Z' };

type Fields = Readonly<Record<string, string>>;

function choicesOf(fields: Fields): Fields[] {
  const choices: Fields[] = [{}];
  for (const [name, value] of Object.entries(fields))
    choices.push(...choices.map((each) => ({ ...each, [name]: value })));
  return choices;
}

/** Asks with each choice of the filters, the last time with all. The first refusal, or the last answer. */
export async function byEachFilter(
  ask: (query: string) => Promise<Answer>,
  filters: Fields,
): Promise<Answer> {
  let answer: Answer | undefined;
  for (const chosen of choicesOf(filters)) {
    answer = await ask(`?${new URLSearchParams(chosen)}`);
    if (answer.status !== 200) break;
  }
  if (answer === undefined) throw new Error('no choice at all');
  return answer;
}

/** The same, and with the cursor of the second page, once there is one. */
export async function byEachFilterAndPage(
  ask: (query: string) => Promise<Answer>,
  filters: Fields,
): Promise<Answer> {
  const cursor = await until('a second page', async () => {
    const { body } = await ask('?limit=1');
    return (body as { next_cursor?: string }).next_cursor;
  });
  return byEachFilter(ask, { cursor, ...filters });
}
