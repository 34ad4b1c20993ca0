// The format of a node's configuration file.
import { normalize } from 'node:path';
import * as z from 'zod';
import { destinationListSchema } from '#shared/destination-list.ts';
import { E164_PATTERN } from '#shared/identities.ts';
import { LOG_LEVELS } from '#shared/log.ts';
import { choice, map, text, wholeNumber, yesOrNo } from '#shared/process/config-file.ts';
import { PLACEHOLDERS, unknownPlaceholders } from '../usb/operator-command.ts';
import { SLOT_NAME_PATTERN, SLOTS_MAX } from './node-config.ts';

const SIMS_MAX = 1024;
const IGNORED_MAX = 64;
const NETWORKS_MAX = 256;
const COMMAND_WORDS_MAX = 32;
const TIMES_MAX = 1_000_000;
const RECOVERY_STEPS_MAX = 60;
/** The longest time for calls to end at a stop. */
const DRAIN_SECONDS_MAX = 3_600;

/** Length without the check digit or the version, which an IMEI may also include (3GPP TS 23.003 §6.2). */
const IMEI_SERIAL_LENGTH = 14;
const imei = text(/^\d{14,16}$/, 'an IMEI of 14 to 16 digits');
const usbPath = text(/^\d{1,3}-\d{1,3}(\.\d{1,3}){0,6}$/, 'a USB path such as 1-1.2 (bus, ports)');
const usbId = text(/^[0-9a-fA-F]{4}:[0-9a-fA-F]{4}$/, 'a USB id such as 12d1:1f01').transform((value) => {
  const [vendor = '', product = ''] = value.toLowerCase().split(':');
  return { vendor, product };
});
const pin = text(/^\d{4,8}$/, 'a PIN of 4 to 8 digits');
const word = z
  .string('must be text')
  .min(1, 'must be text')
  .max(1024)
  .refine((value) => unknownPlaceholders(value).length === 0, {
    error: ({ input }) =>
      `{${unknownPlaceholders(String(input)).join('}, {')}} is not a placeholder; use {${PLACEHOLDERS.join('}, {')}}`,
  });
const command = z
  .array(word, 'must be a list of words')
  .min(1, 'must name a program')
  .max(COMMAND_WORDS_MAX, `must have at most ${COMMAND_WORDS_MAX} words`);
const rate = map({
  per_minute: wholeNumber(1, TIMES_MAX).optional(),
  per_hour: wholeNumber(1, TIMES_MAX).optional(),
  per_day: wholeNumber(1, TIMES_MAX).optional(),
});

const path = z.string().startsWith('/', 'must be an absolute path').max(4096).transform(normalize);

const slot = map({
  name: text(SLOT_NAME_PATTERN, 'a slot name: 1 to 64 letters, digits, ".", "_" and "-"'),
  imei: imei.optional(),
  usb_path: usbPath.optional(),
  port: path.optional(),
  audio_port: path.optional(),
})
  .refine(
    ({ imei, usb_path, port }) => [imei, usb_path, port].filter((place) => place !== undefined).length === 1,
    'must have exactly one of imei, usb_path and port',
  )
  .refine(
    ({ port, audio_port }) => audio_port === undefined || port !== undefined,
    'audio_port needs port: for a modem that is found over USB, its make determines the audio port',
  );
const ignored = map({ usb_path: usbPath.optional(), usb_id: usbId.optional() }).refine(
  ({ usb_path, usb_id }) => (usb_path === undefined) !== (usb_id === undefined),
  'must have exactly one of usb_path and usb_id',
);

/** The contents of the file. Every scalar is a text. */
export const configSchema = map({
  data_dir: z.string().min(1, 'must be a path').optional(),
  log_level: choice(LOG_LEVELS).optional(),
  slots: z
    .array(slot, 'must be a list')
    .max(SLOTS_MAX, `must have at most ${SLOTS_MAX} slots`)
    .superRefine((slots, context) => {
      for (const key of ['name', 'imei', 'usb_path', 'port', 'audio_port'] as const) {
        const seen = new Set<string>();
        slots.forEach(({ [key]: value }, position) => {
          if (value === undefined) return;
          const same = key === 'imei' ? value.slice(0, IMEI_SERIAL_LENGTH) : value;
          if (seen.has(same)) {
            context.addIssue({ code: 'custom', path: [position, key], message: `"${value}" occurs twice` });
          }
          seen.add(same);
        });
      }
    })
    .default([]),
  discover: yesOrNo.optional(),
  ignore: z
    .array(ignored, 'must be a list')
    .max(IGNORED_MAX, `must have at most ${IGNORED_MAX} devices`)
    .default([]),
  mode_switch: command.optional(),
  sim_pin: pin.optional(),
  sims: z
    .record(
      z.string().regex(/^\d{18,22}$/),
      map({
        pin: pin.optional(),
        number: text(E164_PATTERN, 'a number such as +12065550100').optional(),
      }),
      {
        error: ({ code }) =>
          code === 'invalid_type' ? 'must be a map' : 'must be an ICCID: 18 to 22 digits',
      },
    )
    .refine((sims) => Object.keys(sims).length <= SIMS_MAX, `must have at most ${SIMS_MAX} cards`)
    .default({}),
  carrier_settings: map({
    apply: yesOrNo.optional(),
    networks: z
      .record(
        z.string().regex(/^\d{5,6}$/),
        map({
          apply: yesOrNo.optional(),
          profile: text(/^[\w.-]{1,64}$/, 'the name of a carrier profile, such as VoLTE-ATT').optional(),
          ims: yesOrNo.optional(),
          ims_apn: text(/^[A-Za-z0-9.-]{1,63}$/, 'an access point name, such as ims').optional(),
        }),
        {
          error: ({ code }) =>
            code === 'invalid_type' ? 'must be a map' : 'must be a network: 5 or 6 digits, MCC and MNC',
        },
      )
      .refine(
        (networks) => Object.keys(networks).length <= NETWORKS_MAX,
        `must have at most ${NETWORKS_MAX} networks`,
      )
      .default({}),
  }).optional(),
  sms: map({
    limits: map({ per_sim: rate.default({}), per_destination: rate.default({}) }).optional(),
  }).optional(),
  destinations: destinationListSchema.optional(),
  recovery: map({
    usb_reset: choice(['authorized', 'uhubctl', 'off']).optional(),
    power_cycle: command.optional(),
    limits_per_hour: map({
      radio: wholeNumber(0, RECOVERY_STEPS_MAX).optional(),
      restart: wholeNumber(0, RECOVERY_STEPS_MAX).optional(),
      usb_reset: wholeNumber(0, RECOVERY_STEPS_MAX).optional(),
      power_cycle: wholeNumber(0, RECOVERY_STEPS_MAX).optional(),
    }).optional(),
  }).optional(),
  metrics: map({ port: wholeNumber(1, 65_535) }).optional(),
  operator_socket: path.optional(),
  drain_seconds: wholeNumber(0, DRAIN_SECONDS_MAX).optional(),
});

/** The checked contents of the file. */
export type WrittenConfig = z.output<typeof configSchema>;
