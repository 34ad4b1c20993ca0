// The version of the control link between node and control plane: one integer.
//
// 1  2026-11-21  hello, welcome, slots, fact, ack, command, result; facts: sms_received, sms_unreadable,
//                sms_outcome, sms_report; commands: bind_sim, send_sms.
// 2  2026-11-21  server frame drain; node frame event; alarms in hello and slots; in slots model, usb_path and
//                reason; in outcomes class; in reports part and parts; refusal rate_limited, retry_after_ms; close
//                code 4403.
// 3  2026-11-21  node frame call; calls in hello; fact call_ended; commands dial, answer, hang_up, open_media; refusals
//                line_busy, call_unknown; the media link (voice/media.ts).
//    2026-11-22  optional: in slots storage; in hello and slots journal_depth. Command restart_modem, which nodes of
//                before refuse as command_unknown.
//    2026-11-23  optional: in slots swept_at; in the fact sms_received arrived_after. Refusal destination_not_allowed.

export const LINK_VERSION = 3;

/** The oldest version that this side still speaks. Raised on purpose, never by accident. */
export const LINK_VERSION_MIN = 2;

/** Path of the control link below the control plane's base URL. */
export const LINK_PATH = '/nodes/link';

/** A text frame on the link is at most this long, so that one peer cannot exhaust the other's memory. */
export const LINK_FRAME_BYTES_MAX = 64 * 1024;

/** Of the answer to an upgrade: the versions that the server speaks, "2-3". */
export const LINK_VERSIONS_HEADER = 'X-Simrack-Link-Versions';

export const LINK_VERSIONS = `${LINK_VERSION_MIN}-${LINK_VERSION}`;

/** The newest version that this side and a server with that header have in common; the oldest where there is none. */
export function versionInCommon(header: string | undefined): number {
  const newest = Number(/^\d{1,4}-(\d{1,4})$/.exec(header ?? '')?.[1] ?? LINK_VERSION_MIN);
  return Math.max(LINK_VERSION_MIN, Math.min(LINK_VERSION, newest));
}
