// The characters of the shift tables of the languages of the Indian subcontinent, as Unicode code points in the order of their positions
// (3GPP TS 23.038 annex A.2 and A.3). Data.
//
// "983-985" is a range, "_" a position without a character. Two misprints of the standard are corrected: Kannada A.3.7, position 0x24,
// which is U+0CA1 and not a second U+0CAA, and the comma at position 0x2C.

/** Locking shift tables by language identifier: the positions that the common part leaves open. */
export const INDIC_LOCKING: ReadonlyMap<number, string> = new Map([
  // Bengali and Assamese
  [
    4,
    '981-983 985-98c _ _ 98f-990 _ _ 993-9a8 _ 9aa-9b0 _ 9b2 _ _ _ 9b6-9b9 9bc-9c4 _ _ 9c7-9c8 _ _ 9cb-9ce 9d7 9dc-9dd 9f0-9f1',
  ],
  // Gujarati
  [
    5,
    'a81-a83 a85-a8d _ a8f-a91 _ a93-aa8 _ aaa-ab0 _ ab2-ab3 _ ab5-ab9 abc-ac5 _ ac7-ac9 _ acb-acd ad0 ae0-ae3 af1',
  ],
  // Hindi
  [6, '901-903 905-939 93c-94d 950 972 97b-97c 97e-97f'],
  // Kannada
  [
    7,
    '_ c82-c83 c85-c8c _ c8e-c90 _ c92-ca8 _ caa-cb3 _ cb5-cb9 cbc-cc4 _ cc6-cc8 _ cca-ccd cd5-cd6 ce0-ce3',
  ],
  // Malayalam
  [8, '_ d02-d03 d05-d0c _ d0e-d10 _ d12-d28 _ d2a-d39 _ d3d-d44 _ d46-d48 _ d4a-d4d d57 d60-d63 d79'],
  // Oriya
  [
    9,
    'b01-b03 b05-b0c _ _ b0f-b10 _ _ b13-b28 _ b2a-b30 _ b32-b33 _ b35-b39 b3c-b44 _ _ b47-b48 _ _ b4b-b4d b56-b57 b60-b63',
  ],
  // Punjabi
  [
    10,
    'a01-a03 a05-a0a _ _ _ _ a0f-a10 _ _ a13-a28 _ a2a-a30 _ a32-a33 _ a35-a36 _ a38-a39 a3c _ a3e-a42 _ _ _ _ a47-a48 _ _ a4b-a4d a51 a70-a74',
  ],
  // Tamil
  [
    11,
    '_ b82-b83 b85-b8a _ _ _ b8e-b90 _ b92-b95 _ _ _ b99-b9a _ b9c _ b9e-b9f _ _ _ ba3-ba4 _ _ _ ba8-baa _ _ _ bae-bb9 _ _ bbe-bc2 _ _ _ bc6-bc8 _ bca-bcd bd0 bd7 bf0-bf2 bf9',
  ],
  // Telugu
  [
    12,
    'c01-c03 c05-c0c _ c0e-c10 _ c12-c28 _ c2a-c33 _ c35-c39 _ c3d-c44 _ c46-c48 _ c4a-c4d c55-c56 c60-c63',
  ],
  // Urdu
  [
    13,
    '627 622 628 67b 680 67e 6a6 62a 6c2 67f 679 67d 67a 67c 62b-62c 681 684 683 685-687 62d-62f 68c 688-68a 68f 68d 630-631 691 693 699 632 696 698 69a 633-639 641-642 6a9-6ab 6af 6b3 6b1 644-646 6ba-6bc 648 6c4 6d5 6c1 6be 621 6cc 6d0 6d2 64d 650 64f 657 654-655 651 653 656 670',
  ],
]);

/** Single shift tables by language identifier: the positions that the common part leaves open. */
export const INDIC_SINGLE: ReadonlyMap<number, string> = new Map([
  [4, '9e6-9ef 9df-9e3 9f2-9fa'],
  [5, '964-965 ae6-aef'],
  [6, '964-96f 951-954 958-963 970-971'],
  [7, '964-965 ce6-cef cde cf1-cf2'],
  [8, '964-965 d66-d75 d7a-d7f'],
  [9, '964-965 b66-b6f b5c-b5d b5f b70-b71'],
  [10, '964-965 a66-a6f a59-a5c a5e a75'],
  [11, '964-965 be6-bef bf3-bf8 bfa'],
  [12, '_ _ c66-c6f c58-c59 c78-c7f'],
  [13, '600-601 6f0-6f9 60c-614 61b 61f 640 652 658 66b-66c 672-673 6cd 6d4'],
]);

/** Returns the characters of such a line; `undefined` for a position without one. */
export function charactersIn(ranges: string): (string | undefined)[] {
  return ranges.split(' ').flatMap((range) => {
    if (range === '_') return [undefined];
    const [first = 0, last = first] = range.split('-').map((code) => Number.parseInt(code, 16));
    return Array.from({ length: last - first + 1 }, (_, index) => String.fromCharCode(first + index));
  });
}
