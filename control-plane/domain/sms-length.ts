// Limits a text to a number of SMS segments. Pure.
import { SEGMENT_UNITS, segmentText } from '#shared/sms/segmentation.ts';
import { Refusal } from './refusal.ts';

/** Throws `Refusal` `invalid_request`, with the length, for a text that needs more than `segmentsMax` segments. */
export function checkSmsLength(body: string, segmentsMax: number): void {
  const { encoding, units, segments } = segmentText(body);
  if (segments.length <= segmentsMax) return;
  const { single, concatenated } = SEGMENT_UNITS[encoding];
  const max = segmentsMax === 1 ? single : segmentsMax * concatenated;
  throw new Refusal('invalid_request', `"body" is too long: ${units} of ${max} units`, {
    details: { field: 'body', encoding, units, max_units: max },
  });
}
