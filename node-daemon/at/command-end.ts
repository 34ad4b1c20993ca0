// Names and results of commands for counters, from closed lists. Pure.
import type { AtCommand } from './command.ts';
import type { ExchangeDone } from './exchange.ts';

/** The result of a command. `unclear`: the modem read it as something else. `port_gone`: the port closed during the command. */
type CommandResult =
  | 'ok'
  | 'error'
  | 'cme_error'
  | 'cms_error'
  | 'call_failed'
  | 'timeout'
  | 'unclear'
  | 'port_gone';

/** A command that the modem got. */
export interface CommandEnd {
  /** One of `COMMAND_NAMES`. */
  readonly name: string;
  readonly result: CommandResult;
  /** Time since its first byte. */
  readonly tookMs: number;
}

const STANDARD =
  'CCID CCWA CEER CEREG CESQ CFUN CGDCONT CGMI CGMM CGMR CGREG CGSN CHLD CHUP CIMI CLCC CLIP CLIR CMEE CMGD CMGF CMGL CMGR ' +
  'CMGS CNMA CNMI CNUM COLP COPS CPIN CPINR CPMS CRC CREG CRESET CRSM CSCA CSCS CSMS CSQ CUSD CVHU DDET GSN ICCID VTS';
const MAKERS =
  '+AUTOCSQ +CICCID +CNMP +CNSMOD +CPCMBANDWIDTH +CPCMREG +QCCID +QCFG +QGPSCFG +QINDCFG +QMBNCFG +QPCMV +QPINC +QSIMSTAT +QTONEDET ' +
  '+QURCCFG +SPIC ^CPIN ^CURC ^CVOICE ^DDSETEX ^DDTMFCFG ^DSCI ^DTMF ^ICCID ^PORTSEL ^RESET';
const BASIC = 'AT A D E H I Q V Z &F';

/** All names under which commands are counted. */
export const COMMAND_NAMES: readonly string[] = [
  ...BASIC.split(' '),
  ...STANDARD.split(' ').map((name) => `+${name}`),
  ...MAKERS.split(' '),
  'other',
];
const KNOWN: ReadonlySet<string> = new Set(COMMAND_NAMES);

/** Returns the name of a command line. Of several commands it is the last one, which the others prepare. */
export function commandNameOf({ text }: Pick<AtCommand, 'text'>): string {
  const commands = text
    .slice('AT'.length)
    .replace(/"[^"]*"/g, '')
    .split(';')
    .filter((each) => each !== '');
  const last = commands.at(-1) ?? 'AT';
  const name = /^(?:[+^][A-Z]+|AT|&?[A-Z])/.exec(last)?.[0] ?? '';
  return KNOWN.has(name) ? name : 'other';
}

/** Returns the result of an exchange. `undefined`, or an exchange that a close ended, is `port_gone`. */
export function commandResultOf(done: ExchangeDone | undefined, isClosed: boolean): CommandResult {
  if (done === undefined) return 'port_gone';
  const { result } = done;
  if (result.kind === 'swallowed') return 'unclear';
  if (result.kind === 'timeout') return isClosed ? 'port_gone' : 'timeout';
  switch (result.final.kind) {
    case 'ok':
      return 'ok';
    case 'error':
      return 'error';
    case 'cme':
      return 'cme_error';
    case 'cms':
      return 'cms_error';
    case 'call':
      return result.final.result === 'CONNECT' ? 'ok' : 'call_failed';
  }
}
