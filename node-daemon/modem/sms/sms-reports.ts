// Finds the message of a status report by SIM, reference, recipient and time. Pure.
import type { Fact, FactOf } from '#shared/link/messages.ts';
import type { CommandState, ReadonlyCommandMap } from '../../journal/command-map.ts';
import type { StatusReport } from '../../sms/tpdu.ts';

/** The recipient's form may differ between submit and report, but its last digits are the same. */
const RECIPIENT_DIGITS = 8;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Covers wrong time zones of service centers. Yesterday's message is further away. */
const ACCEPTED_WITHIN_MS = 12 * HOUR_MS;
/** A message that is further from the time of a report is probably not the reported one. */
const CLOSE_MS = MINUTE_MS;
/** If messages with equal references differ by less, the one without a report yet is chosen. */
const SAME_TIME_MS = 10_000;
/** A message without a reference matches only if the clocks agree: from shortly before its intent … */
const DOUBT_BEFORE_MS = MINUTE_MS;
/** … to the time at which modem and network have certainly given it up, for each segment. */
const DOUBT_AFTER_MS = 5 * MINUTE_MS;
/** No service center tries for longer than this. A report for an older message means a wrong clock. */
const REPORT_AGE_MAX_MS = 8 * DAY_MS;

interface SentCommand {
  readonly commandId: string;
  readonly command: CommandState;
  /** Time of the intent, milliseconds since the epoch. */
  readonly at: number;
  /** Time of the outcome; the same as `at` if there is none. */
  readonly until: number;
}

/** The segment that a report is about. */
interface ReportOwner extends SentCommand {
  /** Number of the segment, from 1. */
  readonly part: number;
}

/** The data of a report that the search uses. */
export interface ReportSearch {
  readonly iccid: string;
  readonly commands: ReadonlyCommandMap;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Returns the segment with the report's reference and recipient that was sent at about the time of the service center: references wrap at
 * 256, and some modems give each message the same one.
 */
export function acceptedOwner(report: StatusReport, search: ReportSearch): ReportOwner | undefined {
  const acceptedAt = usableTime(report, search.now);
  const { messageReference: reference } = report;
  const sent = sentWith(reference, report, search);
  if (acceptedAt === undefined) return newest(segmentsWith(reference, sent));
  let limit = ACCEPTED_WITHIN_MS;
  for (const each of sent) limit = Math.min(limit, distanceOf(each, acceptedAt) + SAME_TIME_MS);
  const near = segmentsWith(
    reference,
    sent.filter((each) => distanceOf(each, acceptedAt) <= limit),
  );
  return near.find(isUnreported) ?? near[0];
}

/** Returns whether a message that is being sent, with an unknown reference, might be a better owner than the found one. */
export function isUncertain(
  owner: ReportOwner | undefined,
  report: StatusReport,
  search: ReportSearch,
): boolean {
  const acceptedAt = usableTime(report, search.now);
  if (owner === undefined || acceptedAt === undefined || !isUnreported(owner)) return true;
  const distance = distanceOf(owner, acceptedAt);
  if (distance > CLOSE_MS) return true;
  return inDoubt(report, search).some((other) => distanceOf(other, acceptedAt) < distance);
}

/**
 * Returns the owner of a report while no message is being sent: one with its reference, unless one without a reference fits
 * its time far better. If the owner already has its report, this one is a repetition rather than a report on another message.
 */
export function ownerOf(report: StatusReport, search: ReportSearch): ReportOwner | undefined {
  const owner = acceptedOwner(report, search);
  const doubtful = doubtfulOwner(report, search);
  const acceptedAt = usableTime(report, search.now);
  if (owner === undefined || doubtful === undefined || acceptedAt === undefined) return owner ?? doubtful;
  const distance = distanceOf(owner, acceptedAt);
  const isFarBetter = distanceOf(doubtful, acceptedAt) + SAME_TIME_MS < distance;
  return distance > CLOSE_MS || isFarBetter ? doubtful : owner;
}

/** Returns how far the time of a report is from the time in which the message was sent, ms. */
function distanceOf({ at, until }: SentCommand, acceptedAt: number): number {
  return Math.max(0, at - acceptedAt, acceptedAt - until);
}

/**
 * Returns the owner of a report for which `acceptedOwner` finds none: the segment with an unknown reference, if exactly one is possible.
 * Such segments got no answer, or were sent by modems that return the reference 0 for all messages.
 */
export function doubtfulOwner(report: StatusReport, search: ReportSearch): ReportOwner | undefined {
  const acceptedAt = usableTime(report, search.now);
  if (acceptedAt === undefined) return undefined;
  const silent = segmentsWith(0, sentWith(0, report, search));
  const candidates = [...silent, ...inDoubt(report, search)].filter((owner) => {
    const begin = owner.at - DOUBT_BEFORE_MS;
    const end = owner.at + owner.command.segments * DOUBT_AFTER_MS;
    return isUnreported(owner) && acceptedAt >= begin && acceptedAt <= end;
  });
  const [only] = candidates;
  return candidates.length === 1 ? only : undefined;
}

/**
 * Returns the facts of a report. A report on a message with an unknown outcome proves that the network accepted it:
 * the outcome then comes first, unless other segments are still in doubt.
 */
export function reportFacts(
  iccid: string,
  report: StatusReport,
  { owner, receivedAt }: { owner: ReportOwner | undefined; receivedAt: string },
): Fact[] {
  const fact: FactOf<'sms_report'> = {
    kind: 'sms_report',
    iccid,
    command_id: owner?.commandId ?? null,
    message_reference: report.messageReference,
    recipient: report.recipient.slice(0, 32),
    part: owner?.part ?? 1,
    parts: owner?.command.segments ?? 1,
    status: reportStatusOf(report.status),
    tp_status: report.status,
    at: report.dischargedAt ?? receivedAt,
  };
  if (owner?.command.outcome?.status !== 'unknown') return [fact];
  const { references: known, segments } = owner.command;
  const references = owner.part === known.length + 1 ? [...known, report.messageReference] : known;
  if (!areAllKnown(references, segments)) return [fact];
  const outcome = { status: 'accepted' as const, message_references: [...references], at: receivedAt };
  return [{ kind: 'sms_outcome', command_id: owner.commandId, outcome }, fact];
}

/**
 * Returns whether these are the references of all segments, so that the network has the message. Equal references prove
 * nothing: one of them may have come with both a report and a late answer.
 */
export function areAllKnown(references: readonly number[], segments: number): boolean {
  return references.length === segments && new Set(references).size === segments;
}

/** The meaning of a TP-Status octet (3GPP TS 23.040 §9.2.3.15). Reserved values count as rejected, as the standard requires. */
export function reportStatusOf(status: number): FactOf<'sms_report'>['status'] {
  if (status < 0x20) return 'delivered';
  if (status < 0x40) return 'pending';
  return status === VALIDITY_EXPIRED ? 'expired' : 'failed';
}

const VALIDITY_EXPIRED = 0x46;

/** Returns the commands to the report's recipient with this reference, in no order. A modem that gives each message the same one has many. */
function sentWith(reference: number, report: StatusReport, { iccid, commands }: ReportSearch): SentCommand[] {
  const recipient = lastDigits(report.recipient);
  const sent: SentCommand[] = [];
  for (const commandId of commands.sentAs(iccid, reference)) {
    const command = commands.get(commandId);
    if (command !== undefined && isTo(command, recipient)) sent.push(sentCommand(commandId, command));
  }
  return sent;
}

/** Returns the segments with this reference, oldest command first. */
function segmentsWith(reference: number, sent: readonly SentCommand[]): ReportOwner[] {
  const owners: ReportOwner[] = [];
  for (const { commandId, command, at, until } of sent)
    for (let part = 1; part <= command.references.length; part += 1)
      if (command.references[part - 1] === reference) owners.push({ commandId, command, at, until, part });
  return owners.sort((a, b) => a.at - b.at);
}

/**
 * Returns the first segment without a reference of each command that may have reached the network. Every command without an
 * outcome may have: the modem finishes some before the journal has the outcome.
 */
function inDoubt(report: StatusReport, search: ReportSearch): ReportOwner[] {
  const { iccid, commands } = search;
  const recipient = lastDigits(report.recipient);
  const owners: ReportOwner[] = [];
  for (const commandId of commands.inDoubt(iccid)) {
    const command = commands.get(commandId);
    if (command === undefined) continue;
    const part = command.references.length + 1;
    if (part > command.segments || !isTo(command, recipient)) continue;
    const { at, until } = sentCommand(commandId, command);
    owners.push({ commandId, command, at, until: command.outcome === undefined ? search.now : until, part });
  }
  return owners;
}

/** The parsed times of commands: references wrap, and a command may be compared with many reports. */
const sentCommands = new WeakMap<CommandState, SentCommand>();

function sentCommand(commandId: string, command: CommandState): SentCommand {
  const known = sentCommands.get(command);
  if (known !== undefined) return known;
  const { outcome } = command;
  const at = Date.parse(command.at);
  const until = outcome === undefined ? at : Math.max(at, Date.parse(outcome.at));
  const sent = { commandId, command, at, until };
  sentCommands.set(command, sent);
  return sent;
}

function newest(owners: readonly ReportOwner[]): ReportOwner | undefined {
  const last = owners.at(-1);
  const ofLast = owners.filter(({ commandId }) => commandId === last?.commandId);
  return ofLast.find(isUnreported) ?? last;
}

function isUnreported({ command, part }: ReportOwner): boolean {
  return !command.reported.includes(part);
}

/** Returns when the service center accepted the message; `undefined` if its clock and ours cannot both be right. */
function usableTime({ acceptedAt }: StatusReport, now: number): number | undefined {
  if (acceptedAt === null) return undefined;
  const time = Date.parse(acceptedAt);
  const isUsable = time <= now + ACCEPTED_WITHIN_MS && time >= now - REPORT_AGE_MAX_MS;
  return isUsable ? time : undefined;
}

/** The end of an E.164 number with less than `RECIPIENT_DIGITS` has its `+`. */
function isTo({ to }: CommandState, recipient: string): boolean {
  const end = to.slice(-RECIPIENT_DIGITS);
  return end === recipient || end === `+${recipient}`;
}

function lastDigits(number: string): string {
  return number.replace(/\D/g, '').slice(-RECIPIENT_DIGITS);
}
