// The talking side of a modem: its ports, who answers what, what was said, and unsolicited lines.
import type { Answer } from './answer.ts';
import { type AnswerFaults, answerFaultsOf } from './answer-faults.ts';
import type { AtCommand } from './at-line.ts';
import type { Behaviour } from './behaviour.ts';
import { CommandRecord } from './command-record.ts';
import type { SimulatedModem } from './modem.ts';
import type { ModemOptions } from './modem-options.ts';
import { ModemPorts } from './modem-ports.ts';
import type { PortSettings } from './settings.ts';
import { UrcSender } from './urc-sender.ts';

/** What a dialogue needs from its modem. */
export interface DialogueOptions {
  modem: SimulatedModem;
  /** A deaf modem answers nothing. */
  isDeaf: () => boolean;
  /** Bytes for a deaf modem. */
  onUnheard: (bytes: Buffer) => void;
  /** Voice samples of the host. */
  onVoice: (bytes: Buffer) => void;
  /** Aborted when the modem loses power. */
  signal: () => AbortSignal;
}

/** One for each modem. */
export class Dialogue {
  readonly ports: ModemPorts;
  readonly urcs: UrcSender;
  readonly record: CommandRecord;
  readonly #options: DialogueOptions & ModemOptions;
  readonly #faults: AnswerFaults;
  #behaviours: readonly Behaviour[];

  constructor(options: DialogueOptions & ModemOptions) {
    const { modem, clock, portClock, linkFolder, log, isDeaf, onUnheard, onVoice } = options;
    const { faults } = modem;
    this.#options = options;
    this.#behaviours = [...options.make.behaviours, ...options.behaviours];
    this.#faults = answerFaultsOf(faults, clock);
    this.record = new CommandRecord(clock);
    this.ports = new ModemPorts({
      linkFolder,
      clock: portClock,
      log,
      isDeaf,
      onUnheard,
      onVoice,
      dialogue: {
        answer: (command, port) => this.#answer(command, port),
        onLine: (line) => this.record.add(line),
        noiseBeforeAnswer: () => this.#faults.noise(),
        lineInAnswer: () => this.#faults.intruder(),
        latenessMs: () => this.#faults.latenessMs(),
      },
    });
    const settings = () => modem.settings;
    this.urcs = new UrcSender({ ports: this.ports, faults, clock: portClock, settings });
  }

  /** Puts a behaviour in front of the others. */
  define(behaviour: Behaviour): void {
    this.#behaviours = [behaviour, ...this.#behaviours];
  }

  #answer(command: AtCommand, port: PortSettings): Answer | Promise<Answer> {
    const { modem, log, signal } = this.#options;
    const answer = (): Answer | Promise<Answer> => {
      for (const behaviour of this.#behaviours) {
        const given = behaviour.answer(command, { modem, port });
        if (given !== undefined) return given;
      }
      return { kind: 'error' };
    };
    const onFailure = (error: unknown): void =>
      log.error({ err: error, imei: modem.imei, command: command.name }, 'command failed');
    return this.#faults.applyTo({ command, answer, signal: signal(), onFailure });
  }
}
