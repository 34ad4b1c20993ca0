// The version of the control link between node and control plane: one integer.
//
// 1  2026-11-21  hello, welcome, slots, fact, ack, command, result; facts: sms_received, sms_unreadable,
//                sms_outcome, sms_report; commands: bind_sim, send_sms.
// 2  2026-11-21  server frame drain; node frame event; alarms in hello and slots; in slots model, usb_path and
//                reason; in outcomes class; in reports part and parts; refusal rate_limited, retry_after_ms.

export const LINK_VERSION = 2;

/** The oldest version that this side still speaks. Raised on purpose, never by accident. */
export const LINK_VERSION_MIN = 1;

/** Path of the control link below the control plane's base URL. */
export const LINK_PATH = '/nodes/link';

/** A text frame on the link is at most this long, so that one peer cannot exhaust the other's memory. */
export const LINK_FRAME_BYTES_MAX = 64 * 1024;
