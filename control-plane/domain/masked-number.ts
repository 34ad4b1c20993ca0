// A phone number as an operator is shown it where he need not know it.

/** "+1206…0188": where it is, and enough to compare with one that is known. Short codes and names stay as they are. */
export const maskedNumber = (number: string): string =>
  /^\+?\d{7,}$/.test(number)
    ? `${number.slice(0, number.startsWith('+') ? 5 : 4)}…${number.slice(-4)}`
    : number;
