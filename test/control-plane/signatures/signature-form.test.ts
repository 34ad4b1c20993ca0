// The canonical form of signatures: the test cases of EIP-2098, and the bounds of EIP-2.
import t from 'tap';
import { canonicalSignature } from '#control-plane/signatures/signature-form.ts';

const CASES = [
  {
    r: '68a020a209d3d56c46f38cc50a33f704f4a9a10a59377f8dd762ac66910e9b90',
    s: '7e865ad05c4035ab5792787d4a0297a43617ae897930a6fe4d822b8faea52064',
    v: '1b',
    yParityAndS: '7e865ad05c4035ab5792787d4a0297a43617ae897930a6fe4d822b8faea52064',
  },
  {
    r: '9328da16089fcba9bececa81663203989f2df5fe1faa6291a45381c81bd17f76',
    s: '139c6d6b623b42da56557e5e734a43dc83345ddfadec52cbe24d0cc64f550793',
    v: '1c',
    yParityAndS: '939c6d6b623b42da56557e5e734a43dc83345ddfadec52cbe24d0cc64f550793',
  },
] as const;
const R = CASES[0].r;
const HALF_ORDER = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0';
const ABOVE_HALF = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a1';

t.test('both forms of EIP-2098’s test cases are one', async (t) => {
  for (const { r, s, v, yParityAndS } of CASES) {
    const canonical = `0x${r}${s}${v}`;
    t.equal(canonicalSignature(canonical), canonical);
    t.equal(canonicalSignature(`0x${r}${yParityAndS}`), canonical);
    t.equal(canonicalSignature(`0x${r}${s}${v === '1b' ? '00' : '01'}`), canonical);
    t.equal(canonicalSignature(`0x${(r + s + v).toUpperCase()}`), canonical);
  }
});

t.test('half the order is the highest s (EIP-2)', async (t) => {
  t.equal(canonicalSignature(`0x${R}${HALF_ORDER}1b`), `0x${R}${HALF_ORDER}1b`);
  t.equal(canonicalSignature(`0x${R}${HALF_ORDER}`), `0x${R}${HALF_ORDER}1b`);
  for (const v of ['00', '01', '1b', '1c', '']) {
    t.equal(canonicalSignature(`0x${R}${ABOVE_HALF}${v}`), undefined, `v "${v}"`);
  }
});

t.test('no other v, no other length', async (t) => {
  const { r, s } = CASES[0];
  for (let v = 0; v < 256; v += 1) {
    const form = canonicalSignature(`0x${r}${s}${v.toString(16).padStart(2, '0')}`);
    t.equal(form !== undefined, [0, 1, 27, 28].includes(v), `v ${v}`);
  }
  for (const digits of [0, 1, 126, 127, 129, 131, 132, 192]) {
    t.equal(canonicalSignature(`0x${'1'.repeat(digits)}`), undefined, `${digits} digits`);
  }
});
