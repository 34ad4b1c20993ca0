// The dialogue of a modem with its host: ports, answers to commands, the record of commands, unsolicited lines.
import type { Clock, Timer } from '#shared/clock.ts';
import type { Answer } from '../at/answer.ts';
import type { AtCommand } from '../at/at-line.ts';
import { CommandRecord } from '../at/command-record.ts';
import type { ModemSettings, PortSettings } from '../at/settings.ts';
import type { Behavior } from '../behaviors/behavior.ts';
import type { MobileEquipment } from '../equipment/mobile-equipment.ts';
import { type AnswerFaults, answerFaultsOf } from '../faults/answer-faults.ts';
import type { FaultSet } from '../faults/fault-set.ts';
import type { ModemOptions } from './modem-options.ts';
import { ModemPorts } from './modem-ports.ts';

interface DialogueOptions {
  equipment: MobileEquipment;
  /** Tried in order. */
  behaviors: readonly Behavior[];
  /** A deaf modem answers nothing. */
  isDeaf: () => boolean;
  /** Bytes for a deaf modem. */
  onUnheard: (bytes: Buffer) => void;
  /** Voice samples of the host. */
  onVoice: (bytes: Buffer) => void;
}

/** One for each modem. */
export class Dialogue {
  readonly ports: ModemPorts;
  readonly urcs: UrcSender;
  readonly record: CommandRecord;
  readonly #options: DialogueOptions & ModemOptions;
  readonly #faults: AnswerFaults;
  #behaviors: readonly Behavior[];

  constructor(options: DialogueOptions & ModemOptions) {
    const { equipment, clock, portClock, linkFolder, log, isDeaf, onUnheard, onVoice } = options;
    const { faults } = equipment;
    this.#options = options;
    this.#behaviors = options.behaviors;
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
    const settings = () => equipment.settings;
    this.urcs = new UrcSender({ ports: this.ports, faults, clock: portClock, settings });
  }

  /** Puts a behavior in front of the others. */
  define(behavior: Behavior): void {
    this.#behaviors = [behavior, ...this.#behaviors];
  }

  #answer(command: AtCommand, port: PortSettings): Answer | Promise<Answer> {
    const { equipment, log } = this.#options;
    const answer = (): Answer | Promise<Answer> => {
      for (const behavior of this.#behaviors) {
        const given = behavior.answer(command, { equipment, port });
        if (given !== undefined) return given;
      }
      return { kind: 'error' };
    };
    const onFailure = (error: unknown): void =>
      log.error({ err: error, imei: equipment.imei, command: command.name }, 'command failed');
    return this.#faults.applyTo({ command, answer, signal: equipment.signal, onFailure });
  }
}

/** A line that waits for a second one goes alone after this time. */
const PAIR_TIMEOUT_MS = 1000;

interface UrcSenderOptions {
  ports: ModemPorts;
  faults: FaultSet;
  clock: Clock;
  settings: () => ModemSettings;
}

/** Sends all unsolicited lines of one modem. */
class UrcSender {
  readonly #options: UrcSenderOptions;
  #first: string | undefined;
  #pairing: Timer | undefined;

  constructor(options: UrcSenderOptions) {
    this.#options = options;
  }

  /** `isUrgent`: not even an answer that is being given holds it back. */
  send(line: string, { isUrgent = false } = {}): void {
    const { faults, clock } = this.#options;
    if (this.#first !== undefined) {
      const separator = faults.take('glued_urcs')?.apart_by === 'nothing' ? '' : '\r\n';
      const pair = this.#first + separator + line;
      this.forget();
      this.#sendNow(pair, isUrgent);
    } else if (faults.has('glued_urcs')) {
      this.#first = line;
      this.#pairing = clock.after(PAIR_TIMEOUT_MS, () => {
        this.forget();
        this.#sendNow(line, false);
      });
    } else {
      this.#sendNow(line, isUrgent);
    }
  }

  /** A line that still waits for another is not sent. */
  forget(): void {
    this.#pairing?.cancel();
    this.#first = undefined;
  }

  #sendNow(line: string, isUrgent: boolean): void {
    const { ports, faults, settings } = this.#options;
    const chosen = faults.get('urc_port')?.port ?? settings().urcPort;
    if (chosen === 'none') return;
    if (chosen !== 'usbmodem' && chosen !== 'at2') ports.sendUrc('at', line, isUrgent);
    if (chosen !== 'usbat' && chosen !== 'at') ports.sendUrc('at2', line, isUrgent);
  }
}
