// The list of nodes, and words for what of their requests was refused.
import { type Listing, shownTime } from '#shared/operator/listing.ts';
import { CLAIM_REFUSED, CLAIMED, SLOT_STATUS, type Status } from '#shared/operator/slot-health.ts';
import { stateWithReason } from '#shared/operator/slot-reasons.ts';
import type { NodeListing } from '../../nodes/registry.ts';
import type { Refusals } from '../../store/fleet/node-refusals.ts';
import { nodeCell } from './cells.ts';

export const NODE_STATUS: Readonly<Record<NodeListing['state'], Status>> = {
  linked: { health: 'good', sign: 'check', words: 'linked' },
  enrolled: { health: 'bad', sign: 'away', words: 'away' },
  pending: { health: 'warn', sign: 'lock', words: 'waits for approval' },
  revoked: { health: 'off', sign: 'barred', words: 'revoked' },
  waiting: { health: 'warn', sign: 'wait', words: 'not enrolled' },
};

export const NODES: Listing<NodeListing> = {
  name: 'nodes',
  title: 'Nodes',
  empty: 'No nodes yet. Run "control-plane node add <name>".',
  columns: [
    { title: 'Node', cell: ({ name }) => nodeCell(name) },
    { title: 'State', cell: ({ state }) => ({ status: NODE_STATUS[state], text: state }) },
    { title: 'SIMs', cell: ({ sims }) => String(sims) },
    {
      title: 'Note',
      cell: (node) => ({
        words: notesOf(node, IN_WORDS).join(', '),
        text: notesOf(node, AS_CODES).join(', '),
      }),
    },
  ],
};

/** How a note writes what the node reports. */
interface Writing {
  alarm(alarm: string): string;
  slot(slot: NodeListing['unregistered_slots'][number]): string;
}

const IN_WORDS: Writing = {
  alarm: (alarm) => alarm.replaceAll('_', ' '),
  slot: ({ slot, state, reason }) =>
    `${slot} ${reason === CLAIM_REFUSED ? CLAIMED.words : stateWithReason(SLOT_STATUS[state].words, state, reason)}`,
};

const AS_CODES: Writing = {
  alarm: (alarm) => alarm,
  slot: ({ slot, state, reason }) => (reason === null ? `${slot} ${state}` : `${slot} ${state} (${reason})`),
};

const notesOf = (node: NodeListing, writing: Writing): string[] => [
  ...awayNotes(node),
  ...(node.is_suspended ? ['gets no new SIMs until you approve it'] : []),
  ...shownRefusals(node.refused),
  ...(node.refused_at === null ? [] : [`last refused at ${shownTime(node.refused_at)}`]),
  ...(node.state === 'pending' && node.fingerprint !== null ? [node.fingerprint] : []),
  ...node.alarms.map((alarm) => writing.alarm(alarm)),
  ...node.unregistered_slots.map((slot) => writing.slot(slot)),
  ...(node.code_until === null ? [] : [`code until ${node.code_until}`]),
];

function awayNotes({ customers_away: customers, no_link_since: since }: NodeListing): string[] {
  const count =
    customers === 0 ? [] : [`${customers} ${customers === 1 ? 'customer' : 'customers'} without service`];
  return [...(since === null ? [] : [`no link since ${shownTime(since)}`]), ...count];
}

const WORDS = {
  claims: 'of SIMs that other nodes hold, or that were imported for them',
  facts: 'of SIMs that it does not hold',
  calls: 'of SIMs that it does not hold',
  numbers: '(not US mobile, or already on another SIM)',
  frames: 'that came too fast',
  reports: 'that changed its slots too fast',
} as const;

/** These were not refused: they were only late. */
const LATE: Partial<Record<keyof typeof WORDS, string>> = { frames: 'read late', reports: 'stored late' };

/** One piece of text for each reason: "refused: 3 claims of SIMs that other nodes hold, or …". */
export const shownRefusals = (refused: Refusals): string[] =>
  (Object.keys(WORDS) as Array<keyof typeof WORDS>).flatMap((reason) => {
    const count = refused[reason] ?? 0;
    const what = count === 1 ? reason.slice(0, -1) : reason;
    return count === 0 ? [] : [`${LATE[reason] ?? 'refused'}: ${count} ${what} ${WORDS[reason]}`];
  });
