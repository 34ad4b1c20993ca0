// The version of the control link between node and control plane: one integer. Optional fields and new commands keep it.

export const LINK_VERSION = 1;

/** The oldest version that this side still speaks. Raised on purpose, never by accident. */
export const LINK_VERSION_MIN = 1;

/** Path of the control link below the control plane's base URL. */
export const LINK_PATH = '/nodes/link';

/**
 * A text frame on the link is at most this long, so that one peer cannot exhaust the other's memory. The longest frames are those with all
 * slots of the largest node, and a text of 40,000 characters with six bytes each in JSON.
 */
export const LINK_FRAME_BYTES_MAX = 256 * 1024;

export const LINK_VERSIONS = `${LINK_VERSION_MIN} to ${LINK_VERSION}`;
