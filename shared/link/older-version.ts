// Frames as a peer of an older version knows them: no type, field or code that came later.
import type { CallEnded } from '../voice/call.ts';
import type { CommandErrorCode } from './error-code.ts';
import type { NodeFrame } from './frame.ts';
import type { Fact, Slot } from './messages.ts';

const SINCE: Readonly<Partial<Record<NodeFrame['type'], number>>> = { call: 3 };

/** Whether a link of this version has frames of that type. */
export const hasFrame = (version: number, type: NodeFrame['type']): boolean => version >= (SINCE[type] ?? 2);

/** The frame for a link of `version`; undefined when that version has no word for it. */
export function nodeFrameFor(version: number, frame: NodeFrame): object | undefined {
  if (!hasFrame(version, frame.type)) return undefined;
  if (version >= 3) return frame;
  switch (frame.type) {
    case 'hello': {
      const { calls: _, journal_depth: __, ...rest } = frame;
      return { ...rest, slots: slotsOfVersion2(frame.slots) };
    }
    case 'slots': {
      const { journal_depth: _, ...rest } = frame;
      return { ...rest, slots: slotsOfVersion2(frame.slots) };
    }
    case 'fact':
      return { ...frame, fact: factOfVersion2(frame.fact) };
    case 'refusal':
      return { ...frame, code: CODE_OF_VERSION_2[frame.code] ?? frame.code };
    default:
      return frame;
  }
}

const slotsOfVersion2 = (slots: readonly Slot[]): object[] =>
  slots.map(({ storage: _, swept_at: __, ...slot }) => slot);

const CODE_OF_VERSION_2: Partial<Record<CommandErrorCode, CommandErrorCode>> = {
  line_busy: 'slot_busy',
  call_unknown: 'deadline_passed',
  destination_not_allowed: 'params_invalid',
};

function factOfVersion2(fact: Fact): object {
  if (fact.kind === 'call_ended') return placeholderOf(fact);
  if (fact.kind !== 'sms_received') return fact;
  const { arrived_after: _, ...rest } = fact;
  return rest;
}

/** Facts have no gaps: a server without calls is told of a command that it never gave. */
function placeholderOf({ call_id, ended_at }: CallEnded): Fact {
  return {
    kind: 'sms_outcome',
    command_id: call_id,
    outcome: { status: 'unknown', message: 'a call', at: ended_at },
  };
}
