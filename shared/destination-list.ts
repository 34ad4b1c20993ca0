// The list of destinations that an operator allows, for both programs: regions and prefixes. Pure.
import * as z from 'zod';

/** Regions (ISO 3166-1) that libphonenumber knows. Here, since its data takes longer to load than most commands to run. */
const REGIONS: ReadonlySet<string> = new Set(
  `
  AC AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY
  BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ
  FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IO IQ IR
  IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH
  MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK
  PL PM PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TA
  TC TD TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW
`
    .trim()
    .split(/\s+/),
);

/** The regions of "US": the United States and its territories that have telephone numbers. */
const US_AND_TERRITORIES = ['US', 'PR', 'GU', 'VI', 'AS', 'MP'] as const;

const ENTRIES_MAX = 300;

export interface Destinations {
  readonly regions: ReadonlySet<string>;
  /** Beginnings of E.164 numbers, such as "+44". */
  readonly prefixes: readonly string[];
  /** For people: "the US and its territories, CA, +44". */
  toString(): string;
}

/** Parses "US" or "+44", or returns the problem. */
function problemOfEntry(entry: string): string | undefined {
  if (entry === '+1')
    return '"+1" is 25 countries: name the regions, such as US,CA, or prefixes such as +1876';
  if (/^\+[1-9]\d{0,13}$/.test(entry)) return undefined;
  if (entry === 'UK') return '"UK" is no region: did you mean GB?';
  return REGIONS.has(entry) ? undefined : `"${entry}" is no region such as US and no prefix such as +44`;
}

function destinationsOf(entries: readonly string[]): Destinations {
  const regions = entries.filter((entry) => !entry.startsWith('+'));
  const all = regions.flatMap((region) => (region === 'US' ? US_AND_TERRITORIES : [region]));
  const text = entries.map((entry) => (entry === 'US' ? 'the US and its territories' : entry)).join(', ');
  return {
    regions: new Set<string>(all),
    prefixes: entries.filter((entry) => entry.startsWith('+')),
    toString: () => text,
  };
}

/** The default list. */
export const DEFAULT_DESTINATIONS = destinationsOf(['US']);

/** The entries of a list as an operator writes it. */
export const destinationListSchema = z
  .array(
    z
      .string('must be a region such as US or a prefix such as +44')
      .transform((entry) => entry.trim().toUpperCase())
      .superRefine((entry, context) => {
        const message = problemOfEntry(entry);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      }),
    'must be a list of regions and prefixes',
  )
  .min(1, 'must have a region such as US or a prefix such as +44')
  .max(ENTRIES_MAX, `must have at most ${ENTRIES_MAX} entries`)
  .transform(destinationsOf);

/** The same with commas, as an option of a program. */
export const destinationsOption = {
  env: 'DESTINATIONS',
  about:
    'Allowed destinations for texts and calls: regions and prefixes, separated by commas, such as US,CA,+44; US includes its territories',
  schema: z
    .string()
    .transform((text) => text.split(','))
    .pipe(destinationListSchema)
    .optional(),
};
