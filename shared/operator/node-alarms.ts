// The alarms of a whole node: what each means and what to do. One text for the status page, for alerts and for metrics.
export const NODE_ALARMS = {
  no_modem: {
    severity: 'critical',
    means: 'no modem is plugged in',
    advice: 'Plug in a modem, or check the power of the hubs.',
  },
  modem_given_up: {
    severity: 'critical',
    means: 'a modem did not recover, although the daemon tried every recovery step',
    advice: 'Check its power and its cable, or replace it.',
  },
  duplicate_iccid: {
    severity: 'critical',
    means: 'two modems report a card with the same ICCID, and the second has no service',
    advice:
      'Take both modems out, and read the ICCID that is printed on their cards. Do not use the one that lies.',
  },
  duplicate_imei: {
    severity: 'warning',
    means: 'two modems report the same IMEI: the second one is not recognized when it moves',
    advice: 'Compare the IMEIs printed on the modems with what they report. Replace the one that lies.',
  },
  journal_unavailable: {
    severity: 'critical',
    means: 'the disk refuses journal writes: messages stay on the SIMs and nothing is sent',
    advice: 'Free disk space on the host.',
  },
  disk_nearly_full: {
    severity: 'warning',
    means: 'the disk of its journal is nearly full',
    advice:
      'Free disk space on the host. Once the disk is full, messages stay on the SIMs and nothing is sent.',
  },
  ports_hang: {
    severity: 'critical',
    means: 'ports of dead modems hang in the kernel',
    advice: 'Unplug these modems, or restart the daemon.',
  },
} as const satisfies Record<string, { severity: 'warning' | 'critical'; means: string; advice: string }>;

type NodeAlarm = keyof typeof NODE_ALARMS;

/** A newer node may report others. */
export const isNodeAlarm = (word: string): word is NodeAlarm => Object.hasOwn(NODE_ALARMS, word);
