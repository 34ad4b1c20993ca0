// A skill for agents: when to use a telephone number, and how.
import { createHash } from 'node:crypto';
import type { DiscoveryParts } from './discovery-parts.ts';
import { llmsText } from './llms-text.ts';

const NAME = 'phone-number';
const DESCRIPTION =
  'Get a real US mobile number, send and receive SMS with it, and place and take voice calls. Use when a task needs a telephone number: verification codes, texts or calls.';

/** Quoted, because a colon followed by a space would begin another key. */
export const skillText = (parts: DiscoveryParts): string =>
  `---\nname: ${NAME}\ndescription: ${JSON.stringify(DESCRIPTION)}\n---\n\n${llmsText(parts)}`;

export const skillIndex = (parts: DiscoveryParts) => ({
  skills: [
    {
      name: NAME,
      type: 'skill-md',
      description: DESCRIPTION,
      url: `${parts.baseUrl}/.well-known/agent-skills/${NAME}/SKILL.md`,
      digest: `sha256:${createHash('sha256').update(skillText(parts)).digest('hex')}`,
    },
  ],
});
