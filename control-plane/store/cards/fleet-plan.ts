// The changes of a card that a fleet file asks for. Pure.
import * as z from 'zod';
import type { PinState } from '../database/sim-tables.ts';

/** A card as a fleet file has it. Undefined: leave the value; null: remove it. */
export interface WrittenCard {
  /** Line of the file. */
  line: number;
  iccid: string;
  number?: string | undefined;
  pin?: string | null | undefined;
  label?: string | null | undefined;
  carrier?: string | null | undefined;
  plan?: string | null | undefined;
  plan_expires?: string | null | undefined;
  monthly_cost?: string | null | undefined;
  node?: string | undefined;
}

/** A card as the service has it. */
export interface StoredCard {
  iccid: string;
  label: string | null;
  carrier: string | null;
  plan: string | null;
  /** YYYY-MM-DD. */
  plan_expires: string | null;
  monthly_cost: string | null;
  /** Sealed. */
  pin: string | null;
  pin_state: PinState | null;
}

/** A value before and after; a PIN is never shown. */
const fieldChangeSchema = z.object({
  field: z.string(),
  from: z.string().nullable(),
  to: z.string().nullable(),
});
type FieldChange = z.output<typeof fieldChangeSchema>;

export const cardChangeSchema = z.object({
  line: z.number(),
  iccid: z.string(),
  isNew: z.boolean(),
  fields: z.array(fieldChangeSchema),
});
export type CardChange = z.output<typeof cardChangeSchema>;

export const fleetNoteSchema = z.object({
  line: z.number(),
  text: z.string(),
});
type FleetNote = z.output<typeof fleetNoteSchema>;

const PLAIN_FIELDS = ['label', 'carrier', 'plan', 'plan_expires', 'monthly_cost'] as const;
const SET = 'set';

/** The number of a card and the node that has it, as the service stores them. */
export interface StoredPlace {
  /** Null without a number in service. */
  number: string | null;
  /** The node that holds the card now, proven or not. */
  holder: string | null;
  /** The only node that may hold it first, by an earlier file or list. */
  firstNode: string | null;
  /** Whether the holder is proven, or was named and has come. */
  isProven: boolean;
}

/** `isSamePin`: whether the file has the PIN that is stored. `known`: undefined for a card that no fleet file has named. */
export function changeOf(
  card: WrittenCard,
  known: StoredCard | undefined,
  { isSamePin, place }: { isSamePin: boolean; place: StoredPlace },
): CardChange {
  // A node has reported the others, or an import named them.
  const isNew = known === undefined && place.number === null && place.holder === null;
  const fields: FieldChange[] = [];
  if (card.number !== undefined && card.number !== place.number)
    fields.push({ field: 'number', from: place.number, to: card.number });
  fields.push(...nodeChange(card, place));
  for (const field of PLAIN_FIELDS) {
    const written = card[field];
    const from = known?.[field] ?? null;
    const to = written === undefined ? from : field === 'monthly_cost' ? withCents(written) : written;
    if (from !== to) fields.push({ field, from, to });
  }
  const { pin } = card;
  const had = known?.pin != null;
  if (pin === null && had) fields.push({ field: 'pin', from: SET, to: null });
  if (typeof pin === 'string' && !isSamePin)
    fields.push({ field: 'pin', from: had ? SET : null, to: had ? 'another' : SET });
  return { line: card.line, iccid: card.iccid, isNew, fields };
}

/** A note on a card whose `node` has no effect, now or at all. The card is applied nevertheless. */
export function noteOn(
  { iccid, line, node }: WrittenCard,
  { holder, isProven }: StoredPlace,
  { isNode }: { isNode: boolean },
): FleetNote | undefined {
  if (node === undefined || (isProven && holder === node)) return undefined;
  const missing = isNode ? '' : `; there is no node ${node} yet`;
  if (isProven)
    return {
      line,
      text: `the column "node" has no effect: ${holder === null ? `it was proven before which node had the card ${iccid}` : `it is proven that ${holder} has the card ${iccid}`}${missing}`,
    };
  return isNode
    ? undefined
    : {
        line,
        text: `there is no node ${node} yet: the service accepts the card ${iccid} from no other node`,
      };
}

/** The node of the file counts until it is proven which node holds the card. Then another one, with an unproven claim, loses it. */
function nodeChange({ node }: WrittenCard, { firstNode, holder, isProven }: StoredPlace): FieldChange[] {
  if (node === undefined || isProven || node === firstNode) return [];
  const from = firstNode ?? (holder === null ? null : `${holder} (not proven)`);
  return [{ field: 'node', from, to: node }];
}

/** As the database writes it: "4.5" is "4.50". */
const withCents = (dollars: string | null): string | null => dollars && Number(dollars).toFixed(2);
