// Exit codes of the operator's tools.

/** Exit codes of the tools by their result; 0 is done. */
export const EXIT_CODES = {
  /** The modem or the network refuses, or the request is impossible. */
  refused: 1,
  /** The slot cannot do it now: no modem, no SIM, no network. */
  unavailable: 2,
  /** No answer in time: the result is unknown. */
  unanswered: 3,
  /** The daemon does not answer, and its modems cannot be opened without it. */
  unreachable: 4,
} as const;
