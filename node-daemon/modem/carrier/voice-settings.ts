// Gives a modem the settings for calls on the network of its card: reads them, writes what differs, restarts it once if needed.
import { createHash } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';
import type { VoiceSettings } from '#shared/link/slot.ts';
import type { Logger } from '#shared/log.ts';
import { ask } from '../../at/ask.ts';
import { AtTimeoutError } from '../../at/at-error.ts';
import type { AtChannel } from '../../at/channel.ts';
import { atCommand } from '../../at/command.ts';
import type { CarrierSettings } from '../../config/node-config.ts';
import type { Journal } from '../../journal/journal.ts';
import type { VoiceSettingsRecord } from '../../journal/record.ts';
import type { ModemProfile } from '../../profiles/profile.ts';
import type { NetworkNeeds, SettingAnswers } from '../../profiles/voice-setting.ts';
import { listCalls } from '../../voice/call-list.ts';
import { homeNetworkOf, needsOf, planOf, type VoicePlan, voicePlanReportOf } from './voice-plan.ts';

/** Cards that go in and out of one modem restart it no more often than this. */
const RESTART_PAUSE_MS = 10 * 60_000;

/** The settings of one modem and its card. */
export interface VoiceSettingsParts {
  readonly channel: AtChannel;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
  readonly profile: ModemProfile;
  readonly carriers: CarrierSettings;
  /** False for tools that open a modem for a moment: they only read. */
  readonly mayWrite: boolean;
  /** IMEI. */
  readonly device: string | undefined;
  readonly iccid: string;
  readonly imsi: string | undefined;
}

/** `restart`: the modem must now be restarted. `waits`: a call is up, so try again after it. */
export interface VoiceSettingsResult {
  readonly report: VoiceSettings | null;
  readonly next: 'done' | 'waits' | 'restart';
}

const NOTHING: VoiceSettingsResult = { report: null, next: 'done' };

/**
 * Resolves with what the slot reports and what to do next. Writes nothing that reads back right, and no command twice for the same card and
 * needs: the journal has it before the modem gets it. Rejects with `AtTimeoutError` and `PortClosedError`.
 */
export async function applyVoiceSettings(parts: VoiceSettingsParts): Promise<VoiceSettingsResult> {
  const { carriers, channel, clock, device, iccid, imsi, journal, log, mayWrite, profile } = parts;
  const { voiceSettings: settings = [] } = profile;
  const network = imsi === undefined ? undefined : homeNetworkOf(imsi);
  const wanted = network === undefined ? undefined : needsOf(profile, network, carriers);
  if (network === undefined || wanted === undefined || settings.length === 0) return NOTHING;
  const { mayApply, needs } = wanted;
  const read = async (): Promise<VoicePlan> =>
    planOf(settings, await readAll(channel, profile), needs, recordIn(journal, device, iccid, needs));
  const ended = (plan: VoicePlan, why: VoiceSettings['why']): VoiceSettingsResult => ({
    report: voicePlanReportOf(network, plan, why),
    next: 'done',
  });
  const plan = await read();
  if (!mayApply) return ended(plan, 'off');
  if (!mayWrite) return ended(plan, 'not_applied');
  if (recordIn(journal, device, iccid, needs)?.awaitsRestart === true)
    return { report: voicePlanReportOf(network, plan, 'restart'), next: 'restart' };
  if (plan.changes.length === 0)
    return ended(plan, plan.impossible.length > 0 ? 'unknown_to_firmware' : 'not_kept');
  if (device === undefined) return ended(plan, 'not_applied');
  if (((await listCalls(channel)) ?? []).length > 0)
    return { report: voicePlanReportOf(network, plan, 'call'), next: 'waits' };
  const { changes, needsRestart } = plan;
  const digest = digestOf(iccid, needs);
  const last = journal.state.voiceSettings.get(device);
  const now = clock.now();
  const isSoon = last?.restarted === true && Math.abs(now - Date.parse(last.at)) < RESTART_PAUSE_MS;
  if (needsRestart && isSoon)
    return { report: voicePlanReportOf(network, plan, 'recent_restart'), next: 'waits' };
  const before = last?.digest === digest ? last : undefined;
  const { attempts = 0, restarted = false, sent = [] } = before ?? {};
  const record = { kind: 'voiceSettings', device, digest, at: new Date(now).toISOString() } as const;
  try {
    await journal.append({ ...record, attempts: attempts + 1, sent, restarted, awaitsRestart: false });
  } catch (error) {
    log.error({ err: error }, 'settings for calls not changed: the journal could not record it');
    return ended(plan, 'journal_unavailable');
  }
  const refused = await sendAll(channel, plan);
  const all = [...new Set([...sent, ...changes.flatMap(({ commands }) => commands)])];
  const restarts = needsRestart && changes.some(({ name }) => !refused.includes(name));
  try {
    await journal.append({ ...record, attempts: 0, sent: all, restarted, awaitsRestart: restarts });
  } catch (error) {
    log.error({ err: error }, 'the journal could not record the settings for calls that were changed');
    return ended(plan, 'journal_unavailable');
  }
  log.warn(
    { network, settings: plan.differences.map(({ text }) => text), refused, restarts },
    'settings for calls on the network of the card changed',
  );
  if (restarts) return { report: voicePlanReportOf(network, plan, 'restart'), next: 'restart' };
  return ended(await read(), refused.length > 0 ? 'refused' : 'not_kept');
}

/** Call it just before the restart, which is done once. Rejects if the journal cannot record it. */
export async function recordRestart({
  clock,
  device,
  journal,
}: Pick<VoiceSettingsParts, 'clock' | 'device' | 'journal'>): Promise<void> {
  const last = journal.state.voiceSettings.get(device ?? '');
  if (last === undefined) return;
  const at = new Date(clock.now()).toISOString();
  await journal.append({ ...last, at, awaitsRestart: false, restarted: true });
}

/** Reads all settings. A query that the modem does not answer in time costs only its time. */
async function readAll(channel: AtChannel, { voiceSettings = [] }: ModemProfile): Promise<SettingAnswers> {
  const answers = new Map<string, readonly string[]>();
  for (const query of new Set(voiceSettings.flatMap(({ queries }) => queries))) {
    const name = /^AT(\+[A-Z]+)/.exec(query)?.[1] ?? '';
    const answer = new RegExp(`^\\${name}:`);
    try {
      const lines = await ask(channel, atCommand(query, { answer }));
      if (lines !== undefined) answers.set(query, lines);
    } catch (error) {
      if (!(error instanceof AtTimeoutError)) throw error;
    }
  }
  return answers;
}

/** Sends the commands of each change. Resolves with the names of those that the modem refused, which are undone. */
async function sendAll(channel: AtChannel, { changes }: VoicePlan): Promise<string[]> {
  const refused: string[] = [];
  for (const { commands, name, undo } of changes) {
    const isTaken = await sendEach(channel, commands);
    if (isTaken) continue;
    refused.push(name);
    for (const command of undo) await ask(channel, atCommand(command));
  }
  return refused;
}

async function sendEach(channel: AtChannel, commands: readonly string[]): Promise<boolean> {
  for (const command of commands) {
    if ((await ask(channel, atCommand(command))) === undefined) return false;
  }
  return true;
}

/** The settings that were sent to this modem for this card and these needs; `undefined` if it was for others. */
function recordIn(
  { state }: Journal,
  device: string | undefined,
  iccid: string,
  needs: NetworkNeeds,
): VoiceSettingsRecord | undefined {
  const record = state.voiceSettings.get(device ?? '');
  return record?.digest === digestOf(iccid, needs) ? record : undefined;
}

const digestOf = (iccid: string, needs: NetworkNeeds): string =>
  createHash('sha256')
    .update(JSON.stringify([iccid, needs]))
    .digest('hex');
