// The pairs of a probe round: each SIM sends once and receives once, with another partner each time. Pure.

/** `round` counts up. There are no pairs for fewer than two SIMs. */
export function pairsOf<S>(sims: readonly S[], round: number): Array<{ sender: S; recipient: S }> {
  const count = sims.length;
  if (count < 2) return [];
  const shift = 1 + (round % (count - 1));
  return sims.map((sender, index) => ({ sender, recipient: sims[(index + shift) % count] as S }));
}
