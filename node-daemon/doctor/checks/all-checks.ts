// All checks by name, in the order in which they are made and told: what lies below comes first.
import { systemClock } from '#shared/clock.ts';
import type { HostCheck, SlotCheck } from './check.ts';
import { clock } from './host/clock.ts';
import { configuration } from './host/configuration.ts';
import { controlPlane } from './host/control-plane.ts';
import { dataFolder } from './host/data-folder.ts';
import { enrolment } from './host/enrolment.ts';
import { link } from './host/link.ts';
import { modemManager } from './host/modem-manager.ts';
import { modems } from './host/modems.ts';
import { nodeVersion } from './host/node-version.ts';
import { soundPrograms } from './host/sound-programs.ts';
import { threads } from './host/threads.ts';
import { udevRules } from './host/udev-rules.ts';
import { audioLoop } from './slot/audio-loop.ts';
import { audioPath } from './slot/audio-path.ts';
import { audioSettings } from './slot/audio-settings.ts';
import { autosuspend } from './slot/autosuspend.ts';
import { driver } from './slot/driver.ts';
import { gpsInAudio } from './slot/gps-in-audio.ts';
import { modemClockAt } from './slot/modem-clock.ts';
import { number } from './slot/number.ts';
import { port } from './slot/port.ts';
import { portHolder } from './slot/port-holder.ts';
import { portRights } from './slot/port-rights.ts';
import { profile } from './slot/profile.ts';
import { registration } from './slot/registration.ts';
import { serviceCentre } from './slot/service-centre.ts';
import { signal } from './slot/signal.ts';
import { sim } from './slot/sim.ts';
import { storage } from './slot/storage.ts';
import { usbMode } from './slot/usb-mode.ts';
import { usbPower } from './slot/usb-power.ts';
import { usbSpeed } from './slot/usb-speed.ts';
import { volte } from './slot/volte.ts';

export const HOST_CHECKS: Readonly<Record<string, HostCheck>> = {
  node_version: nodeVersion,
  threads,
  configuration,
  data_folder: dataFolder,
  enrolment,
  control_plane: controlPlane,
  link,
  clock,
  modem_manager: modemManager,
  udev_rules: udevRules,
  sound_programs: soundPrograms,
  modems,
};

export const SLOT_CHECKS: Readonly<Record<string, SlotCheck>> = {
  usb_mode: usbMode,
  driver,
  usb_power: usbPower,
  usb_speed: usbSpeed,
  autosuspend,
  port_rights: portRights,
  port_holder: portHolder,
  port,
  profile,
  sim,
  number,
  registration,
  volte,
  signal,
  storage,
  service_centre: serviceCentre,
  modem_clock: modemClockAt(() => systemClock.now()),
  audio_path: audioPath,
  audio_settings: audioSettings,
  gps_in_audio: gpsInAudio,
  audio_loop: audioLoop,
};
