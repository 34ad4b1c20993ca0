// The console's actions in words: on the button, as a question, and the consequence.

interface ActionWords {
  verb: string;
  /** The consequence, for the operator who is about to act. */
  consequence: string;
  /** The message after it was done. */
  done: string;
  /** The action cannot be undone, or takes something from a subscriber. */
  isGrave?: boolean;
}

const WORDS = {
  'slot-out-of-service': {
    verb: 'Take out of service',
    consequence: 'The number of this slot is not sold. A current subscriber keeps it.',
    done: 'The slot is out of service: its number is not sold.',
  },
  'slot-in-service': {
    verb: 'Put back in service',
    consequence: 'The number of this slot may be sold again.',
    done: 'The slot is in service.',
  },
  'restart-modem': {
    verb: 'Restart the modem',
    consequence:
      'The modem is out of service for about a minute and keeps its stored messages. During a call the restart is refused.',
    done: 'The modem is restarting.',
  },
  'send-test': {
    verb: 'Send a test SMS',
    consequence: 'One of your SIMs sends a text to another. The carrier may charge for it.',
    done: 'The test SMS is on its way. The result appears below.',
  },
  'revoke-node': {
    verb: 'Revoke the node',
    consequence:
      'Its link ends, it cannot connect again, and its numbers are unbound. "control-plane node add" with the same name brings it back.',
    done: 'The node is revoked.',
    isGrave: true,
  },
  'remove-node': {
    verb: 'Remove the node',
    consequence:
      'The node, its slots and its events disappear from all lists. The audit log stays. "control-plane node add" with the same name creates it again.',
    done: 'The node is removed.',
    isGrave: true,
  },
  'approve-node': {
    verb: 'Approve the node',
    consequence:
      'The node may then connect. Compare the fingerprint of its key with the one that "node-daemon enroll" printed:',
    done: 'The node may connect.',
  },
  'release-number': {
    verb: 'Release the number',
    consequence:
      'The number leaves quarantine and may be sold at once. Texts for its last subscriber may still arrive.',
    done: 'The number is released.',
    isGrave: true,
  },
  'admit-number': {
    verb: 'Admit the number',
    consequence:
      'The number is then sold like any other. Compare the ICCID of its SIM with your card first: a node can invent both.',
    done: 'The number is admitted.',
  },
  'move-number': {
    verb: 'Move the number to another card',
    consequence:
      'The carrier made another card for this number. The subscriber keeps the number, its texts and its year.',
    done: 'The number has the other card. It has service once the card is registered.',
  },
  'reassign-number': {
    verb: 'Give the subscriber another number',
    consequence:
      'The subscriber gets another number that is on sale, and keeps the texts. This number is out of service from now on.',
    done: 'The subscriber has another number.',
    isGrave: true,
  },
  'extend-subscription': {
    verb: 'Add days',
    consequence: 'The subscription ends so many days later, without a payment.',
    done: 'The subscription ends later.',
  },
  'end-subscription': {
    verb: 'End the subscription',
    consequence:
      'The subscription ends now. If the chain reverted payments, only their years are removed. The number is kept for the grace time. Nothing is refunded.',
    done: 'The subscription has ended, or lost the years that nothing paid.',
    isGrave: true,
  },
  'end-and-refund': {
    verb: 'End the subscription and refund',
    consequence:
      'The subscription ends now, and the number is kept for the grace time. The unused share of the price goes back to the payer: by whole days left, without days that were added as goodwill. The transaction cannot be undone.',
    done: 'The subscription has ended, and the money was sent back.',
    isGrave: true,
  },
  'transfer-sim': {
    verb: 'Transfer the SIM to this node',
    consequence:
      'The node that holds the SIM loses it, with its texts and calls. Do this only if the card is in this slot.',
    done: 'This node now holds the SIM.',
    isGrave: true,
  },
  'close-payment': {
    verb: 'Give up the refund',
    consequence:
      'The money stays in the account that was paid, and the service never refunds it. Refused if the token would make the refund, or if one that was sent may still be mined.',
    done: 'The refund is given up. The payment is closed.',
    isGrave: true,
  },
  refund: {
    verb: 'Refund',
    consequence: 'The service sends the money back to its payer. The transaction cannot be undone.',
    done: 'The money was sent back.',
    isGrave: true,
  },
} satisfies Record<string, ActionWords>;

export type ActionName = keyof typeof WORDS;

export const ACTION_WORDS: Readonly<Record<ActionName, ActionWords>> = WORDS;

/** The message for an operator who returns from an action; undefined for any other word. */
export const doneWords = (name: unknown): string | undefined =>
  typeof name === 'string' && Object.hasOwn(ACTION_WORDS, name)
    ? ACTION_WORDS[name as ActionName].done
    : undefined;
