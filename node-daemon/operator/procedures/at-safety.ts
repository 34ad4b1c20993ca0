// Which command lines an operator may give to a modem that works: lines that only read, anything else on demand. Pure.

/** `safe` changes nothing; `unsafe` may; `never` takes the modem away from the daemon, or sends its messages elsewhere. */
type AtVerdict =
  | { readonly kind: 'safe' }
  | { readonly kind: 'unsafe'; readonly command: string; readonly hint?: string }
  | { readonly kind: 'never'; readonly command: string; readonly reason: string };

/** Asking for the allowed values searches all bands, for minutes in which no message comes. */
const TEST_FORM = /^[+^*](?!COPS=|CGAUTO=|CNMA=)[A-Z0-9]+=\?$/;
/** 3GPP TS 27.007 §4.2: reads a setting. */
const READ_FORM = /^[+^*][A-Z0-9]+\?$/;
const BASIC = /^(I\d?|&V\d?|S\d{1,3}\?)?$/;
/** Commands without a parameter that only read. */
const READING: ReadonlySet<string> = new Set([
  '+CGMI',
  '+CGMM',
  '+CGMR',
  '+CGSN',
  '+GMI',
  '+GMM',
  '+GMR',
  '+GSN',
  '+GCAP',
  '+CLAC',
  '+CSUB',
  '+QGMR',
  '+SPIC',
  '+CIMI',
  '+CCID',
  '+ICCID',
  '+QCCID',
  '+CICCID',
  '^ICCID',
  '+CNUM',
  '+CSQ',
  '+CESQ',
  '+QCSQ',
  '+CPAS',
  '+QNWINFO',
  '+QSPN',
  '+CLCC',
  '+CEER',
  '+CBC',
  '+QTEMP',
  '+CGPADDR',
  '+SIMEI',
  '^SYSINFO',
  '^SYSINFOEX',
  '^HWVER',
  '^VERSION',
  '^MONSC',
  '^MONNC',
  '^CARDMODE',
]);
/** Commands with parameters that only read: files of the card (3GPP TS 27.007 §8.18), serving cells, one setting by name. */
const READING_SETS = [
  /^\+CRSM=(176|178|192|242)(,[^"]*)?$/,
  /^\+CGSN=[0-3]$/,
  /^\+CPINR="SIM PIN2?"$/,
  /^\+QENG="(servingcell|neighbourcell)"$/,
  /^\+QMBNCFG="(list|autosel|select)"$/i,
  /^\+(QCFG|QURCCFG|QINDCFG|QGPSCFG)="[a-z0-9/_-]+"$/,
];

/** They wait for a body, which the next command would become. */
const WITH_BODY =
  /\+(CMGS|CMGW|CMGC|CNMA|QCMGS|QCMGW|CIPSEND|CCHSEND|QISEND|QISENDEX|QSSLSEND|QFUPL|QFWRITE|QHTTP(URL|POST|PUT)|QMTPUB|QMTPUBEX|CFTPPUT|CMQTT(TOPIC|PAYLOAD|WILLTOPIC|WILLMSG)|HTTPDATA|SHBOD|CFTRANRX)(=(?!\?)|$)/;
/** The port speaks no AT commands afterwards. */
const DATA_MODE = /\+(CGDATA|CMUX)(=(?!\?)|$)|\+\+\+/;

/** Any other value than 0 (3GPP TS 27.005 §3.2.3), behind any text. */
const TEXT_MODE = /\+CMGF(?!\?|=\?|=0+$)/;
/** Result codes off or as numbers, lines that end otherwise (ITU-T V.250 §6.2): the daemon does not understand the answers any more. */
const UNREADABLE = /Q[1-9]|V(?!1)|S0*[345]=/;

const HINTS: ReadonlyArray<readonly [RegExp, string]> = [
  [/^\+CUSD/, 'use "ussd"'],
  [/^\+CMG[LR]|^\+CPMS/, 'use "sms": reading messages marks them'],
  [/^\+COPS=\?/, 'it searches all bands, and no messages arrive meanwhile'],
];

/** Judges a command line; one command that is not safe makes all of it unsafe. */
export function judge(line: string): AtVerdict {
  const commands = commandsOf(line);
  if (commands === undefined) {
    return { kind: 'never', command: line.trim(), reason: 'a quotation mark is missing' };
  }
  for (const command of commands) {
    const unquoted = command.replace(/"[^"]*"/g, '""');
    if (WITH_BODY.test(unquoted)) {
      const instead = unquoted.includes('+CM') ? '; use "send"' : '';
      return { kind: 'never', command, reason: `it waits for a body${instead}` };
    }
    if (DATA_MODE.test(unquoted) || goesOnline(unquoted)) {
      return { kind: 'never', command, reason: 'it takes the port out of command mode' };
    }
    if (TEXT_MODE.test(unquoted)) {
      const reason =
        'in text mode the daemon’s next message would reach a wrong number; use "send" and "sms"';
      return { kind: 'never', command, reason };
    }
    if (UNREADABLE.test(basicPartOf(unquoted))) {
      return { kind: 'never', command, reason: 'the daemon could no longer read the answers of the modem' };
    }
  }
  const unsafe = commands.find((command) => !isSafe(command));
  if (unsafe === undefined) return { kind: 'safe' };
  const hint = HINTS.find(([pattern]) => pattern.test(unsafe))?.[1];
  return { kind: 'unsafe', command: unsafe, ...(hint === undefined ? {} : { hint }) };
}

/**
 * The commands of a line without their "AT", as modems read them: blanks dropped, letters large, outside of quotes
 * (ITU-T V.250 §5.2.1, §5.4). A call keeps its ";". `undefined`: a quotation mark has no other.
 */
export function commandsOf(line: string): string[] | undefined {
  const commands = [''];
  let isQuoted = false;
  for (const char of line.trim().slice('AT'.length)) {
    if (char === '"') isQuoted = !isQuoted;
    if (char === ';' && !isQuoted) {
      if (commands.at(-1)?.startsWith('D') === true) commands.push(`${commands.pop() ?? ''};`);
      commands.push('');
    } else if (char !== ' ' || isQuoted) {
      commands.push((commands.pop() ?? '') + (isQuoted ? char : char.toUpperCase()));
    }
  }
  if (isQuoted) return undefined;
  return commands.length > 1 && commands.at(-1) === '' ? commands.slice(0, -1) : commands;
}

/** ATD without ";" and ATO, also behind other basic commands. */
const goesOnline = (command: string): boolean => /[DO]/.test(basicPartOf(command)) && !command.endsWith(';');

/** The commands of one letter that stand before the first with a name; &D, &V and \Q are others. */
const basicPartOf = (command: string): string =>
  command.replace(/[&\\][A-Z]\d*/g, '').split(/[+^*$%]/)[0] ?? '';

function isSafe(command: string): boolean {
  return (
    BASIC.test(command) ||
    READING.has(command) ||
    TEST_FORM.test(command) ||
    READ_FORM.test(command) ||
    READING_SETS.some((pattern) => pattern.test(command))
  );
}
