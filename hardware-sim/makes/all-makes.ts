// The makes by name. A new one is a file beside this one and a line here.
import { generic } from './generic.ts';
import { huawei, huaweiE303 } from './huawei.ts';
import type { Make, MakeName } from './make.ts';
import { quectel } from './quectel.ts';
import { simcom } from './simcom.ts';

export const MAKES: Readonly<Record<MakeName, Make>> = {
  quectel,
  simcom,
  huawei,
  'huawei-e303': huaweiE303,
  generic,
};
