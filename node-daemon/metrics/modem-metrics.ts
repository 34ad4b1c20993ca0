// What each modem is asked and goes through: AT commands, opened ports, steps of the recovery.
import type { Counter, Histogram } from 'prom-client';
import type { CommandEnd } from '../at/command-end.ts';
import type { RecoveryStep } from '../modem/recovery.ts';
import type { Trouble } from '../modem/trouble.ts';
import type { Instruments } from './instruments.ts';

/** Seconds: from an answer of the modem itself to one of the network. */
const COMMAND_BUCKETS = [0.005, 0.02, 0.05, 0.1, 0.3, 1, 3, 10, 30, 120];

export class ModemMetrics {
  readonly #commands: Counter<'slot' | 'command' | 'result'>;
  /** By command only: by slot too it would be some ten thousand series. */
  readonly #commandTimes: Histogram<'command'>;
  readonly #slotTimes: Counter<'slot'>;
  readonly #portOpens: Counter<'slot'>;
  readonly #recoverySteps: Counter<'slot' | 'step' | 'reason'>;

  constructor(instruments: Instruments) {
    this.#commands = instruments.counter('at_commands', 'AT commands by their end', [
      'slot',
      'command',
      'result',
    ]);
    this.#commandTimes = instruments.histogram(
      'at_command',
      'Time from an AT command to its end',
      COMMAND_BUCKETS,
      ['command'],
    );
    this.#slotTimes = instruments.counter('at_seconds', 'Time that modems took for AT commands', ['slot']);
    this.#portOpens = instruments.counter('port_opens', 'AT ports that were opened', ['slot']);
    this.#recoverySteps = instruments.counter('recovery_steps', 'Steps taken to bring a modem back', [
      'slot',
      'step',
      'reason',
    ]);
  }

  commandEnded(slot: string, { name, result, tookMs }: CommandEnd): void {
    this.#commands.inc({ slot, command: name, result });
    this.#commandTimes.observe({ command: name }, tookMs / 1_000);
    this.#slotTimes.inc({ slot }, tookMs / 1_000);
  }

  portOpened(slot: string): void {
    this.#portOpens.inc({ slot });
  }

  stepTaken(slot: string, step: RecoveryStep, reason: Trouble): void {
    this.#recoverySteps.inc({ slot, step, reason });
  }
}
