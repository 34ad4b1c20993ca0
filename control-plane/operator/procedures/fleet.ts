// The fleet file: what it changes, and the changes.
import * as z from 'zod';
import { retryPin } from '../../store/cards/card-pins.ts';
import { dropCard } from '../../store/cards/drop-card.ts';
import { applyFleet, fleetDiffSchema, planFleet } from '../../store/cards/fleet-apply.ts';
import type { CardChange } from '../../store/cards/fleet-plan.ts';
import type { Database } from '../../store/database/database.ts';
import type { Card } from '../../store/fleet/number-move.ts';
import { CARDS_MAX, fleetRowSchema } from '../fleet-file/card-schema.ts';
import { cardSchema } from './fields.ts';
import { procedure } from './procedure.ts';

/** Changed cards that an entry of the audit log names; of more it has the number. */
const AUDITED_MAX = 100;

/** `8901…: label, pin` */
const namesOf = ({ fields, iccid, isNew }: CardChange): string =>
  `${iccid}${isNew ? ' (new)' : ''}: ${fields.map(({ field }) => field).join(', ')}`;

/** A change of one card. Answers with its ICCID. */
const cardChange = (run: (db: Database, card: Card) => Promise<string>) =>
  procedure({
    input: z.object({ card: cardSchema }),
    output: z.string(),
    run: ({ db }, { card }) => run(db, card),
    audit: {
      how: 'change',
      subject: ({ card }) => ('iccid' in card ? card.iccid : `${card.node}/${card.slot}`),
      detail: (_, iccid) => ({ iccid }),
    },
  });

const cards = z.array(fleetRowSchema).min(1).max(CARDS_MAX);

export const FLEET_PROCEDURES = {
  /** The diff; nothing is changed. */
  planFleet: procedure({
    input: z.object({ cards }),
    output: fleetDiffSchema,
    run: ({ db, now, pins }, input) => planFleet(db, input.cards, { pins, now }),
  }),
  applyFleet: procedure({
    input: z.object({ cards, expected: z.string().max(64).optional() }),
    output: fleetDiffSchema,
    run: ({ db, now, pins }, { cards: written, expected }) =>
      applyFleet(db, written, { pins, now, expected }),
    audit: {
      how: 'change',
      subject: () => 'fleet',
      // Without values: a PIN must not be here.
      detail: ({ cards: written }, diff) => ({
        lines: written.length,
        added: diff?.changes.filter(({ isNew }) => isNew).length,
        changed: diff?.changes.filter(({ isNew }) => !isNew).length,
        cards: diff?.changes.slice(0, AUDITED_MAX).map(namesOf),
      }),
    },
  }),
  dropCard: cardChange(dropCard),
  retryPin: cardChange(retryPin),
};
