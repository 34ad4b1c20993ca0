// Why a slot has no service, in words, and what to do. docs/operators/trouble.md has the whole table.

interface ReasonText {
  /** Continues "refused by the network: …" and the like. */
  words: string;
  advice: string;
}

const ASK = 'Ask the carrier: ';
const INACTIVE: ReasonText = {
  words: 'the card is not activated, or was closed',
  advice: `${ASK}the SIM card is not activated or was deactivated.`,
};
const MODEM_REFUSED: ReasonText = {
  words: 'it does not accept this modem (IMEI)',
  advice: `${ASK}it refuses this modem (IMEI).`,
};
const NO_SERVICE: ReasonText = {
  words: 'the plan lacks the service',
  advice: `${ASK}the plan does not include this service.`,
};

const REASONS: Readonly<Record<string, ReasonText>> = {
  denied_unknown_sim: INACTIVE,
  denied_illegal_sim: INACTIVE,
  denied_imei: MODEM_REFUSED,
  denied_illegal_modem: MODEM_REFUSED,
  denied_service: NO_SERVICE,
  denied_service_in_plmn: NO_SERVICE,
  denied_plmn: {
    words: 'this network does not accept the card',
    advice:
      'This network does not accept the SIM card. Check that the modem supports the bands of the card’s own network. AT+COPS=0 makes it search again.',
  },
  denied_roaming: {
    words: 'no roaming, and only foreign networks are in reach',
    advice:
      'The plan does not include roaming, and the modem finds only other networks. Check its bands and its antenna.',
  },
  denied_area: {
    words: 'not in this area',
    advice: 'The network does not accept the SIM card in this area. Check the antenna, and ask the carrier.',
  },
  no_coverage: {
    words: 'no usable network here',
    advice: 'Check the antenna and its plug. Test the card in a phone at this place.',
  },
  emergency_only: {
    words: 'emergency calls only',
    advice: `${ASK}is the SIM card activated? Also try it in a phone.`,
  },
  mass_storage: {
    words: 'the stick shows its driver disk',
    advice: 'Run "apt install usb-modeswitch" on the host, then plug the stick in again.',
  },
  gave_up: {
    words: 'all recovery steps failed',
    advice: 'Unplug the modem for a minute. If that does not help, swap it.',
  },
};

/** "cause 17" for causes without a word of their own (3GPP TS 24.008 annex G); other words as the node reports them. */
export function reasonWords(reason: string): string {
  const cause = /^denied_cause_(\d{1,3})$/.exec(reason)?.[1];
  if (cause !== undefined) return `cause ${cause}`;
  return REASONS[reason]?.words ?? reason.replaceAll('_', ' ');
}

export const reasonAdvice = (reason: string | null): string | undefined =>
  reason === null ? undefined : REASONS[reason]?.advice;
