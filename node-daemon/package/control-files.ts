// The control fields and the changelog of the package, as Debian requires them. Pure.

export const NAME = 'simrack-node-daemon';
const MAINTAINER = 'Simrack <operators@simrack.invalid>';

/** Returns the text of `DEBIAN/control` (Debian policy, chapter 5). */
export function control({
  arch,
  version,
  kibibytes,
}: {
  arch: string;
  version: string;
  kibibytes: number;
}): string {
  const fields = {
    Package: NAME,
    Version: version,
    Architecture: arch,
    Maintainer: MAINTAINER,
    'Installed-Size': kibibytes,
    // Debian's nodejs or NodeSource's. The daemon sends notifications with systemd-notify.
    Depends: 'nodejs (>= 20.19), systemd, init-system-helpers (>= 1.54), libc6 (>= 2.28), libstdc++6 (>= 9)',
    // For calls of modems with a sound card, and for sticks in mass-storage mode.
    Recommends: 'alsa-utils, usb-modeswitch',
    Suggests: 'uhubctl',
    Section: 'comm',
    Priority: 'optional',
    Description: [
      'runs the modems of one host for Simrack',
      ' Reads and sends SMS and carries calls over the SIM cards in USB modems. Keeps',
      ' a journal of data that must not be lost, and one link to the control plane.',
      ' .',
      ' Recovers modems that do not answer, disconnect or lose their network.',
    ].join('\n'),
  };
  return Object.entries(fields).reduce((text, [name, value]) => `${text}${name}: ${value}\n`, '');
}

/** Returns one changelog entry in the form of Debian policy §4.4. `builtAt`: in seconds since 1970. */
export function changelog(version: string, builtAt: number): string {
  const date = new Date(builtAt * 1_000).toUTCString().replace('GMT', '+0000');
  return `${NAME} (${version}) stable; urgency=medium\n\n  * Built from the sources of Simrack.\n\n -- ${MAINTAINER}  ${date}\n`;
}
