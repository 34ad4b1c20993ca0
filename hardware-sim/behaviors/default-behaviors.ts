// The commands of every simulated modem. A new family of commands is a file beside this one and a line here.
import type { Behavior } from './behavior.ts';
import { calls } from './calls.ts';
import { general } from './general.ts';
import { identity } from './identity.ts';
import { keptSettings } from './kept-settings.ts';
import { network } from './network.ts';
import { packetContexts } from './packet-contexts.ts';
import { simCard } from './sim-card.ts';
import { smsSend } from './sms-send.ts';
import { smsSettings } from './sms-settings.ts';
import { smsStorage } from './sms-storage.ts';
import { ussd } from './ussd.ts';

/** A command that none of them knows answers ERROR. */
export const DEFAULT_BEHAVIORS: readonly Behavior[] = [
  general,
  identity,
  simCard,
  network,
  smsSettings,
  smsStorage,
  smsSend,
  calls,
  ussd({ isPacked: false }),
  packetContexts,
  keptSettings,
];
