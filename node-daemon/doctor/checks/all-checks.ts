// All checks by name, in the order in which they are made and reported: lower layers come first.
import { systemClock } from '#shared/clock.ts';
import { audioLoop, audioPath, audioSettings, gpsInAudio } from './audio.ts';
import type { HostCheck, SlotCheck } from './check.ts';
import { configuration, dataFolder, modems } from './host-daemon.ts';
import { controlPlane, enrollment, link } from './host-link.ts';
import { clock, modemManager, nodeVersion, soundPrograms, threads, udevRules } from './host-system.ts';
import { modemClockAt, profile, storage } from './modem.ts';
import { registration, signal, volte } from './network.ts';
import { port, portHolder, portRights, usbReset } from './port.ts';
import { number, serviceCentre, sim } from './sim.ts';
import { autosuspend, driver, usbMode, usbPower, usbSpeed } from './usb.ts';
import { usbDepth, usbEndpoints } from './usb-budget.ts';
import { voiceSettings } from './voice-settings.ts';

export const HOST_CHECKS: Readonly<Record<string, HostCheck>> = {
  node_version: nodeVersion,
  threads,
  configuration,
  data_folder: dataFolder,
  enrolment: enrollment,
  control_plane: controlPlane,
  link,
  clock,
  modem_manager: modemManager,
  udev_rules: udevRules,
  sound_programs: soundPrograms,
  modems,
  usb_endpoints: usbEndpoints,
};

export const SLOT_CHECKS: Readonly<Record<string, SlotCheck>> = {
  usb_mode: usbMode,
  driver,
  usb_power: usbPower,
  usb_depth: usbDepth,
  usb_speed: usbSpeed,
  autosuspend,
  usb_reset: usbReset,
  port_rights: portRights,
  port_holder: portHolder,
  port,
  profile,
  sim,
  number,
  registration,
  volte,
  voice_settings: voiceSettings,
  signal,
  storage,
  service_centre: serviceCentre,
  modem_clock: modemClockAt(() => systemClock.now()),
  audio_path: audioPath,
  audio_settings: audioSettings,
  gps_in_audio: gpsInAudio,
  audio_loop: audioLoop,
};
