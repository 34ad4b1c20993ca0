// A phone number as an operator is shown it where he need not know it.

/** "+1206…0188": where it is, and enough to compare with one that is known. Short codes and names stay as they are. */
export const maskedNumber = (number: string): string =>
  /^\+?\d{7,}$/.test(number)
    ? `${number.slice(0, number.startsWith('+') ? 5 : 4)}…${number.slice(-4)}`
    : number;

/** A number of ours as lists show it: whole while nobody has it. */
export const listedNumber = (number: string, isHeld: boolean): string =>
  isHeld ? maskedNumber(number) : number;

/** A text of ours with each number in E.164 form masked. */
export const withMaskedNumbers = (text: string): string =>
  text.replace(/(?<![\w+/])\+\d{7,15}/g, maskedNumber);
