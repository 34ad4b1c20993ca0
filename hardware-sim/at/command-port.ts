// One AT port of a modem: bytes to command lines and bodies, answers to bytes (ITU-T V.250 §5 and §6.2).
import type { Clock } from '#shared/clock.ts';
import { type Answer, errorResult, type Prompt } from './answer.ts';
import { type AtCommand, parseCommandLine } from './at-line.ts';
import { PortOutput } from './port-output.ts';
import { defaultPortSettings, type PortSettings } from './settings.ts';

/** Longest command line; Quectel modems take less. */
const LINE_CHARACTERS_MAX = 2048;
/** Longest message body: a PDU has at most 352 hex digits. */
const BODY_CHARACTERS_MAX = 4096;
/** Bytes that wait while a command is being carried out. */
const INPUT_CHARACTERS_MAX = 16 * 1024;
const LINE_FEED = 0x0a;
const SUBSTITUTE = 0x1a;
const ESCAPE = 0x1b;
const DELETE = 0x7f;
const FIRST_PRINTABLE = 0x20;

export interface CommandPortOptions {
  write: (bytes: Buffer) => void;
  clock: Clock;
  answer: (command: AtCommand, settings: PortSettings) => Answer | Promise<Answer>;
  /** A complete command line, before it is carried out. */
  onLine: (line: string) => void;
  /** Noise to send in front of an answer. */
  noiseBeforeAnswer: () => Buffer | undefined;
  /** A line to send in the middle of an answer. */
  lineInAnswer: () => string | undefined;
  /** How long the answer to come waits for the next command; `undefined` when it comes in time. */
  latenessMs: () => number | undefined;
}

/** The command interpreter of one port. Its input and what it holds back are bounded. */
export class CommandPort {
  readonly settings: PortSettings = defaultPortSettings();
  readonly #options: CommandPortOptions;
  readonly #output: PortOutput;
  /** `busy`: a command is being carried out and its answer comes later. */
  #mode: 'command' | 'body' | 'busy' = 'command';
  #isAnswering = false;
  #isClosed = false;
  #input = '';
  #line = '';
  #isLineTooLong = false;
  #lastCommands = '';
  #prompt: Prompt | undefined;
  #body = '';

  constructor(options: CommandPortOptions) {
    this.#options = options;
    const { clock, write } = options;
    this.#output = new PortOutput({ settings: this.settings, clock, write });
  }

  receive(bytes: Buffer): void {
    if (this.#isClosed) return;
    const room = INPUT_CHARACTERS_MAX - this.#input.length;
    this.#input += bytes.toString('latin1', 0, Math.min(room, bytes.length));
    this.#work();
  }

  /**
   * Sends an unsolicited line. During an answer or a prompt, the line waits until that is over. An urgent line
   * does not wait.
   */
  sendUrc(line: string, isUrgent = false): void {
    if (this.#isClosed) return;
    if (this.#mode === 'body' || (this.#isAnswering && !isUrgent)) {
      this.#output.holdUrc(line);
      return;
    }
    this.#output.emitInformation(line);
    if (!this.#isAnswering) this.#output.flush();
  }

  /** Forgets everything; an answer that is still to come is not sent. */
  close(): void {
    this.#isClosed = true;
    this.#input = '';
    this.#output.close();
  }

  #work(): void {
    let position = 0;
    while (position < this.#input.length && this.#mode !== 'busy' && !this.#isClosed) {
      const character = this.#input.charAt(position);
      position += 1;
      if (this.#mode === 'body') this.#takeBodyCharacter(character);
      else this.#takeCommandCharacter(character);
    }
    this.#input = this.#input.slice(position);
    this.#output.flush();
  }

  #takeCommandCharacter(character: string): void {
    const { carriageReturn, backspace } = this.settings;
    const code = character.charCodeAt(0);
    if (code === carriageReturn) {
      this.#output.echo(character);
      this.#endLine();
    } else if (code === backspace || code === DELETE) {
      if (this.#line !== '') this.#output.echo('\b \b');
      this.#line = this.#line.slice(0, -1);
    } else if (code >= FIRST_PRINTABLE) {
      // §5.2.2: other control characters are ignored.
      this.#output.echo(character);
      this.#addToLine(character);
    }
  }

  #addToLine(character: string): void {
    if (this.#line.length >= LINE_CHARACTERS_MAX) this.#isLineTooLong = true;
    else this.#line += character;
    // §5.2.4: "A/" repeats at once, without carriage return.
    if (!/^a\/$/i.test(this.#line)) return;
    this.#line = '';
    this.#runLine(this.#lastCommands);
  }

  #endLine(): void {
    const line = this.#line;
    const isTooLong = this.#isLineTooLong;
    this.#line = '';
    this.#isLineTooLong = false;
    if (line !== '') this.#options.onLine(line);
    // §5.2.1: characters in front of "AT" are noise, and the modem ignores a line without "AT".
    const start = line.search(/at/i);
    if (isTooLong) {
      this.#finish('ERROR');
    } else if (start !== -1) {
      this.#lastCommands = line.slice(start + 2);
      this.#runLine(this.#lastCommands);
    }
  }

  #runLine(text: string): void {
    this.#output.emitLate();
    const latenessMs = this.#options.latenessMs();
    if (latenessMs !== undefined) this.#output.beginLateAnswer(latenessMs);
    const noise = this.#options.noiseBeforeAnswer();
    if (noise !== undefined) this.#output.emit(noise.toString('latin1'));
    const commands = parseCommandLine(text);
    if (commands === undefined) this.#finish('ERROR');
    else this.#run(commands);
  }

  /** Carries out commands until one fails, asks for a body, or takes time. */
  #run(commands: readonly AtCommand[]): void {
    this.#isAnswering = true;
    for (const [position, command] of commands.entries()) {
      const answer = this.#options.answer(command, this.settings);
      const rest = commands.slice(position + 1);
      if (answer instanceof Promise) {
        this.#wait(answer, rest);
        return;
      }
      if (!this.#give(answer)) return;
    }
    this.#finish('OK');
  }

  #wait(pending: Promise<Answer>, rest: readonly AtCommand[]): void {
    this.#mode = 'busy';
    this.#isAnswering = false;
    void pending.then((answer) => {
      if (this.#isClosed) return;
      this.#mode = 'command';
      this.#isAnswering = true;
      if (this.#give(answer)) this.#run(rest);
      this.#work();
    });
  }

  /** Returns whether the next command of the line may follow. */
  #give(answer: Answer): boolean {
    switch (answer.kind) {
      case 'ok': {
        this.#giveInformation(answer.lines);
        return true;
      }
      case 'prompt':
        this.#prompt = answer;
        this.#body = '';
        this.#mode = 'body';
        this.#isAnswering = false;
        if (answer.isShown) this.#output.emit('\r\n> ');
        return false;
      case 'error':
        this.#finish('ERROR');
        return false;
      case 'cme':
      case 'cms':
        this.#finish(errorResult(answer, this.settings.errorReporting));
        return false;
      case 'result':
        this.#finish(answer.code);
        return false;
      case 'nothing':
        this.#endAnswer();
        return false;
    }
  }

  /** Lines of one answer; a line that came in between never parts a header from its PDU. */
  #giveInformation(lines: readonly string[]): void {
    const intruder = this.#options.lineInAnswer();
    const [first, ...others] = lines;
    if (first !== undefined)
      this.#output.emitInformation(intruder === undefined ? lines.join('\r\n') : first);
    if (intruder === undefined) return;
    this.#output.emitInformation(intruder);
    if (others.length > 0) this.#output.emitInformation(others.join('\r\n'));
  }

  #takeBodyCharacter(character: string): void {
    const code = character.charCodeAt(0);
    const prompt = this.#prompt;
    if (code === ESCAPE || prompt === undefined) {
      this.#mode = 'command';
      this.#finish('OK');
    } else if (code === SUBSTITUTE) {
      this.#completeBody(prompt);
    } else if (code === this.settings.backspace) {
      this.#body = this.#body.slice(0, -1);
    } else if (code !== LINE_FEED || this.#body !== '') {
      // Some clients end the command with CR LF: the LF is not part of the body.
      this.#addToBody(character, prompt);
    }
  }

  #addToBody(character: string, prompt: Prompt): void {
    this.#body += character;
    this.#output.echo(character);
    const isLineEnd = character.charCodeAt(0) === this.settings.carriageReturn;
    if (prompt.repeatsPrompt && isLineEnd) this.#output.emit('\n> ');
    if (prompt.failure !== undefined && this.#body.length >= prompt.failure.afterCharacters) {
      this.#mode = 'command';
      this.#give(prompt.failure.answer);
    } else if (this.#body.length > BODY_CHARACTERS_MAX) {
      this.#mode = 'command';
      this.#finish('ERROR');
    }
  }

  #completeBody(prompt: Prompt): void {
    this.#mode = 'command';
    this.#isAnswering = true;
    const answer = prompt.complete(this.#body);
    if (answer instanceof Promise) this.#wait(answer, []);
    else if (this.#give(answer)) this.#finish('OK');
  }

  #finish(result: string): void {
    this.#output.emitResult(result);
    this.#endAnswer();
  }

  #endAnswer(): void {
    this.#isAnswering = false;
    this.#output.endAnswer();
    this.#output.releaseUrcs();
  }
}
