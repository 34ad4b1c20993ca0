// Frames as a peer of an older version knows them: no type, field or code that came later.
import type { NodeFrame, ServerFrame } from './frame.ts';
import type { Fact, Slot, SmsOutcome } from './messages.ts';

const SINCE: Readonly<Partial<Record<(NodeFrame | ServerFrame)['type'], number>>> = { event: 2, drain: 2 };

/** Whether a link of this version has frames of that type. */
export const hasFrame = (version: number, type: (NodeFrame | ServerFrame)['type']): boolean =>
  version >= (SINCE[type] ?? 1);

/** The frame for a link of `version`; undefined when that version has no word for it. */
export function nodeFrameFor(version: number, frame: NodeFrame): object | undefined {
  if (!hasFrame(version, frame.type)) return undefined;
  if (version >= 2) return frame;
  switch (frame.type) {
    case 'hello':
    case 'slots': {
      const { alarms: _, ...rest } = frame;
      return { ...rest, slots: frame.slots.map(slotOfVersion1) };
    }
    case 'fact':
      return { ...frame, fact: factOfVersion1(frame.fact) };
    case 'result':
      return { ...frame, result: outcomeOfVersion1(frame.result) };
    case 'refusal': {
      const { retry_after_ms: _, ...rest } = frame;
      return { ...rest, code: frame.code === 'rate_limited' ? 'slot_busy' : frame.code };
    }
    case 'event':
      return undefined;
  }
}

function slotOfVersion1({ model: _model, usb_path: _path, reason: _reason, ...slot }: Slot): object {
  return slot;
}

function factOfVersion1(fact: Fact): object {
  if (fact.kind === 'sms_outcome') return { ...fact, outcome: outcomeOfVersion1(fact.outcome) };
  if (fact.kind !== 'sms_report') return fact;
  const { part: _part, parts: _parts, ...rest } = fact;
  return rest;
}

function outcomeOfVersion1(result: unknown): unknown {
  if (typeof result !== 'object' || result === null || !('class' in result)) return result;
  const { class: _, ...rest } = result as SmsOutcome & { class?: string };
  return rest;
}
