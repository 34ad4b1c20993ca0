// Mobile networks of the USA by the codes that their cells broadcast (MCC 310 to 316, three-digit MNC). Data.
//
// Sources: the list of network codes that ITU-T publishes with E.212, and public lists made from it (such as that of the
// npm package mcc-mnc-list). Codes that a carrier bought with another carrier have its present name. An MVNO without codes
// of its own, such as Mint or Visible, is on the network of its host, and its SIMs report the code of the host.

/** The codes of each network. A range of codes is written with a dash. */
const CODES: Readonly<Record<string, string>> = {
  'AT&T':
    '310016 310030 310070 310080 310090 310150 310170 310280 310380 310410 310560 310670 310680 310950 311070 311090 311180 311190 312090 312680 313030 313210 314260 314270 314280',
  FirstNet: '312670 313100 313110-313140',
  'T-Mobile':
    '310026 310120 310160 310200 310210 310220 310230 310240 310250 310260 310270 310310 310490 310530 310660 310770 310800 310830 311260 311490 311660 311870 311880 311882 311940 312190 312250 312530',
  Verizon:
    '310004-310006 310010 310012 310013 310350 310590-310599 310820 310890-310899 310910 311012 311110 311270-311289 311390 311440 311480-311489 311590 311800 311810 312770',
  UScellular: '310066 310730 311220 311580',
  'Boost (DISH)': '311200 313340 313350 313360',
  'C Spire': '311230 311630',
  Cellcom: '310600 311840 311850',
  GCI: '310050 310190 310430 311370',
  Viaero: '310450 310740',
  'Appalachian Wireless': '312120 312130',
  'Carolina West': '310130 312470',
  'Cellular One': '310320',
  'Chat Mobility': '311410 312160 312170',
  'Choice Wireless': '311040 311320 311550 312370',
  'Copper Valley': '310930 312380',
  'Inland Cellular': '310580 313820',
  Nemont: '311350 312330 312480 312600',
  'Nex-Tech': '311100 312420',
  'Pine Belt': '311670',
  'Pine Cellular': '311080',
  'Pioneer Cellular': '310360 312270 312280 313570',
  'Southern Linc': '312720',
  'Thumb Cellular': '311050 311830',
  'Union Wireless': '310020',
  'United Wireless': '311650',
  'West Central': '310180 311000',
  Mobi: '313460',
  // Networks of the islands that use the codes of the USA.
  'ASTCA (American Samoa)': '311780',
  'Claro (Puerto Rico)': '313510',
  'Docomo Pacific (Guam)': '310370',
  'GTA (Guam)': '310140',
  'IT&E (Guam)': '310032 310110 310400 310480 311120 311250',
  'Liberty (Puerto Rico)': '313790',
  'Viya (US Virgin Islands)': '311470',
  // Networks of cable companies and MVNOs with codes of their own.
  Altice: '313390',
  Cox: '311930',
  'Google Fi': '312580',
  'Spectrum Mobile': '313450 314020',
  GigSky: '311900 312870',
  Telnyx: '311210',
  Telna: '310840 312300',
  // Networks for machines.
  Aeris: '310850',
  Hologram: '313760',
  Jasper: '310650',
  Numerex: '310440 310640',
};

function* codesOf(text: string): Generator<string> {
  for (const part of text.split(' ')) {
    const [first = '', last = first] = part.split('-');
    for (let code = Number(first); code <= Number(last); code += 1) yield String(code);
  }
}

/** The name of a network by its code: "310260" is "T-Mobile". */
export const US_NETWORKS: ReadonlyMap<string, string> = new Map(
  Object.entries(CODES).flatMap(([name, codes]) => [...codesOf(codes)].map((code) => [code, name] as const)),
);
