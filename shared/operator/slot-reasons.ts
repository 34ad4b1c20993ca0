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

const NOT_NOW = 'Wait: the network refuses the SIM card here or now. Then check the antenna.';

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
  denied_no_cells: { words: 'no usable cell of it here', advice: NOT_NOW },
  denied_network_failure: { words: 'it has a failure', advice: NOT_NOW },
  denied_congestion: { words: 'it is overloaded', advice: NOT_NOW },
  sim_pin: {
    words: 'the card asks for a PIN',
    advice: 'Add the PIN to the fleet file, or to the configuration of the node.',
  },
  sim_pin_wrong: {
    words: 'the card refused the PIN',
    advice:
      'Correct the PIN where it is set: in the fleet file, or in the configuration of the node. The daemon never repeats a refused one.',
  },
  sim_pin_unproved: {
    words: 'an attempt to enter the PIN was interrupted',
    advice: 'Configure another PIN, or turn the PIN off in a phone.',
  },
  sim_pin_no_iccid: {
    words: 'the locked card does not report its ICCID',
    advice: 'Put the card into a phone, and turn the PIN off there.',
  },
  sim_pin_last_try: { words: 'one attempt to enter the PIN is left', advice: 'Enter the PIN in a phone.' },
  sim_puk: {
    words: 'the card asks for its PUK',
    advice: 'There were too many wrong PINs. Enter the PUK in a phone.',
  },
  sim_failure: {
    words: 'the card does not answer',
    advice: 'Clean the contacts, test the card in a phone, replace it.',
  },
  sim_wrong: {
    words: 'the modem rejects the card',
    advice: 'Clean the contacts, test the card in a phone, replace it.',
  },
  ph_net_pin: {
    words: 'the modem is locked to a network',
    advice: 'Ask the maker of the modem or the carrier to unlock it.',
  },
  no_coverage: {
    words: 'no usable network here',
    advice: 'Check the antenna and its plug. Test the card in a phone at this place.',
  },
  not_searching: {
    words: 'the modem does not search',
    advice: 'AT+COPS=0 makes the modem search again.',
  },
  emergency_only: {
    words: 'emergency calls only',
    advice: `${ASK}is the SIM card activated? Also try it in a phone.`,
  },
  mass_storage: {
    words: 'the stick shows its driver disk',
    advice: 'Run "apt install usb-modeswitch" on the host, then plug the stick in again.',
  },
  probes_lost: {
    words: 'two test texts were lost',
    advice: `Restart the modem, then try the card in a phone. If texts do not arrive there either, ask the carrier, or replace the card.`,
  },
  absent: { words: 'not plugged in', advice: 'Check the cable, the power of the hub and "lsusb".' },
  no_port: {
    words: 'it has no port',
    advice: 'Plug the modem in again. "node-daemon doctor" on the host says whether a driver is missing.',
  },
  silent: {
    words: 'it does not answer',
    advice: 'Wait: the daemon restarts it. If that does not help, check power and cable.',
  },
  faulty: {
    words: 'its set-up fails',
    advice: 'Wait: the daemon restarts it. The log of the node names the command that failed.',
  },
  no_service: {
    words: 'no network since its start, or for a while',
    advice: 'Wait: the daemon restarts it. If that does not help, check the antenna.',
  },
  sim_absent: {
    words: 'the modem sees no card',
    advice: 'Insert a card. If the modem does not see it, unplug the modem and plug it in again.',
  },
  duplicate_iccid: {
    words: 'another modem of this host has a card with the same ICCID',
    advice:
      'Compare the ICCIDs printed on both cards with what the modems report. Do not use a modem that reports a wrong one.',
  },
  searching: {
    words: 'no usable network',
    advice: 'Check the antenna. Test the card in a phone at this place.',
  },
  port_gone: { words: 'port gone', advice: 'Check power, hub and cable.' },
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

/** "refused by the network: this network does not accept the card"; the words of the state alone where there is no more to say. */
export const stateWithReason = (words: string, state: string, reason: string | null): string =>
  reason === null || reason === state ? words : `${words}: ${reasonWords(reason)}`;

export const reasonAdvice = (reason: string | null): string | undefined =>
  reason === null ? undefined : REASONS[reason]?.advice;
