// Exit codes of the operator's tools.

/** Exit codes of the tools by their result. 0 is success. */
export const EXIT_CODES = {
  /** The modem or the network refused, or the request is impossible. */
  refused: 1,
  /** The slot cannot do it now: it has no modem, no SIM or no network. */
  unavailable: 2,
  /** No answer in time: the result is unknown. */
  unanswered: 3,
  /** The daemon does not answer, and the tool cannot open its modems without it. */
  unreachable: 4,
} as const;
