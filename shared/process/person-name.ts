// The name of the person who runs a command.
import { userInfo } from 'node:os';

/** A header can contain these characters. */
const UNPRINTABLE = /[^\x21-\x7e]/g;
export const PERSON_NAME_MAX = 60;

/** The user of the process; with sudo, the user who called it. Users can change what it is: it is no proof. */
export const personName = (): string =>
  (process.env['SUDO_USER'] ?? userName()).replace(UNPRINTABLE, '?').slice(0, PERSON_NAME_MAX);

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // The user of a container may have no name.
    return `uid ${process.getuid?.()}`;
  }
}
