// Plays a written dialogue with a modem on a scripted port. The form is in transcripts/README.md.
import { readFileSync } from 'node:fs';
import { ScriptedPort } from '../../fixtures/nodes/scripted-port.ts';

interface Entry {
  readonly command: RegExp;
  /** The modem's answers to the command, one each time; the last one also every time after. */
  readonly answers: string[][];
}

interface Scene {
  /** The lines that the modem sends by itself when the scene begins. */
  readonly opening: string[];
  readonly entries: Map<string, Entry>;
}

const PROMPT = '(prompt)';

/** A modem that says what is written. */
export class TranscriptModem {
  /** Commands that are not in the dialogue. */
  readonly unexpected: string[] = [];
  port = new ScriptedPort();
  readonly #scenes = new Map<string, Scene>();
  #current: Scene;
  readonly #base: Scene;
  #lineEnd = '\r\n';
  #echoes = false;

  constructor(name: string) {
    const text = readFileSync(new URL(`transcripts/${name}.txt`, import.meta.url), 'utf8');
    this.#base = { opening: [], entries: new Map() };
    this.#current = this.#base;
    this.#read(text.split('\n'));
    this.#current = this.#base;
    this.port.on(/^/, ({ input }) => this.#answer(input));
  }

  /** From now on the scene's answers count first; its opening is said now. */
  play(name: string): void {
    const scene = this.#scenes.get(name);
    if (scene === undefined) throw new Error(`no scene ${name}`);
    this.#current = scene;
    this.port.say(this.#onWire(scene.opening));
  }

  #read(lines: readonly string[]): void {
    let answer: string[] | undefined;
    for (const line of lines) {
      const [mark = '', rest = ''] = [line.slice(0, 2), line.slice(2)];
      if (mark === '> ') {
        answer = [];
        this.#entry(rest).answers.push(answer);
      } else if (mark === '< ') (answer ?? this.#current.opening).push(rest);
      else if (mark === '==') {
        answer = undefined;
        this.#current = { opening: [], entries: new Map() };
        this.#scenes.set(rest.trim(), this.#current);
      } else if (mark === '@ ') this.#set(rest);
      else if (line !== '' && mark !== '# ') throw new Error(`not a line of a transcript: ${line}`);
    }
  }

  #set(setting: string): void {
    if (setting === 'echo') this.#echoes = true;
    else this.#lineEnd = setting.replace('line-end ', '').replaceAll('\\r', '\r').replaceAll('\\n', '\n');
  }

  #entry(command: string): Entry {
    const isBody = !command.startsWith('AT');
    const escaped = command.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const pattern = isBody ? escaped.replaceAll('\\?', '.') : escaped;
    const known = this.#current.entries.get(command);
    const entry = known ?? { command: new RegExp(`^${pattern}$`), answers: [] };
    this.#current.entries.set(command, entry);
    return entry;
  }

  #answer(line: string): string | undefined {
    const echo = this.#echoes ? `${line}\r` : '';
    if (line === 'ATE0') this.#echoes = false;
    for (const { entries } of [this.#current, this.#base]) {
      const entry = [...entries.values()].find(({ command }) => command.test(line));
      if (entry === undefined) continue;
      const [answer = []] = entry.answers.length > 1 ? entry.answers.splice(0, 1) : entry.answers;
      return echo + this.#onWire(answer);
    }
    this.unexpected.push(line);
    return echo + this.#onWire(['ERROR']);
  }

  #onWire(lines: readonly string[]): string {
    const end = this.#lineEnd;
    return lines.map((line) => (line === PROMPT ? `${end}> ` : `${end}${line}${end}`)).join('');
  }
}
