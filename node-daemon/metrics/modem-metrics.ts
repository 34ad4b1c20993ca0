// Counts the work of each modem: AT commands, opened ports, recovery steps.
import type { Counter, Histogram } from 'prom-client';
import type { Instruments } from '#shared/process/instruments.ts';
import type { CommandEnd } from '../at/command-end.ts';
import type { RecoveryStep } from '../modem/recovery/recovery.ts';
import type { Trouble } from '../modem/recovery/trouble.ts';

/** Buckets in seconds, from answers of the modem to answers of the network. */
const COMMAND_BUCKETS = [0.005, 0.02, 0.05, 0.1, 0.3, 1, 3, 10, 30, 120];

export class ModemMetrics {
  readonly #commands: Counter<'slot' | 'command' | 'result'>;
  /** By command only. With slots it would be about ten thousand series. */
  readonly #commandTimes: Histogram<'command'>;
  readonly #slotTimes: Counter<'slot'>;
  readonly #portOpens: Counter<'slot'>;
  readonly #recoverySteps: Counter<'slot' | 'step' | 'reason'>;

  constructor(instruments: Instruments) {
    this.#commands = instruments.counter(
      'at_commands',
      'AT commands, by result: ok, error, cme_error, cms_error, call_failed, timeout, unclear, port_gone',
      ['slot', 'command', 'result'],
    );
    this.#commandTimes = instruments.histogram(
      'at_command_duration',
      'Time from an AT command to its final result; +CMGS and D wait for the network',
      COMMAND_BUCKETS,
      ['command'],
    );
    this.#slotTimes = instruments.counter(
      'at_seconds',
      'Total time of all AT commands of a modem, in seconds',
      ['slot'],
    );
    this.#portOpens = instruments.counter(
      'port_opens',
      'AT ports opened: one at the start, and one for each reconnection',
      ['slot'],
    );
    this.#recoverySteps = instruments.counter('recovery_steps', 'Recovery steps, by step and by reason', [
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
