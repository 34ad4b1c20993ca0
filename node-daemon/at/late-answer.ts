// What is still said in answer to a command whose time is over.
import { type AtError, errorOfFinal, type LateAnswer } from './at-error.ts';
import type { AtCommand } from './command.ts';
import type { Information } from './exchange.ts';
import type { FinalResult } from './result-code.ts';

/** Collects until the line has found its rhythm again. */
export class LateAnswerCollector {
  readonly #command: AtCommand;
  readonly #bodyGiven: boolean;
  readonly #information: Information[] = [];
  #error: AtError | undefined;
  #resolve: (answer: LateAnswer) => void = () => undefined;
  readonly answer: Promise<LateAnswer>;

  constructor(command: AtCommand, bodyGiven: boolean) {
    this.#command = command;
    this.#bodyGiven = bodyGiven;
    this.answer = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** True when the line answers the command: then it is no URC. */
  takes(line: string): boolean {
    if (this.#command.answer?.test(line) !== true) return false;
    if (this.#information.length === 0) this.#information.push({ line });
    return true;
  }

  /** Sees what a sign of life was answered with: an error with a code is this command's. */
  takesFinal(final: FinalResult): void {
    if (final.kind !== 'cme' && final.kind !== 'cms') return;
    this.#error ??= errorOfFinal(this.#command.shownAs, final, this.#bodyGiven);
  }

  /** Idempotent. */
  end(): void {
    this.#resolve({
      information: this.#information,
      ...(this.#error === undefined ? {} : { error: this.#error }),
    });
  }
}
