// The console's actions in words: on the button, as a question, and the consequence.

interface ActionWords {
  verb: string;
  /** The consequence, for the operator who is about to act. */
  consequence: string;
  /** The message after it was done. */
  done: string;
  /** It cannot be undone, or takes something from a subscriber. */
  isGrave?: boolean;
}

const WORDS = {
  'slot-out-of-service': {
    verb: 'Take out of service',
    consequence: 'The number of this slot is not sold. A current subscriber keeps it.',
    done: 'The slot is out of service: its number is not sold.',
  },
  'slot-in-service': {
    verb: 'Put in service',
    consequence: 'The number of this slot may be sold again.',
    done: 'The slot is in service.',
  },
  'restart-modem': {
    verb: 'Restart the modem',
    consequence:
      'The modem is away for about a minute; what it has stored stays. It is refused while a call is up.',
    done: 'The modem restarts.',
  },
  'send-test': {
    verb: 'Send a test SMS',
    consequence: 'One text goes from one of your SIMs to another. The carrier may charge for it.',
    done: 'A test is on its way; its end shows below.',
  },
  'revoke-node': {
    verb: 'Revoke the node',
    consequence:
      'Its link ends, it makes no other, and its numbers are unbound. "node add" of the same name lets it come back.',
    done: 'The node is revoked.',
    isGrave: true,
  },
  'approve-node': {
    verb: 'Approve the node',
    consequence:
      'It may connect. Compare the fingerprint of its key with the one that "node-daemon enrol" printed:',
    done: 'The node may connect.',
  },
  'release-number': {
    verb: 'Release the number',
    consequence:
      'It leaves its quarantine and may be sold at once: codes for its last holder may still come.',
    done: 'The number is released.',
    isGrave: true,
  },
  'admit-number': {
    verb: 'Admit the number',
    consequence:
      'It is sold like any other. Compare the ICCID of its SIM with your card first: a node may have made both up.',
    done: 'The number is admitted.',
  },
  'transfer-sim': {
    verb: 'Transfer the SIM to this node',
    consequence:
      'The node that holds the SIM loses it, with its texts and calls. Do this only if the card is in this slot.',
    done: 'The SIM is of this node now.',
    isGrave: true,
  },
  refund: {
    verb: 'Refund',
    consequence: 'The money goes back to its payer, in one transaction that cannot be undone.',
    done: 'The money is sent back.',
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
