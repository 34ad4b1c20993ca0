// Are the programs there with which sound cards are heard?
import { ok, problem, skipped } from '../../finding.ts';
import type { HostCheck } from '../check.ts';

export const soundPrograms: HostCheck = ({ host, slots }) => {
  const withCard = slots.filter(({ place }) => place?.audio?.card !== undefined);
  if (withCard.length === 0) return skipped('no modem has a sound card');
  const { missingSoundPrograms: missing } = host;
  if (missing.length === 0) return ok('arecord and aplay are there');
  return problem(
    `${missing.join(' and ')} not found, and ${withCard.length} modems have a sound card`,
    'calls of these modems are silent: apt install alsa-utils',
  );
};
