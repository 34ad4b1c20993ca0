// A fleet file as YAML: a list `cards`.
import * as z from 'zod';
import { map, parseConfigDocument } from '#shared/process/config-file.ts';
import { CARD_FIELDS, CARDS_MAX, type FleetRow, repeated } from './card-schema.ts';

const fleetSchema = map({
  cards: z
    .array(map(CARD_FIELDS), 'must be a list')
    .max(CARDS_MAX, `must have at most ${CARDS_MAX} cards`)
    .superRefine(
      (cards, context) => {
        for (const [index, field, earlier] of repeated(cards))
          context.addIssue({
            code: 'custom',
            path: [index, field],
            message: `is already in cards[${earlier}]`,
          });
      },
      // Beside all other problems.
      { when: ({ value }) => Array.isArray(value) },
    ),
});

/** Returns the cards. Throws `ConfigFileError` with a line for each problem. */
export function yamlCards(text: string, file: string, lengthMax: number): FleetRow[] {
  const document = parseConfigDocument(fleetSchema, text, file, lengthMax);
  return (document?.value.cards ?? []).map((card, index) => ({
    line: document?.lineOf(['cards', index]) ?? 0,
    ...card,
  }));
}
