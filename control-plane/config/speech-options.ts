// The service's options about programs that speak and that recognize speech, for tools on calls.
import * as z from 'zod';
import { integerOption } from '#shared/process/options.ts';

const commandOption = z
  .string()
  .refine((text) => text.trim() !== '', 'must name a program')
  .optional();

export const SPEECH_OPTIONS = {
  speechCommand: {
    env: 'SPEECH_COMMAND',
    about:
      'Program that speaks for the tool `say`, with arguments between spaces and without a shell. It gets text on its standard input, and writes WAVE or 16 kHz samples to its standard output. Unset: no such tool',
    schema: commandOption,
  },
  recognitionCommand: {
    env: 'RECOGNITION_COMMAND',
    about:
      'Program that recognizes speech for the tool `listen`, started the same way: WAVE on its standard input, text on its standard output. Unset: the tool returns a recording',
    schema: commandOption,
  },
  speechTimeoutMs: {
    env: 'SPEECH_TIMEOUT_MS',
    about: 'How long these programs may take for one text or recording; then they are killed',
    schema: integerOption(100, 20_000, 15_000),
  },
} as const;
